// SPDX-License-Identifier: Apache-2.0
// From what the programs send and sum to rows of the profile.

#include "collect/wait/waiting.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "collect/wait/call_numbers_internal.h"
#include "collect/wait/proc_look_internal.h"
#include "collect/wait/reasons_internal.h"
#include "collect/wait/waiting_internal.h"
#include "os/clock.h"

#include <stddef.h>

bool waiting_open(const WaitingSetup *setup, Waiting **ret, Error *err)
{
    Waiting *w = heap_alloc(sizeof(*w));
    if (!watch_open(setup, &w->watch, err)) {
        heap_free(w);
        return false;
    }
    w->min_wait_ns = setup->min_wait_ns;
    w->every = setup->every;
    *ret = w;
    return true;
}

bool waiting_open_sampled(const WaitingLooks *setup, Waiting **ret, Error *err)
{
    Waiting *w = heap_alloc(sizeof(*w));
    if (!proc_waits_open(setup, &w->sampled, err)) {
        heap_free(w);
        return false;
    }
    w->min_wait_ns = setup->min_wait_ns;
    *ret = w;
    return true;
}

void waiting_close(Waiting *w)
{
    if (!w)
        return;
    proc_waits_close(w->sampled);
    watch_close(&w->watch);
    wait_objects_deinit(&w->objects);
    for (size_t i = 0; i < w->sleepers.len; i++)
        heap_free(w->sleepers.at[i].wait.stack);
    vec_free(&w->sleepers);
    vec_free(&w->sent);
    vec_free(&w->reasons);
    vec_free(&w->sums);
    vec_free(&w->starts);
    vec_free(&w->added);
    vec_free(&w->ends);
    table_deinit(&w->by_signature);
    table_deinit(&w->by_reason);
    table_deinit(&w->by_sum);
    heap_free(w);
}

void waiting_stop(Waiting *w)
{
    if (w->sampled)
        proc_waits_stop(w->sampled);
    watch_detach(&w->watch);
}

void waiting_add_process(Waiting *w, uint32_t pid, bool is_new)
{
    if (w->sampled)
        proc_waits_add(w->sampled, pid, is_new);
}

void waiting_has_switches(Waiting *w)
{
    if (w->sampled)
        proc_waits_has_switches(w->sampled);
}

void waiting_switch(Waiting *w, Consumer *c, const PerfRecord *r)
{
    if (w->sampled)
        proc_waits_switch(w, c, r);
}

void waiting_switch_stack(Waiting *w, Consumer *c, const PerfRecord *r)
{
    if (w->sampled)
        proc_waits_stack(w, c, r);
}

void waiting_until(Waiting *w, Consumer *c, uint64_t time_ns)
{
    if (w->sampled)
        proc_waits_until(w, c, time_ns);
}

const uint64_t *waiting_ids(const Waiting *w, size_t *count)
{
    *count = w->watch.event_count;
    return w->watch.ids;
}

static WaitThread *find_thread(const Waiting *w, uint32_t tid)
{
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        WaitThread *t = &w->watch.shared->threads[(tid + i) & (WAIT_THREADS - 1)];
        if (__atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == tid)
            return t;
    }
    return NULL;
}

// What a thread sleeps in, by /proc (proc(5), "syscall"). False: it does not sleep.
static bool find_wait(WaitThread *t, uint32_t tid, ProcWait *wait)
{
    char text[256];
    ssize_t n = proc_read_of(-1, t->tgid, tid, "syscall", text, sizeof(text));
    *wait = (ProcWait){.pid = t->tgid, .tid = tid};
    if (n <= 0) { // some processes forbid that even to root
        t->call = WAIT_UNKNOWN_CALL;
        return proc_sleeps(t->tgid, tid, &t->how);
    }
    if (!proc_syscall_parse((Str){text, (size_t)n}, wait))
        return false;
    uint32_t arg;
    t->call = wait->call;
    t->how = proc_how_it_sleeps(t->tgid, tid, wait->call);
    if (wait_object_of(t->call, &arg) != WAIT_OBJECT_NONE && arg < ARRAY_LEN(wait->args))
        t->object = wait->args[arg];
    return true;
}

