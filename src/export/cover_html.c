// SPDX-License-Identifier: Apache-2.0
// Coverage as one HTML page that needs nothing else: a row for each file, whose
// counts and source are packed and unpacked by the page when they are looked at.
// Nothing that comes from outside stands in the page but escaped or packed.

#include "export/cover_formats_internal.h"

#include <libdeflate.h>

extern const char cover_html_script[];
extern const size_t cover_html_script_len;

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"><title>Coverage</title>\n<style>\n"
    ":root{color-scheme:light dark;--bad:#d3302f;--part:#e0901a;--good:#2f9e44}\n"
    "body{font:14px/1.45 system-ui,sans-serif;margin:1em}\n"
    "h1{font-size:1.4em;margin:0 0 .5em}\n"
    "input[type=search]{font:inherit;width:min(30em,60%);padding:.3em}\n"
    "small,kbd{opacity:.7}kbd{border:1px solid;border-radius:3px;padding:0 .3em}\n"
    ".r,#files summary{display:grid;grid-template-columns:minmax(10em,1fr) repeat(3,11em);"
    "gap:0 1em;align-items:center;padding:.15em .4em}\n"
    ".r{position:sticky;top:0;background:Canvas;border-bottom:1px solid #8888;z-index:1}\n"
    ".r button{font:inherit;text-align:left;border:0;background:none;color:inherit;"
    "cursor:pointer;padding:.3em 0}\n"
    ".t{font-weight:bold}\n"
    "#files summary{cursor:pointer;border-bottom:1px solid #8883}\n"
    "#files summary:hover{background:#8882}\n"
    "#files>details[open]>summary{position:sticky;top:3.7em;background:Canvas;z-index:1}\n"
    "#files summary code{overflow-wrap:anywhere}\n"
    ".b{font-variant-numeric:tabular-nums;white-space:nowrap;background:linear-gradient(var(--c) 0 "
    "0) 0 100%/var(--v) 3px no-repeat,linear-gradient(#8883 0 0) 0 100%/100% 3px no-repeat;"
    "padding-bottom:3px}\n"
    ".lo{--c:var(--bad)}.mid{--c:var(--part)}.hi{--c:var(--good)}\n"
    "pre{margin:.3em 0 1em;overflow-x:auto;font:12px/1.4 ui-monospace,monospace;tab-size:8}\n"
    "pre div{content-visibility:auto;contain-intrinsic-size:auto 280em;width:max-content;"
    "min-width:100%}\n"
    "pre span{display:block;white-space:pre;scroll-margin:6em}\n"
    "pre a,pre i,pre u{display:inline-block;text-align:right;font-style:normal;"
    "text-decoration:none}\n"
    "pre a{width:4.5em;color:inherit;opacity:.6}pre a:hover{opacity:1;text-decoration:underline}\n"
    "pre i{width:7.5em}pre u{width:4em;margin-right:1em;opacity:.8}\n"
    "pre q{quotes:none;display:inline-block}\n"
    ".f{margin:.3em 0}.f pre{max-height:20em}.f pre q{margin-left:1em}\n"
    ".u{background:#d3302f33}.p{background:#e0901a33}.h i{color:var(--good)}.u "
    "i{color:var(--bad)}\n"
    ".m{outline:1px solid}.at{box-shadow:inset 0 0 0 2px Highlight}\n"
    "</style></head><body>\n<h1>Coverage</h1>\n";

// "97.51% 46/59" above a bar. Cut, so that only what is whole shows 100 %.
static void add_share(StrBuf *out, uint64_t hit, uint64_t all)
{
    double percent = all ? 100.0 * (double)hit / (double)all : 100.0;
    uint64_t hundredths = (uint64_t)(percent * 100);
    if (all == 0) {
        strbuf_add(out, STR("<span>-</span>"));
        return;
    }
    strbuf_printf(out,
                  "<span class=\"b %s\" style=\"--v:%llu.%02llu%%\">%llu.%02llu%% <small>%llu/%llu"
                  "</small></span>",
                  percent < 75   ? "lo"
                  : percent < 90 ? "mid"
                                 : "hi",
                  (unsigned long long)hundredths / 100, (unsigned long long)hundredths % 100,
                  (unsigned long long)hundredths / 100, (unsigned long long)hundredths % 100,
                  (unsigned long long)hit, (unsigned long long)all);
}

static void add_shares(StrBuf *out, const CoverTotals *t)
{
    add_share(out, t->lines_hit, t->lines);
    add_share(out, t->functions_hit, t->functions);
    add_share(out, t->branches_hit, t->branches);
}

static void html_begin(CoverWriter *w)
{
    CoverTotals sum = {0};
    for (size_t i = 0; i < w->c->files.len; i++) {
        CoverTotals t = cover_writer_totals(w, &w->c->files.at[i]);
        sum.lines += t.lines;
        sum.lines_hit += t.lines_hit;
        sum.functions += t.functions;
        sum.functions_hit += t.functions_hit;
        sum.branches += t.branches;
        sum.branches_hit += t.branches_hit;
    }
    strbuf_add(w->out, str_from_c(head));
    strbuf_add(
        w->out,
        STR("<noscript><p>Sources are shown by the page's script.</p></noscript>\n"
            "<p><input id=\"search\" type=\"search\" placeholder=\"path or text\" "
            "aria-label=\"search\"> <output></output> <label><input id=\"bad\" type=\"checkbox\"> "
            "only files with lines that did not run</label><br><small><kbd>/</kbd> search, "
            "<kbd>n</kbd> <kbd>p</kbd> next and previous line that did not run (or not all of its "
            "branches), or that the search found, in the files that are open</small></p>\n"
            "<div class=\"r\"><button data-k=\"path\">File</button><button data-k=\"l\">Lines"
            "</button><button data-k=\"f\">Functions</button><button data-k=\"b\">Branches"
            "</button><span class=\"t\">Total</span>"));
    add_shares(w->out, &sum);
    strbuf_add(w->out, STR("</div>\n<div id=\"files\">\n"));
}

