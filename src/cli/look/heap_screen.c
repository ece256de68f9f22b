// SPDX-License-Identifier: Apache-2.0
// The first screen of a recording of the heap.

#include "cli/look/heap_screen.h"

#include "analyse/fit.h"
#include "model/facts.h"

#include <math.h>

static const HeapSortWord sort_words[] = {
    {"total", HEAP_BYTES},           {"blocks", HEAP_BLOCKS},           {"peak", HEAP_PEAK_BYTES},
    {"end", HEAP_END_BYTES},         {"short-lived", HEAP_SHORT_LIVED}, {"lifetime", HEAP_LIFETIME},
    {"malloc-time", HEAP_MALLOC_NS}, {"copied", HEAP_COPIED},
};

const HeapSortWord *heap_sort_find(Str word)
{
    for (size_t i = 0; i < ARRAY_LEN(sort_words); i++)
        if (str_equal(word, str_from_c(sort_words[i].word)))
            return &sort_words[i];
    return NULL;
}

static bool has_no_blocks(const uint64_t *value)
{
    return !(value[HEAP_BLOCKS] | value[HEAP_BYTES] | value[HEAP_PEAK_BYTES] |
             value[HEAP_PEAK_BLOCKS] | value[HEAP_END_BYTES] | value[HEAP_END_BLOCKS]);
}

bool heap_report_init(HeapReport *h, const Report *r, enum HeapMetric by, Str path, Error *err)
{
    *h = (HeapReport){.report = r, .by = by, .path = path};
    if (!heap_view_init(&h->view, r->profile, &r->request.selection, err))
        return false;
    heap_places_sort(&h->view, by);
    h->advice = heap_advice_find(&h->view);
    // The last places have only copies, marks or mappings.
    HeapRowVec *places = &h->view.places;
    while (places->len && has_no_blocks(vec_last(places).value))
        places->len--;
    return true;
}

void heap_report_deinit(HeapReport *h)
{
    vec_free(&h->advice);
    heap_view_deinit(&h->view);
}

// ---- Numbers ---------------------------------------------------------------------------------

static void add_bytes(StrBuf *out, uint64_t value)
{
    add_value(out, value, STR("bytes"));
}

// "1 block", "52 417 blocks".
static void add_blocks(StrBuf *out, uint64_t count)
{
    add_rounded_count(out, (double)count);
    strbuf_add(out, count == 1 ? STR(" block") : STR(" blocks"));
}

// The unit of lifetimes that values are shown in; "": they are counts.
static Str lifetime_unit(const HeapView *v)
{
    MetricId metric;
    Str unit = STR("");
    if (heap_metric_find(v->p, HEAP_LIFETIME, &metric))
        unit = profile_text(v->p, v->p->metrics.unit.at[metric.v]);
    return str_equal(unit, STR("ns")) || str_equal(unit, STR("bytes")) ? unit : STR("");
}

// "65 allocations", "4.2 MB", "12 µs", "900 instrs": in the clock of the recording.
static void add_lifetime(StrBuf *out, const HeapView *v, double value)
{
    MetricId metric;
    Str unit = STR("");
    if (heap_metric_find(v->p, HEAP_LIFETIME, &metric))
        unit = profile_text(v->p, v->p->metrics.unit.at[metric.v]);
    if (str_equal(unit, STR("ns")) || str_equal(unit, STR("bytes"))) {
        add_value(out, (uint64_t)llround(value), unit);
        return;
    }
    add_rounded_count(out, value);
    strbuf_add_char(out, ' ');
    strbuf_add_terminal(out, unit);
}

// " ±4%": of an estimate; nothing behind an exact value.
static void add_interval(StrBuf *out, const HeapView *v, const uint64_t *value,
                         enum HeapMetric metric)
{
    double half = heap_interval(v, value, metric);
    if (isnan(half) || half <= 0 || value[metric] == 0)
        return;
    double percent = 100 * half / (double)value[metric];
    strbuf_printf(out, percent < 1 ? " ±%.1f%%" : " ±%.0f%%", percent);
}

