// SPDX-License-Identifier: Apache-2.0
// Sums of waits by class, object and place.

#include "analyse/waits.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>

// Numbers from a file.
static WaitClass state_of(uint8_t number)
{
    return number < WAIT_CLASS_COUNT ? (WaitClass)number : WAIT_OTHER;
}

// ---- Places -----------------------------------------------------------------------------

static bool starts_with_any(Str name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts_with(name, str_from_c(list[i])))
            return true;
    return false;
}

// Of a program, or of a library that is not part of the system's threads and calls.
static bool is_program_frame(const Profile *p, FrameId frame)
{
    static const char *const system[] = {"libc.so",   "libc-",    "libpthread", "ld-",
                                         "libstdc++", "libgcc_s", "[vdso]"};
    ModuleId module = p->frames.module.at[frame.v];
    if (p->frames.flags.at[frame.v] & (FRAME_KERNEL | FRAME_CUT) || module.v == 0)
        return false;
    Str path = profile_text(p, p->modules.path.at[module.v]);
    size_t slash = str_find_last_char(path, '/');
    Str name = slash == SIZE_MAX ? path : str_slice(path, slash + 1, path.len);
    return !starts_with_any(name, system, ARRAY_LEN(system));
}

StackId wait_program_stack(const Profile *p, StackId stack)
{
    StackId s = stack;
    while (s.v && !is_program_frame(p, p->stacks.frame.at[s.v]))
        s = p->stacks.parent.at[s.v];
    return s;
}

WaitPlace wait_place(const Profile *p, StackId stack)
{
    StackId s = wait_program_stack(p, stack);
    if (s.v == 0)
        return (WaitPlace){0};
    FrameId frame = p->stacks.frame.at[s.v];
    return (WaitPlace){frame, p->frames.file.at[frame.v], p->frames.line.at[frame.v]};
}

bool wait_is_library_file(Str file)
{
    return str_starts_with(file, STR("/usr/include/")) ||
           str_find(file, STR("/include/c++/")) != SIZE_MAX ||
           str_starts_with(file, STR("/rustc/"));
}

// Whether a frame is one of a program in Java, JavaScript or Python, and not of the libraries that
// its language comes with.
static bool is_script_frame(const Profile *p, FrameId frame)
{
    static const char *const java[] = {"java.", "javax.", "jdk.", "sun."};
    Str module = profile_text(p, p->modules.path.at[p->frames.module.at[frame.v].v]);
    Str file = profile_text(p, p->frames.file.at[frame.v]);
    Str name = profile_text(p, p->functions.name.at[p->frames.function.at[frame.v].v]);
    if (str_equal(module, STR("[Java]")))
        return !starts_with_any(name, java, ARRAY_LEN(java)) && file.len;
    if (str_equal(module, STR("[JavaScript]")))
        return file.len && !str_starts_with(file, STR("node:"));
    return str_equal(module, STR("[Python]")) && file.len && file.ptr[0] != '<' &&
           str_find(file, STR("/lib/python")) == SIZE_MAX;
}

// The innermost of these frames; 0: there is none.
static FrameId script_frame(const Profile *p, StackId stack)
{
    for (StackId s = stack; s.v; s = p->stacks.parent.at[s.v])
        if (is_script_frame(p, p->stacks.frame.at[s.v]))
            return p->stacks.frame.at[s.v];
    return (FrameId){0};
}

WaitPlace wait_own_place(const Profile *p, StackId stack)
{
    enum { FRAMES_MAX = 16 };
    size_t seen = 0;
    FrameId script = script_frame(p, stack);
    if (script.v)
        return (WaitPlace){script, p->frames.file.at[script.v], p->frames.line.at[script.v]};
    for (StackId s = wait_program_stack(p, stack); s.v; s = p->stacks.parent.at[s.v]) {
        if (!is_program_frame(p, p->stacks.frame.at[s.v]))
            break;
        for (FrameId f = p->stacks.frame.at[s.v]; f.v && seen < FRAMES_MAX;
             f = p->frames.inlined_in.at[f.v], seen++)
            if (!wait_is_library_file(profile_text(p, p->frames.file.at[f.v])))
                return (WaitPlace){f, p->frames.file.at[f.v], p->frames.line.at[f.v]};
    }
    return wait_place(p, stack);
}

