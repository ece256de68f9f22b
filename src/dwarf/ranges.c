// SPDX-License-Identifier: Apache-2.0
// Address ranges: reads the lists of DW_AT_ranges, and turns nested or overlapping ranges into
// disjoint segments. Format: DWARF 5 §2.17.3, §7.28; DWARF 4 §2.17.3.

#include "dwarf/dwarf_internal.h"

static void push(Unit *u, uint64_t low, uint64_t high, uint32_t id, RangeVec *out)
{
    if (low < high && !is_tombstone(u, low))
        vec_push(NULL, out, (Range){low, high, id});
}

// The number of bytes of range lists that may still be read; 0 ends a list like the end of the
// section.
static size_t budgeted(Set *set, Cursor *c)
{
    c->data.len = MIN(c->data.len, c->at + set->range_budget);
    return c->at;
}

// Counts the unit as damaged when the list was.
static bool spend(Unit *u, Set *set, const Cursor *c, size_t start)
{
    set->range_budget -= c->at - start;
    if (!cursor_ok(c))
        unit_damaged_at(u, c->at, "range list", c);
    return cursor_ok(c);
}

// Reads a list of .debug_ranges: pairs of offsets from a base, ended by (0, 0).
static bool read_pairs(Unit *u, uint64_t offset, uint32_t id, RangeVec *out)
{
    Unit *owner = u->skeleton ? u->skeleton : u;
    Set *set = owner->set;
    Cursor c = section_cursor(set, set->s.ranges, ".debug_ranges");
    cursor_seek(&c, offset);
    size_t start = budgeted(set, &c);
    uint64_t top = u->addr_size >= 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t base = owner->low_pc;
    while (cursor_ok(&c)) {
        uint64_t low = cursor_uint(&c, u->addr_size);
        uint64_t high = cursor_uint(&c, u->addr_size);
        if (!cursor_ok(&c) || (low == 0 && high == 0))
            break;
        if (low == top)
            base = high;
        else if (low < high)
            push(u, (base + low) & top, (base + high) & top, id, out);
    }
    return spend(u, set, &c, start);
}

static bool indexed(Unit *u, uint64_t index, uint64_t *ret)
{
    return value_address(u, (Value){.kind = VALUE_ADDRX, .u = index}, ret);
}

// Reads one entry of .debug_rnglists. False at the end of the list.
static bool read_entry(Unit *u, Cursor *c, uint64_t *base, uint32_t id, RangeVec *out)
{
    uint64_t low = 0;
    uint64_t high = 0;
    bool known = true;
    uint8_t kind = cursor_u8(c);
    switch (kind) {
    case DW_RLE_end_of_list:
        return false;
    case DW_RLE_base_addressx:
        if (!indexed(u, cursor_uleb(c), base))
            *base = 0;
        return true;
    case DW_RLE_startx_endx:
        known = indexed(u, cursor_uleb(c), &low);
        known &= indexed(u, cursor_uleb(c), &high);
        break;
    case DW_RLE_startx_length:
        known = indexed(u, cursor_uleb(c), &low);
        high = low + cursor_uleb(c);
        break;
    case DW_RLE_offset_pair:
        low = cursor_uleb(c);
        high = cursor_uleb(c);
        // When the linker dropped the base, the pair is dropped, too.
        known = !is_tombstone(u, *base) || *base == 0;
        low += *base;
        high += *base;
        break;
    case DW_RLE_base_address:
        *base = cursor_uint(c, u->addr_size);
        return true;
    case DW_RLE_start_end:
        low = cursor_uint(c, u->addr_size);
        high = cursor_uint(c, u->addr_size);
        break;
    case DW_RLE_start_length:
        low = cursor_uint(c, u->addr_size);
        high = low + cursor_uleb(c);
        break;
    default:
        cursor_fail_hex(c, "unknown range list entry", kind);
        return false;
    }
    if (cursor_ok(c) && known)
        push(u, low, high, id, out);
    return true;
}

static bool read_rnglist(Unit *u, uint64_t offset, uint32_t id, RangeVec *out)
{
    Set *set = u->set;
    Cursor c = section_cursor(set, set->s.rnglists, ".debug_rnglists");
    cursor_seek(&c, offset);
    size_t start = budgeted(set, &c);
    uint64_t base = u->skeleton ? u->skeleton->low_pc : u->low_pc;
    while (cursor_ok(&c) && read_entry(u, &c, &base, id, out)) {
    }
    return spend(u, set, &c, start);
}

// DW_FORM_rnglistx: reads the offset of the list from the table at the base.
static bool rnglist_offset(Unit *u, uint64_t index, uint64_t *ret)
{
    uint64_t at;
    if (__builtin_mul_overflow(index, u->offset_size, &at) ||
        __builtin_add_overflow(at, u->rnglists_base, &at))
        return false;
    Cursor c = section_cursor(u->set, u->set->s.rnglists, ".debug_rnglists");
    cursor_seek(&c, at);
    uint64_t offset = cursor_uint(&c, u->offset_size);
    return cursor_ok(&c) && !__builtin_add_overflow(offset, u->rnglists_base, ret);
}

