// SPDX-License-Identifier: Apache-2.0
// Coverage -> lcov tracefile.

#include "export/cover/lcov.h"

#include "analyse/cover/totals.h"

// A name or path in a line-based file: line ends in it would make it two lines.
static void add_line_text(StrBuf *out, Str s)
{
    for (size_t at = 0; at < s.len;) {
        Str rest = str_slice(s, at, s.len);
        size_t next = str_find_char(rest, '\n');
        strbuf_add(out, str_slice(rest, 0, next));
        if (next == SIZE_MAX)
            return;
        strbuf_add(out, STR("\\n"));
        at += next + 1;
    }
}

static void add_total(StrBuf *out, const char *key, uint64_t n)
{
    strbuf_add(out, str_from_c(key));
    strbuf_add_char(out, ':');
    strbuf_add_u64(out, n);
    strbuf_add_char(out, '\n');
}

static void add_functions(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                          StrBuf *out)
{
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        FunctionId id = p->function_counts.function.at[c->places.at[i]];
        strbuf_add(out, STR("FN:"));
        strbuf_add_u64(out, p->functions.line.at[id.v]);
        strbuf_add_char(out, ',');
        add_line_text(out, profile_text(p, p->functions.linkage_name.at[id.v]));
        strbuf_add_char(out, '\n');
    }
    for (uint32_t i = f->places.first; i < f->places.end; i++) {
        uint32_t row = c->places.at[i];
        FunctionId id = p->function_counts.function.at[row];
        strbuf_add(out, STR("FNDA:"));
        strbuf_add_u64(out, c->entries.at[i]);
        strbuf_add_char(out, ',');
        add_line_text(out, profile_text(p, p->functions.linkage_name.at[id.v]));
        strbuf_add_char(out, '\n');
    }
}

// Rows of numbers are most of a tracefile: a file's worth of room is taken once.
enum { LINE_ROW_MAX = 40, BRANCH_ROW_MAX = 64 };

static char *put_text(char *to, Str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

static void add_lines(const Profile *p, const CoverFiles *c, const CoverFileRows *f, StrBuf *out)
{
    char *start = strbuf_reserve(out, (size_t)(f->lines.end - f->lines.first) * LINE_ROW_MAX);
    char *to = start;
    for (uint32_t i = f->lines.first; i < f->lines.end; i++) {
        uint32_t row = c->lines.at[i];
        to = put_text(to, STR("DA:"));
        to = str_put_u64(to, p->line_counts.line.at[row]);
        *to++ = ',';
        to = str_put_u64(to, p->line_counts.count.at[row]);
        *to++ = '\n';
    }
    out->len += (size_t)(to - start);
}

static char *put_branch(char *to, const BranchCounts *b, uint32_t row, bool reached)
{
    to = put_text(to, STR("BRDA:"));
    to = str_put_u64(to, b->line.at[row]);
    *to++ = ',';
    to = str_put_u64(to, b->block.at[row]);
    *to++ = ',';
    to = str_put_u64(to, b->branch.at[row]);
    *to++ = ',';
    // '-': the decision was never reached, which is not the same as never taken.
    if (reached)
        to = str_put_u64(to, b->count.at[row]);
    else
        *to++ = '-';
    *to++ = '\n';
    return to;
}

static void add_branches(const Profile *p, const CoverFiles *c, const CoverFileRows *f, StrBuf *out)
{
    const BranchCounts *b = &p->branch_counts;
    char *start =
        strbuf_reserve(out, (size_t)(f->branches.end - f->branches.first) * BRANCH_ROW_MAX);
    char *to = start;
    for (uint32_t i = f->branches.first, end; i < f->branches.end; i = end) {
        uint32_t first = c->branches.at[i];
        bool reached = false;
        for (end = i; end < f->branches.end; end++) {
            uint32_t row = c->branches.at[end];
            if (b->line.at[row] != b->line.at[first] || b->block.at[row] != b->block.at[first])
                break;
            reached |= b->count.at[row] > 0;
        }
        for (uint32_t k = i; k < end; k++)
            to = put_branch(to, b, c->branches.at[k], reached);
    }
    out->len += (size_t)(to - start);
}

// lcov 2's form: line, size of the group, sense, count, index, expression.
static void add_conditions(const Profile *p, const CoverFiles *c, const CoverFileRows *f,
                           StrBuf *out)
{
    const ConditionCounts *from = &p->condition_counts;
    for (uint32_t i = f->conditions.first; i < f->conditions.end; i++) {
        uint32_t row = c->conditions.at[i];
        strbuf_printf(out, "MCDC:%u,%u,%c,%llu,%u,", from->line.at[row], from->group.at[row],
                      from->sense.at[row] ? 't' : 'f', (unsigned long long)from->count.at[row],
                      from->index.at[row]);
        add_line_text(out, profile_text(p, from->expression.at[row]));
        strbuf_add_char(out, '\n');
    }
}

void cover_lcov_file(const Profile *p, const CoverFiles *c, const CoverFileRows *f, StrBuf *out)
{
    CoverTotals t = cover_row_totals(p, c, f);
    strbuf_add(out, STR("SF:"));
    add_line_text(out, profile_text(p, f->file));
    strbuf_add_char(out, '\n');
    add_functions(p, c, f, out);
    add_total(out, "FNF", t.of[COVER_FUNCTIONS].count);
    add_total(out, "FNH", t.of[COVER_FUNCTIONS].covered);
    add_lines(p, c, f, out);
    add_branches(p, c, f, out);
    add_total(out, "BRF", t.of[COVER_BRANCHES].count);
    add_total(out, "BRH", t.of[COVER_BRANCHES].covered);
    if (t.of[COVER_CONDITIONS].count) {
        add_conditions(p, c, f, out);
        add_total(out, "MCF", t.of[COVER_CONDITIONS].count);
        add_total(out, "MCH", t.of[COVER_CONDITIONS].covered);
    }
    add_total(out, "LF", t.of[COVER_LINES].count);
    add_total(out, "LH", t.of[COVER_LINES].covered);
    strbuf_add(out, STR("end_of_record\n"));
}