void wait_place_add(const Profile *p, WaitPlace place, StrBuf *out)
{
    FunctionId function = p->frames.function.at[place.frame.v];
    Str name = profile_text(p, p->functions.name.at[function.v]);
    if (place.frame.v == 0 || name.len == 0) {
        strbuf_add(out, STR("[unknown]"));
        return;
    }
    strbuf_add_terminal(out, name);
    Str file = profile_text(p, place.file);
    size_t slash = str_find_last_char(file, '/');
    if (slash != SIZE_MAX)
        file = str_slice(file, slash + 1, file.len);
    if (file.len == 0 || place.line == 0)
        return;
    strbuf_add(out, STR(" ("));
    strbuf_add_terminal(out, file);
    strbuf_printf(out, ":%u)", place.line);
}

// ---- Idle threads -------------------------------------------------------------------------

static Str frame_name(const Profile *p, FrameId frame)
{
    return profile_text(p, p->functions.name.at[p->frames.function.at[frame.v].v]);
}

// Functions of the C library that threads without work sleep in.
static bool is_idle_call(Str name)
{
    static const char *const loops[] = {"epoll_wait",
                                        "epoll_pwait",
                                        "__poll",
                                        "poll",
                                        "ppoll",
                                        "__select",
                                        "select",
                                        "pselect",
                                        "pause",
                                        "__libc_pause",
                                        "sigwait",
                                        "sigtimedwait",
                                        "__sigtimedwait",
                                        "sigsuspend",
                                        "accept",
                                        "__libc_accept",
                                        "accept4",
                                        "pthread_join",
                                        "__pthread_clockjoin_ex"};
    for (size_t i = 0; i < ARRAY_LEN(loops); i++)
        if (str_equal(name, str_from_c(loops[i])))
            return true;
    return false;
}

bool wait_is_join(const Profile *p, StackId stack)
{
    for (StackId s = stack; s.v; s = p->stacks.parent.at[s.v]) {
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v])
            if (str_find(frame_name(p, f), STR("pthread_")) != SIZE_MAX &&
                str_find(frame_name(p, f), STR("join")) != SIZE_MAX)
                return true;
        if (is_program_frame(p, p->stacks.frame.at[s.v]))
            return false;
    }
    return false;
}

// A wait for a condition: of a worker that has nothing to do, when it is near the start of its
// thread.
static bool is_condition(Str name)
{
    return str_find(name, STR("pthread_cond_")) != SIZE_MAX ||
           str_find(name, STR("sem_wait")) != SIZE_MAX ||
           str_find(name, STR("sem_timedwait")) != SIZE_MAX;
}

// Whether the C library's function that waits is one for a condition: nobody holds that.
static bool is_for_condition(const Profile *p, StackId stack)
{
    for (StackId s = stack; s.v; s = p->stacks.parent.at[s.v]) {
        if (is_program_frame(p, p->stacks.frame.at[s.v]))
            return false;
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v])
            if (is_condition(frame_name(p, f)))
                return true;
    }
    return false;
}

bool wait_is_idle(const Profile *p, WaitClass state, StackId stack)
{
    enum { WORKER_FRAMES = 3 };
    bool condition = false, is_jvm = false;
    uint32_t program_frames = 0;
    if (state != WAIT_LOCK && state != WAIT_NETWORK && state != WAIT_SLEEP)
        return false;
    for (StackId s = stack; s.v; s = p->stacks.parent.at[s.v]) {
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v]) {
            Str name = frame_name(p, f);
            if (program_frames == 0 && is_idle_call(name))
                return true;
            condition |= program_frames == 0 && is_condition(name);
            is_jvm |= str_starts_with(name, STR("thread_native_entry"));
        }
        program_frames += is_program_frame(p, p->stacks.frame.at[s.v]);
        if (program_frames && !condition)
            return false;
    }
    // Threads of the Java virtual machine's own, and workers of pools of Java's library.
    if (condition && is_jvm && script_frame(p, stack).v == 0)
        return true;
    return condition && program_frames <= WORKER_FRAMES;
}

