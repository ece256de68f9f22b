// SPDX-License-Identifier: Apache-2.0
// The instructions at which a probe is set.

#include "probes/probe_places.h"

#include <stdlib.h>

#include "disasm/disasm.h"
#include "probes/usdt.h"
#include "symbolise/demangle.h"

typedef struct Finder {
    Arena *arena;
    const ProbeContext *context;
    const ProbeObject *object;
    const ProbeText *text;
    ProbePlaces *places;
} Finder;

static void add_note(Finder *f, Str note)
{
    vec_push(f->arena, f->context->notes, note);
}

static DisasmArch arch_of(const Elf *elf)
{
    return elf->machine == EM_AARCH64 ? DISASM_AARCH64 : DISASM_X86_64;
}

// ---- Inside a function -------------------------------------------------------------------

// The function's end: that of its symbol, or one page behind its start when that has no size.
static uint64_t function_end(const ProbeFunction *fn)
{
    enum { UNKNOWN_SIZE = 4096 };
    return fn->end > fn->start ? fn->end : fn->start + UNKNOWN_SIZE;
}

typedef struct Body {
    Vec(uint64_t) returns;
    Vec(uint64_t) targets; // of jumps inside of it
    bool is_indirect;      // a jump has no fixed target
    Vec(uint64_t) outside; // targets of jumps that lead out of it
    bool leaves;           // a jump leads out of it, so that another function may return for it
    uint64_t first_branch, first_emulated; // 0: none
    bool has_address;                      // the wanted address is the start of an instruction
} Body;

// Reads the instructions of a function. False when no decoder is installed.
static bool read_body(Finder *f, const ProbeFunction *fn, uint64_t wanted, Body *ret, Error *err)
{
    Disasm *d;
    const Elf *elf = &f->object->symbols.elf;
    Bytes code = elf_bytes_at_svma(elf, fn->start);
    uint64_t end = function_end(fn);
    *ret = (Body){0};
    if (!disasm_open(f->arena, arch_of(elf), &d, err))
        return false;
    code = bytes_over(code.ptr, MIN((uint64_t)code.len, end - fn->start));
    for (uint64_t at = fn->start; at < end;) {
        DisasmInstruction in;
        Arena scratch = {0};
        Bytes rest = bytes_over(code.ptr + (at - fn->start), code.len - (at - fn->start));
        bool ok = disasm_next(d, &scratch, rest, at, &in);
        arena_deinit(&scratch);
        if (!ok || in.length == 0)
            break;
        ret->has_address |= at == wanted;
        if (in.flow == DISASM_RETURN)
            vec_push(f->arena, &ret->returns, at);
        if (in.flow == DISASM_JUMP && in.has_target)
            vec_push(f->arena, &ret->targets, in.target);
        ret->is_indirect |= in.flow == DISASM_JUMP && !in.has_target;
        if (in.flow != DISASM_PLAIN && ret->first_branch == 0)
            ret->first_branch = at;
        if (ret->first_emulated == 0 && probe_object_is_emulated(f->object, at))
            ret->first_emulated = at;
        if (in.flow == DISASM_JUMP && in.has_target && (in.target < fn->start || in.target >= end))
            vec_push(f->arena, &ret->outside, in.target);
        if (in.flow == DISASM_JUMP)
            ret->leaves |= !in.has_target || in.target < fn->start || in.target >= end;
        at += in.length;
    }
    disasm_close(d);
    return true;
}

// The returns of a function. A probe at each return instruction needs no trampoline, so that every
// stack stays whole and Go's moving stacks are not hurt; but a function that ends in a jump to
// another one returns there, and there only the kernel's trampoline sees it.
static bool add_returns(Finder *f, const ProbeFunction *fn, Error *err)
{
    Body body;
    Error no_decoder;
    bool is_go = f->object->symbols.has_go;
    bool known = read_body(f, fn, 0, &body, &no_decoder);
    if (is_go && !known) {
        *err = no_decoder;
        return false;
    }
    if (!is_go && (!known || body.leaves || body.returns.len == 0)) {
        vec_push(f->arena, f->places, (ProbePlace){.svma = fn->start, .by_trampoline = true});
        return true;
    }
    for (size_t i = 0; i < body.returns.len; i++)
        vec_push(f->arena, f->places, (ProbePlace){.svma = body.returns.at[i], .is_return = true});
    if (body.returns.len == 0)
        return error_set(err, ERROR_NOT_FOUND, "'%" STR_FMT "' has no return instruction",
                         STR_ARG(fn->name));
    return true;
}

