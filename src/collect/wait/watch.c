// SPDX-License-Identifier: Apache-2.0
// Loads the programs of collect/bpf/programs/wait.bpf.c.

#include "collect/wait/watch_internal.h"

#include "base/log.h"
#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/wait_program.h"
#include "collect/wait/reasons_internal.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CPUS_MAX = 1024, KERNEL_THREAD = 0x00200000 };

typedef struct Offset {
    const char *structure, *member;
    size_t to; // of WaitConfig
} Offset;

static const Offset offsets[] = {
    {"task_struct", "pid", offsetof(WaitConfig, task_pid)},
    {"task_struct", "tgid", offsetof(WaitConfig, task_tgid)},
    {"task_struct", "mm", offsetof(WaitConfig, task_mm)},
    {"task_struct", "flags", offsetof(WaitConfig, task_flags)},
    {"task_struct", "__state", offsetof(WaitConfig, task_state)},
    {"mm_struct", "exec_vm", offsetof(WaitConfig, mm_exec_pages)},
    {"pt_regs", "orig_ax", offsetof(WaitConfig, regs_call)},
    {"pt_regs", "sp", offsetof(WaitConfig, regs_sp)},
    {"pt_regs", "ip", offsetof(WaitConfig, regs_ip)},
    {"pt_regs", "di", offsetof(WaitConfig, regs_arg[0])},
    {"pt_regs", "si", offsetof(WaitConfig, regs_arg[1])},
    {"pt_regs", "dx", offsetof(WaitConfig, regs_arg[2])},
};

static bool make_config(const WaitingSetup *setup, const BpfTypes *types, WaitConfig *c, Error *err)
{
    *c = (WaitConfig){.every = setup->every,
                      .inherit = setup->inherit,
                      .self = (uint32_t)getpid(),
                      .min_wait_ns = setup->min_wait_ns,
                      .min_waker_ns = setup->min_wait_ns,
                      .task_kthread = KERNEL_THREAD};
    for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
        uint32_t offset;
        if (!bpf_types_offset(types, offsets[i].structure, offsets[i].member, &offset))
            return error_set(err, ERROR_UNSUPPORTED, "this kernel has no %s.%s",
                             offsets[i].structure, offsets[i].member);
        memcpy((char *)c + offsets[i].to, &offset, sizeof(offset));
    }
    uint32_t entity, ran, args = 0;
    if (!bpf_types_offset(types, "task_struct", "se", &entity) ||
        !bpf_types_offset(types, "sched_entity", "sum_exec_runtime", &ran))
        return error_set(err, ERROR_UNSUPPORTED, "this kernel's tasks have no processor time");
    c->task_ran = entity + ran;
    (void)bpf_types_tracepoint(types, "sched_switch", &args);
    c->has_state = args >= 4;
    for (uint32_t call = 0; call < WAIT_CALLS; call++) {
        uint32_t arg;
        if (wait_object_of(call, &arg) != WAIT_OBJECT_NONE)
            c->object_of[call] = (uint8_t)(arg + 1);
    }
    return true;
}

static bool make_maps(const WaitConfig *config, uint32_t cpus, Watch *w, Error *err)
{
    w->config_fd = bpf_array_make(sizeof(*config), 1, BPF_F_RDONLY_PROG);
    w->shared_fd = bpf_array_make(sizeof(WaitShared), 1, BPF_F_MMAPABLE);
    w->scratch_fd = bpf_array_make(sizeof(WaitDump), cpus, 0);
    w->interrupts_fd = bpf_array_make(CPUS_MAX * sizeof(uint32_t), 1, 0);
    w->outputs_fd = bpf_event_array_make(cpus);
    if (w->config_fd < 0 || w->shared_fd < 0 || w->scratch_fd < 0 || w->interrupts_fd < 0 ||
        w->outputs_fd < 0 || !bpf_element_set(w->config_fd, 0, config) || !bpf_freeze(w->config_fd))
        return error_os(err, "cannot make the tables of BPF programs");
    void *at = mmap(NULL, sizeof(WaitShared), PROT_READ | PROT_WRITE, MAP_SHARED, w->shared_fd, 0);
    if (at == MAP_FAILED)
        return error_os(err, "cannot map the tables of BPF programs");
    w->shared = at;
    return true;
}

