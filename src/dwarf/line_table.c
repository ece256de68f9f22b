// SPDX-License-Identifier: Apache-2.0
// Line tables: the header, paths of files, and the program that makes rows. Format: DWARF 5 §6.2;
// DWARF 2 to 4 §6.2.

#include "dwarf/dwarf_internal.h"

#include <stdlib.h>

typedef struct LineFile {
    Str name;
    uint64_t dir;
    Str path; // made when it is first needed
    bool has_path;
} LineFile;

struct Lines {
    Set *set;
    Str comp_dir;
    uint64_t offset;
    uint8_t version, addr_size, offset_size;
    uint8_t min_inst_length, max_ops, opcode_base, line_range;
    int8_t line_base;
    bool default_is_stmt;
    bool are_rows_made;
    const uint8_t *op_lengths; // [opcode - 1]
    StrVec dirs;               // version 5: [0] is the unit's folder; before: [0] has number 1
    Vec(LineFile) files;       // in the same way
    Bytes program;
    DwarfRows rows;
    // The addresses of all rows relative to the first, in one dense array for the search. NULL when
    // they span more than 32 bits.
    uint32_t *row_offsets;
};

void lines_deinit(Lines *l)
{
    vec_free(&l->dirs);
    vec_free(&l->files);
}

// ---- Header ----------------------------------------------------------------
static void read_tables_v2(Cursor *c, Lines *l)
{
    for (Str dir = cursor_c_str(c); dir.len; dir = cursor_c_str(c))
        vec_push(NULL, &l->dirs, dir);
    for (Str name = cursor_c_str(c); name.len; name = cursor_c_str(c)) {
        uint64_t dir = cursor_uleb(c);
        (void)cursor_uleb(c); // time
        (void)cursor_uleb(c); // size
        vec_push(NULL, &l->files, (LineFile){.name = name, .dir = dir});
    }
}

static Str table_text(const Set *set, Value v)
{
    switch (v.kind) {
    case VALUE_TEXT:
        return v.text;
    case VALUE_STRP:
        return section_text(set->s.str, v.u);
    case VALUE_LINE_STRP:
        return section_text(set->s.line_str, v.u);
    default:
        return (Str){0};
    }
}

// Reads a table of version 5, of folders or files: a list of formats, then entries.
static void read_table_v5(Cursor *c, Lines *l, bool is_dirs)
{
    enum { FORMATS_MAX = 255 };
    struct {
        uint64_t type, form;
    } formats[FORMATS_MAX];
    FormSizes sizes = {l->version, l->addr_size, l->offset_size};
    uint8_t format_count = cursor_u8(c);
    for (uint8_t i = 0; i < format_count; i++) {
        formats[i].type = cursor_uleb(c);
        formats[i].form = cursor_uleb(c);
    }
    uint64_t count = cursor_uleb(c);
    for (uint64_t n = 0; n < count && cursor_ok(c); n++) {
        LineFile file = {0};
        size_t start = c->at;
        for (uint8_t i = 0; i < format_count; i++) {
            Value v = form_read(c, sizes, formats[i].form, 0);
            if (formats[i].type == DW_LNCT_path)
                file.name = table_text(l->set, v);
            else if (formats[i].type == DW_LNCT_directory_index)
                file.dir = v.u;
        }
        if (c->at == start)
            return; // only forms without size: no writer produces that
        if (is_dirs)
            vec_push(NULL, &l->dirs, file.name);
        else
            vec_push(NULL, &l->files, file);
    }
}

// On false the cursor says why.
static bool header_read(Cursor *c, Lines *l)
{
    l->offset_size = 4;
    uint64_t length = cursor_u32(c);
    if (length == UINT32_MAX) {
        l->offset_size = 8;
        length = cursor_u64(c);
    }
    if (length > cursor_left(c))
        cursor_fail(c, "cut short");
    if (!cursor_ok(c))
        return false;
    c->data.len = c->at + (size_t)length;
    uint16_t version = cursor_u16(c);
    if (version < 2 || version > 5) {
        cursor_fail_decimal(c, "unknown version", version);
        return false;
    }
    l->version = (uint8_t)version;
    if (version >= 5) {
        l->addr_size = cursor_u8(c);
        (void)cursor_u8(c); // segment selector size
        if (l->addr_size != 4 && l->addr_size != 8) {
            cursor_fail_decimal(c, "unknown address size", l->addr_size);
            return false;
        }
    }
    uint64_t header_length = cursor_uint(c, l->offset_size);
    if (header_length > cursor_left(c))
        cursor_fail(c, "cut short");
    if (!cursor_ok(c))
        return false;
    size_t program_at = c->at + (size_t)header_length;
    l->min_inst_length = cursor_u8(c);
    l->max_ops = version >= 4 ? cursor_u8(c) : 1;
    l->default_is_stmt = cursor_u8(c) != 0;
    l->line_base = (int8_t)cursor_u8(c);
    l->line_range = cursor_u8(c);
    l->opcode_base = cursor_u8(c);
    l->op_lengths = cursor_bytes(c, l->opcode_base ? l->opcode_base - 1u : 0).ptr;
    if (version >= 5) {
        read_table_v5(c, l, true);
        read_table_v5(c, l, false);
    } else {
        read_tables_v2(c, l);
    }
    l->program = bytes_slice(c->data, program_at, c->data.len);
    if (l->opcode_base == 0)
        cursor_fail(c, "opcode base is 0");
    return cursor_ok(c);
}

