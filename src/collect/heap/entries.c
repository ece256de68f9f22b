// SPDX-License-Identifier: Apache-2.0
// Finds functions that allocate among a program's symbols, and moves the instructions at their
// entries.
// Document: Intel SDM volume 2, the descriptions of Jcc and JMP.

#include "collect/heap/entries.h"

#include "disasm/disasm.h"
#include "elf/elf.h"
#include "os/file.h"
#include "wire/ring.h"

#include <elf.h>

// A function of a known allocator, and the meaning of its arguments.
typedef struct Known {
    const char *name;
    WireEntryKind kind;
    uint8_t size_arg, count_arg, block_arg;
} Known;

#define ALLOC(name, size)                                                                          \
    {                                                                                              \
        name, WIRE_ENTRY_ALLOC, size, 0, 0                                                         \
    }
#define ARRAY(name, count, size)                                                                   \
    {                                                                                              \
        name, WIRE_ENTRY_ALLOC, size, count, 0                                                     \
    }
#define FREE(name)                                                                                 \
    {                                                                                              \
        name, WIRE_ENTRY_FREE, 0, 0, 1                                                             \
    }
#define REALLOC(name, block, size)                                                                 \
    {                                                                                              \
        name, WIRE_ENTRY_REALLOC, size, 0, block                                                   \
    }
#define POSIX(name)                                                                                \
    {                                                                                              \
        name, WIRE_ENTRY_POSIX, 3, 0, 0                                                            \
    }

// The names of C; those of an allocator have a prefix.
static const Known c_names[] = {ALLOC("malloc", 1),        ARRAY("calloc", 1, 2),
                                REALLOC("realloc", 1, 2),  FREE("free"),
                                ALLOC("aligned_alloc", 2), ALLOC("memalign", 2),
                                ALLOC("valloc", 1),        ALLOC("pvalloc", 1),
                                POSIX("posix_memalign"),   ALLOC("mallocx", 1),
                                FREE("dallocx"),           FREE("sdallocx"),
                                REALLOC("rallocx", 1, 2),  FREE("cfree"),
                                FREE("free_sized"),        FREE("free_aligned_sized")};

static const Known mi_names[] = {
    ALLOC("mi_zalloc", 1),
    ARRAY("mi_mallocn", 1, 2),
    REALLOC("mi_reallocf", 1, 2),
    REALLOC("mi_rezalloc", 1, 2),
    FREE("mi_free_size"),
    FREE("mi_free_size_aligned"),
    FREE("mi_free_aligned"),
    ALLOC("mi_malloc_small", 1),
    ALLOC("mi_zalloc_small", 1),
    ALLOC("mi_malloc_aligned", 1),
    ALLOC("mi_zalloc_aligned", 1),
    ARRAY("mi_calloc_aligned", 1, 2),
    ALLOC("mi_malloc_aligned_at", 1),
    REALLOC("mi_realloc_aligned", 1, 2),
    REALLOC("mi_rezalloc_aligned", 1, 2),
    ALLOC("mi_new", 1),
    ALLOC("mi_new_aligned", 1),
    ALLOC("mi_new_nothrow", 1),
    ALLOC("mi_new_aligned_nothrow", 1),
    ARRAY("mi_new_n", 1, 2),
    REALLOC("mi_new_realloc", 1, 2),
    ALLOC("mi_heap_malloc", 2),
    ALLOC("mi_heap_zalloc", 2),
    ARRAY("mi_heap_calloc", 2, 3),
    REALLOC("mi_heap_realloc", 2, 3),
    ALLOC("mi_heap_malloc_aligned", 2),
};

static const Known tc_names[] = {
    ALLOC("tc_new", 1),        ALLOC("tc_new_nothrow", 1),      ALLOC("tc_newarray", 1),
    FREE("tc_delete"),         ALLOC("tc_newarray_nothrow", 1), FREE("tc_deletearray"),
    FREE("tc_delete_sized"),   FREE("tc_delete_nothrow"),       FREE("tc_deletearray_sized"),
    ALLOC("tc_new_aligned", 1)};