// Whether the innermost functions of the program take the lock of Python's interpreter. In
// interpreters without symbols of their own functions only the exported ones have names.
static bool takes_python_lock(const Profile *p, StackId stack)
{
    static const char *const takers[] = {"take_gil", "PyEval_RestoreThread", "PyEval_AcquireThread",
                                         "PyEval_AcquireLock", "_PyThreadState_Attach"};
    enum { INNERMOST = 3 };
    uint32_t program_frames = 0;
    for (StackId s = stack; s.v && program_frames < INNERMOST; s = p->stacks.parent.at[s.v]) {
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v])
            for (size_t i = 0; i < ARRAY_LEN(takers); i++)
                if (str_equal(frame_name(p, f), str_from_c(takers[i])))
                    return true;
        program_frames += is_program_frame(p, p->stacks.frame.at[s.v]);
    }
    return false;
}

static StrId with_python_lock(Profile *p, WaitClass state, StrId object, StackId stack)
{
    // Up to Python 3.12 no other lock of the interpreter's own object is waited for that long.
    bool is_own = str_starts_with(profile_text(p, object), STR("_PyRuntime+"));
    return state == WAIT_LOCK && (is_own || takes_python_lock(p, stack))
               ? profile_str(p, STR(WAIT_PYTHON_LOCK))
               : object;
}

void waits_name_python_lock(Profile *p)
{
    for (size_t i = 0; i < p->waits.thread.len; i++)
        p->waits.object.at[i] = with_python_lock(p, state_of(p->waits.state.at[i]),
                                                 p->waits.object.at[i], p->waits.stack.at[i]);
    for (size_t i = 0; i < p->states.thread.len; i++)
        p->states.object.at[i] = with_python_lock(p, state_of(p->states.state.at[i]),
                                                  p->states.object.at[i], p->states.stack.at[i]);
}

// ---- Totals -------------------------------------------------------------------------------

static void add_to_totals(const Profile *p, size_t row, WaitTotals *t)
{
    const Waits *w = &p->waits;
    WaitClass state = state_of(w->state.at[row]);
    if (wait_is_idle(p, state, w->stack.at[row]))
        t->idle += w->blocked_ns.at[row];
    else
        t->of[state] += w->blocked_ns.at[row];
    t->of[WAIT_RUNNABLE] += w->runnable_ns.at[row];
    t->all += w->blocked_ns.at[row] + w->runnable_ns.at[row];
    t->threads += state == WAIT_RUNNING;
}

WaitTotals wait_totals(const Profile *p)
{
    WaitTotals t = {0};
    for (size_t i = 0; i < p->waits.thread.len; i++)
        add_to_totals(p, i, &t);
    return t;
}

// ---- Tables -------------------------------------------------------------------------------

typedef struct PlaceTime {
    uint32_t line; // row of the table
    bool is_other; // of those who ended waits
    WaitPlace place;
    uint64_t ns;
} PlaceTime;

typedef struct LineTable {
    const Profile *p;
    WaitBy by;
    WaitLineVec lines;
    Table by_key, by_place;
    Vec(PlaceTime) places;
    U32Vec line_of; // [row of waits] 1 + row of the table; 0: none
} LineTable;

// Whether a row has the given key. Locks without a name are told apart by the place of the wait.
static bool is_kept(WaitBy by, WaitClass state)
{
    switch (by) {
    case WAIT_BY_CLASS:
        return true;
    case WAIT_BY_LOCK:
        return state == WAIT_LOCK;
    case WAIT_BY_FILE:
        return state == WAIT_DISK || state == WAIT_NETWORK;
    case WAIT_BY_WAKER:
        return state != WAIT_RUNNING && state != WAIT_RUNNABLE;
    }
    return false;
}

static WaitLine *need_line(LineTable *t, WaitClass state, StrId object, WaitPlace place)
{
    // An object without a name is known by its place.
    uint64_t hash = hash_pair((uint64_t)state << 32 | object.v, object.v ? 0 : place.frame.v);
    uint32_t row;
    for (TableProbe probe = table_probe(&t->by_key, hash); table_next(&t->by_key, &probe, &row);) {
        WaitLine *l = &t->lines.at[row];
        if (l->state == state && l->object.v == object.v &&
            (object.v || t->by == WAIT_BY_CLASS || l->place.frame.v == place.frame.v))
            return l;
    }
    table_insert(&t->by_key, hash, (uint32_t)t->lines.len);
    vec_push(NULL, &t->lines, (WaitLine){.state = state, .object = object, .place = place});
    return &vec_last(&t->lines);
}

