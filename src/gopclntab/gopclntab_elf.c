// SPDX-License-Identifier: Apache-2.0
// A Go program's pclntab, found in its object. The runtime's moduledata says
// where its text starts and where its trees of inlined calls lie. No section or
// symbol of a stripped program names it, but its first word is the address of
// the pclntab and the second the address of the names in it.

#include "gopclntab/gopclntab.h"

enum {
    WORD = 8,
    // Words of moduledata (runtime/symtab.go). Counters of coverage came in Go 1.20.
    MODULE_TEXT = 22,
    MODULE_FUNCTION_DATA_1_18 = 38,
    MODULE_FUNCTION_DATA_1_20 = 40,
    MODULE_WORDS = 41,
};

typedef struct ModuleData {
    uint64_t word[MODULE_WORDS];
} ModuleData;

static const ElfSection *find_section(const Elf *elf)
{
    static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const ElfSection *s = elf_section_find(elf, str_from_c(names[i]));
        if (s && s->type != SHT_NOBITS)
            return s;
    }
    return NULL;
}

static uint64_t word_at(Bytes b, size_t at)
{
    uint64_t v;
    memcpy(&v, b.ptr + at, sizeof(v));
    return v;
}

static bool is_moduledata(const ModuleData *m, const GoPclntab *t, Bytes table, uint64_t svma)
{
    return m->word[0] == svma && m->word[1] == svma + (uint64_t)(t->names.ptr - table.ptr);
}

// In a program at fixed addresses the words are in the file.
static bool find_in_data(const Elf *elf, const GoPclntab *t, Bytes table, uint64_t svma,
                         ModuleData *ret)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const ElfSection *s = &elf->sections[i];
        Bytes b;
        if (s->type != SHT_PROGBITS || !(s->flags & SHF_WRITE) ||
            !elf_section_raw(elf, s, &b, NULL))
            continue;
        for (size_t at = 0; b.len >= sizeof(*ret) && at <= b.len - sizeof(*ret); at += WORD) {
            if (word_at(b, at) != svma)
                continue;
            memcpy(ret->word, b.ptr + at, sizeof(ret->word));
            if (is_moduledata(ret, t, table, svma))
                return true;
        }
    }
    return false;
}

// In a position-independent program the loader puts them there.
static bool find_in_relocations(const Elf *elf, const GoPclntab *t, Bytes table, uint64_t svma,
                                ModuleData *ret)
{
    const ElfSection *s = elf_section_find(elf, STR(".rela.dyn"));
    const ElfSection *alternative = elf_section_find(elf, STR(".rela"));
    Bytes b;
    s = s ? s : alternative;
    if (!s || !elf_section_raw(elf, s, &b, NULL))
        return false;
    size_t count = b.len / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count; i++) {
        Elf64_Rela first;
        memcpy(&first, b.ptr + i * sizeof(first), sizeof(first));
        if ((uint64_t)first.r_addend != svma)
            continue;
        *ret = (ModuleData){0};
        // Words of one structure stand close together, in the order of addresses.
        for (size_t k = i; k < count && k < i + MODULE_WORDS; k++) {
            Elf64_Rela r;
            memcpy(&r, b.ptr + k * sizeof(r), sizeof(r));
            uint64_t distance = r.r_offset - first.r_offset;
            if (distance < sizeof(ret->word) && distance % WORD == 0)
                ret->word[distance / WORD] = (uint64_t)r.r_addend;
        }
        if (is_moduledata(ret, t, table, svma))
            return true;
    }
    return false;
}

bool gopclntab_open_elf(const Elf *elf, GoPclntab *ret, Error *err)
{
    const ElfSection *s = find_section(elf);
    Bytes table;
    GoPclntab t;
    if (!s)
        return error_set(err, ERROR_NOT_FOUND, "no section .gopclntab");
    if (!elf_section_raw(elf, s, &table, err) || !gopclntab_open(table, &t, err))
        return false;
    ModuleData module = {0};
    bool found = find_in_data(elf, &t, table, s->svma, &module) ||
                 find_in_relocations(elf, &t, table, s->svma, &module);
    if (found) {
        t.text_svma = module.word[MODULE_TEXT];
        size_t data =
            t.layout == GO_LAYOUT_1_20 ? MODULE_FUNCTION_DATA_1_20 : MODULE_FUNCTION_DATA_1_18;
        if (t.layout != GO_LAYOUT_1_16 && module.word[data])
            t.function_data = elf_bytes_at_svma(elf, module.word[data]);
    } else if (t.text_svma == 0) {
        const ElfSection *text = elf_section_find(elf, STR(".text"));
        t.text_svma = text ? text->svma : 0;
    }
    *ret = t;
    return true;
}
