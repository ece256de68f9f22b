// SPDX-License-Identifier: Apache-2.0
// Also under BSD-2-Clause or GPL-2.0-only, as the kernel asks of programs that it runs.
// Watches the scheduler: how long each thread runs, could run, and waits; at which stack, for
// what, and who ends the wait. Sums stay in shared memory. The rings get the stacks that were not
// seen before, and waits that are long (docs/decisions/0291).

#include "wire/wait.h"

#include "collect/bpf/programs/kernel.h"

enum {
    TASK_DEEP = 0x2,
    TASK_STOPPED = 0x4 | 0x8,
    TASK_DEAD = 0x10 | 0x20 | 0x80,
    TASK_STATES = 0xff,
    CPUS_MAX = 1024,
    WORDS_AT_ONCE = 4,
};

extern const volatile WaitConfig config MAP;
extern WaitShared shared MAP;
extern int scratch MAP;                   // a WaitDump for each CPU
extern int outputs MAP;                   // an event for each CPU
extern uint32_t interrupts[CPUS_MAX] MAP; // how deep each CPU is in interrupts

#define TASK_FIELD(task, type, field) (*(type *)((char *)(task) + config.field))

INLINE void count(uint64_t *counter)
{
    __sync_fetch_and_add(counter, 1);
}

// ---- Tables -----------------------------------------------------------------------------

INLINE WaitThread *thread_find(uint32_t tid)
{
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        WaitThread *t = &shared.threads[(tid + i) & (WAIT_THREADS - 1)];
        if (t->tid == tid)
            return t;
    }
    return 0;
}

INLINE WaitThread *thread_add(uint32_t tid, uint32_t tgid, uint32_t state, uint64_t now)
{
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        WaitThread *t = &shared.threads[(tid + i) & (WAIT_THREADS - 1)];
        if (__sync_val_compare_and_swap(&t->tid, 0, tid) != 0)
            continue;
        t->tgid = tgid;
        t->state = state;
        t->since_ns = now;
        t->woken_ns = t->running_ns = t->preempted_ns = t->switches = t->base = 0;
        t->waker = t->waker_how = 0;
        return t;
    }
    count(&shared.counts.no_thread);
    return 0;
}

// 1 + the row of the sum for what the thread waits for; 0: there is no room.
INLINE uint32_t sum_find(WaitThread *t, bool *is_new)
{
    uint64_t h = (t->signature ^ t->object * 0x9e3779b97f4a7c15ull) + t->tid +
                 ((uint64_t)t->call << 20) + ((uint64_t)t->how << 40);
    h *= 0xd6e8feb86659fd93ull;
    h >>= 32;
    *is_new = false;
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        uint32_t row = (uint32_t)(h + i) & (WAIT_SUMS - 1);
        WaitSum *s = &shared.sums[row];
        if (s->taken && s->signature == t->signature && s->tid == t->tid &&
            s->object == t->object && s->call == t->call && s->how == t->how)
            return row + 1;
    }
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        uint32_t row = (uint32_t)(h + i) & (WAIT_SUMS - 1);
        WaitSum *s = &shared.sums[row];
        if (__sync_val_compare_and_swap(&s->taken, 0, 1) != 0)
            continue;
        s->tid = t->tid;
        s->tgid = t->tgid;
        s->signature = t->signature;
        s->object = t->object;
        s->call = t->call;
        s->how = t->how;
        count(&shared.counts.sums);
        *is_new = true;
        return row + 1;
    }
    count(&shared.counts.no_sum);
    return 0;
}

// ---- Stacks ------------------------------------------------------------------------------

// Reads the stack from sp up to `size` bytes, page by page as far as there are pages.
INLINE uint32_t read_pages(WaitDump *d, uint64_t sp, uint32_t size)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i <= WAIT_DUMP_MAX / WAIT_PAGE; i++) {
        uint32_t part = WAIT_PAGE - ((uint32_t)(sp + at) & (WAIT_PAGE - 1));
        if (at >= size)
            break;
        if (part > size - at)
            part = size - at;
        OPAQUE(part);
        if (part > WAIT_PAGE || at > WAIT_DUMP_MAX - WAIT_PAGE)
            break;
        if (bpf_probe_read_user((char *)d->stack + at, part, (const void *)(sp + at)))
            break;
        at += part;
    }
    return at;
}

