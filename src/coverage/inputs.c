// SPDX-License-Identifier: Apache-2.0
// Finds the inputs, lets the reader of each origin read its own, and brings the counts together.

#include "coverage/inputs.h"

#include <stdio.h>

#include "coverage/find.h"
#include "coverage/gcc/read_units.h"
#include "coverage/llvm/file_totals.h"
#include "coverage/llvm/listing_rows.h"
#include "coverage/llvm/programs.h"
#include "coverage/rows/exclude_rows.h"
#include "coverage/rows/tracefile_rows.h"
#include "coverage/tracefiles.h"
#include "model/facts.h"
#include "symbolise/demangle.h"

// Static functions have their file in front: "file.cc:_ZL4helpi".
static void demangle_name(void *ctx, Str linkage_name, StrBuf *out)
{
    (void)ctx;
    size_t before = out->len;
    size_t colon = str_find_last_char(linkage_name, ':');
    Str symbol =
        colon == SIZE_MAX ? linkage_name : str_slice(linkage_name, colon + 1, linkage_name.len);
    if (!demangle(symbol, out))
        out->len = before;
}

// What the readers have summed up. It ends in the profile.
typedef struct Origins {
    Arena arena;
    const CoverRequest *request;
    CoverReading reading; // reading.profile gets notes and facts
    CoverFilter filter;
    CoverProject project;
    Profile *rows; // gets the rows; that of the notes, but where sets are restricted
    bool has_units, has_set;
    CoverPrograms programs;
    GcovSum units;
    CoverSet set;
} Origins;

static bool has_mapping(const Origins *o)
{
    return o->programs.has_mapping;
}

static bool is_of_llvm_alone(const Origins *o)
{
    return has_mapping(o) && !o->has_units && !o->has_set;
}

// ---- Reading ----------------------------------------------------------------------

static bool find_inputs(CoverFound *f, const CoverRequest *request, const StrVec *operands,
                        Error *err)
{
    for (size_t i = 0; i < operands->len; i++)
        if (!cover_find(f, operands->at[i], 1, err))
            return false;
    for (size_t i = 0; i < request->objects.len; i++)
        if (!cover_find_file(f, request->objects.at[i], err))
            return false;
    if (request->profile.len && !cover_find_file(f, request->profile, err))
        return false;
    for (size_t i = 0; request->weighted && i < request->weighted->len; i++)
        if (!cover_find(f, request->weighted->at[i].path, request->weighted->at[i].weight, err))
            return false;
    cover_find_settle(f);
    return true;
}

// Sources that a run left out stay out, unless some input leaves nothing out or `all` is asked
// for.
static void select_sources(const CoverFound *f, CoverFilter *filter, bool all)
{
    if (all || f->selected == 0)
        return;
    if (f->selected < f->operands) {
        profile_note(f->r->profile, NOTE_WARNING, STR("sources-not-left-out"),
                     "sources that the run left out count here, since not all inputs are results "
                     "of runs; --include and --exclude choose");
        return;
    }
    for (size_t i = 0; i < f->selections.len; i++)
        cover_filter_select(filter, &f->selections.at[i]);
}

static bool refuse_no_profile(const CoverRequest *request, const StrVec *operands, Error *err)
{
    if (operands->len == 0 && request->objects.len == 0 && !request->weighted) {
        error_set(err, ERROR_USAGE, "no inputs, and no results of 'assay cover run' here");
        return error_hint(
            err, "name programs, profiles, tracefiles or folders of them; with '.' results in the "
                 "folders below this one are found, too");
    }
    error_set(err, ERROR_USAGE, "no profile among the inputs");
    return error_hint(err, "a program built with coverage writes default.profraw where it runs, "
                           "or what LLVM_PROFILE_FILE names; gcc's programs write .gcda files "
                           "beside their objects: name their folder");
}

