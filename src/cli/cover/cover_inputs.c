// SPDX-License-Identifier: Apache-2.0
// Reading what the cover commands are given.

#include "cli/cover/cover_inputs.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/cover/cover_filter.h"
#include "cli/cover/cover_loader.h"
#include "elf/elf.h"
#include "llvmcov/sections.h"
#include "os/file.h"
#include "store/store.h"
#include "symbolise/demangle.h"

// ---- Names ---------------------------------------------------------------------

static void demangle_name(void *ctx, Str linkage_name, StrBuf *out)
{
    (void)ctx;
    size_t before = out->len;
    // Static functions have their file in front: "file.cc:_ZL4helpi".
    size_t colon = str_find_last_char(linkage_name, ':');
    Str symbol =
        colon == SIZE_MAX ? linkage_name : str_slice(linkage_name, colon + 1, linkage_name.len);
    if (!demangle(symbol, out))
        out->len = before;
}

// ---- LLVM's files, and tracefiles -----------------------------------------------

static bool load_profiles(CoverLoader *l, Error *err)
{
    for (size_t i = 0; i < l->objects.len; i++)
        cover_correlations_offer(&l->r->correlations, l->objects.at[i].path);
    for (size_t i = 0; i < l->profiles.len; i++) {
        MappedFile m = {0};
        // Folders hold what killed programs left: one bad file there is a warning.
        bool ok = os_map_file(l->profiles.at[i].path, &m, err) &&
                  cover_counts_add(&l->r->counts, l->profiles.at[i].path, m.bytes,
                                   l->profiles.at[i].weight, err);
        os_unmap_file(&m);
        if (!ok && l->profiles.at[i].asked)
            return false;
        if (!ok)
            cover_leave_out(l, err);
    }
    if (l->profiles.len && l->r->counts.profile_count == 0)
        return error_set(err, ERROR_FORMAT, "none of the %zu profiles could be read",
                         l->profiles.len);
    return cover_counts_finish(&l->r->counts, err);
}

static void take_build(CoverLoader *l, Bytes file)
{
    Elf elf;
    if (!elf_parse(&l->r->arena, file, &elf, NULL))
        return;
    BuildId id = elf_build_id(&elf);
    if (id.len)
        vec_push(&l->r->arena, &l->builds, id);
}

// A debug file may be among the inputs for what its program was stripped of.
static bool is_debug_file(const CoverLoader *l, Str path, const Error *why)
{
    return why->kind == ERROR_NOT_FOUND && l->objects.len > 1 &&
           cover_correlations_used(&l->r->correlations, path);
}

static bool load_objects(CoverLoader *l, Error *err)
{
    Arena *arena = &l->r->arena;
    for (size_t i = 0; i < l->objects.len; i++) {
        Str path = l->objects.at[i].path;
        MappedFile m = {0};
        CovMapSections sections;
        CovMap map;
        if (!os_map_file(path, &m, err))
            return false;
        bool ok = cover_object_sections(arena, m.bytes, &sections, err) &&
                  covmap_parse(arena, sections, &map, err);
        if (ok) {
            l->r->built_ns = MAX(l->r->built_ns, m.identity.mtime_ns);
            cover_data_add_object(&l->r->data, &map, path, &l->r->counts);
            take_build(l, m.bytes);
            covmap_deinit(&map);
            l->r->has_regions = true;
        }
        os_unmap_file(&m);
        if (!ok && !is_debug_file(l, path, err))
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
    }
    return l->r->has_regions || error_set(err, ERROR_NOT_FOUND, "no object with coverage mapping");
}

// The counts in a recording, as 'cover merge -o x.assay' writes them.
static bool read_recording(CoverSet *set, Bytes file, Error *err)
{
    Profile p;
    if (!store_read(file, &p, err))
        return false;
    bool ok = p.line_counts.line.len != 0;
    if (ok)
        cover_set_take_profile(set, &p);
    profile_deinit(&p);
    return ok || error_set(err, ERROR_NOT_FOUND, "a recording without counts of lines");
}

static bool read_set(CoverSet *set, Bytes file, Error *err)
{
    return store_is_recording(file) ? read_recording(set, file, err)
                                    : tracefile_read(set, file, err);
}

// Adds the counts of one file `weight` times.
static bool add_set(CoverSet *set, Bytes file, uint64_t weight, Error *err)
{
    if (weight == 1)
        return read_set(set, file, err);
    CoverSet one;
    cover_set_init(&one, set->arena); // paths are mapped as they are added
    bool ok = read_set(&one, file, err);
    if (ok) {
        cover_set_scale(&one, weight);
        cover_set_add(set, &one);
    }
    cover_set_deinit(&one);
    return ok;
}