static Lines *lines_new(Unit *u)
{
    Set *set = u->set;
    Lines *l = arena_new(&set->file->arena, Lines);
    l->set = set;
    l->comp_dir = u->comp_dir;
    l->offset = u->stmt_list;
    l->addr_size = u->addr_size;
    Cursor c = section_cursor(set, set->s.line, ".debug_line");
    cursor_seek(&c, u->stmt_list);
    c.data.len = MIN(c.data.len, c.at + set->line_budget);
    size_t start = c.at;
    if (!header_read(&c, l)) {
        unit_damaged_at(u, u->stmt_list, "line table header", &c);
        l->program = (Bytes){0};
    }
    set->line_budget -= MIN(set->line_budget, c.at - start + l->program.len);
    return l;
}

Lines *lines_of(Unit *u)
{
    Unit *owner = u->skeleton ? u->skeleton : u;
    unit_read_root(owner);
    if (owner->lines || !owner->has_lines || owner->set->s.line.len == 0)
        return owner->lines;
    Set *set = owner->set;
    uint64_t hash = hash_pair(owner->stmt_list, str_hash(owner->comp_dir));
    uint32_t row;
    for (TableProbe p = table_probe(&set->line_table, hash);
         table_next(&set->line_table, &p, &row);) {
        Lines *l = set->lines.at[row];
        if (l->offset == owner->stmt_list && str_equal(l->comp_dir, owner->comp_dir))
            return owner->lines = l;
    }
    table_insert(&set->line_table, hash, (uint32_t)set->lines.len);
    owner->lines = lines_new(owner);
    vec_push(&set->file->arena, &set->lines, owner->lines);
    return owner->lines;
}

// ---- Paths -----------------------------------------------------------------
static bool is_absolute(Str path)
{
    return path.len > 0 && path.ptr[0] == '/';
}

// Removes the last component; false when there is none.
static bool drop_last(char *out, size_t *len, size_t root)
{
    size_t n = *len;
    while (n > root && out[n - 1] != '/')
        n--;
    Str last = str_over(out + n, *len - n);
    if (last.len == 0 || str_equal(last, STR("..")))
        return false;
    *len = n > root ? n - 1 : root;
    return true;
}

static size_t add_part(char *out, size_t len, size_t root, Str part)
{
    if (part.len == 0 || str_equal(part, STR(".")))
        return len;
    if (str_equal(part, STR("..")) && (drop_last(out, &len, root) || root))
        return len;
    if (len > root)
        out[len++] = '/';
    memcpy(out + len, part.ptr, part.len);
    return len + part.len;
}

Str path_join(Arena *arena, Str comp_dir, Str dir, Str name)
{
    if (name.len == 0)
        return (Str){0};
    if (is_absolute(name))
        comp_dir = dir = (Str){0};
    else if (is_absolute(dir))
        comp_dir = (Str){0};
    Str parts[] = {comp_dir, dir, name};
    size_t room = comp_dir.len + dir.len + name.len + 3;
    char *out = arena_alloc(arena, room, 1);
    bool absolute = is_absolute(comp_dir) || is_absolute(dir) || is_absolute(name);
    size_t root = absolute;
    size_t len = root;
    out[0] = '/';
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        Str rest = parts[i];
        Str part;
        while (str_next_part(&rest, '/', &part))
            len = add_part(out, len, root, part);
    }
    return str_over(out, len);
}

static Str dir_of(const Lines *l, uint64_t dir)
{
    // Before version 5 folder 0 is the unit's and is not in the table.
    if (l->version < 5) {
        if (dir == 0)
            return (Str){0};
        dir--;
    }
    return dir < l->dirs.len ? l->dirs.at[dir] : (Str){0};
}

Str lines_path(Lines *l, uint32_t file)
{
    uint32_t at = l->version < 5 ? file - 1 : file;
    if (at >= l->files.len)
        return (Str){0};
    LineFile *entry = &l->files.at[at];
    if (!entry->has_path) {
        entry->has_path = true;
        entry->path =
            path_join(&l->set->file->arena, l->comp_dir, dir_of(l, entry->dir), entry->name);
    }
    return entry->path;
}