INLINE uint32_t read_stack(WaitDump *d, uint64_t sp, uint32_t size)
{
    OPAQUE(size);
    if (size <= WAIT_DUMP_MAX && size > 0 &&
        bpf_probe_read_user(d->stack, size, (const void *)sp) == 0)
        return size;
    return read_pages(d, sp, size);
}

INLINE WaitProcess *process_find(uint32_t tgid)
{
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        WaitProcess *p = &shared.processes[(tgid + i) & (WAIT_PROCESSES - 1)];
        if (p->tgid == tgid)
            return p;
    }
    return 0;
}

// The code of the process is not known any more.
INLINE void process_forget(uint32_t tgid, bool ends)
{
    WaitProcess *p = process_find(tgid);
    if (!p)
        return;
    p->exec_pages = 0;
    if (ends)
        p->tgid = 0;
}

INLINE bool is_new_signature(uint64_t h)
{
    for (uint32_t i = 0; i < WAIT_SEEN_PROBES; i++)
        if (shared.seen[(h + i) & (WAIT_SEEN - 1)] == h)
            return false;
    for (uint32_t i = 0; i < WAIT_SEEN_PROBES; i++)
        if (shared.seen[(h + i) & (WAIT_SEEN - 1)] == 0) {
            shared.seen[(h + i) & (WAIT_SEEN - 1)] = h;
            return true;
        }
    shared.seen[(h + (h >> 40) % WAIT_SEEN_PROBES) & (WAIT_SEEN - 1)] = h;
    return true;
}

INLINE void forget_signature(uint64_t h)
{
    for (uint32_t i = 0; i < WAIT_SEEN_PROBES; i++)
        if (shared.seen[(h + i) & (WAIT_SEEN - 1)] == h)
            shared.seen[(h + i) & (WAIT_SEEN - 1)] = 0;
}

// Where the code of the process lies; all addresses, while that is not known.
INLINE void find_code(uint32_t tgid, volatile WaitWork *work)
{
    work->code.low = 0x10000;
    work->code.low_size = 0x7fffffff0000ull;
    work->code.high = work->code.high_size = 0;
    WaitProcess *p = process_find(tgid);
    if (!p || p->exec_pages != work->exec_pages)
        return;
    work->code.low = p->low;
    work->code.low_size = p->low_size;
    work->code.high = p->high;
    work->code.high_size = p->high_size;
}

// All bits are set when `a` < `b`, which is below 2^63: a branch here would be a path of its own
// for the kernel that checks the program, and often mispredicted.
INLINE uint64_t less_mask(uint64_t a, uint64_t b)
{
    return (uint64_t)((int64_t)((a - b) & ~a) >> 63);
}

// The hash of one word at a place; 0 for a word that does not point into code.
INLINE uint64_t hash_word(uint64_t w, uint32_t at, uint64_t low, uint64_t low_size, uint64_t high,
                          uint64_t high_size)
{
    uint64_t h = (w + at) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    return h * (2 * (uint64_t)at + 1) &
           (less_mask(w - low, low_size) | less_mask(w - high, high_size));
}

// A sum of hashes that do not wait for each other. Behind the `words` words, WORDS_AT_ONCE are
// overwritten.
INLINE uint64_t hash_code(uint64_t *stack, uint32_t words, uint64_t low, uint64_t low_size,
                          uint64_t high, uint64_t high_size)
{
    uint64_t sum = 0;
    OPAQUE(words);
    if (words > WAIT_HASH_MAX / 8)
        return 0;
    for (uint32_t k = 0; k < WORDS_AT_ONCE; k++)
        stack[words + k] = 0;
    for (uint32_t i = 0; i < WAIT_HASH_MAX / 8; i += WORDS_AT_ONCE) {
        if (i >= words)
            break;
        for (uint32_t k = 0; k < WORDS_AT_ONCE; k++)
            sum += hash_word(stack[i + k], i + k, low, low_size, high, high_size);
    }
    return sum;
}

