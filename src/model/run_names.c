// SPDX-License-Identifier: Apache-2.0
// Conditions and metrics of runs.

#include "model/run_names.h"

static void add_escaped(StrBuf *out, Str text, bool is_key)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\n')
            strbuf_add(out, STR("\\n"));
        else if (c == '\\')
            strbuf_add(out, STR("\\\\"));
        else if (c == '=' && is_key)
            strbuf_add(out, STR("\\e"));
        else
            strbuf_add_char(out, c);
    }
}

void run_conditions_add(StrBuf *out, Str key, Str value)
{
    if (out->len)
        strbuf_add_char(out, '\n');
    add_escaped(out, key, true);
    strbuf_add_char(out, '=');
    add_escaped(out, value, false);
}

static Str unescape(Arena *arena, Str text)
{
    if (str_find_char(text, '\\') == SIZE_MAX)
        return text;
    char *to = arena_array(arena, char, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\\' && i + 1 < text.len) {
            c = text.ptr[++i];
            c = c == 'n' ? '\n' : c == 'e' ? '=' : c;
        }
        to[n++] = c;
    }
    return str_over(to, n);
}

bool run_conditions_next(Arena *arena, Str *rest, Str *key, Str *value)
{
    Str line;
    if (!str_next_part(rest, '\n', &line))
        return false;
    if (!str_split(line, '=', key, value)) {
        *key = line;
        *value = STR("");
    }
    *key = unescape(arena, *key);
    *value = unescape(arena, *value);
    return true;
}

Str run_conditions_find(Arena *arena, Str conditions, Str key)
{
    Str k, value;
    while (run_conditions_next(arena, &conditions, &k, &value))
        if (str_equal(k, key))
            return value;
    return STR("");
}

MetricId run_metric(Profile *p, Str name, Str unit, MetricKind kind, Str event)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.name.at[i]), name) &&
            str_equal(profile_text(p, p->metrics.unit.at[i]), unit) &&
            str_equal(profile_text(p, p->metrics.event.at[i]), event))
            return (MetricId){i};
    return profile_add_metric(p, name, unit, kind, event);
}
