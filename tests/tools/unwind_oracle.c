// SPDX-License-Identifier: Apache-2.0
// unwind_oracle STOPS STEPS COMMAND...: stops COMMAND here and there, then steps it
// by single instructions, and compares at each place the stack that our tables
// give from its registers and a copy of its stack with the one libunwind gives.
// Prints the counts and up to five stacks that differ; status 1 when any differs, is
// incomplete, or too few places could be compared. Behind a frame that libunwind finds no
// rules for (startup code; the vdso, in another process) it follows the frame pointer
// and goes on with a wrong stack pointer (1.6.2, src/x86_64/Gstep.c): what it says from
// there on is not a measure, ours must only be complete.

#include "../unit/unwind/modules.h"

#include <errno.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH_MAX = 2000, STACK_MAX = 8 << 20, MAPS_MAX = 1 << 18, TABLES_MAX = 256, SHOWN_MAX = 5 };

typedef struct KnownTable {
    char path[512];
    uint64_t offset;
    const UnwindTable *table;
    uint64_t svma;  // of the mapping's first byte
    uint64_t entry; // 0: none
} KnownTable;

typedef struct Oracle {
    pid_t pid;
    Arena arena;
    UnwindSpace space;
    UnwindCache cache;
    char maps[MAPS_MAX]; // as they were when the space was made
    KnownTable known[TABLES_MAX];
    size_t known_count;
    uint64_t stack_end;
    unw_addr_space_t theirs;
    void *theirs_ctx;
    uint8_t *stack;
    UnwindFrame frame[DEPTH_MAX];
    uint64_t expected[DEPTH_MAX];
    uint64_t equal, shorter, without_rules, differ, ours_cut;
} Oracle;

static Oracle o;

// ---- The mappings ----------------------------------------------------------------

// NULL only when there are more modules than any of the programs has.
static const KnownTable *table_of(const ModulesLine *m, uint64_t *bias)
{
    for (size_t i = 0; i < o.known_count; i++) {
        if (strcmp(o.known[i].path, m->path) == 0 && o.known[i].offset == m->offset) {
            *bias = m->start - o.known[i].svma;
            return &o.known[i];
        }
    }
    if (o.known_count == TABLES_MAX)
        return NULL;
    ModulesLine line = *m;
    // The child's vdso is this process's, at another place.
    if (strcmp(m->path, "[vdso]") == 0) {
        line.start = getauxval(AT_SYSINFO_EHDR);
        line.end = line.start + (m->end - m->start);
    }
    KnownTable *k = &o.known[o.known_count++];
    *k = (KnownTable){.offset = m->offset};
    snprintf(k->path, sizeof(k->path), "%s", m->path);
    k->table = modules_table(&o.arena, &line, bias, &k->entry);
    *bias += m->start - line.start;
    k->svma = m->start - *bias;
    return k;
}

static void read_maps(void)
{
    static char now[MAPS_MAX];
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/maps", o.pid);
    FILE *f = fopen(path, "r");
    size_t len = f ? fread(now, 1, sizeof(now) - 1, f) : 0;
    if (f)
        fclose(f);
    now[len] = 0;
    if (strcmp(now, o.maps) == 0)
        return;
    memcpy(o.maps, now, len + 1);
    unwind_space_clear(&o.space);
    unw_flush_cache(o.theirs, 0, 0);
    for (char *line = now, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        ModulesLine m;
        bool is_code = modules_parse_line(line, &m);
        if (strcmp(m.path, "[stack]") == 0)
            o.stack_end = m.end;
        if (!is_code)
            continue;
        UnwindMapping map = {.start = m.start, .end = m.end};
        const KnownTable *known = table_of(&m, &map.bias);
        if (known) {
            map.table = known->table;
            map.user = (uint32_t)(known - o.known);
        }
        unwind_space_map(&o.space, map);
    }
}

// ---- One place -------------------------------------------------------------------

// With `ret_guesses`, which is slow, up to the first frame that it has no rules for.
static uint32_t walk_theirs(bool *ret_guesses)
{
    unw_cursor_t cursor;
    uint32_t n = 0;
    if (unw_init_remote(&cursor, o.theirs, o.theirs_ctx) != 0)
        return 0;
    do {
        unw_word_t ip;
        unw_proc_info_t rules;
        if (unw_get_reg(&cursor, UNW_REG_IP, &ip) != 0 || ip == 0)
            break;
        o.expected[n++] = ip;
        // Without rules it makes up a procedure of one byte.
        if (ret_guesses && unw_get_proc_info(&cursor, &rules) == 0)
            *ret_guesses = rules.end_ip <= rules.start_ip + 1;
        if (ret_guesses && *ret_guesses)
            break;
    } while (n < DEPTH_MAX && unw_step(&cursor) > 0);
    return n;
}

static bool read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
    (void)ctx;
    errno = 0;
    *ret = (uint64_t)ptrace(PTRACE_PEEKDATA, o.pid, addr, 0L);
    return errno == 0;
}