static bool read_found(Origins *o, CoverFound *f, const StrVec *operands, Error *err)
{
    const CoverRequest *request = o->request;
    select_sources(f, &o->filter, request->filter.all_sources);
    cover_filter_choose(&o->filter, &f->sources);
    if (!gcov_units_read(f->r, &f->units, &o->units, err) ||
        !cover_tracefiles_read(f->r, &f->tracefiles, &o->set, err))
        return false;
    o->has_units = f->units.len > 0;
    o->has_set = f->tracefiles.len > 0;
    if ((o->has_units || o->has_set) && f->profiles.len == 0)
        return true;
    if (f->profiles.len == 0)
        return refuse_no_profile(request, operands, err);
    if (f->objects.len == 0) {
        error_set(err, ERROR_USAGE, "no object among the inputs");
        return error_hint(err, "name the program that wrote the profiles: it holds the mapping "
                               "from counters to lines");
    }
    return cover_programs_read(f->r, &f->profiles, &f->objects, &o->programs, err);
}

// `notes` and `rows` are initialised. Release with origins_close, also on false.
static bool origins_open(Origins *o, const CoverRequest *request, Profile *notes, Profile *rows,
                         Error *err)
{
    *o = (Origins){.arena = {.huge_pages = true}, .request = request, .rows = rows};
    o->reading = (CoverReading){.arena = &o->arena, .profile = notes, .arch = request->arch};
    cover_programs_init(&o->programs, &o->arena);
    cover_set_init(&o->set, &o->arena);
    if (!cover_filter_init(&o->filter, &request->filter, notes, err))
        return false;
    o->filter.keep_spelling = request->llvm_rules;
    o->filter.is_changed = request->is_changed;
    o->filter.is_changed_ctx = request->is_changed_ctx;
    bool marks = !request->filter.no_exclusions && !request->llvm_rules;
    o->project = (CoverProject){.keep = cover_filter_keep,
                                .keep_ctx = &o->filter,
                                .demangle = request->demangle ? demangle_name : NULL,
                                .map_path = cover_filter_map,
                                .map_ctx = &o->filter,
                                .exclusions = marks ? cover_filter_exclusions : NULL,
                                .exclusions_ctx = &o->filter};
    o->programs.data.llvm_rules = request->llvm_rules;
    o->programs.data.explain = request->explain;
    o->programs.data.map_path = o->set.map_path = cover_filter_map;
    o->programs.data.map_ctx = o->set.map_ctx = &o->filter;
    gcov_sum_init(&o->units, rows, &o->project);
    o->units.repeats_lines = request->llvm_rules;
    o->units.take = request->take_unit;
    o->units.take_ctx = request->take_ctx;
    return true;
}

static void origins_close(Origins *o)
{
    cover_filter_deinit(&o->filter);
    gcov_sum_deinit(&o->units);
    cover_set_deinit(&o->set);
    cover_programs_deinit(&o->programs);
    arena_deinit(&o->arena);
}

static bool read_inputs(Origins *o, const StrVec *operands, Error *err)
{
    CoverFound found = {.r = &o->reading};
    bool ok =
        find_inputs(&found, o->request, operands, err) && read_found(o, &found, operands, err);
    cover_note_more_left_out(&o->reading);
    if (!ok)
        return false;
    if (has_mapping(o))
        cover_data_place_functions(&o->programs.data, &o->project);
    if (o->has_set)
        cover_set_place_functions(&o->set, &o->project);
    cover_filter_settle(&o->filter);
    return true;
}

// ---- Facts ------------------------------------------------------------------------

static void set_number(Profile *p, const char *key, uint64_t value)
{
    char text[32];
    if (value == 0)
        return;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    profile_set_fact(p, str_from_c(key), str_from_c(text));
}

