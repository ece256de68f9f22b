// SPDX-License-Identifier: Apache-2.0
// Times, changes, labels and small pictures.

#include "cli/runs/run_text.h"

#include <math.h>

#include "analyse/fit.h"

// ---- Times -------------------------------------------------------------------

RunUnit run_fitting_unit(double seconds)
{
    return seconds < 0.001 ? RUN_UNIT_US : seconds < 1 ? RUN_UNIT_MS : RUN_UNIT_S;
}

Str run_unit_name(RunUnit unit)
{
    return unit == RUN_UNIT_US ? STR("µs") : unit == RUN_UNIT_MS ? STR("ms") : STR("s");
}

double run_in_unit(double seconds, RunUnit unit)
{
    return unit == RUN_UNIT_US ? seconds * 1e6 : unit == RUN_UNIT_MS ? seconds * 1e3 : seconds;
}

void run_add_time(StrBuf *out, double seconds, RunUnit unit)
{
    if (!isfinite(seconds)) {
        strbuf_add(out, STR("unknown"));
        return;
    }
    if (unit == RUN_UNIT_AUTO && seconds > 0 && seconds < 1e-6) { // of functions only
        strbuf_printf(out, seconds < 1e-8 ? "%.3f ns" : "%.1f ns", seconds * 1e9);
        return;
    }
    switch (unit == RUN_UNIT_AUTO ? run_fitting_unit(seconds) : unit) {
    case RUN_UNIT_US:
        strbuf_printf(out, "%.1f µs", seconds * 1e6);
        break;
    case RUN_UNIT_MS:
        strbuf_printf(out, seconds < 0.01 ? "%.3f ms" : "%.1f ms", seconds * 1e3);
        break;
    case RUN_UNIT_AUTO:
    case RUN_UNIT_S:
        strbuf_printf(out, "%.3f s", seconds);
        break;
    }
}

int run_decimals(double seconds, double spread_s, RunUnit unit, int digits)
{
    double spread =
        run_in_unit(isfinite(spread_s) && spread_s > 0 ? spread_s : seconds / 100, unit);
    int decimals = 3;
    while (decimals > 0 && spread >= pow(10, digits - decimals))
        decimals--;
    return decimals;
}

// ---- Changes -----------------------------------------------------------------