// Copies the stack of a thread that sleeps already; it is unwound with the first record. Not of all
// threads of a machine.
static void keep_stack(Waiting *w, WaitThread *t, const ProcWait *wait)
{
    enum { SLEEPERS_MAX = 4096 };
    uint8_t stack[PROC_STACK_BYTES];
    uint32_t len = w->every || w->sleepers.len >= SLEEPERS_MAX || wait->sp == 0
                       ? 0
                       : proc_read_stack(wait->pid, wait->sp, stack);
    if (len == 0)
        return;
    Sleeper s = {.wait = *wait, .signature = hash_pair(hash_pair(wait->tid, wait->sp), wait->pc)};
    s.wait.stack_len = len;
    s.wait.stack = heap_alloc(len);
    memcpy(s.wait.stack, stack, len);
    vec_push(NULL, &w->sleepers, s);
    t->signature = s.signature;
}

static void name_sleepers(Waiting *w, Consumer *c)
{
    for (size_t i = 0; i < w->sleepers.len; i++) {
        Sleeper *s = &w->sleepers.at[i];
        proc_waits_name(w, c, &s->wait, s->signature);
        heap_free(s->wait.stack);
    }
    w->sleepers.len = 0;
}

// A thread that sleeps already.
static void begin_asleep(Waiting *w, WaitThread *t, uint32_t tid)
{
    ProcWait wait;
    if (!find_wait(t, tid, &wait))
        return;
    keep_stack(w, t, &wait);
    t->state = WAIT_IS_BLOCKED;
    for (uint32_t i = 0; i < WAIT_SUMS; i++) {
        uint32_t row = (tid + i) & (WAIT_SUMS - 1);
        WaitSum *s = &w->watch.shared->sums[row];
        uint32_t free = 0;
        if (!__atomic_compare_exchange_n(&s->taken, &free, 1, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST))
            continue;
        s->tid = tid;
        s->tgid = t->tgid;
        s->call = t->call;
        s->how = t->how;
        s->object = t->object;
        s->signature = t->signature;
        t->sum = row + 1;
        return;
    }
}

// Whether the programs have added a thread at the same time.
static bool has_another(const Waiting *w, const WaitThread *made, uint32_t tid)
{
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        const WaitThread *t = &w->watch.shared->threads[(tid + i) & (WAIT_THREADS - 1)];
        if (t != made && __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE) == tid)
            return true;
    }
    return false;
}

void waiting_add_thread(Waiting *w, uint32_t tgid, uint32_t tid, bool is_new)
{
    if (w->sampled || tid == 0 || find_thread(w, tid))
        return;
    for (uint32_t i = 0; i < WAIT_PROBES; i++) {
        WaitThread *t = &w->watch.shared->threads[(tid + i) & (WAIT_THREADS - 1)];
        const uint32_t being_made = UINT32_MAX;
        uint32_t free = 0;
        if (!__atomic_compare_exchange_n(&t->tid, &free, being_made, false, __ATOMIC_SEQ_CST,
                                         __ATOMIC_SEQ_CST))
            continue;
        if (find_thread(w, tid)) { // the programs have added it meanwhile
            __atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
            return;
        }
        *t = (WaitThread){.tid = being_made,
                          .tgid = tgid,
                          .state = is_new ? WAIT_IS_NEW : WAIT_IS_RUNNING,
                          .since_ns = (uint64_t)os_monotonic_ns()};
        uint64_t since_ns = t->since_ns;
        if (!is_new)
            begin_asleep(w, t, tid);
        __atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
        if (has_another(w, t, tid))
            __atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
        else if (!is_new)
            vec_push(NULL, &w->added, (AddedThread){tgid, tid, since_ns});
        return;
    }
    w->counts.no_room++;
}

