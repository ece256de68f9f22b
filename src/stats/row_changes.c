// SPDX-License-Identifier: Apache-2.0
// Changes of many rows: the common change, the noise, and the rest.

#include "stats/row_changes.h"

#include "stats/distributions.h"
#include "stats/hypothesis.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>

// A row tells the common change when it has so many samples in each recording …
#define COMMON_SAMPLES 20
// … and so many rows must tell it. With fewer, one changed row could move their median.
enum { COMMON_ROWS_LEAST = 8 };
// The noise of a row from recording to recording, where nothing shows it. Functions of unchanged
// programs differ by 1 to 3 % from run to run (docs/decisions/0310).
#define ASSUMED_ROW_NOISE 0.02
// The common change of repeated recordings is taken out when rows agree so much better without it:
// a part of their variance.
#define WORTH_TAKING_OUT 0.8
// A row with fewer samples in all recordings together cannot show a change, and is not tested.
#define TESTED_SAMPLES 20
// Added to each value, in samples, so that a row that one side lacks has a ratio.
#define HALF_SAMPLE 0.5
#define POWER_80    0.8416212335729143

typedef struct Side {
    size_t n;       // recordings
    double *log;    // [row * n + recording]
    double *factor; // [recording] logarithm of its common change
} Side;

typedef struct Changes {
    Arena *arena;
    const ChangeInput *rows;
    size_t count;
    const ChangeOptions *o;
    Side side[CHANGE_SIDES];
    double all_values[CHANGE_SIDES], all_samples[CHANGE_SIDES]; // a mean recording's, of all rows
    uint32_t *unchanged; // [common_rows]: the rows that tell the common change
    double freedom;      // of the noise that they show
    size_t common_rows;
    double common, common_variance; // logarithms
    bool common_is_real;
    double row_variance; // of a row's logarithm, beside sampling
} Changes;

static double samples_of(const Changes *c, size_t row, int side, size_t recording)
{
    return c->rows[row].samples[side][recording] + HALF_SAMPLE;
}

// The weight of a row's samples: that of the first recording that has one.
static double weight_of(const ChangeInput *row, const ChangeOptions *o)
{
    for (int side = 0; side < CHANGE_SIDES; side++)
        for (size_t i = 0; i < o->recordings[side]; i++)
            if (row->samples[side][i] > 0)
                return row->value[side][i] / row->samples[side][i];
    return 1;
}

static void take_logarithms(Changes *c)
{
    for (int s = 0; s < CHANGE_SIDES; s++) {
        Side *side = &c->side[s];
        side->n = c->o->recordings[s];
        side->log = arena_array(c->arena, double, side->n * c->count + 1);
        side->factor = arena_array(c->arena, double, side->n);
        for (size_t row = 0; row < c->count; row++) {
            double weight = weight_of(&c->rows[row], c->o);
            for (size_t i = 0; i < side->n; i++)
                side->log[row * side->n + i] = log(c->rows[row].value[s][i] + HALF_SAMPLE * weight);
            c->all_values[s] += stats_mean(c->rows[row].value[s], side->n);
            c->all_samples[s] += stats_mean(c->rows[row].samples[s], side->n);
        }
    }
}

static bool has_repeats(const Changes *c)
{
    return c->side[CHANGE_OLD].n >= CHANGE_REPEATS_LEAST &&
           c->side[CHANGE_NEW].n >= CHANGE_REPEATS_LEAST;
}

// The degrees of freedom of a row's variance; infinite for one that is assumed.
static double degrees(const Changes *c)
{
    if (has_repeats(c))
        return (double)(c->side[CHANGE_OLD].n + c->side[CHANGE_NEW].n) - 2;
    return c->common_rows ? c->freedom : INFINITY;
}

// The part of the difference's variance that a row's own variance has, for 1.
static double recordings_share(const Changes *c)
{
    return 1 / (double)c->side[CHANGE_OLD].n + 1 / (double)c->side[CHANGE_NEW].n;
}

// The variance of a row's difference that its own recordings show.
static double seen_variance(const Changes *c, size_t row)
{
    double squares = 0;
    for (int s = 0; s < CHANGE_SIDES; s++)
        squares += stats_variance(&c->side[s].log[row * c->side[s].n], c->side[s].n) *
                   (double)(c->side[s].n - 1);
    return squares / degrees(c) * recordings_share(c);
}

static double row_difference(const Changes *c, size_t row)
{
    const Side *old_side = &c->side[CHANGE_OLD], *new_side = &c->side[CHANGE_NEW];
    return stats_mean(&new_side->log[row * new_side->n], new_side->n) -
           stats_mean(&old_side->log[row * old_side->n], old_side->n);
}