static void set_facts(const Origins *o)
{
    Profile *p = o->reading.profile;
    Str names[3];
    size_t count = 0;
    if (has_mapping(o))
        names[count++] = STR("llvm");
    if (o->has_units)
        names[count++] = STR("gcc");
    if (o->has_set)
        names[count++] = STR("lines");
    StrBuf origins = {0};
    for (size_t i = 0; i < count; i++) {
        strbuf_add(&origins, i ? STR(" ") : STR(""));
        strbuf_add(&origins, names[i]);
    }
    profile_set_fact(p, STR(FACT_COVER_ORIGINS), strbuf_str(&origins));
    strbuf_deinit(&origins);
    set_number(p, FACT_COVER_HITS, o->set.is_hits);
    set_number(p, FACT_COVER_STALE, o->reading.stale);
    set_number(p, FACT_COVER_BUILT, (uint64_t)MAX(o->reading.built_ns, (int64_t)0));
    set_number(p, FACT_COVER_COUNTED, (uint64_t)MAX(o->reading.counted_ns, (int64_t)0));
    set_number(p, FACT_COVER_SKIPPED, cover_filter_left_out(&o->filter));
    set_number(p, FACT_COVER_VALUES, o->programs.counts.has_values);
}

// ---- Rows -------------------------------------------------------------------------

static void note_mark_faults(const CoverMarkFaultVec *faults, Profile *into)
{
    enum { NOTED_MAX = 20 };
    const Str key = STR("mark-contradicted");
    if (faults->len > NOTED_MAX)
        profile_note(into, NOTE_WARNING, key,
                     "%zu marks in the sources do not match the counts, the first %d of them:",
                     faults->len, NOTED_MAX);
    for (size_t i = 0; i < MIN(faults->len, (size_t)NOTED_MAX); i++) {
        const CoverMarkFault *f = &faults->at[i];
        if (f->is_reached)
            profile_note(into, NOTE_WARNING, key,
                         "'%" STR_FMT "' line %u is marked as unreachable and ran: it counts",
                         STR_ARG(f->path), f->line);
        else
            profile_note(into, NOTE_WARNING, key,
                         "'%" STR_FMT "' line %u: the mark says that %u of %u branches did not "
                         "run, and %u of %u did not: they count",
                         STR_ARG(f->path), f->line, f->said_missed, f->said_all, f->missed, f->all);
    }
}

// Sums the counts of all origins up in rows, as they are without marks. `filling` is NULL where
// there is no mapping.
static void fill_rows(Origins *o, CoverFilling *filling)
{
    if (filling)
        cover_files_fill(filling, o->request->wants & COVER_WANT_REGIONS);
    if (o->has_units)
        gcov_sum_finish(&o->units);
    o->set.map_path = NULL; // what comes from the profile is mapped
    if (o->has_set && (filling || o->has_units))
        cover_set_take_profile(&o->set, o->rows);
    if (o->has_set)
        cover_set_fill(&o->set, &o->project, o->rows);
}

// Takes out what marks in the sources exclude.
static void apply_marks(Origins *o)
{
    Profile *notes = o->reading.profile;
    CoverMarkFaultVec faults = {0};
    cover_profile_settle_marks(&o->arena, o->rows, &o->project, &faults);
    note_mark_faults(&faults, notes);
    set_number(notes, FACT_COVER_MARKS, faults.len);
    uint64_t excluded = cover_profile_exclude(o->rows, &o->project);
    if (excluded)
        profile_note(notes, NOTE_INFO, STR("lines-left-out-by-marks"),
                     "%llu line%s left out by marks in the sources (--no-exclusions counts them)",
                     (unsigned long long)excluded, plural_s(excluded));
}

