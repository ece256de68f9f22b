// SPDX-License-Identifier: Apache-2.0
// Benchmarks that cargo builds.

#include "cli/bench/bench_cargo.h"

#include "build/build.h"
#include "cli/bench/bench_revisions.h"
#include "cli/cli.h"
#include "os/capture.h"
#include "os/file.h"

enum { LOG_MAX_BYTES = 64 << 20 };

// Whether a program of unit tests has benchmarks too.
static bool lists_benchmarks(Arena *arena, const BuiltBench *b)
{
    char *argv[] = {arena_c_str(arena, b->path), arena_c_str(arena, STR("--bench")),
                    arena_c_str(arena, STR("--list")), NULL};
    Program program;
    Bytes output;
    int status;
    if (!program_find(arena, b->path, STR(""), &program, NULL))
        return false;
    program.folder = b->folder;
    return os_capture(arena, &program, argv, true, LOG_MAX_BYTES, &output, &status, NULL) &&
           status == 0 && str_find(str_from_bytes(output), STR(": benchmark")) != SIZE_MAX;
}

static bool find_harness(Str path, Harness *ret, Error *err)
{
    MappedFile file;
    if (!os_map_file(path, &file, err)) {
        error_context(err, "cannot open what cargo built");
        return error_hint(err, "if the target folder was removed, remove the work trees of "
                               "revisions in assay's cache too");
    }
    *ret = bench_is_functions(path) ? HARNESS_ASSAY : harness_of(file.bytes);
    os_unmap_file(&file);
    return true;
}

// Appends the programs that have benchmarks.
static bool add_programs(Arena *arena, const BuiltBenches *built, const StrVec *words,
                         FunctionPrograms *ret, Error *err)
{
    for (size_t i = 0; i < built->len; i++) {
        const BuiltBench *b = &built->at[i];
        if (b->is_unit && !lists_benchmarks(arena, b))
            continue;
        FunctionProgram p = {.path = arena_c_str(arena, b->path),
                             .folder = arena_c_str(arena, b->folder),
                             .manifest = arena_c_str(arena, b->folder),
                             .name = b->name,
                             .words = *words};
        if (!find_harness(b->path, &p.harness, err))
            return false;
        vec_push(arena, ret, p);
    }
    if (ret->len)
        return true;
    error_set(err, ERROR_NOT_FOUND, "cargo built no program with benchmarks");
    return error_hint(err, "see: cargo bench --no-run");
}

// One program needs no name before its functions. Of packages with equal targets the folder's name
// tells them apart.
static void settle_names(Arena *arena, FunctionPrograms *p, bool only)
{
    for (size_t i = 0; i < p->len; i++) {
        bool twice = false;
        for (size_t k = 0; k < p->len; k++)
            twice |= k != i && str_equal(p->at[k].name, p->at[i].name);
        if (twice)
            p->at[i].name = arena_printf(arena, "%" STR_FMT "/%" STR_FMT,
                                         STR_ARG(str_base_name(str_from_c(p->at[i].folder))),
                                         STR_ARG(p->at[i].name));
    }
    for (size_t i = 0; only && i < p->len; i++)
        p->at[i].name = STR("");
}

static bool build_here(Arena *arena, const BenchArgs *args, BuiltBenches *ret, Error *err)
{
    int status;
    if (args->build.len)
        return error_set(err, ERROR_USAGE, "--build needs --revisions or --dirty");
    if (!build_cargo_benches(arena, &args->cargo.words, cli_env("PATH"), ret, &status, err))
        return false;
    if (status == 0)
        return true;
    error_set(err, ERROR_OS, "cargo ended with status %d", exit_status_of(status));
    return args->cargo.words.len ? error_hint(err, "assay's own options stand in front of --cargo")
                                 : false;
}

// ---- Revisions ---------------------------------------------------------------

static void add_quoted(StrBuf *out, Str word)
{
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '\'')
            strbuf_add(out, STR("'\\''"));
        else
            strbuf_add_char(out, word.ptr[i]);
    strbuf_add_char(out, '\'');
}

// The shell command that builds a revision. In the work trees of the cache, cargo's folder is there
// too: one that is shared would keep the program of the revision that was built last.
static Str build_text(Arena *arena, const BenchArgs *args, Str cache)
{
    StrVec words = build_cargo_bench_words(arena, &args->cargo.words);
    StrBuf b = {0};
    if (args->build.len) {
        strbuf_add(&b, args->build);
        strbuf_add(&b, STR(" && "));
    }
    strbuf_add(&b, STR("{ case $PWD/ in "));
    add_quoted(&b, cache);
    strbuf_add(&b, STR("/*) set -- --target-dir target ;; *) set -- ;; esac; "));
    for (size_t i = 0; i < words.len; i++) {
        add_quoted(&b, words.at[i]);
        strbuf_add_char(&b, ' ');
    }
    strbuf_add(&b, STR("\"$@\"; }"));
    Str text = arena_str(arena, strbuf_str(&b));
    strbuf_deinit(&b);
    return text;
}

static bool read_built(Arena *arena, const RevisionBuilds *builds, const Revision *r,
                       BuiltBenches *ret, Error *err)
{
    Bytes log;
    if (!os_read_file(arena, revision_log(builds, r), LOG_MAX_BYTES, &log, err))
        return false;
    build_cargo_bench_read(arena, str_from_bytes(log), ret);
    return true;
}

static bool use_revisions(Arena *arena, const BenchArgs *args, const StrVec *words,
                          FunctionsOptions *o, Error *err)
{
    RevisionBuilds builds;
    RevisionVec revisions = {0};
    FunctionPrograms *const to[] = {&o->against, &o->programs}; // the first is the reference
    if (!bench_open_builds(arena, args, &builds, err))
        return false;
    builds.build = build_text(arena, args, builds.cache);
    if (!bench_build_revisions(arena, args, &builds, &revisions, err))
        return false;
    if (revisions.len != 2)
        return error_set(err, ERROR_USAGE, "functions are compared between two revisions, not %zu",
                         revisions.len);
    for (size_t i = 0; i < revisions.len; i++) {
        BuiltBenches built = {0};
        if (!read_built(arena, &builds, &revisions.at[i], &built, err) ||
            !add_programs(arena, &built, words, to[i], err))
            return error_context(err, "in revision '%" STR_FMT "'", STR_ARG(revisions.at[i].name));
        if (!o->names[1 - i].len)
            o->names[1 - i] = bench_revision_label(arena, &revisions.at[i]);
    }
    o->revision = revisions.at[1].commit;
    return true;
}

bool bench_cargo_programs(Arena *arena, const BenchArgs *args, const StrVec *words,
                          FunctionsOptions *o, Error *err)
{
    BuiltBenches built = {0};
    if (args->against.len || args->rerun_baseline)
        return error_set(err, ERROR_USAGE, "--cargo excludes --against and --rerun-baseline");
    bool ok = bench_wants_revisions(args)
                  ? use_revisions(arena, args, words, o, err)
                  : build_here(arena, args, &built, err) &&
                        add_programs(arena, &built, words, &o->programs, err);
    bool only = o->programs.len <= 1 && o->against.len <= 1;
    settle_names(arena, &o->programs, only);
    settle_names(arena, &o->against, only);
    return ok;
}