static bool load_tracefiles(CoverLoader *l, Error *err)
{
    CoverSet *set = &l->r->set;
    for (size_t i = 0; i < l->tracefiles.len; i++) {
        Str path = l->tracefiles.at[i].path;
        MappedFile m = {0};
        if (!os_map_file(path, &m, err))
            return false;
        if (!l->tracefiles.at[i].asked && (l->notes.len || l->profiles.len))
            cli_say("'%" STR_FMT "', found beside data of runs, is added to it: if it was made of "
                    "that data, it counts twice",
                    STR_ARG(path));
        size_t notes = set->notes.len;
        bool ok = add_set(set, m.bytes, l->tracefiles.at[i].weight, err);
        os_unmap_file(&m);
        if (!ok)
            return error_context(err, "'%" STR_FMT "'", STR_ARG(path));
        for (; notes < set->notes.len; notes++)
            cli_say("'%" STR_FMT "': %" STR_FMT, STR_ARG(path), STR_ARG(set->notes.at[notes]));
        l->r->has_set = true;
    }
    if (set->clamped)
        cli_say("%llu counts below zero taken as zero", (unsigned long long)set->clamped);
    return true;
}

// ---- What could not be counted ----------------------------------------------------

static void say_issue(const CoverIssue *issue)
{
    char profile_hash[32] = "none";
    if (issue->profile_hash)
        snprintf(profile_hash, sizeof(profile_hash), "0x%llx",
                 (unsigned long long)issue->profile_hash);
    cli_say("function '%" STR_FMT "' of '%" STR_FMT "' (%" STR_FMT
            "): %s; hash 0x%llx in the object, %s in the profile",
            STR_ARG(issue->function), STR_ARG(issue->object), STR_ARG(issue->file),
            cover_issue_text(issue->kind), (unsigned long long)issue->object_hash, profile_hash);
}

static void say_issues(const CoverResult *r, bool explain)
{
    size_t counts[COVER_ISSUE_COUNT] = {0};
    for (size_t i = 0; i < r->data.issues.len; i++) {
        const CoverIssue *issue = &r->data.issues.at[i];
        counts[issue->kind]++;
        if (explain)
            say_issue(issue);
    }
    for (int kind = 0; kind < COVER_ISSUE_COUNT && !explain; kind++)
        if (counts[kind])
            cli_say("%zu function%s: %s (--explain names %s)", counts[kind],
                    counts[kind] == 1 ? "" : "s", cover_issue_text((CoverIssueKind)kind),
                    counts[kind] == 1 ? "it" : "them");
}

// Whether one of the objects has one of the profile's build ids, or nothing is
// known of it.
static bool is_of_objects(const CoverLoader *l, const ProfRaw *p)
{
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    bool any = false;
    c.big_endian = p->big_endian;
    while (cursor_more(&c)) {
        uint64_t len = cursor_u64(&c);
        Bytes id = cursor_padded(&c, len, 8);
        for (size_t i = 0; i < l->builds.len && id.len; i++)
            if (bytes_equal(id, l->builds.at[i].bytes, l->builds.at[i].len))
                return true;
        any |= id.len != 0;
    }
    return !any;
}

static void name_profile(const CoverLoader *l, Str path, const ProfRaw *p)
{
    Arena *arena = &l->r->arena;
    BuildId writer = {0};
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    c.big_endian = p->big_endian;
    uint64_t len = cursor_u64(&c);
    Bytes id = cursor_padded(&c, len, 8);
    writer.len = (uint32_t)MIN(id.len, sizeof(writer.bytes));
    if (writer.len)
        memcpy(writer.bytes, id.ptr, writer.len);
    cli_say("'%" STR_FMT "' was written by build %" STR_FMT ", and the object is of build %" STR_FMT
            "%s",
            STR_ARG(path), STR_ARG(build_id_hex(arena, &writer)),
            STR_ARG(build_id_hex(arena, &l->builds.at[0])),
            l->builds.len > 1 ? " (or that of the other objects)" : "");
}

// Where functions are of another build: which raw profiles those are, by build id.
static void say_stale_profiles(const CoverLoader *l)
{
    enum { SAID_MAX = 3 };
    size_t said = 0;
    for (size_t i = 0; i < l->profiles.len && l->builds.len; i++) {
        MappedFile m = {0};
        ProfRaw p;
        if (!os_map_file(l->profiles.at[i].path, &m, NULL))
            continue;
        if (profraw_is(m.bytes) && profraw_parse(m.bytes, 0, &p, NULL) && !is_of_objects(l, &p) &&
            ++said <= SAID_MAX)
            name_profile(l, l->profiles.at[i].path, &p);
        os_unmap_file(&m);
    }
    if (said > SAID_MAX)
        cli_say("and %zu more profiles of other builds", said - SAID_MAX);
}