static void fill(Origins *o)
{
    enum {
        TOTALS = COVER_WANT_FILE_TOTALS | COVER_WANT_FUNCTION_TOTALS,
        LISTING = COVER_WANT_BRANCH_SITES | COVER_WANT_SEGMENTS | COVER_WANT_EXPANSIONS |
                  COVER_WANT_INSTANCES | COVER_WANT_DECISIONS
    };
    const CoverRequest *request = o->request;
    const CoverData *d = &o->programs.data;
    bool is_alone = is_of_llvm_alone(o);
    unsigned wants = request->wants;
    // Some marks are settled by the counts of rows.
    bool rows = wants & COVER_WANT_ROWS || (wants & TOTALS && !is_alone) ||
                (wants & COVER_WANT_FILE_TOTALS && !request->llvm_rules) ||
                cover_filter_has_marks(&o->filter);
    CoverFilling filling;
    if (has_mapping(o))
        cover_filling_init(&filling, d, &o->project, o->rows);
    if (rows) {
        fill_rows(o, has_mapping(o) ? &filling : NULL);
        apply_marks(o);
    }
    if (!is_alone)
        wants &= ~((unsigned)TOTALS | COVER_WANT_BRANCH_SITES);
    if (has_mapping(o) && wants & TOTALS)
        cover_totals_fill(&filling, wants);
    if (has_mapping(o) && wants & LISTING)
        cover_listing_fill(&filling, wants);
    if (has_mapping(o))
        cover_filling_deinit(&filling);
    if (is_alone && request->take_functions)
        request->take_functions(request->take_ctx, d, &o->project);
}

bool cover_load(const CoverRequest *request, const StrVec *operands, Profile *ret, Error *err)
{
    Origins o;
    profile_init(ret);
    ret->arena.huge_pages = true;
    bool ok = origins_open(&o, request, ret, ret, err) && read_inputs(&o, operands, err);
    if (ok) {
        fill(&o);
        set_facts(&o);
    }
    origins_close(&o);
    return ok;
}

// ---- Sets -------------------------------------------------------------------------

// The counts of one operand as a set, whatever it was read from. Marks wait.
static bool read_as_set(Origins *o, Str operand, bool covered, Error *err)
{
    const StrVec one = {&operand, 1, 1};
    if (!read_inputs(o, &one, err)) {
        // Neither an object nor a raw profile alone says which lines ran.
        if (err->kind != ERROR_USAGE)
            return false;
        (void)error_context(err, "'%" STR_FMT "'", STR_ARG(operand));
        return error_hint(err, "each input is read by itself; give objects by --object FILE");
    }
    if (has_mapping(o) || o->has_units) {
        CoverFilling filling;
        if (has_mapping(o))
            cover_filling_init(&filling, &o->programs.data, &o->project, o->rows);
        fill_rows(o, has_mapping(o) ? &filling : NULL);
        if (has_mapping(o))
            cover_filling_deinit(&filling);
        if (o->has_set) { // it was summed into the rows
            cover_set_deinit(&o->set);
            cover_set_init(&o->set, &o->arena);
        }
        cover_set_take_profile(&o->set, o->rows);
        o->has_set = true;
    }
    if (covered)
        cover_set_drop_zeros(&o->set);
    return true;
}

// A set with its rows on the way to it.
typedef struct Operand {
    Origins origins;
    Profile rows;
} Operand;

bool cover_load_restricted(const CoverRequest *request, const StrVec *operands,
                           CoverSetOperation op, bool covered, Profile *ret, Error *err)
{
    Arena arena = {0};
    Operand *all = arena_array(&arena, Operand, operands->len);
    size_t opened = 0;
    bool ok = true;
    profile_init(ret);
    for (; opened < operands->len && ok; opened++) {
        Operand *x = &all[opened];
        profile_init(&x->rows);
        ok = origins_open(&x->origins, request, ret, &x->rows, err) &&
             read_as_set(&x->origins, operands->at[opened], covered, err);
    }
    if (ok) {
        Origins *first = &all[0].origins;
        for (size_t i = 1; i < opened; i++) {
            cover_set_restrict(&first->set, &all[i].origins.set, op);
            first->reading.stale += all[i].origins.reading.stale;
        }
        cover_set_drop_empty_files(&first->set);
        first->rows = ret;
        first->programs.has_mapping = first->has_units = false;
        fill_rows(first, NULL);
        apply_marks(first);
        set_facts(first);
    }
    for (size_t i = 0; i < opened; i++) {
        origins_close(&all[i].origins);
        profile_deinit(&all[i].rows);
    }
    arena_deinit(&arena);
    return ok;
}
