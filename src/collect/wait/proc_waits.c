// SPDX-License-Identifier: Apache-2.0
// From looks at threads to rows of the profile. Which part of its sleep a thread spent for what is
// estimated from the looks; how long it ran, and had to wait for a processor, the scheduler counts
// (proc(5), "schedstat").

#include "collect/wait/waiting_internal.h"

#include "collect/wait/call_numbers_internal.h"
#include "collect/wait/proc_sampler_internal.h"
#include "collect/wait/reasons_internal.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define MACHINE_ARCH UNWIND_X86_64
#else
#define MACHINE_ARCH UNWIND_AARCH64
#endif

// Perf's numbers of registers: the frame pointer, the stack pointer, the instruction pointer, and
// those with the arguments of a system call.
#if defined(__x86_64__)
enum { FRAME = 6, SP = 7, PC = 8 };
static const uint8_t argument_regs[PROC_ARGS] = {5, 4, 3, 18, 16, 17};
#else
enum { FRAME = 29, SP = 31, PC = 32 };
static const uint8_t argument_regs[PROC_ARGS] = {0, 1, 2, 3, 4, 5};
#endif

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
    uint64_t count, longest_ns; // as in ProcWait
} Look;

// The stack with which a thread left its processor, and what it waits for then.
typedef struct Left {
    bool is_known;
    uint64_t sp;
    StackId stack;
    Reason reason;
    // Where it was outside of system calls, it may only have lost its processor: then nobody needs
    // the stack. It is kept until that is known. Heap memory.
    ProcWait *held;
    uint64_t regs[PERF_REGS_MAX];
} Left;

// A thread by records of its switches.
typedef struct Away {
    uint32_t tid;
    ThreadId thread;
    bool runs, could_run; // neither: it sleeps
    uint64_t since_ns;    // in this state; 0: there was no record
    uint64_t first_ns;    // of the first record
    uint64_t run_ns, delay_ns, sleep_ns;
    Left left; // where samples tell it
} Away;

typedef struct Span {
    ThreadId thread;
    uint64_t begin_ns, end_ns;
} Span;

// Mappings as they were told. A record of an exec that comes later, as a tracer's does, has made
// the recorder forget them.
typedef struct KeptMaps {
    uint32_t pid;
    ProcMaps *maps; // NULL: the entry is free
} KeptMaps;

enum { SPANS_MAX = 4 << 20, KEPT_MAPS = 256 };

struct ProcWaits {
    ProcSampler *sampler;
    bool
        has_stacks; // samples tell the stack of each wait: looks count only where these are missing
    CallNumbers numbers;
    Vec(Life) lives;
    Vec(Look) looks;
    Vec(Away) away;
    Table by_tid;   // of `away`, the newest with that number
    Vec(Away) gone; // of threads whose numbers others have now
    Vec(Span) spans;
    KeptMaps kept[KEPT_MAPS]; // by the number of the process
};

bool proc_waits_open(const WaitingLooks *setup, ProcWaits **ret, Error *err)
{
    ProcWaits *s = heap_alloc(sizeof(*s));
    if (!proc_sampler_open(setup->inherit, setup->reads_maps, setup->every, &s->sampler, err)) {
        heap_free(s);
        return false;
    }
    s->has_stacks = setup->has_stacks;
    *ret = s;
    return true;
}

void proc_waits_stop(ProcWaits *s)
{
    proc_sampler_stop(s->sampler);
}

static void drop_held(Away *a)
{
    if (a->left.held)
        heap_free(a->left.held->stack);
    heap_free(a->left.held);
    a->left.held = NULL;
}

void proc_waits_close(ProcWaits *s)
{
    if (!s)
        return;
    proc_sampler_close(s->sampler);
    for (size_t i = 0; i < s->away.len; i++)
        drop_held(&s->away.at[i]);
    call_numbers_deinit(&s->numbers);
    for (size_t i = 0; i < KEPT_MAPS; i++)
        proc_maps_free(s->kept[i].maps);
    vec_free(&s->lives);
    vec_free(&s->looks);
    vec_free(&s->away);
    vec_free(&s->gone);
    vec_free(&s->spans);
    table_deinit(&s->by_tid);
    heap_free(s);
}

