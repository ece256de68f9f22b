// SPDX-License-Identifier: Apache-2.0
// Loads the program of collect/bpf/programs/calls.bpf.c.

#include "collect/calls/call_hooks_internal.h"

#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/calls_program.h"

#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool make_config(const CallsSetup *setup, const BpfTypes *types, CallConfig *c, Error *err)
{
    uint32_t args = 0;
    *c = (CallConfig){.every = setup->every, .inherit = setup->inherit};
    (void)bpf_types_tracepoint(types, "sched_process_exit", &args);
    c->has_group = args >= 2;
    return bpf_types_offset(types, "task_struct", "tgid", &c->task_tgid) ||
           error_set(err, ERROR_UNSUPPORTED, "this kernel has no task_struct.tgid");
}

static bool make_maps(const CallConfig *config, uint32_t cpus, CallHooks *h, Error *err)
{
    h->config_fd = bpf_array_make(sizeof(*config), 1, BPF_F_RDONLY_PROG);
    h->shared_fd = bpf_array_make(sizeof(CallShared), 1, BPF_F_MMAPABLE);
    h->outputs_fd = bpf_event_array_make(cpus);
    if (h->config_fd < 0 || h->shared_fd < 0 || h->outputs_fd < 0 ||
        !bpf_element_set(h->config_fd, 0, config) || !bpf_freeze(h->config_fd))
        return error_os(err, "cannot make the tables of BPF programs");
    void *at = mmap(NULL, sizeof(CallShared), PROT_READ | PROT_WRITE, MAP_SHARED, h->shared_fd, 0);
    if (at == MAP_FAILED)
        return error_os(err, "cannot map the tables of BPF programs");
    h->shared = at;
    return true;
}

static bool open_outputs(const CallsSetup *setup, CallHooks *h, Error *err)
{
    h->event_fds = heap_alloc(setup->cpu_count * sizeof(*h->event_fds));
    h->ids = heap_alloc(setup->cpu_count * sizeof(*h->ids));
    return bpf_outputs_open(&setup->output, setup->cpus, setup->ring_fds, setup->cpu_count,
                            h->outputs_fd, h->event_fds, h->ids, &h->event_count) ||
           error_os(err, "cannot open the output of BPF programs");
}

// ---- Places ------------------------------------------------------------------------------

// Places of one file that are set by one call, since each call waits for the kernel.
typedef struct PlaceGroup {
    Str path;
    bool at_return;
    U64Vec offsets, cookies;
} PlaceGroup;
typedef Vec(PlaceGroup) PlaceGroups;

static PlaceGroup *need_group(PlaceGroups *groups, Str path, bool at_return)
{
    for (size_t i = 0; i < groups->len; i++)
        if (groups->at[i].at_return == at_return && str_equal(groups->at[i].path, path))
            return &groups->at[i];
    vec_push(NULL, groups, (PlaceGroup){.path = path, .at_return = at_return});
    return &vec_last(groups);
}

static void group_places(const CallPlan *plan, PlaceGroups *groups)
{
    for (size_t i = 0; i < plan->places.len; i++) {
        const CallPlace *p = &plan->places.at[i];
        const CallFunction *f = &plan->functions.at[p->function];
        PlaceGroup *g = need_group(groups, f->path, p->by_trampoline);
        uint64_t cookie = i;
        cookie |= p->is_return ? CALL_IS_RETURN : 0;
        cookie |= f->arg_count && !p->is_return ? CALL_TAKES_REGS : 0;
        cookie |= f->returns_by_kernel && !p->is_return ? CALL_IS_HIDDEN : 0;
        cookie |= f->is_go ? CALL_IS_GO | (uint64_t)f->goid_offset << CALL_GOID_SHIFT : 0;
        vec_push(NULL, &g->offsets, p->offset);
        vec_push(NULL, &g->cookies, cookie);
    }
}

