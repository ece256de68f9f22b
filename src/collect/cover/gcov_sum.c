// SPDX-License-Identifier: Apache-2.0
// Sums of lines, branches and functions over translation units, and their way into
// the profile.

#include <stdlib.h>

#include "collect/cover/gcov_lines_internal.h"

enum { NONE = GCOV_NO_BLOCK };

void gcov_sum_init(GcovSum *s, Profile *profile, const CoverProject *how)
{
    *s = (GcovSum){.profile = profile, .how = how};
}

void gcov_sum_deinit(GcovSum *s)
{
    vec_free(&s->lines);
    vec_free(&s->branches);
    vec_free(&s->files);
    vec_free(&s->idle);
    vec_free(&s->idle_lines);
    vec_free(&s->functions);
    vec_free(&s->pages);
    table_deinit(&s->page_index);
    table_deinit(&s->file_index);
    table_deinit(&s->idle_index);
    arena_deinit(&s->scratch);
    arena_deinit(&s->work);
}

// ---- Names and rows ------------------------------------------------------------------------

static Str full_path(GcovSum *s, Str folder, Str name)
{
    if (folder.len == 0 || (name.len && name.ptr[0] == '/'))
        return arena_str(&s->scratch, name);
    return arena_printf(&s->scratch, "%" STR_FMT "/%" STR_FMT, STR_ARG(folder), STR_ARG(name));
}

uint32_t gcov_sum_file(GcovSum *s, Str folder, Str name)
{
    uint64_t hash = hash_pair(str_hash(folder), str_hash(name));
    uint32_t row;
    for (TableProbe p = table_probe(&s->file_index, hash); table_next(&s->file_index, &p, &row);)
        if (str_equal(s->files.at[row].name, name) && str_equal(s->files.at[row].folder, folder))
            return row;
    GcovFile file = {.folder = arena_str(&s->scratch, folder),
                     .name = arena_str(&s->scratch, name)};
    Str path = full_path(s, folder, name);
    if (s->how->map_path)
        path = s->how->map_path(s->how->map_ctx, path);
    if (!s->how->keep || s->how->keep(s->how->keep_ctx, path))
        file.id = profile_str(s->profile, path);
    if (file.id.v && s->how->exclusions)
        file.marks = s->how->exclusions(s->how->exclusions_ctx, path);
    row = (uint32_t)s->files.len;
    table_insert(&s->file_index, hash, row);
    vec_push(NULL, &s->files, file);
    return row;
}

static GcovPage *line_page(GcovSum *s, StrId file, uint32_t number)
{
    uint64_t hash = hash_pair(file.v, number);
    uint32_t row;
    if (s->page < s->pages.len && s->pages.at[s->page].file.v == file.v &&
        s->pages.at[s->page].number == number)
        return &s->pages.at[s->page];
    for (TableProbe p = table_probe(&s->page_index, hash); table_next(&s->page_index, &p, &row);) {
        GcovPage *page = &s->pages.at[row];
        if (page->file.v != file.v || page->number != number)
            continue;
        s->page = row;
        return page;
    }
    s->page = (uint32_t)s->pages.len;
    table_insert(&s->page_index, hash, s->page);
    vec_push(NULL, &s->pages, ((GcovPage){.file = file, .number = number}));
    return &vec_last(&s->pages);
}

uint32_t gcov_sum_row(GcovSum *s, StrId file, uint32_t line)
{
    uint32_t *row = &line_page(s, file, line / GCOV_PAGE_LINES)->rows[line % GCOV_PAGE_LINES];
    if (*row == 0) {
        vec_push(NULL, &s->lines, (GcovLine){.file = file, .line = line});
        *row = (uint32_t)s->lines.len;
    }
    return *row - 1;
}

// ---- Functions and lines -------------------------------------------------------------------

// The branch behind `before` on the line of `row`, or the first; made when absent.
static uint32_t next_branch(GcovSum *s, uint32_t row, uint32_t before)
{
    uint32_t next = before ? s->branches.at[before - 1].next : s->lines.at[row].first_branch;
    if (next)
        return next;
    vec_push(NULL, &s->branches, (GcovBranch){0});
    next = (uint32_t)s->branches.len;
    if (before)
        s->branches.at[before - 1].next = next;
    else
        s->lines.at[row].first_branch = next;
    return next;
}

static bool is_branch(const GcovArc *a)
{
    return !a->is_unconditional && !a->is_call;
}

