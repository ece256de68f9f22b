// SPDX-License-Identifier: Apache-2.0
// Sums of lines, branches and functions over translation units, and their way into
// the profile.

#include <stdlib.h>

#include "base/sort.h"
#include "coverage/gcc/unit_lines_internal.h"

enum { NONE = GCOV_NO_BLOCK, IDLE_BRANCHES_MAX = (1 << 29) - 1 };

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
    vec_free(&s->known);
    vec_free(&s->pages);
    table_deinit(&s->page_index);
    table_deinit(&s->file_index);
    table_deinit(&s->idle_index);
    table_deinit(&s->known_index);
    arena_deinit(&s->scratch);
    arena_deinit(&s->work);
}

// ---- Names and rows ------------------------------------------------------------------------

// The path without "." and doubled slashes, so that a file has one row however its units
// spell it. ".." stays for CoverProject.map_path: behind a link it leads elsewhere.
static Str plain_path(Arena *arena, Str path)
{
    StrBuf out = {0};
    Str rest = path;
    if (path.len && path.ptr[0] == '/')
        strbuf_add_char(&out, '/');
    while (rest.len) {
        size_t slash = str_find_char(rest, '/');
        Str part = slash == SIZE_MAX ? rest : str_slice(rest, 0, slash);
        rest = slash == SIZE_MAX ? STR("") : str_slice(rest, slash + 1, rest.len);
        if (part.len == 0 || str_equal(part, STR(".")))
            continue;
        if (out.len && out.ptr[out.len - 1] != '/')
            strbuf_add_char(&out, '/');
        strbuf_add(&out, part);
    }
    Str plain = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return plain;
}

static Str full_path(GcovSum *s, Str folder, Str name)
{
    if (folder.len == 0 || (name.len && name.ptr[0] == '/'))
        return plain_path(&s->scratch, name);
    return plain_path(&s->scratch, arena_printf(&s->scratch, "%" STR_FMT "/%" STR_FMT,
                                                STR_ARG(folder), STR_ARG(name)));
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

// Makes the page of the line the present one.
static void turn_page(GcovSum *s, StrId file, uint32_t number)
{
    uint64_t hash = hash_pair(file.v, number);
    uint32_t row;
    for (TableProbe p = table_probe(&s->page_index, hash); table_next(&s->page_index, &p, &row);)
        if (gcov_page_is(&s->pages.at[row], file, number)) {
            s->page = row;
            return;
        }
    s->page = (uint32_t)s->pages.len;
    table_insert(&s->page_index, hash, s->page);
    vec_push(NULL, &s->pages, ((GcovPage){.file = file, .number = number}));
}

uint32_t gcov_sum_new_row(GcovSum *s, StrId file, uint32_t line)
{
    uint32_t number = line / GCOV_PAGE_LINES;
    if (s->page >= s->pages.len || !gcov_page_is(&s->pages.at[s->page], file, number))
        turn_page(s, file, number);
    uint32_t *row = &s->pages.at[s->page].rows[line % GCOV_PAGE_LINES];
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
            const GcovArc *a = &u->n->arcs.at[k];
            if (!is_branch(a) || !u->line_blocks.at[i].has_branches)
                continue;
            last = next_branch(u->sum, l->row, last);
            u->sum->branches.at[last - 1].count += a->count;
            u->sum->branches.at[last - 1].is_left_out |=
                (no_exceptions && a->is_throw) || (u->is_source && u->is_source[base + a->to]);
        }
    }
    return last;
}

// A line of functions that count apart is the sum of theirs. Of the unit's other functions
// the branches on a line stand behind each other, and where one has blocks on it, the
// line ran as often as those: the entry of another does not count.
// Gives the unit's last branch there, + 1.
static uint32_t add_count(GcovSum *s, GcovLine *line, bool has_blocks, uint64_t count)
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
    return line->unit_branch;
}

static void add_line(GcovUnit *u, const GcovUnitLine *l)
{
    GcovLine *line = &u->sum->lines.at[l->row];
    bool is_alone = !l->apart;
    bool has_blocks = is_alone && l->first_block != NONE && !u->n->sums_blocks;
    uint32_t last = add_count(u->sum, line, has_blocks, is_alone ? l->count : 0);
    line->count += is_alone ? 0 : l->count;
    if (l->apart && u->group.at[l->apart - 1] == GCOV_AT_ONE_PLACE)
        (void)add_branches(u, l, 0);
    else
        line->unit_branch = add_branches(u, l, last);
}