static bool attach_group(CallHooks *h, int program, const PlaceGroup *g, Error *err)
{
    Arena scratch = {0};
    BpfUserPlaces places = {.path = arena_c_str(&scratch, g->path),
                            .offsets = g->offsets.at,
                            .cookies = g->cookies.at,
                            .count = (uint32_t)g->offsets.len,
                            .at_return = g->at_return};
    int link = bpf_attach_to_places(program, &places, err);
    arena_deinit(&scratch);
    if (link >= 0)
        vec_push(NULL, &h->fds, link);
    return link >= 0;
}

// Returns first: an entry without its return would stay open.
static bool attach_places(const CallPlan *plan, int program, CallHooks *h, Error *err)
{
    PlaceGroups groups = {0};
    bool ok = true;
    group_places(plan, &groups);
    for (int at_return = 1; at_return >= 0; at_return--)
        for (size_t i = 0; ok && i < groups.len; i++)
            if (groups.at[i].at_return == (at_return == 1))
                ok = attach_group(h, program, &groups.at[i], err);
    for (size_t i = 0; i < groups.len; i++) {
        vec_free(&groups.at[i].offsets);
        vec_free(&groups.at[i].cookies);
    }
    vec_free(&groups);
    return ok;
}

static bool attach_all(const CallsSetup *setup, const BpfTypes *types, CallHooks *h, Error *err)
{
    const BpfMap maps[] = {
        [CALLS_MAP_CONFIG] = {h->config_fd, true},
        [CALLS_MAP_SHARED] = {h->shared_fd, true},
        [CALLS_MAP_OUTPUTS] = {h->outputs_fd, false},
    };
    for (uint32_t i = 0; i < calls_program.count; i++) {
        const BpfCode *code = &calls_program.programs[i];
        int fds[2];
        if (strcmp(code->tracepoint, "uprobe") == 0) {
            int program = bpf_load_for_places(code, maps, err);
            if (program < 0)
                return false;
            vec_push(NULL, &h->fds, program);
            if (!attach_places(setup->plan, program, h, err))
                return false;
            continue;
        }
        if (bpf_attach(code, maps, types, fds, err) == 0)
            return false;
        vec_push(NULL, &h->fds, fds[0]);
        vec_push(NULL, &h->fds, fds[1]);
    }
    return true;
}

// ---- All ---------------------------------------------------------------------------------

static bool open_all(const CallsSetup *setup, const BpfTypes *types, CallHooks *h, Error *err)
{
    CallConfig config;
    uint32_t cpus = 0;
    for (size_t i = 0; i < setup->cpu_count; i++)
        cpus = MAX(cpus, setup->cpus[i] + 1);
    return make_config(setup, types, &config, err) && make_maps(&config, cpus, h, err) &&
           open_outputs(setup, h, err) && attach_all(setup, types, h, err);
}

bool call_hooks_open(const CallsSetup *setup, CallHooks *ret, Error *err)
{
    *ret = (CallHooks){.config_fd = -1, .shared_fd = -1, .outputs_fd = -1};
    BpfTypes *types;
#if !defined(__x86_64__)
    return error_set(err, ERROR_UNSUPPORTED, "calls are recorded by BPF on x86-64 only");
#endif
    if (!bpf_types_open(BPF_TYPES_PATH, &types, err))
        return false;
    bool ok = open_all(setup, types, ret, err);
    bpf_types_close(types);
    if (!ok)
        call_hooks_close(ret);
    return ok;
}

void call_hooks_detach(CallHooks *h)
{
    for (size_t i = 0; i < h->fds.len; i++)
        close(h->fds.at[i]);
    h->fds.len = 0;
}

void call_hooks_close(CallHooks *h)
{
    const int fds[] = {h->config_fd, h->shared_fd, h->outputs_fd};
    call_hooks_detach(h);
    vec_free(&h->fds);
    if (h->shared)
        munmap(h->shared, sizeof(*h->shared));
    for (size_t i = 0; i < h->event_count; i++)
        close(h->event_fds[i]);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    heap_free(h->event_fds);
    heap_free(h->ids);
    *h = (CallHooks){.config_fd = -1, .shared_fd = -1, .outputs_fd = -1};
}
