// SPDX-License-Identifier: Apache-2.0
// Turns perf's records into rows of the profile: address spaces, names, stacks.

#include "replay/consumer.h"

#include "base/cursor.h"
#include "base/log.h"
#include "model/stack_cache.h"
#include "os/clock.h"
#include "os/proc.h"
#include "replay/cpu_credit.h"
#include "replay/frame_pointers.h"
#include "replay/known_stacks.h"
#include "replay/live_stack.h"
#include "replay/outer_frames.h"
#include "replay/runtime_frames.h"
#include "unwind/entry_frames.h"
#include "unwind/space.h"
#include "wire/probe_texts.h"
#include "wire/ring.h"

#include <stdio.h>
#include <sys/mman.h>

enum {
    FRAMES_MAX = 1 << 14, // a stack of KNOWN_COPY_MAX bytes has no more
    FRAME_CACHE_SIZE = 1 << 13,
    // Linux allows 65530 mappings in a process. The sum over all processes is limited, too: a file
    // may claim more than any machine had.
    MAPPINGS_MAX = 1 << 16,
    MAPPINGS_IN_ALL_MAX = 1 << 24,
    KNOWN_LARGE = 65536,           // copies that must not be mostly of other stacks
    BASE_WORDS = 8,                // of the outermost frame, above its stack pointer
    CAPTURE_APART_MAX_NS = 200000, // frames that were read before a sample, and the sample
};

typedef struct Process {
    uint32_t pid;
    ProcessId id;
    UnwindSpace space;
    uint64_t samples; // of this row
    uint32_t live_threads;
    uint32_t threads; // row + 1 of the first thread that has not ended as far as is known
    bool ended;
    bool kernel_thread;
    bool in_exec; // its program has not run a user instruction yet
    RuntimeFrames runtimes;
    KnownSpace known;
    uint32_t entries_sought, entries_found; // join_entry
} Process;

typedef struct Thread {
    uint32_t tid;
    uint32_t pid;
    ThreadId id;
    uint32_t next; // row + 1 of another thread of the process
    bool ended;
    OuterFrames *outer;              // the last complete stack; NULL: none so far
    uint64_t outer_look_ns;          // when its frames were looked for in the process
    uint64_t stack_start, stack_end; // the mapping of its stack, for join_outer; 0: not known
    uint32_t stack_looks;            // in /proc, for it
    ThreadCredit credit;
    uint32_t base_searches; // in /proc, for the base of its stack
    CaptureStack *captured; // Python's frames of its next sample; NULL: none so far
    uint64_t captured_ns;   // when; 0: they have been used
    ProbeTexts *texts;      // of its next hit of a probe; NULL: none so far
    uint64_t texts_lost;    // how many records were lost before them
    bool has_texts;         // they have not been used
    Vec(uint8_t) pieces;    // of a large stack that has not come whole; heap memory
} Thread;

// The newest row of a pid or tid, because the kernel reuses these numbers.
typedef struct Newest {
    uint32_t number;
    uint32_t row;
} Newest;

// The outer end of the present sample's stack, of KNOWN_TAIL bytes, whose middle was not copied.
typedef struct StackTail {
    uint64_t at;          // its place in the stack, and with add_unwound its address
    const uint8_t *bytes; // NULL: there is none
} StackTail;

typedef struct ProcessCode {
    Consumer *consumer;
    Process *process;
} ProcessCode;

typedef struct NewestRows {
    Vec(Newest) at; // heap memory
    Table by_number;
} NewestRows;

// An entry of a direct-mapped cache from a pc of an address space to its frame.
typedef struct FrameCacheEntry {
    uint64_t pc;
    uint64_t generation; // of the space; 0: empty
    FrameId frame;
    uint32_t flags;
    bool is_plain; // no runtime has another name for it
} FrameCacheEntry;

typedef struct GroupCount { // the last value of a counter that is read with its leader
    uint64_t id;
    uint32_t tid;
    uint64_t value;
} GroupCount;

struct Consumer {
    Arena arena;
    ConsumerSetup setup;
    Profile *profile; // of setup
    ModuleSet modules;
    Vec(Process *) processes;
    Vec(Thread) threads;
    NewestRows pids, tids;
    uint64_t mappings; // in all spaces
    Arena caches;      // in huge pages
    UnwindCache *cache;
    FrameCacheEntry *frame_cache; // FRAME_CACHE_SIZE of them
    StackCache *stacks;
    KnownStacks *known;             // NULL: all stacks are copied
    CaptureTarget *capture_targets; // NULL: Python's frames are read after the samples
    UnwindFrame walked[FRAMES_MAX];
    bool can_be_known; // the last stack, of which the first `kernel_frames` are the kernel's
    size_t kernel_frames;
    WalkedStack walked_stack; // with can_be_known
    UnwindRegs walked_regs;   // of walked_stack
    UnwindMemory walked_memory;
    uint32_t last_sp_words; // of the outermost frame of the last walk
    LiveStack live_stack;
    int64_t live_bytes;     // that may be read from live stacks: walk_live_stack
    uint64_t live_bytes_at; // the time of the records at which they were counted
    StackTail stack_tail;
    FrameId frames[FRAMES_MAX + 257]; // innermost first
    FrameId exec_callers[4];          // of the kernel, each inside the system call of an exec
    uint32_t exec_caller_count;
    Vec(GroupCount) group_counts;
    Table by_group_count;
    StrId life_name, fork_name, exec_name; // of intervals
    bool has_python;                       // of some process, Python's frames were read
    bool has_scripts;                      // … V8's
    int64_t last_ns;                       // the latest time of a record
    uint64_t record_time; // of the record that is applied, by the clock of the records
    CpuCredits credits;
    ConsumerCounts counts;
};

// ---- Set-up -----------------------------------------------------------------------

Consumer *consumer_open(const ConsumerSetup *setup)
{
    Consumer *c = heap_alloc(sizeof(*c));
    c->setup = *setup;
    c->profile = setup->profile;
    c->caches.huge_pages = !setup->few_stacks;
    c->cache = arena_new(&c->caches, UnwindCache);
    c->frame_cache = arena_array(&c->caches, FrameCacheEntry, FRAME_CACHE_SIZE);
    c->stacks = arena_new(&c->caches, StackCache);
    modules_init(&c->modules, setup->profile, setup->arch, setup->search);
    if (setup->weighed_period_ns)
        credits_init(&c->credits, setup->weighed_period_ns);
    c->life_name = profile_str(c->profile, STR(INTERVAL_THREAD));
    c->fork_name = profile_str(c->profile, STR(INTERVAL_FORK));
    c->exec_name = profile_str(c->profile, STR(INTERVAL_EXEC));
    return c;
}

void consumer_use_programs(Consumer *c, KnownShared *known, CaptureTarget *targets)
{
    if (known)
        c->known = known_stacks_open(known, log_enabled(LOG_UNWIND, 3));
    c->capture_targets = targets;
    for (size_t i = 0; i < c->processes.len; i++)
        c->processes.at[i]->runtimes.targets = targets;
}

static void free_stacks(Thread *t)
{
    outer_frames_free(&t->outer);
    heap_free(t->captured);
    t->captured = NULL;
    t->captured_ns = 0;
    heap_free(t->texts);
    t->texts = NULL;
    vec_free(&t->pieces);
}

void consumer_close(Consumer *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->processes.len; i++) {
        unwind_space_deinit(&c->processes.at[i]->space);
        runtime_frames_deinit(&c->processes.at[i]->runtimes);
    }
    for (size_t i = 0; i < c->threads.len; i++)
        free_stacks(&c->threads.at[i]);
    vec_free(&c->threads);
    vec_free(&c->group_counts);
    vec_free(&c->pids.at);
    vec_free(&c->tids.at);
    table_deinit(&c->pids.by_number);
    table_deinit(&c->tids.by_number);
    table_deinit(&c->by_group_count);
    credits_deinit(&c->credits);
    known_stacks_close(c->known);
    modules_deinit(&c->modules);
    arena_deinit(&c->caches);
    arena_deinit(&c->arena);
    heap_free(c);
}

// Limits the times of a broken file, so that differences of times do not overflow.
static int64_t profile_time(const Consumer *c, uint64_t time)
{
    const int64_t most = INT64_MAX / 4;
    int64_t since;
    if (__builtin_sub_overflow((int64_t)MIN(time, (uint64_t)INT64_MAX), c->setup.start_ns, &since))
        return most;
    return MAX(MIN(since, most), -most);
}

static int64_t since_start(const Consumer *c, uint64_t time)
{
    return time ? profile_time(c, time) : TIME_NONE;
}

// ---- Processes and threads ----------------------------------------------------------
// Of several rows with the same number the last one is the newest; that is returned.

static Newest *newest_find(const NewestRows *n, uint32_t number)
{
    uint32_t row;
    for (TableProbe p = table_probe(&n->by_number, hash_u64(number));
         table_next(&n->by_number, &p, &row);)
        if (n->at.at[row].number == number)
            return &n->at.at[row];
    return NULL;
}

static void newest_set(NewestRows *n, uint32_t number, uint32_t row)
{
    Newest *known = newest_find(n, number);
    if (known) {
        known->row = row;
        return;
    }
    table_insert(&n->by_number, hash_u64(number), (uint32_t)n->at.len);
    vec_push(NULL, &n->at, (Newest){number, row});
}

static Process *find_process_row(const Consumer *c, uint32_t pid, bool ended)
{
    const Newest *n = newest_find(&c->pids, pid);
    return n && c->processes.at[n->row]->ended == ended ? c->processes.at[n->row] : NULL;
}

static Process *find_process(const Consumer *c, uint32_t pid)
{
    return find_process_row(c, pid, false);
}

static Thread *find_thread_row(const Consumer *c, uint32_t tid, bool ended)
{
    const Newest *n = newest_find(&c->tids, tid);
    return n && c->threads.at[n->row].ended == ended ? &c->threads.at[n->row] : NULL;
}

static Thread *find_thread(const Consumer *c, uint32_t tid)
{
    return find_thread_row(c, tid, false);
}

