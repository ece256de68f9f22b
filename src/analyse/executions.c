// SPDX-License-Identifier: Apache-2.0
// Line counts by file and line, found by the paths of another build.

#include "analyse/executions.h"

#include <stdlib.h>

// ---- Gathering -----------------------------------------------------------------

static uint32_t file_of(Executions *x, Str path)
{
    uint64_t hash = str_hash(path);
    uint32_t at;
    for (TableProbe t = table_probe(&x->by_path, hash); table_next(&x->by_path, &t, &at);)
        if (str_equal(x->files.at[at].path, path))
            return at;
    at = (uint32_t)x->files.len;
    vec_push(NULL, &x->files, ((ExecutedFile){.path = path}));
    table_insert(&x->by_path, hash, at);
    table_insert(&x->by_base_name, str_hash(str_base_name(path)), at);
    return at;
}

static void gather(Executions *x, const Profile *p)
{
    const LineCounts *c = &p->line_counts;
    uint32_t file = EXECUTIONS_NO_FILE;
    for (size_t i = 0; i < c->line.len; i++) {
        if (i == 0 || c->file.at[i].v != c->file.at[i - 1].v)
            file = file_of(x, profile_text(p, c->file.at[i]));
        vec_push(NULL, &x->files.at[file].lines, ((ExecutedLine){c->line.at[i], c->count.at[i]}));
    }
}

static int compare_lines(const void *a, const void *b)
{
    uint32_t x = ((const ExecutedLine *)a)->line, y = ((const ExecutedLine *)b)->line;
    return (x > y) - (x < y);
}

// Sorts the lines and adds up those that several recordings counted.
static void settle(ExecutedFile *f)
{
    size_t kept = 0;
    qsort(f->lines.at, f->lines.len, sizeof(f->lines.at[0]), compare_lines);
    for (size_t i = 1; i < f->lines.len; i++) {
        ExecutedLine *last = &f->lines.at[kept];
        ExecutedLine next = f->lines.at[i];
        if (last->line != next.line)
            f->lines.at[++kept] = next;
        else if (__builtin_add_overflow(last->count, next.count, &last->count))
            last->count = UINT64_MAX;
    }
    f->lines.len = kept + 1;
}

void executions_init(Executions *ret, const Profile *const *profiles, size_t count)
{
    *ret = (Executions){0};
    for (size_t i = 0; i < count; i++)
        gather(ret, profiles[i]);
    for (size_t i = 0; i < ret->files.len; i++)
        settle(&ret->files.at[i]); // a file has at least one line
}

void executions_deinit(Executions *x)
{
    for (size_t i = 0; i < x->files.len; i++)
        vec_free(&x->files.at[i].lines);
    vec_free(&x->files);
    table_deinit(&x->by_path);
    table_deinit(&x->by_base_name);
}

// ---- Finding -------------------------------------------------------------------

// The number of components that two paths have in common at their ends.
static size_t shared_components(Str a, Str b)
{
    size_t shared = 0;
    while (a.len && b.len && str_equal(str_base_name(a), str_base_name(b))) {
        shared++;
        a = str_dir_name(a);
        b = str_dir_name(b);
        if (str_equal(a, STR("/")) || str_equal(b, STR("/")))
            break;
    }
    return shared;
}

uint32_t executions_file(const Executions *x, Str path)
{
    uint32_t at, best = EXECUTIONS_NO_FILE;
    size_t most = 0;
    for (TableProbe t = table_probe(&x->by_path, str_hash(path)); table_next(&x->by_path, &t, &at);)
        if (str_equal(x->files.at[at].path, path))
            return at;
    uint64_t hash = str_hash(str_base_name(path));
    for (TableProbe t = table_probe(&x->by_base_name, hash);
         table_next(&x->by_base_name, &t, &at);) {
        size_t shared = shared_components(x->files.at[at].path, path);
        if (shared > most)
            best = at;
        else if (shared && shared == most)
            best = EXECUTIONS_NO_FILE;
        most = MAX(most, shared);
    }
    return best;
}

bool executions_of(const Executions *x, uint32_t file, uint32_t line, uint64_t *ret)
{
    if (file == EXECUTIONS_NO_FILE)
        return false;
    const ExecutedFile *f = &x->files.at[file];
    const ExecutedLine key = {.line = line};
    const ExecutedLine *found =
        bsearch(&key, f->lines.at, f->lines.len, sizeof(f->lines.at[0]), compare_lines);
    if (found)
        *ret = found->count;
    return found != NULL;
}
