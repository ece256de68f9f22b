// SPDX-License-Identifier: Apache-2.0
// A translation unit as 'gcov --json-format --branch-probabilities' writes it:
// functions by start, instances of a template one after another.
// Document: man gcov, "--json-format", format_version 1 (gcc 9 to 13).

#include "export/cover/gcov_json.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/json.h"
#include "coverage/rows/std_order.h"

// Lines in the order of the listing: those of functions that share a start line
// stand at that line, function by function, before the others.
typedef struct Listed {
    uint32_t place; // line, or the start of the function that counts apart
    uint32_t apart; // its rank; UINT32_MAX: none
    const GcovUnitLine *line;
} Listed;

typedef struct Listing {
    const GcovUnit *u;
    JsonWriter json;
    U32Vec functions; // counted ones, by file and then as gcov has them
    uint32_t *rank;   // by function, among those of its start line
    Vec(Listed) lines;
} Listing;

static int compare_listed(const void *a, const void *b)
{
    const Listed *x = a, *y = b;
    if (x->line->file != y->line->file)
        return x->line->file < y->line->file ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->apart != y->apart)
        return x->apart < y->apart ? -1 : 1;
    return (x->line->line > y->line->line) - (x->line->line < y->line->line);
}

static int compare_keys(const void *a, const void *b)
{
    const CoverOrdered *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// The rank of each function among those that start on its line.
static void rank_by_line(Listing *l, const CoverOrdered *of_file, size_t len)
{
    const GcovFunction *functions = l->u->n->functions.at;
    CoverOrderedVec by_line = {0};
    for (size_t i = 0; i < len; i++)
        vec_push(NULL, &by_line, ((CoverOrdered){functions[of_file[i].row].line, of_file[i].row}));
    qsort(by_line.at, len, sizeof(by_line.at[0]), compare_keys);
    for (size_t i = 0, end; i < len; i = end) {
        uint64_t line = by_line.at[i].key;
        for (end = i; end < len && by_line.at[end].key == line; end++)
            ;
        for (size_t k = i; k < end; k++)
            by_line.at[k].key = functions[by_line.at[k].row].column;
        cover_std_sort(by_line.at + i, end - i);
        for (size_t k = i; k < end; k++)
            l->rank[by_line.at[k].row] = (uint32_t)(k - i);
    }
    vec_free(&by_line);
}

// gcov sorts the functions of a file by their start, and once more those of each start
// line; what is equal comes out as std::sort leaves it.
static void sort_file(Listing *l, CoverOrdered *of_file, size_t len)
{
    rank_by_line(l, of_file, len);
    for (size_t i = 0; i < len; i++) {
        const GcovFunction *f = &l->u->n->functions.at[of_file[i].row];
        of_file[i].key = (uint64_t)f->line << 32 | f->column;
    }
    cover_std_sort(of_file, len);
    for (size_t i = 0; i < len; i++)
        vec_push(l->u->arena, &l->functions, of_file[i].row);
}

static void sort_functions(Listing *l)
{
    const GcovUnit *u = l->u;
    CoverOrderedVec all = {0};
    l->rank = arena_array(u->arena, uint32_t, u->n->functions.len);
    for (uint32_t i = 0; i < u->n->functions.len; i++)
        if (!u->n->functions.at[i].is_artificial && u->n->functions.at[i].has_counts)
            vec_push(NULL, &all, ((CoverOrdered){u->n->functions.at[i].file, i}));
    if (all.len)
        qsort(all.at, all.len, sizeof(all.at[0]), compare_keys);
    for (size_t i = 0, end; i < all.len; i = end) {
        uint64_t file = all.at[i].key;
        for (end = i; end < all.len && all.at[end].key == file; end++)
            ;
        sort_file(l, all.at + i, end - i);
    }
    vec_free(&all);
}

static void sort_all(Listing *l)
{
    const GcovUnit *u = l->u;
    sort_functions(l);
    for (size_t i = 0; i < u->lines.len; i++) {
        const GcovUnitLine *line = &u->lines.at[i];
        Listed listed = {line->line, UINT32_MAX, line};
        if (line->apart) {
            listed.place = u->n->functions.at[line->apart - 1].line;
            listed.apart = l->rank[line->apart - 1];
        }
        vec_push(u->arena, &l->lines, listed);
    }
    if (l->lines.len)
        qsort(l->lines.at, l->lines.len, sizeof(l->lines.at[0]), compare_listed);
}

static void add_function(Listing *l, uint32_t function, StrBuf *name)
{
    const GcovFunction *f = &l->u->n->functions.at[function];
    const CoverProject *how = l->u->sum->how;
    uint64_t executed = 0;
    for (uint32_t b = 1; b + 1 < f->block_count; b++)
        executed += f->blocks[b] != 0;
    strbuf_clear(name);
    if (how->demangle)
        how->demangle(how->demangle_ctx, f->name, name);
    json_begin_object(&l->json, NULL);
    json_u64(&l->json, "blocks", f->block_count > 2 ? f->block_count - 2 : 0);
    json_u64(&l->json, "end_column", f->end_column);
    json_u64(&l->json, "start_line", f->line);
    json_str(&l->json, "name", f->name);
    json_u64(&l->json, "blocks_executed", executed);
    json_u64(&l->json, "execution_count", f->block_count ? f->blocks[0] : 0);
    json_str(&l->json, "demangled_name", name->len ? strbuf_str(name) : f->name);
    json_u64(&l->json, "start_column", f->column);
    json_u64(&l->json, "end_line", f->end_line);
    json_end(&l->json);
}

static void add_branches(Listing *l, const GcovUnitLine *line)
{
    const GcovUnit *u = l->u;
    json_begin_array(&l->json, "branches");
    for (uint32_t i = line->first_block; i != GCOV_NO_BLOCK; i = u->line_blocks.at[i].next) {
        uint32_t block = u->base.at[u->line_blocks.at[i].function] + u->line_blocks.at[i].block;
        for (uint32_t k = u->out_first[block]; k < u->out_first[block + 1]; k++) {
            const GcovArc *a = &u->n->arcs.at[k];
            if (a->is_unconditional || a->is_call || !u->line_blocks.at[i].has_branches)
                continue;
            json_begin_object(&l->json, NULL);
            json_bool(&l->json, "fallthrough", a->flags & GCOV_ARC_FALL_THROUGH);
            json_u64(&l->json, "count", a->count);
            json_bool(&l->json, "throw", a->is_throw);
            json_end(&l->json);
        }
    }
    json_end(&l->json);
}

static void add_line(Listing *l, const GcovUnitLine *line, const GcovFunction *f)
{
    json_begin_object(&l->json, NULL);
    add_branches(l, line);
    json_u64(&l->json, "count", line->count);
    json_u64(&l->json, "line_number", line->line);
    json_bool(&l->json, "unexecuted_block", line->has_unexecuted);
    if (f)
        json_str(&l->json, "function_name", f->name);
    json_end(&l->json);
}

// The function that gcov names on a line: the innermost that is open there. Functions
// that count apart are not among them. Each line closes one function at most, so that of
// two that end together the outer one stays open.
typedef struct Naming {
    U32Vec open;   // functions, the innermost last
    uint32_t next; // of the listing's functions
    uint32_t line; // functions that end before it are closed
} Naming;

static void close_functions(const Listing *l, Naming *at, uint32_t line)
{
    while (at->open.len) {
        uint32_t end = l->u->n->functions.at[vec_last(&at->open)].end_line;
        if (end < at->line || end >= line)
            break;
        at->open.len--;
        at->line = end + 1;
    }
    at->line = line;
}

static const GcovFunction *function_at(const Listing *l, Naming *at, uint32_t file, uint32_t line)
{
    const GcovUnit *u = l->u;
    for (; at->next < l->functions.len; at->next++) {
        uint32_t function = l->functions.at[at->next];
        const GcovFunction *f = &u->n->functions.at[function];
        if (f->file != file || f->line > line)
            break;
        if (u->group.at[function] != GCOV_ALONE)
            continue;
        close_functions(l, at, f->line);
        vec_push(u->arena, &at->open, function);
    }
    close_functions(l, at, line);
    return at->open.len ? &u->n->functions.at[vec_last(&at->open)] : NULL;
}

static bool is_here(const StrBuf *path)
{
    StrBuf text = {0};
    struct stat st;
    strbuf_add(&text, strbuf_str(path));
    strbuf_add_char(&text, '\0');
    bool is = stat(text.ptr, &st) == 0;
    strbuf_deinit(&text);
    return is;
}

// A name as gcov spells it: without "." and doubled slashes, and without "x/.." where x is
// here, be it a link or not.
static void spell_name(Str name, StrBuf *ret)
{
    Str part;
    strbuf_clear(ret);
    if (str_starts_with(name, STR("/")))
        strbuf_add_char(ret, '/');
    size_t floor = ret->len; // what stands before is not taken back
    while (str_next_part(&name, '/', &part)) {
        bool is_up = str_equal(part, STR(".."));
        if (part.len == 0 || str_equal(part, STR(".")))
            continue;
        if (is_up && ret->len > floor && is_here(ret)) {
            while (ret->len > floor && ret->ptr[ret->len - 1] != '/')
                ret->len--;
            ret->len -= ret->len > floor; // the slash
            continue;
        }
        if (ret->len && ret->ptr[ret->len - 1] != '/')
            strbuf_add_char(ret, '/');
        strbuf_add(ret, part);
        if (is_up)
            floor = ret->len;
    }
}

static void add_file(Listing *l, uint32_t file, Str name, Naming *at, uint32_t *next_line)
{
    const GcovUnit *u = l->u;
    StrBuf readable = {0}, spelt = {0};
    json_begin_object(&l->json, NULL);
    json_begin_array(&l->json, "lines");
    at->open.len = 0;
    at->line = 0;
    uint32_t first = at->next, i = *next_line;
    for (; i < l->lines.len && l->lines.at[i].line->file == file; i++) {
        const GcovUnitLine *line = l->lines.at[i].line;
        add_line(l, line,
                 line->apart ? &u->n->functions.at[line->apart - 1]
                             : function_at(l, at, file, line->line));
    }
    *next_line = i;
    json_end(&l->json);
    spell_name(name, &spelt);
    json_str(&l->json, "file", strbuf_str(&spelt));
    strbuf_deinit(&spelt);
    json_begin_array(&l->json, "functions");
    for (at->next = first; at->next < l->functions.len; at->next++) {
        if (u->n->functions.at[l->functions.at[at->next]].file != file)
            break;
        add_function(l, l->functions.at[at->next], &readable);
    }
    json_end(&l->json);
    json_end(&l->json);
    strbuf_deinit(&readable);
}

void cover_gcov_json_add(void *ctx, const GcovUnit *u, Str data_file)
{
    StrBuf *out = ctx;
    Listing l = {.u = u, .json = json_writer(out, 0)};
    Naming at = {0};
    uint32_t line = 0;
    sort_all(&l);
    json_begin_object(&l.json, NULL);
    json_str(&l.json, "gcc_version",
             arena_printf(u->arena, "%u.%u.0", u->n->version / 100, u->n->version % 100));
    json_begin_array(&l.json, "files");
    for (uint32_t i = 0; i < u->n->files.len; i++) {
        while (line < l.lines.len && l.lines.at[line].line->file < i)
            line++;
        if (gcov_unit_file(u, i)->id.v) { // one without lines is listed, too
            while (at.next < l.functions.len &&
                   u->n->functions.at[l.functions.at[at.next]].file < i)
                at.next++;
            add_file(&l, i, u->n->files.at[i], &at, &line);
        }
    }
    json_end(&l.json);
    json_str(&l.json, "format_version", STR("1"));
    if (u->n->folder.len)
        json_str(&l.json, "current_working_directory", u->n->folder);
    json_str(&l.json, "data_file", data_file);
    json_end(&l.json);
    strbuf_add_char(out, '\n');
}
