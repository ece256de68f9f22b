// SPDX-License-Identifier: Apache-2.0
// Counting damaged units, and keeping the first reason.

#include "dwarf/dwarf_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void unit_damaged(Unit *u, uint64_t offset, const char *why, ...)
{
    DwarfStats *stats = &u->set->file->stats;
    if (u->is_damaged)
        return;
    u->is_damaged = true;
    stats->units_damaged++;
    if (stats->trouble[0])
        return;
    char text[100];
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof(text), why, args);
    va_end(args);
    snprintf(stats->trouble, sizeof(stats->trouble), "unit at 0x%" PRIx64 ": %s (at 0x%" PRIx64 ")",
             u->offset, text, offset);
}

void unit_damaged_at(Unit *u, uint64_t offset, const char *what, const Cursor *failed)
{
    char reason[80];
    unit_damaged(u, offset, "%s: %s", what, cursor_reason(failed, reason, sizeof(reason)));
}