void waiting_add_metrics(Waiting *w, Profile *p)
{
    w->profile = p;
    for (int i = WAIT_RUNNABLE; i < WAIT_CLASS_COUNT; i++)
        w->metrics[i] = profile_add_metric(p, str_from_c(wait_class_name((WaitClass)i)), STR("ns"),
                                           METRIC_SUM, STR("waiting"));
    w->wall = profile_add_metric(p, STR("wall time"), STR("ns"), METRIC_SUM, STR("wall time"));
    FunctionId name = profile_function(p, STR("[waits for a processor]"), STR(""), STR(""), 0);
    FrameId frame =
        profile_named_frame(p, (ModuleId){0}, 0, name, profile_str(p, STR("")), 0, FRAME_EXACT);
    w->preempted = profile_stack(p, (StackId){0}, frame);
}

MetricId waiting_wall_metric(const Waiting *w)
{
    return w->wall;
}

// ---- Records ----------------------------------------------------------------------------

static uint64_t hash_of(uint32_t tid, uint64_t signature, uint64_t object, uint32_t call,
                        uint32_t how)
{
    return hash_pair(hash_pair(signature, object), (uint64_t)tid << 32 | call << 8 | how);
}

// The stack of a signature; a stack that says that there is none when it did not arrive.
static StackId stack_of(Waiting *w, uint64_t signature)
{
    StackId stack = {0};
    if (!waiting_find_sent(w, signature, &stack))
        stack = profile_stack(w->profile, (StackId){0},
                              profile_cut_frame(w->profile, STACK_CUT_NO_USER));
    return stack;
}

// Tells the programs where the code of a process lies, so that they hash fewer words.
static void set_code(Waiting *w, Consumer *c, uint32_t tgid, uint64_t exec_pages)
{
    WaitProcess *free = NULL, *p = NULL;
    for (uint32_t i = 0; i < WAIT_PROBES && !p; i++) {
        WaitProcess *entry = &w->watch.shared->processes[(tgid + i) & (WAIT_PROCESSES - 1)];
        if (entry->tgid == tgid)
            p = entry;
        else if (entry->tgid == 0 && !free)
            free = entry;
    }
    p = p ? p : free;
    if (!p || (p->tgid == tgid && p->exec_pages == exec_pages))
        return;
    CodeRanges r = consumer_code(c, tgid);
    if (r.low_size + r.high_size == 0)
        return;
    __atomic_store_n(&p->exec_pages, 0, __ATOMIC_SEQ_CST);
    p->low = r.low;
    p->low_size = r.low_size;
    p->high = r.high;
    p->high_size = r.high_size;
    __atomic_store_n(&p->tgid, tgid, __ATOMIC_SEQ_CST);
    __atomic_store_n(&p->exec_pages, exec_pages, __ATOMIC_SEQ_CST);
}

static void on_dump(Waiting *w, Consumer *c, Bytes raw)
{
    WaitDump head;
    StackId stack;
    if (raw.len < offsetof(WaitDump, stack))
        return;
    memcpy(&head, raw.ptr, offsetof(WaitDump, stack));
    size_t room = raw.len - offsetof(WaitDump, stack);
    CopiedStack s = {.pid = head.tgid,
                     .tid = head.tid,
                     .bytes = bytes_over(raw.ptr + offsetof(WaitDump, stack),
                                         MIN((size_t)head.size, room) / 8 * 8)};
    s.regs_mask = regs_from_pt_regs(head.regs, s.regs);
    uint64_t base;
    StackCut cut = consumer_unwind(c, &s, &stack, &base);
    w->counts.stacks++;
    w->counts.complete += cut == STACK_CUT_NONE;
    StackId known;
    if (!waiting_find_sent(w, head.signature, &known)) {
        table_insert(&w->by_signature, head.signature, (uint32_t)w->sent.len);
        vec_push(NULL, &w->sent, (Sent){head.signature, stack});
    }
    set_code(w, c, head.tgid, head.exec_pages);
    WaitThread *t = find_thread(w, head.tid);
    if (t && base)
        __atomic_store_n(&t->base, base, __ATOMIC_RELAXED);
}

