// SPDX-License-Identifier: Apache-2.0
// One-shot breakpoints by ptrace(2). Document: ptrace(2), "PTRACE_SEIZE" and
// "Stopped states"; the loader's hook: <link.h>, r_brk.

#include "collect/cover/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cursor.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/proc.h"

#ifdef __x86_64__

enum { BREAKPOINT = 0xcc, CHUNK_BYTES = 1 << 16, GRACE_MS = 1000 };

typedef struct Mapped {
    TraceModule *module;
    uint64_t start, end; // addresses in the process
    uint64_t bias;       // address in the process - stated address
} Mapped;

typedef Vec(Mapped) MappedVec;

typedef struct Process {
    pid_t pid; // 0: gone
    int mem_fd;
    MappedVec mapped;     // ascending by when they came
    uint64_t loader_hook; // address of _dl_debug_state, 0: none
    bool is_clean;        // its breakpoints were taken out, to let it go
} Process;

// A thread that is traced.
typedef struct Task {
    pid_t tid; // 0: gone
    uint32_t process;
} Task;

typedef struct Tracer {
    Arena arena;
    SiteLoader loader;
    Vec(TraceModule *) modules;
    Vec(Process) processes;
    Table process_index; // by pid; rows of dead ones stay
    Vec(Task) tasks;
    Table task_index; // by tid; likewise
    CoverTraceResult *result;
    pid_t main;
    bool main_ended, letting_go;
    U8Vec buffer;
} Tracer;

// ---- Memory --------------------------------------------------------------------------

static bool open_memory(Process *p)
{
    char path[40];
    if (p->mem_fd >= 0)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
    p->mem_fd = open(path, O_RDWR | O_CLOEXEC);
    return p->mem_fd >= 0;
}

static void close_memory(Process *p)
{
    if (p->mem_fd >= 0)
        close(p->mem_fd);
    p->mem_fd = -1;
}

static bool read_memory(Process *p, uint64_t at, void *to, size_t len)
{
    return open_memory(p) && pread(p->mem_fd, to, len, (off_t)at) == (ssize_t)len;
}

// Kernels may be built to refuse writing to code through /proc; ptrace may.
static bool poke(pid_t tid, uint64_t at, const uint8_t *from, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        uint64_t word_at = (at + i) & ~7ull;
        errno = 0;
        long word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(uintptr_t)word_at, NULL);
        if (word == -1 && errno)
            return false;
        memcpy((char *)&word + (at + i - word_at), from + i, 1);
        if (ptrace(PTRACE_POKETEXT, tid, (void *)(uintptr_t)word_at, (void *)word) != 0)
            return false;
    }
    return true;
}

static bool write_memory(Process *p, pid_t tid, uint64_t at, const uint8_t *from, size_t len)
{
    return (open_memory(p) && pwrite(p->mem_fd, from, len, (off_t)at) == (ssize_t)len) ||
           poke(tid, at, from, len);
}

// ---- Modules -------------------------------------------------------------------------

static TraceModule *module_of(Tracer *t, const ProcMap *map)
{
    uint64_t key = hash_pair(makedev(map->device_major, map->device_minor), map->inode);
    for (size_t i = 0; i < t->modules.len; i++)
        if (t->modules.at[i]->device_inode == key)
            return t->modules.at[i];
    TraceModule *m = arena_new(&t->arena, TraceModule);
    sites_load(&t->loader, map->path, m);
    m->device_inode = key;
    vec_push(&t->arena, &t->modules, m);
    t->result->sites += m->site_count;
    t->result->off_boundary += m->off_boundary;
    t->result->modules_with_debug += m->has_debug;
    t->result->modules_without += !m->has_debug;
    return m;
}