// ---- The program -----------------------------------------------------------
typedef struct Sequence {
    size_t first, len; // rows of the sequence, its end row included
    uint64_t low;
} Sequence;

typedef struct Machine {
    Lines *l;
    Cursor c;
    uint64_t address;
    uint64_t op_index;
    uint32_t file, line;
    uint64_t column;
    uint8_t flags; // of the next row; is_stmt is kept from row to row
    size_t first;  // first row of the open sequence
    bool is_sorted;
    Vec(DwarfRow) rows;
    Vec(Sequence) sequences;
} Machine;

static void reset(Machine *m)
{
    m->address = 0;
    m->op_index = 0;
    m->file = 1;
    m->line = 1;
    m->column = 0;
    m->flags = m->l->default_is_stmt ? DWARF_ROW_IS_STMT : 0;
    m->first = m->rows.len;
    m->is_sorted = true;
}

// Whether a row without bytes, because the next one has its address, is replaced by that one, which
// then gets its flags. A row with flags is kept when the next one is of another line. More than
// half of the rows that gcc writes are replaced.
static inline bool gives_way(const DwarfRow *last, const DwarfRow *next)
{
    if (last->address != next->address)
        return false;
    bool same_line = last->line == next->line && last->file == next->file;
    return last->flags == 0 || (same_line && !(next->flags & DWARF_ROW_END));
}

static inline void add_row(Machine *m, uint8_t flags)
{
    DwarfRow row = {m->address, m->file, m->line, (uint16_t)MIN(m->column, (uint64_t)UINT16_MAX),
                    flags};
    m->flags &= DWARF_ROW_IS_STMT;
    if (m->rows.len == m->first) {
        vec_push(NULL, &m->rows, row);
        return;
    }
    DwarfRow *last = &vec_last(&m->rows);
    if (gives_way(last, &row)) {
        row.flags |= last->flags;
        *last = row;
        return;
    }
    if (last->address > row.address)
        m->is_sorted = false;
    vec_push(NULL, &m->rows, row);
}

static inline void advance(Machine *m, uint64_t ops)
{
    const Lines *l = m->l;
    if (LIKELY(l->max_ops <= 1)) {
        m->address += l->min_inst_length * ops;
        return;
    }
    ops += m->op_index;
    m->address += l->min_inst_length * (ops / l->max_ops);
    m->op_index = ops % l->max_ops;
}

static int by_address(const void *left, const void *right)
{
    const DwarfRow *a = left;
    const DwarfRow *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    int a_end = a->flags & DWARF_ROW_END;
    return a_end - (b->flags & DWARF_ROW_END);
}

static void end_sequence(Machine *m)
{
    add_row(m, DWARF_ROW_END);
    size_t len = m->rows.len - m->first;
    DwarfRow *rows = &m->rows.at[m->first];
    if (!m->is_sorted)
        qsort(rows, len, sizeof(DwarfRow), by_address);
    uint64_t top = m->l->addr_size >= 8 ? UINT64_MAX : UINT32_MAX;
    // A sequence that starts at 0 or at the highest address, or is empty, was dropped by the
    // linker.
    uint64_t low = rows[0].address;
    bool dropped = low == 0 || low >= top - 1 || low >= rows[len - 1].address ||
                   !(rows[len - 1].flags & DWARF_ROW_END);
    if (dropped)
        m->rows.len = m->first;
    else
        vec_push(NULL, &m->sequences, (Sequence){m->first, len, low});
    reset(m);
}

static void extended(Machine *m)
{
    Cursor *c = &m->c;
    uint64_t len = cursor_uleb(c);
    Cursor in = cursor_sub(c, len, ".debug_line");
    if (!cursor_ok(&in) || len == 0)
        return;
    switch (cursor_u8(&in)) {
    case DW_LNE_end_sequence:
        end_sequence(m);
        break;
    case DW_LNE_set_address:
        if (len - 1 != 1 && len - 1 != 2 && len - 1 != 4 && len - 1 != 8)
            break;
        m->address = cursor_uint(&in, (size_t)len - 1);
        m->op_index = 0;
        break;
    case DW_LNE_define_file: {
        LineFile file = {.name = cursor_c_str(&in)};
        file.dir = cursor_uleb(&in);
        if (cursor_ok(&in))
            vec_push(NULL, &m->l->files, file);
        break;
    }
    default:
        break;
    }
}