static Reason reason_of(Waiting *w, Consumer *c, const WaitRecord *r)
{
    return waiting_need_reason(w, c, r->tgid, r->call, r->how, r->object,
                               hash_of(r->tid, r->signature, r->object, r->call, r->how));
}

static void on_wait(Waiting *w, Consumer *c, const WaitRecord *r)
{
    if (r->how & WAIT_HOW_PREEMPTED) {
        profile_add_state(w->profile, &(StateRow){.thread = consumer_thread(c, r->tgid, r->tid),
                                                  .start_ns = consumer_time(c, r->start_ns),
                                                  .woken_ns = consumer_time(c, r->start_ns),
                                                  .end_ns = consumer_time(c, r->end_ns),
                                                  .state = WAIT_RUNNABLE,
                                                  .stack = w->preempted});
        return;
    }
    Reason reason = reason_of(w, c, r);
    StateRow row = {.thread = consumer_thread(c, r->tgid, r->tid),
                    .start_ns = consumer_time(c, r->start_ns),
                    .woken_ns = consumer_time(c, r->woken_ns),
                    .end_ns = consumer_time(c, r->end_ns),
                    .state = reason.class,
                    .object = reason.object,
                    .stack = stack_of(w, r->signature)};
    // Threads that are not watched have no row.
    if (r->waker_how == WAIT_WOKEN_TASK && r->waker_tgid) {
        row.waker = consumer_thread(c, r->waker_tgid, r->waker).v + 1;
        StackId stack;
        if (r->waker_signature && waiting_find_sent(w, r->waker_signature, &stack))
            row.waker_stack = stack;
    }
    profile_add_state(w->profile, &row);
}

// A thread begins. The thread that made it woke it, so that a chain of wakers does not end here;
// the state is as short as can be, because the thread did not exist before.
static void on_begin(Waiting *w, Consumer *c, const WaitRecord *r)
{
    ThreadMoment begin = {consumer_thread(c, r->tgid, r->tid), consumer_time(c, r->end_ns)};
    vec_push(NULL, &w->starts, begin);
    if (r->waker == 0)
        return;
    profile_add_state(w->profile,
                      &(StateRow){.thread = begin.thread,
                                  .start_ns = begin.time_ns - 1,
                                  .woken_ns = begin.time_ns,
                                  .end_ns = begin.time_ns,
                                  .state = WAIT_RUNNABLE,
                                  .stack = w->preempted,
                                  .waker = consumer_thread(c, r->waker_tgid, r->waker).v + 1});
}

// ---- Sums -------------------------------------------------------------------------------

// Adds the time in which a thread ran, and in which it could have.
static void add_running(Waiting *w, Consumer *c, uint32_t tgid, uint32_t tid, uint64_t running_ns,
                        uint64_t preempted_ns)
{
    ThreadId thread = consumer_thread(c, tgid, tid);
    Sum *s = waiting_need_sum(w, thread, (StackId){0}, WAIT_RUNNING, (StrId){0});
    s->row.count++;
    s->row.blocked_ns += running_ns;
    if (preempted_ns == 0)
        return;
    s = waiting_need_sum(w, thread, w->preempted, WAIT_RUNNABLE, (StrId){0});
    s->row.count++;
    s->row.blocked_ns += preempted_ns;
}