static void add_place(LineTable *t, uint32_t line, bool is_other, WaitPlace place, uint64_t ns)
{
    uint64_t hash = hash_pair((uint64_t)line << 1 | is_other, place.frame.v);
    uint32_t row;
    for (TableProbe probe = table_probe(&t->by_place, hash);
         table_next(&t->by_place, &probe, &row);) {
        PlaceTime *time = &t->places.at[row];
        if (time->line == line && time->is_other == is_other &&
            time->place.frame.v == place.frame.v) {
            time->ns += ns;
            return;
        }
    }
    table_insert(&t->by_place, hash, (uint32_t)t->places.len);
    vec_push(NULL, &t->places, (PlaceTime){line, is_other, place, ns});
}

static StrId none(void)
{
    return (StrId){0};
}

static void add_sums(LineTable *t, bool with_idle)
{
    const Waits *w = &t->p->waits;
    (void)vec_extend(NULL, &t->line_of, w->thread.len);
    for (size_t i = 0; i < w->thread.len; i++) {
        WaitClass state = state_of(w->state.at[i]);
        if (!is_kept(t->by, state) || (!with_idle && wait_is_idle(t->p, state, w->stack.at[i])))
            continue;
        WaitPlace place = wait_own_place(t->p, w->stack.at[i]);
        bool by_class = t->by == WAIT_BY_CLASS;
        WaitLine *l = need_line(t, state, by_class ? none() : w->object.at[i],
                                by_class ? (WaitPlace){0} : place);
        l->count += w->count.at[i];
        l->total_ns += w->blocked_ns.at[i];
        l->longest_ns = MAX(l->longest_ns, w->longest_ns.at[i]);
        uint32_t row = (uint32_t)(l - t->lines.at);
        t->line_of.at[i] = row + 1;
        add_place(t, row, false, place, w->blocked_ns.at[i]);
        if (w->runnable_ns.at[i] && by_class)
            need_line(t, WAIT_RUNNABLE, none(), (WaitPlace){0})->total_ns += w->runnable_ns.at[i];
    }
}

// The row of the table of a single wait: that of its class and object. SIZE_MAX: none.
static size_t line_of_state(const LineTable *t, size_t state)
{
    const States *s = &t->p->states;
    WaitPlace place = wait_own_place(t->p, s->stack.at[state]);
    for (size_t i = 0; i < t->lines.len; i++) {
        const WaitLine *l = &t->lines.at[i];
        if ((uint8_t)l->state != s->state.at[state])
            continue;
        if (t->by == WAIT_BY_CLASS || (l->object.v == s->object.at[state].v &&
                                       (l->object.v || l->place.frame.v == place.frame.v)))
            return i;
    }
    return SIZE_MAX;
}

// The waits of each thread for locks: those of thread t are row[first[t]] to row[first[t + 1] - 1],
// in the order of their ends.
typedef struct LockWaits {
    uint32_t *first, *row;
} LockWaits;

static LockWaits lock_waits(const Profile *p)
{
    const States *s = &p->states;
    size_t threads = p->threads.tid.len;
    LockWaits w = {heap_alloc((threads + 2) * sizeof(uint32_t)),
                   heap_alloc((s->thread.len + 1) * sizeof(uint32_t))};
    for (size_t i = 0; i < s->thread.len; i++)
        w.first[s->thread.at[i].v + 1] += s->state.at[i] == WAIT_LOCK;
    for (size_t i = 0; i < threads; i++)
        w.first[i + 1] += w.first[i];
    uint32_t *next = heap_alloc((threads + 1) * sizeof(uint32_t));
    memcpy(next, w.first, threads * sizeof(uint32_t));
    for (size_t i = 0; i < s->thread.len; i++)
        if (s->state.at[i] == WAIT_LOCK)
            w.row[next[s->thread.at[i].v]++] = (uint32_t)i;
    heap_free(next);
    return w;
}

