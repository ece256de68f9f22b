// SPDX-License-Identifier: Apache-2.0
// Types and functions that the files of this folder share. The order of work:
//   open.c          opening and closing
//   units.c         headers and unit DIEs -> Unit, address index (on opening)
//   abbrev.c        abbreviations -> attribute lists and skip programs
//   forms.c         one attribute value -> number, text, address
//   references.c    one attribute value -> the DIE that it refers to
//   ranges.c        range lists; overlapping ranges -> disjoint segments
//   tree.c          a unit's DIEs -> nodes and segments (on the first hit)
//   line_table.c    line table headers, paths, rows
//   origins.c       node -> names and call site, along origin chains
//   scopes.c        the namespaces and classes around a function
//   split.c         .dwo and .dwp
//   lookup.c        the public functions
//   llvm_counters.c dwarf_unit_counters, which walks the DIEs itself
//   variables.c     the variables that are visible at an address, which walks the DIEs itself
//   types.c         size and sign of numbers, members of structures
//   locations.c     location expressions and lists
//   damage.c counts and notes of unreadable parts

#ifndef DWARF_DWARF_INTERNAL_H
#define DWARF_DWARF_INTERNAL_H

#include "base/cursor.h"
#include "base/table.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"

enum {
    NONE = UINT32_MAX,    // no node, no unit, no position
    ORIGIN_HOPS_MAX = 16, // abstract_origin and specification; compilers need 3
    TEXT_MAX = 1 << 20,   // the longest name or path
};

typedef struct Set Set;
typedef struct Unit Unit;
typedef struct Lines Lines;

// ---- Abbreviations ---------------------------------------------------------
typedef struct AbbrevAttr {
    uint16_t name;
    uint16_t form;
    // For DW_FORM_implicit_const the value, cut to 32 bits: enough for the numbers of files and
    // lines that are read here.
    int32_t implicit;
} AbbrevAttr;

// One step of skipping a DIE: skip `fixed` bytes, then one value of variable size.
typedef struct SkipOp {
    uint32_t fixed;
    uint16_t form;
} SkipOp;

typedef enum AbbrevKind {
    ABBREV_PLAIN, // may have code below it
    ABBREV_LEAF,  // nothing below it has code: the walk goes to its sibling if that is stated
    ABBREV_INLINED,
    ABBREV_SUBPROGRAM,
    ABBREV_BAD, // has an unknown form: its DIEs cannot be skipped
} AbbrevKind;

// The place of a number in a DIE, when all values before it have fixed sizes.
typedef struct Field {
    uint16_t at;    // offset from the first attribute
    uint8_t size;   // bytes; 0: the number is `value`
    uint32_t value; // 0 for an attribute that is absent
} Field;

// The places of the call's attributes in an inlined copy, when all of them have such a place.
typedef struct CallShape {
    Field origin, file, line, column;
} CallShape;

typedef struct Abbrev {
    uint64_t code;
    uint32_t attr, attr_count; // in AbbrevTable.attrs
    uint32_t op, op_count;     // in AbbrevTable.ops
    uint32_t fixed;            // bytes after the last op; without ops: all bytes
    uint16_t tag;
    uint8_t kind; // AbbrevKind
    bool has_children;
    bool has_pc; // low_pc or ranges
    // Offsets of the attributes that the walk needs from the first attribute, when all values
    // before them have fixed sizes; else UINT16_MAX.
    // In low_at of ABBREV_BAD: the unknown form; UINT16_MAX stands for that number or a higher one.
    uint16_t low_at, high_at, sibling_at;
    uint8_t high_size, sibling_size; // bytes; 0: cannot be read that way
    bool pc_is_fixed;                // low_at and high_at give all code addresses of the DIE
    uint32_t shape;                  // row of AbbrevTable.shapes + 1; 0: none
} Abbrev;

typedef struct AbbrevTable {
    Abbrev *abbrevs; // ascending code
    size_t count;
    bool is_dense; // abbrevs[i].code == i + 1
    AbbrevAttr *attrs;
    SkipOp *ops;
    CallShape *shapes;
    uint64_t offset;
    uint32_t key; // of the unit's sizes, which the skip programs depend on
} AbbrevTable;

// The unit's table, decoded on first use; NULL when it is broken.
const AbbrevTable *abbrevs_of(Unit *u);
// Reads one abbreviation without decoding its table. Opening does so for each unit DIE, because
// compilers put its abbreviation anywhere in the table. Returns the number of attributes, or -1
// when it failed or when decoding the whole table costs less.
int abbrev_peek(Unit *u, uint64_t code, uint16_t *ret_tag, AbbrevAttr *ret, int max);
// abbrev_find for a table whose codes have gaps: a binary search.
const Abbrev *abbrev_find_slow(const AbbrevTable *t, uint64_t code);