static bool add_offset(Finder *f, const ProbeFunction *fn, Error *err)
{
    Body body;
    uint64_t at = fn->start + f->text->offset;
    if (at >= function_end(fn))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' has only %llu bytes of code",
                         STR_ARG(fn->name), (unsigned long long)(fn->end - fn->start));
    if (!read_body(f, fn, at, &body, err))
        return false;
    if (!body.has_address)
        return error_set(err, ERROR_USAGE,
                         "'%" STR_FMT "' lies inside an instruction: a breakpoint there would "
                         "change what the program does",
                         STR_ARG(f->text->point));
    vec_push(f->arena, f->places, (ProbePlace){.svma = at});
    return true;
}

// ---- Functions ----------------------------------------------------------------------------

typedef struct InlinedSearch {
    Finder *finder;
    size_t found;
} InlinedSearch;

// The name of an inlined copy for people, as that of its function.
static Str inlined_name(Finder *f, Str name, Str linkage_name)
{
    StrBuf shown = {0};
    if (linkage_name.len)
        (void)demangle(linkage_name_base(linkage_name), &shown);
    Str ret = arena_str(f->arena, shown.len ? strbuf_str(&shown) : name);
    strbuf_deinit(&shown);
    return ret;
}

static void take_inlined(void *ctx, Str name, Str linkage_name, uint64_t low)
{
    InlinedSearch *s = ctx;
    Str wanted = s->finder->text->name;
    if (!probe_name_fits(name, wanted) && !probe_name_fits(linkage_name, wanted))
        return;
    s->found++;
    if (!s->finder->text->is_return)
        vec_push(
            s->finder->arena, s->finder->places,
            (ProbePlace){.svma = low, .function = inlined_name(s->finder, name, linkage_name)});
}

// Copies of the function that the compiler put into its callers.
static size_t add_inlined(Finder *f)
{
    DwarfFile *d = f->object->symbols.dwarf;
    InlinedSearch s = {.finder = f};
    for (size_t i = 0; d && i < dwarf_unit_count(d); i++)
        dwarf_unit_inlined(d, i, take_inlined, &s);
    if (s.found && f->text->is_return)
        add_note(f, arena_printf(f->arena,
                                 "'%" STR_FMT "' is inlined at %zu places, which have no return: "
                                 "these calls are not seen",
                                 STR_ARG(f->text->name), s.found));
    else if (s.found)
        add_note(f, arena_printf(f->arena,
                                 "'%" STR_FMT "' is inlined at %zu place%s, each has a probe; an "
                                 "inlined copy may be entered without passing its first "
                                 "instruction",
                                 STR_ARG(f->text->name), s.found, s.found == 1 ? "" : "s"));
    return s.found;
}

// How many bytes of a Go function compare the stack pointer with the end of the goroutine's stack
// and branch to where it grows; 0: it does not begin so. The function begins again when the stack
// has grown, with the same arguments. x86-64 only.
static size_t go_stack_check(Bytes code)
{
    static const uint8_t near_end[] = {0x49, 0x3b, 0x66, 0x10};  // cmp 16(%r14),%rsp
    static const uint8_t frame_end[] = {0x4d, 0x3b, 0x66, 0x10}; // cmp 16(%r14),%r12
    static const uint8_t lea8[] = {0x4c, 0x8d, 0x64, 0x24};      // lea disp8(%rsp),%r12
    static const uint8_t lea32[] = {0x4c, 0x8d, 0xa4, 0x24};     // lea disp32(%rsp),%r12
    size_t at = 0;
    const uint8_t *compare = near_end;
    if (code.len >= 32 && memcmp(code.ptr, lea8, sizeof(lea8)) == 0)
        at = sizeof(lea8) + 1;
    else if (code.len >= 32 && memcmp(code.ptr, lea32, sizeof(lea32)) == 0)
        at = sizeof(lea32) + 4;
    if (at)
        compare = frame_end;
    if (code.len < at + 10 || memcmp(code.ptr + at, compare, sizeof(near_end)) != 0)
        return 0;
    at += sizeof(near_end);
    if (code.ptr[at] == 0x76) // jbe, short
        return at + 2;
    return code.ptr[at] == 0x0f && code.ptr[at + 1] == 0x86 ? at + 6 : 0;
}