// C++'s operators, of programs with a malloc of their own.
static const Known operators[] = {
    ALLOC("_Znwm", 1),
    ALLOC("_Znam", 1),
    ALLOC("_ZnwmRKSt9nothrow_t", 1),
    ALLOC("_ZnamRKSt9nothrow_t", 1),
    ALLOC("_ZnwmSt11align_val_t", 1),
    ALLOC("_ZnamSt11align_val_t", 1),
    FREE("_ZdlPv"),
    FREE("_ZdaPv"),
    FREE("_ZdlPvm"),
    FREE("_ZdaPvm"),
    FREE("_ZdlPvRKSt9nothrow_t"),
    FREE("_ZdaPvRKSt9nothrow_t"),
    FREE("_ZdlPvSt11align_val_t"),
    FREE("_ZdaPvSt11align_val_t"),
    FREE("_ZdlPvmSt11align_val_t"),
    FREE("_ZdaPvmSt11align_val_t"),
};

// An allocator, told by its malloc. Several may be there: tcmalloc has both names.
static const struct {
    const char *prefix, *name;
    const Known *more;
    size_t more_count;
} allocators[] = {
    {"_rjem_", "jemalloc", NULL, 0},
    {"je_", "jemalloc", NULL, 0},
    {"mi_", "mimalloc", mi_names, ARRAY_LEN(mi_names)},
    {"tc_", "tcmalloc", tc_names, ARRAY_LEN(tc_names)},
    {"rp", "rpmalloc", NULL, 0},
    {"sn_", "snmalloc", NULL, 0},
    {"scalable_", "tbbmalloc", NULL, 0},
    {"", "a malloc of its own", operators, ARRAY_LEN(operators)},
};

typedef struct Function {
    uint64_t svma, size;
} Function;

typedef struct Finder {
    Arena *arena;
    Elf elf;
    ElfSymbols tables[2];
    Disasm *disasm; // NULL until it is needed
    HeapEntries *ret;
} Finder;

// ---- Moving instructions ----------------------------------------------------------------

// A jump with one byte of distance as one with four; false for other instructions.
static bool widen(const uint8_t *code, WireEntry *e)
{
    if (code[0] == 0xeb) {
        e->code[e->code_size++] = 0xe9;
        return true;
    }
    if (code[0] < 0x70 || code[0] > 0x7f)
        return false;
    e->code[e->code_size++] = 0x0f;
    e->code[e->code_size++] = (uint8_t)(code[0] + 0x10);
    return true;
}