// The variance of a row's difference by sampling alone.
static double sampling_variance(const Changes *c, size_t row)
{
    double sum = 0;
    for (int s = 0; s < CHANGE_SIDES; s++) {
        double n = (double)c->side[s].n;
        for (size_t i = 0; i < c->side[s].n; i++)
            sum += 1 / samples_of(c, row, s, i) / (n * n);
    }
    return sum;
}

static double all_samples(const Changes *c, size_t row)
{
    double samples = 0;
    for (int s = 0; s < CHANGE_SIDES; s++)
        for (size_t i = 0; i < c->side[s].n; i++)
            samples += c->rows[row].samples[s][i];
    return samples;
}

// ---- The common change -------------------------------------------------------------------------

static bool tells_common(const Changes *c, size_t row)
{
    for (int s = 0; s < CHANGE_SIDES; s++)
        for (size_t i = 0; i < c->side[s].n; i++)
            if (c->rows[row].samples[s][i] < COMMON_SAMPLES)
                return false;
    return true;
}

// The mean logarithm of a row over all recordings, each side counting the same.
static double row_middle(const Changes *c, size_t row)
{
    double middle = 0;
    for (int s = 0; s < CHANGE_SIDES; s++)
        middle += stats_mean(&c->side[s].log[row * c->side[s].n], c->side[s].n) / CHANGE_SIDES;
    return middle;
}

// How much a row says of the common change: as much as it has samples, but not more than its own
// noise lets it.
static double telling_weight(const Changes *c, size_t row)
{
    double variance = ASSUMED_ROW_NOISE * ASSUMED_ROW_NOISE;
    for (int s = 0; s < CHANGE_SIDES; s++)
        variance += 1 / (stats_mean(c->rows[row].samples[s], c->side[s].n) + HALF_SAMPLE);
    return 1 / variance;
}

typedef struct Teller {
    uint32_t row;
    double weight, off;
} Teller;

static int compare_tellers(const void *left, const void *right)
{
    const Teller *a = left, *b = right;
    return a->off < b->off ? -1 : a->off > b->off;
}

// The middle of the shortest range that has half of the weight. Unlike a median it does not move
// when many rows changed in the same direction.
static double densest(Teller *tellers, size_t n)
{
    double half = 0, inside = 0, shortest = INFINITY, middle = 0;
    qsort(tellers, n, sizeof(*tellers), compare_tellers);
    for (size_t i = 0; i < n; i++)
        half += tellers[i].weight / 2;
    for (size_t from = 0, to = 0; to < n; to++) {
        inside += tellers[to].weight;
        while (inside - tellers[from].weight >= half)
            inside -= tellers[from++].weight;
        double length = tellers[to].off - tellers[from].off;
        if (inside >= half && length < shortest) {
            shortest = length;
            middle = (tellers[to].off + tellers[from].off) / 2;
        }
    }
    return middle;
}

// The rows that tell the common change, with their weights. None has more than twice the mean, so
// that more than a quarter of the rows must change until their change is taken for the common one.
static size_t find_tellers(const Changes *c, Teller *ret)
{
    size_t n = 0;
    for (size_t row = 0; row < c->count; row++)
        if (tells_common(c, row))
            ret[n++] = (Teller){.row = (uint32_t)row, .weight = telling_weight(c, row)};
    enum { ROUNDS = 8 }; // what is cut off makes the mean smaller
    for (int round = 0; round < ROUNDS; round++) {
        double all = 0;
        for (size_t i = 0; i < n; i++)
            all += ret[i].weight;
        for (size_t i = 0; i < n; i++)
            ret[i].weight = MIN(ret[i].weight, 2 * all / (double)n);
    }
    return n;
}

// Leaves those rows that have not changed beside most others. Returns their number.
static size_t keep_unchanged(const Changes *c, Teller *tellers, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        tellers[i].off = row_difference(c, tellers[i].row);
    double middle = densest(tellers, n);
    for (size_t i = 0; i < n; i++) {
        double variance = sampling_variance(c, tellers[i].row) +
                          ASSUMED_ROW_NOISE * ASSUMED_ROW_NOISE * recordings_share(c);
        if (fabs(tellers[i].off - middle) <= 3 * sqrt(variance))
            tellers[kept++] = tellers[i];
    }
    return kept;
}

