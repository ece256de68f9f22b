// SPDX-License-Identifier: Apache-2.0
// Adds up waits by the keys of a report.

#include "analyse/wait/wait_columns.h"

#include "base/table.h"

#include <stdlib.h>

uint64_t wait_cell_self(const WaitCell *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        sum += c->self[i];
    return sum;
}

uint64_t wait_cell_total(const WaitCell *c)
{
    uint64_t sum = 0;
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        sum += c->total[i];
    return sum;
}

bool wait_cell_class(const WaitCell *c, WaitClass *ret)
{
    uint64_t most = 0;
    for (int i = 0; i < WAIT_CLASS_COUNT; i++)
        if (c->total[i] > most) {
            most = c->total[i];
            *ret = (WaitClass)i;
        }
    return most > 0;
}

uint64_t wait_columns_whole(const WaitColumns *c)
{
    return c->cpu_ns + c->waiting_ns;
}

const WaitCell *wait_columns_row(const WaitColumns *c, const FlatRow *row)
{
    return &c->cells[row->key];
}

const WaitCell *wait_columns_line(const WaitColumns *c, const LineRow *row)
{
    return &c->line_cells[c->line_keys.of_frame[row->frame]];
}

// ---- The waits of one class -----------------------------------------------------------------

static bool find_metric(const Profile *p, WaitClass class, MetricId *ret)
{
    for (uint32_t i = 0; i < p->metrics.name.len; i++)
        if (str_equal(profile_text(p, p->metrics.event.at[i]), STR("waiting")) &&
            str_equal(profile_text(p, p->metrics.name.at[i]), str_from_c(wait_class_name(class)))) {
            *ret = (MetricId){i};
            return true;
        }
    return false;
}

void wait_columns_choose(const Profile *p, Selection *s)
{
    if (p->waits.thread.len)
        s->metric = (MetricId){0};
}

bool wait_columns_apply(const Report *r)
{
    MetricId any;
    return r->profile->waits.thread.len && r->request.selection.metric.v == 0 &&
           str_equal(report_metric_unit(r), STR("ns")) &&
           !selection_has_time(&r->request.selection) && find_metric(r->profile, WAIT_LOCK, &any);
}

static void drop_idle(Weights *w, WaitClass class, uint64_t *idle_ns)
{
    size_t kept = 0;
    for (size_t g = 0; g < w->groups.len; g++) {
        WeightGroup *group = &w->groups.at[g];
        size_t first = kept;
        for (size_t i = group->first_row; i < group->first_row + group->row_count; i++) {
            WeightRow row = w->rows.at[i];
            if (!wait_is_idle(w->profile, class, row.stack)) {
                w->rows.at[kept++] = row;
                continue;
            }
            *idle_ns += row.value;
            w->value -= row.value;
            w->samples -= row.samples;
            group->value -= row.value;
            group->samples -= row.samples;
        }
        group->first_row = first;
        group->row_count = kept - first;
    }
    w->rows.len = kept;
}

bool wait_weights(Weights *w, const Profile *p, const Selection *s, Group group, WaitClass class,
                  uint64_t *idle_ns, Error *err)
{
    Selection own = *s;
    *err = (Error){0};
    if (!find_metric(p, class, &own.metric) || !weights_init(w, p, &own, group, err))
        return false;
    drop_idle(w, class, idle_ns);
    w->self_stacks = heap_alloc((p->stacks.parent.len + 1) * sizeof(*w->self_stacks));
    for (uint32_t i = 0; i < p->stacks.parent.len; i++)
        w->self_stacks[i] = i;
    for (size_t i = 0; i < w->rows.len; i++) {
        StackId stack = w->rows.at[i].stack, program = wait_program_stack(p, stack);
        w->self_stacks[stack.v] = program.v ? program.v : stack.v;
    }
    return true;
}

// ---- Cells ------------------------------------------------------------------------------

// The rows of a report by their key.
typedef struct RowIndex {
    Report *report;
    uint8_t *has_row; // [key]
    size_t keys;
} RowIndex;

static void need_row(RowIndex *x, const FlatRow *like)
{
    if (x->has_row[like->key])
        return;
    x->has_row[like->key] = 1;
    FlatRow row = {.key = like->key, .frame = like->frame, .inlined = like->inlined};
    vec_push(NULL, &x->report->rows, row);
}