// Asks the runtimes of a running process for the names of its generated code. Called when the space
// has become another one, too.
static void attach_runtimes(Consumer *c, Process *p)
{
    runtime_frames_deinit(&p->runtimes);
    p->runtimes = (RuntimeFrames){.modules = &c->modules,
                                  .profile = c->profile,
                                  .space = &p->space,
                                  .targets = c->capture_targets,
                                  .pid = p->pid};
    bool wanted = !c->setup.search && !c->setup.no_runtimes && c->setup.arch == UNWIND_X86_64;
    p->space.generated = wanted ? runtime_frames_step : NULL;
    p->space.generated_ctx = &p->runtimes;
}

static Process *add_process(Consumer *c, uint32_t pid, uint32_t parent_pid, StrId name,
                            int64_t start_ns)
{
    Process *p = arena_new(&c->arena, Process);
    p->pid = pid;
    p->id = profile_add_process(c->profile, pid, parent_pid, name, start_ns);
    unwind_space_init(&p->space, c->setup.arch);
    p->space.load = modules_load_table;
    p->space.search = modules_search_rule;
    p->space.ctx = &c->modules;
    attach_runtimes(c, p);
    newest_set(&c->pids, pid, (uint32_t)c->processes.len);
    vec_push(&c->arena, &c->processes, p);
    return p;
}

// Adds a thread of unknown origin.
static Thread *add_thread(Consumer *c, Process *process, uint32_t tid, StrId name, int64_t start_ns)
{
    newest_set(&c->tids, tid, (uint32_t)c->threads.len);
    Thread t = {.tid = tid,
                .pid = process->pid,
                .next = process->threads,
                .credit = {.group = credits_group(&c->credits, 0, name, false)},
                .id = profile_add_thread(c->profile, process->id, tid, name, start_ns)};
    vec_push(NULL, &c->threads, t);
    process->threads = (uint32_t)c->threads.len;
    process->live_threads++;
    return &vec_last(&c->threads);
}

// One row for a thread, when its end is known: the table only grows.
static void add_life(Consumer *c, const Thread *t, int64_t end_ns)
{
    int64_t start_ns = c->profile->threads.start_ns.at[t->id.v];
    start_ns = start_ns == TIME_NONE ? 0 : start_ns;
    end_ns = end_ns == TIME_NONE ? c->last_ns : end_ns;
    profile_add_interval(c->profile, t->id, start_ns, MAX(start_ns, end_ns), c->life_name,
                         (StrId){0});
}

static void add_mark(Consumer *c, const Thread *t, int64_t time_ns, StrId name, StrId detail)
{
    if (t && time_ns != TIME_NONE)
        profile_add_interval(c->profile, t->id, time_ns, time_ns, name, detail);
}

static void end_thread(Consumer *c, Thread *t, int64_t time_ns)
{
    t->ended = true;
    if (c->known)
        known_stacks_forget_thread(c->known, t->tid);
    credits_end(&c->credits, &t->credit, c->record_time);
    add_life(c, t, time_ns);
    free_stacks(t);
    Process *p = find_process(c, t->pid);
    if (p && p->live_threads)
        p->live_threads--;
    c->profile->threads.end_ns.at[t->id.v] = time_ns;
}

static void end_process(Consumer *c, Process *p, int64_t time_ns)
{
    p->ended = true;
    known_stacks_forget(c->known, &p->known, p->pid);
    modules_find_late_maps(&c->modules, p->pid);
    c->profile->processes.end_ns.at[p->id.v] = time_ns;
    c->mappings -= p->space.count;
    unwind_space_deinit(&p->space);
    unwind_space_init(&p->space, c->setup.arch);
    runtime_frames_deinit(&p->runtimes);
}

// Whether it takes the place of another mapping.
static bool overlaps(Process *p, const PerfMmap *m)
{
    for (uint32_t i = 0; i < p->space.count; i++)
        if (m->start < p->space.at[i].end && p->space.at[i].start < m->start + m->len)
            return true;
    return false;
}

static void map_into(Consumer *c, Process *p, uint32_t pid, const PerfMmap *m)
{
    if (m->len == 0 || m->start + m->len < m->start || p->space.count >= MAPPINGS_MAX)
        return;
    uint32_t before = p->space.count;
    uint32_t module = modules_of_mapping(&c->modules, pid, m);
    if (c->known && overlaps(p, m))
        known_stacks_give_up(c->known, &p->known, p->pid);
    unwind_space_map(&p->space, modules_mapping(&c->modules, module, pid, m));
    c->mappings += p->space.count;
    c->mappings -= before;
}

static void add_maps(Consumer *c, Process *p, const ProcMapVec *maps)
{
    for (size_t i = 0; i < maps->len; i++) {
        const ProcMap *m = &maps->at[i];
        if (!m->exec)
            continue;
        map_into(c, p, p->pid,
                 &(PerfMmap){.start = m->start,
                             .len = m->end - m->start,
                             .page_offset = m->offset,
                             .inode = m->inode,
                             .exec = true,
                             .path = m->path});
    }
}

static void read_maps(Consumer *c, Process *p)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    if (proc_maps_read(&scratch, p->pid, &maps, NULL)) {
        add_maps(c, p, &maps);
        p->kernel_thread = maps.len == 0;
    }
    arena_deinit(&scratch);
}

static void set_command(Consumer *c, const Process *p)
{
    if (c->setup.search || c->setup.no_commands)
        return;
    Arena scratch = {0};
    Str command = proc_command_line(&scratch, p->pid);
    if (c->setup.no_args)
        command = str_slice(command, 0, MIN(str_find_char(command, '\0'), command.len));
    if (command.len)
        c->profile->processes.command.at[p->id.v] = profile_str(c->profile, command);
    arena_deinit(&scratch);
}

static void add_existing_threads(Consumer *c, Process *p)
{
    U32Vec tids = {0};
    Arena scratch = {0};
    if (proc_list_threads(p->pid, &tids, NULL))
        for (size_t i = 0; i < tids.len; i++)
            if (!find_thread(c, tids.at[i]))
                add_thread(c, p, tids.at[i],
                           profile_str(c->profile, proc_comm(&scratch, p->pid, tids.at[i])),
                           TIME_NONE);
    vec_free(&tids);
    arena_deinit(&scratch);
}

bool consumer_add_existing(Consumer *c, uint32_t pid)
{
    if (find_process(c, pid))
        return true;
    Arena scratch = {0};
    ProcStatus st;
    bool alive = proc_status_read(&scratch, pid, &st, NULL);
    if (alive) {
        Process *p = add_process(c, pid, st.parent,
                                 profile_str(c->profile, proc_comm(&scratch, pid, pid)), TIME_NONE);
        set_command(c, p);
        read_maps(c, p);
        add_existing_threads(c, p);
    }
    arena_deinit(&scratch);
    return alive;
}

// The process of a record. A process without an earlier record ran before the recording, or the
// record was lost: /proc may still have it.
static Process *need_process(Consumer *c, uint32_t pid)
{
    Process *p = find_process(c, pid);
    if (p)
        return p;
    // In a recording of whole CPUs a task can have samples after its EXIT record, while
    // the kernel still frees its memory.
    p = find_process_row(c, pid, true);
    if (p)
        return p;
    if (!c->setup.search && pid && pid != UINT32_MAX && consumer_add_existing(c, pid) &&
        (p = find_process(c, pid)))
        return p;
    Str known = pid == 0 ? STR("swapper") : pid == UINT32_MAX ? STR("[ending]") : STR("");
    StrId name = profile_str(c->profile, known);
    p = add_process(c, pid, 0, name, TIME_NONE);
    p->kernel_thread = pid == 0 || pid == UINT32_MAX;
    return p;
}

static Thread *need_thread(Consumer *c, Process *p, uint32_t tid)
{
    Thread *t = find_thread(c, tid);
    if (t && t->pid == p->pid)
        return t;
    if (p->ended && (t = find_thread_row(c, tid, true)) && t->pid == p->pid)
        return t;
    // swapper is tid 0 on every CPU. Other threads are known from /proc, or not at all.
    return add_thread(c, p, tid, c->profile->processes.name.at[p->id.v], TIME_NONE);
}

// A thread that ran when the recording began: perf writes a record for each.
static void on_running(Consumer *c, const PerfRecord *r)
{
    uint32_t pid = r->u.task.pid, parent = r->u.task.parent_pid;
    Process *p = find_process(c, pid);
    if (!p)
        p = add_process(c, pid, parent == pid ? 0 : parent, profile_str(c->profile, STR("")),
                        TIME_NONE);
    if (!find_thread(c, r->u.task.tid))
        add_thread(c, p, r->u.task.tid, c->profile->processes.name.at[p->id.v], TIME_NONE);
}

static void on_fork(Consumer *c, const PerfRecord *r)
{
    if (r->misc & PERF_RECORD_MISC_FORK_EXEC) {
        on_running(c, r);
        return;
    }
    int64_t time_ns = since_start(c, r->u.task.time);
    uint32_t pid = r->u.task.pid, tid = r->u.task.tid;
    Thread *old = find_thread(c, tid);
    if (old) {
        // There are two records of this thread, because threads are attached one by one; or the
        // number was reused and the EXIT record of the older thread was lost.
        if (old->pid == pid && c->profile->threads.start_ns.at[old->id.v] == time_ns)
            return;
        end_thread(c, old, time_ns);
    }
    Process *parent = need_process(c, r->u.task.parent_pid);
    Thread *by = find_thread(c, r->u.task.parent_tid);
    StrId name =
        by ? c->profile->threads.name.at[by->id.v] : c->profile->processes.name.at[parent->id.v];
    bool is_thread = pid == r->u.task.parent_pid;
    uint32_t group = credits_group(&c->credits, by ? by->credit.group : 0, name, is_thread);
    if (is_thread) {
        add_thread(c, parent, tid, name, time_ns)->credit.group = group;
        return;
    }
    Process *reused = find_process(c, pid);
    if (reused)
        end_process(c, reused, time_ns);
    char number[16];
    snprintf(number, sizeof(number), "%u", pid);
    add_mark(c, by, time_ns, c->fork_name, profile_str(c->profile, str_from_c(number)));
    Process *p = add_process(c, pid, parent->pid, name, time_ns);
    c->profile->processes.command.at[p->id.v] = c->profile->processes.command.at[parent->id.v];
    if (c->mappings + parent->space.count <= MAPPINGS_IN_ALL_MAX) {
        unwind_space_deinit(&p->space);
        unwind_space_init(&p->space, c->setup.arch);
        unwind_space_copy(&p->space, &parent->space);
        attach_runtimes(c, p);
        c->mappings += p->space.count;
    }
    add_thread(c, p, tid, name, time_ns)->credit.group = group;
}

