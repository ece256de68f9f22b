// SPDX-License-Identifier: Apache-2.0
// assay list FILE: what can be probed in a program or library.

#include "cli/help/list_program.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/pager.h"
#include "cli/symbols.h"
#include "os/file.h"
#include "os/spawn.h"
#include "probes/probe_object.h"
#include "probes/usdt.h"

typedef struct ProgramList {
    Arena *arena;
    const StrVec *words;
    ProbeFunctions functions;
    UsdtMarkers markers;
} ProgramList;

bool list_is_program(Str word)
{
    return str_find_char(word, '/') != SIZE_MAX && os_file_exists(word);
}

Str list_find_program(Arena *arena, Str word)
{
    Program program;
    Error ignored;
    if (program_find(arena, word, cli_env("PATH"), &program, &ignored))
        return program.path;
    return str_find(word, STR(".so")) != SIZE_MAX ? word : STR("");
}

// As for events: a word without wildcards fits anywhere in a name.
static bool fits(const ProgramList *l, Str name)
{
    for (size_t i = 1; i < l->words->len; i++) {
        Str word = l->words->at[i];
        bool is_glob = str_find_char(word, '*') != SIZE_MAX || str_find_char(word, '?') != SIZE_MAX;
        if (is_glob ? str_glob_match(word, name) : str_find(name, word) != SIZE_MAX)
            return true;
    }
    return l->words->len == 1;
}

static Str marker_name(const ProgramList *l, const UsdtMarker *m)
{
    return arena_printf(l->arena, "sdt_%" STR_FMT ":%" STR_FMT, STR_ARG(m->provider),
                        STR_ARG(m->name));
}

static void add_text(StrBuf *out, const ProgramList *l)
{
    size_t functions = 0;
    for (size_t i = 0; i < l->functions.len; i++) {
        const ProbeFunction *f = &l->functions.at[i];
        if (!fits(l, f->name))
            continue;
        functions++;
        strbuf_printf(out, "  function  0x%-8llx ", (unsigned long long)f->start);
        strbuf_add_terminal(out, f->name);
        strbuf_add(out, f->is_chooser ? STR("  (chosen at the start)\n") : STR("\n"));
    }
    for (size_t i = 0; i < l->markers.len; i++) {
        const UsdtMarker *m = &l->markers.at[i];
        if (!fits(l, marker_name(l, m)))
            continue;
        strbuf_printf(out, "  marker    0x%-8llx ", (unsigned long long)m->svma);
        strbuf_add_terminal(out, marker_name(l, m));
        strbuf_add(out, m->args.len ? STR("  ") : STR(""));
        strbuf_add_terminal(out, m->args);
        strbuf_add(out, m->semaphore ? STR("  (off until somebody listens)\n") : STR("\n"));
    }
    if (functions)
        strbuf_printf(out, "\nprobe one with: assay record -e '%" STR_FMT ":NAME' -- CMD\n",
                      STR_ARG(l->words->at[0]));
}

static void add_json(StrBuf *out, const ProgramList *l)
{
    JsonWriter w = json_writer(out, 2);
    json_begin_object(&w, NULL);
    json_u64(&w, "schema", 1);
    json_str(&w, "file", l->words->at[0]);
    json_begin_array(&w, "functions");
    for (size_t i = 0; i < l->functions.len; i++) {
        const ProbeFunction *f = &l->functions.at[i];
        if (!fits(l, f->name))
            continue;
        json_begin_object(&w, NULL);
        json_str(&w, "name", f->name);
        json_u64(&w, "address", f->start);
        json_u64(&w, "size_bytes", f->end - f->start);
        json_end(&w);
    }
    json_end(&w);
    json_begin_array(&w, "markers");
    for (size_t i = 0; i < l->markers.len; i++) {
        const UsdtMarker *m = &l->markers.at[i];
        if (!fits(l, marker_name(l, m)))
            continue;
        json_begin_object(&w, NULL);
        json_str(&w, "name", marker_name(l, m));
        json_u64(&w, "address", m->svma);
        json_str(&w, "arguments", m->args);
        json_bool(&w, "has_semaphore", m->semaphore != 0);
        json_end(&w);
    }
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

int list_program(Arena *arena, const StrVec *words, bool json, bool no_pager)
{
    const StrVec none = {0};
    ProgramList l = {.arena = arena, .words = words};
    SymboliseOptions symbols;
    symbols_options(arena, &none, &symbols);
    DebugSearch debug = {.debuginfod_cache = symbols.debuginfod_cache,
                         .debuginfod_urls = symbols.debuginfod_urls};
    ProbeContext context = {.debug = &debug};
    ProbeObject object;
    Error err;
    if (!probe_object_open(arena, &context, words->at[0], &object, &err))
        return cli_fail(&err);
    probe_object_functions(arena, &object, STR("*"), &l.functions);
    usdt_read(arena, &object.symbols.elf, &l.markers);
    int status = STATUS_OK;
    StrBuf out = {0};
    if (json)
        add_json(&out, &l);
    else
        add_text(&out, &l);
    if (!json && out.len == 0) {
        if (l.functions.len)
            error_set(&err, ERROR_NOT_FOUND, "nothing in '%" STR_FMT "' fits these words",
                      STR_ARG(words->at[0]));
        else
            error_set(&err, ERROR_NOT_FOUND, "'%" STR_FMT "' is stripped: it names no function",
                      STR_ARG(words->at[0]));
        status = cli_fail(&err);
    } else if (!pager_print(strbuf_str(&out), true, no_pager)) {
        status = STATUS_FAILED;
    }
    strbuf_deinit(&out);
    probe_object_close(&object);
    return status;
}
