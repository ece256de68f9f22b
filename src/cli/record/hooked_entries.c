// SPDX-License-Identifier: Apache-2.0
// Allocators that are linked into a program whose heap is recorded.

#include "cli/record/hooked_entries.h"

Str hooked_program_file(const Program *p)
{
    return p->is_script ? p->interpreter : p->path;
}

void hooked_entries_set(const HeapEntries *e, SamplingOptions *ret)
{
    if (e->wire)
        ret->heap_entries = bytes_over((const uint8_t *)e->wire, sizeof(*e->wire));
}

void hooked_entries_note(Profile *p, const Program *program, const HeapEntries *e, bool names)
{
    Str file = hooked_program_file(program);
    names = names && e->allocator;
    if (e->is_go)
        profile_note(p, NOTE_WARNING, STR("go-heap"),
                     "'%" STR_FMT "' is a Go program: what Go's runtime allocates is not in this "
                     "recording, only the blocks of malloc; Go's own heap profile has the rest "
                     "(pprof.WriteHeapProfile, which assay report reads)",
                     STR_ARG(file));
    if (e->wire && !program->is_static)
        profile_note(p, NOTE_INFO, STR("hooked-entries"),
                     "%u functions of '%" STR_FMT "' are hooked at their entries%s%s",
                     e->wire->count, STR_ARG(file), names ? ": " : "", names ? e->allocator : "");
    if (e->missed.len)
        profile_note(p, NOTE_WARNING, STR("own-allocator"),
                     "'%" STR_FMT "' has %s linked in, of which a function cannot be hooked: "
                     "%" STR_FMT "; the blocks that it returns are not in this recording",
                     STR_ARG(file), e->allocator, STR_ARG(e->missed));
}
