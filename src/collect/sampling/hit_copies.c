// SPDX-License-Identifier: Apache-2.0
// Loads the programs of collect/bpf/programs/hit_copies.bpf.c, sets them at probes, and decides how
// much of the stacks they copy.

#include "collect/sampling/hit_copies_internal.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/bpf/bpf.h"
#include "collect/bpf/process_set.h"
#include "collect/bpf/programs/hit_copies_program.h"
#include "collect/sampling/text_plans_internal.h"
#include "os/privilege.h"
#include "replay/consumer.h"
#include "wire/hit_copies.h"

enum {
    GROWTH = 4,                 // a copy grows so many times …
    GROWTH_LARGE = 2,           // … and a large one so many
    BYTES_LARGE = 16 << 10,     //
    BASE_BYTES = 64,            // of the outermost frame, above its stack pointer
    BASES_WRONG_MAX = 8,        // then the base of a thread is not looked for any more
    COST_RING_BYTES = 2 << 20,  // a ring that holds all hits by which the cost is measured
    COST_STACK_BYTES = 4 << 10, // … with so much of the stack
    USER_CODE_64 = 0x33,        // code segment of 64-bit programs
};

struct HitCopies {
    int config_fd, shared_fd, slots_fd, outputs_fd, program_fd;
    HitCopyShared *shared;
    const SamplingOptions *options;
    const uint64_t *periods;
    size_t event_count;
    Vec(int) fds; // links and events; the ids of outputs lie in `ids`
    U64Vec ids;
    uint8_t *wrong; // [HIT_COPY_THREADS] how often the base there was wrong
};

// ---- Opening ----------------------------------------------------------------------------

static bool can_copy(const EventSet *set, const uint64_t *periods, Error *err)
{
    const SamplingOptions *o = set->options;
    bool stacks = set->stacks == STACKS_TABLES || set->stacks == STACKS_NONE;
    bool plain = set->events.len <= HIT_COPY_COST && !set->group_read && !set->per_thread &&
                 !o->no_inherit && !o->cpu_count && !o->copy_stacks &&
                 o->stack_bytes <= HIT_COPY_STACK_MAX;
    for (size_t i = 0; i < set->events.len; i++) {
        const EventSpec *e = &set->events.at[i];
        plain = plain && e->is_probe && !e->is_kernel_function && periods[i] && !e->filter.len;
    }
#if !defined(__x86_64__)
    plain = false;
#endif
    if (!stacks || !plain || probe_texts_wanted(&set->events) || (o->tid_count && o->pid_count))
        return error_set(err, ERROR_UNSUPPORTED, "not for such a recording");
    if (!o->system_wide && !set->probes_are_ours)
        return error_set(err, ERROR_UNSUPPORTED, "other processes use the file");
    if (!privilege_is_special() || !privilege_sees_kernel_pids())
        return error_set(err, ERROR_PERMISSION, "not allowed");
    return true;
}

static bool make_maps(const EventSet *set, const BpfTypes *types, HitCopies *h, Error *err)
{
    const SamplingOptions *o = set->options;
    uint32_t args = 0, cpus = 0;
    HitCopyConfig config = {.whose = o->system_wide ? HIT_COPY_ALL
                                     : o->tid_count ? HIT_COPY_TASKS
                                                    : HIT_COPY_PROCESSES};
    if (!bpf_types_offset(types, "task_struct", "tgid", &config.task_tgid))
        return error_set(err, ERROR_UNSUPPORTED, "this kernel has no task_struct.tgid");
    (void)bpf_types_tracepoint(types, "sched_process_exit", &args);
    config.has_group = args >= 2;
    for (size_t i = 0; i < set->cpu_count; i++)
        cpus = MAX(cpus, set->cpus[i] + 1);
    h->config_fd = bpf_array_make(sizeof(config), 1, BPF_F_RDONLY_PROG);
    h->shared_fd = bpf_array_make(sizeof(HitCopyShared), 1, BPF_F_MMAPABLE);
    h->slots_fd = bpf_array_make(sizeof(HitCopySlot), cpus * HIT_COPY_SLOTS, 0);
    h->outputs_fd = bpf_event_array_make(cpus);
    if (h->config_fd < 0 || h->shared_fd < 0 || h->slots_fd < 0 || h->outputs_fd < 0 ||
        !bpf_element_set(h->config_fd, 0, &config) || !bpf_freeze(h->config_fd))
        return error_os(err, "cannot make the tables of BPF programs");
    void *at =
        mmap(NULL, sizeof(HitCopyShared), PROT_READ | PROT_WRITE, MAP_SHARED, h->shared_fd, 0);
    if (at == MAP_FAILED)
        return error_os(err, "cannot map the tables of BPF programs");
    h->shared = at;
    return true;
}