static void on_exit(Consumer *c, const PerfRecord *r)
{
    int64_t time_ns = since_start(c, r->u.task.time);
    Thread *t = find_thread(c, r->u.task.tid);
    if (t && t->pid == r->u.task.pid)
        end_thread(c, t, time_ns);
    Process *p = find_process(c, r->u.task.pid);
    if (!p)
        return;
    // A process ends when its last thread does, which may be another one than the first.
    if (p->live_threads == 0)
        end_process(c, p, time_ns);
}

static void on_exec(Consumer *c, Process *p, const PerfRecord *r, StrId name)
{
    int64_t time_ns = since_start(c, r->time);
    uint32_t pid = p->pid;
    // exec ends the other threads without EXIT records.
    uint32_t kept = 0;
    for (uint32_t row = p->threads; row; row = c->threads.at[row - 1].next) {
        Thread *t = &c->threads.at[row - 1];
        if (t->tid == r->u.comm.tid && !t->ended)
            kept = row;
        else if (!t->ended)
            end_thread(c, t, time_ns);
    }
    p->threads = kept;
    if (kept)
        c->threads.at[kept - 1].next = 0;
    if (p->samples) {
        // The program that ran before with this pid keeps its own row.
        uint32_t parent = c->profile->processes.parent_pid.at[p->id.v];
        Thread *t = find_thread(c, r->u.comm.tid);
        ThreadCredit credit = {.is_known = true, .since = c->record_time};
        if (t) {
            end_thread(c, t, time_ns);
            credit.group = t->credit.group;
        }
        end_process(c, p, time_ns);
        p = add_process(c, pid, parent, name, time_ns);
        add_thread(c, p, r->u.comm.tid, name, time_ns)->credit = credit;
    } else {
        c->mappings -= p->space.count;
        unwind_space_clear(&p->space);
        known_stacks_forget(c->known, &p->known, pid);
        attach_runtimes(c, p);
    }
    p->kernel_thread = false;
    p->in_exec = true;
    set_command(c, p);
}

static void on_comm(Consumer *c, const PerfRecord *r)
{
    StrId name = profile_str(c->profile, r->u.comm.name);
    Process *p = find_process(c, r->u.comm.pid);
    if (!p)
        // The launched child: it was forked before the recording, so that its first record is
        // that of its exec.
        p = r->u.comm.exec ? add_process(c, r->u.comm.pid, 0, name, since_start(c, r->time))
                           : need_process(c, r->u.comm.pid);
    if (r->u.comm.exec) {
        on_exec(c, p, r, name);
        p = find_process(c, r->u.comm.pid);
    }
    Thread *t = find_thread(c, r->u.comm.tid);
    if (!t)
        t = add_thread(c, p, r->u.comm.tid, name, since_start(c, r->time));
    if (r->u.comm.exec)
        add_mark(c, t, since_start(c, r->time), c->exec_name, name);
    credits_rename(&c->credits, &t->credit, c->record_time, name);
    c->profile->threads.name.at[t->id.v] = name;
    if (r->u.comm.pid == r->u.comm.tid)
        c->profile->processes.name.at[p->id.v] = name;
}

// ---- Samples --------------------------------------------------------------------------

static FrameId user_frame(Consumer *c, Process *p, uint64_t pc, uint32_t flags)
{
    uint64_t hash = hash_pair(pc, p->space.generation << 2 | flags);
    FrameCacheEntry *e = &c->frame_cache[hash & (FRAME_CACHE_SIZE - 1)];
    if (e->pc == pc && e->generation == p->space.generation && e->flags == flags)
        return e->frame;
    uint8_t frame_flags = (uint8_t)((flags & UNWIND_FRAME_GUESSED ? FRAME_GUESSED : 0) |
                                    (flags & UNWIND_FRAME_EXACT ? FRAME_EXACT : 0));
    UnwindMapping *m = unwind_space_find(&p->space, pc);
    ModuleId module = m ? modules_id(&c->modules, m->user) : (ModuleId){0};
    FrameId frame = profile_frame(c->profile, module, m ? pc - m->bias : pc, frame_flags);
    bool is_plain = !p->space.generated || !runtime_frames_may_name(&p->runtimes, pc);
    *e = (FrameCacheEntry){pc, p->space.generation, frame, flags, is_plain};
    return frame;
}

// The same where it is cached and no runtime has another name for it.
static bool plain_frame(const Consumer *c, const Process *p, uint64_t pc, uint32_t flags,
                        FrameId *ret)
{
    uint64_t hash = hash_pair(pc, p->space.generation << 2 | flags);
    const FrameCacheEntry *e = &c->frame_cache[hash & (FRAME_CACHE_SIZE - 1)];
    *ret = e->frame;
    return e->is_plain && e->pc == pc && e->generation == p->space.generation && e->flags == flags;
}

// Adds the frames of the kernel's call chain, with `user` also those of its user part. In each
// context all entries but the first are return addresses.
static size_t add_callchain(Consumer *c, Process *p, const PerfSample *s, bool user, size_t n)
{
    uint64_t context = 0;
    bool first = true;
    size_t max = ARRAY_LEN(c->frames) - 3;
    for (size_t i = 0; i < s->callchain.count && n < max; i++) {
        uint64_t ip = u64_list_get(s->callchain, i);
        if (ip >= (uint64_t)PERF_CONTEXT_MAX) {
            context = ip;
            first = true;
            i += ip == PERF_CHAIN_USER_DEFERRED; // followed by a cookie
            continue;
        }
        uint64_t pc = first ? ip : ip - 1;
        if (context == (uint64_t)PERF_CONTEXT_KERNEL)
            c->frames[n++] = kernel_frame(&c->modules.kernel, pc, first ? FRAME_EXACT : 0);
        else if (context == (uint64_t)PERF_CONTEXT_USER && user && ip)
            c->frames[n++] = user_frame(c, p, pc, first ? UNWIND_FRAME_EXACT : 0);
        first = false;
    }
    for (size_t i = 0; user && i < s->deferred.count && n < max; i++) {
        uint64_t ip = u64_list_get(s->deferred, i);
        if (ip && ip < (uint64_t)PERF_CONTEXT_MAX)
            c->frames[n++] = user_frame(c, p, i ? ip - 1 : ip, i ? 0 : UNWIND_FRAME_EXACT);
    }
    return n;
}

// Whether the chain names places in the program.
static bool has_user_chain(const PerfSample *s)
{
    for (size_t i = 0; i + 1 < s->callchain.count; i++)
        if (u64_list_get(s->callchain, i) == (uint64_t)PERF_CONTEXT_USER)
            return u64_list_get(s->callchain, i + 1) != 0;
    return false;
}

static size_t add_branches(Consumer *c, Process *p, const PerfSample *s, bool in_kernel, size_t n)
{
    // In call-stack mode each entry is a call that has not returned, the newest first. For a
    // sample in the kernel the innermost user frame is the target of the newest call.
    struct perf_branch_entry last;
    memcpy(&last, s->branches, MIN(sizeof(last), (size_t)24));
    c->frames[n++] = user_frame(c, p, in_kernel ? last.to : s->ip, UNWIND_FRAME_EXACT);
    for (uint64_t i = 0; i < s->branch_count && n < ARRAY_LEN(c->frames) - 3; i++) {
        struct perf_branch_entry e;
        memcpy(&e, s->branches + i * 24, MIN(sizeof(e), (size_t)24));
        c->frames[n++] = user_frame(c, p, e.from, 0);
    }
    return n;
}

// Whether a pc is in the first instructions of an object. Those of the dynamic linker are written
// by hand, have no unwind rules, and have no caller.
static bool at_program_start(const Consumer *c, Process *p, uint64_t pc)
{
    enum { START_CODE_BYTES = 96 };
    const UnwindMapping *m = unwind_space_find(&p->space, pc);
    if (!m)
        return false;
    const ModuleFile *file = modules_get(&c->modules, m->user);
    return file->opened && file->elf.entry && pc - m->bias - file->elf.entry < START_CODE_BYTES;
}

static bool read_tail(const StackTail *tail, uint64_t addr, uint64_t *ret)
{
    if (!tail->bytes || addr < tail->at || addr - tail->at > KNOWN_TAIL - sizeof(*ret))
        return false;
    memcpy(ret, tail->bytes + (addr - tail->at), sizeof(*ret));
    return true;
}

static bool read_beyond(void *ctx, uint64_t addr, uint64_t *ret)
{
    return read_tail(ctx, addr, ret);
}

static bool read_live(void *ctx, uint64_t addr, uint64_t *ret)
{
    return live_stack_read(ctx, addr, ret);
}

// The mapping of the stack at an address; false when there is none, or it cannot be read.
static bool find_stack(const Process *p, uint64_t sp, uint64_t *start, uint64_t *end)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    bool found = false;
    if (!p->ended && proc_maps_read(&scratch, p->pid, &maps, NULL))
        for (size_t i = 0; i < maps.len && !found; i++)
            if (sp >= maps.at[i].start && sp < maps.at[i].end) {
                *start = maps.at[i].start;
                *end = maps.at[i].end;
                found = true;
            }
    arena_deinit(&scratch);
    return found;
}

// Whether both lie on the stack that the thread is on. The first one's mapping grows. Of a process
// that is gone, nothing can be read.
static bool on_one_stack(const Process *p, Thread *t, bool is_gone, uint64_t sp, uint64_t outer_sp)
{
    enum {
        LOOKS_MAX = 64,
        GONE_BYTES = 16 << 20
    }; // a thread that often changes stacks is left alone
    bool is_known = sp >= t->stack_start && sp < t->stack_end;
    if (!is_known && is_gone)
        return t->stack_looks < LOOKS_MAX && outer_sp - sp <= GONE_BYTES;
    if (!is_known && t->stack_looks < LOOKS_MAX) {
        t->stack_looks++;
        is_known = find_stack(p, sp, &t->stack_start, &t->stack_end);
    }
    return is_known && outer_sp >= sp && outer_sp <= t->stack_end;
}