static FunctionId new_function(GcovSum *s, const GcovFunction *f, StrId file)
{
    StrBuf readable = {0};
    StrId linkage_name = profile_str(s->profile, f->name), name = linkage_name;
    if (s->how->demangle)
        s->how->demangle(s->how->demangle_ctx, f->name, &readable);
    if (readable.len)
        name = profile_str(s->profile, strbuf_str(&readable));
    strbuf_deinit(&readable);
    return profile_function_of(s->profile, name, linkage_name, file, f->line);
}

// The function's row in the profile, made when absent. Of most functions each unit that
// includes their header has a copy: they are known by a hash, as idle ones are.
static FunctionId function_row(GcovSum *s, const GcovFunction *f, StrId file)
{
    uint64_t hash = bytes_hash_seeded(bytes_from_str(f->name), (uint64_t)file.v << 32 | f->line);
    uint32_t row;
    for (TableProbe p = table_probe(&s->known_index, hash); table_next(&s->known_index, &p, &row);)
        if (s->known.at[row].hash == hash)
            return s->known.at[row].id;
    GcovKnown known = {hash, new_function(s, f, file)};
    table_insert(&s->known_index, hash, (uint32_t)s->known.len);
    vec_push(NULL, &s->known, known);
    return known.id;
}

static void add_function(GcovSum *s, const GcovFunction *f, StrId file, uint64_t entries)
{
    FunctionId id = function_row(s, f, file);
    if (id.v >= s->functions.len)
        vec_extend(NULL, &s->functions, id.v + 1 - s->functions.len);
    uint64_t *count = &s->functions.at[id.v];
    *count += entries + (*count == 0);
}

// Adds the places of the unit's functions to the marks in the sources.
static void place_marks(GcovUnit *u)
{
    if (!u->sum->how->exclusions)
        return;
    for (size_t i = 0; i < u->n->functions.len; i++)
        (void)gcov_function_file(u->n, &u->n->functions.at[i]);
    gcov_unit_list_files(u);
    for (size_t i = 0; i < u->n->functions.len; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        if (f->is_artificial)
            continue;
        CoverExclusions *marks = gcov_unit_file(u, f->file)->marks;
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
    gcov_unit_list_files(u);
    gcov_unit_index(u);
    if (s->take)
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
            add_function(s, f, file, f->block_count ? f->blocks[0] : 0);
    }
    gcov_unit_count(u);
    mark_sources(u);
    for (size_t i = 0; i < u->lines.len; i++)
        add_line(u, &u->lines.at[i]);
}

// ---- Functions that never ran --------------------------------------------------------------

static GcovIdle idle_key(const GcovUnit *u, uint32_t function)
{
    const GcovFunction *f = &u->n->functions.at[function];
    Bytes bytes = gcov_function_bytes(f);
    return (GcovIdle){.hash = bytes_hash_seeded(bytes, hash_pair(u->seed, f->counters_count)),
                      .bytes = bytes.len,
                      .group = u->group.at[function]};
}

static const GcovIdle *find_idle(const GcovSum *s, const GcovIdle *key)
{
    uint32_t row;
    for (TableProbe p = table_probe(&s->idle_index, key->hash);
         table_next(&s->idle_index, &p, &row);) {
        const GcovIdle *known = &s->idle.at[row];
        if (known->hash == key->hash && known->bytes == key->bytes && known->group == key->group)
            return known;
    }
    return NULL;
}

// The row of the line among those of the function that is outlined.
static GcovIdleLine *idle_line(GcovUnit *u, uint32_t function, StrId file, const GcovPlace *place)
{
    GcovSum *s = u->sum;
    uint32_t row = gcov_sum_row(s, file, place->line);
    GcovLine *line = &s->lines.at[row];
    if (line->round != s->round) {
        line->round = s->round;
        line->round_line = (uint32_t)s->idle_lines.len;
        GcovIdleLine idle = {.row = row, .is_apart = gcov_unit_is_apart(u, function, place)};
        idle.is_instance = idle.is_apart && u->group.at[function] == GCOV_AT_ONE_PLACE;
        vec_push(NULL, &s->idle_lines, idle);
    }
    return &s->idle_lines.at[line->round_line];
}