// Where an entry is probed when no argument is wanted: the first instruction, or one behind it
// that every call passes exactly once and that the kernel need not single-step. Nothing jumps
// there, and nothing branches before. In Go it is behind the check of the stack, or calls that let
// the stack grow would count twice.
static uint64_t entry_of(Finder *f, const ProbeFunction *fn)
{
    Body body;
    Error ignored;
    size_t check = f->object->symbols.has_go
                       ? go_stack_check(elf_bytes_at_svma(&f->object->symbols.elf, fn->start))
                       : 0;
    if (check && fn->start + check < fn->end)
        return fn->start + check;
    if (f->text->args.len || fn->end == fn->start ||
        probe_object_is_emulated(f->object, fn->start) || !read_body(f, fn, 0, &body, &ignored) ||
        body.is_indirect || body.first_emulated == 0 ||
        (body.first_branch && body.first_emulated > body.first_branch))
        return fn->start;
    for (size_t i = 0; i < body.targets.len; i++)
        if (body.targets.at[i] > fn->start && body.targets.at[i] <= body.first_emulated)
            return fn->start;
    return body.first_emulated;
}

static bool add_function(Finder *f, const ProbeFunction *fn, Error *err)
{
    if (fn->is_chooser) {
        add_note(f, arena_printf(f->arena,
                                 "'%" STR_FMT "' is chosen when the program starts: the probe is "
                                 "on the code that chooses, not on what is called",
                                 STR_ARG(fn->name)));
    }
    if (f->text->is_return)
        return add_returns(f, fn, err);
    if (f->text->offset)
        return add_offset(f, fn, err);
    vec_push(f->arena, f->places, (ProbePlace){.svma = entry_of(f, fn)});
    return true;
}

static bool find_functions(Finder *f, Error *err)
{
    ProbeFunctions functions = {0};
    probe_object_functions(f->arena, f->object, f->text->name, &functions);
    if (functions.len > PROBE_PLACES_MAX) {
        (void)error_set(err, ERROR_LIMIT, "'%" STR_FMT "' fits %zu functions, more than %d",
                        STR_ARG(f->text->name), functions.len, PROBE_PLACES_MAX);
        return error_hint(err, "narrow the pattern; assay list shows the names");
    }
    for (size_t i = 0; i < functions.len; i++) {
        size_t first = f->places->len;
        if (!add_function(f, &functions.at[i], err))
            return false;
        for (size_t k = first; k < f->places->len; k++)
            f->places->at[k].function = functions.at[i].name;
    }
    size_t inlined = f->text->offset ? 0 : add_inlined(f);
    if (functions.len == 0 && f->places->len == 0 && inlined)
        return error_set(err, ERROR_UNSUPPORTED,
                         "'%" STR_FMT "' is inlined everywhere: there is no return to probe",
                         STR_ARG(f->text->name));
    return f->places->len > 0 || probe_object_unknown(f->arena, f->object, f->text->name, err);
}

// Where a call begins: the first instruction, or the one behind the mark of a target of indirect
// calls (endbr64), or behind a goroutine's check of its stack. The stack pointer and the arguments
// are the same there, and the kernel can often carry it out without a single step, which may cost
// ten times as much.
static uint64_t call_begin(const ProbeObject *o, const ProbeFunction *fn)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    Bytes code = elf_bytes_at_svma(&o->symbols.elf, fn->start);
    uint64_t behind = fn->start + sizeof(endbr64);
    if (o->symbols.has_go) {
        uint64_t checked = fn->start + go_stack_check(code);
        return checked < fn->end ? checked : fn->start;
    }
    bool has_mark = code.len >= sizeof(endbr64) && memcmp(code.ptr, endbr64, sizeof(endbr64)) == 0;
    return has_mark && behind < fn->end && probe_object_is_emulated(o, behind) ? behind : fn->start;
}

static bool is_in_cold(const ProbeFunctions *colds, uint64_t svma)
{
    for (size_t i = 0; i < colds->len; i++)
        if (svma >= colds->at[i].start && svma < colds->at[i].end)
            return true;
    return false;
}

