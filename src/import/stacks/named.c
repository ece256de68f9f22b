// SPDX-License-Identifier: Apache-2.0
// Code shared by the readers of stacks of named functions.

#include "import/stacks/named.h"

#include "model/facts.h"

Named named_begin(Profile *p, const char *collector, NamedMetric metric)
{
    Named n = {.p = p};
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), str_from_c(collector));
    n.metric = profile_add_metric(p, str_from_c(metric.name), str_from_c(metric.unit), METRIC_SUM,
                                  STR(""));
    StrId none = profile_str(p, STR(""));
    ProcessId process = profile_add_process(p, 0, 0, none, TIME_NONE);
    n.thread = profile_add_thread(p, process, 0, none, TIME_NONE);
    return n;
}

FrameId named_frame(const Named *n, Str function, Str module, Str file, uint32_t line)
{
    Profile *p = n->p;
    ModuleId of = {0};
    uint8_t flags = 0;
    // The kernels of macOS, illumos and FreeBSD as DTrace and sample name them, and Linux's.
    bool is_kernel = str_equal(module, STR("kernel")) || str_equal(module, STR("mach_kernel")) ||
                     str_equal(module, STR("unix")) || str_equal(module, STR("genunix")) ||
                     str_starts_with(module, STR("vmlinux"));
    if (module.len)
        of = profile_module(p, is_kernel ? MODULE_KERNEL : MODULE_FILE, module, STR(""));
    if (is_kernel)
        flags = FRAME_KERNEL;
    FunctionId f = profile_function(p, function, function, file, 0);
    return profile_named_frame(p, of, 0, f, profile_str(p, file), line, flags);
}

void named_add(const Named *n, StackId stack, int64_t value)
{
    if (value == 0)
        return;
    size_t row = profile_add_sample(n->p, TIME_NONE, n->thread, stack, SAMPLE_CPU_NONE);
    profile_sample_set(n->p, row, n->metric, value);
}

Str named_beginning(Bytes head)
{
    return str_from_bytes(bytes_slice(head, 0, 64 << 10));
}

bool named_path_enter(Named *n, NamedPath *path, size_t depth, FrameId frame, StackId *ret,
                      Error *err)
{
    enum { DEPTH_MAX = 1000000 };
    depth = MIN(depth, path->stacks.len);
    if (depth >= DEPTH_MAX)
        return error_set(err, ERROR_LIMIT, "a stack of more than %d entries", DEPTH_MAX);
    path->stacks.len = depth;
    StackId parent = depth ? path->stacks.at[depth - 1] : (StackId){0};
    *ret = profile_stack(n->p, parent, frame);
    vec_push(NULL, &path->stacks, *ret);
    return true;
}

void named_path_deinit(NamedPath *path)
{
    vec_free(&path->stacks);
}
