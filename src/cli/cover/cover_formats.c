// SPDX-License-Identifier: Apache-2.0
// assay cover formats: the formats, from the tables of readers and writers.

#include "base/json.h"
#include "cli/cli.h"
#include "cli/cover/cover_commands.h"
#include "cli/terminal.h"
#include "coverage/input_forms.h"
#include "export/cover/formats.h"
#include "llvmcov/prof_record.h"
#include "tracefile/tracefile.h"

typedef struct CoverFormatsOptions {
    bool json;
} CoverFormatsOptions;

static const Option options[] = {
    OPT_FLAG(0, "json", CoverFormatsOptions, json,
             "as JSON, see docs/formats/cover-formats-json.md"),
};

// ---- Text ----------------------------------------------------------------------

// Words of `text`, broken at `columns`, each line indented.
static void add_wrapped(StrBuf *out, const char *label, const char *text, size_t indent,
                        size_t columns)
{
    size_t at = indent + str_from_c(label).len;
    strbuf_add_repeated(out, ' ', indent);
    strbuf_add(out, str_from_c(label));
    Str rest = str_from_c(text);
    while (rest.len) {
        size_t end = MIN(str_find_char(rest, ' '), rest.len);
        if (at + 1 + end > columns && at > indent) {
            strbuf_add_char(out, '\n');
            strbuf_add_repeated(out, ' ', indent + 2);
            at = indent + 2;
        } else if (at > indent) {
            strbuf_add_char(out, ' ');
            at++;
        }
        strbuf_add(out, str_slice(rest, 0, end));
        at += end;
        rest = str_slice(rest, MIN(end + 1, rest.len), rest.len);
    }
    strbuf_add_char(out, '\n');
}

static void add_versions(StrBuf *out, const FormatVersions *v)
{
    char number[64];
    for (size_t i = 0; i < v->count; i++) {
        size_t from = out->len;
        format_versions_print(v, v->at[i].first, v->at[i].last, number, sizeof(number));
        strbuf_printf(out, "    %s", number);
        pad_to(out, from, 16);
        strbuf_add(out, str_from_c(v->at[i].writer));
        if (v->at[i].added[0]) {
            pad_to(out, from, 46);
            strbuf_printf(out, " %s", v->at[i].added);
        }
        strbuf_add(out, v->at[i].is_written ? STR(" (written too)\n") : STR("\n"));
    }
}

static void add_refusals(StrBuf *out, const FormatVersions *v, size_t columns)
{
    if (v->older)
        add_wrapped(out, "older ones:", v->older, 4, columns);
    if (v->newer)
        add_wrapped(out, "newer ones:", v->newer, 4, columns);
}

// The first with the versions of form i.
static const CoverForm *first_like(size_t i)
{
    size_t first = 0;
    while (cover_forms[first].versions != cover_forms[i].versions)
        first++;
    return &cover_forms[first];
}

static void add_form(StrBuf *out, size_t i, size_t columns)
{
    const CoverForm *f = &cover_forms[i], *first = first_like(i);
    strbuf_printf(out, "  %s (%s)\n", f->name, f->files);
    add_wrapped(out, "by", f->about, 4, columns);
    add_wrapped(out, "joined", f->joined, 4, columns);
    if (f->versions && f != first) {
        add_wrapped(out, "versions as of", first->name, 4, columns);
    } else if (f->versions) {
        add_versions(out, f->versions);
        add_refusals(out, f->versions, columns);
    }
    if (f->written)
        add_wrapped(out, "written by assay cover", f->written, 4, columns);
}

static void add_text(StrBuf *out, size_t columns)
{
    strbuf_add(out, STR("Read, told apart by content:\n"));
    for (size_t i = 0; i < cover_form_count; i++)
        add_form(out, i, columns);
    strbuf_add(out, STR("\nVariants of profiles:\n"));
    for (size_t i = 0; i < prof_variant_count; i++)
        add_wrapped(out, "", prof_variants[i].name, 2, columns);
    strbuf_add(out, STR("\nKnown and refused:\n"));
    for (size_t i = 0; i < tracefile_foreign_count; i++) {
        strbuf_printf(out, "  %s\n", tracefile_foreign[i].name);
        add_wrapped(out, "", tracefile_foreign[i].hint, 4, columns);
    }
    strbuf_add(out, STR("\nWritten by assay cover export --format:\n"));
    for (size_t i = 0; i < cover_format_count; i++) {
        size_t from = out->len;
        strbuf_printf(out, "  %s", cover_format_names[i].name);
        pad_to(out, from, 16);
        strbuf_printf(out, " %s\n", cover_format_names[i].holds);
    }
}

