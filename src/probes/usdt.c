// SPDX-License-Identifier: Apache-2.0
// Markers that programs carry for probes.

#include "probes/usdt.h"

#include "base/cursor.h"

enum { NOTE_STAPSDT = 3, NOTE_ALIGN = 4 };

// A text that ends in NUL.
static Str take_text(Cursor *c)
{
    return cursor_c_str(c);
}

static bool read_note(Bytes desc, uint64_t moved, UsdtMarker *ret)
{
    Cursor c = cursor_over(desc, ".note.stapsdt");
    uint64_t pc = cursor_u64(&c);
    (void)cursor_u64(&c); // the address of .stapsdt.base when it was linked: `moved` has it
    uint64_t semaphore = cursor_u64(&c);
    Str provider = take_text(&c), name = take_text(&c), args = take_text(&c);
    if (!cursor_ok(&c))
        return false;
    *ret = (UsdtMarker){.provider = provider,
                        .name = name,
                        .args = args,
                        .svma = pc + moved,
                        .semaphore = semaphore ? semaphore + moved : 0};
    return true;
}

// The base in the note and the section's present address differ when prelink moved the object.
static uint64_t moved_by(const Elf *elf, Bytes desc)
{
    const ElfSection *base = elf_section_find(elf, STR(".stapsdt.base"));
    Cursor c = cursor_over(desc, ".note.stapsdt");
    (void)cursor_u64(&c);
    uint64_t linked = cursor_u64(&c);
    return base && cursor_ok(&c) ? base->svma - linked : 0;
}

void usdt_read(Arena *arena, const Elf *elf, UsdtMarkers *ret)
{
    Bytes notes;
    if (!elf_section_load(arena, elf, STR(".note.stapsdt"), &notes, NULL))
        return;
    Cursor c = cursor_over(notes, ".note.stapsdt");
    while (cursor_more(&c)) {
        uint32_t name_len = cursor_u32(&c);
        uint32_t desc_len = cursor_u32(&c);
        uint32_t type = cursor_u32(&c);
        Bytes name = cursor_padded(&c, name_len, NOTE_ALIGN);
        Bytes desc = cursor_padded(&c, desc_len, NOTE_ALIGN);
        UsdtMarker marker;
        if (cursor_ok(&c) && type == NOTE_STAPSDT && name.len == sizeof("stapsdt") &&
            memcmp(name.ptr, "stapsdt", sizeof("stapsdt")) == 0 &&
            read_note(desc, moved_by(elf, desc), &marker))
            vec_push(arena, ret, marker);
    }
}
