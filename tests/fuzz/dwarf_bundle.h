// SPDX-License-Identifier: Apache-2.0
// The sections of a program, of its .dwo and of its dwz file in one file, as
// tests/fuzz/make-dwarf-corpus writes them: {u8 section, u32 length, bytes}…,
// little-endian. Sections of the .dwo count from 32, of the dwz file from 64.

#ifndef DWARF_BUNDLE_H
#define DWARF_BUNDLE_H

#include "base/cursor.h"
#include "dwarf/dwarf.h"

typedef struct DwarfBundle {
    DwarfSections main, dwo, alt;
} DwarfBundle;

static inline Bytes *dwarf_bundle_section(DwarfSections *s, unsigned id)
{
    Bytes *sections[] = {&s->info,     &s->types,       &s->abbrev,  &s->line,   &s->str,
                         &s->line_str, &s->str_offsets, &s->addr,    &s->ranges, &s->rnglists,
                         &s->aranges,  &s->cu_index,    &s->tu_index};
    return id < ARRAY_LEN(sections) ? sections[id] : NULL;
}

// Takes what there is: a length past the end is cut to it.
static inline void dwarf_bundle_parse(Bytes file, DwarfBundle *ret)
{
    *ret = (DwarfBundle){0};
    Cursor c = cursor_over(file, "bundle");
    while (cursor_left(&c) >= 5) {
        unsigned id = cursor_u8(&c);
        uint32_t length = cursor_u32(&c);
        DwarfSections *s = id < 32 ? &ret->main : id < 64 ? &ret->dwo : &ret->alt;
        Bytes *to = dwarf_bundle_section(s, id % 32);
        Bytes bytes = cursor_bytes(&c, MIN((size_t)length, cursor_left(&c)));
        if (to)
            *to = bytes;
    }
}

static inline bool dwarf_bundle_get_dwo(void *ctx, const DwarfDwoRequest *request,
                                        DwarfSections *ret)
{
    const DwarfBundle *b = ctx;
    (void)request;
    if (b->dwo.info.len == 0)
        return false;
    *ret = b->dwo;
    return true;
}

static inline bool dwarf_bundle_open(DwarfBundle *b, DwarfFile **ret, Error *err)
{
    DwarfHooks hooks = {b, dwarf_bundle_get_dwo};
    if (b->alt.info.len)
        b->main.alt = &b->alt;
    return dwarf_open(&b->main, &hooks, ret, err);
}

#endif // DWARF_BUNDLE_H
