// SPDX-License-Identifier: Apache-2.0
// From options to writers of files.

#include "cli/bench/bench_files.h"

#include "cli/bench/bench_session.h"
#include "cli/cli.h"
#include "export/run_services.h"

typedef void (*AddFile)(StrBuf *out, const RunFamilies *families, const RunFiles *form);

static void add_github(StrBuf *out, const RunFamilies *families, const RunFiles *form)
{
    (void)form;
    ServiceRowVec rows = service_rows(families);
    service_rows_github(out, &rows);
}

static void add_bencher(StrBuf *out, const RunFamilies *families, const RunFiles *form)
{
    (void)form;
    ServiceRowVec rows = service_rows(families);
    service_rows_bencher(out, &rows);
}

static bool write_one(Str path, StrBuf *text)
{
    Error err;
    bool ok = bench_write_text(path, strbuf_str(text), &err) || (cli_fail(&err), false);
    strbuf_clear(text);
    return ok;
}

static bool write_page(Str path, const BenchFiles *f, StrBuf *text)
{
    Error err;
    if (f->add_html(text, f->ctx, &err))
        return write_one(path, text);
    cli_fail(&err);
    return false;
}

bool bench_write_files(const BenchArgs *args, const RunStyle *style, const BenchFiles *f)
{
    const RunFiles form = {.tool_version = STR(ASSAY_VERSION),
                           .sort = style->sort,
                           .unit = style->unit,
                           .functions = f->functions,
                           .junit_limit =
                               args->fail_if_slower >= 0 ? args->fail_if_slower / 100 : 0.05,
                           .add_json = f->add_members,
                           .ctx = f->ctx};
    const struct {
        Str path;
        AddFile add;
    } tables[] = {{args->csv, run_files_csv},           {args->markdown, run_files_markdown},
                  {args->asciidoc, run_files_asciidoc}, {args->orgmode, run_files_orgmode},
                  {args->junit, run_files_junit},       {args->github, add_github},
                  {args->bencher, add_bencher}};
    StrBuf text = {0};
    bool ok = true;
    if (args->json.len) {
        f->add_json(&text, f->ctx, &form);
        ok = write_one(args->json, &text) && ok;
    }
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (tables[i].path.len) {
            tables[i].add(&text, &f->families, &form);
            ok = write_one(tables[i].path, &text) && ok;
        }
    if (args->svg.len) {
        f->add_svg(&text, f->ctx);
        ok = write_one(args->svg, &text) && ok;
    }
    if (args->html.len)
        ok = write_page(args->html, f, &text) && ok;
    strbuf_deinit(&text);
    return ok;
}
