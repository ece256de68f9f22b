// SPDX-License-Identifier: Apache-2.0
// Functions grouped by their start.

#include "model/instances.h"

#include "base/table.h"

static uint64_t start_of(const Profile *p, uint32_t row)
{
    const FunctionCounts *f = &p->function_counts;
    return (uint64_t)p->functions.line.at[f->function.at[row].v] << 32 | f->column.at[row];
}

static uint32_t file_of(const Profile *p, uint32_t row)
{
    return p->functions.file.at[p->function_counts.function.at[row].v].v;
}

static Str name_of(const Profile *p, uint32_t row)
{
    return profile_text(p, p->functions.linkage_name.at[p->function_counts.function.at[row].v]);
}

void profile_function_instances(const Profile *p, U32Vec *ret)
{
    const U32Vec *columns = &p->function_counts.column;
    U32Vec least = {0}; // by first row of a group
    Table starts = {0};
    vec_reserve(NULL, ret, columns->len);
    vec_extend(NULL, &least, columns->len);
    for (uint32_t i = 0; i < columns->len; i++) {
        uint32_t first = i, row;
        uint64_t hash = hash_pair(file_of(p, i), start_of(p, i));
        least.at[i] = i;
        if (columns->at[i]) {
            for (TableProbe probe = table_probe(&starts, hash);
                 first == i && table_next(&starts, &probe, &row);)
                if (start_of(p, row) == start_of(p, i) && file_of(p, row) == file_of(p, i))
                    first = row;
            if (first == i)
                table_insert(&starts, hash, i);
            else if (str_compare(name_of(p, i), name_of(p, least.at[first])) < 0)
                least.at[first] = i;
        }
        vec_push(NULL, ret, first);
    }
    for (uint32_t i = 0; i < columns->len; i++)
        ret->at[i] = least.at[ret->at[i]];
    vec_free(&least);
    table_deinit(&starts);
}