// ---- JSON ----------------------------------------------------------------------

static void json_text(JsonWriter *w, const char *key, const char *value)
{
    if (value)
        json_str(w, key, str_from_c(value));
    else
        json_null(w, key);
}

static void add_json_versions(JsonWriter *w, const FormatVersions *v)
{
    char number[64];
    json_begin_array(w, "versions");
    for (size_t i = 0; v && i < v->count; i++) {
        format_versions_print(v, v->at[i].first, v->at[i].last, number, sizeof(number));
        json_begin_object(w, NULL);
        json_text(w, "version", number);
        json_u64(w, "first", v->at[i].first);
        json_u64(w, "last", v->at[i].last);
        json_text(w, "writer", v->at[i].writer);
        json_text(w, "added", v->at[i].added);
        json_bool(w, "written", v->at[i].is_written);
        json_end(w);
    }
    json_end(w);
    json_text(w, "older", v ? v->older : NULL);
    json_text(w, "newer", v ? v->newer : NULL);
}

static void add_json_form(JsonWriter *w, const CoverForm *f)
{
    json_begin_object(w, NULL);
    json_text(w, "name", f->name);
    json_text(w, "files", f->files);
    json_text(w, "about", f->about);
    json_text(w, "joined", f->joined);
    json_text(w, "written", f->written);
    add_json_versions(w, f->versions);
    json_end(w);
}

static void add_json_pair(JsonWriter *w, const char *name, const char *key, const char *value)
{
    json_begin_object(w, NULL);
    json_text(w, "name", name);
    json_text(w, key, value);
    json_end(w);
}

static void add_json(StrBuf *out)
{
    JsonWriter w = json_writer(out, 1);
    json_begin_object(&w, NULL);
    json_str(&w, "schema", STR("assay-cover-formats-1"));
    json_begin_array(&w, "read");
    for (size_t i = 0; i < cover_form_count; i++)
        add_json_form(&w, &cover_forms[i]);
    json_end(&w);
    json_begin_array(&w, "variants");
    for (size_t i = 0; i < prof_variant_count; i++)
        json_text(&w, NULL, prof_variants[i].name);
    json_end(&w);
    json_begin_array(&w, "refused");
    for (size_t i = 0; i < tracefile_foreign_count; i++)
        add_json_pair(&w, tracefile_foreign[i].name, "hint", tracefile_foreign[i].hint);
    json_end(&w);
    json_begin_array(&w, "written");
    for (size_t i = 0; i < cover_format_count; i++)
        add_json_pair(&w, cover_format_names[i].name, "holds", cover_format_names[i].holds);
    json_end(&w);
    json_end(&w);
    strbuf_add_char(out, '\n');
}

static int print_formats(CommandLine *line, void *values)
{
    const CoverFormatsOptions *o = values;
    if (line->operands.len)
        return usage_error(line->cmd, "nothing more is needed");
    Terminal t = terminal_get(STR("never"));
    StrBuf out = {0};
    if (o->json)
        add_json(&out);
    else
        add_text(&out, t.is_tty ? t.columns : 100);
    bool ok = cli_print(strbuf_str(&out));
    strbuf_deinit(&out);
    return ok ? STATUS_OK : STATUS_FAILED;
}

static int run(const Command *cmd, int argc, char **argv)
{
    CoverFormatsOptions o = {0};
    return command_run_parsed(cmd, argc, argv, &o, print_formats);
}

const Command cover_formats_command = {
    .name = "formats",
    .summary = "the kinds of files that are read and written, and their versions",
    .usage = "[OPTION ...]",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .run = run,
};