// Whether code of the process goes on on stacks of its own making, as Go's does.
static bool switches_stacks(const Consumer *c, const Process *p)
{
    for (uint32_t i = 0; i < p->space.count; i++)
        if (modules_get(&c->modules, p->space.at[i].user)->stack_switch_count)
            return true;
    return false;
}

static bool at_stack_switch(const Consumer *c, Process *p, uint64_t pc)
{
    const UnwindMapping *m = unwind_space_find(&p->space, pc);
    if (!m)
        return false;
    const ModuleFile *file = modules_get(&c->modules, m->user);
    for (size_t i = 0; i < file->stack_switch_count; i++)
        if (pc - m->bias >= file->stack_switches[i].start &&
            pc - m->bias < file->stack_switches[i].end)
            return true;
    return false;
}

// How a stack ends whose last frames are the kernel's.
static UnwindEnd end_of_chain(Consumer *c, Process *p, const PerfSample *s, uint64_t last_pc)
{
    enum { CHAIN_DEEP = 120 }; // kernel.perf_event_max_stack is 127
    if (unwind_space_action(&p->space, last_pc).kind == UNWIND_END ||
        at_program_start(c, p, last_pc))
        return UNWIND_COMPLETE;
    return s->callchain.count > CHAIN_DEEP ? UNWIND_CUT_TOO_DEEP : UNWIND_CUT_SWITCH;
}

// Where the stack goes on on another one, which was not copied.
static void join_frame_pointers(Consumer *c, Process *p, const PerfSample *s,
                                const UnwindRegs *regs, const UnwindMemory *memory, uint32_t max,
                                UnwindWalk *walk)
{
    if (walk->end == UNWIND_COMPLETE)
        return;
    bool switched = at_stack_switch(c, p, walk->end_pc);
    uint64_t fp = regs->known >> UNWIND_X86_64_FP & 1 ? regs->reg[UNWIND_X86_64_FP] : 0;
    uint32_t n = frame_pointers_join(s->callchain, fp, memory, walk, c->walked, max);
    for (uint32_t i = walk->frame_count; i < n; i++)
        if (!unwind_space_find(&p->space, c->walked[i].pc))
            n = i;
    UnwindEnd end = UNWIND_CUT_SWITCH;
    if (n > walk->frame_count)
        end = end_of_chain(c, p, s, c->walked[n - 1].pc);
    // Code without frame pointers leaves anything in the chain.
    if (end != UNWIND_COMPLETE && !switched)
        return;
    walk->frame_count = n;
    walk->end_pc = c->walked[n - 1].pc;
    walk->end = end;
}

static bool code_before(void *ctx, uint64_t address, uint8_t *ret)
{
    const ProcessCode *code = ctx;
    const UnwindMapping *m = unwind_space_find(&code->process->space, address - 1);
    const ModuleFile *file = m ? modules_get(&code->consumer->modules, m->user) : NULL;
    if (m && m->flags & UNWIND_MAP_JIT)
        return !code->consumer->setup.search && !code->process->ended &&
               live_memory_read(code->process->pid, address - ENTRY_CODE_BYTES, ret,
                                ENTRY_CODE_BYTES) == ENTRY_CODE_BYTES;
    if (!file || !file->opened)
        return false;
    Bytes bytes = elf_bytes_at_svma(&file->elf, address - m->bias - ENTRY_CODE_BYTES);
    if (bytes.len < ENTRY_CODE_BYTES)
        return false;
    memcpy(ret, bytes.ptr, ENTRY_CODE_BYTES);
    return true;
}

// The outer frames that a thread is still in, of its last complete stack.
typedef struct Outer {
    uint32_t standing;
    OuterRead read; // the words by which they were found
    void *ctx;
} Outer;

// Samples come in batches: a look at a thread that has not run since the one before is the same.
static bool is_new_look(const Consumer *c, Thread *t)
{
    bool is_new = c->record_time > t->outer_look_ns;
    if (is_new)
        t->outer_look_ns = (uint64_t)os_monotonic_ns();
    return is_new;
}

// By what came with the sample, else by the stack of the process. Where there is none to look at,
// those that the last complete stacks all had.
static Outer find_outer(Consumer *c, const Process *p, Thread *t, uint64_t above)
{
    Outer o = {0, read_beyond, &c->stack_tail};
    if (c->stack_tail.bytes)
        o.standing = outer_frames_standing(t->outer, above, o.read, o.ctx);
    if (o.standing)
        return o;
    if (c->setup.search)
        return (Outer){outer_frames_usual(t->outer, above), NULL, NULL};
    live_stack_open_inwards(&c->live_stack, p->pid, above);
    uint64_t addr, pc, word;
    if (p->ended || !outer_frames_next(t->outer, 0, above, &addr, &pc) ||
        !live_stack_read(&c->live_stack, addr, &word))
        return (Outer){outer_frames_usual(t->outer, above), NULL, NULL};
    bool is_new_time = is_new_look(c, t);
    o = (Outer){0, read_live, &c->live_stack};
    o.standing = outer_frames_lasting(t->outer, above, is_new_time, o.read, o.ctx);
    return o;
}

// The function that the innermost of these frames called may be at another call now.
static uint32_t append_next(Consumer *c, Process *p, const Thread *t, const Outer *o,
                            uint64_t above, uint32_t count, uint64_t sp)
{
    uint64_t addr, pc, word;
    uint8_t code[ENTRY_CODE_BYTES];
    ProcessCode of = {c, p};
    if (!o->read || !outer_frames_next(t->outer, o->standing, above, &addr, &pc) ||
        !o->read(o->ctx, addr, &word) || unwind_space_find(&p->space, word - 1) == NULL ||
        unwind_space_find(&p->space, word - 1) != unwind_space_find(&p->space, pc))
        return count;
    UnwindAction was = unwind_space_action(&p->space, pc);
    UnwindAction is = unwind_space_action(&p->space, word - 1);
    if (is.kind == UNWIND_NONE || memcmp(&was, &is, sizeof(is)) != 0 ||
        !code_before(&of, word, code) || !entry_is_call(code))
        return count;
    c->walked[count] = (UnwindFrame){
        .pc = word - 1, .flags = UNWIND_FRAME_GUESSED, .sp_words = (uint32_t)((addr + 8 - sp) / 8)};
    return count + 1;
}

// Completes a stack whose copy ended too early with the outer frames of the thread's last complete
// one that it is still in. Returns the number of frames before a gap; 0: there is no gap.
static uint32_t join_outer(Consumer *c, Process *p, Thread *t, const UnwindMemory *memory,
                           uint32_t max, UnwindWalk *walk)
{
    enum { STANDING_MIN = 2 }; // the first frame alone says nothing
    uint64_t above = memory->window_addr + memory->window_size;
    uint32_t before = walk->frame_count;
    // Frames of runtimes are told apart by the frames of the interpreter between them.
    if (walk->end != UNWIND_CUT_DUMP_SHORT || !t->outer || c->setup.arch != UNWIND_X86_64 ||
        runtime_frames_found(&p->runtimes) || switches_stacks(c, p))
        return 0;
    Outer o = find_outer(c, p, t, above);
    if (o.standing < STANDING_MIN)
        return 0;
    uint32_t n =
        outer_frames_join(t->outer, o.standing, c->walked, before, max, memory->window_addr);
    bool has_gap = n == before;
    if (has_gap && o.standing < max - before) {
        n = append_next(c, p, t, &o, above, before, memory->window_addr);
        n = outer_frames_append(t->outer, o.standing, c->walked, n, max, memory->window_addr);
    }
    uint32_t outer_words = c->walked[n - 1].sp_words;
    if (n == before || outer_words == UNWIND_SP_FAR ||
        !on_one_stack(p, t, o.read == NULL, memory->window_addr,
                      memory->window_addr + 8ull * outer_words))
        return 0;
    walk->frame_count = n;
    if (!has_gap)
        walk->end = UNWIND_COMPLETE;
    return has_gap ? before : 0;
}

// Where a walk ended in code without rules, its caller is looked for on the stack.
static void join_entry(Consumer *c, Process *p, const UnwindMemory *memory, uint32_t max,
                       UnwindWalk *walk)
{
    // Where nothing is found, few more are looked for: of a program without any tables, as Free
    // Pascal's, each search takes as long as ten usual samples.
    enum { SOUGHT_MIN = 64, SELDOM = 32, ENTRY_WORDS = 16384 };
    if (walk->end == UNWIND_CUT_NO_TABLE && at_program_start(c, p, walk->end_pc))
        return;
    if (p->entries_sought++ >= SOUGHT_MIN && p->entries_found < p->entries_sought / SELDOM &&
        p->entries_sought % SELDOM != 0)
        return;
    ProcessCode code = {c, p};
    EntrySearch search = {&p->space, c->cache, code_before, &code, ENTRY_WORDS};
    UnwindMemory whole;
    entry_frames_join(&search, memory, c->walked, max, walk);
    if (walk->end != UNWIND_COMPLETE && !c->setup.search && !p->ended &&
        live_stack_open(&c->live_stack, p->pid, memory, &whole))
        entry_frames_join(&search, &whole, c->walked, max, walk);
    p->entries_found += walk->end == UNWIND_COMPLETE;
    c->counts.searched += walk->end == UNWIND_COMPLETE;
}

// Whether a live stack may be read. Stacks of megabytes take longer to walk than the time between
// two samples. Then the recorder would come ever later, until no stack is what it was.
static bool may_read_live(Consumer *c)
{
    enum { BYTES_A_US = 256, BYTES_MAX = 64 << 20 };
    uint64_t us = (c->record_time - MIN(c->record_time, c->live_bytes_at)) / 1000;
    c->live_bytes += (int64_t)MIN(us, (uint64_t)BYTES_MAX) * BYTES_A_US;
    c->live_bytes = MIN(c->live_bytes, (int64_t)BYTES_MAX);
    c->live_bytes_at = MAX(c->record_time, c->live_bytes_at);
    return c->live_bytes >= 0;
}