// Adds the branches behind `last`, and gives the new last one.
static uint32_t add_branches(GcovUnit *u, const GcovUnitLine *l, uint32_t last)
{
    bool no_exceptions = cover_excludes_exception(gcov_unit_file(u, l->file)->marks, l->line);
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t base = u->base.at[u->line_blocks.at[i].function];
        uint32_t block = base + u->line_blocks.at[i].block;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
            const GcovArc *a = &u->n->arcs.at[u->out[k]];
            if (!is_branch(a))
                continue;
            last = next_branch(u->sum, l->row, last);
            u->sum->branches.at[last - 1].count += a->count;
            u->sum->branches.at[last - 1].is_left_out |=
                (no_exceptions && a->is_throw) || (u->is_source && u->is_source[base + a->to]);
        }
    }
    return last;
}

// A line of instances of a template is the sum of theirs. Of the unit's other functions
// the branches on a line stand behind each other, and where one has blocks on it, the
// line ran as often as those: the entry of another does not count.
static void add_count(GcovSum *s, GcovLine *line, bool has_blocks, uint64_t count)
{
    if (line->unit != s->unit_count) {
        line->unit = s->unit_count;
        line->unit_branch = 0;
        line->unit_bare = 0;
        line->unit_has_blocks = false;
    }
    if (has_blocks) {
        line->count += count - line->unit_bare;
        line->unit_bare = 0;
        line->unit_has_blocks = true;
    } else if (!line->unit_has_blocks) {
        line->count += count;
        line->unit_bare += count;
    }
}

static void add_line(GcovUnit *u, const GcovUnitLine *l)
{
    GcovLine *line = &u->sum->lines.at[l->row];
    if (l->instance) {
        line->count += l->count;
        (void)add_branches(u, l, 0);
        return;
    }
    add_count(u->sum, line, l->first_block != NONE, l->count);
    line->unit_branch = add_branches(u, l, line->unit_branch);
}

static void add_function(GcovSum *s, const GcovFunction *f, StrId file, StrBuf *readable)
{
    StrId linkage_name = profile_str(s->profile, f->name), name = linkage_name;
    strbuf_clear(readable);
    if (s->how->demangle)
        s->how->demangle(s->how->demangle_ctx, f->name, readable);
    if (readable->len)
        name = profile_str(s->profile, strbuf_str(readable));
    FunctionId id = profile_function_of(s->profile, name, linkage_name, file, f->line);
    if (id.v >= s->functions.len)
        vec_extend(NULL, &s->functions, id.v + 1 - s->functions.len);
    uint64_t *count = &s->functions.at[id.v];
    *count += (f->block_count ? f->blocks[0] : 0) + (*count == 0);
}

// Says where the unit's functions are, to the marks that are about functions.
static void place_marks(GcovUnit *u)
{
    for (size_t i = 0; i < u->n->functions.len && u->sum->how->exclusions; i++) {
        GcovFunction *f = &u->n->functions.at[i];
        if (f->is_artificial)
            continue;
        CoverExclusions *marks = gcov_unit_file(u, gcov_function_file(u->n, f))->marks;
        CoverFunctionPlace place = {f->line, f->column, f->end_line, f->end_column};
        if (marks)
            cover_exclusions_add_function(marks, place);
    }
}

// The blocks of lines that are left out as targets of branches.
static void mark_sources(GcovUnit *u)
{
    u->is_source = NULL;
    for (size_t i = 0; i < u->lines.len; i++) {
        const GcovUnitLine *l = &u->lines.at[i];
        if (!cover_excludes_source(gcov_unit_file(u, l->file)->marks, l->line))
            continue;
        if (!u->is_source)
            u->is_source = arena_array(u->arena, uint8_t, u->block_count);
        for (uint32_t k = l->first_block; k != NONE; k = u->line_blocks.at[k].next)
            u->is_source[u->base.at[u->line_blocks.at[k].function] + u->line_blocks.at[k].block] =
                1;
    }
}

// Adds the functions that are looked at.
static void add_range(GcovUnit *u)
{
    GcovSum *s = u->sum;
    StrBuf readable = {0};
    bool idle = u->end - u->first == 1 && u->n->functions.at[u->first].is_zero;
    gcov_unit_index(u);
    gcov_unit_find_exceptional(u);
    u->lines.len = u->line_blocks.len = 0;
    s->round++;
    for (uint32_t i = u->first; i < u->end; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        if (!gcov_is_counted(f))
            continue;
        gcov_unit_place(u, i);
        StrId file = gcov_unit_file(u, f->file)->id;
        if (file.v)
            add_function(s, f, file, &readable);
    }
    if (!idle)
        gcov_unit_count(u);
    mark_sources(u);
    for (size_t i = 0; i < u->lines.len; i++)
        add_line(u, &u->lines.at[i]);
    strbuf_deinit(&readable);
}

// ---- Functions that never ran --------------------------------------------------------------