// Appends the return instructions of a function and of its cold part. False when another function
// may return for it, or none does.
static bool add_return_instructions(Finder *f, const ProbeFunction *fn, const ProbeFunctions *colds)
{
    Body body;
    Error ignored;
    if (!read_body(f, fn, 0, &body, &ignored))
        return false;
    for (size_t i = 0; i < body.returns.len; i++)
        vec_push(f->arena, f->places, (ProbePlace){.svma = body.returns.at[i], .is_return = true});
    if (f->object->symbols.has_go)
        return body.returns.len > 0;
    bool leaves = body.is_indirect;
    for (size_t i = 0; i < body.outside.len; i++)
        leaves |= !is_in_cold(colds, body.outside.at[i]);
    return body.returns.len > 0 && !leaves;
}

bool probe_call_places(Arena *arena, const ProbeContext *context, const ProbeObject *o,
                       const ProbeFunction *function, const ProbeFunctions *colds,
                       bool by_instruction, ProbePlaces *ret)
{
    ProbeText text = {0};
    Finder f = {arena, context, o, &text, ret};
    uint64_t begin = call_begin(o, function);
    vec_push(arena, ret, (ProbePlace){.svma = begin});
    if (!by_instruction) {
        vec_push(arena, ret, (ProbePlace){.svma = begin, .by_trampoline = true});
        return true;
    }
    return add_return_instructions(&f, function, colds);
}

size_t probe_note_inlined(Arena *arena, const ProbeContext *context, const ProbeObject *o, Str name)
{
    ProbePlaces none = {0};
    ProbeText text = {.name = name, .is_return = true};
    Finder f = {arena, context, o, &text, &none};
    return add_inlined(&f);
}

// ---- Lines --------------------------------------------------------------------------------

static bool is_path_end(Str path, Str end)
{
    return str_ends_with(path, end) &&
           (path.len == end.len || path.ptr[path.len - end.len - 1] == '/');
}

typedef struct LinePlace {
    uint64_t function; // lowest address of the function, or of its inlined copy
    uint64_t svma;
} LinePlace;

typedef struct LineSearch {
    Vec(LinePlace) places;
    uint32_t before, after; // the nearest lines that have code
} LineSearch;

// In each function, and in each inlined copy, the first instruction of the line has the probe.
static void take_row(Finder *f, LineSearch *s, const DwarfRow *row)
{
    DwarfFrames frames;
    uint64_t function = 0;
    if (dwarf_lookup(f->object->symbols.dwarf, row->address, &frames) && frames.len)
        function = frames.at[0].low;
    for (size_t i = 0; i < s->places.len; i++)
        if (s->places.at[i].function == function) {
            s->places.at[i].svma = MIN(s->places.at[i].svma, row->address);
            return;
        }
    vec_push(f->arena, &s->places, (LinePlace){function, row->address});
}

static void search_unit(Finder *f, size_t unit, LineSearch *s)
{
    DwarfFile *d = f->object->symbols.dwarf;
    DwarfRows rows = dwarf_unit_rows(d, unit);
    uint32_t file = UINT32_MAX;
    bool fits = false;
    for (size_t i = 0; i < rows.len; i++) {
        const DwarfRow *row = &rows.at[i];
        if (row->flags & DWARF_ROW_END || !(row->flags & DWARF_ROW_IS_STMT) || row->line == 0)
            continue;
        if (row->file != file) {
            file = row->file;
            fits = is_path_end(dwarf_unit_file(d, unit, file), f->text->name);
        }
        if (!fits)
            continue;
        if (row->line == f->text->line)
            take_row(f, s, row);
        else if (row->line < f->text->line)
            s->before = MAX(s->before, row->line);
        else
            s->after = s->after ? MIN(s->after, row->line) : row->line;
    }
}

static bool explain_line(const Finder *f, const LineSearch *s, Error *err)
{
    if (s->before == 0 && s->after == 0) {
        (void)error_set(err, ERROR_NOT_FOUND,
                        "no source file '%" STR_FMT "' in the debug information of '%" STR_FMT "'",
                        STR_ARG(f->text->name), STR_ARG(f->object->path));
        return error_hint(err, f->object->symbols.dwarf
                                   ? "give more or less of its path"
                                   : "it has none: compile with -g, or install its debug file");
    }
    (void)error_set(err, ERROR_NOT_FOUND, "line %u of '%" STR_FMT "' has no code", f->text->line,
                    STR_ARG(f->text->name));
    StrBuf b = {0};
    if (s->before)
        strbuf_printf(&b, "%u", s->before);
    if (s->after)
        strbuf_printf(&b, "%s%u", b.len ? " and " : "", s->after);
    (void)error_hint(err, "the nearest lines with code: %" STR_FMT, STR_ARG(strbuf_str(&b)));
    strbuf_deinit(&b);
    return false;
}