void proc_waits_has_switches(ProcWaits *s)
{
    proc_sampler_has_switches(s->sampler);
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
// Where the stack lies is not in it: the threads of a pool share theirs.
static uint64_t signature_of(const ProcWait *wait, const CodeRanges *code)
{
    enum { WORDS = 1024 };
    uint64_t h = hash_pair(wait->pid, wait->pc);
    for (size_t i = 0; i < MIN(wait->stack_len / 8, (uint32_t)WORDS); i++) {
        uint64_t v = word_at(wait, i);
        if (is_code(code, v))
            h = hash_pair(h, hash_pair(v, i));
    }
    return h | 1;
}

// `regs`: all registers by perf's numbers; NULL: only those that /proc states are known.
static StackCut unwind(Consumer *c, const ProcWait *wait, const uint64_t *regs,
                       uint64_t frame_pointer, StackId *ret)
{
    CopiedStack s = {.pid = wait->pid,
                     .tid = wait->tid,
                     .regs_mask = 1ull << SP | 1ull << PC,
                     .bytes = bytes_over(wait->stack, wait->stack_len / 8 * 8)};
    uint64_t base;
    if (regs) {
        s.regs_mask = unwind_perf_regs_mask(MACHINE_ARCH);
        memcpy(s.regs, regs, sizeof(s.regs));
        return consumer_unwind(c, &s, ret, &base);
    }
#if defined(__x86_64__)
    // Arguments are in registers: the C library's vfork keeps its return address in one, because
    // the child overwrites the place where it stood.
    for (size_t i = 0; i < PROC_ARGS && wait->call != WAIT_NO_CALL; i++) {
        s.regs_mask |= 1ull << argument_regs[i];
        s.regs[argument_regs[i]] = wait->args[i];
    }
#endif
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
        if (unwind(c, wait, NULL, wait->sp + i * 8, ret) == STACK_CUT_NONE)
            return true;
    }
    return false;
}

static void add_sent(Waiting *w, uint64_t signature, StackId stack, bool is_complete)
{
    w->counts.stacks++;
    w->counts.complete += is_complete;
    table_insert(&w->by_signature, signature, (uint32_t)w->sent.len);
    vec_push(NULL, &w->sent, (Sent){signature, stack});
}

void proc_waits_name(Waiting *w, Consumer *c, const ProcWait *wait, uint64_t signature)
{
    CodeRanges code = consumer_code(c, wait->pid);
    StackId stack, other;
    StackCut cut = unwind(c, wait, NULL, 0, &stack);
    if (cut != STACK_CUT_NONE && unwind_by_guess(c, wait, &code, &other)) {
        stack = other;
        cut = STACK_CUT_NONE;
    }
    add_sent(w, signature, stack, cut == STACK_CUT_NONE);
}

static StackId stack_of(Waiting *w, Consumer *c, const ProcWait *wait, const uint64_t *regs)
{
    CodeRanges code = consumer_code(c, wait->pid);
    uint64_t signature = signature_of(wait, &code);
    StackId stack, other;
    if (waiting_find_sent(w, signature, &stack))
        return stack;
    StackCut cut = unwind(c, wait, regs, 0, &stack);
    // Not every way of recording reports each mapping at once.
    if (cut == STACK_CUT_UNKNOWN_MAP) {
        const KeptMaps *kept = &w->sampled->kept[wait->pid % KEPT_MAPS];
        if (kept->maps && kept->pid == wait->pid)
            consumer_add_maps(c, wait->pid, &kept->maps->at);
        else
            consumer_read_maps(c, wait->pid);
        code = consumer_code(c, wait->pid);
        signature = signature_of(wait, &code);
        cut = unwind(c, wait, regs, 0, &stack);
    }
    if (cut != STACK_CUT_NONE && !regs && unwind_by_guess(c, wait, &code, &other)) {
        stack = other;
        cut = STACK_CUT_NONE;
    }
    add_sent(w, signature, stack, cut == STACK_CUT_NONE);
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

static Away *find_away(ProcWaits *s, uint32_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->by_tid, hash_u64(tid)); table_next(&s->by_tid, &p, &row);)
        if (s->away.at[row].tid == tid)
            return &s->away.at[row];
    return NULL;
}

