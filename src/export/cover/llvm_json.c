// SPDX-License-Identifier: Apache-2.0
// llvm-cov's JSON. Each expansion repeats all regions of its function: their text
// is made once and copied.
// Document: llvm/tools/llvm-cov/CoverageExporterJson.cpp, version 2.0.1.

#include "export/cover/llvm_json.h"

#include "coverage/llvm/function_regions.h"

enum { FLUSH_BYTES = 1 << 20 };

typedef struct Writer {
    const CoverData *d;
    StrBuf *out;
    CoverFlush *flush;
    void *flush_ctx;
    bool failed;
    bool has_conditions; // MC/DC fields
    // Texts of the present function, made when first needed.
    uint32_t text_of; // function + 1
    StrBuf regions, filenames;
    // Walks over nested expansions: file ids entered by the present walk.
    U32Vec entered;
    uint32_t walk;
    CovSpanVec spans;
    CovSegmentVec segments;
} Writer;

static void maybe_flush(Writer *w)
{
    if (w->out->len >= FLUSH_BYTES && !w->failed)
        w->failed = !w->flush(w->flush_ctx, w->out);
    if (w->failed)
        strbuf_clear(w->out);
}

static void add(StrBuf *out, const char *text)
{
    strbuf_add(out, str_from_c(text));
}

static void add_comma(StrBuf *out, bool *any)
{
    if (*any)
        strbuf_add_char(out, ',');
    *any = true;
}

static void add_count(StrBuf *out, uint64_t count)
{
    strbuf_add_u64(out, MIN(count, (uint64_t)INT64_MAX));
}

static void add_numbers(StrBuf *out, const uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        strbuf_add_u64(out, numbers[i]);
        strbuf_add_char(out, ',');
    }
}

static void add_string(StrBuf *out, Str text)
{
    strbuf_add_char(out, '"');
    strbuf_add_json(out, text);
    strbuf_add_char(out, '"');
}

// ---- Regions and branches ----------------------------------------------------------

static void add_region(StrBuf *out, const CoverRegion *r)
{
    strbuf_add_char(out, '[');
    add_numbers(out, (const uint32_t[]){r->line, r->column, r->end_line, r->end_column}, 4);
    add_count(out, r->count);
    strbuf_add_char(out, ',');
    add_numbers(out, (const uint32_t[]){r->file, r->expanded_file}, 2);
    strbuf_add_u64(out, r->kind);
    strbuf_add_char(out, ']');
}

static void add_branch(StrBuf *out, const CoverRegion *r)
{
    strbuf_add_char(out, '[');
    add_numbers(out, (const uint32_t[]){r->line, r->column, r->end_line, r->end_column}, 4);
    add_count(out, r->count);
    strbuf_add_char(out, ',');
    add_count(out, r->false_count);
    strbuf_add_char(out, ',');
    add_numbers(out, (const uint32_t[]){r->file, 0}, 2);
    strbuf_add_u64(out, r->kind);
    strbuf_add_char(out, ']');
}

// The function's regions and its files' names, as its expansions repeat them.
static void make_texts(Writer *w, const CoverFunction *f)
{
    uint32_t row = (uint32_t)(f - w->d->functions.at) + 1;
    if (w->text_of == row)
        return;
    w->text_of = row;
    strbuf_clear(&w->regions);
    strbuf_clear(&w->filenames);
    CoverRegionRange all = cover_all_regions(w->d, f);
    bool any = false;
    for (size_t i = 0; i < all.len; i++) {
        if (cover_is_branch(&all.at[i]))
            continue;
        add_comma(&w->regions, &any);
        add_region(&w->regions, &all.at[i]);
    }
    for (uint32_t i = 0; i < f->file_count; i++) {
        if (i)
            strbuf_add_char(&w->filenames, ',');
        add_string(&w->filenames,
                   intern_get(&w->d->files, w->d->function_files.at[f->files_first + i]));
    }
}

// Branches of an expansion: those of inner expansions first.
static void add_nested_branches(Writer *w, const CoverFunction *f, uint32_t file, unsigned depth,
                                bool *any)
{
    if (w->entered.at[file] == w->walk || depth > 500)
        return;
    w->entered.at[file] = w->walk;
    CoverRegionRange range = cover_regions_of(w->d, f, file);
    for (size_t i = 0; i < range.len; i++)
        if (range.at[i].kind == COV_EXPANSION)
            add_nested_branches(w, f, range.at[i].expanded_file, depth + 1, any);
    for (size_t i = 0; i < range.len; i++) {
        if (!cover_is_branch(&range.at[i]) || range.at[i].is_folded)
            continue;
        add_comma(w->out, any);
        add_branch(w->out, &range.at[i]);
    }
}