static bool find_line(Finder *f, Error *err)
{
    DwarfFile *d = f->object->symbols.dwarf;
    LineSearch s = {0};
    for (size_t i = 0; d && i < dwarf_unit_count(d); i++)
        search_unit(f, i, &s);
    if (s.places.len == 0)
        return explain_line(f, &s, err);
    for (size_t i = 0; i < s.places.len; i++)
        vec_push(f->arena, f->places, (ProbePlace){.svma = s.places.at[i].svma});
    return true;
}

// ---- Markers and addresses ------------------------------------------------------------------

static bool find_markers(Finder *f, Error *err)
{
    UsdtMarkers markers = {0};
    StrBuf known = {0};
    usdt_read(f->arena, &f->object->symbols.elf, &markers);
    for (size_t i = 0; i < markers.len; i++) {
        const UsdtMarker *m = &markers.at[i];
        if (str_glob_match(f->text->provider, m->provider) &&
            str_glob_match(f->text->name, m->name))
            vec_push(f->arena, f->places,
                     (ProbePlace){.svma = m->svma, .args = m->args, .semaphore = m->semaphore});
        else if (known.len < 120)
            strbuf_printf(&known, "%ssdt_%" STR_FMT ":%" STR_FMT, known.len ? ", " : "",
                          STR_ARG(m->provider), STR_ARG(m->name));
    }
    bool found = f->places->len > 0;
    if (!found) {
        (void)error_set(
            err, ERROR_NOT_FOUND, "no marker '%" STR_FMT ":%" STR_FMT "' in '%" STR_FMT "'",
            STR_ARG(f->text->provider), STR_ARG(f->text->name), STR_ARG(f->object->path));
        (void)error_hint(err, known.len ? "it has %" STR_FMT " …" : "it has none%" STR_FMT,
                         STR_ARG(strbuf_str(&known)));
    }
    strbuf_deinit(&known);
    return found;
}

static bool find_address(Finder *f, Error *err)
{
    if (!elf_is_code(&f->object->symbols.elf, f->text->address))
        return error_set(err, ERROR_USAGE, "0x%llx is not in the code of '%" STR_FMT "'",
                         (unsigned long long)f->text->address, STR_ARG(f->object->path));
    vec_push(f->arena, f->places, (ProbePlace){.svma = f->text->address});
    return true;
}

static int by_address(const void *a, const void *b)
{
    const ProbePlace *x = a, *y = b;
    return (x->svma > y->svma) - (x->svma < y->svma);
}

static void drop_equal(ProbePlaces *p)
{
    size_t kept = 0;
    qsort(p->at, p->len, sizeof(p->at[0]), by_address);
    for (size_t i = 0; i < p->len; i++)
        if (kept == 0 || p->at[kept - 1].svma != p->at[i].svma)
            p->at[kept++] = p->at[i];
    p->len = kept;
}

bool probe_places_find(Arena *arena, const ProbeContext *context, const ProbeObject *o,
                       const ProbeText *text, ProbePlaces *ret, Error *err)
{
    Finder f = {arena, context, o, text, ret};
    bool ok = false;
    switch (text->kind) {
    case PROBE_FUNCTION:
        ok = find_functions(&f, err);
        break;
    case PROBE_LINE:
        ok = find_line(&f, err);
        break;
    case PROBE_ADDRESS:
        ok = find_address(&f, err);
        break;
    case PROBE_USDT:
        ok = find_markers(&f, err);
        break;
    }
    if (!ok)
        return false;
    drop_equal(ret);
    if (ret->len <= PROBE_PLACES_MAX)
        return true;
    (void)error_set(err, ERROR_LIMIT, "'%" STR_FMT "' stands for %zu places, more than %d",
                    STR_ARG(text->point), ret->len, PROBE_PLACES_MAX);
    return error_hint(err, "narrow the pattern, or name a line");
}