// Breakpoints into, or out of, the sites [from, to), whose bytes lie close together.
static void patch_chunk(Tracer *t, Process *p, pid_t tid, const Mapped *m, size_t from, size_t to,
                        bool insert)
{
    const TraceSite *sites = m->module->sites;
    uint64_t base = sites[from].svma;
    size_t len = (size_t)(sites[to - 1].svma - base) + 1;
    t->buffer.len = 0;
    vec_extend(NULL, &t->buffer, len);
    if (!read_memory(p, base + m->bias, t->buffer.at, len))
        return;
    for (size_t i = from; i < to; i++) {
        uint8_t *byte = &t->buffer.at[sites[i].svma - base];
        if (insert && !sites[i].is_hit && *byte == sites[i].original)
            *byte = BREAKPOINT;
        else if (!insert && *byte == BREAKPOINT)
            *byte = sites[i].original;
    }
    (void)!write_memory(p, tid, base + m->bias, t->buffer.at, len);
}

static void patch(Tracer *t, Process *p, pid_t tid, const Mapped *m, bool insert)
{
    const TraceSite *sites = m->module->sites;
    for (size_t i = 0; i < m->module->site_count;) {
        if (sites[i].svma + m->bias < m->start || sites[i].svma + m->bias >= m->end) {
            i++;
            continue;
        }
        size_t to = i + 1;
        while (to < m->module->site_count && sites[to].svma + m->bias < m->end &&
               sites[to].svma - sites[i].svma < CHUNK_BYTES)
            to++;
        patch_chunk(t, p, tid, m, i, to, insert);
        i = to;
    }
}

static bool is_mapped(const Process *p, const ProcMap *map)
{
    for (size_t i = 0; i < p->mapped.len; i++)
        if (p->mapped.at[i].start == map->start && p->mapped.at[i].end == map->end)
            return true;
    return false;
}

// What was mapped since the last look. `insert` is false for a forked child: its
// memory has the breakpoints of its parent.
static void look_at_maps(Tracer *t, Process *p, pid_t tid, bool insert)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    if (!proc_maps_read(&scratch, (uint32_t)p->pid, &maps, NULL))
        maps.len = 0;
    for (size_t i = 0; i < maps.len; i++) {
        const ProcMap *map = &maps.at[i];
        uint64_t svma;
        if (!map->exec || map->inode == 0 || map->path.len == 0 || map->path.ptr[0] != '/' ||
            is_mapped(p, map))
            continue;
        TraceModule *module = module_of(t, map);
        if (module->site_count == 0 ||
            !elf_svma_of_mapping(&module->elf, map->offset, map->end - map->start, &svma))
            continue;
        Mapped mapped = {module, map->start, map->end, map->start - svma};
        vec_push(NULL, &p->mapped, mapped);
        if (insert)
            patch(t, p, tid, &mapped, true);
    }
    arena_deinit(&scratch);
}

// ---- The loader's hook ---------------------------------------------------------------

// Where the interpreter that holds `address` has _dl_debug_state.
static uint64_t find_hook(const ProcMapVec *maps, uint64_t base)
{
    Arena scratch = {0};
    MappedFile file = {0};
    Elf elf;
    ElfSymbols symbols = {0};
    uint64_t hook = 0;
    for (size_t i = 0; i < maps->len && !file.bytes.len; i++)
        if (maps->at[i].start == base && !os_map_file(maps->at[i].path, &file, NULL))
            break;
    if (file.bytes.len && elf_parse(&scratch, file.bytes, &elf, NULL) &&
        elf_symbols_load(&scratch, &elf, SHT_DYNSYM, &symbols, NULL))
        for (size_t i = 0; i < symbols.count && !hook; i++) {
            ElfSymbol symbol = elf_symbol_get(&symbols, i);
            if (str_equal(symbol.name, STR("_dl_debug_state")) ||
                str_equal(symbol.name, STR("dl_debug_state")))
                hook = base + symbol.value;
        }
    os_unmap_file(&file);
    arena_deinit(&scratch);
    return hook;
}

// AT_BASE of /proc/PID/auxv: 0 for a static program.
static uint64_t interpreter_base(Arena *scratch, pid_t pid)
{
    Bytes auxv;
    Str path = arena_printf(scratch, "/proc/%d/auxv", (int)pid);
    if (!os_read_file(scratch, path, 1 << 16, &auxv, NULL))
        return 0;
    Cursor c = cursor_over(auxv, "auxv");
    while (cursor_more(&c)) {
        uint64_t key = cursor_u64(&c), value = cursor_u64(&c);
        if (key == 7) // AT_BASE
            return value;
    }
    return 0;
}