static int64_t distance_at(const uint8_t *at, uint32_t size)
{
    if (size == 1)
        return (int8_t)*at;
    int32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

// Copies one instruction of the entry to the new place.
static bool move_one(Disasm *d, Bytes code, WireEntry *e)
{
    DisasmRelative relative;
    uint32_t length = disasm_relative(d, code, &relative);
    const uint8_t *from = code.ptr;
    if (length == 0 || e->moved + length > WIRE_ENTRY_MOVED ||
        e->code_size + length + 4 > WIRE_ENTRY_CODE)
        return false;
    if (relative.size == 0) {
        memcpy(e->code + e->code_size, from, length);
        e->code_size = (uint8_t)(e->code_size + length);
    } else {
        if (e->fix_count == WIRE_ENTRY_FIXES || (relative.size != 1 && relative.size != 4))
            return false;
        WireFix *fix = &e->fix[e->fix_count++];
        fix->target = e->moved + length + distance_at(from + relative.offset, relative.size);
        if (relative.size == 1) {
            if (!widen(from, e))
                return false;
            fix->at = e->code_size;
            e->code_size = (uint8_t)(e->code_size + 4);
        } else {
            fix->at = (uint8_t)(e->code_size + relative.offset);
            memcpy(e->code + e->code_size, from, length);
            e->code_size = (uint8_t)(e->code_size + length);
        }
        fix->end = e->code_size;
        // Into what is overwritten.
        if (fix->target > 0 && fix->target < WIRE_ENTRY_JUMP)
            return false;
    }
    e->moved = (uint8_t)(e->moved + length);
    return true;
}

// Whether the function jumps into its own first bytes.
static bool jumps_back(Finder *f, const Function *fn, Bytes code, unsigned moved)
{
    Disasm *d = f->disasm;
    size_t at = 0, end = MIN(code.len, (size_t)fn->size);
    while (at < end) {
        DisasmInstruction i;
        Bytes rest = bytes_over(code.ptr + at, code.len - at);
        if (!disasm_next(d, f->arena, rest, fn->svma + at, &i) || i.length == 0)
            return false;
        if (i.has_target && i.target > fn->svma && i.target < fn->svma + moved)
            return true;
        at += i.length;
    }
    return false;
}

// Fills in how the entry can be hooked. NULL: it can; else why not.
static const char *move_entry(Finder *f, const Function *fn, WireEntry *e)
{
    Bytes code = elf_bytes_at_svma(&f->elf, fn->svma);
    bool ends = false;
    Error err;
    if (!f->disasm && !disasm_open(f->arena, DISASM_X86_64, &f->disasm, &err))
        return "libZydis, which reads its instructions, is not installed";
    while (e->moved < WIRE_ENTRY_JUMP) {
        DisasmInstruction i;
        Bytes rest = bytes_over(code.ptr + e->moved, code.len - MIN(code.len, (size_t)e->moved));
        if (ends || (fn->size && e->moved >= fn->size))
            return "it is too short";
        if (rest.len == 0 || !disasm_next(f->disasm, f->arena, rest, fn->svma, &i) ||
            !move_one(f->disasm, rest, e))
            return "its first instructions cannot be moved";
        ends = i.flow == DISASM_RETURN ||
               (i.flow == DISASM_JUMP && str_starts_with(i.text, STR("jmp")));
    }
    if (jumps_back(f, fn, code, e->moved))
        return "it jumps back to its first instructions";
    memcpy(e->before, code.ptr, e->moved);
    return NULL;
}

// ---- Functions --------------------------------------------------------------------------

static bool find_function(const Finder *f, Str name, size_t skip, Function *ret)
{
    for (size_t t = 0; t < ARRAY_LEN(f->tables); t++)
        for (size_t i = 0; i < f->tables[t].count; i++) {
            ElfSymbol s = elf_symbol_get(&f->tables[t], i);
            if (s.section == SHN_UNDEF || s.type != STT_FUNC || !str_equal(s.name, name) || skip--)
                continue;
            *ret = (Function){s.value, s.size};
            return true;
        }
    return false;
}

// Adds a function. NULL: it is there now, or was before by another name; else why it cannot be.
static const char *add(Finder *f, const Function *fn, const Known *k)
{
    WireEntries *all = f->ret->wire;
    WireEntry e = {.kind = (uint8_t)k->kind,
                   .size_arg = k->size_arg,
                   .count_arg = k->count_arg,
                   .block_arg = k->block_arg};
    if (!elf_offset_at_svma(&f->elf, fn->svma, &e.offset))
        return "it lies outside the file";
    for (uint32_t i = 0; all && i < all->count; i++)
        if (all->at[i].offset == e.offset)
            return NULL;
    if (all && all->count == WIRE_ENTRIES_MAX)
        return "there are too many";
    const char *reason = move_entry(f, fn, &e);
    if (reason)
        return reason;
    if (!all) {
        all = arena_array(f->arena, WireEntries, 1);
        *all = (WireEntries){.magic = WIRE_ENTRIES_MAGIC, .version = WIRE_VERSION};
        f->ret->wire = all;
    }
    all->at[all->count++] = e;
    return NULL;
}

static void add_known(Finder *f, const char *prefix, const Known *k)
{
    Function fn;
    Str name = arena_printf(f->arena, "%s%s", prefix, k->name);
    for (size_t n = 0; find_function(f, name, n, &fn); n++) {
        const char *reason = add(f, &fn, k);
        if (reason)
            f->ret->missed = arena_printf(f->arena, "%" STR_FMT ": %s", STR_ARG(name), reason);
    }
}

static void add_allocators(Finder *f)
{
    Function fn;
    for (size_t i = 0; i < ARRAY_LEN(allocators); i++) {
        const char *prefix = allocators[i].prefix;
        if (!find_function(f, arena_printf(f->arena, "%smalloc", prefix), 0, &fn) ||
            !find_function(f, arena_printf(f->arena, "%sfree", prefix), 0, &fn))
            continue;
        if (!f->ret->allocator)
            f->ret->allocator = allocators[i].name;
        for (size_t k = 0; k < ARRAY_LEN(c_names); k++)
            add_known(f, prefix, &c_names[k]);
        for (size_t k = 0; k < allocators[i].more_count; k++)
            add_known(f, "", &allocators[i].more[k]);
    }
}

// ---- Sanitizers -------------------------------------------------------------------------

static bool has_symbol(const Finder *f, Str name)
{
    for (size_t t = 0; t < ARRAY_LEN(f->tables); t++)
        for (size_t i = 0; i < f->tables[t].count; i++)
            if (str_equal(elf_symbol_get(&f->tables[t], i).name, name))
                return true;
    return false;
}

// Their malloc is a part of their checks, and its blocks differ from those of the program without
// them.
static bool refuse_sanitizers(const Finder *f, Str path, Error *err)
{
    static const struct {
        const char *symbol, *name, *option;
    } sanitizers[] = {{"__asan_init", "address sanitizer", "-fsanitize=address"},
                      {"__tsan_init", "thread sanitizer", "-fsanitize=thread"},
                      {"__msan_init", "memory sanitizer", "-fsanitize=memory"},
                      {"__hwasan_init", "hwaddress sanitizer", "-fsanitize=hwaddress"}};
    for (size_t i = 0; i < ARRAY_LEN(sanitizers); i++) {
        if (!has_symbol(f, str_from_c(sanitizers[i].symbol)))
            continue;
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot record the heap of '%" STR_FMT "': it has %s, whose own "
                        "malloc changes what is allocated",
                        STR_ARG(path), sanitizers[i].name);
        return error_hint(err, "build it without %s", sanitizers[i].option);
    }
    return true;
}