// Takes a row of the shared table over, with `more` ns of a wait that has not ended.
static void take_sum(Waiting *w, Consumer *c, const WaitSum *from, uint64_t more_blocked,
                     uint64_t more_runnable)
{
    uint64_t hash = hash_of(from->tid, from->signature, from->object, from->call, from->how);
    Reason reason =
        waiting_need_reason(w, c, from->tgid, from->call, from->how, from->object, hash);
    Sum *s = waiting_need_sum(w, consumer_thread(c, from->tgid, from->tid),
                              stack_of(w, from->signature), reason.class, reason.object);
    s->row.count += from->count + (more_blocked || more_runnable);
    s->row.blocked_ns += from->blocked_ns + more_blocked;
    s->row.runnable_ns += from->runnable_ns + more_runnable;
    uint64_t longest = MAX(from->longest_ns, more_blocked + more_runnable);
    s->row.longest_ns = MAX(s->row.longest_ns, longest);
    for (int i = 0; i < WAIT_BUCKETS; i++)
        s->buckets[i] += from->buckets[i];
}

// Gives entries of threads that have ended back, before the table is full.
static void free_sums(Waiting *w, Consumer *c)
{
    WaitShared *shared = w->watch.shared;
    if (shared->counts.sums - w->freed < WAIT_SUMS / 4)
        return;
    uint64_t freed = 0;
    for (size_t i = 0; i < WAIT_SUMS; i++) {
        WaitSum *s = &shared->sums[i];
        if (!s->taken || s->tid == 0 || find_thread(w, s->tid))
            continue;
        take_sum(w, c, s, 0, 0);
        *s = (WaitSum){.taken = 1};
        __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
        freed++;
    }
    w->freed += freed;
}

void waiting_record(Waiting *w, Consumer *c, Bytes raw)
{
    uint32_t kind = 0;
    WaitRecord r;
    name_sleepers(w, c);
    if (raw.len >= sizeof(kind))
        memcpy(&kind, raw.ptr, sizeof(kind));
    if (kind == WAIT_RECORD_DUMP) {
        on_dump(w, c, raw);
        return;
    }
    if (raw.len < sizeof(r))
        return;
    memcpy(&r, raw.ptr, sizeof(r));
    if (kind == WAIT_RECORD_FIRST) {
        (void)reason_of(w, c, &r);
    } else if (kind == WAIT_RECORD_WAIT) {
        on_wait(w, c, &r);
    } else if (kind == WAIT_RECORD_BEGIN) {
        on_begin(w, c, &r);
    } else if (kind == WAIT_RECORD_END) {
        add_running(w, c, r.tgid, r.tid, r.running_ns, r.preempted_ns);
        vec_push(NULL, &w->ends,
                 (ThreadMoment){consumer_thread(c, r.tgid, r.tid), consumer_time(c, r.end_ns)});
        free_sums(w, c);
    }
}

// ---- The end ------------------------------------------------------------------------------

// A wait that has not ended: pictures would else show that the thread ran.
static void add_open_wait(Waiting *w, Consumer *c, const WaitSum *s, uint64_t since_ns,
                          uint64_t woken_ns, uint64_t end_ns)
{
    uint64_t hash = hash_of(s->tid, s->signature, s->object, s->call, s->how);
    Reason reason = waiting_need_reason(w, c, s->tgid, s->call, s->how, s->object, hash);
    profile_add_state(w->profile,
                      &(StateRow){.thread = consumer_thread(c, s->tgid, s->tid),
                                  .start_ns = consumer_time(c, since_ns),
                                  .woken_ns = consumer_time(c, woken_ns ? woken_ns : end_ns),
                                  .end_ns = consumer_time(c, end_ns),
                                  .state = reason.class,
                                  .object = reason.object,
                                  .stack = stack_of(w, s->signature)});
}