static void standard(Machine *m, uint8_t op)
{
    Cursor *c = &m->c;
    const Lines *l = m->l;
    switch (op) {
    case DW_LNS_copy:
        add_row(m, m->flags);
        break;
    case DW_LNS_advance_pc:
        advance(m, cursor_uleb(c));
        break;
    case DW_LNS_advance_line:
        m->line += (uint32_t)cursor_sleb(c); // wraps around, as the standard says
        break;
    case DW_LNS_set_file:
        m->file = (uint32_t)cursor_uleb(c);
        break;
    case DW_LNS_set_column:
        m->column = cursor_uleb(c);
        break;
    case DW_LNS_negate_stmt:
        m->flags ^= DWARF_ROW_IS_STMT;
        break;
    case DW_LNS_set_basic_block:
        m->flags |= DWARF_ROW_BASIC_BLOCK;
        break;
    case DW_LNS_const_add_pc:
        if (l->line_range)
            advance(m, (255u - l->opcode_base) / l->line_range);
        break;
    case DW_LNS_fixed_advance_pc:
        m->address += cursor_u16(c);
        m->op_index = 0;
        break;
    case DW_LNS_set_prologue_end:
        m->flags |= DWARF_ROW_PROLOGUE_END;
        break;
    case DW_LNS_set_epilogue_begin:
        m->flags |= DWARF_ROW_EPILOGUE_BEGIN;
        break;
    default: // unknown, or an opcode whose operands do not matter
        for (uint8_t n = l->op_lengths[op - 1]; n > 0; n--)
            (void)cursor_uleb(c);
        break;
    }
}

static void run(Machine *m)
{
    const Lines *l = m->l;
    reset(m);
    while (cursor_more(&m->c)) {
        uint8_t op = cursor_u8(&m->c);
        if (op >= l->opcode_base) {
            if (!l->line_range)
                return;
            uint8_t adjusted = (uint8_t)(op - l->opcode_base);
            advance(m, adjusted / l->line_range);
            m->line += (uint32_t)(l->line_base + adjusted % l->line_range);
            add_row(m, m->flags);
        } else if (op == 0) {
            extended(m);
        } else {
            standard(m, op);
        }
    }
}

static int by_low(const void *left, const void *right)
{
    const Sequence *a = left;
    const Sequence *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

// Sorts the sequences by address. Of two that overlap (identical functions that were folded) the
// one that starts earlier wins.
static DwarfRows arrange(Arena *arena, Machine *m)
{
    if (m->sequences.len > 1)
        qsort(m->sequences.at, m->sequences.len, sizeof(Sequence), by_low);
    DwarfRow *out = arena_array(arena, DwarfRow, m->rows.len);
    size_t len = 0;
    for (size_t i = 0; i < m->sequences.len; i++) {
        Sequence s = m->sequences.at[i];
        if (len && out[len - 1].address > s.low)
            continue;
        memcpy(out + len, m->rows.at + s.first, s.len * sizeof(DwarfRow));
        len += s.len;
    }
    return (DwarfRows){out, len};
}

static uint32_t *offsets_of(Arena *arena, DwarfRows rows)
{
    if (rows.len == 0 || rows.at[rows.len - 1].address - rows.at[0].address > UINT32_MAX)
        return NULL;
    uint32_t *offsets = arena_array(arena, uint32_t, rows.len);
    for (size_t i = 0; i < rows.len; i++)
        offsets[i] = (uint32_t)(rows.at[i].address - rows.at[0].address);
    return offsets;
}

DwarfRows lines_rows(Lines *l)
{
    if (l->are_rows_made)
        return l->rows;
    l->are_rows_made = true;
    Machine m = {.l = l, .c = section_cursor(l->set, l->program, ".debug_line")};
    run(&m);
    l->rows = arrange(&l->set->file->arena, &m);
    l->row_offsets = offsets_of(&l->set->file->arena, l->rows);
    vec_free(&m.rows);
    vec_free(&m.sequences);
    return l->rows;
}

// The number of rows that start at or below the address.
static size_t rows_up_to(const Lines *l, uint64_t address)
{
    uint64_t offset = address - l->rows.at[0].address;
    size_t low = 0;
    size_t n = l->rows.len;
    while (n > 0) {
        size_t half = n / 2;
        bool right = l->row_offsets ? l->row_offsets[low + half] <= offset
                                    : l->rows.at[low + half].address <= address;
        low = right ? low + half + 1 : low;
        n = right ? n - half - 1 : half;
    }
    return low;
}

const DwarfRow *lines_row_at(Lines *l, uint64_t address)
{
    DwarfRows rows = lines_rows(l);
    if (rows.len == 0 || address < rows.at[0].address)
        return NULL;
    const DwarfRow *row = &rows.at[rows_up_to(l, address) - 1];
    return row->flags & DWARF_ROW_END ? NULL : row;
}
