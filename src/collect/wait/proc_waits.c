// SPDX-License-Identifier: Apache-2.0
// From looks at threads to rows of the profile. Which part of its sleep a thread spent for what is
// estimated from the looks; how long it ran, and had to wait for a processor, the scheduler counts
// (proc(5), "schedstat").

#include "collect/wait/waiting_internal.h"

#include "collect/wait/proc_sampler_internal.h"
#include "collect/wait/reasons_internal.h"

#include <stdlib.h>

typedef struct Life {
    ProcLife life;
    ThreadId thread;
} Life;

// What a thread was seen to wait for, between two looks.
typedef struct Look {
    ThreadId thread;
    uint64_t begin_ns, end_ns;
    StackId stack;
    Reason reason;
} Look;

// A thread that sleeps, by records of its switches.
typedef struct Away {
    uint32_t tid;
    uint64_t since_ns; // 0: it runs, or could
} Away;

typedef struct Span {
    ThreadId thread;
    uint64_t begin_ns, end_ns;
} Span;

enum { SPANS_MAX = 4 << 20 };

struct ProcWaits {
    ProcSampler *sampler;
    Vec(Life) lives;
    Vec(Look) looks;
    Vec(Away) away;
    Table by_tid; // of `away`
    Vec(Span) spans;
};

bool proc_waits_open(bool inherit, ProcWaits **ret, Error *err)
{
    ProcWaits *s = heap_alloc(sizeof(*s));
    if (!proc_sampler_open(inherit, &s->sampler, err)) {
        heap_free(s);
        return false;
    }
    *ret = s;
    return true;
}

void proc_waits_stop(ProcWaits *s)
{
    proc_sampler_stop(s->sampler);
}

void proc_waits_close(ProcWaits *s)
{
    if (!s)
        return;
    proc_sampler_close(s->sampler);
    vec_free(&s->lives);
    vec_free(&s->looks);
    vec_free(&s->away);
    vec_free(&s->spans);
    table_deinit(&s->by_tid);
    heap_free(s);
}

void proc_waits_add(ProcWaits *s, uint32_t pid, bool is_new)
{
    proc_sampler_add(s->sampler, pid, is_new);
}

// ---- Stacks -----------------------------------------------------------------------------

static uint64_t word_at(const ProcWait *wait, size_t i)
{
    uint64_t v;
    memcpy(&v, wait->stack + i * 8, sizeof(v));
    return v;
}

static bool is_code(const CodeRanges *r, uint64_t v)
{
    return v - r->low < r->low_size || v - r->high < r->high_size;
}

// A hash of the words of a stack that point into code, as the programs in the kernel compute one.
static uint64_t signature_of(const ProcWait *wait, const CodeRanges *code)
{
    enum { WORDS = 1024 };
    uint64_t h = hash_pair(wait->pid, hash_pair(wait->sp, wait->pc));
    for (size_t i = 0; i < MIN(wait->stack_len / 8, (uint32_t)WORDS); i++) {
        uint64_t v = word_at(wait, i);
        if (is_code(code, v))
            h = hash_pair(h, hash_pair(v, i));
    }
    return h | 1;
}

static StackCut unwind(Consumer *c, const ProcWait *wait, uint64_t frame_pointer, StackId *ret)
{
    // The numbers of perf's registers.
#if defined(__x86_64__)
    enum { FRAME = 6, SP = 7, PC = 8 };
#else
    enum { FRAME = 29, SP = 31, PC = 32 };
#endif
    CopiedStack s = {.pid = wait->pid,
                     .tid = wait->tid,
                     .regs_mask = 1ull << SP | 1ull << PC,
                     .bytes = bytes_over(wait->stack, wait->stack_len / 8 * 8)};
    uint64_t base;
    if (frame_pointer) {
        s.regs_mask |= 1ull << FRAME;
        s.regs[FRAME] = frame_pointer;
    }
    s.regs[SP] = wait->sp;
    s.regs[PC] = wait->pc;
    return consumer_unwind(c, &s, ret, &base);
}

