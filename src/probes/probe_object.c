// SPDX-License-Identifier: Apache-2.0
// The file that is probed, and its functions.

#include "probes/probe_object.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "model/name.h"
#include "os/file.h"
#include "os/proc.h"
#include "os/spawn.h"
#include "symbolise/demangle.h"

// ---- The file ------------------------------------------------------------------------------

static bool is_named(Str path, Str target)
{
    Str base = str_base_name(path);
    if (str_equal(base, target))
        return true;
    // "libc" for "libc.so.6"
    return str_starts_with(base, target) && base.len > target.len &&
           str_starts_with(str_slice(base, target.len, base.len), STR(".so"));
}

static Str find_mapped(Arena *arena, const ProbeContext *context, Str target)
{
    for (size_t i = 0; context->pids && i < context->pids->len; i++) {
        ProcMapVec maps = {0};
        uint32_t pid = context->pids->at[i];
        if (!proc_maps_read(arena, pid, &maps, NULL))
            continue;
        for (size_t k = 0; k < maps.len; k++)
            if (maps.at[k].exec && maps.at[k].path.len && is_named(maps.at[k].path, target))
                return arena_printf(arena, "/proc/%u/root%" STR_FMT, pid, STR_ARG(maps.at[k].path));
    }
    return STR("");
}

// Where the file that a process has mapped at this path is found, when another file, or none, has
// the path now: by the links of /proc, of which the one to the program needs no rights.
static Str find_replaced(Arena *arena, const ProbeContext *context, Str target)
{
    char real[PATH_MAX];
    Str path = realpath(arena_c_str(arena, target), real) ? str_from_c(real) : STR("");
    FileIdentity now = {0};
    bool is_there = path.len && os_file_identity(path, &now, NULL);
    for (size_t i = 0; context->pids && i < context->pids->len; i++) {
        ProcMapVec maps = {0};
        uint32_t pid = context->pids->at[i];
        if (!proc_maps_read(arena, pid, &maps, NULL))
            continue;
        for (size_t k = 0; k < maps.len; k++) {
            const ProcMap *m = &maps.at[k];
            bool fits = is_there ? str_equal(m->path, path)
                                 : str_equal(str_base_name(m->path), str_base_name(target));
            if (!m->exec || !fits || (is_there ? m->inode == now.inode : !m->deleted))
                continue;
            Str exe = arena_printf(arena, "/proc/%u/exe", pid);
            FileIdentity of_exe;
            vec_push(arena, context->notes,
                     arena_printf(arena,
                                  "'%" STR_FMT
                                  "' was %s while process %u runs it: the file that it "
                                  "runs is probed",
                                  STR_ARG(target), is_there ? "replaced" : "deleted", pid));
            if (os_file_identity(exe, &of_exe, NULL) && of_exe.inode == m->inode)
                return exe;
            return arena_printf(arena, "/proc/%u/map_files/%llx-%llx", pid,
                                (unsigned long long)m->start, (unsigned long long)m->end);
        }
    }
    return STR("");
}

static Str find_in_folder(Arena *arena, Str folder, Str target)
{
    Str exact = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(target));
    if (os_file_exists(exact))
        return exact;
    Str best = {0};
    DIR *dir = opendir(arena_c_str(arena, folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        Str name = str_from_c(e->d_name);
        // Of "libm.so" and "libm.so.6" the latter: the former may be a text for the linker.
        if (is_named(name, target) && name.len > best.len && name.len < target.len + 8)
            best = arena_str(arena, name);
    }
    if (dir)
        closedir(dir);
    return best.len ? arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(best))
                    : STR("");
}