// One block's places in one file, as in gcov_unit_place.
static void outline_run(GcovUnit *u, uint32_t function, const GcovPlace *places, size_t count)
{
    uint32_t block = places[0].block, ways = u->n->ways.at[block];
    StrId file = gcov_unit_file(u, places[0].file)->id;
    if (file.v == 0)
        return;
    size_t branches = gcov_unit_branch_place(u, places, count);
    bool has_block = gcov_unit_has_block(u, function, block);
    for (size_t i = 0; i < count; i++) {
        GcovIdleLine *line = idle_line(u, function, file, &places[i]);
        bool is_on = has_block && (i == branches || u->n->is_of_llvm);
        line->has_blocks = line->has_blocks || is_on;
        if (has_block && i == branches && ways > 1)
            line->branches = (line->branches + ways) & IDLE_BRANCHES_MAX;
    }
}

// Marks are looked up each time.
static bool has_marks(const GcovUnit *u, const GcovFunction *f)
{
    const GcovPlace *places = u->n->places.at + f->places_first;
    for (size_t i = 0; i < f->place_count; i++)
        if (gcov_unit_file(u, places[i].file)->marks)
            return true;
    return false;
}

static void add_idle_lines(GcovSum *s, const GcovIdle *idle, bool instances)
{
    for (uint32_t i = idle->first; i < idle->end; i++) {
        GcovIdleLine l = s->idle_lines.at[i];
        GcovLine *line = &s->lines.at[l.row];
        if (l.is_instance && !instances)
            continue;
        uint32_t last = add_count(s, line, l.has_blocks && !l.is_apart, 0);
        if (l.is_instance)
            last = 0;
        for (uint32_t k = l.branches; k > 0; k--)
            last = next_branch(s, l.row, last);
        if (!l.is_instance)
            line->unit_branch = last;
    }
}

// Lists what the function adds to its lines.
static void list_idle_lines(GcovUnit *u, uint32_t function, GcovIdle *ret)
{
    const GcovFunction *f = &u->n->functions.at[function];
    u->sum->round++;
    ret->first = (uint32_t)u->sum->idle_lines.len;
    for (size_t i = 0, run; i < f->place_count; i += run) {
        const GcovPlace *places = u->n->places.at + f->places_first + i;
        run = gcov_places_run(places, f->place_count - i);
        outline_run(u, function, places, run);
    }
    ret->end = (uint32_t)u->sum->idle_lines.len;
}