// The last wait of a thread for a lock that ended before `time`. SIZE_MAX: it did not wait for it.
static size_t wait_before(const LineTable *t, const LockWaits *w, uint32_t thread, StrId lock,
                          int64_t time)
{
    const States *s = &t->p->states;
    uint32_t low = w->first[thread], high = w->first[thread + 1], first = low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->woken_ns.at[w->row[middle]] < time)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > first && s->object.at[w->row[low - 1]].v != lock.v)
        low--;
    return low > first ? w->row[low - 1] : SIZE_MAX;
}

// Who held a lock while one thread waited for it. The thread that ended the wait had the lock since
// its own wait for it ended; before, the thread that ended that one had it, and so on.
static uint64_t add_holders(LineTable *t, const LockWaits *w, uint32_t line, size_t wait)
{
    enum { STEPS = 256 };
    const States *s = &t->p->states;
    int64_t from = s->start_ns.at[wait], now = s->woken_ns.at[wait];
    uint64_t sum = 0;
    for (int i = 0; i < STEPS && now > from; i++) {
        uint32_t holder = s->waker.at[wait];
        if (holder == 0 || holder > t->p->threads.tid.len || s->waker_stack.at[wait].v == 0)
            break;
        size_t before = wait_before(t, w, holder - 1, s->object.at[wait], now);
        int64_t since = before == SIZE_MAX ? from : MAX(from, s->woken_ns.at[before]);
        uint64_t ns = (uint64_t)(now - since);
        add_place(t, line, true, wait_own_place(t->p, s->waker_stack.at[wait]), ns);
        sum += ns;
        if (before == SIZE_MAX)
            break;
        now = since;
        wait = before;
    }
    return sum;
}

static void add_wakers(LineTable *t, uint64_t *known)
{
    const States *s = &t->p->states;
    LockWaits locks = lock_waits(t->p);
    for (size_t i = 0; i < s->thread.len; i++) {
        size_t line = s->waker_stack.at[i].v ? line_of_state(t, i) : SIZE_MAX;
        if (line == SIZE_MAX || s->woken_ns.at[i] < s->start_ns.at[i])
            continue;
        uint64_t ns = (uint64_t)(s->woken_ns.at[i] - s->start_ns.at[i]);
        if (t->by == WAIT_BY_LOCK && s->object.at[i].v)
            ns = add_holders(t, &locks, (uint32_t)line, i);
        else
            add_place(t, (uint32_t)line, true, wait_own_place(t->p, s->waker_stack.at[i]), ns);
        known[line] += ns;
    }
    heap_free(locks.first);
    heap_free(locks.row);
}

static void take_places(LineTable *t, const uint64_t *known)
{
    uint64_t *best = heap_alloc((2 * t->lines.len + 1) * sizeof(*best));
    for (size_t i = 0; i < t->places.len; i++) {
        const PlaceTime *time = &t->places.at[i];
        WaitLine *l = &t->lines.at[time->line];
        uint64_t *most = &best[2 * time->line + time->is_other];
        if (time->ns <= *most)
            continue;
        *most = time->ns;
        if (time->is_other) {
            l->other = time->place;
            l->other_share = (double)time->ns / (double)MAX(known[time->line], 1u);
        } else {
            l->place = time->place;
            l->place_ns = time->ns;
        }
    }
    heap_free(best);
}

// The buckets of all waits of a row, ascending.
static void take_times(LineTable *t)
{
    enum { BUCKETS = 128 };
    const WaitTimes *times = &t->p->wait_times;
    uint64_t *counts = heap_alloc((t->lines.len + 1) * BUCKETS * sizeof(*counts));
    for (size_t i = 0; i < times->wait.len; i++) {
        uint32_t line = t->line_of.at[times->wait.at[i]];
        if (line)
            counts[(line - 1) * BUCKETS + MIN(times->bucket.at[i], BUCKETS - 1u)] +=
                times->count.at[i];
    }
    for (size_t i = 0; i < t->lines.len; i++) {
        const uint64_t *c = &counts[i * BUCKETS];
        uint64_t all = 0, seen = 0;
        for (uint32_t b = 0; b < BUCKETS; b++)
            all += c[b];
        for (uint32_t b = 0; b < BUCKETS && all; b++) {
            uint64_t before = seen;
            seen += c[b];
            if (before * 2 < all && seen * 2 >= all)
                t->lines.at[i].p50_ns = wait_bucket_ns(b);
            if (before * 100 < all * 99 && seen * 100 >= all * 99)
                t->lines.at[i].p99_ns = wait_bucket_ns(b);
        }
    }
    heap_free(counts);
}

