// SPDX-License-Identifier: Apache-2.0
// Finds, prints and refuses versions of formats.

#include "base/format_versions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const FormatVersion *format_version_find(const FormatVersions *v, uint64_t version)
{
    for (size_t i = 0; i < v->count; i++)
        if (version >= v->at[i].first && version <= v->at[i].last)
            return &v->at[i];
    return NULL;
}

// Prints gcc's 1202 as 12.2, and with `whole` 1500 (for 1500 to 1599) as 15.
static void print_one(const FormatVersions *v, uint64_t version, bool whole, char *out, size_t size)
{
    bool is_gcc = strcmp(v->numbers, "gcc") == 0;
    if (!is_gcc)
        snprintf(out, size, "%" PRIu64, version);
    else if (whole && version >= 500)
        snprintf(out, size, "%" PRIu64, version / 100);
    else
        snprintf(out, size, "%" PRIu64 ".%" PRIu64, version / 100, version % 100);
}

void format_versions_print(const FormatVersions *v, uint32_t first, uint32_t last, char *out,
                           size_t size)
{
    char from[32], to[32];
    print_one(v, first, true, from, sizeof(from));
    print_one(v, last, true, to, sizeof(to));
    if (strcmp(from, to) == 0)
        snprintf(out, size, "%s", from);
    else
        snprintf(out, size, "%s to %s", from, to);
}

void format_version_set_error(const FormatVersions *v, uint64_t version, Error *err)
{
    char number[32], known[64];
    const char *hint = version < v->at[0].first ? v->older : v->newer;
    print_one(v, version, false, number, sizeof(number));
    format_versions_print(v, v->at[0].first, v->at[v->count - 1].last, known, sizeof(known));
    error_set(err, ERROR_UNSUPPORTED, "%s%s %s, known are %s", v->format,
              strcmp(v->numbers, "gcc") == 0 ? "" : " version", number, known);
    if (hint)
        error_hint(err, "%s", hint);
}
