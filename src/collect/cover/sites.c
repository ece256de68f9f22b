// SPDX-License-Identifier: Apache-2.0
// Reads the addresses of statements from line tables.

#include "collect/cover/sites.h"

#include <stdlib.h>

#include "collect/cover/bracket_lines.h"
#include "dwarf/dwarf.h"
#include "os/file.h"

typedef Vec(TraceSite) SiteVec;

// The state while one file is read.
typedef struct SitePass {
    SiteLoader *l;
    DwarfFile *dwarf;
    const Elf *elf;
    TraceModule *m;
    SiteVec sites;
    U32Vec file_ids; // [file of the unit]: StrId + 2; 1: not wanted; 0: not asked yet
    StrId file;      // the file that `brackets` belongs to
    U32Vec brackets; // of the source itself
    bool has_rows;
    bool has_inlined; // some function was inlined in the unit
    DwarfFrames frames;
} SitePass;

void site_loader_init(SiteLoader *l, Arena *arena, Profile *profile)
{
    *l = (SiteLoader){.arena = arena, .profile = profile};
    // Without the library all addresses of the line table are accepted.
    if (!disasm_open(arena, DISASM_X86_64, &l->disasm, NULL))
        l->disasm = NULL;
}

void site_loader_deinit(SiteLoader *l)
{
    for (size_t i = 0; i < l->sources.len; i++)
        vec_free(&l->sources.at[i].brackets);
    vec_free(&l->sources);
    table_deinit(&l->line_index);
    table_deinit(&l->source_index);
    disasm_close(l->disasm);
    l->disasm = NULL;
}

// ---- Rows of the profile -------------------------------------------------------------

static uint32_t line_row(SiteLoader *l, StrId file, uint32_t line)
{
    LineCounts *c = &l->profile->line_counts;
    uint64_t hash = hash_pair(file.v, line);
    uint32_t row;
    for (TableProbe p = table_probe(&l->line_index, hash); table_next(&l->line_index, &p, &row);)
        if (c->file.at[row].v == file.v && c->line.at[row] == line)
            return row;
    row = (uint32_t)c->line.len;
    vec_push(&l->profile->arena, &c->file, file);
    vec_push(&l->profile->arena, &c->line, line);
    vec_push(&l->profile->arena, &c->count, 0);
    table_insert(&l->line_index, hash, row);
    return row;
}

static uint32_t function_row(SiteLoader *l, const DwarfFunction *f)
{
    Profile *p = l->profile;
    Str linkage = f->linkage_name.len ? f->linkage_name : f->name;
    FunctionId function = profile_function(p, f->name, linkage, f->decl_file, f->decl_line);
    uint32_t row = (uint32_t)p->function_counts.count.len;
    vec_push(&p->arena, &p->function_counts.function, function);
    vec_push(&p->arena, &p->function_counts.count, 0);
    vec_push(&p->arena, &p->function_counts.hash, 0);
    vec_push(&p->arena, &p->function_counts.column, 0);
    return row;
}

// Returns what is known of a source: whether it is wanted and which lines hold only brackets (none
// when the file cannot be read). Valid until the next call.
static const TraceSource *source_of(SiteLoader *l, StrId file)
{
    uint32_t row;
    for (TableProbe p = table_probe(&l->source_index, hash_u64(file.v));
         table_next(&l->source_index, &p, &row);)
        if (l->sources.at[row].file.v == file.v)
            return &l->sources.at[row];
    Str path = profile_text(l->profile, file);
    TraceSource source = {.file = file};
    MappedFile text = {0};
    source.is_wanted = path.len && (!l->keep || l->keep(l->keep_ctx, path));
    if (source.is_wanted && os_map_file(path, &text, NULL))
        bracket_lines_find(str_from_bytes(text.bytes), &source.brackets);
    os_unmap_file(&text);
    table_insert(&l->source_index, hash_u64(file.v), (uint32_t)l->sources.len);
    vec_push(NULL, &l->sources, source);
    return &vec_last(&l->sources);
}

static bool wanted_path(SitePass *s, Str path, StrId *ret)
{
    *ret = profile_str(s->l->profile, path);
    return source_of(s->l, *ret)->is_wanted;
}

static bool is_bracket_line(SitePass *s, StrId file, uint32_t line)
{
    if (s->file.v != file.v) {
        s->brackets = source_of(s->l, file)->brackets;
        s->file = file;
    }
    const U32Vec *b = &s->brackets;
    size_t at = PARTITION_POINT(i, b->len, b->at[i] < line);
    return at < b->len && b->at[at] == line;
}

// The id of a unit's file; false when the file is not wanted.
static bool wanted_file(SitePass *s, size_t unit, uint32_t number, StrId *ret)
{
    if (number >= s->file_ids.len) {
        if (number > 1u << 20)
            return false;
        vec_extend(NULL, &s->file_ids, number + 1 - s->file_ids.len);
    }
    uint32_t *known = &s->file_ids.at[number];
    if (*known == 0) {
        StrId id;
        *known = wanted_path(s, dwarf_unit_file(s->dwarf, unit, number), &id) ? id.v + 2 : 1;
    }
    *ret = (StrId){*known - 2};
    return *known != 1;
}