// The signature of the running thread's user stack: a hash of its words that point into code. A
// stack that was not seen before is sent.
INLINE uint64_t sign_stack(void *ctx, void *task, void *regs, uint32_t tid, uint32_t tgid,
                           uint64_t base)
{
    uint32_t cpu = bpf_get_smp_processor_id();
    WaitDump *d = bpf_map_lookup_elem(&scratch, &cpu);
    void *mm = TASK_FIELD(task, void *, task_mm);
    if (!d || !mm)
        return 0;
    // What goes through memory is any number for the kernel that checks the program: it then checks
    // the loop below once, not again for each way that leads here. It also computes with addresses
    // of its own only when they come from memory.
    volatile WaitWork *work = &d->work;
    work->space = (uint64_t)(uintptr_t)mm;
    work->exec_pages = *(uint64_t *)((char *)mm + config.mm_exec_pages);
    uint64_t sp = TASK_FIELD(regs, uint64_t, regs_sp);
    uint64_t ip = TASK_FIELD(regs, uint64_t, regs_ip);
    uint64_t to_base = base - sp;
    if (base <= sp || to_base > WAIT_DUMP_MAX)
        to_base = WAIT_WINDOW;
    else if (to_base > WAIT_HASH_MAX)
        to_base = WAIT_HASH_MAX;
    work->got = read_stack(d, sp, (uint32_t)to_base);
    if (work->got == 0)
        count(&shared.counts.unread);
    find_code(tgid, work);
    uint64_t h = ip ^ work->space ^ work->code.low ^ work->code.high * 3;
    uint64_t low = work->code.low, low_size = work->code.low_size;
    uint64_t high = work->code.high, high_size = work->code.high_size;
    h += hash_code(d->stack, (uint32_t)work->got / 8, low, low_size, high, high_size);
    h = (h ^ h >> 32) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
    h |= 1;
    if (!is_new_signature(h))
        return h;
    d->kind = WAIT_RECORD_DUMP;
    d->tid = tid;
    d->tgid = tgid;
    d->signature = h;
    d->exec_pages = work->exec_pages;
    bpf_probe_read_kernel(d->regs, sizeof(d->regs), regs);
    if (base <= sp || base - sp > WAIT_HASH_MAX)
        work->got = read_pages(d, sp, WAIT_DUMP_MAX);
    d->size = (uint32_t)work->got;
    uint64_t size = work->got + __builtin_offsetof(WaitDump, stack);
    OPAQUE(size);
    if (size > sizeof(*d))
        return h;
    if (bpf_perf_event_output(ctx, &outputs, THIS_CPU, d, size)) {
        forget_signature(h);
        count(&shared.counts.lost_dumps);
    } else {
        count(&shared.counts.dumps);
    }
    return h;
}

// ---- Records -----------------------------------------------------------------------------

INLINE void send(void *ctx, uint32_t kind, const WaitThread *t, uint64_t now)
{
    WaitRecord r = {.kind = kind,
                    .tid = t->tid,
                    .tgid = t->tgid,
                    .call = t->call,
                    .how = t->how,
                    .waker = t->waker,
                    .waker_how = t->waker_how,
                    .waker_tgid = t->waker_tgid,
                    .object = t->object,
                    .signature = t->signature,
                    .waker_signature = t->waker_signature,
                    .start_ns = t->since_ns,
                    .woken_ns = t->woken_ns,
                    .end_ns = now,
                    .running_ns = t->running_ns,
                    .preempted_ns = t->preempted_ns};
    if (bpf_perf_event_output(ctx, &outputs, THIS_CPU, &r, sizeof(r)))
        count(&shared.counts.lost_records);
    else
        count(&shared.counts.records);
}

// ---- The scheduler -------------------------------------------------------------------------