static Str find_library(Arena *arena, const ProbeContext *context, Str target)
{
    static const char *const folders[] = {"/lib/x86_64-linux-gnu",
                                          "/usr/lib/x86_64-linux-gnu",
                                          "/lib/aarch64-linux-gnu",
                                          "/usr/lib/aarch64-linux-gnu",
                                          "/lib64",
                                          "/usr/lib64",
                                          "/lib",
                                          "/usr/lib",
                                          "/usr/local/lib"};
    Str rest = context->library_path, folder, found;
    while (str_next_part(&rest, ':', &folder))
        if (folder.len && (found = find_in_folder(arena, folder, target)).len)
            return found;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        if ((found = find_in_folder(arena, str_from_c(folders[i]), target)).len)
            return found;
    return STR("");
}

static bool find_file(Arena *arena, const ProbeContext *context, Str target, Str *ret, Error *err)
{
    if (target.len == 0 && context->program.len == 0 && context->pids && context->pids->len) {
        *ret = arena_printf(arena, "/proc/%u/exe", context->pids->at[0]);
        return true;
    }
    if (target.len == 0 && context->program.len == 0) {
        (void)error_set(err, ERROR_USAGE, "the probe names no file, and no program is started");
        return error_hint(err, "write FILE:FUNCTION, as in libc.so.6:malloc");
    }
    if (target.len == 0 ||
        (context->program.len && str_equal(target, str_base_name(context->program)))) {
        *ret = context->program;
        return true;
    }
    if (str_find_char(target, '/') != SIZE_MAX) {
        Str mapped = find_replaced(arena, context, target);
        *ret = mapped.len ? mapped : target;
        return true;
    }
    *ret = find_mapped(arena, context, target);
    if (ret->len == 0)
        *ret = find_library(arena, context, target);
    if (ret->len == 0 && os_file_exists(target))
        *ret = target;
    if (ret->len)
        return true;
    (void)error_set(err, ERROR_NOT_FOUND, "no program or library '%" STR_FMT "' is found",
                    STR_ARG(target));
    return error_hint(err, "give its path, as in ./%" STR_FMT ":FUNCTION", STR_ARG(target));
}

static bool check_object(const ProbeObject *o, Error *err)
{
    Bytes b = o->file.bytes;
    if (b.len >= 2 && b.ptr[0] == '#' && b.ptr[1] == '!') {
        (void)error_set(err, ERROR_UNSUPPORTED, "'%" STR_FMT "' is a script: it has no functions",
                        STR_ARG(o->path));
        return error_hint(err, "name the program or library that is to be probed: FILE:FUNCTION");
    }
    if (b.len > EI_CLASS && memcmp(b.ptr, ELFMAG, SELFMAG) == 0 && b.ptr[EI_CLASS] == ELFCLASS32) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "'%" STR_FMT "' is a 32-bit program or library, which "
                        "assay cannot probe",
                        STR_ARG(o->path));
        return error_hint(err, "probe one that is built for 64 bits, without -m32");
    }
    Arena scratch = {0};
    Elf elf;
    bool ok = elf_parse(&scratch, b, &elf, err) ||
              error_context(err, "cannot probe '%" STR_FMT "'", STR_ARG(o->path));
    bool is_linked = !ok || elf.type != ET_REL;
    arena_deinit(&scratch);
    if (is_linked)
        return ok;
    (void)error_set(err, ERROR_UNSUPPORTED,
                    "'%" STR_FMT "' is an object file that is not linked, so that nothing runs it",
                    STR_ARG(o->path));
    return error_hint(err, "probe the program or library that it is linked into: FILE:FUNCTION");
}

bool probe_object_open(Arena *arena, const ProbeContext *context, Str target, ProbeObject *ret,
                       Error *err)
{
    *ret = (ProbeObject){0};
    if (!find_file(arena, context, target, &ret->path, err) ||
        !os_map_file(ret->path, &ret->file, err))
        return false;
    if (!check_object(ret, err)) {
        os_unmap_file(&ret->file);
        return false;
    }
    const BuildId any = {0};
    ret->path = arena_str(arena, ret->path);
    module_symbols_open(&ret->symbols, &ret->access, context->debug, ret->path, &any,
                        ret->file.bytes);
    return true;
}

