// SPDX-License-Identifier: Apache-2.0
// Unwinds this process's own stacks and compares with backtrace() of libc.

#include "harness.h"
#include "modules.h"

#include <execinfo.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define SIGNALS_ARE_DEFERRED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(SIGNALS_ARE_DEFERRED)
enum { CAN_INTERRUPT = 0 }; // TSan runs handlers later, from elsewhere
#else
enum { CAN_INTERRUPT = 1 };
#endif

enum { DEPTH_MAX = 4096, WINDOW_MAX = 1 << 20 };

static Arena arena;
static UnwindSpace space;
static UnwindCache cache;
static UnwindFrame frames[DEPTH_MAX];
static void *expected[DEPTH_MAX];
static volatile unsigned compared; // raise() is declared not to call back
static _Thread_local uint64_t own_stack_end;

static UnwindRegs regs_of(const ucontext_t *u)
{
    static const int greg[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    UnwindRegs r = {.known = 0x1ffff};
    for (unsigned i = 0; i < ARRAY_LEN(greg); i++)
        r.reg[i] = (uint64_t)u->uc_mcontext.gregs[greg[i]];
    r.pc = r.reg[UNWIND_X86_64_PC];
    return r;
}

// Not in a signal handler the first time: it allocates.
static uint64_t stack_end(void)
{
    if (own_stack_end)
        return own_stack_end;
    pthread_attr_t attr;
    void *base;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &base, &size);
    pthread_attr_destroy(&attr);
    own_stack_end = (uint64_t)base + size;
    return own_stack_end;
}

static UnwindWalk walk_from(const UnwindRegs *r)
{
    uint64_t sp = r->reg[UNWIND_X86_64_SP];
    UnwindMemory memory = {
        .window = (const void *)sp, .window_addr = sp, .window_size = stack_end() - sp};
    return unwind_walk(&space, &cache, r, &memory, frames, DEPTH_MAX);
}

// Both walks start in this frame; from the second one on they must be equal.
static __attribute__((noinline)) void compare_here(void)
{
    ucontext_t here;
    getcontext(&here);
    UnwindRegs r = regs_of(&here);
    UnwindWalk walk = walk_from(&r);
    int n = backtrace(expected, DEPTH_MAX);
    assert_int_equal(walk.end, UNWIND_COMPLETE);
    assert_int_equal(walk.guessed, 0);
    // A sanitizer's own backtrace() stands between.
    int extra = n - (int)walk.frame_count;
    assert_in_range(extra, 0, 1);
    for (int i = 1; i < n - extra; i++) {
        uint64_t pc = frames[i].pc + (frames[i].flags & UNWIND_FRAME_EXACT ? 0 : 1);
        assert_int_equal(pc, (uint64_t)expected[i + extra]);
    }
    compared++;
}

static void one_frame_matches_backtrace(void **state)
{
    (void)state;
    compare_here();
}

static __attribute__((noinline)) int recurse(int depth, volatile char *up)
{
    volatile char local[40];
    local[0] = up[0];
    if (depth == 0)
        compare_here();
    else
        recurse(depth - 1, local);
    return local[0] + depth;
}

static void deep_recursion_matches_backtrace(void **state)
{
    (void)state;
    volatile char c[1] = {0};
    recurse(2000, c);
}

static __attribute__((noinline)) void moved_stack(size_t n)
{
    volatile char *p = __builtin_alloca(n);
    p[0] = 1;
    compare_here();
    p[n - 1] = 2;
}

static void a_frame_of_unknown_size_matches_backtrace(void **state)
{
    (void)state;
    for (size_t n = 1; n < 5000; n += 311)
        moved_stack(n);
}

static __attribute__((noinline)) void realigned_stack(int n)
{
    volatile char wide[64] __attribute__((aligned(64)));
    volatile char *moved = __builtin_alloca((size_t)n);
    wide[0] = moved[0] = 1;
    compare_here();
    assert_int_equal((uintptr_t)wide % 64, 0);
}

static void a_realigned_stack_matches_backtrace(void **state)
{
    (void)state;
    for (int n = 1; n < 100; n += 9)
        realigned_stack(n);
}

static int compare_in_sort(const void *a, const void *b)
{
    static int calls;
    if (calls++ % 8 == 0)
        compare_here();
    return *(const int *)a - *(const int *)b;
}