// The hook must be nothing but a return: then a stop there is ended by returning,
// and no other thread can slip past it.
static void set_hook(Tracer *t, Process *p, pid_t tid)
{
    static const uint8_t breakpoint = BREAKPOINT;
    Arena scratch = {0};
    ProcMapVec maps = {0};
    uint8_t code[6] = {0};
    uint64_t base = interpreter_base(&scratch, p->pid);
    uint64_t hook = 0;
    p->loader_hook = 0;
    if (base && proc_maps_read(&scratch, (uint32_t)p->pid, &maps, NULL))
        hook = find_hook(&maps, base);
    if (hook && read_memory(p, hook, code, sizeof(code))) {
        static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
        const uint8_t *body = memcmp(code, endbr, sizeof(endbr)) == 0 ? code + 4 : code;
        bool returns = body[0] == 0xc3 || (body[0] == 0xf3 && body[1] == 0xc3);
        if (returns && write_memory(p, tid, hook, &breakpoint, 1))
            p->loader_hook = hook;
    }
    t->result->no_loader |= base && !p->loader_hook;
    arena_deinit(&scratch);
}

// ---- Processes -------------------------------------------------------------------------

static Process *process_find(Tracer *t, pid_t pid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->process_index, hash_u64((uint64_t)pid));
         table_next(&t->process_index, &p, &row);)
        if (t->processes.at[row].pid == pid)
            return &t->processes.at[row];
    return NULL;
}

static void process_forget(Process *p)
{
    close_memory(p);
    vec_free(&p->mapped);
    p->pid = 0;
}

static Task *task_find(Tracer *t, pid_t tid)
{
    uint32_t row;
    for (TableProbe p = table_probe(&t->task_index, hash_u64((uint64_t)tid));
         table_next(&t->task_index, &p, &row);)
        if (t->tasks.at[row].tid == tid)
            return &t->tasks.at[row];
    return NULL;
}

// One that is new came by fork or clone: it has the memory, or a copy of the
// memory, of one that is known, with the breakpoints in it.
static Process *process_add(Tracer *t, pid_t pid, pid_t tid)
{
    Process fresh = {.pid = pid, .mem_fd = -1};
    table_insert(&t->process_index, hash_u64((uint64_t)pid), (uint32_t)t->processes.len);
    vec_push(NULL, &t->processes, fresh);
    t->result->processes++;
    Process *p = &vec_last(&t->processes);
    look_at_maps(t, p, tid, false);
    // The parent's hook is at the same place, if it has one.
    for (size_t i = 0; i + 1 < t->processes.len && !p->loader_hook; i++) {
        uint8_t byte;
        uint64_t hook = t->processes.at[i].loader_hook;
        if (hook && read_memory(p, hook, &byte, 1) && byte == BREAKPOINT)
            p->loader_hook = hook;
    }
    return p;
}

// The process of a thread.
static Process *process_of(Tracer *t, pid_t tid)
{
    Task *task = task_find(t, tid);
    if (task)
        return &t->processes.at[task->process];
    Arena scratch = {0};
    ProcStatus status;
    pid_t pid = tid;
    if (proc_status_read(&scratch, (uint32_t)tid, &status, NULL))
        pid = (pid_t)status.thread_group;
    arena_deinit(&scratch);
    Process *p = process_find(t, pid);
    if (!p)
        p = process_add(t, pid, tid);
    Task fresh = {tid, (uint32_t)(p - t->processes.at)};
    table_insert(&t->task_index, hash_u64((uint64_t)tid), (uint32_t)t->tasks.len);
    vec_push(NULL, &t->tasks, fresh);
    return p;
}

static void on_exec(Tracer *t, pid_t pid)
{
    Process *p = process_of(t, pid);
    close_memory(p);
    p->mapped.len = 0;
    set_hook(t, p, pid);
    look_at_maps(t, p, pid, true);
}

// ---- Stops -----------------------------------------------------------------------------

static uint64_t get_register(pid_t tid, size_t offset)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, tid, (void *)offset, NULL);
}

