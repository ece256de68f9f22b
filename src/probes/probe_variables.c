// SPDX-License-Identifier: Apache-2.0
// From a variable of the debug information to the registers and the stack that a sample has.

#include "probes/probe_variables.h"

#include "unwind/unwind_table.h"

bool probe_variable_is(Str word)
{
    bool is_start = true;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                         (unsigned char)c >= 0x80;
        bool is_digit = c >= '0' && c <= '9';
        if (!is_letter && (is_start || !is_digit) && !strchr(".->[]:", c))
            return false;
        is_start = false;
    }
    return word.len > 0;
}

// perf's number of one of DWARF's registers. x86-64: the inverse of what unwind/core does; arm64:
// equal. False for registers that samples do not have.
static bool perf_register(const Elf *elf, uint32_t dwarf, uint8_t *ret)
{
    static const uint8_t x86[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
    if (elf->machine == EM_AARCH64) {
        *ret = (uint8_t)dwarf;
        return dwarf <= 31;
    }
    if (dwarf >= ARRAY_LEN(x86))
        return false;
    *ret = x86[dwarf];
    return true;
}

// The CFA at an address as a register plus a number.
static bool find_cfa(const Elf *elf, uint64_t svma, uint32_t *reg, int64_t *offset)
{
    Arena scratch = {0};
    UnwindTable table;
    UnwindSections s = {.arch = elf->machine == EM_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64};
    const ElfSection *eh = elf_section_find(elf, STR(".eh_frame"));
    if (eh && elf_section_bytes(&scratch, elf, eh, &s.eh_frame, NULL))
        s.eh_frame_svma = eh->svma;
    if (!elf_section_load(&scratch, elf, STR(".debug_frame"), &s.debug_frame, NULL))
        s.debug_frame = (Bytes){0};
    UnwindAction a = {.kind = UNWIND_NONE};
    if (unwind_table_build(&scratch, &s, &table, NULL, NULL))
        a = unwind_table_find(&table, svma);
    arena_deinit(&scratch);
    if (a.kind == UNWIND_NONE || a.kind == UNWIND_END || a.kind == UNWIND_PLT ||
        a.kind == UNWIND_FULL || a.kind == UNWIND_AFTER_CLONE || a.cfa & UNWIND_CFA_DEREF)
        return false;
    *reg = a.cfa & UNWIND_CFA_REG;
    *offset = unwind_cfa_off(a);
    return true;
}

static bool refuse(Str word, const char *why, Error *err)
{
    return error_set(err, ERROR_UNSUPPORTED, "variable '%" STR_FMT "' %s", STR_ARG(word), why);
}

// In front of the body a parameter is still in the register that it was passed in: psABI x86-64
// §3.2.3, AAPCS64 §6.4.
static bool set_passed(const Elf *elf, const DwarfVariable *v, Str word, EventArg *ret, Error *err)
{
    static const uint8_t x86[] = {5, 4, 3, 2, 16, 17};
    uint32_t n = v->argument;
    if (!v->is_parameter) {
        (void)refuse(word, "has no value yet where the function begins", err);
        return error_hint(err, "probe a line: PROGRAM:FILE:LINE %" STR_FMT, STR_ARG(word));
    }
    if (n < 1 || n > (elf->machine == EM_AARCH64 ? 8 : ARRAY_LEN(x86)))
        return refuse(word, "is passed in a way that is not known", err);
    ret->kind = EVENT_ARG_REGISTER;
    ret->reg = elf->machine == EM_AARCH64 ? (uint8_t)(n - 1) : x86[n - 1];
    ret->offset = 0;
    return true;
}

static bool set_place(const ProbeObject *o, const ProbePlace *place, DwarfVariable *v, Str word,
                      EventArg *ret, Error *err)
{
    const Elf *elf = &o->symbols.elf;
    // What lies above the CFA was passed on the stack and is there already.
    bool is_stored = v->place == DWARF_IN_FRAME && v->offset >= 0;
    if (v->is_before_body && !is_stored &&
        (v->place == DWARF_IN_FRAME || v->place == DWARF_IN_MEMORY))
        return set_passed(elf, v, word, ret, err);
    ret->offset = v->offset;
    if (v->place == DWARF_CONSTANT) {
        ret->kind = EVENT_ARG_CONSTANT;
        return true;
    }
    if (v->place == DWARF_IN_FRAME) {
        int64_t cfa;
        if (!find_cfa(elf, place->svma, &v->reg, &cfa))
            return refuse(word, "is in a frame whose start the unwind tables do not give", err);
        ret->offset += cfa;
        v->place = DWARF_IN_MEMORY;
    }
    // A register that a place of a variable starts from points into the stack: what is static has
    // an address. The replay checks it for each sample.
    ret->kind = v->place == DWARF_IN_MEMORY ? EVENT_ARG_STACK : EVENT_ARG_REGISTER;
    return perf_register(elf, v->reg, &ret->reg) ||
           refuse(word, "is in a register that samples do not have", err);
}

static void load_locations(Arena *arena, const ProbeObject *o, DwarfLocations *ret)
{
    const Elf *separate = module_symbols_debug_elf(&o->symbols);
    const Elf *elf = separate ? separate : &o->symbols.elf;
    if (!elf_section_load(arena, elf, STR(".debug_loc"), &ret->loc, NULL))
        ret->loc = (Bytes){0};
    if (!elf_section_load(arena, elf, STR(".debug_loclists"), &ret->loclists, NULL))
        ret->loclists = (Bytes){0};
}

bool probe_variable_find(const ProbeObject *o, const ProbePlace *place, Str word, EventArg *ret,
                         Error *err)
{
    DwarfVariable v;
    DwarfLocations locations = {0};
    Arena arena = {0};
    if (!o->symbols.dwarf) {
        (void)error_set(err, ERROR_NOT_FOUND,
                        "'%" STR_FMT "' has no debug information, which says where variable "
                        "'%" STR_FMT "' is",
                        STR_ARG(o->path), STR_ARG(word));
        return error_hint(err, "build with -g, or name a register: %" STR_FMT "=%%di",
                          STR_ARG(word));
    }
    if (place->by_trampoline)
        return refuse(word, "is gone where the function has returned", err);
    if (str_find(word, STR("->")) != SIZE_MAX || str_find_char(word, '[') != SIZE_MAX)
        return refuse(word,
                      "is behind a pointer or in an array: samples copy the stack and the "
                      "registers",
                      err);
    load_locations(&arena, o, &locations);
    bool ok = dwarf_variable_find(o->symbols.dwarf, &locations, place->svma, word, &v, err);
    arena_deinit(&arena);
    if (!ok)
        return false;
    ret->size = v.size;
    ret->is_signed = v.is_signed;
    return set_place(o, place, &v, word, ret, err);
}
