// SPDX-License-Identifier: Apache-2.0
// Gives the self values of kernel events to the program's frames.
// Names: perf_event_open(2), PERF_TYPE_SOFTWARE and PERF_TYPE_TRACEPOINT, as perf-list(1) has them.

#include "analyse/program_self.h"

static bool is_software_event(Str name)
{
    static const Str names[] = {
        STR_INIT("page-faults"),      STR_INIT("faults"),           STR_INIT("minor-faults"),
        STR_INIT("major-faults"),     STR_INIT("context-switches"), STR_INIT("cs"),
        STR_INIT("cpu-migrations"),   STR_INIT("migrations"),       STR_INIT("alignment-faults"),
        STR_INIT("emulation-faults"), STR_INIT("bpf-output"),       STR_INIT("cgroup-switches"),
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(name, names[i]))
            return true;
    return false;
}

// "sched:sched_switch", but neither "cycles:u" nor "mem:0x1000:rw": behind the colon stands an
// identifier that is longer than the modifiers of one event.
static bool is_tracepoint(Str system, Str event)
{
    Str name = event, modifiers = STR("");
    (void)str_split(event, ':', &name, &modifiers);
    if (system.len == 0 || name.len == 0 || str_equal(system, STR("mem")))
        return false;
    bool only_modifiers = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool in_word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!in_word)
            return false;
        only_modifiers &= str_find_char(STR("ukhIGHpPSDWe"), c) != SIZE_MAX;
    }
    return !only_modifiers;
}

bool metric_counts_kernel_events(const Profile *p, MetricId metric)
{
    if (metric.v >= p->metrics.name.len || profile_text(p, p->metrics.unit.at[metric.v]).len)
        return false;
    Str name = profile_text(p, p->metrics.name.at[metric.v]);
    // An argument of a probe has the name of its event, a space and its own.
    if (str_find_char(name, ' ') != SIZE_MAX)
        return false;
    Str system = name, event = STR("");
    // A period or a rate: "page-faults/period=3/".
    if (str_split(name, '/', &system, &event))
        return is_software_event(system);
    bool has_colon = str_split(name, ':', &system, &event);
    return is_software_event(system) || (has_colon && is_tracepoint(system, event));
}

uint32_t *program_self_stacks(const Profile *p)
{
    size_t stacks = p->stacks.parent.len;
    uint32_t *self = heap_alloc((stacks + 1) * sizeof(uint32_t));
    // First the innermost frame of the program at or above each stack; parents come first.
    for (uint32_t s = 1; s < stacks; s++) {
        uint8_t flags = p->frames.flags.at[p->stacks.frame.at[s].v];
        if (flags & FRAME_KERNEL)
            self[s] = self[p->stacks.parent.at[s].v];
        else
            self[s] = flags & FRAME_CUT ? 0 : s;
    }
    for (uint32_t s = 1; s < stacks; s++)
        if (self[s] == 0)
            self[s] = s;
    return self;
}