// Fails the cursor for the abbreviation that was found for a code: none, or ABBREV_BAD.
// Always false.
bool abbrev_failed(const Abbrev *a, uint64_t code, Cursor *c) COLD;

// The abbreviation with a code; NULL when the table has none.
static inline const Abbrev *abbrev_find(const AbbrevTable *t, uint64_t code)
{
    if (LIKELY(t->is_dense))
        return code - 1 < t->count ? &t->abbrevs[code - 1] : NULL;
    return abbrev_find_slow(t, code);
}

// ---- Ranges and segments ---------------------------------------------------
typedef struct Range {
    uint64_t low;
    uint64_t high; // exclusive, > low
    uint32_t id;
} Range;

typedef Vec(Range) RangeVec;

// Disjoint ranges: segment i reaches from start[i] to start[i + 1].
typedef struct Segments {
    uint64_t *start;
    uint32_t *id; // NONE: a gap
    size_t len;
} Segments;

// Makes segments of ranges. Where ranges overlap the highest id wins. Sorts `ranges` in place by
// `low`; equal ones keep their order.
Segments segments_from_ranges(Arena *arena, RangeVec *ranges);
// The id at an address, or NONE.
uint32_t segments_find(const Segments *s, uint64_t address);

// ---- Units -----------------------------------------------------------------
typedef enum UnitState { UNIT_FRESH, UNIT_DECODED, UNIT_FAILED } UnitState;

enum {
    NODE_INLINED = 1,
    NODE_CALL_READ = 2,  // `origin` and call_* are set already
    NODE_ORIGIN_ROW = 4, // `origin` is a row of DwarfFile.origins
};

// A subprogram or an inlined copy that has code, or that encloses one.
typedef struct Node {
    uint32_t die;       // offset from the unit's start
    uint32_t parent;    // node that it is inlined into; NONE for a subprogram
    uint64_t low;       // lowest address of its ranges; 0 when it has none
    uint32_t origin;    // offset of the DIE with its names; with NODE_ORIGIN_ROW: that row
    uint32_t call_file; // for an inlined copy: place of the call in the parent
    uint32_t call_line;
    uint16_t call_column; // 65535: that or more
    uint8_t flags;        // NODE_*
} Node;

// A namespace or class. Its DIE and the end of its children, as offsets from the unit's start.
typedef struct NameScope {
    uint32_t die, end;
    uint32_t parent; // in Unit.scopes, or NONE
    Str text;        // its name with those around it; "" until it is needed
} NameScope;

struct Unit {
    Set *set;
    Bytes section;   // .debug_info or .debug_types, whole
    uint64_t offset; // of the header in it
    uint64_t end;    // of the last DIE
    uint64_t die;    // of the first DIE
    uint64_t abbrev_offset;
    uint64_t id;       // type signature or dwo_id
    uint64_t type_die; // type units: of the type, from `offset`
    uint32_t number;   // among the file's units; NONE outside of the main file
    uint8_t version;
    uint8_t unit_type; // DW_UT_*
    uint8_t addr_size;
    uint8_t offset_size;
    bool is_damaged;
    bool has_code;     // by its own ranges or .debug_aranges
    bool has_lines;    // has DW_AT_stmt_list
    bool is_root_read; // the fields below that come from the unit DIE are set
    bool is_split_sought;
    uint8_t state; // UnitState of the tree
    uint16_t tag;
    uint16_t language; // DW_LANG_*; 0: not stated
    // From the unit DIE.
    uint64_t stmt_list;
    uint64_t low_pc; // base of its range lists
    uint64_t str_offsets_base;
    uint64_t addr_base;
    uint64_t rnglists_base;
    uint64_t loclists_base;
    uint64_t ranges_base; // GNU split DWARF 4: for the ranges in the .dwo
    Str comp_dir, dwo_name;
    Unit *skeleton; // for a split unit: its skeleton, which has the addresses and lines
    Unit *split;    // for a skeleton: its split unit, when it has been found
    const AbbrevTable *abbrevs;
    Lines *lines;
    // From the tree.
    Node *nodes;
    size_t node_count;
    Segments segments;
    DwarfFunctions functions;
    bool has_functions_listed;
    NameScope *scopes; // by the place of their DIEs
    size_t scope_count;
    bool are_scopes_read;
};

typedef Vec(Unit *) UnitVec;

