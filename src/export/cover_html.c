// SPDX-License-Identifier: Apache-2.0
// Coverage as one HTML page that needs nothing else: every file with its counts,
// a box that searches paths and text.

#include "export/cover_formats_internal.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><title>Coverage</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.4 system-ui,sans-serif;margin:1em}\n"
    "input{font:inherit;width:min(40em,90%);padding:.3em}\n"
    "details{margin:.2em 0}summary{cursor:pointer}\n"
    "summary b{display:inline-block;width:5em;text-align:right;margin-right:1em}\n"
    "pre{margin:.3em 0 1em;overflow-x:auto;font:12px/1.35 ui-monospace,monospace}\n"
    "s{text-decoration:none;display:inline-block;width:5em;text-align:right;opacity:.6}\n"
    "i{font-style:normal;display:inline-block;width:8em;text-align:right;margin:0 1em 0 .5em}\n"
    ".u{background:#e3342f3d}.p{background:#f6993f3d}.h i{opacity:.9}\n"
    "mark{padding:0}\n</style></head><body>\n<h1>Coverage</h1>\n";

static const char script[] =
    "<script>\n"
    "const box=document.querySelector('input'),out=document.querySelector('output');\n"
    "const files=[...document.querySelectorAll('details')];\n"
    "function search(){const q=box.value.toLowerCase();let n=0;\n"
    "for(const f of files){const path=f.firstElementChild.textContent.toLowerCase();\n"
    "const hit=!q||path.includes(q)||f.textContent.toLowerCase().includes(q);\n"
    "f.hidden=!hit;n+=hit;\n"
    "for(const l of f.querySelectorAll('span'))\n"
    "l.style.outline=q&&l.textContent.toLowerCase().includes(q)?'1px solid':'';}\n"
    "out.textContent=q?n+' of '+files.length+' files':files.length+' files';}\n"
    "box.addEventListener('input',search);search();\n"
    "</script>\n</body></html>\n";

static void html_begin(CoverWriter *w)
{
    uint64_t lines = 0, hit = 0;
    for (size_t i = 0; i < w->c->files.len; i++) {
        CoverTotals t = cover_file_totals(w->p, w->c, &w->c->files.at[i]);
        lines += t.lines;
        hit += t.lines_hit;
    }
    strbuf_add(w->out, str_from_c(head));
    strbuf_printf(w->out, "<p>%llu of %llu lines ran, %.2f%%.</p>\n", (unsigned long long)hit,
                  (unsigned long long)lines, lines ? 100.0 * (double)hit / (double)lines : 100.0);
    strbuf_add(w->out, STR("<p><input type=\"search\" placeholder=\"path or text\" "
                           "aria-label=\"search\"> <output></output></p>\n"));
}

static void add_line(CoverWriter *w, uint32_t number, const CoverLine *l, Str text)
{
    const char *kind = !l ? "" : l->count == 0 ? "u" : l->branches_hit < l->branches ? "p" : "h";
    if (l)
        strbuf_printf(w->out, "<span class=%s><s>%u</s><i>%llu</i>", kind, number,
                      (unsigned long long)l->count);
    else
        strbuf_printf(w->out, "<span><s>%u</s><i></i>", number);
    strbuf_add_xml(w->out, text);
    strbuf_add(w->out, STR("</span>\n"));
}

static void html_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_file_totals(w->p, w->c, f);
    Str path = profile_text(w->p, f->file), text = {0}, line = {0};
    strbuf_printf(w->out, "<details><summary><b>%.2f%%</b>",
                  t.lines ? 100.0 * (double)t.lines_hit / (double)t.lines : 100.0);
    strbuf_add_xml(w->out, path);
    strbuf_printf(w->out, " (%llu of %llu lines)</summary><pre>", (unsigned long long)t.lines_hit,
                  (unsigned long long)t.lines);
    bool has_text = w->source && w->source(w->source_ctx, path, &text);
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    bool more = cover_line_next(&walk, &l);
    uint32_t number = 0;
    while (has_text && str_next_line(&text, &line)) {
        number++;
        while (more && l.line < number)
            more = cover_line_next(&walk, &l);
        add_line(w, number, more && l.line == number ? &l : NULL, line);
    }
    // Without the source, or behind its end, the counts alone.
    while (more) {
        if (l.line > number)
            add_line(w, l.line, &l, STR(""));
        more = cover_line_next(&walk, &l);
    }
    strbuf_add(w->out, STR("</pre></details>\n"));
}

static void html_end(CoverWriter *w)
{
    strbuf_add(w->out, str_from_c(script));
}

const CoverFormat cover_html_format = {"html", html_begin, html_file, html_end};