static bool walk_ours(UnwindWalk *ret)
{
    struct user_regs_struct u;
    if (ptrace(PTRACE_GETREGS, o.pid, 0L, &u) != 0)
        return false;
    UnwindRegs r = {.pc = u.rip, .known = 0x1ffff};
    const uint64_t values[17] = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8,
                                 u.r9,  u.r10, u.r11, u.r12, u.r13, u.r14, u.r15, u.rip};
    memcpy(r.reg, values, sizeof(values));
    UnwindMemory memory = {.read = read_word};
    if (u.rsp < o.stack_end && o.stack_end - u.rsp <= STACK_MAX) {
        struct iovec here = {o.stack, o.stack_end - u.rsp};
        struct iovec there = {(void *)u.rsp, o.stack_end - u.rsp}; // NOLINT
        if (process_vm_readv(o.pid, &here, 1, &there, 1, 0) == (ssize_t)here.iov_len) {
            memory.window = o.stack;
            memory.window_addr = u.rsp;
            memory.window_size = here.iov_len;
        }
    }
    *ret = unwind_walk(&o.space, &o.cache, &r, &memory, o.frame, DEPTH_MAX);
    return true;
}

static uint64_t our_address(uint32_t i)
{
    return o.frame[i].pc + (i == 0 || o.frame[i].flags & UNWIND_FRAME_EXACT ? 0 : 1);
}

static void show_difference(const UnwindWalk *walk, uint32_t n)
{
    if (o.differ > SHOWN_MAX)
        return;
    printf("ours ends as %d after %u frames, libunwind's after %u:\n", walk->end, walk->frame_count,
           n);
    for (uint32_t i = 0; i < MAX(n, walk->frame_count) && i < 40; i++) {
        uint64_t pc = i < walk->frame_count ? our_address(i) : 0;
        const UnwindMapping *m = pc ? unwind_space_find(&o.space, pc) : NULL;
        printf("  %#14lx %#14lx%s svma %#lx\n", pc, i < n ? o.expected[i] : 0,
               i < n && pc == o.expected[i] ? "" : "  <", m ? pc - m->bias : 0);
    }
}

// The loader's first instructions have no rules, and nothing called them.
static bool is_program_start(uint64_t pc)
{
    enum { START_CODE_BYTES = 96 };
    const UnwindMapping *m = unwind_space_find(&o.space, pc);
    uint64_t entry = m ? o.known[m->user].entry : 0;
    return entry && pc - m->bias - entry < START_CODE_BYTES;
}

static uint32_t same_frames(const UnwindWalk *walk, uint32_t n)
{
    uint32_t same = 0;
    while (same < n && same < walk->frame_count && our_address(same) == o.expected[same])
        same++;
    return same;
}

static void compare(void)
{
    UnwindWalk walk;
    read_maps();
    if (!walk_ours(&walk))
        return;
    if (walk.end == UNWIND_CUT_NO_TABLE && is_program_start(walk.end_pc))
        walk.end = UNWIND_COMPLETE;
    bool guesses = false;
    uint32_t n = walk_theirs(NULL);
    uint32_t same = same_frames(&walk, n);
    if (same < n) {
        n = walk_theirs(&guesses);
        same = same_frames(&walk, n);
    }
    if (same == n && same == walk.frame_count) {
        o.equal++;
    } else if (same == n && walk.end == UNWIND_COMPLETE) {
        *(guesses ? &o.without_rules : &o.shorter) += 1;
    } else {
        o.differ++;
        show_difference(&walk, n);
    }
    o.ours_cut += walk.end != UNWIND_COMPLETE;
}

// ---- The child ---------------------------------------------------------------------

static bool wait_for_stop(void)
{
    int status;
    if (waitpid(o.pid, &status, 0) != o.pid || !WIFSTOPPED(status))
        return false;
    return true;
}

static bool start(char **argv)
{
    o.pid = fork();
    if (o.pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        ptrace(PTRACE_TRACEME, 0, 0L, 0L);
        execvp(argv[0], argv);
        _exit(127);
    }
    return o.pid > 0 && wait_for_stop();
}

// Lets it run for about that long and stops it again. False when it ended.
static bool run_for(useconds_t us)
{
    if (ptrace(PTRACE_CONT, o.pid, 0L, 0L) != 0)
        return false;
    usleep(us);
    return kill(o.pid, SIGSTOP) == 0 && wait_for_stop();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned long stops = strtoul(argv[1], NULL, 10), steps = strtoul(argv[2], NULL, 10);
    unsigned random = 1;
    o.stack = malloc(STACK_MAX);
    unwind_space_init(&o.space, UNWIND_X86_64);
    o.theirs = unw_create_addr_space(&_UPT_accessors, 0);
    unw_set_caching_policy(o.theirs, UNW_CACHE_GLOBAL);
    if (!o.stack || !start(argv + 3))
        return 2;
    o.theirs_ctx = _UPT_create(o.pid);
    bool alive = true;
    for (unsigned long i = 0; alive && i < stops; i++) {
        random = random * 1664525 + 1013904223;
        alive = run_for(500 + (random >> 16) % 4000);
        for (unsigned long k = 0; alive && k < steps; k++) {
            compare();
            alive = ptrace(PTRACE_SINGLESTEP, o.pid, 0L, 0L) == 0 && wait_for_stop();
        }
    }
    kill(o.pid, SIGKILL);
    printf("%lu places equal, %lu where libunwind stops earlier, %lu where it has no rules, "
           "%lu differ; %lu of ours incomplete\n",
           o.equal, o.shorter, o.without_rules, o.differ, o.ours_cut);
    return o.differ || o.ours_cut || o.equal < stops ? 1 : 0;
}