// The kernel does not state the frame pointer, which functions that keep one are unwound by. Where
// their callees have not saved it, it points to two words on the stack: that of the caller, and a
// return address. The first such place from which the stack ends at its outermost frame is taken.
static bool unwind_by_guess(Consumer *c, const ProcWait *wait, const CodeRanges *code, StackId *ret)
{
    enum { TRIES = 24 };
    int tries = 0;
    for (size_t i = 0; i + 1 < wait->stack_len / 8 && tries < TRIES; i++) {
        if (!is_code(code, word_at(wait, i + 1)))
            continue;
        tries++;
        if (unwind(c, wait, wait->sp + i * 8, ret) == STACK_CUT_NONE)
            return true;
    }
    return false;
}

static StackId stack_of(Waiting *w, Consumer *c, const ProcWait *wait)
{
    CodeRanges code = consumer_code(c, wait->pid);
    uint64_t signature = signature_of(wait, &code);
    StackId stack, other;
    if (waiting_find_sent(w, signature, &stack))
        return stack;
    StackCut cut = unwind(c, wait, 0, &stack);
    // Not every way of recording reports each mapping at once.
    if (cut == STACK_CUT_UNKNOWN_MAP) {
        consumer_read_maps(c, wait->pid);
        code = consumer_code(c, wait->pid);
        signature = signature_of(wait, &code);
        cut = unwind(c, wait, 0, &stack);
    }
    if (cut != STACK_CUT_NONE && unwind_by_guess(c, wait, &code, &other)) {
        stack = other;
        cut = STACK_CUT_NONE;
    }
    w->counts.stacks++;
    w->counts.complete += cut == STACK_CUT_NONE;
    table_insert(&w->by_signature, signature, (uint32_t)w->sent.len);
    vec_push(NULL, &w->sent, (Sent){signature, stack});
    return stack;
}

// ---- Events -----------------------------------------------------------------------------

static uint64_t object_of(const ProcWait *wait)
{
    uint32_t arg;
    bool has_one = wait_object_of(wait->call, &arg) != WAIT_OBJECT_NONE;
    return has_one && arg < ARRAY_LEN(wait->args) ? wait->args[arg] : 0;
}

static Reason reason_of(Waiting *w, Consumer *c, const ProcWait *wait)
{
    uint64_t object = object_of(wait);
    uint64_t hash = hash_pair(hash_pair(wait->pid, object), (uint64_t)wait->call << 8 | wait->how);
    return waiting_need_reason(w, c, wait->pid, wait->call, wait->how, object, hash);
}

// While the process still is what it was: names its stack and what it waits for.
static void on_begin(Waiting *w, Consumer *c, ProcWait *wait)
{
    wait->mark = stack_of(w, c, wait).v;
    (void)reason_of(w, c, wait);
    heap_free(wait->stack);
    wait->stack = NULL;
}

static void on_end(Waiting *w, Consumer *c, ProcWait *wait)
{
    Reason reason = reason_of(w, c, wait);
    if (wait->span_ns == 0) { // of a thread that was seen once
        heap_free(wait->stack);
        heap_free(wait);
        return;
    }
    ThreadId thread = consumer_thread(c, wait->pid, wait->tid);
    Sum *s =
        waiting_need_sum(w, thread, (StackId){(uint32_t)wait->mark}, reason.class, reason.object);
    s->row.count += wait->count;
    s->row.blocked_ns += wait->span_ns;
    s->row.longest_ns = MAX(s->row.longest_ns, wait->longest_ns);
    s->buckets[wait_bucket_of(wait->span_ns / wait->count)] += wait->count;
    uint64_t begin = wait->end_ns - MIN(wait->span_ns, wait->end_ns);
    Look look = {thread, begin, wait->end_ns, {(uint32_t)wait->mark}, reason};
    vec_push(NULL, &w->sampled->looks, look);
    heap_free(wait->stack);
    heap_free(wait);
}

static void on_thread(Waiting *w, Consumer *c, const ProcLife *life)
{
    vec_push(NULL, &w->sampled->lives, (Life){*life, consumer_thread(c, life->pid, life->tid)});
}

