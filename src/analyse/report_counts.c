// SPDX-License-Identifier: Apache-2.0
// Joins a report with counts.

#include "analyse/report_counts.h"

static bool is_by_function(const Report *r)
{
    return r->request.group == GROUP_NONE && r->request.by == BY_FUNCTION;
}

void report_counts_init(ReportCounts *ret, Arena *arena, const Report *r,
                        const Profile *const *profiles, size_t count)
{
    const ProfRequest request = {0};
    *ret = (ReportCounts){0};
    executions_init(&ret->executions, profiles, count);
    if (!is_by_function(r))
        return;
    ProfRowVec rows = prof_rows(arena, r, profiles, count, &request, &ret->join);
    for (size_t i = 0; i < rows.len; i++) {
        uint32_t key = rows.at[i].key;
        if (key == PROF_NO_KEY || !rows.at[i].has_calls)
            continue;
        if (key >= ret->calls.len)
            vec_extend(NULL, &ret->calls, key + 1 - ret->calls.len);
        ret->calls.at[key] = MIN(rows.at[i].calls, UINT64_MAX - 1) + 1;
    }
    vec_free(&rows);
}

void report_counts_deinit(ReportCounts *c)
{
    executions_deinit(&c->executions);
    vec_free(&c->calls);
}

static bool executions_at(const ReportCounts *c, const Report *r, StrId file, uint32_t line,
                          uint64_t *ret)
{
    uint32_t found = executions_file(&c->executions, profile_text(r->profile, file));
    return executions_of(&c->executions, found, line, ret);
}

bool report_counts_of_row(const ReportCounts *c, const Report *r, const FlatRow *row, uint64_t *ret)
{
    StrId file;
    uint32_t line;
    if (!c || r->request.group != GROUP_NONE)
        return false;
    if (r->request.by == BY_LINE)
        return report_row_place(r, row, &file, &line) && executions_at(c, r, file, line, ret);
    if (!is_by_function(r) || row->key >= c->calls.len || c->calls.at[row->key] == 0)
        return false;
    *ret = c->calls.at[row->key] - 1;
    return true;
}

bool report_counts_of_line(const ReportCounts *c, const Report *r, const LineRow *row,
                           uint64_t *ret)
{
    return c && row->file.v && executions_at(c, r, row->file, row->line, ret);
}
