// SPDX-License-Identifier: Apache-2.0
// Code shared by several formats: the walk over lines, totals, paths, JSON.

#include "export/cover/formats_internal.h"

CoverTotals cover_writer_totals(const CoverWriter *w, const CoverFileRows *f)
{
    return w->totals ? w->totals[f - w->c->files.at] : cover_row_totals(w->p, w->c, f);
}

bool cover_has_conditions(const CoverWriter *w)
{
    return w->p->condition_counts.count.len > 0;
}

double cover_shown_percent(CoverTally t)
{
    double percent = t.count ? 100.0 * (double)t.covered / (double)t.count : 100.0;
    return t.covered < t.count ? MIN(percent, 99.99) : percent;
}

Str cover_project_path(const CoverWriter *w, const CoverFileRows *f)
{
    Str path = profile_text(w->p, f->file), root = w->root;
    bool is_below = root.len && path.len > root.len + 1 && str_starts_with(path, root) &&
                    path.ptr[root.len] == '/';
    return is_below ? str_slice(path, root.len + 1, path.len) : path;
}

CoverTotals cover_all_totals(const CoverWriter *w)
{
    CoverTotals sum = {0};
    for (size_t i = 0; i < w->c->files.len; i++) {
        CoverTotals t = cover_row_totals(w->p, w->c, &w->c->files.at[i]);
        cover_totals_add(&sum, &t);
    }
    return sum;
}

void cover_folders_begin(CoverWriter *w)
{
    w->done.len = 0;
    vec_extend(NULL, &w->done, w->c->files.len);
}

// The files below the folder stand together, those of its own folders among them.
size_t cover_folder_next(const CoverWriter *w, Str folder, size_t i)
{
    for (; i < w->c->files.len; i++) {
        Str path = profile_text(w->p, w->c->files.at[i].file);
        if (!str_starts_with(path, folder))
            break;
        if (str_equal(str_dir_name(path), folder))
            return i;
    }
    return w->c->files.len;
}

CoverTotals cover_folder_totals(const CoverWriter *w, Str folder, size_t first)
{
    CoverTotals sum = {0};
    for (size_t i = first; i < w->c->files.len; i = cover_folder_next(w, folder, i + 1)) {
        CoverTotals t = cover_row_totals(w->p, w->c, &w->c->files.at[i]);
        cover_totals_add(&sum, &t);
    }
    return sum;
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