// Whether the walk ended where programs and threads begin. A stack that changes while it is read
// may have a return address of 0.
static bool ends_at_start(const Consumer *c, Process *p, const UnwindWalk *walk)
{
    uint64_t pc = c->walked[walk->frame_count - 1].pc;
    UnwindKind kind = unwind_space_action(&p->space, pc).kind;
    return kind == UNWIND_END || kind == UNWIND_AFTER_CLONE || at_program_start(c, p, pc);
}

// Whether the return addresses into the frames from number `first` on are those that came with the
// sample, as far as they did.
static bool agrees_with_tail(const Consumer *c, const UnwindWalk *walk, uint32_t first, uint64_t sp)
{
    for (uint32_t i = first; c->stack_tail.bytes && i < walk->frame_count; i++) {
        const UnwindFrame *f = &c->walked[i];
        uint64_t word;
        if (f->sp_words != UNWIND_SP_FAR && !(f->flags & UNWIND_FRAME_EXACT) &&
            c->setup.arch == UNWIND_X86_64 &&
            read_tail(&c->stack_tail, sp + 8 * (uint64_t)f->sp_words - 8, &word) &&
            word != f->pc + 1)
            return false;
    }
    return true;
}

// What lies above the copy is still there where the copy's end is as it was. Marked as
// guessed: only that end was compared.
static bool walk_live_stack(Consumer *c, Process *p, const UnwindRegs *regs,
                            const UnwindMemory *memory, uint32_t max, UnwindWalk *walk)
{
    UnwindMemory whole;
    if (walk->end != UNWIND_CUT_DUMP_SHORT || c->setup.search || p->ended || !may_read_live(c) ||
        !live_stack_open(&c->live_stack, p->pid, memory, &whole))
        return false;
    uint32_t sure = walk->frame_count;
    UnwindWalk again = unwind_walk(&p->space, c->cache, regs, &whole, c->walked, max);
    c->live_bytes -= (int64_t)c->live_stack.bytes_read;
    if (again.end != UNWIND_COMPLETE || !ends_at_start(c, p, &again) ||
        !agrees_with_tail(c, &again, sure, memory->window_addr))
        return false; // the first frames are the same ones
    for (uint32_t i = sure; i < again.frame_count; i++)
        c->walked[i].flags |= UNWIND_FRAME_GUESSED;
    *walk = again;
    return true;
}

// Adds walked frames; those of runtimes by their names. A gap is before the frame `gap_at`; 0:
// there is none.
static size_t add_frames(Consumer *c, Process *p, Thread *t, const UnwindMemory *stack,
                         uint32_t count, uint32_t gap_at, size_t n)
{
    if (p->space.generated)
        runtime_frames_begin(&p->runtimes, t->tid, t->captured_ns ? t->captured : NULL, c->walked,
                             count);
    c->has_python |= p->runtimes.python != NULL;
    c->has_scripts |= p->runtimes.script != NULL;
    t->captured_ns = 0;
    for (uint32_t i = 0; i < count && n < ARRAY_LEN(c->frames) - 3; i++) {
        const UnwindFrame *f = &c->walked[i];
        FrameId frame;
        bool below = false;
        if (gap_at && i == gap_at)
            c->frames[n++] = profile_cut_frame(c->profile, STACK_CUT_GAP);
        uint32_t python = p->space.generated
                              ? runtime_frames_python(&p->runtimes, f, &c->frames[n],
                                                      (uint32_t)(ARRAY_LEN(c->frames) - 3 - n))
                              : 0;
        if (python) {
            n += python;
            continue;
        }
        if (plain_frame(c, p, f->pc, f->flags & UNWIND_FRAME_HOW, &c->frames[n])) {
            n++;
            continue;
        }
        bool named =
            p->space.generated && runtime_frames_name(&p->runtimes, f, stack, &frame, &below);
        if (!named || below)
            c->frames[n++] = user_frame(c, p, f->pc, f->flags & UNWIND_FRAME_HOW);
        if (named)
            c->frames[n++] = frame;
    }
    return n;
}

// Keeps the signature by which a stack that was walked to its end is recognised.
static void remember_walk(Consumer *c, Process *p, const Thread *t, const UnwindRegs *regs,
                          const UnwindMemory *memory, uint32_t count, size_t kernel_frames)
{
    c->walked_regs = *regs;
    c->walked_memory = *memory;
    c->walked_stack = (WalkedStack){.pid = p->pid,
                                    .tid = t->tid,
                                    .space = &p->space,
                                    .regs = &c->walked_regs,
                                    .memory = &c->walked_memory,
                                    .frames = c->walked,
                                    .count = count};
    c->kernel_frames = kernel_frames;
    c->can_be_known =
        !p->ended && !runtime_frames_found(&p->runtimes) && known_stacks_can_take(&c->walked_stack);
}

// Lets stacks of the thread be copied up to their base, where they are deep, or have frames of
// runtimes.
static void tell_base(Consumer *c, Process *p, const Thread *t, uint64_t sp, uint32_t count)
{
    uint32_t words = c->walked[count - 1].sp_words;
    bool is_deep = words > KNOWN_HASH_MAX / 8 && words <= KNOWN_ENDS_MAX / 8;
    if (words == UNWIND_SP_FAR || p->ended || !(is_deep || runtime_frames_found(&p->runtimes)))
        return;
    for (uint32_t i = 1; i < count; i++)
        if (c->walked[i].sp_words <= c->walked[i - 1].sp_words)
            return; // on several stacks
    if (runtime_frames_found(&p->runtimes) && !p->known.is_unsteady)
        known_stacks_give_up(c->known, &p->known, p->pid);
    known_stacks_meet_copied(c->known, &p->known, p->pid, t->tid, sp + 8ull * words);
}

// Looks the base of a thread's stack up, of which no sample could be walked to its end: the end of
// its mapping is near enough.
static void search_base(Consumer *c, Process *p, Thread *t, uint64_t sp)
{
    enum { SEARCHES_MAX = 4 };
    uint64_t start, end;
    if (p->ended || t->base_searches >= SEARCHES_MAX)
        return;
    t->base_searches++;
    if (find_stack(p, sp, &start, &end))
        known_stacks_meet_copied(c->known, &p->known, p->pid, t->tid, end);
}

static size_t add_unwound(Consumer *c, Process *p, Thread *t, const PerfSample *s, uint64_t mask,
                          size_t n, StackCut *cut)
{
    // Nothing of the stack could be copied. Either an exec has replaced the address space but its
    // record is still to come, so that the registers are those of the old program; or the stack
    // has just grown to a page that does not exist yet.
    if (n && s->regs_abi && s->stack.len == 0) {
        *cut = STACK_CUT_NO_MEMORY;
        return n;
    }
    uint64_t values[PERF_REGS_MAX];
    size_t count = 0;
    for (uint64_t left = mask; left; left &= left - 1)
        values[count++] = s->regs[__builtin_ctzll(left)];
    UnwindRegs regs;
    if (s->regs_abi != PERF_SAMPLE_REGS_ABI_64 ||
        !unwind_regs_from_perf(c->setup.arch, mask, values, &regs)) {
        // In a recording from elsewhere, kernel threads are the processes without mappings.
        bool no_user = p->kernel_thread || (c->setup.search && p->space.count == 0);
        *cut = no_user ? STACK_CUT_NONE : STACK_CUT_NO_USER;
        return n;
    }
    uint32_t sp = c->setup.arch == UNWIND_X86_64 ? UNWIND_X86_64_SP : UNWIND_AARCH64_SP;
    // Even a copy with room left may end before the stack: the kernel stops copying at a page that
    // does not exist yet, below a large new frame.
    UnwindMemory memory = {.window = s->stack.ptr,
                           .window_addr = regs.reg[sp],
                           .window_size = s->stack.len,
                           .window_cut = true};
    if (c->stack_tail.bytes) {
        c->stack_tail.at += memory.window_addr;
        memory.read = read_beyond;
        memory.ctx = &c->stack_tail;
    }
    // A chain in a file may be longer than any kernel writes. One place is for the cut frame.
    size_t room = ARRAY_LEN(c->frames) - 3 - MIN(n, ARRAY_LEN(c->frames) - 3);
    if (room == 0) {
        *cut = STACK_CUT_TOO_DEEP;
        return n;
    }
    uint32_t max = (uint32_t)MIN(room, (size_t)FRAMES_MAX);
    p->runtimes.now_ns = c->last_ns;
    UnwindWalk walk = unwind_walk(&p->space, c->cache, &regs, &memory, c->walked, max);
    c->counts.short_copies += walk.end == UNWIND_CUT_DUMP_SHORT;
    if (c->known && walk.end == UNWIND_COMPLETE && !c->stack_tail.bytes)
        remember_walk(c, p, t, &regs, &memory, walk.frame_count, n);
    if (walk.end == UNWIND_COMPLETE) {
        c->counts.whole_copies++;
        c->counts.stack_bytes = walk.end_sp - memory.window_addr;
    }
    join_frame_pointers(c, p, s, &regs, &memory, max, &walk);
    if (walk.end == UNWIND_CUT_JIT || walk.end == UNWIND_CUT_NO_TABLE)
        join_entry(c, p, &memory, max, &walk);
    bool is_live = walk_live_stack(c, p, &regs, &memory, max, &walk);
    c->counts.read_later += is_live;
    uint32_t gap_at = join_outer(c, p, t, &memory, max, &walk);
    if (walk.end == UNWIND_COMPLETE)
        outer_frames_keep(&t->outer, c->walked, walk.frame_count, memory.window_addr,
                          !is_live || is_new_look(c, t));
    c->counts.with_gap += gap_at != 0;
    if (c->known && (walk.end == UNWIND_COMPLETE || gap_at) && !c->can_be_known)
        tell_base(c, p, t, regs.reg[sp], walk.frame_count);
    else if (c->known && walk.end == UNWIND_CUT_DUMP_SHORT && !c->stack_tail.bytes)
        search_base(c, p, t, regs.reg[sp]);
    c->last_sp_words = walk.frame_count ? c->walked[walk.frame_count - 1].sp_words : UNWIND_SP_FAR;
    n = add_frames(c, p, t, &memory, walk.frame_count, gap_at, n);
    c->counts.frames_walked += walk.frame_count;
    if (gap_at) {
        *cut = STACK_CUT_GAP;
        return n;
    }
    if (log_enabled(LOG_UNWIND, 2) && walk.end != UNWIND_COMPLETE) {
        UnwindMapping *m = unwind_space_find(&p->space, walk.end_pc);
        log_write(LOG_UNWIND, "pid %u: %s at pc 0x%llx sp 0x%llx after %u frames in '%" STR_FMT "'",
                  p->pid, stack_cut_name((StackCut)walk.end), (unsigned long long)walk.end_pc,
                  (unsigned long long)walk.end_sp, walk.frame_count,
                  STR_ARG(m ? modules_get(&c->modules, m->user)->path : STR("?")));
    }
    *cut = walk.end == UNWIND_CUT_NO_TABLE && at_program_start(c, p, walk.end_pc)
               ? STACK_CUT_NONE
               : (StackCut)walk.end;
    return n;
}

