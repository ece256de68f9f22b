// SPDX-License-Identifier: Apache-2.0
// Coverage as a Markdown table with the lines that did not run.

#include "export/cover/formats_internal.h"

static void markdown_begin(CoverWriter *w)
{
    bool conditions = cover_has_conditions(w);
    strbuf_add(w->out, STR("| file | lines | functions | branches |"));
    strbuf_add(w->out, conditions ? STR(" MC/DC |") : STR(""));
    strbuf_add(w->out, STR(" lines that did not run |\n| --- | ---: | ---: | ---: |"));
    strbuf_add(w->out, conditions ? STR(" ---: | --- |\n") : STR(" --- |\n"));
}

static void add_share(StrBuf *out, CoverTally t)
{
    if (t.count == 0) {
        strbuf_add(out, STR(" - |"));
        return;
    }
    strbuf_printf(out, " %.2f%% (%llu/%llu) |", cover_shown_percent(t),
                  (unsigned long long)t.covered, (unsigned long long)t.count);
}

// "12-14, 20": lines without code do not break a run.
static void add_missing(CoverWriter *w, const CoverFileRows *f)
{
    CoverLineWalk walk = cover_line_walk(w, f);
    CoverLine l;
    uint32_t first = 0, last = 0;
    bool any = false, more = true;
    while (more) {
        more = cover_line_next(&walk, &l);
        if (more && l.count == 0) {
            first = first ? first : l.line;
            last = l.line;
            continue;
        }
        if (first) {
            strbuf_add(w->out, any ? STR(", ") : STR(" "));
            strbuf_add_u64(w->out, first);
            if (last != first)
                strbuf_printf(w->out, "-%u", last);
            any = true;
        }
        first = 0;
    }
    strbuf_add(w->out, STR(" |\n"));
}

static void markdown_file(CoverWriter *w, const CoverFileRows *f)
{
    CoverTotals t = cover_writer_totals(w, f);
    strbuf_add(w->out, STR("| "));
    strbuf_add_markdown(w->out, profile_text(w->p, f->file));
    strbuf_add(w->out, STR(" |"));
    add_share(w->out, t.of[COVER_LINES]);
    add_share(w->out, t.of[COVER_FUNCTIONS]);
    add_share(w->out, t.of[COVER_BRANCHES]);
    if (cover_has_conditions(w))
        add_share(w->out, t.of[COVER_CONDITIONS]);
    add_missing(w, f);
}

static void markdown_end(CoverWriter *w)
{
    (void)w;
}

const CoverFormat cover_markdown_format = {markdown_begin, markdown_file, markdown_end};
