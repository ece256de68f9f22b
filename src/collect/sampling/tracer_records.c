// SPDX-License-Identifier: Apache-2.0
// Writes the observations of a tracer as perf records.

#include "collect/sampling/tracer_parts_internal.h"

#include "collect/sampling/text_plans_internal.h"
#include "os/clock.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RECORD_BYTES_MAX = 512, // of a sample without its stack, or of another record without its text
    PATH_BYTES_MAX = 4096,
};

void tracer_push(Tracer *t)
{
    if (!t->chunk)
        return;
    t->chunk->ends_round = true;
    queue_push(t->queue, t->chunk);
    t->chunk = NULL;
    t->pushed_ns = os_monotonic_ns();
}

void tracer_push_round(Tracer *t)
{
    if (!t->chunk)
        t->chunk = queue_take_empty(t->queue, true);
    t->chunk->ring = 0;
    tracer_push(t);
}

// Room for a record of at most `size` bytes; NULL when the queue to the worker is full.
static uint8_t *room_for(Tracer *t, size_t size, bool must)
{
    if (t->chunk && CHUNK_BYTES - t->chunk->len < size)
        tracer_push(t);
    if (!t->chunk) {
        t->chunk = queue_take_empty(t->queue, must);
        if (!t->chunk)
            return NULL;
        t->chunk->ring = 0;
    }
    return t->chunk->data + t->chunk->len;
}

typedef struct RecordWriter {
    uint8_t *start, *at;
} RecordWriter;

static void put_u64(RecordWriter *w, uint64_t v)
{
    memcpy(w->at, &v, sizeof(v));
    w->at += sizeof(v);
}

static void put_two_u32(RecordWriter *w, uint32_t a, uint32_t b)
{
    put_u64(w, a | (uint64_t)b << 32);
}

static void put_text(RecordWriter *w, Str text)
{
    size_t len = MIN(text.len, (size_t)PATH_BYTES_MAX);
    size_t padded = align_up(len + 1, 8);
    memset(w->at, 0, padded);
    if (len)
        memcpy(w->at, text.ptr, len);
    w->at += padded;
}

static RecordWriter record_begin(Tracer *t, size_t text_len)
{
    RecordWriter w;
    w.start = room_for(t, RECORD_BYTES_MAX + MIN(text_len, (size_t)PATH_BYTES_MAX), true);
    w.at = w.start + sizeof(struct perf_event_header);
    return w;
}

static void finish(Tracer *t, RecordWriter *w, uint32_t type, uint16_t misc)
{
    struct perf_event_header h = {.type = type, .misc = misc, .size = (uint16_t)(w->at - w->start)};
    memcpy(w->start, &h, sizeof(h));
    t->chunk->len += h.size;
}

// Ends a record with the fields that all records but samples have at their end: see tracer_events.
static void record_end(Tracer *t, RecordWriter *w, uint32_t type, uint16_t misc, uint32_t pid,
                       uint32_t tid)
{
    put_two_u32(w, pid, tid);
    put_u64(w, (uint64_t)os_monotonic_ns());
    put_u64(w, 0); // CPU
    put_u64(w, TRACER_EVENT_ID);
    finish(t, w, type, misc);
}

void tracer_tell_task(Tracer *t, uint32_t type, uint32_t pid, uint32_t parent_pid, uint32_t tid,
                      uint32_t parent_tid)
{
    RecordWriter w = record_begin(t, 0);
    put_two_u32(&w, pid, parent_pid);
    put_two_u32(&w, tid, parent_tid);
    put_u64(&w, (uint64_t)os_monotonic_ns());
    record_end(t, &w, type, PERF_RECORD_MISC_USER, pid, tid);
}

void tracer_tell_name(Tracer *t, uint32_t pid, uint32_t tid, Str name, bool exec)
{
    RecordWriter w = record_begin(t, name.len);
    put_two_u32(&w, pid, tid);
    put_text(&w, name);
    record_end(t, &w, PERF_RECORD_COMM,
               PERF_RECORD_MISC_USER | (exec ? PERF_RECORD_MISC_COMM_EXEC : 0), pid, tid);
}

void tracer_tell_map(Tracer *t, uint32_t pid, const ProcMap *m)
{
    RecordWriter w = record_begin(t, m->path.len);
    put_two_u32(&w, pid, pid);
    put_u64(&w, m->start);
    put_u64(&w, m->end - m->start);
    put_u64(&w, m->offset);
    put_two_u32(&w, m->device_major, m->device_minor);
    put_u64(&w, m->inode);
    put_u64(&w, 0); // generation of the inode
    put_two_u32(&w, PROT_READ | PROT_EXEC, MAP_PRIVATE);
    put_text(&w, m->path);
    record_end(t, &w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, pid, pid);
}

static void put_regs(RecordWriter *w, const UserRegs *r)
{
#if defined(__x86_64__)
    // In the order of perf's register numbers (asm/perf_regs.h), without flags and segments.
    const uint64_t values[] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
                               r->rbp, r->rsp, r->rip, r->r8,  r->r9,  r->r10,
                               r->r11, r->r12, r->r13, r->r14, r->r15};
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        put_u64(w, values[i]);
#else
    for (size_t i = 0; i < ARRAY_LEN(r->regs); i++)
        put_u64(w, r->regs[i]);
    put_u64(w, r->sp);
    put_u64(w, r->pc);
#endif
}