// Right-aligned in a column; "-" where there is nothing.
static void add_column(StrBuf *out, uint64_t value, Str unit, bool known, size_t columns)
{
    StrBuf text = {0};
    if (!known)
        strbuf_add(&text, STR("?"));
    else if (value == 0)
        strbuf_add(&text, STR("-"));
    else if (unit.len)
        add_value(&text, value, unit);
    else
        add_rounded_count(&text, (double)value);
    size_t taken = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns > taken ? columns - taken : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

// ---- Head ------------------------------------------------------------------------------------

// "cc1 3891".
static void add_process(StrBuf *out, const Profile *p, uint32_t pid)
{
    for (size_t i = 0; i < p->processes.pid.len; i++)
        if (p->processes.pid.at[i] == pid) {
            Str name = profile_text(p, p->processes.name.at[i]);
            strbuf_add_terminal(out, text_prefix(name, 20));
            strbuf_add_char(out, ' ');
            break;
        }
    strbuf_printf(out, "%u", pid);
}

static void add_sums(StrBuf *out, const HeapReport *h, const ScreenStyle *style)
{
    const HeapView *v = &h->view;
    StrBuf text = {0};
    if (v->has[HEAP_PEAK_BYTES]) {
        strbuf_add(&text, STR("peak "));
        add_bytes(&text, v->peak_bytes);
        if (v->processes <= 1)
            add_interval(&text, v, v->total, HEAP_PEAK_BYTES);
        if (v->has[HEAP_PEAK_BLOCKS]) {
            strbuf_add(&text, STR(" in "));
            add_blocks(&text, v->peak_blocks);
        }
        if (v->processes > 1) {
            strbuf_add(&text, STR(" ("));
            add_process(&text, v->p, v->peak_pid);
            strbuf_printf(&text, " of %u processes)", v->processes);
        }
    }
    if (v->has[HEAP_END_BYTES]) {
        strbuf_add(&text, text.len ? STR(" · at end ") : STR("at end "));
        add_bytes(&text, v->total[HEAP_END_BYTES]);
        add_interval(&text, v, v->total, HEAP_END_BYTES);
        if (v->total[HEAP_END_BLOCKS]) {
            strbuf_add(&text, STR(" in "));
            add_blocks(&text, v->total[HEAP_END_BLOCKS]);
        }
    }
    if (v->has[HEAP_BYTES]) {
        strbuf_add(&text, text.len ? STR(" · total ") : STR("total "));
        add_bytes(&text, v->total[HEAP_BYTES]);
        add_interval(&text, v, v->total, HEAP_BYTES);
        if (v->has[HEAP_BLOCKS]) {
            strbuf_add(&text, STR(" in "));
            add_blocks(&text, v->total[HEAP_BLOCKS]);
        }
    }
    if (v->has[HEAP_BLOCKS] && v->wall_ns) {
        strbuf_add(&text, STR(" · "));
        add_rounded_count(&text, (double)v->total[HEAP_BLOCKS] * 1e9 / (double)v->wall_ns);
        strbuf_add(&text, STR(" allocations/s"));
    }
    double lifetime = heap_mean_lifetime(v, v->total);
    if (!isnan(lifetime)) {
        strbuf_add(&text, STR(" · a block lives "));
        add_lifetime(&text, v, lifetime);
    }
    if (v->has[HEAP_MALLOC_NS] && v->total[HEAP_MALLOC_NS]) {
        strbuf_add(&text, STR(" · malloc and free take "));
        add_value(&text, v->total[HEAP_MALLOC_NS] + v->total[HEAP_FREE_NS], STR("ns"));
    }
    style_begin(out, &style->terminal, STYLE_BOLD);
    text_add_wrapped(out, strbuf_str(&text), style->columns, 0);
    style_end(out, &style->terminal, STYLE_BOLD);
    strbuf_deinit(&text);
}

static void add_copies(StrBuf *out, const HeapReport *h, const ScreenStyle *style)
{
    const HeapView *v = &h->view;
    StrBuf text = {0};
    if (!v->has[HEAP_COPIES] || !v->has[HEAP_COPY_BYTES])
        return;
    strbuf_add(&text, STR("copied "));
    add_bytes(&text, v->total[HEAP_COPY_BYTES]);
    strbuf_add(&text, STR(" by "));
    add_rounded_count(&text, (double)v->total[HEAP_COPIES]);
    strbuf_add(&text, v->total[HEAP_COPIES] == 1 ? STR(" call") : STR(" calls"));
    if (h->path.len) {
        strbuf_add(&text, STR(": assay report "));
        add_shell_word(&text, h->path);
        strbuf_add(&text, STR(" -e 'bytes copied'"));
    }
    text_add_wrapped(out, strbuf_str(&text), style->columns, 0);
    strbuf_deinit(&text);
}

// The metric whose interval stands in the rows: that of the sort, or of the blocks that it is
// about.
static enum HeapMetric interval_metric(const HeapReport *h)
{
    return isnan(heap_interval(&h->view, h->view.total, h->by)) ? HEAP_BLOCKS : h->by;
}

static void add_sampling(StrBuf *out, const HeapReport *h, const ScreenStyle *style)
{
    StrBuf text = {0};
    if (h->view.sample_bytes == 0)
        return;
    strbuf_add(&text, STR("estimates from a block every "));
    add_bytes(&text, h->view.sample_bytes);
    strbuf_add(&text, STR(" on average; ± is the 95% interval of "));
    strbuf_add(&text, interval_metric(h) == h->by ? report_metric_name(h->report)
                                                  : STR("blocks allocated"));
    text_add_wrapped(out, strbuf_str(&text), style->columns, 0);
    strbuf_deinit(&text);
}

// ---- Places ----------------------------------------------------------------------------------

enum { BLOCKS_COLUMNS = 8, BYTES_COLUMNS = 9, INTERVAL_COLUMNS = 6 };

static const char *sort_title(const HeapReport *h)
{
    switch (h->by) {
    case HEAP_BLOCKS:
        return "of blocks";
    case HEAP_BYTES:
        return "of total";
    case HEAP_PEAK_BYTES:
        return "of peak";
    case HEAP_END_BYTES:
        return "of end";
    case HEAP_SHORT_LIVED:
        return "of short";
    case HEAP_COPIED:
        return "of copied";
    case HEAP_LIFETIME:
        return "lifetime";
    case HEAP_MALLOC_NS:
        return "of malloc";
    default:
        return "share";
    }
}

static void add_titles(StrBuf *out, const HeapReport *h, size_t shown, const ScreenStyle *style)
{
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_printf(out, "%9s", sort_title(h));
    if (h->view.sample_bytes) // the sign has two bytes
        strbuf_printf(out, "%*s", INTERVAL_COLUMNS + 1, "±");
    strbuf_printf(out, "%8s%9s%9s%9s  allocated by", "blocks",
                  h->by == HEAP_COPIED      ? "copied"
                  : h->by == HEAP_MALLOC_NS ? "malloc"
                                            : "total",
                  "at peak", "at end");
    if (shown < h->view.places.len)
        strbuf_printf(out, " (%zu of %zu)", shown, h->view.places.len);
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
}

static void add_place_text(StrBuf *out, const Profile *p, FrameId frame)
{
    StrId file = p->frames.file.at[frame.v];
    if (file.v == 0)
        return;
    strbuf_add(out, str_base_name(profile_text(p, file)));
    if (p->frames.line.at[frame.v])
        strbuf_printf(out, ":%u", p->frames.line.at[frame.v]);
}

static void add_first_column(StrBuf *out, const HeapReport *h, const HeapRow *row,
                             const ScreenStyle *style)
{
    if (h->by == HEAP_LIFETIME) {
        double lifetime = heap_mean_lifetime(&h->view, row->value);
        add_column(out, isnan(lifetime) ? 0 : (uint64_t)llround(lifetime), lifetime_unit(&h->view),
                   true, 9);
        return;
    }
    double percent = percent_of(row->value[h->by], h->view.total[h->by]);
    strbuf_add(out, STR("   "));
    if (row->value[h->by] == 0) {
        strbuf_add(out, STR("     -"));
        return;
    }
    Style s = percent >= 10 ? STYLE_HOT : percent >= 2 ? STYLE_WARM : STYLE_PLAIN;
    style_begin(out, &style->terminal, s);
    add_percent(out, percent);
    style_end(out, &style->terminal, s);
}

static void add_interval_column(StrBuf *out, const HeapReport *h, const HeapRow *row)
{
    StrBuf text = {0};
    add_interval(&text, &h->view, row->value, interval_metric(h));
    size_t taken = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', INTERVAL_COLUMNS > taken ? INTERVAL_COLUMNS - taken : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_heap_row(StrBuf *out, const HeapReport *h, const HeapRow *row,
                         const ScreenStyle *style)
{
    const HeapView *v = &h->view;
    enum HeapMetric sum = h->by == HEAP_COPIED || h->by == HEAP_MALLOC_NS ? h->by : HEAP_BYTES;
    add_first_column(out, h, row, style);
    if (v->sample_bytes)
        add_interval_column(out, h, row);
    add_column(out, row->value[HEAP_BLOCKS], STR(""), v->has[HEAP_BLOCKS], BLOCKS_COLUMNS);
    add_column(out, row->value[sum], sum == HEAP_MALLOC_NS ? STR("ns") : STR("bytes"), v->has[sum],
               BYTES_COLUMNS);
    add_column(out, row->value[HEAP_PEAK_BYTES], STR("bytes"), v->has[HEAP_PEAK_BYTES],
               BYTES_COLUMNS);
    add_column(out, row->value[HEAP_END_BYTES], STR("bytes"), v->has[HEAP_END_BYTES],
               BYTES_COLUMNS);
    strbuf_add(out, STR("  "));
    StrBuf name = {0}, place = {0};
    heap_row_add_name(v, row, &name);
    add_place_text(&place, v->p, row->place.frame);
    size_t taken = 9 + BLOCKS_COLUMNS + 3 * BYTES_COLUMNS + 2;
    taken += v->sample_bytes ? INTERVAL_COLUMNS : 0;
    size_t room = style->columns == SIZE_MAX    ? SIZE_MAX
                  : style->columns > taken + 24 ? style->columns - taken
                                                : 24;
    size_t place_room =
        room == SIZE_MAX ? SIZE_MAX : MIN(str_columns(strbuf_str(&place)) + 1, room / 2);
    if (place.len == 0)
        place_room = 0;
    name_add_fitting(out, strbuf_str(&name), room == SIZE_MAX ? room : room - place_room);
    if (place.len) {
        strbuf_add_char(out, ' ');
        text_add_fitting(out, strbuf_str(&place),
                         place_room == SIZE_MAX ? place_room : place_room - 1, true);
    }
    strbuf_add_char(out, '\n');
    strbuf_deinit(&name);
    strbuf_deinit(&place);
}

// ---- Advice ----------------------------------------------------------------------------------

static void add_finding(StrBuf *out, const HeapView *v, const HeapAdvice *a)
{
    switch (a->kind) {
    case ADVICE_LEAK:
        add_bytes(out, a->bytes);
        strbuf_add(out, STR(" in "));
        add_blocks(out, a->blocks);
        strbuf_add(out, a->blocks == 1 ? STR(" is not freed") : STR(" are not freed"));
        if (a->each && a->blocks > 1)
            strbuf_printf(out, ", %llu bytes each", (unsigned long long)a->each);
        break;
    case ADVICE_TURNS:
        if (a->turns == 0) {
            add_blocks(out, a->blocks);
            strbuf_add(out, STR(", freed soon after, at most "));
            add_rounded_count(out, (double)a->live);
            strbuf_add(out, STR(" at a time"));
            break;
        }
        if (a->blocks == a->turns)
            strbuf_add(out, STR("1 block each time, "));
        else
            strbuf_printf(out, "%.3g blocks each time, ", (double)a->blocks / (double)a->turns);
        add_rounded_count(out, (double)a->turns);
        strbuf_add(out, STR(" times, freed soon after"));
        break;
    case ADVICE_GROWS:
        add_blocks(out, a->turns);
        strbuf_add(out, a->turns == 1 ? STR(" grows ") : STR(" grow "));
        add_rounded_count(out, (double)a->reallocs);
        strbuf_add(out, STR(" times by realloc, which copies "));
        add_bytes(out, a->bytes);
        break;
    case ADVICE_GROWS_NEW:
        strbuf_add(out, STR("a vector grows "));
        add_rounded_count(out, (double)a->blocks);
        strbuf_add(out, STR(" times by a new block, a copy and a free"));
        break;
    case ADVICE_IN_FRAME:
        add_blocks(out, a->blocks);
        strbuf_add(out, STR(" freed in their own frame"));
        if (a->each)
            strbuf_printf(out, ", always %llu bytes", (unsigned long long)a->each);
        break;
    case ADVICE_SHORT:
        add_blocks(out, a->blocks);
        strbuf_add(out, STR(" freed after "));
        add_lifetime(out, v, MAX(round(a->lifetime), 1.0));
        if (a->each)
            strbuf_printf(out, ", always %llu bytes", (unsigned long long)a->each);
        break;
    case ADVICE_ONE_SIZE:
        add_blocks(out, a->live);
        strbuf_printf(out, " of %llu bytes at the peak, each by itself",
                      (unsigned long long)a->each);
        break;
    }
}

static void add_saved_calls(StrBuf *out, const HeapReport *h, const HeapAdvice *a)
{
    add_rounded_count(out, (double)a->saved_blocks);
    strbuf_add(out, STR(" allocations ("));
    StrBuf share = {0};
    add_percent(&share, percent_of(a->saved_blocks, h->view.total[HEAP_BLOCKS]));
    strbuf_add(out, str_trim(strbuf_str(&share)));
    strbuf_add(out, STR(" of all)"));
    if (a->saved_ns) {
        strbuf_add(out, STR(", "));
        add_value(out, a->saved_ns, STR("ns"));
    }
    strbuf_deinit(&share);
}

static void add_change(StrBuf *out, const HeapReport *h, const HeapAdvice *a)
{
    switch (a->kind) {
    case ADVICE_LEAK:
        strbuf_add(out, a->blocks == 1 ? STR("free it when it is done with: saves ")
                                       : STR("free them when they are done with: saves "));
        add_bytes(out, a->saved_bytes);
        strbuf_add(out, STR(" at the end"));
        return;
    case ADVICE_TURNS:
        strbuf_add(out, STR("reuse them: saves "));
        break;
    case ADVICE_GROWS:
    case ADVICE_GROWS_NEW:
        strbuf_add(out, STR("reserve the final size first: saves "));
        if (a->kind == ADVICE_GROWS && a->saved_bytes) {
            add_bytes(out, a->saved_bytes);
            strbuf_add(out, STR(" of copies, "));
        }
        break;
    case ADVICE_IN_FRAME:
        strbuf_add(out, STR("a variable on the stack saves "));
        break;
    case ADVICE_SHORT:
        strbuf_add(out, a->live <= 1 ? STR("a variable or one block that stays: saves ")
                                     : STR("use the blocks again: saves "));
        break;
    case ADVICE_ONE_SIZE:
        strbuf_add(out, STR("an array or a pool of them saves "));
        add_bytes(out, a->saved_bytes);
        strbuf_add(out, STR(" of malloc's, "));
        break;
    }
    add_saved_calls(out, h, a);
}

static void add_one_advice(StrBuf *out, const HeapReport *h, const HeapAdvice *a,
                           const ScreenStyle *style)
{
    StrBuf name = {0}, place = {0}, finding = {0}, change = {0};
    frame_add_function_name(h->view.p, a->frame, &name);
    add_place_text(&place, h->view.p, a->frame);
    add_finding(&finding, &h->view, a);
    strbuf_add(&change, STR("  -> "));
    add_change(&change, h, a);
    size_t taken = str_columns(strbuf_str(&place)) + str_columns(strbuf_str(&finding)) + 4;
    size_t room = style->columns == SIZE_MAX    ? SIZE_MAX
                  : style->columns > taken + 12 ? style->columns - taken
                                                : 12;
    StrBuf line = {0};
    name_add_fitting(&line, strbuf_str(&name), room);
    if (place.len) {
        strbuf_add_char(&line, ' ');
        strbuf_add_terminal(&line, strbuf_str(&place));
    }
    strbuf_add(&line, STR(": "));
    strbuf_add(&line, strbuf_str(&finding));
    text_add_fitting(out, strbuf_str(&line), style->columns, false);
    strbuf_add_char(out, '\n');
    style_begin(out, &style->terminal, STYLE_NAME);
    text_add_fitting(out, strbuf_str(&change), style->columns, false);
    style_end(out, &style->terminal, STYLE_NAME);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&line);
    strbuf_deinit(&name);
    strbuf_deinit(&place);
    strbuf_deinit(&finding);
    strbuf_deinit(&change);
}

