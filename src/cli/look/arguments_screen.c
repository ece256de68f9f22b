// SPDX-License-Identifier: Apache-2.0
// The values of arguments of probes as text.

#include "cli/look/arguments_screen.h"

#include <inttypes.h>

enum { BAR_COLUMNS = 30 };

static void add_range(StrBuf *out, const ArgumentBucket *b)
{
    StrBuf text = {0};
    if (b->low == b->high)
        strbuf_printf(&text, "%" PRId64, b->low);
    else
        strbuf_printf(&text, "%" PRId64 " to %" PRId64, b->low, b->high);
    strbuf_printf(out, "  %24" STR_FMT "  ", STR_ARG(strbuf_str(&text)));
    strbuf_deinit(&text);
}

static void add_bucket(StrBuf *out, const ArgumentBucket *b, uint64_t all, uint64_t largest)
{
    add_range(out, b);
    strbuf_printf(out, "%10" PRIu64 " %5.1f%%  ", b->count, 100.0 * (double)b->count / (double)all);
    size_t bar = (size_t)((double)b->count * BAR_COLUMNS / (double)largest + 0.5);
    strbuf_add_repeated(out, '#', MAX(bar, (size_t)1));
    strbuf_add_char(out, '\n');
}

// At most so many columns of a text.
enum { TEXT_COLUMNS = 60 };

static void add_texts(StrBuf *out, const Profile *p, const ArgumentValues *v)
{
    size_t different = v->buckets.len + v->other_texts;
    strbuf_printf(out, ": %" PRIu64 " texts, %zu different\n", v->count, different);
    for (size_t i = 0; i < v->buckets.len; i++) {
        const ArgumentBucket *b = &v->buckets.at[i];
        Str text = profile_text(p, (StrId){(uint32_t)b->low});
        strbuf_printf(out, "  %10" PRIu64 " %5.1f%%  \"", b->count,
                      100.0 * (double)b->count / (double)v->count);
        strbuf_add_terminal(out, str_slice(text, 0, MIN(text.len, (size_t)TEXT_COLUMNS)));
        strbuf_add(out, text.len > TEXT_COLUMNS ? STR("…\"\n") : STR("\"\n"));
    }
    if (v->other_texts)
        strbuf_printf(out, "  %10" PRIu64 " %5.1f%%  %zu others\n", v->other_count,
                      100.0 * (double)v->other_count / (double)v->count, v->other_texts);
}

static void add_one(StrBuf *out, const Profile *p, const ArgumentValues *v)
{
    strbuf_add_terminal(out, profile_text(p, p->metrics.name.at[v->metric.v]));
    if (v->samples == 0) {
        strbuf_add(out, STR(": no values\n"));
        return;
    }
    if (v->is_text) {
        add_texts(out, p, v);
        return;
    }
    strbuf_printf(out, ": %" PRIu64 " values, %" PRId64 " to %" PRId64 ", mean %.4g", v->count,
                  v->least, v->most, v->mean);
    if (v->samples < v->count)
        strbuf_printf(out, " (from %" PRIu64 " sample%s)", v->samples, plural_s(v->samples));
    strbuf_add_char(out, '\n');
    uint64_t largest = 1;
    for (size_t i = 0; i < v->buckets.len; i++)
        largest = MAX(largest, v->buckets.at[i].count);
    for (size_t i = 0; i < v->buckets.len; i++)
        add_bucket(out, &v->buckets.at[i], v->count, largest);
}

void arguments_add_text(StrBuf *out, const Profile *p, const ArgumentValuesVec *arguments)
{
    for (size_t i = 0; i < arguments->len; i++)
        add_one(out, p, &arguments->at[i]);
}