// The sections of one file and what was decoded of them.
struct Set {
    DwarfFile *file;
    DwarfSections s;
    DwarfSections *package; // for a unit of a .dwp: the sections of the whole package; else NULL
    UnitVec units;          // of .debug_info, by offset
    UnitVec types;          // of .debug_types
    bool is_indexed;
    Set *alt;
    Vec(AbbrevTable *) abbrev_tables;
    Table abbrev_table; // offset and sizes -> abbrev_tables
    Vec(Lines *) lines;
    Table line_table; // offset and directory -> lines
    Table type_table; // signature -> index into units; types come after them
    bool are_types_indexed;
    // Numbers of bytes that may still be decoded. In a valid file tables do not overlap; a hostile
    // one could make the reader decode the same bytes again and again.
    uint64_t abbrev_budget, peek_budget, line_budget, range_budget;
    uint64_t peeked_at; // offset of the table that abbrev_peek read last
};

typedef struct Origin {
    Str name, linkage_name, decl_file;
    Str qualified; // "" until it is needed
    Unit *unit;    // of the last DIE of the chain, which stands in the scopes of the function
    uint64_t die;  // offset in the section
    uint32_t decl_line;
} Origin;

struct DwarfFile {
    Arena arena;
    Set main;
    bool has_hooks;
    DwarfHooks hooks;
    Segments index;       // address -> number of the unit
    bool is_index_forced; // all units were decoded because none states its ranges
    Vec(Origin) origins;
    U64Vec origin_dies; // address of the DIE in memory
    Table origin_table; // origin_dies -> row
    Vec(Set *) sets;    // alt, .dwo files
    DwarfStats stats;
    RangeVec scratch_ranges; // heap
};

// Counts the unit as damaged, once, and keeps the first reason.
void unit_damaged(Unit *u, uint64_t offset, const char *why, ...) COLD PRINTF_LIKE(3, 4);
// The same for the damage that a failed cursor found.
void unit_damaged_at(Unit *u, uint64_t offset, const char *what, const Cursor *failed) COLD;

// A set of units over the sections of one file, which are borrowed; set_index reads the units.
void set_init(Set *set, DwarfFile *f, const DwarfSections *sections);
// Reads all unit headers; does nothing the second time.
void set_index(Set *set);
// The unit that contains an offset of .debug_info, or NULL.
Unit *set_unit_at(Set *set, uint64_t offset);
// Builds DwarfFile.index from the ranges that units and .debug_aranges state.
void units_index_addresses(DwarfFile *f);
// Reads the unit DIE; does nothing the second time.
void unit_read_root(Unit *u);
// Decodes the tree; does nothing the second time.
void unit_decode(Unit *u);
// The unit with the functions: for a skeleton its split unit, if that is found; else the unit
// itself.
Unit *unit_tree(Unit *u);

// ---- Values ----------------------------------------------------------------
typedef enum ValueKind {
    VALUE_NONE, // also for values that nothing here uses
    VALUE_UINT,
    VALUE_ADDR,
    VALUE_ADDRX,
    VALUE_SEC_OFFSET,
    VALUE_RNGLISTX,
    VALUE_TEXT, // inline
    VALUE_STRP,
    VALUE_LINE_STRP,
    VALUE_STRX,
    VALUE_STRP_ALT,
    VALUE_REF, // offset from the unit's start
    VALUE_REF_ADDR,
    VALUE_REF_ALT,
    VALUE_REF_SIG8,
} ValueKind;

typedef struct Value {
    ValueKind kind;
    uint64_t u;
    Str text;
} Value;

// The sizes that forms depend on. A struct of its own because line tables have other sizes than
// their unit.
typedef struct FormSizes {
    uint8_t version, addr_size, offset_size;
} FormSizes;

// The sizes of a unit's forms, from its header.
static inline FormSizes unit_sizes(const Unit *u)
{
    return (FormSizes){u->version, u->addr_size, u->offset_size};
}

// The size in bytes of a form with a fixed size (0 for flags and constants that take no room); -1
// for a variable size; -2 for an unknown form.
int form_size(FormSizes sizes, uint64_t form);
// Skips a value of variable size. An unknown form fails the cursor.
void form_skip(Cursor *c, FormSizes sizes, uint64_t form);
// Reads a value of any form. `implicit` is the value of DW_FORM_implicit_const.
Value form_read(Cursor *c, FormSizes sizes, uint64_t form, int64_t implicit);

// The text that a value stands for, from whichever section it lies in; "" when it is not a text.
Str value_text(Unit *u, Value v);
// The address that a value stands for. False when it is not an address, or its index is broken.
bool value_address(Unit *u, Value v, uint64_t *ret);
// The DIE that a reference leads to: its unit and its offset in the section. False when it leads
// nowhere.
bool value_die(Unit *u, Value v, Unit **ret_unit, uint64_t *ret_offset);

// A cursor at the start of a section, in the byte order of the file.
static inline Cursor section_cursor(const Set *set, Bytes section, const char *what)
{
    Cursor c = cursor_over(section, what);
    c.big_endian = set->s.big_endian;
    return c;
}