// ---- Boundaries ----------------------------------------------------------------------

// Follows the instructions of a sequence from row to row.
typedef struct Boundary {
    uint64_t at;  // address of the next instruction
    bool is_lost; // decoding failed: the next row is accepted unchecked
} Boundary;

static bool on_boundary(SitePass *s, Boundary *b, uint64_t address)
{
    if (!s->l->disasm)
        return true;
    if (b->is_lost || b->at == 0 || b->at > address + 16) {
        *b = (Boundary){.at = address};
        return true;
    }
    Bytes code = elf_bytes_at_svma(s->elf, b->at);
    while (b->at < address) {
        uint32_t length = disasm_length(s->l->disasm, code);
        if (length == 0) {
            *b = (Boundary){.at = address};
            return true;
        }
        code = bytes_slice(code, length, code.len);
        b->at += length;
    }
    return b->at == address;
}

// ---- Units ---------------------------------------------------------------------------

static bool add_site(SitePass *s, uint64_t svma, uint32_t line, uint32_t function)
{
    Bytes code = elf_bytes_at_svma(s->elf, svma);
    if (code.len == 0 || !elf_is_code(s->elf, svma))
        return false;
    TraceSite site = {.svma = svma, .line = line, .function = function, .original = code.ptr[0]};
    vec_push(NULL, &s->sites, site);
    return true;
}

// Whether the code right before an address is a jump or a return, judged by its last bytes. These
// may be part of an operand; the mistake costs one breakpoint more.
static bool is_behind_jump(SitePass *s, uint64_t address)
{
    enum { BACK = 5 };
    Bytes before = address < BACK ? (Bytes){0} : elf_bytes_at_svma(s->elf, address - BACK);
    const uint8_t *b = before.ptr;
    return before.len >= BACK && (b[0] == 0xe9 || b[3] == 0xeb || b[4] == 0xc3);
}

// Whether a row begins a statement, or the line is entered there from elsewhere. Compilers mark
// only the first row of a line. In `} else if (c)` that is the jump that ends the block before, and
// `c` is reached past it.
static bool is_beginning(SitePass *s, const DwarfRow *rows, size_t i)
{
    const DwarfRow *row = &rows[i];
    if (row->line == 0)
        return false;
    return row->flags & DWARF_ROW_IS_STMT ||
           (i && rows[i - 1].line == row->line && rows[i - 1].file == row->file &&
            is_behind_jump(s, row->address));
}

// Finds the lines with the calls of functions inlined at a row. Optimisers often leave such a line
// no row of its own, only code of another library in its place. `behind` is the address of the row
// before: copies that begin there or earlier have been added already.
static size_t find_call_lines(SitePass *s, uint64_t address, uint64_t behind, uint32_t *rows,
                              size_t max)
{
    DwarfFrames *f = &s->frames;
    size_t count = 0;
    if (!s->has_inlined || !dwarf_lookup(s->dwarf, address, f))
        return 0;
    for (size_t i = 1; i < f->len && count < max; i++) {
        StrId file;
        if (f->at[i - 1].is_inlined && f->at[i - 1].low > behind && f->at[i].line &&
            wanted_path(s, f->at[i].file, &file) && !is_bracket_line(s, file, f->at[i].line))
            rows[count++] = line_row(s->l, file, f->at[i].line);
    }
    return count;
}

// Adds the sites of a row. Several lines may begin at one address: all of them run when it does.
static void add_row(SitePass *s, size_t unit, const DwarfRow *rows, size_t i, Boundary *boundary)
{
    enum { CALLS_MAX = 16 };
    const DwarfRow *row = &rows[i];
    uint32_t lines[CALLS_MAX + 1];
    StrId file;
    if (!is_beginning(s, rows, i))
        return;
    bool is_wanted = wanted_file(s, unit, row->file, &file);
    // A row that gets a breakpoint anyway also counts for inlined copies that began before it: any
    // part of a copy shows that the copy was entered.
    uint64_t behind = is_wanted || i == 0 ? 0 : rows[i - 1].address;
    size_t count = find_call_lines(s, row->address, behind, lines, CALLS_MAX);
    if (is_wanted && !is_bracket_line(s, file, row->line))
        lines[count++] = line_row(s->l, file, row->line);
    if (count == 0)
        return;
    if (!on_boundary(s, boundary, row->address)) {
        s->m->off_boundary++;
        return;
    }
    for (size_t k = 0; k < count; k++)
        add_site(s, row->address, lines[k], SITE_NO_ROW);
}

