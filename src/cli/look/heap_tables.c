// SPDX-License-Identifier: Apache-2.0
// Tables of a recording of the heap beside its places: sizes of blocks, and the heap over time.

#include "cli/look/heap_screen.h"

#include "analyse/fit.h"
#include "analyse/keys.h"

#include <math.h>

enum { BAR_COLUMNS = 30 };

static void add_bar(StrBuf *out, double value, double most)
{
    size_t columns = most > 0 ? (size_t)llround(value / most * BAR_COLUMNS) : 0;
    strbuf_add_repeated(out, '#', value > 0 ? MAX(columns, (size_t)1) : 0);
}

static void add_right(StrBuf *out, const StrBuf *text, size_t columns)
{
    size_t taken = str_columns(strbuf_str(text));
    strbuf_add_repeated(out, ' ', columns > taken ? columns - taken : 1);
    strbuf_add(out, strbuf_str(text));
}

static void add_count_column(StrBuf *out, double value, size_t columns)
{
    StrBuf text = {0};
    if (value > 0)
        add_rounded_count(&text, value);
    else
        strbuf_add_char(&text, '-');
    add_right(out, &text, columns);
    strbuf_deinit(&text);
}

static void add_value_column(StrBuf *out, uint64_t value, Str unit, size_t columns)
{
    StrBuf text = {0};
    add_value(&text, value, unit);
    add_right(out, &text, columns);
    strbuf_deinit(&text);
}

// ---- Sizes -----------------------------------------------------------------------------------

static uint64_t first_of(unsigned size_class)
{
    return size_class ? UINT64_C(1) << (size_class - 1) : 0;
}

static uint64_t last_of(unsigned size_class)
{
    return size_class ? (UINT64_C(1) << size_class) - 1 : 0;
}

static void add_size_row(StrBuf *out, const HeapView *v, unsigned size_class, uint64_t most,
                         uint64_t sum, uint64_t up_to)
{
    StrBuf range = {0};
    strbuf_printf(&range, "%llu", (unsigned long long)first_of(size_class));
    if (size_class > 1)
        strbuf_printf(&range, " to %llu", (unsigned long long)last_of(size_class));
    add_right(out, &range, 24);
    add_count_column(out, (double)v->sizes[size_class], 12);
    strbuf_printf(out, " %6.1f%% %6.1f%%  ", 100.0 * (double)v->sizes[size_class] / (double)sum,
                  100.0 * (double)up_to / (double)sum);
    add_bar(out, (double)v->sizes[size_class], (double)most);
    strbuf_add_char(out, '\n');
    strbuf_deinit(&range);
}

void heap_add_sizes(StrBuf *out, const HeapReport *h, bool csv)
{
    const HeapView *v = &h->view;
    uint64_t sum = 0, most = 0, up_to = 0;
    unsigned first = HEAP_SIZE_CLASSES, last = 0;
    for (unsigned c = 0; c < HEAP_SIZE_CLASSES; c++) {
        sum += v->sizes[c];
        most = MAX(most, v->sizes[c]);
        first = v->sizes[c] ? MIN(first, c) : first;
        last = v->sizes[c] ? c : last;
    }
    if (csv)
        strbuf_add(out, STR("from,to,blocks\r\n"));
    else if (sum == 0)
        strbuf_add(out, STR("the recording does not say how large blocks were\n"));
    else
        strbuf_printf(out, "%24s%12s %7s %7s\n", "bytes", "blocks", "share", "up to");
    for (unsigned c = first; c <= last && sum; c++) {
        up_to += v->sizes[c];
        if (csv)
            strbuf_printf(out, "%llu,%llu,%llu\r\n", (unsigned long long)first_of(c),
                          (unsigned long long)last_of(c), (unsigned long long)v->sizes[c]);
        else
            add_size_row(out, v, c, most, sum, up_to);
    }
}

// ---- Time ------------------------------------------------------------------------------------

typedef struct Slice {
    int64_t from_ns, to_ns;
    double bytes, blocks;                     // the most in it
    double allocated_bytes, allocated_blocks; // in it
    StackId largest;                          // of the sites then; 0: not known
    double largest_bytes;
} Slice;
typedef Vec(Slice) Slices;

// The stack of a part "stack N"; 0: it is none.
static uint32_t stack_of_part(const Profile *p, Str part)
{
    uint64_t stack = 0;
    if (!str_starts_with(part, STR(HEAP_SITE_PART)) ||
        !str_parse_u64(str_slice(part, sizeof(HEAP_SITE_PART) - 1, part.len), 10, &stack))
        return 0;
    return stack < p->stacks.parent.len ? (uint32_t)stack : 0;
}

