// SPDX-License-Identifier: Apache-2.0
// Measures unwind tables: building them for the files given, and walking stacks
// of a program without frame pointers, sampled by a timer and copied, as the
// recorder has them. backtrace() of libc walks the same stacks where they lie.

#include "unit/unwind/modules.h"

#include <execinfo.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

enum {
    SAMPLES_MAX = 400,
    FRAMES_MAX = 512,
    STACK_MAX = 64 << 10,
    ROUNDS = 200,
    EVICT = 64 << 20,
    COLD_EVERY = 4
};

typedef struct Sample {
    UnwindRegs regs;
    uint64_t size;
    uint8_t *stack;
    uint64_t backtrace_ns;
    unsigned backtrace_frames;
} Sample;

static Arena arena;
static Sample samples[SAMPLES_MAX];
static volatile unsigned sample_count;
static uint64_t stack_end;
static volatile char sink;

// CPU time, as other work on the machine is not to be measured; for what is
// short against the call's own cost the wall clock, and then the median.
static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t wall_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *at, size_t count)
{
    qsort(at, count, sizeof(at[0]), compare_doubles);
    return at[count / 2];
}

static void on_tick(int sig, siginfo_t *info, void *context)
{
    static const int greg[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                 REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    static void *pcs[FRAMES_MAX];
    const ucontext_t *u = context;
    (void)sig;
    (void)info;
    if (sample_count == SAMPLES_MAX)
        return;
    Sample *s = &samples[sample_count];
    for (unsigned i = 0; i < ARRAY_LEN(greg); i++)
        s->regs.reg[i] = (uint64_t)u->uc_mcontext.gregs[greg[i]];
    s->regs.pc = s->regs.reg[UNWIND_X86_64_PC];
    s->regs.known = 0x1ffff;
    uint64_t sp = s->regs.reg[UNWIND_X86_64_SP];
    s->size = MIN(stack_end - sp, (uint64_t)STACK_MAX);
    memcpy(s->stack, (const void *)sp, s->size); // NOLINT
    uint64_t start = wall_ns();
    s->backtrace_frames = (unsigned)backtrace(pcs, FRAMES_MAX);
    s->backtrace_ns = wall_ns() - start;
    sample_count++;
}

static __attribute__((noinline)) int work(int depth)
{
    volatile char frame[64];
    frame[0] = (char)depth;
    int found = frame[0];
    if (depth % 8 == 0) {
        regex_t re;
        if (regcomp(&re, "([a-z]+)[0-9]*(x|y|zz)+([^ ]*)", REG_EXTENDED) == 0) {
            char text[128];
            snprintf(text, sizeof(text), "%d abc%dxyzz%f tail", depth, depth, depth * 1.5);
            found += regexec(&re, text, 0, NULL, 0);
            regfree(&re);
        }
    }
    found += depth ? work(depth - 1) : 0;
    return found + frame[0];
}

static void take_samples(void)
{
    struct sigaction sa = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerspec every = {.it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1000000};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    pthread_attr_t attr;
    void *base, *warm[4];
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &base, &size);
    pthread_attr_destroy(&attr);
    stack_end = (uint64_t)base + size;
    backtrace(warm, 4);
    for (unsigned i = 0; i < SAMPLES_MAX; i++)
        samples[i].stack = arena_alloc(&arena, STACK_MAX, 8);
    sigaction(SIGALRM, &sa, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &every, NULL);
    while (sample_count < SAMPLES_MAX)
        work(56);
    timer_delete(timer);
}

static void evict(uint8_t *memory)
{
    for (size_t i = 0; i < EVICT; i += 64)
        memory[i]++;
    sink = (char)memory[0];
}

static UnwindWalk walk(UnwindSpace *space, UnwindCache *cache, const Sample *s, UnwindFrame *frames,
                       uint32_t max)
{
    UnwindMemory memory = {.window = s->stack,
                           .window_addr = s->regs.reg[UNWIND_X86_64_SP],
                           .window_size = s->size,
                           .window_cut = true};
    return unwind_walk(space, cache, &s->regs, &memory, frames, max);
}

typedef enum ColdKind {
    COLD_ALL,     // the copied stack, tables, rules, this code: nothing is in a cache
    COLD_BUT_DUMP // but the copied stack, which the drain has written just before
} ColdKind;

// Medians over walks with caches evicted and the rule cache empty.
typedef struct ColdTimes {
    double per_frame;  // ns of the whole walk for each of its frames
    double first;      // ns of a walk of one frame: starting, this code, the clock
    double each_after; // ns for each frame after the first
} ColdTimes;