// Adds the frames of a walk that an agent made. `cut` says how it ended.
static size_t add_walked(Consumer *c, Process *p, const PerfSample *s, StackCut *cut)
{
    uint32_t word = 0, end, guessed;
    uint64_t last = 0;
    bool exact = false;
    size_t n = 0;
    if (s->raw.len == WIRE_RAW_BYTES)
        memcpy(&word, s->raw.ptr, sizeof(word));
    end = word & ((1u << WIRE_RAW_GUESSED_SHIFT) - 1);
    guessed = word >> WIRE_RAW_GUESSED_SHIFT;
    for (size_t i = 0; i < s->callchain.count && n < WIRE_FRAMES_MAX; i++) {
        uint64_t ip = u64_list_get(s->callchain, i);
        bool is_mark = ip >= (uint64_t)PERF_CONTEXT_MAX;
        if (!is_mark) {
            last = exact ? ip : ip - 1;
            uint32_t flags = exact ? UNWIND_FRAME_EXACT : 0;
            if (guessed && n + 1 >= guessed)
                flags |= UNWIND_FRAME_GUESSED;
            c->frames[n++] = user_frame(c, p, last, flags);
        }
        exact = is_mark;
    }
    *cut = n == 0 || end > UNWIND_CUT_TOO_DEEP ? STACK_CUT_NO_USER : (StackCut)end;
    if (end == UNWIND_CUT_NO_TABLE && at_program_start(c, p, last))
        *cut = STACK_CUT_NONE;
    return n;
}

static bool user_pc_is_mapped(const Consumer *c, Process *p, const PerfSample *s)
{
    enum { X86_64_IP = 8, AARCH64_PC = 32 }; // perf's numbers, asm/perf_regs.h
    unsigned pc = c->setup.arch == UNWIND_X86_64 ? X86_64_IP : AARCH64_PC;
    return s->regs_abi && unwind_space_find(&p->space, s->regs[pc]);
}

// The kernel's function, in the present chain, that the system call of an exec runs.
static FrameId exec_caller(const Consumer *c, size_t n)
{
    enum { OUTERMOST = 3 }; // below the entry of the kernel and its table of system calls
    return n > OUTERMOST ? c->frames[n - OUTERMOST] : (FrameId){0};
}

// Keeps the function for sample_is_in_exec.
static void learn_exec(Consumer *c, size_t n)
{
    FrameId f = exec_caller(c, n);
    for (uint32_t i = 0; i < c->exec_caller_count; i++)
        if (c->exec_callers[i].v == f.v)
            return;
    if (f.v && c->exec_caller_count < ARRAY_LEN(c->exec_callers))
        c->exec_callers[c->exec_caller_count++] = f;
}

// Whether an exec has freed the memory of the old program, so that the thread has no user stack,
// before its record was written.
static bool sample_is_in_exec(const Consumer *c, const PerfSample *s, size_t n)
{
    FrameId f = exec_caller(c, n);
    if (!s->regs_abi || s->stack.len || f.v == 0)
        return false;
    for (uint32_t i = 0; i < c->exec_caller_count; i++)
        if (c->exec_callers[i].v == f.v)
            return true;
    return false;
}

// Puts the function that has returned in front of the stack of its caller.
static size_t add_returned(Consumer *c, Process *p, const SampleEvent *event, size_t n)
{
    for (uint32_t i = 0; event->returned_path.len && i < p->space.count; i++) {
        const UnwindMapping *m = &p->space.at[i];
        uint64_t pc = event->returned_svma + m->bias;
        if (pc < m->start || pc >= m->end ||
            !str_equal(modules_get(&c->modules, m->user)->path, event->returned_path))
            continue;
        memmove(&c->frames[1], &c->frames[0], n * sizeof(c->frames[0]));
        c->frames[0] = user_frame(c, p, pc, UNWIND_FRAME_EXACT);
        return n + 1;
    }
    return n;
}

// Lets the stack in `frames`, which has just been walked, be recognised from now on.
static void add_known(Consumer *c, Process *p, size_t n)
{
    size_t outer = c->kernel_frames + 1;
    if (runtime_frames_found(&p->runtimes)) // since this sample
        return;
    if (n - c->kernel_frames != c->walked_stack.count)
        return;
    if (known_stacks_wants_ranges(&p->known, &p->space)) {
        CodeRanges r = consumer_code(c, p->pid);
        known_stacks_set_ranges(&p->known, &p->space, r.low, r.low_size, r.high, r.high_size);
    }
    if (known_stacks_meet(c->known, &p->known, &c->walked_stack))
        known_stacks_add(c->known, &p->known, &c->walked_stack,
                         stack_cache_intern(c->stacks, c->profile, &c->frames[outer], n - outer));
}

// Adds the marker of a stack that is cut. That of a gap stands in its place already.
static size_t add_cut(Consumer *c, StackCut cut, size_t n)
{
    if (cut != STACK_CUT_NONE && cut != STACK_CUT_GAP)
        c->frames[n++] = profile_cut_frame(c->profile, cut);
    return n;
}

static StackId sample_stack(Consumer *c, Process *p, Thread *t, const PerfRecord *r,
                            const SampleEvent *event)
{
    const PerfSample *s = r->u.sample;
    StackCut cut = STACK_CUT_NONE;
    size_t n = 0;
    c->can_be_known = false;
    bool in_kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    switch (event->stacks) {
    case SAMPLE_STACKS_TABLES:
        // Simpleperf unwinds while it records: the places take the room of the copied stack. In
        // our own recordings a stack that could not be copied has a chain that leads nowhere.
        if (c->setup.search && s->stack.len == 0 && has_user_chain(s)) {
            n = add_callchain(c, p, s, true, n);
            break;
        }
        n = add_callchain(c, p, s, false, n);
        // A sample in the kernel has a chain. If it is missing, the sampled address is used.
        if (in_kernel && n == 0)
            c->frames[n++] = kernel_frame(&c->modules.kernel, s->ip, FRAME_EXACT);
        // During an exec the user registers are still those of the old program, whose code is not
        // mapped any more.
        p->in_exec &= in_kernel && !user_pc_is_mapped(c, p, s);
        if (p->in_exec)
            learn_exec(c, n);
        if (n == 0 || !(p->in_exec || sample_is_in_exec(c, s, n)))
            n = add_unwound(c, p, t, s, event->regs_user, n, &cut);
        c->counts.with_stack++;
        c->counts.complete += cut == STACK_CUT_NONE;
        c->counts.cut[cut]++;
        break;
    case SAMPLE_STACKS_CHAIN:
        n = add_callchain(c, p, s, true, n);
        break;
    case SAMPLE_STACKS_WALKED:
        n = add_walked(c, p, s, &cut);
        c->counts.with_stack++;
        c->counts.complete += cut == STACK_CUT_NONE;
        c->counts.frames_walked += n;
        break;
    case SAMPLE_STACKS_LBR:
        n = add_callchain(c, p, s, s->branch_count == 0, n);
        if (s->branch_count)
            n = add_branches(c, p, s, in_kernel, n);
        break;
    case SAMPLE_STACKS_NONE:
        break;
    }
    if (n == 0)
        c->frames[n++] = in_kernel ? kernel_frame(&c->modules.kernel, s->ip, FRAME_EXACT)
                                   : user_frame(c, p, s->ip, UNWIND_FRAME_EXACT);
    n = add_cut(c, cut, n);
    if (c->can_be_known)
        add_known(c, p, n);
    n = add_returned(c, p, event, n);
    return stack_cache_intern(c->stacks, c->profile, c->frames, n);
}

// The increase of a counter since it was last read. `tid` is 0 when all threads share it.
static uint64_t group_delta(Consumer *c, uint32_t tid, const PerfGroupValue *v)
{
    uint64_t hash = hash_pair(v->id, tid);
    uint32_t row;
    for (TableProbe p = table_probe(&c->by_group_count, hash);
         table_next(&c->by_group_count, &p, &row);) {
        GroupCount *g = &c->group_counts.at[row];
        if (g->id != v->id || g->tid != tid)
            continue;
        uint64_t delta = v->value >= g->value ? v->value - g->value : 0;
        g->value = v->value;
        return delta;
    }
    table_insert(&c->by_group_count, hash, (uint32_t)c->group_counts.len);
    vec_push(NULL, &c->group_counts, (GroupCount){v->id, tid, v->value});
    return v->value;
}

// Reads a number of 1, 2, 4 or 8 bytes.
static int64_t sized_number(uint64_t value, const EventArg *a)
{
    unsigned unused = 64 - a->size * 8u;
    if (a->is_signed)
        return (int64_t)(value << unused) >> unused;
    return (int64_t)(value << unused >> unused);
}