// The counts in one line: "DELTA:COUNT", with branches "DELTA:COUNT/TAKEN/BRANCHES".
static void add_counts(CoverWriter *w, const CoverFileRows *f, StrBuf *out)
{
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    for (uint32_t last = 0; cover_line_next(&walk, &l); last = l.line) {
        strbuf_add_u64(out, l.line - last);
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, l.count);
        if (l.branches) {
            strbuf_add_char(out, '/');
            strbuf_add_u64(out, l.branches_hit);
            strbuf_add_char(out, '/');
            strbuf_add_u64(out, l.branches);
        }
        strbuf_add_char(out, ' ');
    }
    strbuf_add_char(out, '\n');
}

// [[line, count, name], …] in one line
static void add_functions(CoverWriter *w, const CoverFileRows *f, StrBuf *out)
{
    const Profile *p = w->p;
    JsonWriter json = json_writer(out, 0);
    json_begin_array(&json, NULL);
    for (uint32_t i = f->functions.first; i < f->functions.end; i++) {
        uint32_t row = w->c->functions.at[i];
        FunctionId id = p->function_counts.function.at[row];
        json_begin_array(&json, NULL);
        json_u64(&json, NULL, p->functions.line.at[id.v]);
        json_u64(&json, NULL, p->function_counts.count.at[row]);
        json_str(&json, NULL, profile_text(p, p->functions.name.at[id.v]));
        json_end(&json);
    }
    json_end(&json);
    strbuf_add_char(out, '\n');
}

static void add_base64(StrBuf *out, Str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *to = strbuf_reserve(out, (bytes.len + 2) / 3 * 4);
    const uint8_t *from = (const uint8_t *)bytes.ptr;
    size_t i = 0;
    for (; i + 3 <= bytes.len; i += 3) {
        uint32_t v = (uint32_t)from[i] << 16 | (uint32_t)from[i + 1] << 8 | from[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = digits[v >> 6 & 63];
        *to++ = digits[v & 63];
    }
    if (i < bytes.len) {
        bool two = bytes.len - i == 2;
        uint32_t v = (uint32_t)from[i] << 16 | (two ? (uint32_t)from[i + 1] << 8 : 0);
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = two ? digits[v >> 6 & 63] : '=';
        *to++ = '=';
    }
    out->len += (bytes.len + 2) / 3 * 4;
}

// zlib's form, which browsers unpack by themselves.
static void add_packed(CoverWriter *w, Str plain)
{
    enum { LEVEL = 1 }; // 4 makes the page 8 % smaller and takes an eighth more time
    StrBuf packed = {0};
    if (!w->packer)
        w->packer = libdeflate_alloc_compressor(LEVEL);
    struct libdeflate_compressor *c = w->packer;
    if (!c)
        return; // no memory: the file's row stands without its source
    size_t bound = libdeflate_zlib_compress_bound(c, plain.len);
    packed.len =
        libdeflate_zlib_compress(c, plain.ptr, plain.len, strbuf_reserve(&packed, bound), bound);
    add_base64(w->out, strbuf_str(&packed));
    strbuf_deinit(&packed);
}

// A percentage to sort by; what has nothing to count sorts behind.
static double sort_key(uint64_t hit, uint64_t all)
{
    return all ? 100.0 * (double)hit / (double)all : 101.0;
}

static void html_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_writer_totals(w, f);
    Str path = profile_text(w->p, f->file), text = {0};
    StrBuf plain = {0};
    add_counts(w, f, &plain);
    add_functions(w, f, &plain);
    if (w->source && w->source(w->source_ctx, path, &text))
        strbuf_add(&plain, text);
    strbuf_printf(w->out, "<details data-l=\"%g\" data-f=\"%g\" data-b=\"%g\" data-z=\"",
                  t.lines_hit == t.lines ? 100.0 : sort_key(t.lines_hit, t.lines),
                  sort_key(t.functions_hit, t.functions), sort_key(t.branches_hit, t.branches));
    add_packed(w, strbuf_str(&plain));
    strbuf_add(w->out, STR("\"><summary><code>"));
    strbuf_add_xml(w->out, path);
    strbuf_add(w->out, STR("</code>"));
    add_shares(w->out, &t);
    strbuf_add(w->out, STR("</summary><div></div></details>\n"));
    strbuf_deinit(&plain);
}

static void html_end(CoverWriter *w)
{
    strbuf_add(w->out, STR("</div>\n<script>\n"));
    strbuf_add(w->out, str_over(cover_html_script, cover_html_script_len));
    strbuf_add(w->out, STR("</script>\n</body></html>\n"));
    if (w->packer)
        libdeflate_free_compressor(w->packer);
    w->packer = NULL;
}

const CoverFormat cover_html_format = {"html", html_begin, html_file, html_end};