static void set_register(pid_t tid, size_t offset, uint64_t value)
{
    (void)ptrace(PTRACE_POKEUSER, tid, (void *)offset, (void *)(uintptr_t)value);
}

static void mark_hit(Tracer *t, const TraceModule *m, TraceSite *site)
{
    Profile *p = t->loader.profile;
    uint64_t svma = site->svma;
    for (; site < m->sites + m->site_count && site->svma == svma; site++) {
        t->result->sites_hit += !site->is_hit;
        site->is_hit = true;
        if (site->line != SITE_NO_ROW)
            p->line_counts.count.at[site->line] = 1;
        if (site->function != SITE_NO_ROW)
            p->function_counts.count.at[site->function] = 1;
    }
}

static void return_from_hook(Tracer *t, Process *p, pid_t tid)
{
    uint64_t sp = get_register(tid, offsetof(struct user_regs_struct, rsp));
    uint64_t back;
    if (!read_memory(p, sp, &back, sizeof(back)))
        return;
    set_register(tid, offsetof(struct user_regs_struct, rip), back);
    set_register(tid, offsetof(struct user_regs_struct, rsp), sp + 8);
    look_at_maps(t, p, tid, true);
}

// True when the trap is ours: then the thread stands where it will go on. Another
// thread may have hit the same one: its byte is back already, and so is ours.
static bool on_breakpoint(Tracer *t, pid_t tid)
{
    Process *p = process_of(t, tid);
    uint64_t pc = get_register(tid, offsetof(struct user_regs_struct, rip)) - 1;
    if (pc == p->loader_hook && pc) {
        return_from_hook(t, p, tid);
        return true;
    }
    // The latest mapping of an address holds: dlclose and dlopen may reuse it.
    for (size_t i = p->mapped.len; i-- > 0;) {
        const Mapped *m = &p->mapped.at[i];
        if (pc < m->start || pc >= m->end)
            continue;
        TraceSite *site = site_find(m->module, pc - m->bias);
        if (!site)
            return false;
        if (!write_memory(p, tid, pc, &site->original, 1))
            return false;
        mark_hit(t, m->module, site);
        set_register(tid, offsetof(struct user_regs_struct, rip), pc);
        return true;
    }
    return false;
}

// Takes everything out of a process and lets this thread of it go.
static void let_go(Tracer *t, pid_t tid, int signal)
{
    Process *p = process_of(t, tid);
    if (!p->is_clean) {
        for (size_t i = 0; i < p->mapped.len; i++)
            patch(t, p, tid, &p->mapped.at[i], false);
        p->is_clean = true;
    }
    (void)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool is_breakpoint_stop(pid_t tid, int status)
{
    siginfo_t info;
    return WSTOPSIG(status) == SIGTRAP && status >> 16 == 0 &&
           ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) == 0 &&
           (info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT);
}

static void on_stop(Tracer *t, pid_t tid, int status)
{
    int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC)
        on_exec(t, tid);
    if (is_breakpoint_stop(tid, status) && on_breakpoint(t, tid))
        signal = 0;
    else if (event == PTRACE_EVENT_STOP && is_stop_signal(signal) && !t->letting_go) {
        (void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        return;
    } else if (event)
        signal = 0;
    if (event == PTRACE_EVENT_STOP)
        (void)process_of(t, tid);
    if (t->letting_go)
        let_go(t, tid, signal);
    else
        (void)ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal);
}

static void on_end(Tracer *t, pid_t tid, int status, const struct rusage *usage)
{
    Process *p = process_find(t, tid);
    Task *task = task_find(t, tid);
    if (p)
        process_forget(p);
    if (task)
        task->tid = 0;
    if (tid == t->main) {
        t->result->child = (ChildEnd){.status = status, .usage = *usage};
        t->main_ended = true;
    }
}

static void on_report(Tracer *t, pid_t tid, int status, const struct rusage *usage)
{
    if (WIFSTOPPED(status))
        on_stop(t, tid, status);
    else
        on_end(t, tid, status, usage);
}

// ---- The loop ----------------------------------------------------------------------------