static void add_advice(StrBuf *out, const HeapReport *h, size_t limit, const ScreenStyle *style)
{
    size_t shown = limit ? MIN(limit, h->advice.len) : h->advice.len;
    if (shown == 0)
        return;
    style_begin(out, &style->terminal, STYLE_DIM);
    strbuf_add(out, STR("what could change"));
    if (shown < h->advice.len)
        strbuf_printf(out, " (%zu of %zu, --limit 0 for all)", shown, h->advice.len);
    style_end(out, &style->terminal, STYLE_DIM);
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < shown; i++)
        add_one_advice(out, h, &h->advice.at[i], style);
}

// ---- The screen ------------------------------------------------------------------------------

static void add_next_commands(StrBuf *out, const HeapReport *h, const ScreenStyle *style)
{
    if (h->path.len == 0)
        return;
    StrBuf line = {0};
    strbuf_add(&line, STR("assay report "));
    add_shell_word(&line, h->path);
    strbuf_add(&line, h->view.processes > 1 ? STR(" --by process --sort peak")
                                            : STR(" --tree --sort peak"));
    strbuf_add(out, STR("next: "));
    style_begin(out, &style->terminal, STYLE_NAME);
    strbuf_add_terminal(out, strbuf_str(&line));
    style_end(out, &style->terminal, STYLE_NAME);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&line);
}