void probe_object_close(ProbeObject *o)
{
    module_symbols_close(&o->symbols);
    os_unmap_file(&o->file);
}

bool probe_object_offset(const ProbeObject *o, uint64_t svma, uint64_t *ret)
{
    return elf_offset_at_svma(&o->symbols.elf, svma, ret);
}

bool probe_object_is_emulated(const ProbeObject *o, uint64_t svma)
{
    Bytes code = elf_bytes_at_svma(&o->symbols.elf, svma);
    if (code.len < 2 || o->symbols.elf.machine != EM_X86_64)
        return false;
    uint8_t op = code.ptr[0] == 0x41 ? code.ptr[1] : code.ptr[0];
    return (op >= 0x50 && op <= 0x57) || op == 0x90 || op == 0xe8 || op == 0xe9 || op == 0xeb ||
           (op >= 0x70 && op <= 0x7f) ||
           (op == 0x0f && (code.ptr[1] == 0x1f || (code.ptr[1] & 0xf0) == 0x80));
}

// ---- Names ------------------------------------------------------------------------------------

static bool has_wildcards(Str s)
{
    return str_find_char(s, '*') != SIZE_MAX || str_find_char(s, '?') != SIZE_MAX;
}

// Whether the name of a symbol fits what the user wrote. `shown` becomes the name for people.
static bool fits(Str symbol, Str wanted, bool is_glob, StrBuf *shown, StrBuf *form)
{
    Str base = linkage_name_base(symbol);
    strbuf_clear(shown);
    if (!demangle(base, shown)) {
        strbuf_clear(shown);
        strbuf_add(shown, base);
    }
    if (is_glob ? str_glob_match(wanted, symbol)
                : str_equal(wanted, symbol) || str_equal(wanted, base))
        return true;
    if (str_equal(strbuf_str(shown), base))
        return false; // the same name
    for (NameLength length = NAME_FULL; length <= NAME_LAST; length++) {
        strbuf_clear(form);
        name_shorten(strbuf_str(shown), length, form);
        Str name = strbuf_str(form);
        if (is_glob ? str_glob_match(wanted, name) : name_ends_in(name, wanted))
            return true;
    }
    return false;
}

bool probe_name_fits(Str name, Str wanted)
{
    StrBuf shown = {0}, form = {0};
    bool ok = name.len && fits(name, wanted, has_wildcards(wanted), &shown, &form);
    strbuf_deinit(&shown);
    strbuf_deinit(&form);
    return ok;
}

static int by_start(const void *a, const void *b)
{
    const ProbeFunction *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void drop_equal(ProbeFunctions *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->len; i++)
        if (kept == 0 || f->at[kept - 1].start != f->at[i].start)
            f->at[kept++] = f->at[i];
    f->len = kept;
}

// ---- Symbols ----------------------------------------------------------------------------------

typedef void EachSymbol(void *ctx, const ElfSymbol *symbol);

static void each_in_table(Arena *scratch, const Elf *elf, uint32_t type, EachSymbol *each,
                          void *ctx)
{
    ElfSymbols symbols;
    if (!elf_symbols_load(scratch, elf, type, &symbols, NULL))
        return;
    for (size_t i = 1; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        bool is_function = s.type == STT_FUNC || s.type == STT_GNU_IFUNC || s.type == STT_NOTYPE;
        if (is_function && s.section != SHN_UNDEF && s.name.len)
            each(ctx, &s);
    }
}