static int by_time(const void *a, const void *b)
{
    const WaitLine *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return x->object.v < y->object.v ? -1 : x->object.v > y->object.v;
}

// Rows by the place of those who ended waits, from single waits.
static WaitLineVec lines_of_wakers(const Profile *p, bool with_idle)
{
    LineTable t = {.p = p, .by = WAIT_BY_WAKER};
    const States *s = &p->states;
    for (size_t i = 0; i < s->thread.len; i++) {
        WaitClass state = state_of(s->state.at[i]);
        if (state == WAIT_RUNNABLE || s->waker.at[i] == 0 ||
            s->woken_ns.at[i] < s->start_ns.at[i] ||
            (!with_idle && wait_is_idle(p, state, s->stack.at[i])))
            continue;
        WaitPlace waker = wait_own_place(p, s->waker_stack.at[i]);
        uint64_t ns = (uint64_t)(s->woken_ns.at[i] - s->start_ns.at[i]);
        WaitLine *l = need_line(&t, WAIT_OTHER, none(), waker);
        l->other = waker;
        l->count++;
        l->total_ns += ns;
        l->longest_ns = MAX(l->longest_ns, ns);
    }
    table_deinit(&t.by_key);
    WaitLineVec lines = t.lines;
    if (lines.len)
        qsort(lines.at, lines.len, sizeof(lines.at[0]), by_time);
    return lines;
}

WaitLineVec wait_lines(const Profile *p, WaitBy by, bool with_idle)
{
    if (by == WAIT_BY_WAKER)
        return lines_of_wakers(p, with_idle);
    LineTable t = {.p = p, .by = by};
    add_sums(&t, with_idle);
    uint64_t *known = heap_alloc((t.lines.len + 1) * sizeof(*known));
    add_wakers(&t, known);
    take_places(&t, known);
    take_times(&t);
    heap_free(known);
    table_deinit(&t.by_key);
    table_deinit(&t.by_place);
    vec_free(&t.places);
    vec_free(&t.line_of);
    WaitLineVec lines = t.lines;
    if (lines.len)
        qsort(lines.at, lines.len, sizeof(lines.at[0]), by_time);
    return lines;
}

// ---- The first screen -----------------------------------------------------------------------

bool wait_headline(const Profile *p, WaitHeadline *ret)
{
    const double least = 0.1;
    const Waits *w = &p->waits;
    uint64_t *lives = heap_alloc((p->threads.tid.len + 1) * sizeof(*lives));
    size_t best = SIZE_MAX;
    double most = least;
    for (size_t i = 0; i < w->thread.len; i++)
        lives[w->thread.at[i].v] += w->blocked_ns.at[i] + w->runnable_ns.at[i];
    for (size_t i = 0; i < w->thread.len; i++) {
        WaitClass state = state_of(w->state.at[i]);
        if ((state != WAIT_LOCK && state != WAIT_DISK && state != WAIT_NETWORK) ||
            wait_is_idle(p, state, w->stack.at[i]) ||
            (state == WAIT_LOCK && is_for_condition(p, w->stack.at[i])))
            continue;
        // A lock is preferred: a program often waits for other objects by design.
        double share = (double)w->blocked_ns.at[i] / (double)MAX(lives[w->thread.at[i].v], 1u);
        double rank = state == WAIT_LOCK ? share : share / 4;
        if (rank <= most)
            continue;
        most = rank;
        best = i;
        *ret = (WaitHeadline){.thread = w->thread.at[i],
                              .share = share,
                              .state = state,
                              .object = w->object.at[i],
                              .place = wait_own_place(p, w->stack.at[i])};
    }
    heap_free(lives);
    if (best == SIZE_MAX)
        return false;
    WaitLineVec lines = wait_lines(p, ret->state == WAIT_LOCK ? WAIT_BY_LOCK : WAIT_BY_FILE, true);
    for (size_t i = 0; i < lines.len; i++)
        if (lines.at[i].object.v == ret->object.v)
            ret->holder = lines.at[i].other;
    vec_free(&lines);
    return true;
}
