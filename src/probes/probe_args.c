// SPDX-License-Identifier: Apache-2.0
// The values that are taken at a probe.

#include "probes/probe_args.h"

#include "probes/probe_variables.h"

#include <stdio.h>

// ---- Registers ------------------------------------------------------------------------------

// perf's numbers: arch/x86/include/uapi/asm/perf_regs.h.
typedef struct RegisterRow {
    uint8_t number;
    const char *names[4]; // of 8, 4, 2 and 1 bytes
} RegisterRow;

static const RegisterRow x86_registers[] = {
    {0, {"rax", "eax", "ax", "al"}},       {1, {"rbx", "ebx", "bx", "bl"}},
    {2, {"rcx", "ecx", "cx", "cl"}},       {3, {"rdx", "edx", "dx", "dl"}},
    {4, {"rsi", "esi", "si", "sil"}},      {5, {"rdi", "edi", "di", "dil"}},
    {6, {"rbp", "ebp", "bp", "bpl"}},      {7, {"rsp", "esp", "sp", "spl"}},
    {8, {"rip", "eip", "ip", "ip"}},       {16, {"r8", "r8d", "r8w", "r8b"}},
    {17, {"r9", "r9d", "r9w", "r9b"}},     {18, {"r10", "r10d", "r10w", "r10b"}},
    {19, {"r11", "r11d", "r11w", "r11b"}}, {20, {"r12", "r12d", "r12w", "r12b"}},
    {21, {"r13", "r13d", "r13w", "r13b"}}, {22, {"r14", "r14d", "r14w", "r14b"}},
    {23, {"r15", "r15d", "r15w", "r15b"}},
};

// "%di" in perf's own words is the whole register; in a marker it is its 2 bytes, and the marker
// states the size beside it.
static bool find_x86(Str name, uint8_t *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(x86_registers); i++)
        for (size_t k = 0; k < ARRAY_LEN(x86_registers[i].names); k++)
            if (str_equal(name, str_from_c(x86_registers[i].names[k]))) {
                *ret = x86_registers[i].number;
                return true;
            }
    return false;
}

static bool find_aarch64(Str name, uint8_t *ret)
{
    uint64_t n;
    if (str_equal(name, STR("sp"))) {
        *ret = 31;
        return true;
    }
    if (name.len < 2 || (name.ptr[0] != 'x' && name.ptr[0] != 'w') ||
        !str_parse_u64(str_slice(name, 1, name.len), 10, &n) || n > 30)
        return false;
    *ret = (uint8_t)n;
    return true;
}

static bool find_register(const Elf *elf, Str name, uint8_t *ret)
{
    return elf->machine == EM_AARCH64 ? find_aarch64(name, ret) : find_x86(name, ret);
}

// The register of integer argument `n`, from 1: psABI x86-64 §3.2.3, AAPCS64 §6.4.
static bool argument_register(const Elf *elf, uint64_t n, uint8_t *ret)
{
    static const uint8_t x86[] = {5, 4, 3, 2, 16, 17};
    if (elf->machine == EM_AARCH64) {
        *ret = (uint8_t)(n - 1);
        return n >= 1 && n <= 8;
    }
    if (n < 1 || n > ARRAY_LEN(x86))
        return false;
    *ret = x86[n - 1];
    return true;
}

// ---- Words ----------------------------------------------------------------------------------

