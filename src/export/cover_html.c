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
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.4 system-ui,sans-serif;margin:1em}\n"
    "input{font:inherit;width:min(40em,90%);padding:.3em}\n"
    "details{margin:.2em 0}summary{cursor:pointer}\n"
    "summary b{display:inline-block;width:5em;text-align:right;margin-right:1em}\n"
    "pre{margin:.3em 0 1em;overflow-x:auto;font:12px/1.35 ui-monospace,monospace}\n"
    "s{text-decoration:none;display:inline-block;width:5em;text-align:right;opacity:.6}\n"
    "i{font-style:normal;display:inline-block;width:8em;text-align:right;margin:0 1em 0 .5em}\n"
    ".u{background:#e3342f3d}.p{background:#f6993f3d}.m{outline:1px solid}\n"
    "</style></head><body>\n<h1>Coverage</h1>\n";

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
    strbuf_add(w->out, STR("<noscript><p>Sources are shown by the page's script.</p></noscript>\n"
                           "<p><input type=\"search\" placeholder=\"path or text\" "
                           "aria-label=\"search\"> <output></output></p>\n"));
}

// The counts in one line: "DELTA:COUNT", with '!' for ':' where branches were not taken.
static void add_counts(CoverWriter *w, const CoverFileRows *f, StrBuf *out)
{
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    for (uint32_t last = 0; cover_line_next(&walk, &l); last = l.line) {
        strbuf_add_u64(out, l.line - last);
        strbuf_add_char(out, l.count && l.branches_hit < l.branches ? '!' : ':');
        strbuf_add_u64(out, l.count);
        strbuf_add_char(out, ' ');
    }
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
static void add_packed(StrBuf *out, Str plain)
{
    enum { LEVEL = 4 };
    StrBuf packed = {0};
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
    if (!c)
        return; // no memory: the file's row stands without its source
    size_t bound = libdeflate_zlib_compress_bound(c, plain.len);
    packed.len =
        libdeflate_zlib_compress(c, plain.ptr, plain.len, strbuf_reserve(&packed, bound), bound);
    libdeflate_free_compressor(c);
    add_base64(out, strbuf_str(&packed));
    strbuf_deinit(&packed);
}

static void html_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_file_totals(w->p, w->c, f);
    Str path = profile_text(w->p, f->file), text = {0};
    StrBuf plain = {0};
    add_counts(w, f, &plain);
    if (w->source && w->source(w->source_ctx, path, &text))
        strbuf_add(&plain, text);
    strbuf_add(w->out, STR("<details data-z=\""));
    add_packed(w->out, strbuf_str(&plain));
    strbuf_printf(w->out, "\"><summary><b>%.2f%%</b><code>",
                  t.lines ? 100.0 * (double)t.lines_hit / (double)t.lines : 100.0);
    strbuf_add_xml(w->out, path);
    strbuf_printf(w->out, "</code> (%llu of %llu lines)</summary><pre></pre></details>\n",
                  (unsigned long long)t.lines_hit, (unsigned long long)t.lines);
    strbuf_deinit(&plain);
}

static void html_end(CoverWriter *w)
{
    strbuf_add(w->out, STR("<script>\n"));
    strbuf_add(w->out, str_over(cover_html_script, cover_html_script_len));
    strbuf_add(w->out, STR("</script>\n</body></html>\n"));
}

const CoverFormat cover_html_format = {"html", html_begin, html_file, html_end};
