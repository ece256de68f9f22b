// SPDX-License-Identifier: Apache-2.0
// Parses the records of a perf ring.

#include "perfdata/perf_record.h"

#include "base/cursor.h"

#include <sys/mman.h>

enum { HEADER_SIZE = sizeof(struct perf_event_header), BRANCH_ENTRY_SIZE = 24 };

static uint32_t words(uint64_t bits)
{
    return 8u * (uint32_t)__builtin_popcountll(bits);
}

PerfLayout perf_layout(const struct perf_event_attr *attr)
{
    uint64_t t = attr->sample_type;
    PerfLayout l = {
        .sample_type = t,
        .read_format = attr->read_format,
        .regs_user = t & PERF_SAMPLE_REGS_USER ? attr->sample_regs_user : 0,
        .branch_type = t & PERF_SAMPLE_BRANCH_STACK ? attr->branch_sample_type : 0,
    };
    // Samples start with IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD, then come
    // parts of variable size. Other records end with TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER.
    if (t & PERF_SAMPLE_TIME)
        l.sample_time =
            HEADER_SIZE + words(t & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
    l.fixed_size =
        HEADER_SIZE + words(t & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
                                 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD));
    if (attr->sample_id_all) {
        uint64_t tail =
            PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
        l.id_all_size = words(t & (tail | PERF_SAMPLE_TID | PERF_SAMPLE_TIME));
        if (t & PERF_SAMPLE_TIME)
            l.id_all_time = words(t & (tail | PERF_SAMPLE_TIME));
    }
    return l;
}

static uint64_t u64_at(Bytes b, size_t at)
{
    uint64_t v = 0;
    if (at <= b.len && b.len - at >= 8)
        memcpy(&v, b.ptr + at, 8);
    return v;
}

uint64_t perf_record_time(const PerfLayout *layout, Bytes record)
{
    struct perf_event_header h;
    if (record.len < sizeof(h))
        return 0;
    memcpy(&h, record.ptr, sizeof(h));
    if (h.type == PERF_RECORD_SAMPLE)
        return layout->sample_time ? u64_at(record, layout->sample_time) : 0;
    if (layout->id_all_time == 0 || record.len < HEADER_SIZE + layout->id_all_size)
        return 0;
    return u64_at(record, record.len - layout->id_all_time);
}

static U64List take_list(Cursor *c, uint64_t count)
{
    if (count > cursor_left(c) / 8) {
        cursor_fail(c, "a list longer than its record");
        return (U64List){0};
    }
    return (U64List){cursor_take(c, (size_t)count * 8), (size_t)count};
}