// "s32", "u8", "x64", "string": the type behind a colon.
static bool parse_type(Str text, EventArg *a)
{
    uint64_t bits;
    if (str_equal(text, STR("string")) || str_equal(text, STR("ustring"))) {
        a->kind = EVENT_ARG_TEXT;
        return true;
    }
    if (text.len < 2 || !strchr("sux", text.ptr[0]) ||
        !str_parse_u64(str_slice(text, 1, text.len), 10, &bits) ||
        (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        return false;
    a->is_signed = text.ptr[0] == 's';
    a->size = (uint8_t)(bits / 8);
    return true;
}

// Splits "OFFSET(INNER)"; a sign in front of the offset may be missing.
static bool split_memory(Str text, int64_t *offset, Str *inner)
{
    size_t open = str_find_char(text, '(');
    if (open == SIZE_MAX || !str_ends_with(text, STR(")")))
        return false;
    Str number = str_slice(text, 0, open);
    if (str_starts_with(number, STR("+")))
        number = str_slice(number, 1, number.len);
    *inner = str_slice(text, open + 1, text.len - 1);
    *offset = 0;
    return number.len == 0 || str_parse_i64(number, offset);
}

// "OFFSET(%REG)"
static bool parse_memory(const Elf *elf, Str text, EventArg *a)
{
    Str inner;
    a->kind = EVENT_ARG_STACK;
    return split_memory(text, &a->offset, &inner) && str_starts_with(inner, STR("%")) &&
           find_register(elf, str_slice(inner, 1, inner.len), &a->reg);
}

static bool parse_place(const Elf *elf, const ProbePlace *place, Str text, EventArg *a)
{
    uint64_t n;
    a->kind = EVENT_ARG_REGISTER;
    if (str_starts_with(text, STR("%")))
        return find_register(elf, str_slice(text, 1, text.len), &a->reg);
    if (str_equal(text, STR("$retval"))) {
        a->reg = 0; // rax, x0
        return place->is_return || place->by_trampoline;
    }
    if (str_starts_with(text, STR("$arg")) && str_parse_u64(str_slice(text, 4, text.len), 10, &n))
        return !place->is_return && argument_register(elf, n, &a->reg);
    return parse_memory(elf, text, a);
}

// A text at "OFFSET(PLACE)" or "OFFSET(OFFSET(PLACE))", where PLACE is a register, an argument or
// the returned value; without an offset at the address that the place holds.
static bool parse_text(const Elf *elf, const ProbePlace *place, Str text, EventArg *a)
{
    EventArg from = {0};
    Str inner;
    int64_t offset = 0;
    if (split_memory(text, &offset, &inner))
        text = inner;
    a->kind = EVENT_ARG_TEXT;
    a->offset = offset;
    if (split_memory(text, &a->pointer_offset, &inner)) {
        a->by_pointer = true;
        text = inner;
    }
    if (str_find_char(text, '(') != SIZE_MAX || !parse_place(elf, place, text, &from))
        return false;
    a->reg = from.reg;
    return true;
}

// The text that a variable points to.
static bool variable_as_text(Str word, EventArg *a, Error *err)
{
    if (a->kind != EVENT_ARG_REGISTER && a->kind != EVENT_ARG_STACK)
        return error_set(err, ERROR_USAGE,
                         "'%" STR_FMT "' is not a pointer in a register or in memory",
                         STR_ARG(word));
    a->by_pointer = a->kind == EVENT_ARG_STACK;
    a->pointer_offset = a->by_pointer ? a->offset : 0;
    a->offset = a->by_pointer ? 0 : a->offset;
    a->kind = EVENT_ARG_TEXT;
    return true;
}

static bool explain(Str word, const ProbePlace *place, Error *err)
{
    bool has_value = place->is_return || place->by_trampoline;
    if (str_find(word, STR("$retval")) != SIZE_MAX && !has_value) {
        (void)error_set(err, ERROR_USAGE, "'$retval' has a value only where a function returns");
        return error_hint(err, "write FUNCTION%%return $retval");
    }
    if (place->is_return && str_find(word, STR("$arg")) != SIZE_MAX)
        return error_set(err, ERROR_USAGE, "arguments are gone where a function returns");
    (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not an argument of a probe",
                    STR_ARG(word));
    return error_hint(err, "it may be [NAME=]%%REGISTER, $arg1, $retval, +8(%%sp), or a variable, "
                           "with a type such as :s32, or a text: +0($arg1):string");
}

bool probe_arg_parse(Arena *arena, const ProbeObject *o, const ProbePlace *place, Str word,
                     EventArg *ret, Error *err)
{
    EventArg a = {.size = 8, .is_signed = true};
    Str text = word, name, rest, type;
    bool has_name = str_split(word, '=', &name, &rest);
    if (has_name)
        text = rest;
    size_t colon = str_find_last_char(text, ':');
    if (colon != SIZE_MAX && parse_type(str_slice(text, colon + 1, text.len), &a))
        text = str_slice(text, 0, colon);
    else if (str_split(text, ':', &rest, &type))
        return explain(word, place, err);
    a.name = arena_str(arena, has_name ? name
                              : str_starts_with(text, STR("%")) || str_starts_with(text, STR("$"))
                                  ? str_slice(text, 1, text.len)
                                  : text);
    bool is_text = a.kind == EVENT_ARG_TEXT;
    EventArg typed = a;
    bool is_place = is_text ? parse_text(&o->symbols.elf, place, text, &a)
                            : parse_place(&o->symbols.elf, place, text, &a);
    if (!is_place) {
        if (!probe_variable_is(text))
            return explain(word, place, err);
        if (!probe_variable_find(o, place, text, &a, err))
            return false;
        if (is_text && !variable_as_text(word, &a, err))
            return false;
        if (!is_text && colon != SIZE_MAX && text.len == colon) { // the user's type counts
            a.size = typed.size;
            a.is_signed = typed.is_signed;
        }
    }
    *ret = a;
    return true;
}

// ---- Markers ----------------------------------------------------------------------------------

// "-4@%edi"
static bool parse_stated(const Elf *elf, Str text, EventArg *a)
{
    Str size, place;
    int64_t bytes;
    if (!str_split(text, '@', &size, &place) || !str_parse_i64(size, &bytes))
        return false;
    a->is_signed = bytes < 0;
    a->size = (uint8_t)(bytes < 0 ? -bytes : bytes);
    if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8)
        return false;
    if (str_starts_with(place, STR("$"))) {
        a->kind = EVENT_ARG_CONSTANT;
        return str_parse_i64(str_slice(place, 1, place.len), &a->offset);
    }
    a->kind = EVENT_ARG_REGISTER;
    if (str_starts_with(place, STR("%")))
        return find_register(elf, str_slice(place, 1, place.len), &a->reg);
    return parse_memory(elf, place, a) || find_register(elf, place, &a->reg);
}

void probe_args_of_marker(Arena *arena, const Elf *elf, Str stated, EventArgs *ret)
{
    Str word;
    char name[24];
    for (unsigned n = 1; str_next_part(&stated, ' ', &word); n += word.len > 0) {
        EventArg a = {0};
        if (word.len == 0 || !parse_stated(elf, word, &a))
            continue;
        snprintf(name, sizeof(name), "arg%u", n);
        a.name = arena_str(arena, str_from_c(name));
        vec_push(arena, ret, a);
    }
}