// Whether any row is of a wanted source. Units of the system's libraries are many, and none of
// their lines is wanted.
static bool has_wanted_row(SitePass *s, size_t unit, DwarfRows rows)
{
    StrId file;
    for (size_t i = 0; i < rows.len; i++)
        if (rows.at[i].line && wanted_file(s, unit, rows.at[i].file, &file))
            return true;
    return false;
}

static void add_rows(SitePass *s, size_t unit, DwarfRows rows)
{
    Boundary boundary = {0};
    for (size_t i = 0; i < rows.len; i++)
        if (rows.at[i].flags & DWARF_ROW_END)
            boundary = (Boundary){0};
        else
            add_row(s, unit, rows.at, i, &boundary);
}

static void add_functions(SitePass *s, size_t unit)
{
    DwarfFunctions functions = dwarf_unit_functions(s->dwarf, unit);
    for (size_t i = 0; i < functions.len; i++) {
        const DwarfFunction *f = &functions.at[i];
        if (f->decl_file.len == 0 || f->name.len == 0 || !elf_is_code(s->elf, f->low) ||
            (s->l->keep && !s->l->keep(s->l->keep_ctx, f->decl_file)))
            continue;
        add_site(s, f->low, SITE_NO_ROW, function_row(s->l, f));
    }
}

static int compare_sites(const void *a, const void *b)
{
    const TraceSite *x = a, *y = b;
    if (x->svma != y->svma)
        return x->svma < y->svma ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

// Sorts the sites, removes duplicates, and keeps the start of a function only at the first of the
// lines at its address.
static void settle(SitePass *s)
{
    if (s->sites.len == 0)
        return;
    qsort(s->sites.at, s->sites.len, sizeof(s->sites.at[0]), compare_sites);
    TraceSite *sites = arena_array(s->l->arena, TraceSite, s->sites.len);
    size_t n = 0;
    for (size_t i = 0; i < s->sites.len; i++) {
        TraceSite *site = &s->sites.at[i], *last = n ? &sites[n - 1] : NULL;
        bool same = last && last->svma == site->svma;
        if (same && site->line == SITE_NO_ROW && last->function == SITE_NO_ROW)
            last->function = site->function;
        else if (!same || (site->line != last->line && site->line != SITE_NO_ROW))
            sites[n++] = *site;
    }
    s->m->sites = sites;
    s->m->site_count = n;
    for (size_t i = 0; i < n; i++)
        s->m->place_count += i == 0 || sites[i].svma != sites[i - 1].svma;
}

static void load_units(SitePass *s)
{
    for (size_t unit = 0; unit < dwarf_unit_count(s->dwarf); unit++) {
        DwarfRows rows = dwarf_unit_rows(s->dwarf, unit);
        s->file_ids.len = 0;
        s->has_rows |= rows.len != 0;
        if (rows.len && !has_wanted_row(s, unit, rows))
            continue;
        s->has_inlined = dwarf_unit_has_inlined(s->dwarf, unit);
        add_rows(s, unit, rows);
        add_functions(s, unit);
    }
    settle(s);
}

void sites_load(SiteLoader *l, Str path, TraceModule *ret)
{
    static const SymboliseFiles plain_files;
    static const DebugSearch nowhere;
    static const BuildId any;
    ModuleSymbols m;
    SitePass s = {.l = l, .m = ret, .elf = &ret->elf};
    *ret = (TraceModule){.path = arena_str(l->arena, path)};
    module_symbols_open_debug(&m, &plain_files, l->debug ? l->debug : &nowhere, path, &any,
                              (Bytes){0});
    // The segments are needed after the file is unmapped, so that they are copied.
    if (m.has_object && elf_parse(l->arena, m.elf.file, &ret->elf, NULL) &&
        ret->elf.machine == EM_X86_64 && m.dwarf) {
        s.dwarf = m.dwarf;
        load_units(&s);
        ret->has_debug = s.has_rows;
    }
    vec_free(&s.sites);
    vec_free(&s.file_ids);
    ret->elf.file = (Bytes){0};
    module_symbols_close(&m);
}

const TraceSite *site_find(const TraceModule *m, uint64_t svma)
{
    size_t low = PARTITION_POINT(i, m->site_count, m->sites[i].svma < svma);
    return low < m->site_count && m->sites[low].svma == svma ? &m->sites[low] : NULL;
}

const TraceSite *site_next_place(const TraceModule *m, const TraceSite *first)
{
    const TraceSite *site = first;
    while (site < m->sites + m->site_count && site->svma == first->svma)
        site++;
    return site;
}

bool site_is_known(const TraceModule *m, const TraceSite *first, const Profile *profile)
{
    const TraceSite *end = site_next_place(m, first);
    for (const TraceSite *site = first; site < end; site++)
        if ((site->line != SITE_NO_ROW && !profile->line_counts.count.at[site->line]) ||
            (site->function != SITE_NO_ROW && !profile->function_counts.count.at[site->function]))
            return false;
    return true;
}