static void add_functions(WaitColumns *c, RowIndex *x, const Weights *w, WaitClass class)
{
    FlatRowVec rows = flat_of_weights(w, &x->report->keys);
    for (size_t i = 0; i < rows.len; i++) {
        const FlatRow *row = &rows.at[i];
        c->cells[row->key].self[class] += row->self;
        c->cells[row->key].total[class] += row->total;
        need_row(x, row);
    }
    vec_free(&rows);
}

static uint32_t group_like(Weights *w, const WeightGroup *like)
{
    for (uint32_t i = 0; i < w->groups.len; i++) {
        const WeightGroup *g = &w->groups.at[i];
        if (g->pid == like->pid && g->tid == like->tid && g->name.v == like->name.v)
            return i;
    }
    vec_push(NULL, &w->groups,
             (WeightGroup){.name = like->name, .pid = like->pid, .tid = like->tid});
    return (uint32_t)w->groups.len - 1;
}

static void add_groups(WaitColumns *c, RowIndex *x, const Weights *w, WaitClass class)
{
    for (size_t g = 0; g < w->groups.len; g++) {
        const WeightGroup *group = &w->groups.at[g];
        if (group->value == 0)
            continue;
        FlatRow row = {.key = group_like(&x->report->weights, group)};
        assert(row.key < x->keys);
        c->cells[row.key].self[class] += group->value;
        c->cells[row.key].total[class] += group->value;
        need_row(x, &row);
    }
}

static void add_lines(WaitColumns *c, Report *r, uint8_t *has_line, const Weights *w,
                      WaitClass class)
{
    const Frames *f = &r->profile->frames;
    FlatRowVec rows = flat_of_weights(w, &c->line_keys);
    for (size_t i = 0; i < rows.len; i++) {
        const FlatRow *row = &rows.at[i];
        c->line_cells[row->key].self[class] += row->self;
        c->line_cells[row->key].total[class] += row->total;
        if (row->self == 0 || has_line[row->key] || f->line.at[row->frame] == 0)
            continue;
        has_line[row->key] = 1;
        vec_push(NULL, &r->lines,
                 (LineRow){.file = f->file.at[row->frame],
                           .line = f->line.at[row->frame],
                           .frame = row->frame});
    }
    vec_free(&rows);
}

// ---- Order --------------------------------------------------------------------------------

typedef struct Order {
    const WaitColumns *columns;
    FlatSort by;
} Order;

static uint64_t rank_of(const Order *o, const FlatRow *row)
{
    const WaitCell *c = wait_columns_row(o->columns, row);
    return o->by == FLAT_BY_TOTAL ? row->total + wait_cell_total(c) : row->self + wait_cell_self(c);
}