static void add_expansion(Writer *w, const CoverFunction *f, const CoverRegion *r)
{
    StrBuf *out = w->out;
    bool any = false;
    make_texts(w, f);
    if (w->entered.len < f->file_count)
        vec_extend(NULL, &w->entered, f->file_count - w->entered.len);
    w->walk++;
    add(out, "{\"branches\":[");
    add_nested_branches(w, f, r->expanded_file, 0, &any);
    add(out, "],\"filenames\":[");
    strbuf_add(out, strbuf_str(&w->filenames));
    add(out, "],\"source_region\":");
    add_region(out, r);
    add(out, ",\"target_regions\":[");
    strbuf_add(out, strbuf_str(&w->regions));
    add(out, "]}");
    maybe_flush(w);
}

// ---- Decisions -----------------------------------------------------------------------

static void add_decision(Writer *w, const CoverDecision *d)
{
    StrBuf *out = w->out;
    strbuf_add_char(out, '[');
    add_numbers(
        out,
        (const uint32_t[]){d->line, d->column, d->end_line, d->end_column, 0, COV_MCDC_DECISION},
        6);
    strbuf_add_char(out, '[');
    for (uint32_t i = 0; i < d->condition_count; i++) {
        if (i)
            strbuf_add_char(out, ',');
        add(out, w->d->conditions.at[d->conditions_first + i].pair[0] ? "true" : "false");
    }
    add(out, "]]");
}

// All decisions of a function, or, with a row, those in that file.
static void add_decisions(Writer *w, const CoverFunction *f, uint32_t row, bool *any)
{
    for (uint32_t i = 0; i < f->decision_count; i++) {
        const CoverDecision *d = &w->d->decisions.at[f->decisions_first + i];
        if (row != COVER_NO_FILE && w->d->function_files.at[f->files_first + d->file] != row)
            continue;
        add_comma(w->out, any);
        add_decision(w, d);
    }
}

// ---- Totals ----------------------------------------------------------------------------

static void add_tally(StrBuf *out, const char *key, CoverTally t, bool has_rest)
{
    strbuf_printf(out, "\"%s\":{\"count\":%llu,\"covered\":%llu,", key, (unsigned long long)t.count,
                  (unsigned long long)t.covered);
    if (has_rest)
        strbuf_printf(out, "\"notcovered\":%llu,", (unsigned long long)(t.count - t.covered));
    strbuf_printf(out, "\"percent\":%.17g}",
                  t.count ? (double)t.covered / (double)t.count * 100.0 : 0.0);
}

static void add_totals(Writer *w, const CoverTotals *t)
{
    strbuf_add_char(w->out, '{');
    add_tally(w->out, "branches", t->of[COVER_BRANCHES], true);
    strbuf_add_char(w->out, ',');
    add_tally(w->out, "functions", t->of[COVER_FUNCTIONS], false);
    strbuf_add_char(w->out, ',');
    add_tally(w->out, "instantiations", t->of[COVER_INSTANTIATIONS], false);
    strbuf_add_char(w->out, ',');
    add_tally(w->out, "lines", t->of[COVER_LINES], false);
    strbuf_add_char(w->out, ',');
    if (w->has_conditions) {
        add_tally(w->out, "mcdc", t->of[COVER_CONDITIONS], true);
        strbuf_add_char(w->out, ',');
    }
    add_tally(w->out, "regions", t->of[COVER_REGIONS], true);
    strbuf_add_char(w->out, '}');
}

// ---- Files -------------------------------------------------------------------------------

typedef struct FileFunctions {
    uint32_t row;
    const uint32_t *at; // rows of CoverData.functions
    size_t len;
} FileFunctions;

static void add_file_branches(Writer *w, FileFunctions in)
{
    bool any = false;
    add(w->out, "{\"branches\":[");
    for (size_t i = 0; i < in.len; i++) {
        const CoverFunction *f = &w->d->functions.at[in.at[i]];
        if (!cover_is_written_in(w->d, f, in.row))
            continue;
        CoverRegionRange range = cover_regions_of(w->d, f, f->main_file);
        for (size_t k = 0; k < range.len; k++) {
            if (!cover_is_branch(&range.at[k]))
                continue;
            add_comma(w->out, &any);
            add_branch(w->out, &range.at[k]);
        }
        maybe_flush(w);
    }
}

static void add_file_expansions(Writer *w, FileFunctions in)
{
    bool any = false;
    add(w->out, "],\"expansions\":[");
    for (size_t i = 0; i < in.len; i++) {
        const CoverFunction *f = &w->d->functions.at[in.at[i]];
        if (!cover_is_written_in(w->d, f, in.row))
            continue;
        CoverRegionRange range = cover_regions_of(w->d, f, f->main_file);
        for (size_t k = 0; k < range.len; k++) {
            if (range.at[k].kind != COV_EXPANSION)
                continue;
            add_comma(w->out, &any);
            add_expansion(w, f, &range.at[k]);
        }
    }
}

