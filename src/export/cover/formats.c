// SPDX-License-Identifier: Apache-2.0
// The table of formats, and the walk over lines that they share.

#include "export/cover/formats.h"

#include "export/cover/formats_internal.h"
#include "export/cover/lcov.h"

static void nothing(CoverWriter *w)
{
    (void)w;
}

static void lcov_file(CoverWriter *w, const CoverFileRows *f)
{
    cover_lcov_file(w->p, w->c, f, w->out);
}

static const CoverFormat lcov_format = {nothing, lcov_file, nothing};

const CoverFormatName cover_format_names[] = {
    {"lcov", "lines, functions, branches and conditions, for genhtml and editors", &lcov_format},
    {"llvm-json", "all that llvm-cov export -format=text has, byte for byte", NULL},
    {"gcov-json", "what gcov --json-format has, byte for byte of gcc's units",
     &cover_gcov_json_format},
    {"json", "lines, functions, branches and conditions, short", &cover_json_format},
    {"html", "one page with the sources, to search and sort", &cover_html_format},
    {"cobertura", "Cobertura's XML: lines and branches", &cover_cobertura_format},
    {"coveralls", "the JSON of Coveralls: lines and branches", &cover_coveralls_format},
    {"codecov", "the JSON of Codecov: lines, and branches that were taken in part",
     &cover_codecov_format},
    {"sonarqube", "the generic XML of SonarQube: lines and branches", &cover_sonarqube_format},
    {"markdown", "a table of files with the lines that did not run", &cover_markdown_format},
};
const size_t cover_format_count = ARRAY_LEN(cover_format_names);

const CoverFormat *cover_format_find(Str name)
{
    for (size_t i = 0; i < cover_format_count; i++)
        if (str_equal(name, str_from_c(cover_format_names[i].name)))
            return cover_format_names[i].format;
    return NULL;
}

CoverTotals cover_writer_totals(const CoverWriter *w, const CoverFileRows *f)
{
    return w->totals ? w->totals[f - w->c->files.at] : cover_file_totals(w->p, w->c, f);
}

bool cover_has_conditions(const CoverWriter *w)
{
    return w->p->condition_counts.count.len > 0;
}

double cover_shown_percent(uint64_t hit, uint64_t all)
{
    double percent = all ? 100.0 * (double)hit / (double)all : 100.0;
    return hit < all ? MIN(percent, 99.99) : percent;
}

Str cover_project_path(const CoverWriter *w, const CoverFileRows *f)
{
    Str path = profile_text(w->p, f->file), root = w->root;
    bool is_below = root.len && path.len > root.len + 1 && str_starts_with(path, root) &&
                    path.ptr[root.len] == '/';
    return is_below ? str_slice(path, root.len + 1, path.len) : path;
}

bool cover_line_next(CoverLineWalk *walk, CoverLine *ret)
{
    const Profile *p = walk->w->p;
    const CoverFiles *c = walk->w->c;
    if (walk->at == walk->f->lines.end)
        return false;
    CoverLine l = {.line = p->line_counts.line.at[c->lines.at[walk->at]]};
    for (; walk->at < walk->f->lines.end; walk->at++) {
        uint32_t row = c->lines.at[walk->at];
        if (p->line_counts.line.at[row] != l.line)
            break;
        l.count += p->line_counts.count.at[row];
    }
    for (; walk->branch < walk->f->branches.end; walk->branch++) {
        uint32_t row = c->branches.at[walk->branch];
        if (p->branch_counts.line.at[row] > l.line)
            break;
        if (p->branch_counts.line.at[row] < l.line)
            continue; // of a line that has no count of its own
        l.branches++;
        l.branches_hit += p->branch_counts.count.at[row] > 0;
    }
    *ret = l;
    return true;
}

void cover_json_begin(CoverWriter *w, const char *key, const char *value, const char *files,
                      bool by_path)
{
    w->json = json_writer(w->out, 0);
    json_begin_object(&w->json, NULL);
    if (key)
        json_str(&w->json, key, str_from_c(value));
    if (by_path)
        json_begin_object(&w->json, files);
    else
        json_begin_array(&w->json, files);
}

void cover_json_end(CoverWriter *w)
{
    json_end(&w->json);
    json_end(&w->json);
    strbuf_add_char(w->out, '\n');
}

void cover_json_branch(CoverWriter *w, uint32_t row)
{
    const BranchCounts *b = &w->p->branch_counts;
    json_u64(&w->json, NULL, b->line.at[row]);
    json_u64(&w->json, NULL, b->block.at[row]);
    json_u64(&w->json, NULL, b->branch.at[row]);
    json_u64(&w->json, NULL, b->count.at[row]);
}