INLINE void sleep(void *ctx, WaitThread *t, void *task, uint32_t state, uint64_t now)
{
    void *regs = bpf_task_pt_regs(task);
    uint32_t call = (uint32_t)TASK_FIELD(regs, uint64_t, regs_call);
    uint64_t object = 0;
    t->call = call < WAIT_CALLS ? call : WAIT_NO_CALL;
    if (call < WAIT_CALLS) {
        uint8_t arg = config.object_of[call];
        if (arg == 1)
            object = TASK_FIELD(regs, uint64_t, regs_arg[0]);
        else if (arg == 2)
            object = TASK_FIELD(regs, uint64_t, regs_arg[1]);
        else if (arg == 3)
            object = TASK_FIELD(regs, uint64_t, regs_arg[2]);
    }
    t->object = object;
    t->how =
        (state & TASK_DEEP ? WAIT_HOW_DEEP : 0) | (state & TASK_STOPPED ? WAIT_HOW_STOPPED : 0);
    t->signature = sign_stack(ctx, task, regs, t->tid, t->tgid, t->base);
    bool is_new;
    t->sum = sum_find(t, &is_new);
    t->waker = t->waker_how = 0;
    t->waker_signature = 0;
    t->woken_ns = 0;
    t->since_ns = now;
    BARRIER();
    t->state = WAIT_IS_BLOCKED;
    if (is_new)
        send(ctx, WAIT_RECORD_FIRST, t, now);
}

INLINE void leave(void *ctx, WaitThread *t, void *task, bool preempted, uint32_t state,
                  uint64_t now)
{
    if (t->state == WAIT_IS_NEW)
        return;
    if (t->state == WAIT_IS_RUNNING)
        t->running_ns += now - t->since_ns;
    t->switches++;
    if (!preempted && state) {
        sleep(ctx, t, task, state, now);
        return;
    }
    t->since_ns = now;
    t->state = WAIT_IS_PREEMPTED;
}

INLINE void enter(void *ctx, WaitThread *t, uint64_t now)
{
    if (t->state == WAIT_IS_NEW)
        return;
    if (t->state == WAIT_IS_PREEMPTED) {
        t->preempted_ns += now - t->since_ns;
        if (now - t->since_ns >= config.min_wait_ns) {
            t->how = WAIT_HOW_PREEMPTED;
            t->woken_ns = t->since_ns;
            t->object = t->signature = t->waker_how = 0;
            send(ctx, WAIT_RECORD_WAIT, t, now);
        }
    } else if (t->state == WAIT_IS_BLOCKED) {
        if (!t->woken_ns || t->woken_ns > now)
            t->woken_ns = now;
        uint64_t all = now - t->since_ns, blocked = t->woken_ns - t->since_ns;
        uint32_t row = t->sum - 1;
        if (row < WAIT_SUMS) {
            WaitSum *s = &shared.sums[row];
            s->count++;
            s->blocked_ns += blocked;
            s->runnable_ns += all - blocked;
            if (all > s->longest_ns)
                s->longest_ns = all;
            uint32_t bucket = wait_bucket_of(blocked);
            if (bucket < WAIT_BUCKETS)
                s->buckets[bucket]++;
        } else {
            __sync_fetch_and_add(&shared.counts.no_sum_ns, all);
        }
        if (all >= config.min_wait_ns)
            send(ctx, WAIT_RECORD_WAIT, t, now);
    }
    t->since_ns = now;
    t->state = WAIT_IS_RUNNING;
}

// The thread runs for the last time. Its exit was told earlier, but freeing memory takes long.
INLINE void end(void *ctx, WaitThread *t, uint64_t now)
{
    if (t->state == WAIT_IS_RUNNING)
        t->running_ns += now - t->since_ns;
    if (t->state != WAIT_IS_NEW)
        send(ctx, WAIT_RECORD_END, t, now);
    BARRIER();
    t->state = WAIT_IS_NEW;
    t->tid = 0;
}