static GcovIdle idle_key(const GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    uint64_t where = hash_pair(str_hash(f->name), str_hash(u->n->folder));
    return (GcovIdle){.hash = bytes_hash_seeded(f->graph, where),
                      .graph_bytes = f->graph.len,
                      .line_checksum = f->line_checksum,
                      .cfg_checksum = f->cfg_checksum,
                      .is_group = u->is_group.at[function]};
}

// Adds the function as an equal one was added before. False when none was.
static bool add_idle_again(GcovSum *s, const GcovIdle *key)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->idle_index, key->hash);
         table_next(&s->idle_index, &p, &row);) {
        const GcovIdle *known = &s->idle.at[row];
        if (known->hash != key->hash || known->graph_bytes != key->graph_bytes ||
            known->line_checksum != key->line_checksum ||
            known->cfg_checksum != key->cfg_checksum || known->is_group != key->is_group)
            continue;
        for (uint32_t i = known->first; i < known->end; i++) {
            GcovIdleLine l = s->idle_lines.at[i];
            GcovLine *line = &s->lines.at[l.row];
            add_count(s, line, l.has_blocks, 0);
            for (uint32_t k = l.branches; k > 0; k--)
                line->unit_branch = next_branch(s, l.row, line->unit_branch);
        }
        return true;
    }
    return false;
}

// Marks are looked up each time.
static bool has_marks(GcovUnit *u)
{
    for (size_t i = 0; i < u->lines.len; i++)
        if (gcov_unit_file(u, u->lines.at[i].file)->marks)
            return true;
    return false;
}

static uint32_t count_branches(const GcovUnit *u, const GcovUnitLine *l)
{
    uint32_t count = 0;
    for (uint32_t i = l->first_block; i != NONE; i = u->line_blocks.at[i].next) {
        uint32_t block = u->base.at[u->line_blocks.at[i].function] + u->line_blocks.at[i].block;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++)
            count += is_branch(&u->n->arcs.at[u->out[k]]);
    }
    return count;
}

// Keeps how the function that was just added was.
static void keep_idle(GcovUnit *u, GcovIdle key)
{
    GcovSum *s = u->sum;
    key.first = (uint32_t)s->idle_lines.len;
    for (size_t i = 0; i < u->lines.len; i++) {
        const GcovUnitLine *l = &u->lines.at[i];
        GcovIdleLine line = {l->row, count_branches(u, l) & INT32_MAX, l->first_block != NONE};
        if (!l->instance)
            vec_push(NULL, &s->idle_lines, line);
    }
    key.end = (uint32_t)s->idle_lines.len;
    table_insert(&s->idle_index, key.hash, (uint32_t)s->idle.len);
    vec_push(NULL, &s->idle, key);
}

// ---- Translation units ---------------------------------------------------------------------

// False when the function has to be left out.
static bool read_function(GcovUnit *u, uint32_t function, Error *first)
{
    Error err;
    GcovFunction *f = &u->n->functions.at[function];
    if (gcov_graph_read(u->n, f, &err) &&
        (!gcov_is_counted(f) || gcov_solve(u->arena, u->n, f, &err)))
        return true;
    f->has_counts = false;
    if (u->bad++ == 0)
        *first = err;
    return false;
}

// Function by function, so that what is worked on stays small.
static void add_one_by_one(GcovUnit *u, Error *first)
{
    gcov_unit_find_groups(u);
    place_marks(u);
    for (uint32_t i = 0; i < u->n->functions.len; i++) {
        if (!gcov_is_counted(&u->n->functions.at[i]))
            continue;
        bool idle = u->n->functions.at[i].is_zero;
        GcovIdle key = idle ? idle_key(u, i) : (GcovIdle){0};
        if (idle && add_idle_again(u->sum, &key))
            continue;
        gcov_graphs_clear(u->n);
        arena_clear(u->arena);
        u->first = i;
        u->end = i + 1;
        if (!read_function(u, i, first))
            continue;
        add_range(u);
        if (idle && !has_marks(u))
            keep_idle(u, key);
    }
}

static void add_document(GcovUnit *u, Str data_file, Error *first)
{
    u->end = (uint32_t)u->n->functions.len;
    for (uint32_t i = 0; i < u->end; i++)
        (void)read_function(u, i, first);
    gcov_unit_find_groups(u); // behind the graphs: files are listed in order of their first use
    place_marks(u);
    add_range(u);
    gcov_json_add(u, u->sum->documents, data_file);
}