// Finds what all rows of each recording are off by. Returns the number of rows that tell it, or 0.
static size_t find_factors(Changes *c)
{
    Teller *tellers = arena_array(c->arena, Teller, c->count + 1);
    size_t n = find_tellers(c, tellers);
    if (n < COMMON_ROWS_LEAST)
        return 0;
    n = keep_unchanged(c, tellers, n);
    double all = 0, squares = 0;
    for (size_t k = 0; k < n; k++) {
        all += tellers[k].weight;
        squares += tellers[k].weight * tellers[k].weight / telling_weight(c, tellers[k].row);
    }
    if (n < COMMON_ROWS_LEAST / 2)
        return 0;
    c->common_variance = squares / (all * all);
    c->unchanged = arena_array(c->arena, uint32_t, n);
    for (size_t k = 0; k < n; k++)
        c->unchanged[k] = tellers[k].row;
    for (int s = 0; s < CHANGE_SIDES; s++)
        for (size_t i = 0; i < c->side[s].n; i++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++) {
                uint32_t row = tellers[k].row;
                sum += tellers[k].weight *
                       (c->side[s].log[row * c->side[s].n + i] - row_middle(c, row));
            }
            c->side[s].factor[i] = sum / all;
        }
    return n;
}

static void take_out_factors(Changes *c, double sign)
{
    for (int s = 0; s < CHANGE_SIDES; s++) {
        const Side *side = &c->side[s];
        for (size_t row = 0; row < c->count; row++)
            for (size_t i = 0; i < side->n; i++)
                side->log[row * side->n + i] -= sign * side->factor[i];
    }
}

// The variance of rows' differences that their recordings show, large rows first: the sum over rows
// by their samples.
static double weighted_seen_variance(const Changes *c)
{
    double sum = 0;
    for (size_t row = 0; row < c->count; row++)
        if (tells_common(c, row))
            sum += all_samples(c, row) * seen_variance(c, row);
    return sum;
}

// Sets the common change and takes it out of the rows. Repeated recordings show whether rows agree
// better without it; else it stays in, as a part of their noise.
static void find_common(Changes *c)
{
    c->common_rows = find_factors(c);
    if (c->common_rows == 0)
        return;
    if (has_repeats(c)) {
        double with = weighted_seen_variance(c);
        take_out_factors(c, 1);
        if (weighted_seen_variance(c) >= WORTH_TAKING_OUT * with) {
            take_out_factors(c, -1);
            c->common_rows = 0;
            return;
        }
        c->common_variance = 0; // of the mean of the recordings' factors
        for (int s = 0; s < CHANGE_SIDES; s++)
            c->common_variance +=
                stats_variance(c->side[s].factor, c->side[s].n) / (double)c->side[s].n;
    } else {
        take_out_factors(c, 1);
    }
    c->common = stats_mean(c->side[CHANGE_NEW].factor, c->side[CHANGE_NEW].n) -
                stats_mean(c->side[CHANGE_OLD].factor, c->side[CHANGE_OLD].n);
}

// ---- Noise ------------------------------------------------------------------------------------

// The variance that a row's difference has at least, because samples are counted in whole numbers.
static double rounding_variance(const Changes *c, size_t row)
{
    double sum = 0;
    for (int s = 0; s < CHANGE_SIDES; s++) {
        double n = (double)c->side[s].n;
        for (size_t i = 0; i < c->side[s].n; i++) {
            double samples = samples_of(c, row, s, i) * n;
            sum += 1 / (12 * samples * samples);
        }
    }
    return sum;
}

// The variance of rows from one recording to another, by what unchanged rows differ beyond
// sampling: the estimate of DerSimonian and Laird (1986), in which rows with many samples count
// most.
static double variance_of_unchanged(Changes *c)
{
    double weights = 0, squares = 0, spread = 0;
    for (size_t k = 0; k < c->common_rows; k++) {
        double weight = 1 / sampling_variance(c, c->unchanged[k]);
        double off = row_difference(c, c->unchanged[k]);
        weights += weight;
        squares += weight * weight;
        spread += weight * off * off;
    }
    double variance =
        (spread - (double)c->common_rows + 1) / (weights - squares / weights) / recordings_share(c);
    variance = MAX(variance, 0.0);
    weights = squares = 0;
    for (size_t k = 0; k < c->common_rows; k++) {
        double weight =
            1 / (sampling_variance(c, c->unchanged[k]) + variance * recordings_share(c));
        weights += weight;
        squares += weight * weight;
    }
    c->freedom = weights * weights / squares;
    return variance;
}

static void find_row_noise(Changes *c)
{
    double assumed = ASSUMED_ROW_NOISE * ASSUMED_ROW_NOISE;
    if (has_repeats(c)) // each row's recordings show its own
        c->row_variance = 0;
    else if (c->common_rows) // few rows estimate it badly: never far below what is usual
        c->row_variance = MAX(variance_of_unchanged(c), assumed / 4);
    else
        c->row_variance = assumed;
}

// ---- Verdicts ---------------------------------------------------------------------------------

static double two_sided(const Changes *c, double z)
{
    double freedom = degrees(c);
    return isfinite(freedom) ? student_two_sided(z, freedom) : 2 * normal_cdf(-fabs(z));
}

