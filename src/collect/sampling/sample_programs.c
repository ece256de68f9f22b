// SPDX-License-Identifier: Apache-2.0
// Loads the programs when the recorded command has run for a moment.

#include "collect/sampling/sample_programs_internal.h"

#include "base/log.h"
#include "collect/bpf/bpf.h"
#include "collect/bpf/programs/later_program.h"
#include "os/privilege.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void close_place(Programs *p)
{
    if (p->place_fd >= 0)
        close(p->place_fd);
    if (p->next_fd >= 0)
        close(p->next_fd);
    p->place_fd = p->next_fd = -1;
    p->is_prepared = false;
}

void programs_prepare(const EventSet *events, Programs *ret)
{
    Error why;
    if (events->hits || events->traced || events->timed || events->per_thread ||
        events->stacks != STACKS_TABLES || !privilege_is_special() || !privilege_sees_kernel_pids())
        return;
    ret->place_fd = -1;
    ret->next_fd = bpf_program_array_make(1);
    if (ret->next_fd >= 0) {
        const BpfMap maps[] = {[LATER_MAP_NEXT] = {ret->next_fd, false}};
        ret->place_fd = bpf_load_for_samples(&later_program.programs[0], maps, &why);
    }
    ret->is_prepared = ret->place_fd >= 0 && events_set_program(events, ret->place_fd);
    if (ret->is_prepared)
        return;
    log_debug(LOG_RECORD, 1, "no program looks at samples: %s", strerror(errno));
    close_place(ret);
}

void programs_load(EventSet *events, bool runtimes, Programs *p)
{
    Error why;
    if (!p->is_prepared)
        return;
    if (!known_samples_open(&p->arena, events, &p->known, &why))
        log_debug(LOG_RECORD, 1, "all stacks are copied: %s", why.text);
    int next = p->known.shared ? p->known.program_fd : -1;
    if (runtimes && !capture_open(&p->arena, events, next, &p->capture, &why))
        log_debug(LOG_RECORD, 1, "frames of Python are read after the samples: %s", why.text);
    int first = p->capture.targets ? p->capture.program_fd : next;
    if (first < 0)
        return;
    if (bpf_element_set(p->next_fd, 0, &first))
        return;
    log_debug(LOG_RECORD, 1, "the programs cannot take their place: %s", strerror(errno));
    capture_close(&p->capture);
    known_samples_close(&p->known);
}

void programs_close(Programs *p)
{
    if (p->is_prepared)
        close_place(p);
    capture_close(&p->capture);
    known_samples_close(&p->known);
    arena_deinit(&p->arena);
}