bool gcov_sum_add(GcovSum *s, GcovNotes *n, Str data_file, Error *err)
{
    GcovUnit u = {.n = n, .arena = &s->work, .sum = s};
    s->unit_count++;
    vec_extend(NULL, &u.base, n->functions.len);
    vec_extend(NULL, &u.is_group, n->functions.len);
    if (s->documents)
        add_document(&u, data_file, err);
    else
        add_one_by_one(&u, err);
    arena_clear(&s->work);
    vec_free(&u.lines);
    vec_free(&u.line_blocks);
    vec_free(&u.base);
    vec_free(&u.is_group);
    vec_free(&u.files);
    table_deinit(&u.index);
    return u.bad == 0 || error_context(err, "%u of %zu functions left out, the first for this",
                                       u.bad, n->functions.len);
}

// ---- Into the profile ----------------------------------------------------------------------

static int compare_files(const void *a, const void *b, void *ctx)
{
    const Profile *p = ctx;
    return str_compare(profile_text(p, *(const StrId *)a), profile_text(p, *(const StrId *)b));
}

// The place of each file among all in order of their paths, by StrId.
static void rank_files(const GcovSum *s, U32Vec *ranks)
{
    Vec(StrId) files = {0};
    for (size_t i = 0; i < s->files.len; i++)
        if (s->files.at[i].id.v)
            vec_push(NULL, &files, s->files.at[i].id);
    if (files.len)
        qsort_r(files.at, files.len, sizeof(files.at[0]), compare_files, s->profile);
    vec_extend(NULL, ranks, s->profile->strings.texts.len);
    for (uint32_t i = 0; i < files.len; i++)
        ranks->at[files.at[i].v] = i;
    vec_free(&files);
}

// So that no column grows by copying.
static void reserve_rows(GcovSum *s)
{
    Profile *p = s->profile;
    size_t lines = s->lines.len, branches = s->branches.len;
    vec_reserve(&p->arena, &p->line_counts.file, lines);
    vec_reserve(&p->arena, &p->line_counts.line, lines);
    vec_reserve(&p->arena, &p->line_counts.count, lines);
    vec_reserve(&p->arena, &p->branch_counts.file, branches);
    vec_reserve(&p->arena, &p->branch_counts.line, branches);
    vec_reserve(&p->arena, &p->branch_counts.column, branches);
    vec_reserve(&p->arena, &p->branch_counts.block, branches);
    vec_reserve(&p->arena, &p->branch_counts.branch, branches);
    vec_reserve(&p->arena, &p->branch_counts.count, branches);
}

static void finish_line(GcovSum *s, const GcovLine *l)
{
    Profile *p = s->profile;
    BranchCounts *to = &p->branch_counts;
    vec_push(&p->arena, &p->line_counts.file, l->file);
    vec_push(&p->arena, &p->line_counts.line, l->line);
    vec_push(&p->arena, &p->line_counts.count, l->count);
    uint32_t order = 0;
    for (uint32_t i = l->first_branch; i; i = s->branches.at[i - 1].next, order++) {
        if (s->branches.at[i - 1].is_left_out)
            continue;
        vec_push(&p->arena, &to->file, l->file);
        vec_push(&p->arena, &to->line, l->line);
        vec_push(&p->arena, &to->column, 0);
        vec_push(&p->arena, &to->block, 0);
        vec_push(&p->arena, &to->branch, order);
        vec_push(&p->arena, &to->count, s->branches.at[i - 1].count);
    }
}

SortRow *gcov_sum_sort(const GcovSum *s, SortRow *rows)
{
    if (s->lines.len == 0)
        return rows;
    U32Vec ranks = {0};
    rank_files(s, &ranks);
    for (uint32_t i = 0; i < s->lines.len; i++) {
        const GcovLine *l = &s->lines.at[i];
        rows[i] = (SortRow){(uint64_t)ranks.at[l->file.v] << 32 | l->line, i};
    }
    vec_free(&ranks);
    return sort_rows(rows, rows + s->lines.len, s->lines.len);
}

void gcov_sum_finish(GcovSum *s)
{
    Profile *p = s->profile;
    Vec(SortRow) rows = {0};
    reserve_rows(s);
    vec_reserve(NULL, &rows, 2 * s->lines.len + 1);
    const SortRow *sorted = gcov_sum_sort(s, rows.at);
    for (size_t i = 0; i < s->lines.len; i++)
        finish_line(s, &s->lines.at[sorted[i].row]);
    for (uint32_t id = 0; id < s->functions.len; id++) {
        if (s->functions.at[id] == 0)
            continue;
        vec_push(&p->arena, &p->function_counts.function, (FunctionId){id});
        vec_push(&p->arena, &p->function_counts.count, s->functions.at[id] - 1);
        vec_push(&p->arena, &p->function_counts.hash, 0);
    }
    vec_free(&rows);
}