// ---- The user's -------------------------------------------------------------------------

static bool take_number(Str text, uint8_t *ret)
{
    uint64_t number;
    if (!str_parse_u64(text, 10, &number) || number < 1 || number > WIRE_ENTRY_ARGS)
        return false;
    *ret = (uint8_t)number;
    return true;
}

// "NAME", "NAME:N" or "NAME:N*M".
static bool parse_own(Str text, bool frees, Str *ret_name, Known *ret, Error *err)
{
    Str name = text, rest, first, second;
    uint8_t number = 1, factor = 0;
    bool ok = true;
    if (str_split(text, ':', &name, &rest)) {
        if (!frees && str_split(rest, '*', &first, &second))
            ok = take_number(first, &number) && take_number(second, &factor);
        else
            ok = take_number(rest, &number);
    }
    if (!ok || name.len == 0) {
        (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not of the form FUNCTION:ARGUMENT",
                        STR_ARG(text));
        return error_hint(err, frees ? "--free-fn NAME, or NAME:N with the number of the argument "
                                       "that is the block, 1 to 6"
                                     : "--alloc-fn NAME, NAME:N with the number of the argument "
                                       "that is the size, 1 to 6, or NAME:N*M");
    }
    *ret_name = name;
    *ret = frees ? (Known){.kind = WIRE_ENTRY_FREE, .block_arg = number}
                 : (Known){.kind = WIRE_ENTRY_ALLOC, .size_arg = number, .count_arg = factor};
    return true;
}

