// SPDX-License-Identifier: Apache-2.0
// Coverage as Coveralls takes it: for each file an array with an element for each
// line, null where nothing counts, and the MD5 of the source.
// Document: docs.coveralls.io, "API Reference".

#include "base/md5.h"
#include "export/cover/formats_internal.h"

static void coveralls_begin(CoverWriter *w)
{
    cover_json_begin(w, NULL, NULL, "source_files", false);
}

// {line, block, branch, count} one behind the other.
static void add_branches(CoverWriter *w, const CoverFileRows *f)
{
    json_begin_array(&w->json, "branches");
    for (uint32_t i = f->branches.first; i < f->branches.end; i++)
        cover_json_branch(w, w->c->branches.at[i]);
    json_end(&w->json);
}

static uint32_t count_lines(Str text)
{
    uint32_t lines = 0;
    Str line;
    while (str_next_line(&text, &line))
        lines++;
    return lines;
}

static void add_digest(CoverWriter *w, Str text)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[16];
    char hex[32];
    md5_digest(bytes_from_str(text), digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    json_str(&w->json, "source_digest", str_over(hex, sizeof(hex)));
}

static void coveralls_file(CoverWriter *w, const CoverFileRows *f)
{
    // A count far behind the end of a file of any size must not become that many nulls.
    enum { LINES_MAX = 1 << 24 };
    Str path = profile_text(w->p, f->file), text = {0};
    uint32_t number = 0, source_lines = 0;
    json_begin_object(&w->json, NULL);
    json_str(&w->json, "name", cover_project_path(w, f));
    if (w->source && w->source(w->source_ctx, path, &text)) {
        source_lines = count_lines(text);
        add_digest(w, text);
    }
    json_begin_array(&w->json, "coverage");
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    while (cover_line_next(&walk, &l) && l.line < LINES_MAX) {
        if (l.line == 0)
            continue;
        while (++number < l.line)
            json_null(&w->json, NULL);
        json_u64(&w->json, NULL, l.count);
    }
    while (number++ < source_lines)
        json_null(&w->json, NULL);
    json_end(&w->json);
    if (f->branches.first < f->branches.end)
        add_branches(w, f);
    json_end(&w->json);
}

const CoverFormat cover_coveralls_format = {coveralls_begin, coveralls_file, cover_json_end};
