// SPDX-License-Identifier: Apache-2.0
// Texts that arguments of probes point to: a program in the kernel, or the process that sets
// breakpoints, reads them at the hit and writes them before its sample (docs/decisions/0279).

#ifndef COLLECT_SAMPLING_PROBE_TEXTS_INTERNAL_H
#define COLLECT_SAMPLING_PROBE_TEXTS_INTERNAL_H

#include "collect/sampling/events_internal.h"
#include "collect/sampling/text_plans_internal.h"

typedef struct TextReader {
    bool is_open;
    int plans_fd, scratch_fd, outputs_fd, program_fd;
    int *fds; // of output events and of links
    size_t fd_count;
    uint64_t *ids; // of its records
    size_t id_count;
} TextReader;

// Loads the program and attaches it to all probes with texts. Needs rights for BPF and Linux 5.15.
// Does nothing when no text is wanted, and only names the id of records with breakpoints. On
// failure `ret` is zeroed.
MUST_CHECK bool probe_texts_open(EventSet *events, TextReader *ret, Error *err);
void probe_texts_close(TextReader *r); // accepts a zeroed one

// Whether the record with that id holds ProbeTexts.
bool probe_texts_takes(const TextReader *r, uint64_t id);

#endif // COLLECT_SAMPLING_PROBE_TEXTS_INTERNAL_H