// Some switches come without their event: the kernel's own tracer misses them, too. A thread that
// stops without having been seen to start did so as long ago as its processor time grew.
INLINE void make_up(void *ctx, WaitThread *t, uint64_t ran, uint64_t now)
{
    uint64_t run = ran - t->ran_ns, all = now - t->since_ns;
    if (t->state != WAIT_IS_PREEMPTED && t->state != WAIT_IS_BLOCKED)
        return;
    count(&shared.counts.made_up);
    enter(ctx, t, now - (run < all ? run : all));
}

INLINE bool is_watched_anyway(void *task, uint32_t tid)
{
    return config.every && tid && TASK_FIELD(task, uint32_t, task_tgid) != config.self &&
           !(TASK_FIELD(task, uint32_t, task_flags) & (uint32_t)config.task_kthread);
}

// Adds a thread that was not known, and tells since when.
INLINE WaitThread *thread_meet(void *ctx, uint32_t tid, uint32_t tgid, uint32_t state, uint64_t now)
{
    WaitThread *t = thread_add(tid, tgid, state, now);
    if (t)
        send(ctx, WAIT_RECORD_BEGIN, t, now);
    return t;
}

PROGRAM("sched_switch") int on_switch(uint64_t *ctx)
{
    uint64_t now = bpf_ktime_get_ns();
    void *prev = (void *)ctx[1], *next = (void *)ctx[2];
    uint32_t cpu = bpf_get_smp_processor_id() & (CPUS_MAX - 1);
    interrupts[cpu] = 0;
    uint32_t state = config.has_state ? (uint32_t)ctx[3] : TASK_FIELD(prev, uint32_t, task_state);
    state &= TASK_STATES;
    uint32_t tid = TASK_FIELD(prev, uint32_t, task_pid);
    WaitThread *t = thread_find(tid);
    if (!t && is_watched_anyway(prev, tid) && !(state & TASK_DEAD))
        t = thread_meet(ctx, tid, TASK_FIELD(prev, uint32_t, task_tgid), WAIT_IS_RUNNING, now);
    if (t) {
        uint64_t ran = TASK_FIELD(prev, uint64_t, task_ran);
        make_up(ctx, t, ran, now);
        t->ran_ns = ran;
        if (state & TASK_DEAD)
            end(ctx, t, now);
        else
            leave(ctx, t, prev, (uint8_t)ctx[0], state, now);
    }
    tid = TASK_FIELD(next, uint32_t, task_pid);
    t = thread_find(tid);
    if (!t && is_watched_anyway(next, tid))
        t = thread_meet(ctx, tid, TASK_FIELD(next, uint32_t, task_tgid), WAIT_IS_PREEMPTED, now);
    if (t)
        enter(ctx, t, now);
    return 0;
}

// Whether the work that runs now is not that of the thread that it interrupted. Packets to the same
// machine are received inside of the call that sends them, which looks like an interrupt.
INLINE bool in_interrupt(void *regs)
{
    uint32_t cpu = bpf_get_smp_processor_id() & (CPUS_MAX - 1);
    uint32_t depth = interrupts[cpu];
    if (depth == 0)
        return false;
    return depth & 0xffff || (int32_t)TASK_FIELD(regs, uint64_t, regs_call) < 0;
}

PROGRAM("sched_waking") int on_waking(uint64_t *ctx)
{
    void *task = (void *)ctx[0];
    WaitThread *t = thread_find(TASK_FIELD(task, uint32_t, task_pid));
    if (!t || t->state != WAIT_IS_BLOCKED || t->woken_ns)
        return 0;
    uint64_t now = bpf_ktime_get_ns(), ids = bpf_get_current_pid_tgid();
    void *self = bpf_get_current_task_btf();
    void *regs = bpf_task_pt_regs(self);
    bool by_interrupt = (uint32_t)ids == 0 || in_interrupt(regs);
    t->waker = by_interrupt ? 0 : (uint32_t)ids;
    t->waker_tgid = 0;
    t->waker_how = by_interrupt ? WAIT_WOKEN_INTERRUPT : WAIT_WOKEN_TASK;
    t->woken_ns = now;
    if (by_interrupt)
        return 0;
    WaitThread *waker = thread_find((uint32_t)ids);
    if (waker || (uint32_t)(ids >> 32) == t->tgid)
        t->waker_tgid = (uint32_t)(ids >> 32);
    if (waker && now - t->since_ns >= config.min_waker_ns)
        t->waker_signature =
            sign_stack(ctx, self, regs, (uint32_t)ids, (uint32_t)(ids >> 32), waker->base);
    return 0;
}