static void add_point(Slice *s, const Profile *p, size_t i)
{
    Str name = profile_text(p, p->metrics.name.at[p->series.metric.at[i].v]);
    uint32_t stack = stack_of_part(p, profile_text(p, p->series.part.at[i]));
    bool is_whole = p->series.part.at[i].v == 0;
    double value = p->series.value.at[i];
    if (str_equal(name, STR(HEAP_LIVE_BYTES)) && is_whole)
        s->bytes = value;
    else if (str_equal(name, STR(HEAP_LIVE_BLOCKS)) && is_whole)
        s->blocks = value;
    else if (str_equal(name, STR("bytes allocated")) && is_whole)
        s->allocated_bytes += value;
    else if (str_equal(name, STR("blocks allocated")) && is_whole)
        s->allocated_blocks += value;
    else if (str_equal(name, STR(HEAP_LIVE_BYTES)) && stack && value > s->largest_bytes) {
        s->largest_bytes = value;
        s->largest.v = stack;
    }
}

// Points of one time make a slice, which ends there.
static void find_slices(const Profile *p, Slices *ret)
{
    int64_t before_ns = 0;
    for (size_t i = 0; i < p->series.metric.len; i++) {
        int64_t at_ns = p->series.time_ns.at[i];
        if (ret->len == 0 || vec_last(ret).to_ns != at_ns) {
            if (ret->len)
                before_ns = vec_last(ret).to_ns;
            vec_push(NULL, ret, ((Slice){.from_ns = before_ns, .to_ns = at_ns}));
        }
        add_point(&vec_last(ret), p, i);
    }
}

static void join(Slice *s, const Slice *next)
{
    double blocks = s->allocated_blocks, bytes = s->allocated_bytes;
    int64_t from_ns = s->from_ns;
    if (next->bytes >= s->bytes)
        *s = *next;
    s->from_ns = from_ns;
    s->to_ns = next->to_ns;
    s->allocated_blocks = blocks + next->allocated_blocks;
    s->allocated_bytes = bytes + next->allocated_bytes;
}

// Joins neighbours until there are at most `limit`.
static void shorten(Slices *slices, size_t limit)
{
    if (limit == 0 || slices->len <= limit)
        return;
    size_t count = slices->len, kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t to = i * limit / count;
        if (to < kept) {
            join(&slices->at[kept - 1], &slices->at[i]);
            continue;
        }
        slices->at[kept++] = slices->at[i];
    }
    slices->len = kept;
}

static void add_largest(StrBuf *out, const HeapReport *h, const Slice *s)
{
    const HeapView *v = &h->view;
    for (size_t i = 0; i < v->stacks.len && s->largest.v && s->bytes > 0; i++) {
        if (v->stacks.at[i].stack.v != s->largest.v)
            continue;
        heap_row_add_name(v, &v->stacks.at[i], out);
        return;
    }
}

static void add_slice_text(StrBuf *out, const HeapReport *h, const Slice *s, double most)
{
    StrBuf name = {0}, fitting = {0};
    double seconds = (double)(s->to_ns - s->from_ns) / 1e9;
    strbuf_printf(out, "%10.3f", (double)s->to_ns / 1e9);
    add_value_column(out, (uint64_t)MAX(s->bytes, 0.0), STR("bytes"), 10);
    add_count_column(out, s->blocks, 10);
    add_count_column(out, seconds > 0 ? s->allocated_blocks / seconds : 0, 10);
    strbuf_add(out, STR("  "));
    size_t before = out->len;
    add_bar(out, s->bytes / 2, most);
    strbuf_add_repeated(out, ' ', BAR_COLUMNS / 2 + 1 - MIN(out->len - before, BAR_COLUMNS / 2u));
    add_largest(&name, h, s);
    name_add_fitting(&fitting, strbuf_str(&name), 20);
    strbuf_add(out, strbuf_str(&fitting));
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    strbuf_add_char(out, '\n');
    strbuf_deinit(&name);
    strbuf_deinit(&fitting);
}

static void add_slice_csv(StrBuf *out, const HeapReport *h, const Slice *s)
{
    StrBuf name = {0};
    strbuf_printf(out, "%lld,%.0f,%.0f,%.0f,%.0f,", (long long)s->to_ns, s->bytes, s->blocks,
                  s->allocated_bytes, s->allocated_blocks);
    add_largest(&name, h, s);
    strbuf_add_csv(out, strbuf_str(&name));
    strbuf_printf(out, ",%.0f\r\n", s->largest_bytes);
    strbuf_deinit(&name);
}

void heap_add_timeline(StrBuf *out, const HeapReport *h, size_t limit, bool csv)
{
    Slices slices = {0};
    double most = 0;
    find_slices(h->view.p, &slices);
    if (!csv)
        shorten(&slices, limit);
    for (size_t i = 0; i < slices.len; i++)
        most = MAX(most, slices.at[i].bytes);
    if (csv)
        strbuf_add(out, STR("time_ns,live_bytes,live_blocks,allocated_bytes,allocated_blocks,"
                            "largest,largest_bytes\r\n"));
    else if (slices.len == 0)
        strbuf_add(out, STR("the recording has no sizes of the heap over time\n"));
    else
        strbuf_printf(out, "%10s%10s%10s%10s  %-*s%s\n", "until s", "live", "blocks", "allocs/s",
                      BAR_COLUMNS / 2 + 1, "", "largest then");
    for (size_t i = 0; i < slices.len; i++) {
        if (csv)
            add_slice_csv(out, h, &slices.at[i]);
        else
            add_slice_text(out, h, &slices.at[i], most);
    }
    vec_free(&slices);
}