static void read_values(const PerfLayout *l, Cursor *c, PerfSample *s)
{
    uint64_t f = l->read_format;
    bool group = f & PERF_FORMAT_GROUP;
    uint64_t count = group ? cursor_u64(c) : 1;
    PerfGroupValue single = {0};
    if (!group)
        single.value = cursor_u64(c);
    if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
        s->time_enabled = cursor_u64(c);
    if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
        s->time_running = cursor_u64(c);
    if (!group) {
        if (f & PERF_FORMAT_ID)
            single.id = cursor_u64(c);
        if (f & PERF_FORMAT_LOST)
            cursor_skip(c, 8);
        s->read[0] = single;
        s->read_count = 1;
        return;
    }
    uint64_t entry = 8 + words(f & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
    if (count > cursor_left(c) / entry) {
        cursor_fail(c, "a group longer than its record");
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        PerfGroupValue v = {.value = cursor_u64(c)};
        if (f & PERF_FORMAT_ID)
            v.id = cursor_u64(c);
        if (f & PERF_FORMAT_LOST)
            cursor_skip(c, 8);
        if (i < PERF_GROUP_MAX)
            s->read[i] = v;
    }
    s->read_count = MIN(count, (uint64_t)PERF_GROUP_MAX);
}

static void read_branches(const PerfLayout *l, Cursor *c, PerfSample *s)
{
    uint64_t count = cursor_u64(c);
    if (l->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        cursor_skip(c, 8);
    if (count > cursor_left(c) / BRANCH_ENTRY_SIZE) {
        cursor_fail(c, "a branch stack longer than its record");
        return;
    }
    s->branch_count = count;
    s->branches = cursor_take(c, (size_t)count * BRANCH_ENTRY_SIZE);
}

static void read_stack(Cursor *c, PerfSample *s)
{
    uint64_t size = cursor_u64(c);
    if (size == 0)
        return;
    Bytes bytes = cursor_bytes(c, size);
    uint64_t copied = cursor_u64(c);
    if (!cursor_ok(c))
        return;
    if (copied > size) {
        cursor_fail(c, "more stack copied than reserved");
        return;
    }
    s->stack = bytes_slice(bytes, 0, (size_t)copied);
    s->stack_cut = copied == size;
}

static void parse_sample(const PerfLayout *l, Cursor *c, PerfSample *s, PerfRecord *r)
{
    uint64_t t = l->sample_type;
    // Not the whole struct: to clear kilobytes would cost more than to parse the record.
    s->ip = s->addr = s->period = s->read_count = s->time_enabled = s->time_running = 0;
    s->callchain = s->deferred = (U64List){0};
    s->raw = s->stack = (Bytes){0};
    s->stack_cut = false;
    s->branch_count = 0;
    s->branches = NULL;
    s->regs_abi = 0;
    r->u.sample = s;
    if (t & PERF_SAMPLE_IDENTIFIER)
        r->id = cursor_u64(c);
    if (t & PERF_SAMPLE_IP)
        s->ip = cursor_u64(c);
    if (t & PERF_SAMPLE_TID) {
        r->pid = cursor_u32(c);
        r->tid = cursor_u32(c);
    }
    if (t & PERF_SAMPLE_TIME)
        r->time = cursor_u64(c);
    if (t & PERF_SAMPLE_ADDR)
        s->addr = cursor_u64(c);
    if (t & PERF_SAMPLE_ID)
        r->id = cursor_u64(c);
    if (t & PERF_SAMPLE_STREAM_ID)
        cursor_skip(c, 8);
    if (t & PERF_SAMPLE_CPU) {
        r->cpu = cursor_u32(c);
        cursor_skip(c, 4);
    }
    if (t & PERF_SAMPLE_PERIOD)
        s->period = cursor_u64(c);
    if (t & PERF_SAMPLE_READ)
        read_values(l, c, s);
    if (t & PERF_SAMPLE_CALLCHAIN)
        s->callchain = take_list(c, cursor_u64(c));
    if (t & PERF_SAMPLE_RAW)
        s->raw = cursor_bytes(c, cursor_u32(c));
    if (t & PERF_SAMPLE_BRANCH_STACK)
        read_branches(l, c, s);
    if (t & PERF_SAMPLE_REGS_USER) {
        s->regs_abi = cursor_u64(c);
        if (s->regs_abi) {
            memset(s->regs, 0, sizeof(s->regs));
            for (uint64_t left = l->regs_user; left; left &= left - 1)
                s->regs[__builtin_ctzll(left)] = cursor_u64(c);
        }
    }
    if (t & PERF_SAMPLE_STACK_USER)
        read_stack(c, s);
    // The later parts (WEIGHT …) are never requested.
}

static void parse_id_all(const PerfLayout *l, Bytes record, PerfRecord *r)
{
    if (l->id_all_size == 0)
        return;
    Cursor c = cursor_over(record, "perf record");
    cursor_seek(&c, record.len - l->id_all_size);
    uint64_t t = l->sample_type;
    if (t & PERF_SAMPLE_TID) {
        r->pid = cursor_u32(&c);
        r->tid = cursor_u32(&c);
    }
    if (t & PERF_SAMPLE_TIME)
        r->time = cursor_u64(&c);
    if (t & PERF_SAMPLE_ID)
        r->id = cursor_u64(&c);
    if (t & PERF_SAMPLE_STREAM_ID)
        cursor_skip(&c, 8);
    if (t & PERF_SAMPLE_CPU) {
        r->cpu = cursor_u32(&c);
        cursor_skip(&c, 4);
    }
    if (t & PERF_SAMPLE_IDENTIFIER)
        r->id = cursor_u64(&c);
}

// Reads text that is padded with NULs to the end of the record's own part.
static Str rest_as_text(Cursor *c)
{
    Bytes rest = cursor_bytes(c, cursor_left(c));
    return str_over((const char *)rest.ptr,
                    rest.len ? strnlen((const char *)rest.ptr, rest.len) : 0);
}

static void parse_mmap(Cursor *c, PerfRecord *r)
{
    PerfMmap *m = &r->u.mmap;
    *m = (PerfMmap){0};
    m->pid = cursor_u32(c);
    m->tid = cursor_u32(c);
    m->start = cursor_u64(c);
    m->len = cursor_u64(c);
    m->page_offset = cursor_u64(c);
    m->exec = !(r->misc & PERF_RECORD_MISC_MMAP_DATA);
    if (r->type == PERF_RECORD_MMAP2) {
        Bytes object = cursor_bytes(c, 24); // major, minor, inode, generation; or a build-id
        m->prot = cursor_u32(c);
        m->flags = cursor_u32(c);
        m->exec = m->prot & PROT_EXEC;
        if (!cursor_ok(c))
            return;
        if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
            size_t len = MIN(object.ptr[0], (uint8_t)20);
            m->build_id = bytes_slice(object, 4, 4 + len);
        } else {
            memcpy(&m->major, object.ptr, 4);
            memcpy(&m->minor, object.ptr + 4, 4);
            memcpy(&m->inode, object.ptr + 8, 8);
        }
    }
    m->path = rest_as_text(c);
}

bool perf_record_parse(const PerfLayout *layout, Bytes record, PerfSample *sample, PerfRecord *ret)
{
    struct perf_event_header h;
    if (record.len < sizeof(h))
        return false;
    memcpy(&h, record.ptr, sizeof(h));
    if (h.size != record.len)
        return false;
    *ret = (PerfRecord){.type = h.type, .misc = h.misc};
    Cursor c = cursor_over(record, "perf record");
    cursor_skip(&c, sizeof(h));
    if (h.type == PERF_RECORD_SAMPLE) {
        parse_sample(layout, &c, sample, ret);
        return cursor_ok(&c);
    }
    if (record.len < sizeof(h) + layout->id_all_size)
        return false;
    parse_id_all(layout, record, ret);
    c.data.len -= layout->id_all_size;
    switch (h.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        parse_mmap(&c, ret);
        break;
    case PERF_RECORD_COMM:
        ret->u.comm.pid = cursor_u32(&c);
        ret->u.comm.tid = cursor_u32(&c);
        ret->u.comm.exec = h.misc & PERF_RECORD_MISC_COMM_EXEC;
        ret->u.comm.name = rest_as_text(&c);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        ret->u.task.pid = cursor_u32(&c);
        ret->u.task.parent_pid = cursor_u32(&c);
        ret->u.task.tid = cursor_u32(&c);
        ret->u.task.parent_tid = cursor_u32(&c);
        ret->u.task.time = cursor_u64(&c);
        break;
    case PERF_RECORD_LOST:
        cursor_skip(&c, 8); // id
        ret->u.lost.lost = cursor_u64(&c);
        break;
    case PERF_RECORD_LOST_SAMPLES:
        ret->u.lost.lost = cursor_u64(&c);
        break;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        ret->u.context_switch.out = h.misc & PERF_RECORD_MISC_SWITCH_OUT;
        ret->u.context_switch.preempted = h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        break;
    case PERF_RECORD_CHAIN_DEFERRED:
        ret->u.deferred.cookie = cursor_u64(&c);
        ret->u.deferred.chain = take_list(&c, cursor_u64(&c));
        break;
    case PERF_RECORD_KSYMBOL:
        ret->u.ksymbol.address = cursor_u64(&c);
        ret->u.ksymbol.len = cursor_u32(&c);
        ret->u.ksymbol.symbol_type = cursor_u16(&c);
        ret->u.ksymbol.flags = cursor_u16(&c);
        ret->u.ksymbol.name = rest_as_text(&c);
        break;
    default:
        break;
    }
    return cursor_ok(&c);
}

bool perf_sample_stack_part(const PerfLayout *layout, Bytes head, uint32_t record_size,
                            PerfStackPart *ret)
{
    uint64_t t = layout->sample_type;
    if (!(t & PERF_SAMPLE_STACK_USER))
        return false;
    Cursor c = cursor_over(head, "perf sample");
    PerfSample unused;
    cursor_skip(&c, layout->fixed_size);
    if (t & PERF_SAMPLE_READ)
        read_values(layout, &c, &unused);
    if (t & PERF_SAMPLE_CALLCHAIN)
        take_list(&c, cursor_u64(&c));
    if (t & PERF_SAMPLE_RAW)
        cursor_skip(&c, cursor_u32(&c));
    if (t & PERF_SAMPLE_BRANCH_STACK)
        read_branches(layout, &c, &unused);
    if (t & PERF_SAMPLE_REGS_USER && cursor_u64(&c))
        cursor_skip(&c, words(layout->regs_user));
    size_t at = c.at;
    uint64_t size = cursor_u64(&c);
    if (!cursor_ok(&c) || size == 0 || at + 16 + size > record_size)
        return false;
    *ret = (PerfStackPart){(uint32_t)at, (uint32_t)size};
    return true;
}