static void add_file_segments(Writer *w, FileFunctions in)
{
    w->spans.len = 0;
    for (size_t i = 0; i < in.len; i++) {
        const CoverFunction *f = &w->d->functions.at[in.at[i]];
        for (uint32_t id = 0; id < f->file_count; id++)
            if (w->d->function_files.at[f->files_first + id] == in.row)
                cover_add_spans(cover_regions_of(w->d, f, id), &w->spans);
    }
    cov_segments(&w->spans, &w->segments);
    add(w->out, "\"segments\":[");
    for (size_t i = 0; i < w->segments.len; i++) {
        const CovSegment *s = &w->segments.at[i];
        add(w->out, i ? ",[" : "[");
        add_numbers(w->out, (const uint32_t[]){s->line, s->column}, 2);
        add_count(w->out, s->count);
        add(w->out, s->has_count ? ",true," : ",false,");
        add(w->out, s->is_entry ? "true," : "false,");
        add(w->out, s->is_gap ? "true]" : "false]");
        maybe_flush(w);
    }
    add(w->out, "],\"summary\":");
}

static void add_file(Writer *w, FileFunctions in, const CoverTotals *totals)
{
    bool any = false;
    add_file_branches(w, in);
    add_file_expansions(w, in);
    add(w->out, "],\"filename\":");
    add_string(w->out, intern_get(&w->d->files, in.row));
    strbuf_add_char(w->out, ',');
    if (w->has_conditions) {
        add(w->out, "\"mcdc_records\":[");
        for (size_t i = 0; i < in.len; i++)
            add_decisions(w, &w->d->functions.at[in.at[i]], in.row, &any);
        add(w->out, "],");
    }
    add_file_segments(w, in);
    add_totals(w, totals);
    strbuf_add_char(w->out, '}');
    maybe_flush(w);
}

static void add_function(Writer *w, const CoverFunction *f)
{
    StrBuf *out = w->out;
    CoverRegionRange all = cover_all_regions(w->d, f);
    bool any = false, any_decision = false;
    make_texts(w, f);
    add(out, "{\"branches\":[");
    for (size_t i = 0; i < all.len; i++) {
        if (!cover_is_branch(&all.at[i]) || all.at[i].is_folded)
            continue;
        add_comma(out, &any);
        add_branch(out, &all.at[i]);
    }
    add(out, "],\"count\":");
    add_count(out, f->count);
    add(out, ",\"filenames\":[");
    strbuf_add(out, strbuf_str(&w->filenames));
    strbuf_add_char(out, ']');
    if (w->has_conditions) {
        add(out, ",\"mcdc_records\":[");
        add_decisions(w, f, COVER_NO_FILE, &any_decision);
        strbuf_add_char(out, ']');
    }
    add(out, ",\"name\":");
    add_string(out, f->name);
    add(out, ",\"regions\":[");
    strbuf_add(out, strbuf_str(&w->regions));
    add(out, "]}");
    maybe_flush(w);
}

bool cover_write_llvm_json(const CoverData *d, const CoverProject *how, StrBuf *out,
                           CoverFlush *flush, void *flush_ctx)
{
    Writer w = {.d = d,
                .out = out,
                .flush = flush,
                .flush_ctx = flush_ctx,
                .has_conditions = d->map_version >= 7};
    CoverFileIndex x = {0};
    CoverTotalsVec files = {0};
    CoverTotals total = {0};
    cover_index_files(d, how, &x);
    cover_files_summarise(d, how, &x, false, &files);
    add(out, "{\"data\":[{\"files\":[");
    for (size_t i = 0; i < x.order.len && !w.failed; i++) {
        uint32_t row = x.order.at[i];
        if (i)
            strbuf_add_char(out, ',');
        add_file(&w,
                 (FileFunctions){row, x.functions.at + x.starts.at[row],
                                 x.starts.at[row + 1] - x.starts.at[row]},
                 &files.at[i]);
        cover_totals_add(&total, &files.at[i]);
    }
    add(out, "],\"functions\":[");
    for (size_t i = 0; i < d->functions.len && !w.failed; i++) {
        if (i)
            strbuf_add_char(out, ',');
        add_function(&w, &d->functions.at[i]);
    }
    add(out, "],\"totals\":");
    add_totals(&w, &total);
    add(out, "}],\"type\":\"llvm.coverage.json.export\",\"version\":\"2.0.1\"}");
    bool ok = !w.failed && flush(flush_ctx, out);
    cover_index_free(&x);
    strbuf_deinit(&w.regions);
    strbuf_deinit(&w.filenames);
    vec_free(&w.entered);
    vec_free(&w.spans);
    vec_free(&w.segments);
    vec_free(&files);
    return ok;
}