static double quantile(const Changes *c, double p)
{
    double freedom = degrees(c);
    return isfinite(freedom) ? student_quantile(p, freedom) : normal_quantile(p);
}

// Without repetition and without rows that tell the speed of the machine: the p-value that a row
// changed beside the sum of all others. A slower machine changes both; and where another row
// changed, this row's own time did not.
static double p_beside_others(const Changes *c, size_t row, double variance)
{
    double difference = row_difference(c, row);
    for (int s = 0; s < CHANGE_SIDES; s++) {
        double value = c->all_values[s] - stats_mean(c->rows[row].value[s], c->side[s].n);
        double samples = c->all_samples[s] - stats_mean(c->rows[row].samples[s], c->side[s].n);
        difference += s == CHANGE_NEW ? -log(value) : log(value);
        variance += 1 / ((samples + HALF_SAMPLE) * (double)c->side[s].n);
    }
    return isfinite(difference) ? two_sided(c, difference / sqrt(variance)) : 1;
}

static void judge_row(const Changes *c, size_t row, RowChange *ret)
{
    double difference = row_difference(c, row);
    double variance = sampling_variance(c, row) + c->row_variance * recordings_share(c);
    if (has_repeats(c))
        variance = MAX(seen_variance(c, row), rounding_variance(c, row));
    if (c->common_is_real) {
        difference += c->common;
        variance += c->common_variance;
    } else if (!has_repeats(c)) {
        variance += c->common_variance;
    }
    double error = sqrt(variance), z = quantile(c, 1 - (1 - c->o->level) / 2);
    ret->ratio =
        (Interval){exp(difference - z * error), exp(difference), exp(difference + z * error)};
    ret->p = two_sided(c, difference / error);
    if (!has_repeats(c) && c->common_rows == 0)
        ret->p = MAX(ret->p, p_beside_others(c, row, variance));
    double needed = (z + POWER_80) * error / log1p(CHANGE_WORTH);
    ret->more = MAX(1.0, needed * needed);
}

// Adjusts the p-values for the number of rows. A row weighs as much as it has samples (Genovese,
// Roeder and Wasserman 2006), so that many small rows do not hide the change of a large one. No row
// gets a verdict that its own interval does not show.
static void adjust_for_all(const Changes *c, RowChange *rows)
{
    double *p = arena_array(c->arena, double, c->count + 1), sum = 0;
    size_t tested = 0;
    for (size_t row = 0; row < c->count; row++) {
        double samples = all_samples(c, row);
        tested += samples >= TESTED_SAMPLES;
        sum += samples >= TESTED_SAMPLES ? samples : 0;
    }
    double weight = (double)tested / sum;
    tested = 0;
    for (size_t row = 0; row < c->count; row++)
        if (all_samples(c, row) >= TESTED_SAMPLES)
            p[tested++] = MIN(1.0, rows[row].p / (all_samples(c, row) * weight));
    stats_adjust_benjamini_hochberg(c->arena, p, tested);
    tested = 0;
    for (size_t row = 0; row < c->count; row++) {
        double adjusted = all_samples(c, row) >= TESTED_SAMPLES ? p[tested++] : 1;
        rows[row].p = MAX(rows[row].p, adjusted);
    }
}

static void conclude(const ChangeOptions *o, RowChange *row)
{
    double lower = 1 - o->margin, upper = 1 + o->margin;
    if (row->p <= 1 - o->level)
        row->verdict = row->ratio.point > 1 ? VERDICT_SLOWER : VERDICT_FASTER;
    else if (o->margin > 0 && row->ratio.low >= lower && row->ratio.high <= upper)
        row->verdict = VERDICT_EQUIVALENT;
    else
        row->verdict = VERDICT_INCONCLUSIVE;
}

RowChanges stats_row_changes(Arena *scratch, const ChangeInput *rows, size_t n,
                             const ChangeOptions *options)
{
    Changes c = {.arena = scratch, .rows = rows, .count = n, .o = options};
    RowChanges ret = {.common = 1, .rows = arena_array(scratch, RowChange, n + 1)};
    take_logarithms(&c);
    find_common(&c);
    ret.common_rows = c.common_rows;
    if (has_repeats(&c) && ret.common_rows) {
        double error = sqrt(c.common_variance);
        c.common_is_real =
            error > 0 ? two_sided(&c, c.common / error) <= 1 - options->level : c.common != 0;
    }
    ret.common_is_real = c.common_is_real;
    ret.common = exp(c.common);
    find_row_noise(&c);
    for (size_t row = 0; row < n; row++)
        judge_row(&c, row, &ret.rows[row]);
    adjust_for_all(&c, ret.rows);
    for (size_t row = 0; row < n; row++)
        conclude(options, &ret.rows[row]);
    return ret;
}