PROGRAM("sched_process_fork") int on_fork(uint64_t *ctx)
{
    void *parent = (void *)ctx[0], *child = (void *)ctx[1];
    uint32_t tid = TASK_FIELD(child, uint32_t, task_pid);
    WaitThread *t = thread_find(TASK_FIELD(parent, uint32_t, task_pid));
    if ((config.inherit && t && t->state != WAIT_IS_NEW) || is_watched_anyway(child, tid)) {
        uint64_t now = bpf_ktime_get_ns();
        t = thread_add(tid, TASK_FIELD(child, uint32_t, task_tgid), WAIT_IS_PREEMPTED, now);
        if (t) {
            t->waker = TASK_FIELD(parent, uint32_t, task_pid);
            t->waker_tgid = TASK_FIELD(parent, uint32_t, task_tgid);
            send(ctx, WAIT_RECORD_BEGIN, t, now);
            t->waker = t->waker_tgid = 0;
        }
    }
    if (TASK_FIELD(child, uint32_t, task_tgid) == tid)
        process_forget(tid, false);
    return 0;
}

PROGRAM("sched_process_exec") int on_exec(uint64_t *ctx)
{
    void *task = (void *)ctx[0];
    uint32_t tid = TASK_FIELD(task, uint32_t, task_pid), old = (uint32_t)ctx[1];
    WaitThread *t = thread_find(tid);
    if (old != tid) {
        // A thread that is not the first takes over the number of the process.
        WaitThread *o = thread_find(old);
        if (o)
            o->tid = 0;
    }
    process_forget(tid, false);
    if (!t)
        return 0;
    t->base = 0;
    if (t->state == WAIT_IS_NEW || old != tid) {
        uint64_t now = bpf_ktime_get_ns();
        if (t->state == WAIT_IS_NEW)
            send(ctx, WAIT_RECORD_BEGIN, t, now);
        t->since_ns = now;
        t->state = WAIT_IS_RUNNING;
    }
    return 0;
}

PROGRAM("sched_process_exit") int on_exit(uint64_t *ctx)
{
    void *task = (void *)ctx[0];
    uint32_t tid = TASK_FIELD(task, uint32_t, task_pid);
    if (TASK_FIELD(task, uint32_t, task_tgid) == tid)
        process_forget(tid, true);
    return 0;
}

// ---- Interrupts ------------------------------------------------------------------------------
// The low half counts interrupts, the high half the work that they leave behind. A switch ends all,
// because the end of an interrupt is not seen where it began before the programs were loaded.

INLINE int step(int32_t by)
{
    uint32_t cpu = bpf_get_smp_processor_id() & (CPUS_MAX - 1);
    int32_t depth = (int32_t)interrupts[cpu] + by;
    interrupts[cpu] = depth < 0 ? 0 : (uint32_t)depth;
    return 0;
}

#define AROUND(name, by)                                                                           \
    PROGRAM(#name "_entry") int on_##name##_entry(uint64_t *ctx)                                   \
    {                                                                                              \
        (void)ctx;                                                                                 \
        return step(by);                                                                           \
    }                                                                                              \
    PROGRAM(#name "_exit") int on_##name##_exit(uint64_t *ctx)                                     \
    {                                                                                              \
        (void)ctx;                                                                                 \
        return step(-(by));                                                                        \
    }

AROUND(irq_handler, 1)
AROUND(local_timer, 1)
AROUND(call_function, 1)
AROUND(call_function_single, 1)
AROUND(reschedule, 1)
AROUND(softirq, 0x10000)