static bool load_programs(const BpfTypes *types, HitCopies *h, Error *err)
{
    const BpfMap maps[] = {
        [HIT_COPIES_MAP_CONFIG] = {h->config_fd, true},
        [HIT_COPIES_MAP_OUTPUTS] = {h->outputs_fd, false},
        [HIT_COPIES_MAP_SHARED] = {h->shared_fd, true},
        [HIT_COPIES_MAP_SLOTS] = {h->slots_fd, false},
    };
    for (uint32_t i = 0; i < hit_copies_program.count; i++) {
        const BpfCode *code = &hit_copies_program.programs[i];
        int fds[2];
        if (strcmp(code->tracepoint, "kprobe") == 0) {
            h->program_fd = bpf_load_for_samples(code, maps, err);
            if (h->program_fd < 0)
                return false;
            continue;
        }
        if (h->options->system_wide || h->options->tid_count)
            continue; // they keep the set of processes
        if (bpf_attach(code, maps, types, fds, err) == 0)
            return false;
        vec_push(NULL, &h->fds, fds[0]);
        vec_push(NULL, &h->fds, fds[1]);
    }
    return true;
}

HitCopies *hit_copies_load(const EventSet *set, const uint64_t *periods, Error *err)
{
    BpfTypes *types;
    if (!can_copy(set, periods, err) || !bpf_types_open(BPF_TYPES_PATH, &types, err))
        return NULL;
    HitCopies *h = heap_alloc(sizeof(*h));
    *h = (HitCopies){.config_fd = -1,
                     .shared_fd = -1,
                     .slots_fd = -1,
                     .outputs_fd = -1,
                     .program_fd = -1,
                     .options = set->options,
                     .periods = periods,
                     .event_count = set->events.len};
    h->wrong = heap_alloc(HIT_COPY_THREADS);
    bool ok = make_maps(set, types, h, err) && load_programs(types, h, err);
    bpf_types_close(types);
    if (ok)
        return h;
    hit_copies_close(h);
    return NULL;
}