// The events through which programs write, one for each CPU, into its ring.
static bool open_outputs(const WaitingSetup *setup, Watch *w, Error *err)
{
    w->event_fds = heap_alloc(setup->cpu_count * sizeof(*w->event_fds));
    w->ids = heap_alloc(setup->cpu_count * sizeof(*w->ids));
    return bpf_outputs_open(&setup->output, setup->cpus, setup->ring_fds, setup->cpu_count,
                            w->outputs_fd, w->event_fds, w->ids, &w->event_count) ||
           error_os(err, "cannot open the output of BPF programs");
}

// Without the tracepoints of interrupts some wakings are taken for those of threads. Not all
// architectures have all of them.
static bool is_needed(const char *tracepoint)
{
    return strncmp(tracepoint, "sched_", 6) == 0;
}

static bool attach_all(const BpfTypes *types, Watch *w, Error *err)
{
    const BpfMap maps[] = {
        [WAIT_MAP_CONFIG] = {w->config_fd, true},
        [WAIT_MAP_SHARED] = {w->shared_fd, true},
        [WAIT_MAP_INTERRUPTS] = {w->interrupts_fd, true},
        [WAIT_MAP_SCRATCH] = {w->scratch_fd, false},
        [WAIT_MAP_OUTPUTS] = {w->outputs_fd, false},
    };
    for (uint32_t i = 0; i < wait_program.count; i++) {
        const BpfCode *code = &wait_program.programs[i];
        assert(w->fd_count + 2 <= WATCH_FDS_MAX);
        uint32_t n = bpf_attach(code, maps, types, &w->fds[w->fd_count], err);
        if (n == 0 && is_needed(code->tracepoint))
            return false;
        if (n == 0)
            log_debug(LOG_RECORD, 1, "%s", err->text);
        w->fd_count += n;
    }
    return true;
}

static bool open_all(const WaitingSetup *setup, const BpfTypes *types, Watch *w, Error *err)
{
    WaitConfig *config = heap_alloc(sizeof(*config));
    uint32_t cpus = 0;
    for (size_t i = 0; i < setup->cpu_count; i++)
        cpus = MAX(cpus, setup->cpus[i] + 1);
    bool ok = make_config(setup, types, config, err) && make_maps(config, cpus, w, err);
    heap_free(config);
    return ok && open_outputs(setup, w, err) && attach_all(types, w, err);
}

bool watch_open(const WaitingSetup *setup, Watch *ret, Error *err)
{
    Error own = {0};
    *ret = (Watch){
        .config_fd = -1, .shared_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .interrupts_fd = -1};
    BpfTypes *types;
#if !defined(__x86_64__)
    return error_set(err, ERROR_UNSUPPORTED, "waits are watched by BPF on x86-64 only");
#endif
    if (!bpf_types_open(BPF_TYPES_PATH, &types, &own)) {
        *err = own;
        return false;
    }
    bool ok = open_all(setup, types, ret, &own);
    bpf_types_close(types);
    if (!ok) {
        *err = own;
        watch_close(ret);
    }
    return ok;
}

void watch_detach(Watch *w)
{
    for (uint32_t i = 0; i < w->fd_count; i++)
        close(w->fds[i]);
    w->fd_count = 0;
}

void watch_close(Watch *w)
{
    const int fds[] = {w->config_fd, w->shared_fd, w->scratch_fd, w->outputs_fd, w->interrupts_fd};
    watch_detach(w);
    if (w->shared)
        munmap(w->shared, sizeof(*w->shared));
    for (size_t i = 0; i < w->event_count; i++)
        close(w->event_fds[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    heap_free(w->event_fds);
    heap_free(w->ids);
    *w = (Watch){
        .config_fd = -1, .shared_fd = -1, .scratch_fd = -1, .outputs_fd = -1, .interrupts_fd = -1};
}
