// SPDX-License-Identifier: Apache-2.0
// Writes records to the ring.

#include "agent/records.h"

#include "agent/ring.h"
#include "agent/sys.h"

#include <sys/mman.h>
#include <time.h>

enum {
    TEXT_MAX = 4096,
    RECORD_MAX = 65528, // a record's size has 16 bits
};

typedef struct Writer {
    uint8_t *start, *at;
} Writer;

static void put_u64(Writer *w, uint64_t v)
{
    __builtin_memcpy(w->at, &v, 8);
    w->at += 8;
}

static void put_two(Writer *w, uint32_t a, uint32_t b)
{
    put_u64(w, a | (uint64_t)b << 32);
}

static uint32_t text_bytes(const char *text)
{
    uint32_t n = 0;
    while (n < TEXT_MAX && text[n])
        n++;
    return (uint32_t)align_up(n + 1, 8);
}

static void put_text(Writer *w, const char *text, uint32_t bytes)
{
    bool over = false;
    for (uint32_t i = 0; i < bytes; i++) {
        over |= !text[i] || i + 1 == bytes;
        w->at[i] = over ? 0 : (uint8_t)text[i];
    }
    w->at += bytes;
}

// `size` is that of the whole record.
static bool begin(Writer *w, uint32_t size)
{
    w->start = ring_reserve(size);
    w->at = w->start + sizeof(struct perf_event_header);
    if (!w->start)
        atomic_fetch_add(&agent_ring.shared->lost, 1);
    return w->start != NULL;
}

enum { TRAILER = 4 * 8 };

// Records other than samples end with the sample's TID, TIME, CPU, IDENTIFIER.
static void finish(Writer *w, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid)
{
    put_two(w, pid, tid);
    put_u64(w, sys_clock_ns(CLOCK_MONOTONIC));
    put_u64(w, 0);
    put_u64(w, WIRE_EVENT_ID);
    ring_commit(w->start, type, misc, (uint32_t)(w->at - w->start));
}

void record_name(uint32_t pid, uint32_t tid, const char *name, bool exec)
{
    uint32_t text = text_bytes(name);
    Writer w;
    if (!begin(&w, (uint32_t)sizeof(struct perf_event_header) + 8 + text + TRAILER))
        return;
    put_two(&w, pid, tid);
    put_text(&w, name, text);
    finish(&w, PERF_RECORD_COMM, PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0),
           pid, tid);
}

void record_mapping(const AgentMapping *m, uint32_t device_major, uint32_t device_minor,
                    const char *path)
{
    uint32_t text = text_bytes(path), pid = sys_pid();
    Writer w;
    if (!begin(&w, (uint32_t)sizeof(struct perf_event_header) + 8 * 8 + text + TRAILER))
        return;
    put_two(&w, pid, pid);
    put_u64(&w, m->start);
    put_u64(&w, m->end - m->start);
    put_u64(&w, m->offset);
    put_two(&w, device_major, device_minor);
    put_u64(&w, m->inode);
    put_u64(&w, 0); // generation of the inode
    put_two(&w, PROT_READ | PROT_EXEC, MAP_PRIVATE);
    put_text(&w, path, text);
    finish(&w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, pid);
}

void record_task(uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                 uint32_t parent_tid)
{
    Writer w;
    if (!begin(&w, (uint32_t)sizeof(struct perf_event_header) + 3 * 8 + TRAILER))
        return;
    put_two(&w, pid, parent_pid);
    put_two(&w, tid, parent_tid);
    put_u64(&w, sys_clock_ns(CLOCK_MONOTONIC));
    finish(&w, type, PERF_RECORD_MISC_USER, pid, tid);
}

static uint32_t current_cpu(void)
{
    unsigned cpu = 0;
#if defined(__x86_64__)
    // Linux keeps the number in the limit of a segment, where the vdso's getcpu finds it, too.
    enum { CPU_SEGMENT = 0x7b, CPU_MASK = 0xfff };
    bool is_there;
    __asm__("lsl %2, %0" : "=r"(cpu), "=@ccz"(is_there) : "r"(CPU_SEGMENT));
    if (is_there)
        return cpu & CPU_MASK;
#endif
    (void)SYS3(SYS_getcpu, &cpu, NULL, NULL);
    return cpu;
}

// The chain's entries: a mark before each exact frame; of the others the return address.
static uint32_t chain_length(const SampleRecord *s)
{
    uint32_t n = s->frame_count;
    for (uint32_t i = 0; i < s->frame_count; i++)
        n += i == 0 || s->frames[i].flags & UNWIND_FRAME_EXACT;
    return n;
}

static void put_chain(Writer *w, const SampleRecord *s, uint32_t length)
{
    put_u64(w, length);
    for (uint32_t i = 0; i < s->frame_count; i++) {
        bool exact = i == 0 || s->frames[i].flags & UNWIND_FRAME_EXACT;
        if (exact)
            put_u64(w, (uint64_t)PERF_CONTEXT_USER);
        put_u64(w, s->frames[i].pc + !exact);
    }
}

// WIRE_RAW_BYTES: how the walk ended, and where it began to guess.
static uint32_t raw_of(const SampleRecord *s)
{
    for (uint32_t i = 0; i < s->frame_count; i++)
        if (s->frames[i].flags & UNWIND_FRAME_GUESSED)
            return (uint32_t)s->end | (i + 1) << WIRE_RAW_GUESSED_SHIFT;
    return (uint32_t)s->end;
}

bool record_sample(const SampleRecord *s)
{
    uint32_t length = chain_length(s);
    uint32_t size = (uint32_t)sizeof(struct perf_event_header) + 6 * 8 + (1 + length) * 8 + 8;
    Writer w;
    if (size > RECORD_MAX || !begin(&w, size))
        return false;
    put_u64(&w, s->event_id);
    put_u64(&w, s->frames[0].pc);
    put_two(&w, s->pid, s->tid);
    put_u64(&w, s->time_ns ? s->time_ns : sys_clock_ns(CLOCK_MONOTONIC));
    put_two(&w, current_cpu(), 0);
    put_u64(&w, s->value);
    put_chain(&w, s, length);
    put_two(&w, WIRE_RAW_BYTES, raw_of(s));
    ring_commit(w.start, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, size);
    if (s->event_id == WIRE_EVENT_ID) {
        atomic_fetch_add(&agent_ring.shared->counted_ns, s->value);
        atomic_fetch_add(&agent_ring.shared->samples, 1);
    }
    return true;
}