static double cold_walk(UnwindSpace *space, UnwindCache *cache, uint8_t *memory, ColdKind kind,
                        Sample s, uint32_t max, uint32_t *ret_frames)
{
    static UnwindFrame frames[FRAMES_MAX];
    static uint8_t dump[STACK_MAX];
    memset(cache, 0, sizeof(*cache));
    evict(memory);
    if (kind == COLD_BUT_DUMP) {
        memcpy(dump, s.stack, s.size);
        s.stack = dump;
    }
    uint64_t start = wall_ns();
    *ret_frames = walk(space, cache, &s, frames, max).frame_count;
    return (double)(wall_ns() - start);
}

static ColdTimes cold_walks(UnwindSpace *space, UnwindCache *cache, uint8_t *memory, ColdKind kind)
{
    double per_frame[SAMPLES_MAX / COLD_EVERY], first[SAMPLES_MAX / COLD_EVERY];
    double after[SAMPLES_MAX / COLD_EVERY];
    for (unsigned i = 0; i < ARRAY_LEN(first); i++) {
        uint32_t n, one;
        double whole =
            cold_walk(space, cache, memory, kind, samples[i * COLD_EVERY], FRAMES_MAX, &n);
        first[i] = cold_walk(space, cache, memory, kind, samples[i * COLD_EVERY], 1, &one);
        per_frame[i] = whole / n;
        after[i] = (whole - first[i]) / MAX(n - 1, 1u);
    }
    return (ColdTimes){median(per_frame, ARRAY_LEN(first)), median(first, ARRAY_LEN(first)),
                       median(after, ARRAY_LEN(first))};
}

static void measure_walks(void)
{
    static UnwindFrame frames[FRAMES_MAX];
    // As the recorder has them.
    Arena tables = {.huge_pages = true};
    UnwindSpace space = modules_own_space(&tables);
    UnwindCache *cache = arena_new(&tables, UnwindCache);
    double backtrace_ns[SAMPLES_MAX];
    uint64_t total = 0, complete = 0;
    for (unsigned i = 0; i < SAMPLES_MAX; i++) {
        UnwindWalk w = walk(&space, cache, &samples[i], frames, FRAMES_MAX);
        total += w.frame_count;
        complete += w.end == UNWIND_COMPLETE;
        backtrace_ns[i] = (double)samples[i].backtrace_ns / samples[i].backtrace_frames;
    }
    uint64_t start = cpu_ns();
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < SAMPLES_MAX; i++)
            sink = (char)walk(&space, cache, &samples[i], frames, FRAMES_MAX).frame_count;
    double warm = (double)(cpu_ns() - start) / ROUNDS / (double)total;
    start = cpu_ns();
    for (unsigned round = 0; round < ROUNDS / 4; round++)
        for (unsigned i = 0; i < SAMPLES_MAX; i++)
            sink = (char)walk(&space, NULL, &samples[i], frames, FRAMES_MAX).frame_count;
    double uncached = (double)(cpu_ns() - start) / (ROUNDS / 4) / (double)total;
    uint8_t *memory = arena_alloc(&arena, EVICT, 64);
    ColdTimes cold = cold_walks(&space, cache, memory, COLD_ALL);
    ColdTimes drained = cold_walks(&space, cache, memory, COLD_BUT_DUMP);
    printf("walk stacks %u frames %.1f complete %.2f warm %.2f table %.2f cold %.1f drained %.1f "
           "backtrace %.1f first %.0f %.0f after %.1f %.1f\n",
           SAMPLES_MAX, (double)total / SAMPLES_MAX, 100.0 * (double)complete / SAMPLES_MAX, warm,
           uncached, cold.per_frame, drained.per_frame,
           median(backtrace_ns, ARRAY_LEN(backtrace_ns)), cold.first, drained.first,
           cold.each_after, drained.each_after);
    unwind_space_deinit(&space);
    arena_deinit(&tables);
}

static void measure_build(const char *path)
{
    Arena own = {0};
    MappedFile file;
    Elf elf;
    Error err;
    if (!os_map_file(str_from_c(path), &file, &err) || !elf_parse(&own, file.bytes, &elf, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.text);
        exit(1);
    }
    UnwindSections s = modules_sections(&own, &elf);
    uint64_t best = UINT64_MAX;
    UnwindTable t = {0};
    for (unsigned round = 0; round < 5; round++) {
        uint64_t start = cpu_ns();
        if (!unwind_table_build(&own, &s, &t, NULL, &err)) {
            fprintf(stderr, "%s: %s\n", path, err.text);
            exit(1);
        }
        uint64_t took = cpu_ns() - start;
        best = MIN(best, took);
    }
    size_t bytes = unwind_table_size_bytes(&t);
    printf("build %s rows %u actions %u ms %.1f ns/row %.1f bytes/row %.2f of-eh_frame %.2f\n",
           path, t.row_count, t.action_count, (double)best / 1e6, (double)best / t.row_count,
           (double)bytes / t.row_count, (double)bytes / (double)s.eh_frame.len);
    arena_deinit(&own);
    os_unmap_file(&file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        measure_build(argv[i]);
    take_samples();
    measure_walks();
    arena_deinit(&arena);
    return 0;
}
