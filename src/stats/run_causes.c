// SPDX-License-Identifier: Apache-2.0
// The part of a run's time that made it slow.

#include "stats/run_causes.h"

#include <math.h>

const char *outlier_cause_name(OutlierCause c)
{
    static const char *const names[] = {"for a reason that is not counted",
                                        "slept, or waited for a lock or another process",
                                        "waited for a CPU",
                                        "lost the CPU to other virtual machines",
                                        "waited while reading or writing a disk",
                                        "waited for pages from disk",
                                        "computed more in children or threads",
                                        "used more CPU time"};
    return names[c];
}

// The objects that a blocked run waited for, if they are counted.
static OutlierCause blocked_cause(const MeasuredRun *run, const TypicalRun *typical, double excess)
{
    if ((double)run->major_faults > typical->major_faults)
        return CAUSE_PAGING;
    if (run->disk_wait_ns >= 0) // the kernel has measured it
        return (double)run->disk_wait_ns * 1e-9 >= excess / 2 ? CAUSE_DISK : CAUSE_BLOCKED;
    return run->blocks_in + run->blocks_out > 0 ? CAUSE_DISK : CAUSE_BLOCKED;
}

OutlierCause run_cause(const MeasuredRun *run, const TypicalRun *typical)
{
    double excess = run->time_s - typical->time_s, most = excess / 2;
    double cpu = run->user_s + run->system_s - typical->cpu_s, own = cpu, children = 0, delay = 0;
    OutlierCause cause = CAUSE_UNKNOWN;
    if (run->on_cpu_ns >= 0 && isfinite(typical->main_cpu_s)) {
        own = MIN(cpu, (double)run->on_cpu_ns * 1e-9 - typical->main_cpu_s);
        children = cpu - own;
    }
    bool delay_known = run->run_delay_ns >= 0 && isfinite(typical->delay_s);
    if (delay_known)
        delay = (double)run->run_delay_ns * 1e-9 - typical->delay_s;
    const struct {
        double part;
        OutlierCause cause;
    } parts[] = {
        {run->steal_ns > 0 ? (double)run->steal_ns * 1e-9 : 0, CAUSE_STEAL},
        {delay, CAUSE_RUN_DELAY},
        {children, CAUSE_CHILDREN},
        {own, CAUSE_CPU},
        // The rest, if the other parts are known.
        {delay_known ? excess - MAX(0.0, delay) - MAX(0.0, cpu) : 0, CAUSE_BLOCKED},
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i].part >= most && parts[i].part > 0) {
            most = parts[i].part;
            cause = parts[i].cause;
        }
    bool may_be_blocked = cause == CAUSE_BLOCKED || (cause == CAUSE_UNKNOWN && !delay_known);
    return may_be_blocked ? blocked_cause(run, typical, excess) : cause;
}
