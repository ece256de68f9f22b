// SPDX-License-Identifier: Apache-2.0
// Looks for the functions of limits in the symbols and the debug information of what has run.

#include "cli/heap/gate_names.h"

#include "analyse/fit.h"
#include "cli/cli.h"
#include "cli/symbols.h"
#include "elf/elf.h"
#include "probes/probe_object.h"

typedef struct Names {
    Arena *arena;
    DebugSearch debug;
    StrVec unknown; // functions that no object has so far
    size_t objects; // that were read
} Names;

static void add_functions(Names *n, const HeapGates *g)
{
    HeapLimit limit;
    // The calls of a limit for each call are counted by a probe, which must have found it.
    for (size_t i = 0; i < g->max_allocs.len; i++)
        if (heap_limit_parse(g->max_allocs.at[i], &limit) && !limit.per_call)
            vec_push(n->arena, &n->unknown, limit.function);
    for (size_t i = 0; i < g->no_alloc_in.len; i++)
        vec_push(n->arena, &n->unknown, g->no_alloc_in.at[i]);
}

// Whether the text is one of the strings of the section, which end in NUL, or is followed by the
// arguments of a template.
static bool has_string(Bytes section, Str text)
{
    Str rest = {(const char *)section.ptr, section.len};
    for (size_t at; (at = str_find(rest, text)) != SIZE_MAX;) {
        bool begins = at == 0 ? rest.ptr == (const char *)section.ptr || rest.ptr[-1] == 0
                              : rest.ptr[at - 1] == 0;
        char next = at + text.len < rest.len ? rest.ptr[at + text.len] : 'x';
        if (begins && (next == 0 || next == '<'))
            return true;
        rest = str_slice(rest, at + 1, rest.len);
    }
    return false;
}

// DWARF has each part of a name as a string of its own, or in the entry of the function itself.
static bool has_debug_name(Arena *scratch, const Elf *elf, Str name)
{
    Bytes strings, entries;
    Error unread;
    // The arguments of templates are written in several ways, and a limit would not find them.
    if (str_find_char(name, '<') != SIZE_MAX)
        return false;
    if (!elf_section_load(scratch, elf, STR(".debug_str"), &strings, &unread) ||
        !elf_section_load(scratch, elf, STR(".debug_info"), &entries, &unread))
        return false;
    Str part, rest = name;
    for (bool more = true; more;) {
        more = str_split(rest, ':', &part, &rest);
        part = more ? part : rest;
        if (part.len && !has_string(strings, part) && !has_string(entries, part))
            return false;
    }
    return true;
}

static bool has_function(const ProbeObject *o, Str name)
{
    Arena scratch = {0};
    ProbeFunctions found = {0};
    probe_object_functions(&scratch, o, name, &found);
    const ModuleSymbols *m = &o->symbols;
    bool ok = found.len > 0 || has_debug_name(&scratch, &m->elf, name) ||
              (m->has_debug && has_debug_name(&scratch, &m->debug, name));
    arena_deinit(&scratch);
    return ok;
}

// Looks in the object, and appends the names of the libraries that it needs; NULL: no matter.
static void look_in(Names *n, Str path, StrVec *libraries)
{
    const ProbeContext context = {.debug = &n->debug, .library_path = cli_env("LD_LIBRARY_PATH")};
    ProbeObject o;
    Error unread;
    size_t kept = 0;
    if (n->unknown.len == 0 || !probe_object_open(n->arena, &context, path, &o, &unread))
        return;
    n->objects++;
    for (size_t i = 0; i < n->unknown.len; i++)
        if (!has_function(&o, n->unknown.at[i]))
            n->unknown.at[kept++] = n->unknown.at[i];
    n->unknown.len = kept;
    if (libraries)
        probe_object_libraries(n->arena, &o, libraries);
    probe_object_close(&o);
}

// Always false.
static bool refuse(const Names *n, Str program, Error *err)
{
    const ProbeContext context = {.debug = &n->debug};
    Str name = text_prefix(n->unknown.at[0], 200);
    ProbeObject o;
    Error nearest;
    bool is_read = probe_object_open(n->arena, &context, program, &o, &nearest);
    if (is_read) {
        (void)probe_object_unknown(n->arena, &o, name, &nearest);
        probe_object_close(&o);
    }
    (void)error_set(err, ERROR_USAGE,
                    "no function '%" STR_FMT "' in the program and its libraries: a limit on it "
                    "would always hold",
                    STR_ARG(name));
    return error_hint(err, "%s", is_read ? nearest.hint : "assay list PROGRAM shows the functions");
}

bool gate_names_check(Arena *arena, const HeapGates *g, const Profile *p, Str program,
                      const StrVec *debug_dirs, Error *err)
{
    Names n = {.arena = arena};
    SymboliseOptions symbols;
    StrVec libraries = {0};
    add_functions(&n, g);
    symbols_options(arena, debug_dirs, &symbols);
    n.debug = (DebugSearch){.dirs = symbols.debug_dirs,
                            .dir_count = symbols.debug_dir_count,
                            .debuginfod_cache = symbols.debuginfod_cache,
                            .debuginfod_urls = symbols.debuginfod_urls};
    look_in(&n, program, &libraries);
    for (size_t i = 1; i < p->modules.path.len; i++)
        if (p->modules.kind.at[i] == MODULE_FILE)
            look_in(&n, profile_text(p, p->modules.path.at[i]), NULL);
    for (size_t i = 0; i < libraries.len; i++)
        look_in(&n, libraries.at[i], NULL);
    return n.unknown.len == 0 || n.objects == 0 || refuse(&n, program, err);
}