static void add_times(StrBuf *out, double ratio)
{
    strbuf_printf(out, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
}

static bool is_severalfold(double ratio)
{
    return ratio >= 2;
}

void run_add_change(StrBuf *out, double ratio)
{
    if (is_severalfold(ratio)) {
        add_times(out, ratio);
        strbuf_add(out, STR(" times"));
    } else {
        strbuf_printf(out, "%+.2f %%", (ratio - 1) * 100);
    }
}

void run_add_interval(StrBuf *out, const Interval *ratio)
{
    run_add_change(out, ratio->point);
    strbuf_add(out, STR(" ["));
    if (is_severalfold(ratio->point)) {
        add_times(out, ratio->low);
        strbuf_add(out, STR(" … "));
        add_times(out, ratio->high);
        strbuf_add_char(out, ']');
    } else {
        strbuf_printf(out, "%+.2f … %+.2f %%]", (ratio->low - 1) * 100, (ratio->high - 1) * 100);
    }
}

bool run_has_interval(const Comparison *c)
{
    return (c->pairs > 2 || c->verdict != VERDICT_INCONCLUSIVE) && isfinite(c->ratio.low) &&
           isfinite(c->ratio.high) && c->ratio.low > 0 && c->ratio.high / c->ratio.low < 1e4;
}

void run_add_power(StrBuf *out, const Comparison *c)
{
    if (isfinite(c->least_seen) && c->least_seen < 10)
        strbuf_printf(out, "    a difference of %.*f %% would have been found 4 times in 5\n",
                      c->least_seen < 0.01  ? 2
                      : c->least_seen < 0.1 ? 1
                                            : 0,
                      c->least_seen * 100);
    if (c->method == COMPARE_PAIRED_FEW && run_has_interval(c))
        strbuf_printf(out, "    with so few pairs (%zu), the runs are compared as two samples\n",
                      c->pairs);
}

void run_add_lines(StrBuf *out, Str lines, size_t columns, size_t indent)
{
    Str rest = lines, line;
    while (str_next_line(&rest, &line)) {
        size_t spaces = 0;
        while (spaces < line.len && line.ptr[spaces] == ' ')
            spaces++;
        strbuf_add_repeated(out, ' ', spaces);
        text_add_wrapped(out, str_slice(line, spaces, line.len), columns, indent);
    }
}

// ---- Labels ------------------------------------------------------------------

// What two or more names that are too long begin with, up to the last space or slash, in bytes;
// 0 when that is not worth a "…".
static size_t common_start(const RunSummaries *s, size_t columns)
{
    enum { WORTH = 8 };
    const Str *first = NULL;
    size_t common = 0, longs = 0;
    for (uint32_t i = 0; i < s->set.count; i++) {
        const Str *name = &s->commands[i].name;
        if (str_columns(*name) <= columns)
            continue;
        first = longs++ ? first : name;
        common = longs == 1 ? name->len : MIN(common, name->len);
        for (size_t k = 0; k < common; k++)
            if (name->ptr[k] != first->ptr[k])
                common = k;
    }
    while (common > 0 && first->ptr[common - 1] != ' ' && first->ptr[common - 1] != '/')
        common--;
    return longs > 1 && common >= WORTH ? common : 0;
}

static Str fitting(Arena *arena, Str text, size_t cut, size_t columns)
{
    StrBuf label = {0};
    if (cut)
        strbuf_add(&label, STR("…"));
    text_add_fitting(&label, str_slice(text, cut, text.len), cut ? columns - 1 : columns, false);
    Str kept = arena_str(arena, strbuf_str(&label));
    strbuf_deinit(&label);
    return kept;
}

Str *run_labels(RunSummaries *s, size_t columns)
{
    Arena *arena = &s->arena;
    uint32_t n = s->set.count;
    Str *labels = arena_array(arena, Str, n + 1);
    size_t common = common_start(s, columns);
    for (uint32_t i = 0; i < n; i++) {
        Str name = s->commands[i].name;
        bool is_long = str_columns(name) > columns;
        size_t cut = is_long && common < name.len ? common : 0;
        labels[i] = fitting(arena, name, cut, columns);
    }
    // One label for two commands: their numbers tell them apart.
    bool *is_shared = arena_array(arena, bool, n + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n && !is_shared[i]; k++)
            is_shared[i] = k != i && str_equal(labels[i], labels[k]);
    for (uint32_t i = 0; i < n; i++)
        if (is_shared[i]) {
            Str number = arena_printf(arena, "#%u ", i + 1);
            Str rest = fitting(arena, s->commands[i].name, 0, columns - number.len);
            labels[i] =
                arena_printf(arena, "%" STR_FMT "%" STR_FMT, STR_ARG(number), STR_ARG(rest));
        }
    return labels;
}

// ---- Pictures ----------------------------------------------------------------

double run_picture_end(const double *sorted, size_t n)
{
    double quarter = stats_percentile_sorted(sorted, n, 0.25);
    double three = stats_percentile_sorted(sorted, n, 0.75);
    return MIN(sorted[n - 1], three + 6 * MAX(three - quarter, 0.005 * fabs(three)));
}

void run_add_blocks(StrBuf *out, const double *sorted, size_t n, double from, double to,
                    size_t columns)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { COLUMNS_MAX = 64, LEVELS = ARRAY_LEN(blocks) - 1, LINEAR_UP_TO = 10 };
    size_t counts[COLUMNS_MAX] = {0}, most = 1;
    columns = MIN(columns, (size_t)COLUMNS_MAX);
    for (size_t i = 0; i < n; i++) {
        double at = from > 0 && to > from * LINEAR_UP_TO ? log(sorted[i] / from) / log(to / from)
                    : to > from                          ? (sorted[i] - from) / (to - from)
                                                         : 0;
        at *= (double)columns;
        size_t column = (size_t)MAX(0.0, MIN(at, (double)columns - 1));
        counts[column]++;
        most = MAX(most, counts[column]);
    }
    // A single value must be seen: levels are rounded up.
    for (size_t i = 0; i < columns; i++)
        strbuf_add(out, str_from_c(blocks[(counts[i] * LEVELS + most - 1) / most]));
}