static void a_callback_from_libc_matches_backtrace(void **state)
{
    (void)state;
    int at[64];
    for (int i = 0; i < 64; i++)
        at[i] = i * 37 % 64;
    qsort(at, ARRAY_LEN(at), sizeof(at[0]), compare_in_sort);
    assert_int_equal(at[63], 63);
}

static void handler(int sig)
{
    (void)sig;
    compare_here();
}

static void a_signal_frame_matches_backtrace(void **state)
{
    (void)state;
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGUSR1, &sa, NULL);
    unsigned before = compared;
    raise(SIGUSR1);
    assert_int_equal(compared, before + 1);
    bool exact = false;
    for (unsigned i = 1; i < 8; i++)
        exact = exact || (frames[i].flags & UNWIND_FRAME_EXACT);
    assert_true(exact);
}

static void *thread(void *arg)
{
    compare_here();
    return arg;
}

static void a_thread_ends_where_it_was_started(void **state)
{
    (void)state;
    pthread_t t;
    unsigned before = compared;
    assert_int_equal(pthread_create(&t, NULL, thread, NULL), 0);
    pthread_join(t, NULL);
    assert_int_equal(compared, before + 1);
}

// Where there is nothing to compare with. While an exception is thrown, libgcc's
// _Unwind_RaiseException and _Unwind_Resume write the registers of the frame that
// catches over those they saved of their caller, which their CFI still states to
// lie there: from then on no unwinder can tell the caller's, and backtrace() may
// crash. And lld states no CFI for a PLT, where backtrace() stops.
typedef struct CodeRange {
    uint64_t start, end;
} CodeRange;
static CodeRange libgcc, own_plt[3];

static bool is_in(CodeRange r, uint64_t pc)
{
    return pc >= r.start && pc < r.end;
}

static bool is_in_own_plt(uint64_t pc)
{
    return is_in(own_plt[0], pc) || is_in(own_plt[1], pc) || is_in(own_plt[2], pc);
}

// Behind the `pop %rbp` of a function that realigned its stack, where gcc's CFI
// still takes every register from where rbp points: backtrace() goes astray.
static bool is_behind_realigned(const uint8_t *pc)
{
    static const uint8_t lea[] = {0x49, 0x8d, 0x62, 0xf8}; // lea -8(%r10), %rsp; then ret
    return memcmp(pc, lea, sizeof(lea)) == 0 ||
           (pc[0] == 0xc3 && memcmp(pc - sizeof(lea), lea, sizeof(lea)) == 0);
}

static void find_own_plt(const ModulesLine *m)
{
    static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
    MappedFile file = {0};
    Elf elf;
    uint64_t svma;
    assert_true(os_map_file(str_from_c(m->path), &file, NULL));
    assert_true(elf_parse(&arena, file.bytes, &elf, NULL));
    assert_true(elf_svma_of_mapping(&elf, m->offset, m->end - m->start, &svma));
    for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
        UnwindRange r = modules_range(&elf, names[i]);
        own_plt[i] = (CodeRange){r.start + m->start - svma, r.end + m->start - svma};
    }
    os_unmap_file(&file);
}

static void find_code_ranges(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    while (f && fgets(line, sizeof(line), f)) {
        ModulesLine m;
        uint64_t here = (uint64_t)find_code_ranges;
        if (!modules_parse_line(line, &m))
            continue;
        if (strstr(m.path, "/libgcc_s.so"))
            libgcc = (CodeRange){m.start, m.end};
        else if (here >= m.start && here < m.end)
            find_own_plt(&m);
    }
    if (f)
        fclose(f);
}

// A timer hits any instruction: prologues, epilogues, PLT entries, the loader.
static unsigned ticks, differences, not_known;
static char failed_at[4096];