void proc_waits_until(Waiting *w, Consumer *c, uint64_t time_ns)
{
    ProcEvent e;
    while (proc_sampler_take(w->sampled->sampler, time_ns, &e)) {
        if (e.kind == PROC_WAIT_BEGINS)
            on_begin(w, c, e.wait);
        else if (e.kind == PROC_WAIT_ENDS)
            on_end(w, c, e.wait);
        else
            on_thread(w, c, &e.life);
    }
}

// ---- The end ------------------------------------------------------------------------------

static int compare_looks(const void *a, const void *b)
{
    const Look *x = a, *y = b;
    if (x->thread.v != y->thread.v)
        return x->thread.v < y->thread.v ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

// The first look at all threads in a wait; 0: it was over before there was one.
static uint64_t look_in(const ProcWaits *s, const Span *span)
{
    size_t count;
    const uint64_t *looks = proc_sampler_looks(s->sampler, &count);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (looks[middle] < span->begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && looks[low] <= span->end_ns ? looks[low] : 0;
}

// What a look in the wait saw. NULL: there was none.
static const Look *look_of(const ProcWaits *s, const Span *span)
{
    size_t low = 0, high = s->looks.len;
    const Look key = {.thread = span->thread, .end_ns = look_in(s, span)};
    while (low < high && key.end_ns) {
        size_t middle = low + (high - low) / 2;
        if (compare_looks(&s->looks.at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const Look *found = low < s->looks.len ? &s->looks.at[low] : NULL;
    return key.end_ns && found && found->thread.v == span->thread.v && found->begin_ns <= key.end_ns
               ? found
               : NULL;
}

static void add_state(Waiting *w, Consumer *c, const Look *look, uint64_t begin, uint64_t end)
{
    profile_add_state(w->profile, &(StateRow){.thread = look->thread,
                                              .start_ns = consumer_time(c, begin),
                                              .woken_ns = consumer_time(c, end),
                                              .end_ns = consumer_time(c, end),
                                              .state = look->reason.class,
                                              .object = look->reason.object,
                                              .stack = look->stack});
}

static void forget_counts(Waiting *w)
{
    for (size_t i = 0; i < w->sums.len; i++) {
        Sum *s = &w->sums.at[i];
        if (s->row.state <= WAIT_RUNNABLE)
            continue;
        s->row.count = s->row.longest_ns = 0;
        memset(s->buckets, 0, sizeof(s->buckets));
    }
}

// The waits that were looked at, with their true length. How the time of all waits is shared out is
// still told by the looks: which waits have one depends on their length.
static void add_spans(Waiting *w, Consumer *c)
{
    const ProcWaits *p = w->sampled;
    forget_counts(w);
    for (size_t i = 0; i < p->spans.len; i++) {
        const Span *span = &p->spans.at[i];
        const Look *look = look_of(p, span);
        if (!look)
            continue;
        uint64_t ns = span->end_ns - span->begin_ns;
        Sum *s =
            waiting_need_sum(w, span->thread, look->stack, look->reason.class, look->reason.object);
        s->row.count++;
        s->row.longest_ns = MAX(s->row.longest_ns, ns);
        s->buckets[wait_bucket_of(ns)]++;
        add_state(w, c, look, span->begin_ns, span->end_ns);
    }
}

static Away *need_away(ProcWaits *s, uint32_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->by_tid, hash_u64(tid)); table_next(&s->by_tid, &p, &row);)
        if (s->away.at[row].tid == tid)
            return &s->away.at[row];
    table_insert(&s->by_tid, hash_u64(tid), (uint32_t)s->away.len);
    vec_push(NULL, &s->away, (Away){.tid = tid});
    return &vec_last(&s->away);
}

void proc_waits_switch(Waiting *w, Consumer *c, const PerfRecord *r)
{
    Away *a = need_away(w->sampled, r->tid);
    bool sleeps = r->u.context_switch.out && !r->u.context_switch.preempted;
    if (sleeps && a->since_ns == 0)
        a->since_ns = r->time;
    if (r->u.context_switch.out || a->since_ns == 0 || r->time <= a->since_ns)
        return;
    if (w->sampled->spans.len < SPANS_MAX)
        vec_push(NULL, &w->sampled->spans,
                 (Span){consumer_thread(c, r->pid, r->tid), a->since_ns, r->time});
    else
        w->counts.lost++;
    a->since_ns = 0;
}

// The time that the looks saw a thread sleep becomes the time that it did.
static void scale_waits(Waiting *w, ThreadId thread, uint64_t seen_ns, uint64_t slept_ns)
{
    for (size_t i = 0; i < w->sums.len && seen_ns; i++) {
        WaitRow *row = &w->sums.at[i].row;
        if (row->thread.v == thread.v && row->state > WAIT_RUNNABLE)
            row->blocked_ns =
                (uint64_t)((double)row->blocked_ns / (double)seen_ns * (double)slept_ns);
    }
}

static uint64_t seen_waiting(const Waiting *w, ThreadId thread)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < w->sums.len; i++)
        if (w->sums.at[i].row.thread.v == thread.v && w->sums.at[i].row.state > WAIT_RUNNABLE)
            sum += w->sums.at[i].row.blocked_ns;
    return sum;
}

static void add(Waiting *w, ThreadId thread, StackId stack, WaitClass class, uint64_t ns)
{
    if (ns == 0)
        return;
    Sum *s = waiting_need_sum(w, thread, stack, class, (StrId){0});
    s->row.count++;
    s->row.blocked_ns += ns;
}

// The first look at a thread, or the last, is late: the records of its begin and its end tell when
// they were. They are believed when they are near.
static void settle_life(const Waiting *w, const Life *l, int64_t *begin, int64_t *end)
{
    const int64_t near_ns = 150000000;
    int64_t made = w->profile->threads.start_ns.at[l->thread.v];
    int64_t ended = w->profile->threads.end_ns.at[l->thread.v];
    if (made != TIME_NONE && made < *begin && made > *begin - near_ns)
        *begin = made;
    if (ended != TIME_NONE && ended > *begin && ended > *end - near_ns && ended < *end + near_ns)
        *end = ended;
}

static void add_life(Waiting *w, Consumer *c, const Life *l)
{
    const ProcLife *life = &l->life;
    int64_t begin = consumer_time(c, life->begin_ns), end = consumer_time(c, life->end_ns);
    settle_life(w, l, &begin, &end);
    uint64_t all = (uint64_t)MAX(end - begin, (int64_t)0);
    uint64_t run = MIN(life->run_ns, all), delay = MIN(life->delay_ns, all - run);
    uint64_t seen = seen_waiting(w, l->thread);
    if (life->run_ns + life->delay_ns == 0) // the scheduler does not say
        run = MIN(life->running_ns, all);
    add(w, l->thread, (StackId){0}, WAIT_RUNNING, run);
    add(w, l->thread, w->preempted, WAIT_RUNNABLE, delay);
    if (seen)
        scale_waits(w, l->thread, seen, all - run - delay);
    else
        add(w, l->thread, (StackId){0}, WAIT_OTHER, all - run - delay);
    vec_push(NULL, &w->starts, (ThreadMoment){l->thread, begin});
    vec_push(NULL, &w->ends, (ThreadMoment){l->thread, end});
}

void proc_waits_finish(Waiting *w, Consumer *c)
{
    proc_waits_until(w, c, UINT64_MAX);
    ProcWaits *p = w->sampled;
    if (p->looks.len)
        qsort(p->looks.at, p->looks.len, sizeof(p->looks.at[0]), compare_looks);
    if (p->spans.len)
        add_spans(w, c);
    else
        for (size_t i = 0; i < p->looks.len; i++)
            add_state(w, c, &p->looks.at[i], p->looks.at[i].begin_ns, p->looks.at[i].end_ns);
    for (size_t i = 0; i < w->sampled->lives.len; i++)
        add_life(w, c, &w->sampled->lives.at[i]);
    ProcSamplerCounts n = proc_sampler_counts(w->sampled->sampler);
    w->counts.no_room += n.refused;
    w->counts.switches = n.looks;
}