void cover_say_notes(const CoverCounts *c)
{
    for (size_t i = 0; i < c->notes.len; i++)
        cli_say("%" STR_FMT, STR_ARG(c->notes.at[i]));
    for (size_t i = 0; c->correlations && i < c->correlations->notes.len; i++)
        cli_say("%" STR_FMT, STR_ARG(c->correlations->notes.at[i]));
    if (c->mismatched)
        cli_say("%llu records left out: another number of counters under the same name and hash",
                (unsigned long long)c->mismatched);
    if (c->site_mismatched)
        cli_say("%llu value profiles left out: another number of sites under the same name and "
                "hash",
                (unsigned long long)c->site_mismatched);
    if (c->saturated)
        cli_say("%llu sums stopped at 2^64 - 1", (unsigned long long)c->saturated);
}

static bool load_gathered(CoverLoader *l, const CoverInputOptions *options, const StrVec *operands,
                          Error *err)
{
    cover_select_sources(l, options->filter.all_sources);
    if (!cover_load_units(l, err) || !load_tracefiles(l, err))
        return false;
    if ((l->r->has_gcov || l->r->has_set) && l->profiles.len == 0)
        return true;
    if (l->profiles.len == 0) {
        if (operands->len == 0 && options->objects.len == 0 && !options->weighted) {
            error_set(err, ERROR_USAGE, "no inputs, and no results of 'assay cover run' here");
            return error_hint(err, "name programs, profiles, tracefiles or folders of them");
        }
        error_set(err, ERROR_USAGE, "no profile among the inputs");
        return error_hint(err,
                          "a program built with coverage writes default.profraw where it "
                          "runs, or what LLVM_PROFILE_FILE names; gcc's programs write .gcda files "
                          "beside their objects: name their folder");
    }
    if (l->objects.len == 0) {
        error_set(err, ERROR_USAGE, "no object among the inputs");
        return error_hint(err, "name the program that wrote the profiles: it holds the mapping "
                               "from counters to lines");
    }
    if (!load_profiles(l, err) || !load_objects(l, err))
        return false;
    cover_say_notes(&l->r->counts);
    say_issues(l->r, options->explain);
    for (size_t i = 0; i < l->r->data.issues.len; i++)
        l->r->stale += l->r->data.issues.at[i].kind == COVER_ISSUE_HASH;
    if (l->r->stale)
        say_stale_profiles(l);
    return true;
}

static bool load_all(const CoverInputOptions *options, const StrVec *operands, CoverResult *ret,
                     Error *err)
{
    *ret = (CoverResult){.arena = {.huge_pages = true}};
    ret->counts.arena = &ret->arena;
    ret->counts.correlations = &ret->correlations;
    cover_correlations_init(&ret->correlations);
    cover_data_init(&ret->data, &ret->arena);
    ret->data.llvm_rules = options->llvm_rules;
    profile_init(&ret->profile);
    ret->profile.arena.huge_pages = true;
    ret->filter = arena_new(&ret->arena, CoverFilter);
    if (!cover_filter_init(ret->filter, &options->filter, err))
        return false;
    ret->filter->is_changed = options->is_changed;
    ret->filter->is_changed_ctx = options->is_changed_ctx;
    bool marks = !options->filter.no_exclusions && !options->llvm_rules;
    ret->project = (CoverProject){.keep = cover_filter_keep,
                                  .keep_ctx = ret->filter,
                                  .demangle = options->demangle ? demangle_name : NULL,
                                  .map_path = cover_filter_map,
                                  .map_ctx = ret->filter,
                                  .exclusions = marks ? cover_filter_exclusions : NULL,
                                  .exclusions_ctx = ret->filter};
    ret->data.explain = options->explain;
    ret->data.map_path = cover_filter_map;
    ret->data.map_ctx = ret->filter;
    cover_set_init(&ret->set, &ret->arena);
    ret->set.map_path = cover_filter_map;
    ret->set.map_ctx = ret->filter;
    gcov_sum_init(&ret->gcov, &ret->profile, &ret->project);
    ret->gcov.repeats_lines = options->llvm_rules;
    if (options->gcov_documents)
        ret->gcov.documents = &ret->documents;

    CoverLoader l = {.r = ret, .weight = 1};
    bool ok =
        cover_find_inputs(&l, options, operands, err) && load_gathered(&l, options, operands, err);
    cover_say_more_left_out(&l);
    return ok;
}