static void interrupt_all(Tracer *t)
{
    t->letting_go = true;
    for (size_t i = 0; i < t->processes.len; i++) {
        U32Vec threads = {0};
        if (t->processes.at[i].pid &&
            proc_list_threads((uint32_t)t->processes.at[i].pid, &threads, NULL))
            for (size_t k = 0; k < threads.len; k++)
                (void)ptrace(PTRACE_INTERRUPT, (pid_t)threads.at[k], NULL, NULL);
        vec_free(&threads);
    }
}

// Every stop and end that was reported, without waiting for more.
static void attend(void *ctx)
{
    int status;
    struct rusage usage;
    pid_t tid;
    while ((tid = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0)
        on_report(ctx, tid, status, &usage);
}

// Until the command has ended and, for a moment, what it left behind.
static void serve(Tracer *t)
{
    int64_t ended_ns = 0;
    for (;;) {
        int status;
        struct rusage usage;
        pid_t tid = wait4(-1, &status, __WALL | (t->main_ended ? WNOHANG : 0), &usage);
        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            return;
        if (tid > 0)
            on_report(t, tid, status, &usage);
        if (!t->main_ended)
            continue;
        int64_t now = os_monotonic_ns();
        ended_ns = ended_ns ? ended_ns : now;
        int64_t waited_ms = (now - ended_ns) / 1000000;
        if (waited_ms > GRACE_MS && !t->letting_go)
            interrupt_all(t);
        if (waited_ms > 2 * GRACE_MS)
            return;
        if (tid == 0)
            usleep(5000);
    }
}

static volatile pid_t signal_target;

// A terminal sends its signals to the program as well; others are passed on.
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (info->si_code != SI_KERNEL && signal_target > 0)
        kill(signal_target, number);
    errno = saved;
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void catch_signals(struct sigaction old[])
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaction(passed_on[i], &action, &old[i]);
    signal(SIGCHLD, SIG_DFL);
}

static bool attach(const Spawned *child, Error *err)
{
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, child->pid, NULL, (void *)options) == 0)
        return true;
    (void)error_os(err, "cannot trace the program");
    return error_hint(err, "the kernel forbids ptrace here: a container may need "
                           "--cap-add=SYS_PTRACE, or kernel.yama.ptrace_scope is 3");
}

static bool start(Tracer *t, const CoverTraceOptions *o, Error *err)
{
    Spawned child;
    struct sigaction old[ARRAY_LEN(passed_on)];
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    if (!spawn_prepare(o->program, o->argv, &mask, &child, err))
        return false;
    if (!attach(&child, err)) {
        spawn_close(&child, true);
        return false;
    }
    signal_target = t->main = child.pid;
    catch_signals(old);
    bool ok = spawn_release_traced(&child, o->program, attend, t, err);
    if (ok)
        serve(t);
    signal_target = 0;
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        sigaction(passed_on[i], &old[i], NULL);
    spawn_close(&child, false);
    return ok;
}

bool cover_trace_run(const CoverTraceOptions *o, Profile *profile, CoverTraceResult *ret,
                     Error *err)
{
    *ret = (CoverTraceResult){0};
    Tracer t = {.result = ret};
    site_loader_init(&t.loader, &t.arena, profile);
    t.loader.keep = o->keep;
    t.loader.keep_ctx = o->keep_ctx;
    ret->no_disassembler = t.loader.disasm == NULL;
    bool ok = start(&t, o, err);
    for (size_t i = 0; i < t.processes.len; i++)
        process_forget(&t.processes.at[i]);
    vec_free(&t.processes);
    vec_free(&t.tasks);
    table_deinit(&t.task_index);
    vec_free(&t.buffer);
    table_deinit(&t.process_index);
    site_loader_deinit(&t.loader);
    arena_deinit(&t.arena);
    return ok;
}

#else

bool cover_trace_run(const CoverTraceOptions *o, Profile *profile, CoverTraceResult *ret,
                     Error *err)
{
    (void)o;
    (void)profile;
    (void)ret;
    error_set(err, ERROR_UNSUPPORTED, "breakpoints at lines work on x86-64 only");
    return error_hint(err, "compile with what 'assay cover flags' prints");
}

#endif