static void count_tick(bool same, const UnwindRegs *r, const UnwindWalk *walk, int expected_count)
{
    ticks++;
    if (same || differences++)
        return;
    const UnwindMapping *m = unwind_space_find(&space, walk->end_pc);
    snprintf(failed_at, sizeof(failed_at),
             "pc 0x%lx: %u frames against %d, ended %d at pc 0x%lx, stated 0x%lx", r->pc,
             walk->frame_count, expected_count, (int)walk->end, walk->end_pc,
             walk->end_pc - (m ? m->bias : 0));
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)info;
    UnwindRegs r = regs_of(context);
    if (is_in(libgcc, r.pc)) {
        not_known++;
        return;
    }
    UnwindWalk walk = walk_from(&r);
    bool complete = walk.end == UNWIND_COMPLETE;
    if (is_behind_realigned((const uint8_t *)r.pc)) { // NOLINT
        not_known++;
        count_tick(complete, &r, &walk, 0);
        return;
    }
    int n = backtrace(expected, DEPTH_MAX);
    // backtrace() has this handler and the signal frame first.
    int first = 0;
    while (first < n && (uint64_t)expected[first] != r.pc)
        first++;
    if (n - first == 1 && complete && is_in_own_plt(r.pc)) {
        not_known++;
        return;
    }
    bool same = complete && (int)walk.frame_count == n - first;
    for (int i = 1; same && i < n - first; i++)
        same = frames[i].pc + 1 == (uint64_t)expected[first + i];
    count_tick(same, &r, &walk, n - first);
}

// Given by unwind_self.cc where it is linked in.
int more_work(int depth) __attribute__((weak));

static __attribute__((noinline)) int some_work(void)
{
    regex_t re;
    regmatch_t match[4];
    char text[256];
    int found = 0;
    if (regcomp(&re, "([a-z]+)[0-9]*(x|y|zz)+([^ ]*)", REG_EXTENDED))
        return 0;
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof(text), "%d abc%dxyzz%f tail %s", i, i, i * 1.5, "more");
        found += regexec(&re, text, 4, match, 0) == 0;
        struct timespec now; // in the vdso
        for (int k = 0; k < 40; k++)
            clock_gettime(k % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now);
    }
    regfree(&re);
    if (more_work)
        found += more_work(20);
    return found;
}

static void every_instruction_a_timer_hits_matches_backtrace(void **state)
{
    (void)state;
    if (!CAN_INTERRUPT)
        skip();
    struct sigaction sa = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGALRM, &sa, NULL);
    stack_end();
    struct itimerspec every = {.it_interval.tv_nsec = 250000, .it_value.tv_nsec = 250000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &every, NULL);
    int found = 0;
    for (int i = 0; i < 400 && ticks < 500; i++)
        found += some_work();
    timer_delete(timer);
    assert_true(found > 0);
    assert_true(ticks >= 20);
    print_message("%u stacks compared, %u where nobody knows\n", ticks, not_known);
    if (differences)
        fail_msg("%u of %u stacks differ, first at %s", differences, ticks, failed_at);
}

static void a_short_window_says_so(void **state)
{
    (void)state;
    ucontext_t here;
    getcontext(&here);
    UnwindRegs r = regs_of(&here);
    uint64_t sp = r.reg[UNWIND_X86_64_SP];
    uint64_t size = stack_end() - sp;
    UnwindMemory memory = {.window = (const void *)sp, .window_addr = sp, .window_cut = true};
    uint32_t last = 1;
    for (memory.window_size = 0; memory.window_size < MIN(size, 4096u); memory.window_size += 8) {
        UnwindWalk walk = unwind_walk(&space, &cache, &r, &memory, frames, DEPTH_MAX);
        assert_true(walk.frame_count >= last);
        assert_true(walk.end == UNWIND_CUT_DUMP_SHORT || walk.end == UNWIND_COMPLETE);
        last = walk.frame_count;
    }
    memory.window_size = size;
    UnwindWalk walk = unwind_walk(&space, &cache, &r, &memory, frames, 2);
    assert_int_equal(walk.end, UNWIND_CUT_TOO_DEEP);
    assert_int_equal(walk.frame_count, 2);
}

static int set_up(void **state)
{
    (void)state;
    void *warm[4];
    backtrace(warm, 4); // loads libgcc_s before the maps are read
    space = modules_own_space(&arena);
    find_code_ranges();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unwind_space_deinit(&space);
    arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_frame_matches_backtrace),
        cmocka_unit_test(deep_recursion_matches_backtrace),
        cmocka_unit_test(a_frame_of_unknown_size_matches_backtrace),
        cmocka_unit_test(a_realigned_stack_matches_backtrace),
        cmocka_unit_test(a_callback_from_libc_matches_backtrace),
        cmocka_unit_test(a_signal_frame_matches_backtrace),
        cmocka_unit_test(a_thread_ends_where_it_was_started),
        cmocka_unit_test(every_instruction_a_timer_hits_matches_backtrace),
        cmocka_unit_test(a_short_window_says_so),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int main(void)
{
    return 77; // compares registers of x86-64
}

#endif