// False when the value lies outside of the copy in the sample.
static bool arg_value(const Consumer *c, const PerfSample *s, const EventArg *a, int64_t *ret)
{
    uint64_t value = s->regs[a->reg & (PERF_REGS_MAX - 1)];
    uint32_t sp = c->setup.arch == UNWIND_X86_64 ? 7 : 31; // perf's numbers, asm/perf_regs.h
    if (a->kind == EVENT_ARG_CONSTANT) {
        *ret = a->offset;
        return true;
    }
    if (a->kind == EVENT_ARG_RAW) {
        if ((uint64_t)a->offset >= s->raw.len || s->raw.len - (uint64_t)a->offset < a->size)
            return false;
        value = 0;
        memcpy(&value, s->raw.ptr + a->offset, a->size);
        *ret = sized_number(value, a);
        return true;
    }
    if (!s->regs_abi)
        return false;
    if (a->kind == EVENT_ARG_STACK) {
        uint64_t at = value + (uint64_t)a->offset - s->regs[sp];
        if (at >= s->stack.len || s->stack.len - at < a->size)
            return false;
        value = 0;
        memcpy(&value, s->stack.ptr + at, a->size);
    } else {
        value += (uint64_t)a->offset;
    }
    *ret = sized_number(value, a);
    return true;
}

static uint64_t records_lost(const Consumer *c)
{
    return c->counts.lost + c->counts.lost_samples;
}

// The text of an argument that was read at the hit, as the number of a string. False when it was
// not; the value is "(fault)" then, as perf has it.
static bool text_value(Consumer *c, const Thread *t, const SampleEvent *event, uint32_t number,
                       int64_t *ret)
{
    const ProbeTexts *texts = t->texts;
    // Where records were lost, they may be those of an earlier hit.
    bool is_there = t->has_texts && t->texts_lost == records_lost(c) &&
                    texts->event == event->number && number < texts->count &&
                    texts->at[number].size > 0;
    if (!is_there) {
        *ret = profile_str(c->profile, STR("(fault)")).v;
        return false;
    }
    const TextCopy *text = &texts->at[number];
    size_t room = MIN((uint64_t)text->size, (uint64_t)PROBE_TEXT_BYTES);
    size_t len = strnlen(text->bytes, room);
    if (len + 1 < PROBE_TEXT_BYTES) {
        *ret = profile_str(c->profile, str_over(text->bytes, len)).v;
        return true;
    }
    StrBuf cut = {0};
    strbuf_add(&cut, str_over(text->bytes, len));
    strbuf_add(&cut, STR("…"));
    *ret = profile_str(c->profile, strbuf_str(&cut)).v;
    strbuf_deinit(&cut);
    return true;
}

static void set_args(Consumer *c, size_t row, Thread *t, const SampleEvent *event,
                     const PerfRecord *r)
{
    uint32_t texts = 0;
    for (size_t i = 0; i < event->arg_count; i++) {
        const EventArg *a = event->args[i].arg;
        int64_t value;
        bool is_text = a->kind == EVENT_ARG_TEXT;
        bool has = is_text ? text_value(c, t, event, texts++, &value)
                           : arg_value(c, r->u.sample, a, &value);
        if (has || is_text)
            profile_sample_set(c->profile, row, event->args[i].metric, value);
        c->counts.args_missing += !has;
    }
    if (texts)
        t->has_texts = false;
}

static void set_values(Consumer *c, size_t row, Thread *t, const SampleEvent *event,
                       const PerfRecord *r)
{
    const PerfSample *s = r->u.sample;
    uint64_t value = event->period ? event->period : s->period;
    if (event->is_weighed)
        value = credits_take(&c->credits, &t->credit, r->time, value);
    profile_sample_set(c->profile, row, event->metric, (int64_t)value);
    if (event->has_wall)
        profile_sample_set(c->profile, row, event->wall, (int64_t)value);
    if (!event->group_read)
        return;
    uint32_t tid = event->is_inherited ? r->tid : 0;
    // The first value is that of the leader.
    for (uint64_t i = event->leader_is_read ? 0 : 1; i < s->read_count; i++) {
        const SampleEvent *member = c->setup.event_by_id(c->setup.ctx, s->read[i].id);
        if (member)
            profile_sample_set(c->profile, row, member->metric,
                               (int64_t)group_delta(c, tid, &s->read[i]));
    }
}

void consumer_capture(Consumer *c, const PerfRecord *r)
{
    Bytes raw = r->u.sample->raw;
    CaptureStack s;
    if (raw.len < offsetof(CaptureStack, frames))
        return;
    memcpy(&s, raw.ptr, offsetof(CaptureStack, frames));
    if (s.count > CAPTURE_FRAMES_MAX ||
        raw.len - offsetof(CaptureStack, frames) < s.count * sizeof(CaptureFrame))
        return;
    Thread *t = need_thread(c, need_process(c, r->pid), r->tid);
    if (!t->captured)
        t->captured = heap_alloc(sizeof(*t->captured));
    memcpy(t->captured, raw.ptr, offsetof(CaptureStack, frames) + s.count * sizeof(CaptureFrame));
    t->captured_ns = r->time;
}

void consumer_texts(Consumer *c, const PerfRecord *r)
{
    Bytes raw = r->u.sample->raw;
    const size_t head = offsetof(ProbeTexts, at);
    ProbeTexts texts;
    if (raw.len < head)
        return;
    memcpy(&texts, raw.ptr, head);
    if (texts.count > PROBE_TEXTS_MAX || (raw.len - head) / sizeof(TextCopy) < texts.count)
        return;
    Thread *t = need_thread(c, need_process(c, r->pid), r->tid);
    if (!t->texts)
        t->texts = heap_alloc(sizeof(*t->texts));
    memcpy(t->texts, raw.ptr, head + texts.count * sizeof(TextCopy));
    t->texts_lost = records_lost(c);
    t->has_texts = true;
}

static void add_sample(Consumer *c, Process *p, Thread *t, const PerfRecord *r,
                       const SampleEvent *event, StackId stack)
{
    size_t row = profile_add_sample(c->profile, profile_time(c, r->time), t->id, stack, r->cpu);
    set_values(c, row, t, event, r);
    set_args(c, row, t, event, r);
    p->samples++;
    c->counts.samples++;
}

static void on_sample(Consumer *c, const PerfRecord *r, const SampleEvent *event)
{
    Process *p = need_process(c, r->pid);
    Thread *t = need_thread(c, p, r->tid);
    uint64_t apart = r->time - MIN(r->time, t->captured_ns);
    if (apart > CAPTURE_APART_MAX_NS)
        t->captured_ns = 0;
    add_sample(c, p, t, r, event, sample_stack(c, p, t, r, event));
}

// A sample whose stack is known: the innermost frame and the kernel's come with it.
static StackId known_stack(Consumer *c, Process *p, const KnownSample *k, const PerfSample *s)
{
    StackId stack = {0};
    c->counts.with_stack++;
    c->counts.known++;
    p->in_exec = false;
    p->known.repeats++;
    if (known_stacks_find(c->known, &p->known, k->hash, &stack))
        c->counts.complete++;
    else // the code was replaced while the sample was under way
        stack =
            profile_stack(c->profile, stack, profile_cut_frame(c->profile, STACK_CUT_NO_MEMORY));
    stack = profile_stack(c->profile, stack, user_frame(c, p, k->user_ip, UNWIND_FRAME_EXACT));
    for (size_t n = add_callchain(c, p, s, false, 0); n; n--)
        stack = profile_stack(c->profile, stack, c->frames[n - 1]);
    return stack;
}

// Compares the stack that a hash stands for with that of the newest sample, which was walked.
static void check_known(Consumer *c, Process *p, const KnownSample *k, const PerfSample *s)
{
    StackId outer, walked = vec_last(&c->profile->samples.stack);
    if (!known_stacks_find(c->known, &p->known, k->hash, &outer))
        return; // the code was replaced while the sample was under way
    StackId known = known_stack(c, p, k, s);
    c->counts.with_stack--;
    c->counts.complete--;
    c->counts.known_wrong += known.v != walked.v;
}

// Takes a piece of a stack. True when it is the last one: `stack` becomes the whole stack, or its
// first part where the middle is left out. The other end then stands behind that in `pieces`.
static bool join_pieces(Thread *t, const KnownSample *k, Bytes piece, Bytes *stack)
{
    bool has_gap = k->total > KNOWN_COPY_MAX;
    if (k->at == 0 && k->stack_size == k->total && !has_gap) {
        *stack = piece;
        return true;
    }
    if (k->at == 0)
        t->pieces.len = 0;
    uint64_t left_out =
        has_gap && t->pieces.len >= KNOWN_HEAD ? k->total - KNOWN_HEAD - KNOWN_TAIL : 0;
    if (k->at != t->pieces.len + left_out || k->total > KNOWN_ENDS_MAX || k->at > k->total ||
        k->stack_size > k->total - k->at)
        return false; // an older piece was lost
    vec_reserve(NULL, &t->pieces, piece.len);
    memcpy(t->pieces.at + t->pieces.len, piece.ptr, piece.len);
    t->pieces.len += piece.len;
    *stack =
        bytes_over(t->pieces.at, has_gap ? MIN(t->pieces.len, (size_t)KNOWN_HEAD) : t->pieces.len);
    // Without its middle the stack has two ends; a piece of another size has none to tell apart.
    return k->at + k->stack_size == k->total &&
           (!has_gap || t->pieces.len == KNOWN_HEAD + KNOWN_TAIL);
}

// A sample whose stack was copied, in one piece or in several.
static void on_copied(Consumer *c, const PerfRecord *r, const SampleEvent *event,
                      const KnownSample *k, Bytes piece)
{
    Process *p = need_process(c, r->pid);
    Thread *t = need_thread(c, p, r->tid);
    if (!join_pieces(t, k, piece, &r->u.sample->stack))
        return;
    uint64_t complete = c->counts.complete, with_gap = c->counts.with_gap;
    if (k->total > KNOWN_COPY_MAX)
        c->stack_tail = (StackTail){k->total - KNOWN_TAIL, t->pieces.at + KNOWN_HEAD};
    on_sample(c, r, event);
    c->stack_tail = (StackTail){0};
    if (k->hash)
        check_known(c, p, k, r->u.sample);
    // What was the base of one stack is not that of the present one.
    if (c->counts.with_gap != with_gap)
        return;
    bool is_complete = c->counts.complete != complete;
    // Of a stack without its middle, a cut one says nothing of the base.
    if (!is_complete && k->total > KNOWN_COPY_MAX)
        return;
    if (!is_complete)
        known_stacks_forget_thread(c->known, r->tid);
    else if (k->total > KNOWN_LARGE && c->last_sp_words < k->total / 8 / 2)
        known_stacks_leave(c->known, &p->known, p->pid);
}