// Every name of every function. The tables that name addresses keep one name of each address:
// malloc is __libc_malloc, too.
static void each_symbol(const ProbeObject *o, EachSymbol *each, void *ctx)
{
    Arena scratch = {0};
    const Elf *debug = module_symbols_debug_elf(&o->symbols);
    Bytes small;
    Elf inner;
    each_in_table(&scratch, &o->symbols.elf, SHT_SYMTAB, each, ctx);
    each_in_table(&scratch, &o->symbols.elf, SHT_DYNSYM, each, ctx);
    if (debug)
        each_in_table(&scratch, debug, SHT_SYMTAB, each, ctx);
    if (elf_debugdata_load(&scratch, &o->symbols.elf, &small, NULL) && small.len &&
        elf_parse(&scratch, small, &inner, NULL))
        each_in_table(&scratch, &inner, SHT_SYMTAB, each, ctx);
    arena_deinit(&scratch);
}

typedef struct FunctionSearch {
    Arena *arena;
    const ProbeObject *object;
    Str wanted;
    bool is_glob;
    StrBuf shown, form;
    ProbeFunctions *found;
} FunctionSearch;

static void take_symbol(void *ctx, const ElfSymbol *s)
{
    FunctionSearch *f = ctx;
    const Elf *elf = &f->object->symbols.elf;
    if (!elf_is_code(elf, s->value) || !fits(s->name, f->wanted, f->is_glob, &f->shown, &f->form))
        return;
    vec_push(f->arena, f->found,
             (ProbeFunction){.name = arena_str(f->arena, strbuf_str(&f->shown)),
                             .start = s->value,
                             .end = s->value + s->size,
                             .is_cold = str_find(s->name, STR(".cold")) != SIZE_MAX,
                             .is_chooser = s->type == STT_GNU_IFUNC});
}

// Functions of a stripped Go program, which has its own table.
static void add_go(Arena *arena, const ProbeObject *o, Str name, bool is_glob, ProbeFunctions *ret)
{
    const GoPclntab *go = &o->symbols.go;
    GoFunction f;
    for (uint32_t i = 0; i < go->function_count; i++)
        if (gopclntab_function_get(go, i, &f) &&
            (is_glob ? str_glob_match(name, f.name) : str_equal(name, f.name)))
            vec_push(
                arena, ret,
                (ProbeFunction){.name = arena_str(arena, f.name), .start = f.start, .end = f.end});
}

void probe_object_functions(Arena *arena, const ProbeObject *o, Str name, ProbeFunctions *ret)
{
    FunctionSearch f = {
        .arena = arena, .object = o, .wanted = name, .is_glob = has_wildcards(name), .found = ret};
    each_symbol(o, take_symbol, &f);
    if (ret->len == 0 && o->symbols.has_go)
        add_go(arena, o, name, f.is_glob, ret);
    strbuf_deinit(&f.shown);
    strbuf_deinit(&f.form);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(ret->at[0]), by_start);
    drop_equal(ret);
}

// ---- Names that no function has --------------------------------------------------------------

// The number of letters in common in the order of `a`, as a measure of likeness.
static size_t likeness(Str a, Str b)
{
    size_t common = 0, at = 0;
    for (size_t i = 0; i < a.len; i++)
        for (size_t k = at; k < b.len; k++)
            if (a.ptr[i] == b.ptr[k]) {
                common++;
                at = k + 1;
                break;
            }
    return common * 2 * 100 / (a.len + b.len + 1);
}

typedef struct Near {
    Str name;
    size_t score;
} Near;

enum { NEAR_MAX = 4, NEAR_LEAST = 60, SCORE_SAME_PART = 100 };

// The part behind the last "::".
static Str last_part(Str name)
{
    for (size_t i = name.len; i >= 2; i--)
        if (name.ptr[i - 1] == ':' && name.ptr[i - 2] == ':')
            return str_slice(name, i, name.len);
    return name;
}

static void consider(Arena *arena, Near near[NEAR_MAX], Str name, Str wanted)
{
    size_t score = likeness(wanted, name);
    if (str_equal(last_part(wanted), last_part(name)))
        score += SCORE_SAME_PART;
    if (score < NEAR_LEAST)
        return;
    for (size_t i = 0; i < NEAR_MAX; i++) {
        if (str_equal(near[i].name, name))
            return;
        if (score <= near[i].score)
            continue;
        memmove(&near[i + 1], &near[i], (NEAR_MAX - 1 - i) * sizeof(near[0]));
        near[i] = (Near){arena_str(arena, name), score};
        return;
    }
}

