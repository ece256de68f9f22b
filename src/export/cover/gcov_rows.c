// SPDX-License-Identifier: Apache-2.0
// Rows of any origin in the shape of gcov's JSON. What only gcc's own data says
// (blocks, ends, throw, fallthrough) is left out.

#include "export/cover/formats_internal.h"

static void begin(CoverWriter *w)
{
    cover_json_begin(w, "format_version", "1", "files", false);
}

static void add_functions(CoverWriter *w, const CoverFileRows *f)
{
    const Profile *p = w->p;
    json_begin_array(&w->json, "functions");
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = w->c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        json_begin_object(&w->json, NULL);
        json_str(&w->json, "name", profile_text(p, p->functions.linkage_name.at[id.v]));
        json_str(&w->json, "demangled_name", profile_text(p, p->functions.name.at[id.v]));
        json_u64(&w->json, "start_line", p->functions.line.at[id.v]);
        json_u64(&w->json, "execution_count", w->c->entries.at[i]);
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void add_branches(CoverWriter *w, const CoverFileRows *f, uint32_t line, uint32_t *at)
{
    const BranchCounts *b = &w->p->branch_counts;
    json_begin_array(&w->json, "branches");
    for (; *at < f->branches.end && b->line.at[w->c->branches.at[*at]] <= line; ++*at) {
        uint32_t row = w->c->branches.at[*at];
        if (b->line.at[row] < line)
            continue; // of a line that has no count of its own
        json_begin_object(&w->json, NULL);
        json_u64(&w->json, "count", b->count.at[row]);
        json_end(&w->json);
    }
    json_end(&w->json);
}

static void add_file(CoverWriter *w, const CoverFileRows *f)
{
    json_begin_object(&w->json, NULL);
    json_str(&w->json, "file", profile_text(w->p, f->file));
    add_functions(w, f);
    json_begin_array(&w->json, "lines");
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    uint32_t branch = f->branches.first;
    while (cover_line_next(&walk, &l)) {
        json_begin_object(&w->json, NULL);
        json_u64(&w->json, "line_number", l.line);
        json_u64(&w->json, "count", l.count);
        add_branches(w, f, l.line, &branch);
        json_end(&w->json);
    }
    json_end(&w->json);
    json_end(&w->json);
}

const CoverFormat cover_gcov_json_format = {begin, add_file, cover_json_end};