static Away *need_away(ProcWaits *s, ThreadId thread, uint32_t tid)
{
    Away *a = find_away(s, tid);
    if (a && a->thread.v != thread.v) {
        drop_held(a);
        vec_push(NULL, &s->gone, *a);
        *a = (Away){.tid = tid, .thread = thread};
    }
    if (a)
        return a;
    table_insert(&s->by_tid, hash_u64(tid), (uint32_t)s->away.len);
    vec_push(NULL, &s->away, (Away){.tid = tid, .thread = thread});
    return &vec_last(&s->away);
}

// While the process still is what it was: names its stack and what it waits for.
static void on_begin(Waiting *w, Consumer *c, ProcWait *wait)
{
    wait->mark = stack_of(w, c, wait, NULL).v;
    Reason reason = reason_of(w, c, wait);
    heap_free(wait->stack);
    wait->stack = NULL;
    if (!w->sampled->has_stacks)
        return;
    if (wait->call != WAIT_NO_CALL)
        call_numbers_learn(&w->sampled->numbers, wait->pid, wait->pc, wait->call);
    // The look sees the call itself, and how the thread sleeps.
    Away *a = find_away(w->sampled, wait->tid);
    if (a && !a->runs && a->left.is_known && a->left.sp == wait->sp)
        a->left.reason = reason;
}

static void add_look(Waiting *w, const Look *look)
{
    uint64_t ns = look->end_ns - look->begin_ns;
    Sum *s =
        waiting_need_sum(w, look->thread, look->stack, look->reason.class, look->reason.object);
    s->row.count += look->count;
    s->row.blocked_ns += ns;
    s->row.longest_ns = MAX(s->row.longest_ns, look->longest_ns);
    s->buckets[wait_bucket_of(ns / MAX(look->count, (uint64_t)1))] += look->count;
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
    uint64_t begin = wait->end_ns - MIN(wait->span_ns, wait->end_ns);
    Look look = {thread, begin,       wait->end_ns,    {(uint32_t)wait->mark},
                 reason, wait->count, wait->longest_ns};
    vec_push(NULL, &w->sampled->looks, look);
    if (!w->sampled->has_stacks)
        add_look(w, &look);
    heap_free(wait->stack);
    heap_free(wait);
}

static void on_thread(Waiting *w, Consumer *c, const ProcLife *life)
{
    vec_push(NULL, &w->sampled->lives, (Life){*life, consumer_thread(c, life->pid, life->tid)});
}

static void on_maps(Waiting *w, Consumer *c, uint32_t pid, ProcMaps *maps)
{
    KeptMaps *kept = &w->sampled->kept[pid % KEPT_MAPS];
    consumer_add_maps(c, pid, &maps->at);
    proc_maps_free(kept->maps);
    *kept = (KeptMaps){pid, maps};
}