// Adds a function that never ran. False when it has to be looked at as one that did:
// marks are about its lines, or its graph is broken.
static bool add_idle(GcovUnit *u, uint32_t function)
{
    GcovSum *s = u->sum;
    GcovFunction *f = &u->n->functions.at[function];
    GcovIdle key = idle_key(u, function);
    const GcovIdle *known = find_idle(s, &key);
    Error err;
    if (known) {
        add_idle_lines(s, known, false);
        return true;
    }
    gcov_graphs_clear(u->n);
    if (!gcov_outline_read(u->n, f, &err))
        return false;
    gcov_unit_list_files(u);
    if (has_marks(u, f))
        return false;
    list_idle_lines(u, function, &key);
    add_idle_lines(s, &key, true);
    StrId file = gcov_unit_file(u, f->file)->id;
    if (file.v)
        add_function(s, f, file, 0);
    table_insert(&s->idle_index, key.hash, (uint32_t)s->idle.len);
    vec_push(NULL, &s->idle, key);
    return true;
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

static void add_one(GcovUnit *u, uint32_t function, Error *first)
{
    const GcovFunction *f = &u->n->functions.at[function];
    if (!gcov_is_counted(f) || (f->is_zero && !u->n->sums_blocks && add_idle(u, function)))
        return;
    gcov_graphs_clear(u->n);
    arena_clear(u->arena);
    u->first = function;
    u->end = function + 1;
    if (read_function(u, function, first))
        add_range(u);
}

// Appends the functions whose branches gcov lists before those of others on their lines,
// as it does: by their start.
static void list_first(const GcovUnit *u, U32Vec *ret)
{
    Vec(SortRow) rows = {0};
    for (uint32_t i = 0; i < u->n->functions.len; i++) {
        const GcovFunction *f = &u->n->functions.at[i];
        if (u->group.at[i] == GCOV_ON_ONE_LINE)
            vec_push(NULL, &rows, ((SortRow){(uint64_t)f->line << 32 | f->column, i}));
    }
    size_t count = rows.len;
    if (count) {
        vec_reserve(NULL, &rows, count);
        const SortRow *sorted = sort_rows(rows.at, rows.at + count, count);
        for (size_t i = 0; i < count; i++)
            vec_push(NULL, ret, sorted[i].row);
    }
    vec_free(&rows);
}

// Function by function, so that what is worked on stays small.
static void add_one_by_one(GcovUnit *u, Error *first)
{
    U32Vec listed = {0};
    gcov_unit_find_groups(u);
    place_marks(u);
    list_first(u, &listed);
    for (size_t i = 0; i < listed.len; i++)
        add_one(u, listed.at[i], first);
    for (uint32_t i = 0; i < u->n->functions.len; i++)
        if (u->group.at[i] != GCOV_ON_ONE_LINE)
            add_one(u, i, first);
    vec_free(&listed);
}

static void add_whole(GcovUnit *u, Str data_file, Error *first)
{
    u->end = (uint32_t)u->n->functions.len;
    for (uint32_t i = 0; i < u->end; i++)
        (void)read_function(u, i, first);
    gcov_unit_find_groups(u); // behind the graphs: files are listed in order of their first use
    place_marks(u);
    add_range(u);
    u->sum->take(u->sum->take_ctx, u, data_file);
}

bool gcov_sum_add(GcovSum *s, GcovNotes *n, Str data_file, Error *err)
{
    GcovUnit u = {.n = n, .arena = &s->work, .sum = s};
    u.seed = hash_pair(str_hash(n->folder), (uint64_t)n->version << 1 | n->big_endian);
    s->unit_count++;
    vec_extend(NULL, &u.base, n->functions.len);
    vec_extend(NULL, &u.group, n->functions.len);
    if (s->take)
        add_whole(&u, data_file, err);
    else
        add_one_by_one(&u, err);
    arena_clear(&s->work);
    vec_free(&u.lines);
    vec_free(&u.line_blocks);
    vec_free(&u.base);
    vec_free(&u.group);
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

// Only pages are sorted: the lines of one stand in order.
void gcov_sum_sort(const GcovSum *s, U32Vec *ret)
{
    U32Vec ranks = {0};
    Vec(SortRow) pages = {0};
    size_t count = s->pages.len;
    rank_files(s, &ranks);
    vec_reserve(NULL, &pages, 2 * count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const GcovPage *page = &s->pages.at[i];
        pages.at[i] = (SortRow){(uint64_t)ranks.at[page->file.v] << 32 | page->number, i};
    }
    const SortRow *sorted = sort_rows(pages.at, pages.at + count, count);
    vec_reserve(NULL, ret, s->lines.len);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < GCOV_PAGE_LINES; k++)
            if (s->pages.at[sorted[i].row].rows[k])
                vec_push(NULL, ret, s->pages.at[sorted[i].row].rows[k] - 1);
    vec_free(&ranks);
    vec_free(&pages);
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

void gcov_sum_finish(GcovSum *s)
{
    Profile *p = s->profile;
    U32Vec rows = {0};
    reserve_rows(s);
    gcov_sum_sort(s, &rows);
    for (size_t i = 0; i < rows.len; i++)
        finish_line(s, &s->lines.at[rows.at[i]]);
    for (uint32_t id = 0; id < s->functions.len; id++) {
        if (s->functions.at[id] == 0)
            continue;
        vec_push(&p->arena, &p->function_counts.function, (FunctionId){id});
        vec_push(&p->arena, &p->function_counts.count, s->functions.at[id] - 1);
        vec_push(&p->arena, &p->function_counts.hash, 0);
        vec_push(&p->arena, &p->function_counts.column, 0);
    }
    vec_free(&rows);
}
