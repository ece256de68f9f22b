// SPDX-License-Identifier: Apache-2.0
// Coverage as JaCoCo's XML (org.jacoco.report, report.dtd 1.1). A package is a folder, a class is a
// source file. JaCoCo counts instructions; here a line is one instruction, and no sum of
// instructions is stated.

#include "export/cover/formats_internal.h"

static void add_counter(CoverWriter *w, const char *type, CoverTally t)
{
    if (t.count)
        strbuf_printf(w->out, "<counter type=\"%s\" missed=\"%llu\" covered=\"%llu\"/>\n", type,
                      (unsigned long long)(t.count - t.covered), (unsigned long long)t.covered);
}

static void add_counters(CoverWriter *w, const CoverTotals *t)
{
    add_counter(w, "BRANCH", t->of[COVER_BRANCHES]);
    add_counter(w, "LINE", t->of[COVER_LINES]);
    add_counter(w, "METHOD", t->of[COVER_FUNCTIONS]);
}

static void begin(CoverWriter *w)
{
    strbuf_add(w->out, STR("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
                           "<!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" "
                           "\"report.dtd\">\n<report name=\""));
    strbuf_add_xml(w->out, w->root.len ? str_base_name(w->root) : STR("assay"));
    strbuf_add(w->out, STR("\">\n"));
    cover_folders_begin(w);
}

// A class of functions, for its METHOD counters.
static void add_class(CoverWriter *w, const CoverFileRows *f)
{
    const Profile *p = w->p;
    CoverTotals t = cover_row_totals(p, w->c, f);
    Str path = cover_project_path(w, f);
    strbuf_add(w->out, STR("<class name=\""));
    strbuf_add_xml(w->out, path);
    strbuf_add(w->out, STR("\" sourcefilename=\""));
    strbuf_add_xml(w->out, str_base_name(path));
    strbuf_add(w->out, STR("\">\n"));
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        FunctionId id = p->function_counts.function.at[w->c->places.at[i]];
        strbuf_add(w->out, STR("<method name=\""));
        strbuf_add_xml(w->out, profile_text(p, p->functions.name.at[id.v]));
        strbuf_printf(w->out, "\" desc=\"()\" line=\"%u\">", p->functions.line.at[id.v]);
        add_counter(w, "METHOD", (CoverTally){w->c->entries.at[i] > 0, 1});
        strbuf_add(w->out, STR("</method>\n"));
    }
    add_counters(w, &t);
    strbuf_add(w->out, STR("</class>\n"));
}

static void add_source(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_row_totals(w->p, w->c, f);
    strbuf_add(w->out, STR("<sourcefile name=\""));
    strbuf_add_xml(w->out, str_base_name(cover_project_path(w, f)));
    strbuf_add(w->out, STR("\">\n"));
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l))
        strbuf_printf(w->out, "<line nr=\"%u\" mi=\"%d\" ci=\"%d\" mb=\"%u\" cb=\"%u\"/>\n", l.line,
                      l.count == 0, l.count > 0, l.branches - l.branches_hit, l.branches_hit);
    add_counters(w, &t);
    strbuf_add(w->out, STR("</sourcefile>\n"));
}

static void file(CoverWriter *w, const CoverFileRows *f)
{
    size_t first = (size_t)(f - w->c->files.at), count = w->c->files.len;
    Str folder = str_dir_name(profile_text(w->p, f->file));
    if (w->done.at[first])
        return;
    strbuf_add(w->out, STR("<package name=\""));
    strbuf_add_xml(w->out, str_dir_name(cover_project_path(w, f)));
    strbuf_add(w->out, STR("\">\n"));
    for (size_t i = first; i < count; i = cover_folder_next(w, folder, i + 1)) {
        w->done.at[i] = 1;
        add_class(w, &w->c->files.at[i]);
    }
    for (size_t i = first; i < count; i = cover_folder_next(w, folder, i + 1))
        add_source(w, &w->c->files.at[i]);
    CoverTotals t = cover_folder_totals(w, folder, first);
    add_counters(w, &t);
    strbuf_add(w->out, STR("</package>\n"));
}

static void end(CoverWriter *w)
{
    CoverTotals t = cover_all_totals(w);
    add_counters(w, &t);
    strbuf_add(w->out, STR("</report>\n"));
    vec_free(&w->done);
}

const CoverFormat cover_jacoco_format = {begin, file, end};