static int by_both(const void *a, const void *b, void *ctx)
{
    const Order *o = ctx, by_total = {o->columns, FLAT_BY_TOTAL};
    const FlatRow *x = a, *y = b;
    uint64_t of_x = rank_of(o, x), of_y = rank_of(o, y);
    if (of_x == of_y) {
        of_x = rank_of(&by_total, x);
        of_y = rank_of(&by_total, y);
    }
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int lines_by_both(const void *a, const void *b, void *ctx)
{
    const WaitColumns *c = ctx;
    const LineRow *x = a, *y = b;
    uint64_t of_x = x->self + wait_cell_self(wait_columns_line(c, x));
    uint64_t of_y = y->self + wait_cell_self(wait_columns_line(c, y));
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void sort_all(WaitColumns *c, Report *r)
{
    Order order = {c, r->request.sort};
    bool by_time = order.by == FLAT_BY_SELF || order.by == FLAT_BY_TOTAL;
    if (by_time && r->rows.len > 1)
        qsort_r(r->rows.at, r->rows.len, sizeof(r->rows.at[0]), by_both, &order);
    else if (!by_time)
        flat_sort(&r->rows, order.by, r->request.group == GROUP_NONE ? &r->keys : NULL);
    if (c->line_cells && r->lines.len > 1)
        qsort_r(r->lines.at, r->lines.len, sizeof(r->lines.at[0]), lines_by_both, c);
}

// ---- All of it ------------------------------------------------------------------------------

static uint8_t *start_lines(WaitColumns *c, const Report *r)
{
    if (!r->request.want_lines)
        return NULL;
    keys_init(&c->line_keys, r->profile, BY_LINE);
    c->line_cells = heap_alloc((c->line_keys.first.len + 1) * sizeof(WaitCell));
    uint8_t *has_line = heap_alloc(c->line_keys.first.len + 1);
    for (size_t i = 0; i < r->lines.len; i++)
        has_line[c->line_keys.of_frame[r->lines.at[i].frame]] = 1;
    return has_line;
}

static bool add_class(WaitColumns *c, RowIndex *x, uint8_t *has_line, WaitClass class, Error *err)
{
    Report *r = x->report;
    Weights w;
    if (!wait_weights(&w, r->profile, &r->request.selection, r->request.group, class, &c->idle_ns,
                      err))
        return err->text[0] == '\0';
    c->waiting_ns += w.value;
    if (r->request.group != GROUP_NONE)
        add_groups(c, x, &w, class);
    else if (!r->request.no_rows)
        add_functions(c, x, &w, class);
    if (has_line)
        add_lines(c, r, has_line, &w, class);
    weights_deinit(&w);
    return true;
}

bool wait_columns_init(WaitColumns *c, Report *r, Error *err)
{
    bool is_grouped = r->request.group != GROUP_NONE;
    *c = (WaitColumns){.cpu_ns = r->weights.value};
    RowIndex x = {.report = r};
    // A group has a thread at least.
    x.keys = is_grouped ? r->profile->threads.tid.len : r->keys.first.len;
    c->cells = heap_alloc((x.keys + 1) * sizeof(WaitCell));
    x.has_row = heap_alloc(x.keys + 1);
    for (size_t i = 0; i < r->rows.len; i++)
        x.has_row[r->rows.at[i].key] = 1;
    uint8_t *has_line = start_lines(c, r);
    bool ok = true;
    for (int i = WAIT_RUNNABLE; ok && i < WAIT_CLASS_COUNT; i++)
        ok = add_class(c, &x, has_line, (WaitClass)i, err);
    heap_free(x.has_row);
    heap_free(has_line);
    if (!ok) {
        wait_columns_deinit(c);
        return false;
    }
    sort_all(c, r);
    return true;
}

void wait_columns_deinit(WaitColumns *c)
{
    if (c->line_cells)
        keys_deinit(&c->line_keys);
    heap_free(c->cells);
    heap_free(c->line_cells);
    *c = (WaitColumns){0};
}

// ---- Pictures -----------------------------------------------------------------------------

// The class with most of a sample's time. False: it is no wait.
static bool class_of_sample(const Samples *s, size_t row, const MetricId *metrics, WaitClass *ret)
{
    int64_t most = 0;
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++) {
        int64_t ns = metrics[i].v ? s->values[metrics[i].v].at[row] : 0;
        if (ns > most) {
            most = ns;
            *ret = (WaitClass)i;
        }
    }
    return most > 0;
}

bool wait_picture_prepare(Profile *p, MetricId *ret)
{
    MetricId metrics[WAIT_CLASS_COUNT] = {{0}};
    FrameId frames[WAIT_CLASS_COUNT];
    Error err;
    if (p->waits.thread.len == 0 || !metric_find(p, STR("wall time"), ret, &err))
        return false;
    StrBuf name = {0};
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++) {
        (void)find_metric(p, (WaitClass)i, &metrics[i]);
        strbuf_clear(&name);
        strbuf_printf(&name, "[%s]", wait_class_name((WaitClass)i));
        FunctionId function = profile_function(p, strbuf_str(&name), strbuf_str(&name), STR(""), 0);
        frames[i] = profile_named_frame(p, (ModuleId){0}, 0, function, profile_str(p, STR("")), 0,
                                        FRAME_EXACT);
    }
    strbuf_deinit(&name);
    Samples *s = &p->samples;
    for (size_t i = 0; i < s->stack.len; i++) {
        WaitClass class;
        if (!class_of_sample(s, i, metrics, &class))
            continue;
        if (wait_is_idle(p, class, s->stack.at[i]))
            s->values[ret->v].at[i] = 0;
        else
            s->stack.at[i] = profile_stack(p, s->stack.at[i], frames[class]);
    }
    return true;
}
