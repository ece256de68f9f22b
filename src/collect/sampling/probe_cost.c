// SPDX-License-Identifier: Apache-2.0
// Measures the cost of one hit of a probe for the observed program.

#include "collect/sampling/probe_cost_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/perf_event.h"
#include "os/proc.h"

// The ring holds the copies of all hits, so that each is written to memory that no cache has, as in
// a recording.
enum { RING_PAGES = 512, BATCHES = 40, BATCH_HITS = 8 };
// Between the hits that find the caches cold, so much memory is read, a byte of each line.
enum { COLD_HITS = 24, COLD_BYTES = 4 << 20, LINE_BYTES = 64 };

// The functions that are probed: the first instruction of one is single-stepped by the kernel, that
// of the other is not.
void probe_cost_stepped(void);
void probe_cost_emulated(void);
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".type probe_cost_stepped, @function\n"
        "probe_cost_stepped: mov %rsp, %rax\nret\n"
        ".size probe_cost_stepped, . - probe_cost_stepped\n"
        ".type probe_cost_emulated, @function\n"
        "probe_cost_emulated: push %rbx\npop %rbx\nret\n"
        ".size probe_cost_emulated, . - probe_cost_emulated\n"
        ".popsection\n");
#else
__attribute__((noinline, noclone)) void probe_cost_stepped(void)
{
    __asm__ volatile("");
}
__attribute__((noinline, noclone)) void probe_cost_emulated(void)
{
    __asm__ volatile("nop");
}
#endif

// The file and the offset of the function's first instruction.
static bool find_self(Arena *arena, uint64_t at, const char **path, uint64_t *offset)
{
    ProcMapVec maps = {0};
    if (!proc_maps_read(arena, (uint32_t)getpid(), &maps, NULL))
        return false;
    for (size_t i = 0; i < maps.len; i++) {
        const ProcMap *m = &maps.at[i];
        if (at < m->start || at >= m->end || m->path.len == 0)
            continue;
        *path = arena_c_str(arena, m->path);
        *offset = at - m->start + m->offset;
        return true;
    }
    return false;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(int64_t *times, size_t count)
{
    qsort(times, count, sizeof(*times), compare_times);
    return (uint64_t)MAX(times[count / 2], (int64_t)0);
}

static int64_t time_calls(PerfRing *ring, void (*probed)(void), int count)
{
    int64_t before = os_thread_cpu_ns();
    for (int i = 0; i < count; i++)
        probed();
    int64_t ns = os_thread_cpu_ns() - before;
    if (ring)
        ring_release(ring, ring_head(ring));
    return ns;
}

// The processor time of a call, the median of all batches: the cost for observed programs depends
// on the present load of the machine.
static uint64_t time_of_call(PerfRing *ring, void (*probed)(void))
{
    int64_t times[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++)
        times[batch] = time_calls(ring, probed, BATCH_HITS);
    return median(times, BATCHES) / BATCH_HITS;
}

// The same of single calls, where other memory was used in between. `memory` has COLD_BYTES bytes.
static uint64_t time_of_cold_call(PerfRing *ring, void (*probed)(void), const uint8_t *memory)
{
    int64_t times[COLD_HITS];
    for (int i = 0; i < COLD_HITS; i++) {
        for (size_t at = 0; at < COLD_BYTES; at += LINE_BYTES)
            (void)*(const volatile uint8_t *)&memory[at];
        times[i] = time_calls(ring, probed, 1);
    }
    return median(times, COLD_HITS);
}

// What `arm` sets at the event of a probe of this process. `ring` is emptied meanwhile when it is
// mapped then; NULL: there is none.
static ProbeCost cost_of(const struct perf_event_attr *like, bool is_emulated,
                         bool (*arm)(void *ctx, int event), void *ctx, PerfRing *ring)
{
    void (*probed)(void) = is_emulated ? probe_cost_emulated : probe_cost_stepped;
    Arena arena = {0};
    struct perf_event_attr attr = *like;
    const char *path;
    ProbeCost cost = {0};
    uint64_t offset;
    uint8_t *memory = arena_array(&arena, uint8_t, COLD_BYTES);
    memset(memory, 1, COLD_BYTES); // else all pages are one page of zeros
    attr.inherit = attr.enable_on_exec = 0;
    attr.disabled = 1;
    attr.watermark = 0;
    attr.config &= 1; // at the return or not, without a marker's counter
    int fd = -1;
    if (find_self(&arena, (uint64_t)(uintptr_t)probed, &path, &offset)) {
        attr.config1 = (uint64_t)(uintptr_t)path;
        attr.config2 = offset;
        fd = perf_event_open(&attr, 0, -1, -1);
    }
    uint64_t bare = time_of_call(NULL, probed);
    uint64_t cold_bare = time_of_cold_call(NULL, probed, memory);
    if (fd >= 0 && arm(ctx, fd)) {
        uint64_t warm = time_of_call(ring, probed);
        uint64_t cold = time_of_cold_call(ring, probed, memory);
        cost.warm_ns = warm - MIN(bare, warm);
        cost.cold_ns = MAX(cold - MIN(cold_bare, cold), cost.warm_ns);
    }
    if (fd >= 0)
        close(fd);
    arena_deinit(&arena);
    return cost;
}

static bool map_and_enable(void *ctx, int event)
{
    return ring_map(event, RING_PAGES, ctx) && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

ProbeCost probe_cost(const struct perf_event_attr *like, bool is_emulated)
{
    PerfRing ring = {0};
    ProbeCost cost = cost_of(like, is_emulated, map_and_enable, &ring, &ring);
    if (ring.page)
        ring_unmap(&ring);
    return cost;
}

ProbeCost probe_cost_by(const struct perf_event_attr *like, bool is_emulated,
                        bool (*arm)(void *ctx, int event), void *ctx)
{
    return cost_of(like, is_emulated, arm, ctx, NULL);
}