// A thread that has not ended.
static void take_thread(Waiting *w, Consumer *c, const WaitThread *t, uint64_t end_ns)
{
    if (t->state == WAIT_IS_NEW)
        return;
    uint64_t left = end_ns > t->since_ns && t->since_ns ? end_ns - t->since_ns : 0;
    add_running(w, c, t->tgid, t->tid, t->running_ns + (t->state == WAIT_IS_RUNNING ? left : 0),
                t->preempted_ns + (t->state == WAIT_IS_PREEMPTED ? left : 0));
    if (t->state != WAIT_IS_BLOCKED)
        return;
    WaitSum s = {.tid = t->tid,
                 .tgid = t->tgid,
                 .signature = t->signature,
                 .object = t->object,
                 .call = t->call,
                 .how = t->how};
    uint64_t woken = t->woken_ns > t->since_ns ? MIN(t->woken_ns, end_ns) : 0;
    uint64_t runnable = woken ? end_ns - woken : 0;
    take_sum(w, c, &s, left - MIN(runnable, left), runnable);
    if (left >= w->min_wait_ns && left > 0)
        add_open_wait(w, c, &s, t->since_ns, woken, end_ns);
}

static void add_rows(Waiting *w)
{
    Profile *p = w->profile;
    for (size_t i = 0; i < w->sums.len; i++) {
        const Sum *s = &w->sums.at[i];
        uint32_t wait = profile_add_wait(p, &s->row);
        for (uint32_t b = 0; b < WAIT_BUCKETS; b++)
            if (s->buckets[b])
                profile_add_wait_time(p, wait, b + 2 * WAIT_BUCKET_FIRST, s->buckets[b]);
        if (s->row.state == WAIT_RUNNING)
            continue;
        size_t row = profile_add_sample(p, TIME_NONE, s->row.thread, s->row.stack, SAMPLE_CPU_NONE);
        bool runnable = s->row.state == WAIT_RUNNABLE;
        profile_sample_set(p, row, w->metrics[s->row.state], (int64_t)s->row.blocked_ns);
        if (!runnable)
            profile_sample_set(p, row, w->metrics[WAIT_RUNNABLE], (int64_t)s->row.runnable_ns);
        profile_sample_set(p, row, w->wall, (int64_t)(s->row.blocked_ns + s->row.runnable_ns));
    }
}

// [thread] the first row of the profile with its number: an exec begins another row.
static uint32_t *first_rows(const Profile *p)
{
    uint32_t *first = heap_alloc((p->threads.tid.len + 1) * sizeof(*first));
    Table by_tid = {0};
    for (uint32_t i = 0; i < p->threads.tid.len; i++) {
        uint64_t hash = hash_u64(p->threads.tid.at[i]);
        uint32_t row = i;
        bool known = false;
        for (TableProbe probe = table_probe(&by_tid, hash); table_next(&by_tid, &probe, &row);)
            if ((known = p->threads.tid.at[row] == p->threads.tid.at[i]))
                break;
        first[i] = known ? row : i;
        if (!known)
            table_insert(&by_tid, hash, i);
    }
    table_deinit(&by_tid);
    return first;
}

// By how much the classes miss the time from the first to the last of the threads.
static double missing_ratio(const Waiting *w, int64_t end_ns)
{
    const Profile *p = w->profile;
    size_t rows = p->threads.tid.len;
    uint32_t *first = first_rows(p);
    double *sums = heap_alloc((rows + 1) * sizeof(*sums));
    double *lives = heap_alloc((rows + 1) * sizeof(*lives));
    double missing = 0, all = 0;
    for (size_t i = 0; i < w->sums.len; i++)
        sums[first[w->sums.at[i].row.thread.v]] +=
            (double)w->sums.at[i].row.blocked_ns + (double)w->sums.at[i].row.runnable_ns;
    for (size_t i = 0; i < rows; i++)
        if (first[i] == i && sums[i] > 0)
            lives[i] = (double)(end_ns - MAX(p->threads.start_ns.at[i], (int64_t)0));
    // A number may have had several lives, of threads one after the other.
    for (size_t i = 0; i < w->starts.len; i++)
        lives[first[w->starts.at[i].thread.v]] = 0;
    for (size_t i = 0; i < w->starts.len; i++)
        lives[first[w->starts.at[i].thread.v]] += (double)(end_ns - w->starts.at[i].time_ns);
    for (size_t i = 0; i < w->ends.len; i++)
        lives[first[w->ends.at[i].thread.v]] -= (double)(end_ns - w->ends.at[i].time_ns);
    for (size_t i = 0; i < rows; i++) {
        missing += lives[i] > sums[i] ? lives[i] - sums[i] : sums[i] - lives[i];
        all += lives[i];
    }
    heap_free(first);
    heap_free(sums);
    heap_free(lives);
    return all > 0 ? missing / all : 0;
}