void proc_waits_until(Waiting *w, Consumer *c, uint64_t time_ns)
{
    ProcEvent e;
    while (proc_sampler_take(w->sampled->sampler, time_ns, &e)) {
        if (e.kind == PROC_WAIT_BEGINS)
            on_begin(w, c, e.wait);
        else if (e.kind == PROC_WAIT_ENDS)
            on_end(w, c, e.wait);
        else if (e.kind == PROC_HAS_MAPS)
            on_maps(w, c, e.pid, e.maps);
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

// Adds the time since the last switch to that of the state in which the thread was.
static void count_until(Away *a, uint64_t time_ns)
{
    uint64_t ns = a->since_ns && time_ns > a->since_ns ? time_ns - a->since_ns : 0;
    uint64_t *sum = a->runs ? &a->run_ns : a->could_run ? &a->delay_ns : &a->sleep_ns;
    *sum += ns;
}

// ---- Stacks of each wait ------------------------------------------------------------------

// Names the stack with which a thread left its processor, and what it waits for.
static void name_left(Waiting *w, Consumer *c, Left *left, const ProcWait *wait,
                      const uint64_t *regs)
{
    left->stack = stack_of(w, c, wait, regs);
    left->reason = reason_of(w, c, wait);
    left->sp = wait->sp;
    left->is_known = true;
}

// Whether the registers are those of a thread in a system call, and of which.
static uint32_t call_of(ProcWaits *s, const PerfRecord *r, uint64_t pc)
{
#if defined(__x86_64__)
    // The result that the kernel begins with, in rax, perf's number 0.
    if (r->u.sample->regs[0] != (uint64_t)-ENOSYS)
        return WAIT_NO_CALL;
#endif
    return call_numbers_find(&s->numbers, r->pid, pc);
}

void proc_waits_stack(Waiting *w, Consumer *c, const PerfRecord *r)
{
    const PerfSample *s = r->u.sample;
    Away *a = need_away(w->sampled, consumer_thread(c, r->pid, r->tid), r->tid);
    drop_held(a);
    a->left.is_known = false;
    if (s->regs_abi != PERF_SAMPLE_REGS_ABI_64 || s->stack.len == 0)
        return;
    ProcWait wait = {.pid = r->pid,
                     .tid = r->tid,
                     .call = call_of(w->sampled, r, s->regs[PC]),
                     .sp = s->regs[SP],
                     .pc = s->regs[PC],
                     .stack_len = (uint32_t)MIN(s->stack.len, (size_t)PROC_STACK_BYTES)};
    for (size_t i = 0; i < PROC_ARGS; i++)
        wait.args[i] = s->regs[argument_regs[i]];
    if (wait.call != WAIT_NO_CALL) {
        wait.stack = (uint8_t *)(uintptr_t)s->stack.ptr;
        name_left(w, c, &a->left, &wait, s->regs);
        return;
    }
    a->left.held = heap_alloc(sizeof(wait));
    *a->left.held = wait;
    a->left.held->stack = heap_alloc(wait.stack_len);
    memcpy(a->left.held->stack, s->stack.ptr, wait.stack_len);
    memcpy(a->left.regs, s->regs, sizeof(a->left.regs));
}

// A wait that is over, with the stack at its begin.
static void add_wait(Waiting *w, Consumer *c, const Away *a, uint64_t end_ns)
{
    uint64_t ns = end_ns - a->since_ns;
    StackId stack = a->left.stack;
    Reason reason = a->left.reason;
    if (!a->left.is_known) { // no sample came
        w->counts.lost++;
        reason = (Reason){.class = WAIT_OTHER};
        stack = profile_stack(w->profile, (StackId){0},
                              profile_cut_frame(w->profile, STACK_CUT_NO_USER));
    }
    Sum *s = waiting_need_sum(w, a->thread, stack, reason.class, reason.object);
    s->row.count++;
    s->row.blocked_ns += ns;
    s->row.longest_ns = MAX(s->row.longest_ns, ns);
    s->buckets[wait_bucket_of(ns)]++;
    if (ns < w->min_wait_ns)
        return;
    Look whole = {.thread = a->thread, .stack = stack, .reason = reason};
    add_state(w, c, &whole, a->since_ns, end_ns);
}

static void end_sleep(Waiting *w, Consumer *c, const Away *a, uint64_t end_ns)
{
    if (w->sampled->has_stacks)
        add_wait(w, c, a, end_ns);
    else if (w->sampled->spans.len < SPANS_MAX)
        vec_push(NULL, &w->sampled->spans, (Span){a->thread, a->since_ns, end_ns});
    else
        w->counts.lost++;
}

void proc_waits_switch(Waiting *w, Consumer *c, const PerfRecord *r)
{
    Away *a = need_away(w->sampled, consumer_thread(c, r->pid, r->tid), r->tid);
    bool out = r->u.context_switch.out;
    bool slept = a->since_ns && !a->runs && !a->could_run;
    if (a->since_ns && a->runs != out) // a record was lost, or they are of before
        a->since_ns = 0;
    count_until(a, r->time);
    if (!out && slept && r->time > a->since_ns && a->since_ns)
        end_sleep(w, c, a, r->time);
    a->left.is_known &= out;
    a->runs = !out;
    a->could_run = out && r->u.context_switch.preempted;
    a->since_ns = r->time;
    a->first_ns = a->first_ns ? a->first_ns : r->time;
    if (out && !a->could_run && a->left.held)
        name_left(w, c, &a->left, a->left.held, a->left.regs);
    drop_held(a);
}

// The waits that began before the first record of their thread, or of threads without any, are
// known from looks alone. Those that go on end with the recording.
static void add_rest(Waiting *w, Consumer *c)
{
    ProcWaits *s = w->sampled;
    size_t count;
    const uint64_t *times = proc_sampler_looks(s->sampler, &count);
    uint64_t end_ns = count ? times[count - 1] : 0;
    uint64_t *first = heap_alloc((w->profile->threads.tid.len + 1) * sizeof(*first));
    for (size_t i = 0; i < s->away.len; i++)
        vec_push(NULL, &s->gone, s->away.at[i]);
    for (size_t i = 0; i < s->gone.len; i++) {
        Away *a = &s->gone.at[i];
        first[a->thread.v] = a->first_ns;
        if (a->since_ns && !a->runs && !a->could_run && a->since_ns < end_ns && a->left.is_known)
            add_wait(w, c, a, end_ns);
    }
    for (size_t i = 0; i < s->looks.len; i++) {
        const Look *look = &s->looks.at[i];
        if (first[look->thread.v] && look->end_ns > first[look->thread.v] + PROC_TICK_NS)
            continue;
        add_look(w, look);
        add_state(w, c, look, look->begin_ns, look->end_ns);
    }
    s->gone.len = 0;
    heap_free(first);
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

// How long a thread was seen to sleep, and how long it did; and what its switches tell.
typedef struct Sleep {
    uint64_t seen_ns, slept_ns;
    bool has_life, has_switches;
    uint64_t run_ns, delay_ns, sleep_ns; // by switches
} Sleep;

static void add_life(Waiting *w, Consumer *c, const Life *l, Sleep *sleep)
{
    const ProcLife *life = &l->life;
    int64_t begin = consumer_time(c, life->begin_ns), end = consumer_time(c, life->end_ns);
    settle_life(w, l, &begin, &end);
    uint64_t all = (uint64_t)MAX(end - begin, (int64_t)0);
    // The times by switches include those after the last look.
    uint64_t run = MIN(MAX(life->run_ns, sleep->run_ns), all);
    uint64_t delay = MIN(MAX(life->delay_ns, sleep->delay_ns), all - run);
    if (run + delay == 0) // the scheduler does not say
        run = MIN(life->running_ns, all);
    if (life->tid != life->pid) // one that a look saw before it ran counts, too
        (void)waiting_need_sum(w, l->thread, (StackId){0}, WAIT_RUNNING, (StrId){0});
    add(w, l->thread, (StackId){0}, WAIT_RUNNING, run);
    add(w, l->thread, w->preempted, WAIT_RUNNABLE, delay);
    if (!sleep->seen_ns)
        add(w, l->thread, (StackId){0}, WAIT_OTHER, all - run - delay);
    sleep->slept_ns += all - run - delay;
    sleep->has_life = true;
    vec_push(NULL, &w->starts, (ThreadMoment){l->thread, begin});
    vec_push(NULL, &w->ends, (ThreadMoment){l->thread, end});
}

// A thread that ended before the first look at it. Its life is the time between its records of
// begin and end; records of switches divide it into classes. Without these all of it is `other`.
static void add_short_life(Waiting *w, ThreadId thread, const Sleep *s, int64_t begin, int64_t end)
{
    uint64_t all = (uint64_t)(end - begin), run = MIN(s->run_ns, all);
    uint64_t sleep = s->has_switches ? MIN(s->sleep_ns, all - run) : all;
    // The row of its processor time, by which it is counted, is there also when that is not known.
    waiting_need_sum(w, thread, (StackId){0}, WAIT_RUNNING, (StrId){0})->row.blocked_ns += run;
    add(w, thread, (StackId){0}, WAIT_OTHER, sleep - MIN(s->seen_ns, sleep));
    add(w, thread, w->preempted, WAIT_RUNNABLE, all - run - sleep);
    vec_push(NULL, &w->starts, (ThreadMoment){thread, begin});
    vec_push(NULL, &w->ends, (ThreadMoment){thread, end});
}

static bool has_number(const Profile *p, const Table *rows, uint32_t tid)
{
    uint32_t row;
    for (TableProbe t = table_probe(rows, hash_u64(tid)); table_next(rows, &t, &row);)
        if (p->threads.tid.at[row] == tid)
            return true;
    return false;
}

static bool is_main(const Profile *p, uint32_t thread)
{
    return p->threads.tid.at[thread] == p->processes.pid.at[p->threads.process.at[thread].v];
}

// A look at a thread before its exec, which begins another row, stands for both rows.
static void add_short_lives(Waiting *w, const Sleep *sleeps, size_t count)
{
    Table looked_at = {0}; // numbers of threads
    for (uint32_t i = 0; i < count; i++)
        if (sleeps[i].has_life)
            table_insert(&looked_at, hash_u64(w->profile->threads.tid.at[i]), i);
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin = w->profile->threads.start_ns.at[i], end = w->profile->threads.end_ns.at[i];
        // The command's own was there before the recording. Another one was seen by a look before
        // its record came, and has a row by that, too.
        if (begin == TIME_NONE && !is_main(w->profile, i))
            continue;
        begin = begin == TIME_NONE ? 0 : begin;
        if (!has_number(w->profile, &looked_at, w->profile->threads.tid.at[i]) &&
            end != TIME_NONE && begin < end) {
            add_short_life(w, (ThreadId){i}, &sleeps[i], begin, end);
            w->counts.unseen++;
        }
    }
    table_deinit(&looked_at);
}

static void take_switches(Waiting *w, Consumer *c, const Away *a, Sleep *s)
{
    *s = (Sleep){.has_switches = true,
                 .run_ns = a->run_ns,
                 .delay_ns = a->delay_ns,
                 .sleep_ns = a->sleep_ns};
    int64_t end = w->profile->threads.end_ns.at[a->thread.v];
    int64_t since = consumer_time(c, a->since_ns);
    if (a->runs && a->since_ns && end != TIME_NONE && end > since) // it ran until its end
        s->run_ns += (uint64_t)(end - since);
}

// The time that the looks saw a thread sleep becomes the time that it did.
static void scale_waits(Waiting *w, const Sleep *sleeps)
{
    for (size_t i = 0; i < w->sums.len; i++) {
        WaitRow *row = &w->sums.at[i].row;
        const Sleep *s = &sleeps[row->thread.v];
        if (row->state > WAIT_RUNNABLE && s->seen_ns && s->has_life)
            row->blocked_ns =
                (uint64_t)((double)row->blocked_ns / (double)s->seen_ns * (double)s->slept_ns);
    }
}

static void add_lives(Waiting *w, Consumer *c)
{
    ProcWaits *p = w->sampled;
    size_t count = w->profile->threads.tid.len;
    Sleep *sleeps = heap_alloc((count + 1) * sizeof(*sleeps));
    for (size_t i = 0; i < p->away.len; i++)
        vec_push(NULL, &p->gone, p->away.at[i]);
    for (size_t i = 0; i < p->gone.len; i++)
        take_switches(w, c, &p->gone.at[i], &sleeps[p->gone.at[i].thread.v]);
    for (size_t i = 0; i < w->sums.len; i++)
        if (w->sums.at[i].row.state > WAIT_RUNNABLE)
            sleeps[w->sums.at[i].row.thread.v].seen_ns += w->sums.at[i].row.blocked_ns;
    for (size_t i = 0; i < p->lives.len; i++)
        add_life(w, c, &p->lives.at[i], &sleeps[p->lives.at[i].thread.v]);
    scale_waits(w, sleeps);
    add_short_lives(w, sleeps, count);
    heap_free(sleeps);
}

void proc_waits_finish(Waiting *w, Consumer *c)
{
    proc_waits_until(w, c, UINT64_MAX);
    ProcWaits *p = w->sampled;
    if (p->looks.len)
        qsort(p->looks.at, p->looks.len, sizeof(p->looks.at[0]), compare_looks);
    if (p->has_stacks)
        add_rest(w, c);
    else if (p->spans.len)
        add_spans(w, c);
    else
        for (size_t i = 0; i < p->looks.len; i++)
            add_state(w, c, &p->looks.at[i], p->looks.at[i].begin_ns, p->looks.at[i].end_ns);
    add_lives(w, c);
    ProcSamplerCounts n = proc_sampler_counts(w->sampled->sampler);
    w->counts.no_room += n.refused;
    w->counts.switches = n.looks;
}