bool consumer_known(Consumer *c, const PerfRecord *r, const SampleEvent *event)
{
    Cursor in = cursor_over(r->u.sample->raw, "sample");
    KnownSample k;
    uint64_t regs[PT_REGS_WORDS];
    PerfSample s = {0};
    PerfRecord own = *r;
    Bytes piece = {0}, head = cursor_bytes(&in, sizeof(k));
    if (!cursor_check(&in, NULL))
        return false;
    memcpy(&k, head.ptr, sizeof(k));
    s.ip = k.ip;
    s.period = k.period;
    if (k.stack_size) {
        Bytes words = cursor_bytes(&in, sizeof(regs));
        piece = cursor_bytes(&in, k.stack_size);
        s.regs_abi = PERF_SAMPLE_REGS_ABI_64;
        if (!cursor_check(&in, NULL))
            return false;
        memcpy(regs, words.ptr, sizeof(regs));
        (void)regs_from_pt_regs(regs, s.regs);
    }
    s.callchain = (U64List){cursor_bytes(&in, (size_t)k.count * 8).ptr, k.count};
    if (!cursor_check(&in, NULL))
        return false;
    if (r->time)
        c->last_ns = MAX(c->last_ns, profile_time(c, r->time));
    c->record_time = r->time;
    own.u.sample = &s;
    own.misc = k.in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    if (k.stack_size) {
        on_copied(c, &own, event, &k, piece);
        return true;
    }
    Process *p = need_process(c, r->pid);
    Thread *t = need_thread(c, p, r->tid);
    add_sample(c, p, t, &own, event, known_stack(c, p, &k, &s));
    return true;
}

// ---- Records ---------------------------------------------------------------------------

static void on_switch(Consumer *c, const PerfRecord *r)
{
    Thread *t = find_thread(c, r->tid);
    if (t)
        credits_switch(&c->credits, &t->credit, r->time, r->u.context_switch.out);
}

static bool maps_code(const PerfRecord *r)
{
    return (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2) && r->u.mmap.exec;
}

void consumer_record(Consumer *c, const PerfRecord *r, const SampleEvent *event)
{
    if (r->time)
        c->last_ns = MAX(c->last_ns, profile_time(c, r->time));
    c->record_time = r->time;
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        on_sample(c, r, event);
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
            kernel_map_add(&c->modules.kernel, &r->u.mmap);
        else if (maps_code(r))
            map_into(c, need_process(c, r->u.mmap.pid), r->u.mmap.pid, &r->u.mmap);
        break;
    case PERF_RECORD_COMM:
        on_comm(c, r);
        break;
    case PERF_RECORD_FORK:
        on_fork(c, r);
        break;
    case PERF_RECORD_EXIT:
        on_exit(c, r);
        break;
    case PERF_RECORD_SWITCH:
        on_switch(c, r);
        break;
    case PERF_RECORD_KSYMBOL:
        if (!(r->u.ksymbol.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER))
            kernel_map_add_symbol(&c->modules.kernel, r->u.ksymbol.address, r->u.ksymbol.name);
        break;
    case PERF_RECORD_THROTTLE:
        c->counts.throttled++;
        break;
    case PERF_RECORD_LOST:
        c->counts.lost += r->u.lost.lost;
        break;
    case PERF_RECORD_LOST_SAMPLES:
        c->counts.lost_samples += r->u.lost.lost;
        break;
    default:
        break;
    }
}

// ---- Stacks that are copied apart from samples ----

// The scheduler sees threads for some time after their record of exit.
static Thread *thread_even_ended(Consumer *c, Process *p, uint32_t tid)
{
    Thread *t = find_thread(c, tid);
    if (!t || t->pid != p->pid)
        t = find_thread_row(c, tid, true);
    return t && t->pid == p->pid ? t : need_thread(c, p, tid);
}

uint64_t regs_from_pt_regs(const uint64_t *pt_regs, uint64_t *ret)
{
    enum { NONE = 0xff };
    static const uint8_t numbers[PT_REGS_WORDS] = {23, 22, 21, 20, 6,    1, 19,   18, 17, 16,  0,
                                                   2,  3,  4,  5,  NONE, 8, NONE, 9,  7,  NONE};
    uint64_t mask = 0;
    for (size_t i = 0; i < PT_REGS_WORDS; i++)
        if (numbers[i] != NONE) {
            ret[numbers[i]] = pt_regs[i];
            mask |= 1ull << numbers[i];
        }
    return mask;
}

StackCut consumer_unwind(Consumer *c, const CopiedStack *copied, StackId *ret, uint64_t *base)
{
    Process *p = need_process(c, copied->pid);
    Thread *t = thread_even_ended(c, p, copied->tid);
    PerfSample s = {.regs_abi = PERF_SAMPLE_REGS_ABI_64, .stack = copied->bytes};
    memcpy(s.regs, copied->regs, sizeof(s.regs));
    StackCut cut = STACK_CUT_NONE;
    c->live_bytes = 0; // these stacks are few, and their threads stand still
    size_t n = add_unwound(c, p, t, &s, copied->regs_mask, 0, &cut);
    *base = 0;
    if (cut == STACK_CUT_NONE && c->last_sp_words != UNWIND_SP_FAR) {
        unsigned sp = c->setup.arch == UNWIND_X86_64 ? 7 : 31; // perf's numbers, asm/perf_regs.h
        // The last frame has a return address and a few words of its own.
        *base = s.regs[sp] + 8 * ((uint64_t)c->last_sp_words + BASE_WORDS);
    }
    n = add_cut(c, cut, n);
    *ret = stack_cache_intern(c->stacks, c->profile, c->frames, n);
    return cut;
}

void consumer_read_maps(Consumer *c, uint32_t pid)
{
    Process *p = need_process(c, pid);
    bool kernel_thread = p->kernel_thread;
    read_maps(c, p);
    p->kernel_thread = kernel_thread; // a process that has ended has no mappings either
}

void consumer_add_maps(Consumer *c, uint32_t pid, const ProcMapVec *maps)
{
    add_maps(c, need_process(c, pid), maps);
}

CodeRanges consumer_code(Consumer *c, uint32_t pid)
{
    const uint64_t libraries = 0x700000000000ull;
    CodeRanges r = {.low = UINT64_MAX, .high = UINT64_MAX};
    uint64_t low_end = 0, high_end = 0;
    Process *p = need_process(c, pid);
    for (uint32_t i = 0; i < p->space.count; i++) {
        const UnwindMapping *m = &p->space.at[i];
        if (modules_get(&c->modules, m->user)->is_clock)
            continue; // lies beyond the stack
        uint64_t *start = m->start < libraries ? &r.low : &r.high;
        uint64_t *end = m->start < libraries ? &low_end : &high_end;
        *start = MIN(*start, m->start);
        *end = MAX(*end, m->end);
    }
    r.low_size = low_end > r.low ? low_end - r.low : 0;
    r.high_size = high_end > r.high ? high_end - r.high : 0;
    return r;
}

const ModuleFile *consumer_file_at(Consumer *c, uint32_t pid, uint64_t address, uint64_t *svma)
{
    enum { DATA_BEHIND_CODE = 64 << 20 };
    const UnwindMapping *best = NULL;
    Process *p = need_process(c, pid);
    // Data lie behind the code of the same file.
    for (uint32_t i = 0; i < p->space.count; i++) {
        const UnwindMapping *m = &p->space.at[i];
        if (m->start <= address && address - m->start < DATA_BEHIND_CODE)
            if (!best || m->start > best->start)
                best = m;
    }
    if (!best || modules_get(&c->modules, best->user)->kind != MODULE_FILE)
        return NULL;
    *svma = address - best->bias;
    return modules_get(&c->modules, best->user);
}

ThreadId consumer_thread(Consumer *c, uint32_t pid, uint32_t tid)
{
    return thread_even_ended(c, need_process(c, pid), tid)->id;
}

int64_t consumer_time(const Consumer *c, uint64_t time)
{
    return profile_time(c, time);
}

void consumer_weigh_from(Consumer *c, uint64_t time)
{
    credits_begin(&c->credits, time);
}

void consumer_peek(Consumer *c, const PerfRecord *r)
{
    if (maps_code(r))
        modules_of_mapping(&c->modules, r->u.mmap.pid, &r->u.mmap);
}

// ---- Afterwards ------------------------------------------------------------------------

void consumer_finish(Consumer *c, uint64_t end)
{
    if (end)
        c->last_ns = profile_time(c, end);
    for (size_t i = 0; i < c->threads.len; i++) {
        Thread *t = &c->threads.at[i];
        ProcessId process = c->profile->threads.process.at[t->id.v];
        if (!t->ended)
            add_life(c, t, c->profile->processes.end_ns.at[process.v]);
    }
    c->counts.weighed_ns = c->credits.given;
    c->counts.unsampled_ns = credits_unsampled(&c->credits);
}

uint32_t consumer_running(const Consumer *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->processes.len; i++)
        n += !c->processes.at[i]->ended;
    return n;
}

void consumer_find_late_maps(Consumer *c)
{
    modules_find_late_maps(&c->modules, 0);
}

RuntimeHaste consumer_has_runtimes(const Consumer *c)
{
    RuntimeHaste haste = RUNTIMES_NONE;
    for (size_t i = 0; i < c->processes.len; i++) {
        const RuntimeFrames *r = &c->processes.at[i]->runtimes;
        if (!c->processes.at[i]->ended && runtime_frames_found(r))
            haste = runtime_frames_change(r)   ? RUNTIMES_CHANGE
                    : haste == RUNTIMES_CHANGE ? haste
                                               : RUNTIMES_STAY;
    }
    return haste;
}

bool consumer_has_scripts(const Consumer *c)
{
    return c->has_scripts;
}

bool consumer_read_late(const Consumer *c)
{
    return c->has_python && !c->capture_targets;
}

const ConsumerCounts *consumer_counts(const Consumer *c)
{
    return &c->counts;
}

const ModuleSet *consumer_modules(const Consumer *c)
{
    return &c->modules;
}