static void add_open(Waiting *w, Consumer *c, const WaitThread *t, uint64_t end_ns)
{
    bool is_blocked = t->state == WAIT_IS_BLOCKED;
    if ((!is_blocked && t->state != WAIT_IS_PREEMPTED) || !t->since_ns || t->since_ns >= end_ns)
        return;
    StateRow row = {.thread = consumer_thread(c, t->tgid, t->tid),
                    .start_ns = consumer_time(c, t->since_ns),
                    .woken_ns = consumer_time(c, t->since_ns),
                    .end_ns = consumer_time(c, end_ns),
                    .state = WAIT_RUNNABLE,
                    .stack = w->preempted};
    if (is_blocked) {
        uint64_t hash = hash_of(t->tid, t->signature, t->object, t->call, t->how);
        Reason r = waiting_need_reason(w, c, t->tgid, t->call, t->how, t->object, hash);
        uint64_t woken = t->woken_ns > t->since_ns ? MIN(t->woken_ns, end_ns) : end_ns;
        row.woken_ns = consumer_time(c, woken);
        row.state = r.class;
        row.object = r.object;
        row.stack = stack_of(w, t->signature);
    }
    profile_add_state(w->profile, &row);
}

void waiting_add_open(Waiting *w, Consumer *c, uint64_t end_ns)
{
    name_sleepers(w, c);
    for (size_t i = 0; !w->sampled && i < WAIT_THREADS; i++)
        if (w->watch.shared->threads[i].tid)
            add_open(w, c, &w->watch.shared->threads[i], end_ns);
}

static void count_losses(Waiting *w)
{
    const WaitShared *shared = w->watch.shared;
    w->counts.switches = shared->counts.switches;
    w->counts.lost = shared->counts.lost_dumps + shared->counts.lost_records;
    w->counts.no_room += shared->counts.no_thread + shared->counts.no_sum;
}

void waiting_finish(Waiting *w, Consumer *c, uint64_t end_ns, bool with_sums, WaitingCounts *ret)
{
    if (w->sampled) {
        proc_waits_finish(w, c);
        if (with_sums) {
            add_rows(w);
            w->counts.missing_ratio = missing_ratio(w, consumer_time(c, end_ns));
        }
        *ret = w->counts;
        return;
    }
    const WaitShared *shared = w->watch.shared;
    name_sleepers(w, c);
    if (!with_sums) {
        waiting_add_open(w, c, end_ns);
        count_losses(w);
        *ret = w->counts;
        return;
    }
    for (size_t i = 0; i < w->added.len; i++) {
        const AddedThread *t = &w->added.at[i];
        vec_push(
            NULL, &w->starts,
            (ThreadMoment){consumer_thread(c, t->tgid, t->tid), consumer_time(c, t->since_ns)});
    }
    for (size_t i = 0; i < WAIT_THREADS; i++)
        if (shared->threads[i].tid)
            take_thread(w, c, &shared->threads[i], end_ns);
    for (size_t i = 0; i < WAIT_SUMS; i++)
        if (shared->sums[i].taken)
            take_sum(w, c, &shared->sums[i], 0, 0);
    add_rows(w);
    count_losses(w);
    w->counts.missing_ratio = missing_ratio(w, consumer_time(c, end_ns));
    *ret = w->counts;
}
