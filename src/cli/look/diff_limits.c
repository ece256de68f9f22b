// SPDX-License-Identifier: Apache-2.0
// Limits on what may change: "total > +5%".

#include "analyse/fit.h"
#include "cli/cli.h"
#include "cli/look/diff_view.h"

#include <math.h>

typedef struct Limit {
    Str text, subject;
    bool relative;
    double amount; // a share, or a value in the metric's unit
} Limit;

typedef struct UnitWord {
    const char *word, *unit;
    double factor;
} UnitWord;
static const UnitWord units[] = {
    {"ns", "ns", 1},      {"us", "ns", 1e3},       {"ms", "ns", 1e6},
    {"s", "ns", 1e9},     {"B", "bytes", 1},       {"k", "bytes", 1024},
    {"K", "bytes", 1024}, {"M", "bytes", 1 << 20}, {"G", "bytes", 1 << 30},
};

// Splits "+2 ms" into its number and its unit.
static bool parse_amount(Str text, const DiffMetric *metric, Limit *ret)
{
    Str number = str_trim(text);
    if (str_starts_with(number, STR("+")))
        number = str_slice(number, 1, number.len);
    size_t end = number.len;
    while (end > 0 && !(number.ptr[end - 1] >= '0' && number.ptr[end - 1] <= '9'))
        end--;
    Str unit = str_trim(str_slice(number, end, number.len));
    if (!str_parse_double(str_slice(number, 0, end), &ret->amount) || !(ret->amount >= 0))
        return false;
    ret->relative = str_equal(unit, STR("%"));
    if (ret->relative)
        ret->amount /= 100;
    if (ret->relative || unit.len == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_equal(unit, str_from_c(units[i].word)) &&
            str_equal(metric->unit, str_from_c(units[i].unit))) {
            ret->amount *= units[i].factor;
            return true;
        }
    return false;
}

static bool parse_limit(Str text, const DiffMetric *metric, Limit *ret, Error *err)
{
    size_t at = str_find_last_char(text, '>');
    *ret = (Limit){.text = text};
    if (at != SIZE_MAX && at > 0 && parse_amount(str_slice(text, at + 1, text.len), metric, ret)) {
        ret->subject = str_trim(str_slice(text, 0, at));
        if (ret->subject.len)
            return true;
    }
    error_set(err, ERROR_USAGE, "--fail-if takes a limit, not '%" STR_FMT "'", STR_ARG(text));
    return error_hint(
        err, "write 'total > +5%%', 'FUNCTION > +2ms' or 'any > +10%%'; the unit is %% or a "
             "unit of the metric");
}

// A change: the whole interval is beyond the limit, below it, or neither.
typedef enum Finding { FOUND_WITHIN, FOUND_BEYOND, FOUND_UNDECIDED } Finding;

static Finding judge(const DiffView *v, const Limit *limit, uint64_t was, uint64_t is,
                     const RowChange *change)
{
    double low = (double)is / (double)was, high = low;
    if (was == 0)
        low = high = is ? INFINITY : 1;
    if (!v->changes.exact && was) {
        low = change->ratio.low;
        high = change->ratio.high;
    }
    double most =
        limit->relative ? 1 + limit->amount : 1 + limit->amount / (double)MAX(was, (uint64_t)1);
    if (low > most)
        return FOUND_BEYOND;
    return high <= most ? FOUND_WITHIN : FOUND_UNDECIDED;
}

static void say(const DiffView *v, const Limit *limit, Str name, uint64_t was, uint64_t is,
                Finding finding)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    StrBuf text = {0};
    name_add_fitting(&text, name, 60);
    strbuf_add(&text, STR(": "));
    add_value(&text, is, m->unit);
    strbuf_add(&text, STR(", before "));
    add_value(&text, was, m->unit);
    cli_say("--fail-if '%" STR_FMT "' %s: %" STR_FMT, STR_ARG(limit->text),
            finding == FOUND_BEYOND ? "is missed" : "cannot be decided",
            STR_ARG(strbuf_str(&text)));
    strbuf_deinit(&text);
}

typedef struct Tally {
    size_t rows, missed, undecided;
} Tally;

static void judge_row(const DiffView *v, const Limit *limit, const DiffRow *row, bool any, Tally *t)
{
    uint64_t was = row->value[DIFF_OLD][v->metric], is = row->value[DIFF_NEW][v->metric];
    Finding finding = judge(v, limit, was, is, row->change);
    t->rows++;
    // Of all rows many are too small to be decided: only those that changed count.
    if (any && row->change && !diff_row_changed(row))
        return;
    if (any && finding == FOUND_UNDECIDED)
        return;
    if (finding == FOUND_WITHIN)
        return;
    say(v, limit, row->name, was, is, finding);
    *(finding == FOUND_BEYOND ? &t->missed : &t->undecided) += 1;
}

static void judge_total(const DiffView *v, const Limit *limit, Tally *t)
{
    const DiffMetric *m = &v->d.metrics.at[v->metric];
    uint64_t was = m->total[DIFF_OLD], is = m->total[DIFF_NEW];
    t->rows++;
    Finding finding = FOUND_UNDECIDED;
    if (v->changes.exact || v->changes.repeated)
        finding = judge(v, limit, was, is, &v->changes.total);
    if (finding == FOUND_WITHIN)
        return;
    say(v, limit, STR("total"), was, is, finding);
    if (finding == FOUND_UNDECIDED && !v->changes.repeated)
        cli_say("one recording of a side does not show how much the total differs from run to run: "
                "assay record --repeat 5");
    *(finding == FOUND_BEYOND ? &t->missed : &t->undecided) += 1;
}

static bool judge_limit(const DiffView *v, Str text, size_t *missed, size_t *undecided, Error *err)
{
    Limit limit;
    Tally t = {0};
    if (!parse_limit(text, &v->d.metrics.at[v->metric], &limit, err))
        return false;
    bool any = str_equal(limit.subject, STR("any"));
    if (str_equal(limit.subject, STR("total")))
        judge_total(v, &limit, &t);
    else
        for (size_t i = 0; i < v->d.rows.len; i++)
            if (any || str_equal(v->d.rows.at[i].name, limit.subject))
                judge_row(v, &limit, &v->d.rows.at[i], any, &t);
    if (t.rows == 0 && !any)
        return error_set(err, ERROR_NOT_FOUND, "--fail-if: neither side has a row '%" STR_FMT "'",
                         STR_ARG(limit.subject));
    *missed += t.missed;
    *undecided += t.undecided;
    return true;
}

bool diff_judge_limits(const DiffView *v, const StrVec *limits, size_t *ret_missed,
                       size_t *ret_undecided, Error *err)
{
    *ret_missed = *ret_undecided = 0;
    for (size_t i = 0; i < limits->len; i++)
        if (!judge_limit(v, limits->at[i], ret_missed, ret_undecided, err))
            return false;
    return true;
}