// A copy of a function for some of its callers, with other arguments; "": there is none.
static Str find_copy(const Finder *f, Str name)
{
    for (size_t t = 0; t < ARRAY_LEN(f->tables); t++)
        for (size_t i = 0; i < f->tables[t].count; i++) {
            Str other = elf_symbol_get(&f->tables[t], i).name;
            if (!str_starts_with(other, name))
                continue;
            Str rest = str_slice(other, name.len, other.len);
            if (str_starts_with(rest, STR(".constprop.")) || str_starts_with(rest, STR(".isra.")))
                return other;
        }
    return (Str){0};
}

static bool add_own(Finder *f, Str path, const StrVec *names, bool frees, Error *err)
{
    for (size_t i = 0; i < names->len; i++) {
        Str name;
        Known k;
        Function fn;
        if (!parse_own(names->at[i], frees, &name, &k, err))
            return false;
        if (!find_function(f, name, 0, &fn)) {
            (void)error_set(err, ERROR_UNSUPPORTED,
                            "no function '%" STR_FMT "' in the symbols of '%" STR_FMT "'",
                            STR_ARG(name), STR_ARG(path));
            return error_hint(err, "a function that is inlined or stripped has no entry; nm lists "
                                   "those that have one");
        }
        Str copy = find_copy(f, name);
        if (copy.len) {
            (void)error_set(err, ERROR_UNSUPPORTED,
                            "cannot record '%" STR_FMT "' in '%" STR_FMT
                            "': the compiler has made another copy of it, %" STR_FMT,
                            STR_ARG(name), STR_ARG(path), STR_ARG(copy));
            return error_hint(err, "__attribute__((noipa)) keeps it one function");
        }
        for (size_t n = 0; find_function(f, name, n, &fn); n++) {
            const char *reason = add(f, &fn, &k);
            if (reason)
                return error_set(err, ERROR_UNSUPPORTED,
                                 "cannot record '%" STR_FMT "' in '%" STR_FMT "': %s",
                                 STR_ARG(name), STR_ARG(path), reason);
        }
    }
    return true;
}

bool heap_entries_find(Arena *arena, Str path, const StrVec *alloc, const StrVec *free,
                       HeapEntries *ret, Error *err)
{
    Finder f = {.arena = arena, .ret = ret};
    MappedFile file;
    FileIdentity identity = {0};
    Error unread;
    *ret = (HeapEntries){0};
    if (!os_map_file(path, &file, &unread))
        return true;
    bool ok = true;
    if (elf_parse(arena, file.bytes, &f.elf, &unread) && f.elf.machine == EM_X86_64 &&
        elf_symbols_load(arena, &f.elf, SHT_SYMTAB, &f.tables[0], &unread) &&
        elf_symbols_load(arena, &f.elf, SHT_DYNSYM, &f.tables[1], &unread) &&
        (identity = file.identity, true)) {
        ret->is_go = elf_section_find(&f.elf, STR(".go.buildinfo")) != NULL;
        // First, so that the user's words about an allocator's function hold.
        ok = refuse_sanitizers(&f, path, err) && add_own(&f, path, alloc, false, err) &&
             add_own(&f, path, free, true, err);
        if (ok)
            add_allocators(&f);
    } else if (alloc->len + free->len > 0) {
        ok = error_set(err, ERROR_UNSUPPORTED,
                       "cannot record functions of '%" STR_FMT "': it is no program for "
                       "x86-64",
                       STR_ARG(path));
    }
    if (ret->wire)
        ret->wire->inode = identity.inode;
    disasm_close(f.disasm);
    os_unmap_file(&file);
    return ok;
}
