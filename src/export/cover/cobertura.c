// SPDX-License-Identifier: Apache-2.0
// Coverage as XML: Cobertura (coverage-04.dtd) and SonarQube's generic form.

#include "export/cover/formats_internal.h"

static double rate(CoverTally t)
{
    return t.count ? (double)t.covered / (double)t.count : 1.0;
}

static void cobertura_begin(CoverWriter *w)
{
    CoverTotals sum = cover_all_totals(w);
    CoverTally lines = sum.of[COVER_LINES], branches = sum.of[COVER_BRANCHES];
    strbuf_add(w->out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<!DOCTYPE coverage SYSTEM "
                           "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"));
    strbuf_printf(w->out,
                  "<coverage line-rate=\"%.4f\" branch-rate=\"%.4f\" lines-covered=\"%llu\" "
                  "lines-valid=\"%llu\" branches-covered=\"%llu\" branches-valid=\"%llu\" "
                  "complexity=\"0\" version=\"1\" timestamp=\"%llu\">\n<sources><source>",
                  rate(lines), rate(branches), (unsigned long long)lines.covered,
                  (unsigned long long)lines.count, (unsigned long long)branches.covered,
                  (unsigned long long)branches.count,
                  (unsigned long long)(w->counted_ns / 1000000));
    strbuf_add_xml(w->out, w->root.len ? w->root : STR("/"));
    strbuf_add(w->out, STR("</source></sources>\n<packages>\n"));
    cover_folders_begin(w);
}

static void add_methods(CoverWriter *w, const CoverFileRows *f)
{
    const Profile *p = w->p;
    strbuf_add(w->out, STR("<methods>\n"));
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = w->c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        uint64_t count = w->c->entries.at[i];
        strbuf_add(w->out, STR("<method name=\""));
        strbuf_add_xml(w->out, profile_text(p, p->functions.name.at[id.v]));
        strbuf_printf(w->out,
                      "\" signature=\"\" line-rate=\"%d.0\" branch-rate=\"1.0\" "
                      "complexity=\"0\"><lines><line number=\"%u\" hits=\"%llu\"/></lines>"
                      "</method>\n",
                      count > 0, p->functions.line.at[id.v], (unsigned long long)count);
    }
    strbuf_add(w->out, STR("</methods>\n"));
}

static void add_class(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_row_totals(w->p, w->c, f);
    Str path = cover_project_path(w, f);
    strbuf_add(w->out, STR("<class name=\""));
    strbuf_add_xml(w->out, str_base_name(path));
    strbuf_add(w->out, STR("\" filename=\""));
    strbuf_add_xml(w->out, path);
    strbuf_printf(w->out, "\" line-rate=\"%.4f\" branch-rate=\"%.4f\" complexity=\"0\">\n",
                  rate(t.of[COVER_LINES]), rate(t.of[COVER_BRANCHES]));
    add_methods(w, f);
    strbuf_add(w->out, STR("<lines>\n"));
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l)) {
        strbuf_printf(w->out, "<line number=\"%u\" hits=\"%llu\" branch=\"%s\"", l.line,
                      (unsigned long long)l.count, l.branches ? "true" : "false");
        if (l.branches)
            strbuf_printf(w->out, " condition-coverage=\"%.0f%% (%u/%u)\"",
                          100.0 * rate((CoverTally){l.branches_hit, l.branches}), l.branches_hit,
                          l.branches);
        strbuf_add(w->out, STR("/>\n"));
    }
    strbuf_add(w->out, STR("</lines></class>\n"));
}

// A package is a folder: written with its first file.
static void cobertura_file(CoverWriter *w, const CoverFileRows *f)
{
    size_t first = (size_t)(f - w->c->files.at);
    Str folder = str_dir_name(profile_text(w->p, f->file));
    if (w->done.at[first])
        return;
    CoverTotals t = cover_folder_totals(w, folder, first);
    strbuf_add(w->out, STR("<package name=\""));
    strbuf_add_xml(w->out, str_dir_name(cover_project_path(w, f)));
    strbuf_printf(w->out, "\" line-rate=\"%.4f\" branch-rate=\"%.4f\" complexity=\"0\"><classes>\n",
                  rate(t.of[COVER_LINES]), rate(t.of[COVER_BRANCHES]));
    for (size_t i = first; i < w->c->files.len; i = cover_folder_next(w, folder, i + 1)) {
        w->done.at[i] = 1;
        add_class(w, &w->c->files.at[i]);
    }
    strbuf_add(w->out, STR("</classes></package>\n"));
}

static void cobertura_end(CoverWriter *w)
{
    strbuf_add(w->out, STR("</packages>\n</coverage>\n"));
    vec_free(&w->done);
}

const CoverFormat cover_cobertura_format = {cobertura_begin, cobertura_file, cobertura_end};

static void sonarqube_begin(CoverWriter *w)
{
    strbuf_add(w->out, STR("<coverage version=\"1\">\n"));
}

static void sonarqube_file(CoverWriter *w, const CoverFileRows *f)
{
    strbuf_add(w->out, STR("<file path=\""));
    strbuf_add_xml(w->out, cover_project_path(w, f));
    strbuf_add(w->out, STR("\">\n"));
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l)) {
        strbuf_printf(w->out, "<lineToCover lineNumber=\"%u\" covered=\"%s\"", l.line,
                      l.count ? "true" : "false");
        if (l.branches)
            strbuf_printf(w->out, " branchesToCover=\"%u\" coveredBranches=\"%u\"", l.branches,
                          l.branches_hit);
        strbuf_add(w->out, STR("/>\n"));
    }
    strbuf_add(w->out, STR("</file>\n"));
}

static void sonarqube_end(CoverWriter *w)
{
    strbuf_add(w->out, STR("</coverage>\n"));
}

const CoverFormat cover_sonarqube_format = {sonarqube_begin, sonarqube_file, sonarqube_end};