static size_t lines_of(Str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n';
    return lines;
}

void heap_add_screen(StrBuf *out, const HeapReport *h, const ScreenStyle *style)
{
    enum { SCREEN = 23, ADVICE_SHOWN = 3, PLACES_LEAST = 5 };
    size_t start = out->len, places = style->limit, advice = style->limit;
    ScreenStyle head = *style;
    head.no_metric = true;
    (void)screen_add_head(out, h->report, &head);
    if (h->view.places.len == 0) {
        add_copies(out, h, style);
        strbuf_add(out, STR("no block was allocated in the selection\n"));
        return;
    }
    add_sums(out, h, style);
    add_copies(out, h, style);
    add_sampling(out, h, style);
    if (style->limit == SIZE_MAX) {
        advice = MIN(h->advice.len, (size_t)ADVICE_SHOWN);
        size_t used = lines_of(str_slice(strbuf_str(out), start, out->len));
        size_t below = (advice ? 2 + 2 * advice : 0) + 1;
        size_t room = SCREEN > used + below + 2 ? SCREEN - used - below - 2 : 0;
        places = MAX(room, (size_t)PLACES_LEAST);
    }
    places = places ? MIN(places, h->view.places.len) : h->view.places.len;
    strbuf_add_char(out, '\n');
    add_titles(out, h, places, style);
    for (size_t i = 0; i < places; i++)
        add_heap_row(out, h, &h->view.places.at[i], style);
    if (h->advice.len)
        strbuf_add_char(out, '\n');
    add_advice(out, h, advice, style);
    add_next_commands(out, h, style);
}