typedef struct NearSearch {
    Arena *arena;
    Str wanted;
    Near near[NEAR_MAX];
    size_t count;
    StrBuf shown, form;
} NearSearch;

static void consider_symbol(void *ctx, const ElfSymbol *s)
{
    NearSearch *n = ctx;
    Str name = s->name;
    n->count++;
    strbuf_clear(&n->shown);
    strbuf_clear(&n->form);
    if (demangle(linkage_name_base(name), &n->shown)) {
        name_shorten(strbuf_str(&n->shown), NAME_NO_TEMPLATES, &n->form);
        name = strbuf_str(&n->form);
    }
    consider(n->arena, n->near, name, n->wanted);
}

// Whether UPX has packed the program: it leaves its mark behind the program headers.
static bool is_packed(Bytes file)
{
    enum { HEAD_BYTES = 1024 };
    size_t len = MIN(file.len, (size_t)HEAD_BYTES);
    return str_find((Str){(const char *)file.ptr, len}, STR("UPX!")) != SIZE_MAX;
}

bool probe_object_unknown(Arena *arena, const ProbeObject *o, Str name, Error *err)
{
    NearSearch n = {.arena = arena, .wanted = name};
    const Near *near = n.near;
    each_symbol(o, consider_symbol, &n);
    strbuf_deinit(&n.shown);
    strbuf_deinit(&n.form);
    (void)error_set(err, ERROR_NOT_FOUND, "no function '%" STR_FMT "' in '%" STR_FMT "'",
                    STR_ARG(name), STR_ARG(o->path));
    if (n.count == 0 && is_packed(o->file.bytes))
        return error_hint(err,
                          "it is packed by UPX, so that its code is not in the file: probe a copy "
                          "that 'upx -d' has unpacked");
    if (n.count == 0 && o->symbols.elf.section_count == 0)
        return error_hint(err, "it has no section headers, as packed programs have none: probe the "
                               "program as it was linked");
    if (n.count == 0)
        return error_hint(err, "it is stripped: probe an address (0x…), or install its debug "
                               "file");
    if (near[0].name.len == 0)
        return error_hint(err, "assay list %" STR_FMT " shows what can be probed",
                          STR_ARG(o->path));
    StrBuf b = {0};
    for (size_t i = 0; i < NEAR_MAX && near[i].name.len; i++)
        strbuf_printf(&b, "%s'%" STR_FMT "'", i ? ", " : "", STR_ARG(near[i].name));
    (void)error_hint(err, "the nearest: %" STR_FMT "; assay list %" STR_FMT " shows all",
                     STR_ARG(strbuf_str(&b)), STR_ARG(o->path));
    strbuf_deinit(&b);
    return false;
}

void probe_object_libraries(Arena *arena, const ProbeObject *o, StrVec *ret)
{
    const Elf *elf = &o->symbols.elf;
    const ElfSection *s = elf_section_find_type(elf, SHT_DYNAMIC);
    Bytes entries, names;
    if (!s || s->link >= elf->section_count || !elf_section_raw(elf, s, &entries, NULL) ||
        !elf_section_raw(elf, &elf->sections[s->link], &names, NULL))
        return;
    Cursor c = cursor_over(entries, "dynamic section");
    while (cursor_more(&c)) {
        uint64_t tag = cursor_u64(&c), value = cursor_u64(&c);
        if (tag != DT_NEEDED || value >= names.len)
            continue;
        Str rest = {(const char *)names.ptr + value, names.len - value};
        size_t len = str_find_char(rest, '\0');
        if (len != SIZE_MAX)
            vec_push(arena, ret, arena_str(arena, str_slice(rest, 0, len)));
    }
}