void hit_copies_close(HitCopies *h)
{
    if (!h)
        return;
    const int fds[] = {h->program_fd, h->config_fd, h->shared_fd, h->slots_fd, h->outputs_fd};
    for (size_t i = h->fds.len; i > 0; i--)
        close(h->fds.at[i - 1]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (h->shared)
        munmap(h->shared, sizeof(*h->shared));
    vec_free(&h->fds);
    vec_free(&h->ids);
    heap_free(h->wrong);
    heap_free(h);
}

static bool open_outputs(const EventSet *set, const struct perf_event_attr *attr, HitCopies *h,
                         Error *err)
{
    size_t opened = 0;
    int *fds = arena_array(set->arena, int, set->ring_count);
    uint64_t *ids = arena_array(set->arena, uint64_t, set->ring_count);
    bool ok = bpf_outputs_open(attr, set->cpus, set->ring_fds, set->ring_count, h->outputs_fd, fds,
                               ids, &opened);
    for (size_t i = 0; i < opened; i++) {
        vec_push(NULL, &h->fds, fds[i]);
        vec_push(NULL, &h->ids, ids[i]);
    }
    return ok || error_os(err, "cannot open the output of BPF programs");
}

// The program runs at the probe on every CPU, whichever CPU the event is for.
static bool set_places(const EventSet *set, HitCopies *h, Error *err)
{
    for (size_t i = 0; i < set->events.len; i++) {
        const EventSpec *spec = &set->events.at[i];
        struct perf_event_attr attr = {.disabled = 1};
        event_spec_apply(spec, &attr);
        int fd = perf_event_open(&attr, -1, (int)set->cpus[0], -1);
        if (fd < 0)
            return error_os(err, "cannot probe '%" STR_FMT "'", STR_ARG(spec->name));
        vec_push(NULL, &h->fds, fd);
        int link = bpf_attach_to_event(h->program_fd, fd, i);
        if (link < 0)
            return error_os(err, "cannot attach a BPF program to '%" STR_FMT "'",
                            STR_ARG(spec->name));
        vec_push(NULL, &h->fds, link);
    }
    return true;
}

static void settle_event(const EventSet *set, const HitCopies *h, size_t i, HitCopyEvent *ret)
{
    *ret = (HitCopyEvent){.bytes = set->stacks == STACKS_TABLES ? set->stack_bytes : 0,
                          .exact = set->options->stack_bytes != 0,
                          .period = h->periods[i]};
}

bool hit_copies_start(const EventSet *set, HitCopies *h, struct perf_event_attr *attr,
                      const uint64_t **ids, Error *err)
{
    *attr = bpf_output_attr(&set->base);
    for (size_t i = 0; i < set->events.len; i++)
        settle_event(set, h, i, &h->shared->events[i]);
    if (!open_outputs(set, attr, h, err) || !set_places(set, h, err))
        return false;
    *ids = h->ids.at;
    return true;
}

// ---- Whose hits ---------------------------------------------------------------------------

void hit_copies_begin(HitCopies *h, pid_t child, const U32Vec *pids)
{
    const SamplingOptions *o = h->options;
    if (child > 0)
        process_set_add(&h->shared->processes, (uint32_t)child);
    for (size_t i = 0; i < pids->len; i++)
        process_set_add(&h->shared->processes, pids->at[i]);
    for (size_t i = 0; i < o->tid_count; i++)
        process_set_add(&h->shared->processes, o->tids[i]);
}

void hit_copies_enable(HitCopies *h, bool is_on)
{
    for (size_t i = 0; i < h->event_count; i++)
        __atomic_store_n(&h->shared->events[i].is_on, is_on, __ATOMIC_SEQ_CST);
}

// Sets the program at a probe of this process. Its records stay in the rings.
static bool arm_own(void *ctx, int event)
{
    HitCopies *h = ctx;
    h->shared->events[HIT_COPY_COST] =
        (HitCopyEvent){.is_on = 1, .bytes = COST_STACK_BYTES, .exact = 1};
    int link = bpf_attach_to_event(h->program_fd, event, HIT_COPY_COST);
    if (link >= 0)
        vec_push(NULL, &h->fds, link);
    return link >= 0;
}

ProbeCost hit_copies_cost(const EventSet *set, HitCopies *h)
{
    const EventSpec *first = &set->events.at[0];
    struct perf_event_attr attr = {.disabled = 1};
    if (set->ring_pages * (size_t)sysconf(_SC_PAGESIZE) < COST_RING_BYTES)
        return (ProbeCost){0};
    event_spec_apply(first, &attr);
    process_set_add(&h->shared->processes, (uint32_t)getpid());
    ProbeCost cost = probe_cost_by(&attr, first->is_emulated, arm_own, h);
    h->shared->events[HIT_COPY_COST].is_on = 0;
    process_set_remove(&h->shared->processes, (uint32_t)getpid());
    return cost;
}

uint64_t hit_copies_lost(const HitCopies *h, uint64_t *ret_unsaid)
{
    *ret_unsaid = __atomic_load_n(&h->shared->no_slot, __ATOMIC_RELAXED);
    return *ret_unsaid + __atomic_load_n(&h->shared->no_room, __ATOMIC_RELAXED);
}

uint64_t hit_copies_left_out(const HitCopies *h)
{
    return h->shared->processes.no_room;
}

// ---- Records -----------------------------------------------------------------------------

static bool is_ours(const HitCopies *h, uint64_t id)
{
    for (size_t i = 0; i < h->ids.len; i++)
        if (h->ids.at[i] == id)
            return true;
    return false;
}

HitRecord hit_copies_take(const HitCopies *h, PerfRecord *r, CopiedHit *ret)
{
    enum { REGS_IP = 16, REGS_CS = 17, REGS_SP = 19 };
    PerfSample *s = r->u.sample;
    HitCopy copy;
    if (!h || !is_ours(h, r->id))
        return HIT_RECORD_NONE;
    if (s->raw.len < sizeof(copy))
        return HIT_RECORD_BROKEN;
    memcpy(&copy, s->raw.ptr, sizeof(copy));
    if (copy.event == HIT_COPY_COST)
        return HIT_RECORD_OWN;
    if (copy.event >= h->event_count || copy.size > s->raw.len - sizeof(copy))
        return HIT_RECORD_BROKEN;
    *ret = (CopiedHit){.event = copy.event,
                       .tid = r->tid,
                       .sp = copy.regs[REGS_SP],
                       .bytes = copy.size,
                       .is_whole = copy.size == copy.wanted,
                       .by_base = copy.by_base};
    r->misc = PERF_RECORD_MISC_USER;
    s->ip = copy.regs[REGS_IP];
    s->period = h->shared->events[copy.event].period;
    s->callchain = (U64List){0};
    s->stack = bytes_slice(s->raw, sizeof(copy), sizeof(copy) + copy.size);
    s->stack_cut = ret->is_whole && !copy.by_base;
    s->regs_abi =
        copy.regs[REGS_CS] == USER_CODE_64 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
    (void)regs_from_pt_regs(copy.regs, s->regs);
    s->raw = (Bytes){0};
    return HIT_RECORD_COPIED;
}

// The place of a thread in the table: its own, a free one, or one that it takes over.
static uint32_t place_of(const HitCopyShared *s, uint32_t tid)
{
    uint32_t free = tid;
    for (uint32_t i = HIT_COPY_PROBES; i > 0; i--) {
        uint32_t at = (tid + i - 1) & (HIT_COPY_THREADS - 1);
        if (s->threads[at].tid == tid)
            return at;
        if (s->threads[at].tid == 0)
            free = at;
    }
    return free & (HIT_COPY_THREADS - 1);
}

static void set_base(HitCopies *h, uint32_t tid, uint64_t base)
{
    uint32_t at = place_of(h->shared, tid);
    HitCopyThread *t = &h->shared->threads[at];
    if (t->tid != tid)
        h->wrong[at] = 0;
    if (t->tid == tid && base == 0 && t->base)
        h->wrong[at]++;
    if (h->wrong[at] > BASES_WRONG_MAX)
        base = 0;
    if (t->tid == tid && t->base == base)
        return;
    __atomic_store_n(&t->tid, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->base, base, __ATOMIC_SEQ_CST);
    __atomic_store_n(&t->tid, tid, __ATOMIC_SEQ_CST);
}

static void grow(HitCopies *h, const EventSet *set, uint32_t event)
{
    HitCopyEvent *e = &h->shared->events[event];
    uint32_t bytes = e->bytes * (e->bytes < BYTES_LARGE ? GROWTH : GROWTH_LARGE);
    __atomic_store_n(&e->bytes, MIN(bytes, (uint32_t)HIT_COPY_STACK_MAX), __ATOMIC_SEQ_CST);
    log_debug(LOG_RECORD, 1, "copies of stacks at '%" STR_FMT "' have %u bytes now",
              STR_ARG(set->events.at[event].name), e->bytes);
}

void hit_copies_see(HitCopies *h, const EventSet *set, const CopiedHit *hit, uint64_t stack_bytes,
                    bool is_short)
{
    const HitCopyEvent *e = &h->shared->events[hit->event];
    if (e->exact || e->bytes == 0)
        return;
    if (is_short && hit->by_base && hit->bytes < HIT_COPY_STACK_MAX)
        set_base(h, hit->tid, 0);
    else if (is_short && hit->is_whole && hit->bytes == e->bytes && e->bytes < HIT_COPY_STACK_MAX)
        grow(h, set, hit->event);
    else if (stack_bytes)
        set_base(h, hit->tid, align_up(hit->sp + stack_bytes + BASE_BYTES, 8));
}