bool cover_load(const CoverInputOptions *options, const StrVec *operands, CoverResult *ret,
                Error *err)
{
    if (!load_all(options, operands, ret, err))
        return false;
    if (ret->has_regions)
        cover_data_place_functions(&ret->data, &ret->project);
    if (ret->has_set)
        cover_set_place_functions(&ret->set, &ret->project);
    cover_filter_settle(ret->filter);
    return true;
}

static void say_mark_faults(const CoverMarkFaultVec *faults)
{
    enum { SAID_MAX = 20 };
    if (faults->len > SAID_MAX)
        cli_say("%zu marks in the sources say not what ran, the first %d of them:", faults->len,
                SAID_MAX);
    for (size_t i = 0; i < MIN(faults->len, (size_t)SAID_MAX); i++) {
        const CoverMarkFault *f = &faults->at[i];
        if (f->is_reached)
            cli_say("'%" STR_FMT "' line %u is marked as unreachable and ran: it counts",
                    STR_ARG(f->path), f->line);
        else
            cli_say("'%" STR_FMT "' line %u: the mark says that %u of %u branches did not run, and "
                    "%u of %u did not: they count",
                    STR_ARG(f->path), f->line, f->said_missed, f->said_all, f->missed, f->all);
    }
}

bool cover_is_of_llvm_alone(const CoverResult *r)
{
    return r->has_regions && !r->has_gcov && !r->has_set;
}

bool cover_is_unsound(const CoverResult *r, bool llvm_rules)
{
    bool is_stale = r->stale && !llvm_rules;
    if (is_stale)
        cli_say("the gate fails: counts of another build are among the inputs (%llu); --explain "
                "names them, --llvm-rules drops them",
                (unsigned long long)r->stale);
    if (r->mark_faults.len)
        cli_say("the gate fails: %zu mark%s in the sources %s not what ran", r->mark_faults.len,
                r->mark_faults.len == 1 ? "" : "s", r->mark_faults.len == 1 ? "says" : "say");
    return is_stale || r->mark_faults.len;
}

void cover_settle(CoverResult *r)
{
    if (cover_filter_has_marks(r->filter))
        cover_project(r);
}

void cover_project(CoverResult *r)
{
    if (r->has_regions)
        cover_files_fill(&r->data, &r->project, &r->profile);
    if (r->has_gcov)
        gcov_sum_finish(&r->gcov);
    r->set.map_path = NULL; // what comes from the profile is mapped
    if (r->has_set && (r->has_regions || r->has_gcov))
        cover_set_take_profile(&r->set, &r->profile);
    if (r->has_set)
        cover_set_fill(&r->set, &r->project, &r->profile);
    cover_profile_settle_marks(&r->arena, &r->profile, &r->project, &r->mark_faults);
    say_mark_faults(&r->mark_faults);
    uint64_t excluded = cover_profile_exclude(&r->profile, &r->project);
    if (excluded)
        cli_say("%llu lines left out by marks in the sources (--no-exclusions counts them)",
                (unsigned long long)excluded);
}

void cover_result_deinit(CoverResult *r)
{
    if (r->filter)
        cover_filter_deinit(r->filter);
    gcov_sum_deinit(&r->gcov);
    strbuf_deinit(&r->documents);
    cover_set_deinit(&r->set);
    cover_counts_deinit(&r->counts);
    cover_correlations_deinit(&r->correlations);
    cover_data_deinit(&r->data);
    profile_deinit(&r->profile);
    arena_deinit(&r->arena);
}

int cover_show_inputs(const CoverInputOptions *inputs, const StrVec *operands,
                      int (*show)(CoverResult *r, const void *values), const void *options)
{
    CoverResult r;
    Error err;
    Str last_run = COVER_RUN_FOLDER;
    const StrVec of_last_run = {.at = &last_run, .len = 1};
    bool is_given = operands->len || inputs->objects.len || inputs->profile.len;
    bool ok = cover_load(inputs, is_given || !os_file_exists(last_run) ? operands : &of_last_run,
                         &r, &err);
    int status = ok ? show(&r, options) : cli_fail(&err);
    size_t left_out = ok ? cover_filter_left_out(r.filter) : 0;
    if (left_out)
        cli_say("%zu source%s left out, as the run was asked to (--all-sources counts %s)",
                left_out, left_out == 1 ? "" : "s", left_out == 1 ? "it" : "them");
    cover_result_deinit(&r);
    return status;
}
