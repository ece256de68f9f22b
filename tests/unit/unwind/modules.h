// SPDX-License-Identifier: Apache-2.0
// For tests and benchmarks: unwind tables of files, and the address space of
// this process.

#ifndef TEST_UNWIND_MODULES_H
#define TEST_UNWIND_MODULES_H

#include "elf/elf.h"
#include "os/file.h"
#include "unwind/space.h"
#include "unwind/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline UnwindRange modules_range(const Elf *elf, const char *name)
{
    const ElfSection *s = elf_section_find(elf, str_from_c(name));
    return s ? (UnwindRange){s->svma, s->svma + s->size} : (UnwindRange){0};
}

static inline UnwindCode modules_code(const Elf *elf, const char *name)
{
    const ElfSection *s = elf_section_find(elf, str_from_c(name));
    UnwindCode code = {0};
    if (s && elf_section_raw(elf, s, &code.bytes, NULL))
        code.svma = s->svma;
    return code;
}

// What the builder wants, of a parsed file.
static inline UnwindSections modules_sections(Arena *arena, const Elf *elf)
{
    UnwindSections s = {.arch = elf->machine == EM_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64};
    Bytes bytes;
    if (elf_section_load(arena, elf, STR(".eh_frame"), &bytes, NULL))
        s.eh_frame = bytes;
    s.eh_frame_svma = modules_range(elf, ".eh_frame").start;
    if (elf_section_load(arena, elf, STR(".debug_frame"), &bytes, NULL))
        s.debug_frame = bytes;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *seg = &elf->segments[i];
        if (seg->type != PT_LOAD || !(seg->flags & PF_X))
            continue;
        if (s.text.end == 0) {
            s.text.start = seg->svma;
            s.code =
                (UnwindCode){bytes_over(elf->file.ptr + seg->offset, seg->file_size), seg->svma};
        }
        s.text.end = seg->svma + seg->mem_size;
    }
    s.plt = modules_range(elf, ".plt");
    s.plt_plain[0] = modules_range(elf, ".plt.sec");
    s.plt_plain[1] = modules_range(elf, ".plt.got");
    s.init = modules_code(elf, ".init");
    s.fini = modules_code(elf, ".fini");
    return s;
}

typedef struct ModulesLine {
    uint64_t start, end, offset;
    char prot[8], path[512];
} ModulesLine;

static inline bool modules_parse_line(const char *line, ModulesLine *ret)
{
    ret->path[0] = 0;
    return sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &ret->start, &ret->end, ret->prot,
                  &ret->offset, ret->path) >= 4 &&
           strchr(ret->prot, 'x') != NULL;
}

// The table of a mapping, where it lies, and where the program starts in it (Svma,
// 0: nowhere). NULL for what is no ELF file.
static inline const UnwindTable *modules_table(Arena *arena, const ModulesLine *m, uint64_t *bias,
                                               uint64_t *entry)
{
    MappedFile file = {0};
    Elf elf;
    uint64_t svma;
    Bytes image = {0};
    if (strcmp(m->path, "[vdso]") == 0)
        image = bytes_over((const void *)m->start, m->end - m->start); // NOLINT
    else if (m->path[0] == '/' && os_map_file(str_from_c(m->path), &file, NULL))
        image = file.bytes; // kept mapped
    if (!image.len || !elf_parse(arena, image, &elf, NULL) ||
        !elf_svma_of_mapping(&elf, m->offset, m->end - m->start, &svma))
        return NULL;
    UnwindSections sections = modules_sections(arena, &elf);
    UnwindTable *table = arena_new(arena, UnwindTable);
    *bias = m->start - svma;
    *entry = elf.entry;
    return unwind_table_build(arena, &sections, table, NULL, NULL) ? table : NULL;
}

// The space of this process, as it is now.
static inline UnwindSpace modules_own_space(Arena *arena)
{
    UnwindSpace space;
    unwind_space_init(&space, UNWIND_X86_64);
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    while (f && fgets(line, sizeof(line), f)) {
        ModulesLine m;
        if (!modules_parse_line(line, &m))
            continue;
        UnwindMapping map = {.start = m.start, .end = m.end};
        uint64_t entry;
        map.table = modules_table(arena, &m, &map.bias, &entry);
        unwind_space_map(&space, map);
    }
    if (f)
        fclose(f);
    return space;
}

#endif // TEST_UNWIND_MODULES_H