// A cursor over the unit's bytes, at a DIE given by its offset in the section.
Cursor unit_cursor(const Unit *u, uint64_t offset);

// Reads the abbreviation code of the DIE at the cursor, which then stands at the first attribute.
// NULL for a null entry, or on damage, when the cursor has failed.
const Abbrev *die_open(Unit *u, Cursor *c);

// Skips all attributes of a DIE.
void die_skip_attrs(const Unit *u, Cursor *c, const Abbrev *a);

// The text at an offset of a section; "" when the offset is outside, or the text has no end.
Str section_text(Bytes section, uint64_t offset);

// ---- Range lists -----------------------------------------------------------
// Whether an address is one that linkers write for code that they dropped.
static inline bool is_tombstone(const Unit *u, uint64_t low)
{
    uint64_t top = u->addr_size >= 8 ? UINT64_MAX : UINT32_MAX;
    return low == 0 || low >= top - 1;
}

// Appends the ranges of DW_AT_ranges to a heap vector. False when the list is broken; the ranges
// before the damage are kept.
bool ranges_read(Unit *u, Value v, uint32_t id, RangeVec *out);
// The same for the ranges of a DIE, given its values of low_pc, high_pc and ranges.
bool ranges_of_die(Unit *u, Value low, Value high, Value ranges, uint32_t id, RangeVec *out);

// ---- Lines -----------------------------------------------------------------
// The unit's line table header; NULL when it has none.
Lines *lines_of(Unit *u);
// The path of one of its files; "" when the number does not exist.
Str lines_path(Lines *l, uint32_t file);
// Its rows, decoded at the first call.
DwarfRows lines_rows(Lines *l);
// The row that contains an address, or NULL.
const DwarfRow *lines_row_at(Lines *l, uint64_t address);
void lines_deinit(Lines *l);
// Joins the parts of a path, starting at the last absolute one, and normalises it.
Str path_join(Arena *arena, Str comp_dir, Str dir, Str name);

// ---- Names -----------------------------------------------------------------
// The names of a node of a decoded unit; NULL when they cannot be found. The node's call_* are set
// then. The pointer is valid until the next call.
const Origin *node_origin(Unit *u, uint32_t node);
// The name of an inlined function with the namespaces and classes that it stands in. The name
// alone where there are none, or where they are not known.
Str origin_qualified(DwarfFile *f, uint32_t origin);
// The same for the function whose DIE stands at an offset of the section.
Str scope_qualified(Unit *u, uint64_t offset, Str name);
// Appends the node's own code ranges to a heap vector, with its number as id.
void node_ranges(Unit *u, uint32_t node, RangeVec *out);
// The row in DwarfFile.origins for the DIE of a function.
uint32_t origin_of(Unit *u, uint64_t offset);

// The unit that contains an address, or NULL.
Unit *unit_at_address(DwarfFile *f, uint64_t address);

// ---- Types and locations -------------------------------------------------------
// Whether values of a form are bytes with a length, as expressions are.
bool form_is_block(uint16_t form);
Bytes form_read_block(Cursor *c, uint16_t form);

typedef enum TypeClass {
    TYPE_NUMBER, // integers, characters, truth values, enumerations, pointers
    TYPE_FLOAT,
    TYPE_RECORD, // structures, classes, unions
    TYPE_OTHER   // arrays, and types that cannot be read
} TypeClass;

typedef struct Type {
    TypeClass class;
    uint64_t size; // bytes; 0: not known
    bool is_signed;
    Unit *unit; // of the type itself, without typedef, const …
    uint64_t die;
} Type;

// Follows a reference to a type through its names and qualifiers.
void type_read(Unit *u, Value reference, Type *ret);
// A member of a record: its offset and type. False when there is none, or it is a bit field.
bool type_member(const Type *record, Str name, uint64_t *ret_offset, Type *ret);

// The expression that holds at an address, of DW_AT_location's value. False when no entry of the
// list covers it. `v` is a reference to a list.
bool location_of_list(Unit *u, const DwarfLocations *l, Value v, bool is_index, uint64_t address,
                      Bytes *ret);
// Reads an expression. `frame_base` is that of the function. On false `*why` names the damage.
bool location_read(Unit *u, Bytes expression, Bytes frame_base, DwarfVariable *ret,
                   const char **why);

// ---- Split DWARF -----------------------------------------------------------
// The split unit of a skeleton, or NULL.
Unit *split_find(Unit *skeleton);
// A type unit of the package by its signature, or NULL.
Unit *split_type_find(Set *set, uint64_t signature);

#endif // DWARF_DWARF_INTERNAL_H
