// SPDX-License-Identifier: Apache-2.0
// Coverage as Clover's XML (OpenClover, clover.xsd): lines are statements, branches are
// conditionals and functions are methods. A package is a folder; a file has one class of its own
// name.

#include "export/cover/formats_internal.h"

// Name and value of an attribute.
static void add_number(CoverWriter *w, const char *name, uint64_t value)
{
    strbuf_printf(w->out, " %s=\"%llu\"", name, (unsigned long long)value);
}

// `classes` and the counts behind it are left out where they are 0.
static void add_metrics(CoverWriter *w, const CoverTotals *t, size_t classes, size_t files,
                        size_t packages)
{
    CoverTally lines = t->of[COVER_LINES], branches = t->of[COVER_BRANCHES];
    CoverTally functions = t->of[COVER_FUNCTIONS];
    strbuf_add(w->out, STR("<metrics complexity=\"0\""));
    add_number(w, "elements", lines.count + branches.count + functions.count);
    add_number(w, "coveredelements", lines.covered + branches.covered + functions.covered);
    add_number(w, "conditionals", branches.count);
    add_number(w, "coveredconditionals", branches.covered);
    add_number(w, "statements", lines.count);
    add_number(w, "coveredstatements", lines.covered);
    add_number(w, "methods", functions.count);
    add_number(w, "coveredmethods", functions.covered);
    if (classes)
        add_number(w, "classes", classes);
    if (files)
        add_number(w, "files", files);
    if (packages)
        add_number(w, "packages", packages);
    strbuf_add(w->out, STR("/>\n"));
}

static size_t files_of_folder(const CoverWriter *w, Str folder, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < w->c->files.len; i = cover_folder_next(w, folder, i + 1))
        count++;
    return count;
}

static size_t count_folders(CoverWriter *w)
{
    size_t count = 0;
    cover_folders_begin(w);
    for (size_t first = 0; first < w->c->files.len; first++) {
        Str folder = str_dir_name(profile_text(w->p, w->c->files.at[first].file));
        count += !w->done.at[first];
        for (size_t i = first; i < w->c->files.len && !w->done.at[first];) {
            size_t next = cover_folder_next(w, folder, i + 1);
            if (i != first)
                w->done.at[i] = 1;
            i = next;
        }
    }
    return count;
}

static void begin(CoverWriter *w)
{
    CoverTotals t = cover_all_totals(w);
    unsigned long long seconds = w->counted_ns / 1000000000;
    strbuf_printf(w->out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<coverage clover=\"assay\" generated=\"%llu\">\n<project timestamp=\"%llu\" "
                  "name=\"",
                  seconds, seconds);
    strbuf_add_xml(w->out, w->root.len ? str_base_name(w->root) : STR("assay"));
    strbuf_add(w->out, STR("\">\n"));
    add_metrics(w, &t, w->c->files.len, w->c->files.len, count_folders(w));
    cover_folders_begin(w);
}

// A conditional has two ways out. Pairs are branches of one block that follow each other; a branch
// that is left over has no false side.
static void add_conditionals(CoverWriter *w, const CoverFileRows *f, uint32_t line, uint32_t *at)
{
    const BranchCounts *b = &w->p->branch_counts;
    for (; *at < f->branches.end && b->line.at[w->c->branches.at[*at]] <= line; ++*at) {
        uint32_t row = w->c->branches.at[*at];
        if (b->line.at[row] < line)
            continue; // of a line that has no count of its own
        strbuf_printf(w->out, "<line num=\"%u\" type=\"cond\"", line);
        add_number(w, "truecount", b->count.at[row]);
        if (*at + 1 < f->branches.end) {
            uint32_t next = w->c->branches.at[*at + 1];
            if (b->line.at[next] == line && b->block.at[next] == b->block.at[row]) {
                add_number(w, "falsecount", b->count.at[next]);
                ++*at;
            }
        }
        strbuf_add(w->out, STR("/>\n"));
    }
}

static void add_methods(CoverWriter *w, const CoverFileRows *f)
{
    const Profile *p = w->p;
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        FunctionId id = p->function_counts.function.at[w->c->places.at[i]];
        strbuf_printf(w->out, "<line num=\"%u\" type=\"method\" signature=\"",
                      p->functions.line.at[id.v]);
        strbuf_add_xml(w->out, profile_text(p, p->functions.name.at[id.v]));
        strbuf_add(w->out, STR("\""));
        add_number(w, "count", w->c->entries.at[i]);
        strbuf_add(w->out, STR("/>\n"));
    }
}

static void add_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_row_totals(w->p, w->c, f);
    Str path = cover_project_path(w, f);
    strbuf_add(w->out, STR("<file name=\""));
    strbuf_add_xml(w->out, str_base_name(path));
    strbuf_add(w->out, STR("\" path=\""));
    strbuf_add_xml(w->out, path);
    strbuf_add(w->out, STR("\">\n"));
    add_metrics(w, &t, 1, 0, 0);
    strbuf_add(w->out, STR("<class name=\""));
    strbuf_add_xml(w->out, str_base_name(path));
    strbuf_add(w->out, STR("\">\n"));
    add_metrics(w, &t, 0, 0, 0);
    strbuf_add(w->out, STR("</class>\n"));
    add_methods(w, f);
    uint32_t branch = f->branches.first;
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l)) {
        strbuf_printf(w->out, "<line num=\"%u\" type=\"stmt\"", l.line);
        add_number(w, "count", l.count);
        strbuf_add(w->out, STR("/>\n"));
        add_conditionals(w, f, l.line, &branch);
    }
    strbuf_add(w->out, STR("</file>\n"));
}

// Names of packages have dots between the folders; that of no folder is Clover's own.
static void add_package_name(CoverWriter *w, Str folder)
{
    if (str_starts_with(folder, STR("/")))
        folder = str_slice(folder, 1, folder.len);
    size_t start = w->out->len;
    strbuf_add_xml(w->out, folder.len ? folder : STR("default-pkg"));
    for (size_t i = start; i < w->out->len; i++)
        if (w->out->ptr[i] == '/')
            w->out->ptr[i] = '.';
}

static void file(CoverWriter *w, const CoverFileRows *f)
{
    size_t first = (size_t)(f - w->c->files.at), count = w->c->files.len;
    Str folder = str_dir_name(profile_text(w->p, f->file));
    if (w->done.at[first])
        return;
    strbuf_add(w->out, STR("<package name=\""));
    add_package_name(w, str_dir_name(cover_project_path(w, f)));
    strbuf_add(w->out, STR("\">\n"));
    CoverTotals t = cover_folder_totals(w, folder, first);
    size_t files = files_of_folder(w, folder, first);
    add_metrics(w, &t, files, files, 0);
    for (size_t i = first; i < count; i = cover_folder_next(w, folder, i + 1)) {
        w->done.at[i] = 1;
        add_file(w, &w->c->files.at[i]);
    }
    strbuf_add(w->out, STR("</package>\n"));
}

static void end(CoverWriter *w)
{
    strbuf_add(w->out, STR("</project>\n</coverage>\n"));
    vec_free(&w->done);
}

const CoverFormat cover_clover_format = {begin, file, end};