static uint64_t pc_of(const UserRegs *r)
{
#if defined(__x86_64__)
    return r->rip;
#else
    return r->pc;
#endif
}

static uint64_t sp_of(const UserRegs *r)
{
#if defined(__x86_64__)
    return r->rsp;
#else
    return r->sp;
#endif
}

// Whether the registers are those of a 32-bit program.
static bool are_32bit(const UserRegs *r)
{
#if defined(__x86_64__)
    enum { CODE_32_BIT = 0x23 };
    return r->cs == CODE_32_BIT;
#else
    (void)r;
    return false;
#endif
}

// Writes a sample. `id` is of its event; a period is written unless the event has a fixed one.
static void tell(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                 const UserRegs *regs, uint64_t id, const uint64_t *period, uint32_t cpu)
{
    RecordWriter w;
    w.start = room_for(t, RECORD_BYTES_MAX + TRACER_STACK_BYTES_MAX, false);
    if (!w.start) {
        t->dropped++;
        return;
    }
    w.at = w.start + sizeof(struct perf_event_header);
    put_u64(&w, id);
    put_u64(&w, pc_of(regs));
    put_two_u32(&w, thread->pid, thread->tid);
    put_u64(&w, (uint64_t)os_monotonic_ns());
    put_u64(&w, cpu);
    if (period)
        put_u64(&w, *period);
    if (t->events->stacks == STACKS_TABLES) {
        put_u64(&w, are_32bit(regs) ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64);
        put_regs(&w, regs);
        uint8_t *stack = w.at + 8;
        ssize_t n = p->memory_fd >= 0
                        ? pread(p->memory_fd, stack, t->events->stack_bytes, (off_t)sp_of(regs))
                        : -1;
        uint64_t size = n > 0 ? align_down((uint64_t)n, 8) : 0;
        put_u64(&w, size);
        w.at += size;
        if (size)
            put_u64(&w, size);
    }
    finish(t, &w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    t->samples++;
}

void tracer_tell_sample(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                        const UserRegs *regs, uint32_t cpu, uint64_t weight_ns)
{
    tell(t, thread, p, regs, TRACER_EVENT_ID, &weight_ns, cpu);
}

#if defined(__x86_64__)
// Reads a text of a stopped process up to its NUL, which may lie in front of unreadable memory.
static int64_t read_text(const TracedProcess *p, uint64_t at, char *to)
{
    ssize_t n = pread(p->memory_fd, to, PROBE_TEXT_BYTES, (off_t)at);
    if (n <= 0)
        return -1;
    const char *end = memchr(to, 0, (size_t)n);
    if (!end && n < PROBE_TEXT_BYTES)
        return -1;
    return end ? end - to + 1 : PROBE_TEXT_BYTES;
}

// The same record as that of collect/bpf/programs/texts.bpf.c.
static void tell_texts(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                       const UserRegs *r, uint32_t event)
{
    const uint64_t words[] = {r->r15, r->r14, r->r13, r->r12, r->rbp,    r->rbx, r->r11,
                              r->r10, r->r9,  r->r8,  r->rax, r->rcx,    r->rdx, r->rsi,
                              r->rdi, 0,      r->rip, r->cs,  r->eflags, r->rsp, r->ss};
    TextPlan plan = probe_texts_plan(&t->events->events.at[event]);
    ProbeTexts texts = {.count = plan.count, .event = event};
    for (uint32_t i = 0; i < plan.count; i++) {
        const TextPlace *place = &plan.at[i];
        uint64_t at = words[place->word % ARRAY_LEN(words)];
        texts.at[i].size = -1;
        if (!place->by_pointer ||
            pread(p->memory_fd, &at, sizeof(at), (off_t)(at + (uint64_t)place->pointer_offset)) ==
                (ssize_t)sizeof(at))
            texts.at[i].size = read_text(p, at + (uint64_t)place->offset, texts.at[i].bytes);
    }
    RecordWriter w;
    uint64_t size = offsetof(ProbeTexts, at) + plan.count * sizeof(TextCopy);
    w.start = plan.count ? room_for(t, RECORD_BYTES_MAX + sizeof(texts), false) : NULL;
    if (!w.start)
        return;
    w.at = w.start + sizeof(struct perf_event_header);
    put_u64(&w, PROBE_TEXTS_ID);
    put_u64(&w, pc_of(r));
    put_two_u32(&w, thread->pid, thread->tid);
    put_u64(&w, (uint64_t)os_monotonic_ns());
    put_u64(&w, thread->cpu);
    // A raw part begins with its size in 32 bits, and ends at a multiple of 8.
    uint32_t raw = (uint32_t)size + 4;
    memcpy(w.at, &raw, sizeof(raw));
    memcpy(w.at + sizeof(raw), &texts, size);
    memset(w.at + sizeof(raw) + size, 0, 4);
    w.at += sizeof(raw) + size + 4;
    finish(t, &w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}
#endif

void tracer_tell_hit(Tracer *t, const TracedThread *thread, const TracedProcess *p,
                     const UserRegs *regs, uint32_t event, uint64_t weight)
{
    bool is_fixed = events_fixed_period(t->events, &t->events->events.at[event]) != 0;
#if defined(__x86_64__)
    tell_texts(t, thread, p, regs, event);
#endif
    tell(t, thread, p, regs, TRACER_EVENT_ID + event, is_fixed ? NULL : &weight, thread->cpu);
}