bool ranges_read(Unit *u, Value v, uint32_t id, RangeVec *out)
{
    uint64_t offset = v.u;
    switch (v.kind) {
    case VALUE_RNGLISTX:
        return rnglist_offset(u, v.u, &offset) && read_rnglist(u, offset, id, out);
    case VALUE_SEC_OFFSET:
    case VALUE_UINT:
        if (u->version >= 5)
            return read_rnglist(u, offset, id, out);
        if (u->skeleton)
            offset += u->skeleton->ranges_base;
        return read_pairs(u, offset, id, out);
    default:
        return false;
    }
}

bool ranges_of_die(Unit *u, Value low, Value high, Value ranges, uint32_t id, RangeVec *out)
{
    if (ranges.kind != VALUE_NONE)
        return ranges_read(u, ranges, id, out);
    uint64_t from;
    uint64_t to;
    if (low.kind == VALUE_NONE || high.kind == VALUE_NONE || !value_address(u, low, &from))
        return true;
    if (high.kind == VALUE_UINT)
        to = from + high.u;
    else if (!value_address(u, high, &to))
        return true;
    push(u, from, to, id, out);
    return true;
}

// ---- The sweep -------------------------------------------------------------
static void radix_pass(const Range *from, Range *to, size_t n, uint64_t least, unsigned shift)
{
    size_t at[256] = {0};
    for (size_t i = 0; i < n; i++)
        at[((from[i].low - least) >> shift) & 255]++;
    size_t sum = 0;
    for (size_t i = 0; i < 256; i++) {
        size_t count = at[i];
        at[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[at[((from[i].low - least) >> shift) & 255]++] = from[i];
}

// Radix sort by `low`; equal ones keep their order. Only bytes in which the addresses differ take a
// pass.
static void sort_by_low(RangeVec *r)
{
    uint64_t least = UINT64_MAX;
    uint64_t most = 0;
    bool sorted = true;
    for (size_t i = 0; i < r->len; i++) {
        sorted &= i == 0 || r->at[i - 1].low <= r->at[i].low;
        least = MIN(least, r->at[i].low);
        most = MAX(most, r->at[i].low);
    }
    if (sorted)
        return;
    Range *other = heap_alloc(arena_size_of(r->len, sizeof(Range)));
    Range *from = r->at;
    Range *to = other;
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += 8) {
        radix_pass(from, to, r->len, least, shift);
        Range *swap = from;
        from = to;
        to = swap;
    }
    if (from != r->at)
        memcpy(r->at, from, r->len * sizeof(Range));
    heap_free(other);
}

// The open ranges, in a heap with the highest id on top.
typedef struct Sweep {
    Vec(Range) open;
    U64Vec start;
    U32Vec id;
} Sweep;

static void open_push(Sweep *s, Range r)
{
    vec_push(NULL, &s->open, r);
    Range *at = s->open.at;
    size_t i = s->open.len - 1;
    for (; i > 0 && at[(i - 1) / 2].id < r.id; i = (i - 1) / 2)
        at[i] = at[(i - 1) / 2];
    at[i] = r;
}

static void open_pop(Sweep *s)
{
    Range last = vec_pop(&s->open);
    Range *at = s->open.at;
    size_t n = s->open.len;
    if (n == 0)
        return;
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && at[child + 1].id > at[child].id)
            child++;
        if (at[child].id <= last.id)
            break;
        at[i] = at[child];
    }
    at[i] = last;
}

static void emit(Sweep *s, uint64_t start, uint32_t id)
{
    size_t n = s->start.len;
    if (n && s->start.at[n - 1] == start) {
        s->id.at[n - 1] = id;
        if (n > 1 && s->id.at[n - 2] == id) {
            s->id.len--;
            s->start.len--;
        }
        return;
    }
    if (n && s->id.at[n - 1] == id)
        return;
    vec_push(NULL, &s->start, start);
    vec_push(NULL, &s->id, id);
}

// Closes the ranges that end up to `until`.
static void drain(Sweep *s, uint64_t until)
{
    while (s->open.len && s->open.at[0].high <= until) {
        uint64_t end = s->open.at[0].high;
        while (s->open.len && s->open.at[0].high <= end)
            open_pop(s);
        emit(s, end, s->open.len ? s->open.at[0].id : (uint32_t)NONE);
    }
}

Segments segments_from_ranges(Arena *arena, RangeVec *ranges)
{
    sort_by_low(ranges);
    Sweep s = {0};
    for (size_t i = 0; i < ranges->len; i++) {
        Range r = ranges->at[i];
        drain(&s, r.low);
        open_push(&s, r);
        emit(&s, r.low, s.open.at[0].id);
    }
    drain(&s, UINT64_MAX);
    Segments ret = {.len = s.start.len};
    ret.start = arena_array(arena, uint64_t, ret.len);
    ret.id = arena_array(arena, uint32_t, ret.len);
    bytes_copy(ret.start, bytes_over(s.start.at, ret.len * sizeof(uint64_t)));
    bytes_copy(ret.id, bytes_over(s.id.at, ret.len * sizeof(uint32_t)));
    vec_free(&s.open);
    vec_free(&s.start);
    vec_free(&s.id);
    return ret;
}

uint32_t segments_find(const Segments *s, uint64_t address)
{
    size_t low = 0;
    size_t n = s->len;
    while (n > 0) {
        size_t half = n / 2;
        bool right = s->start[low + half] <= address;
        low = right ? low + half + 1 : low;
        n = right ? n - half - 1 : half;
    }
    return low == 0 ? (uint32_t)NONE : s->id[low - 1];
}
