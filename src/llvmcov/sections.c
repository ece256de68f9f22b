// SPDX-License-Identifier: Apache-2.0
// Reads section tables of foreign objects.

#include "llvmcov/sections.h"

#include "base/cursor.h"

// The wanted sections, and their names.
typedef enum Wanted { WANTED_MAP, WANTED_FUNCTIONS, WANTED_NAMES, WANTED_COUNT } Wanted;

// Names in ELF, in Mach-O, and in COFF, where objects add "$M": the linker sorts by it and removes
// it. The last ones are those of programs for correlated profiles.
static const char *const wanted_names[WANTED_COUNT][4] = {
    [WANTED_MAP] = {"__llvm_covmap", ".lcovmap"},
    [WANTED_FUNCTIONS] = {"__llvm_covfun", ".lcovfun"},
    [WANTED_NAMES] = {"__llvm_prf_names", ".lprfn", "__llvm_covnames", ".lcovn"},
};

typedef struct Walk {
    Bytes file;
    CovSectionEach *each;
    void *ctx;
    CovObjectForm form;
} Walk;

static Str field_text(Bytes field)
{
    Str s = str_from_bytes(field);
    return str_slice(s, 0, str_find_char(s, '\0'));
}

// Calls `each` for a section. One that is partly outside of the file is cut.
static void give(Walk *w, Str name, uint64_t at, uint64_t size, uint64_t address, bool has_bytes)
{
    uint64_t end = size > UINT64_MAX - at ? UINT64_MAX : at + size;
    CovSection s = {.name = name, .address = address, .size = size, .has_bytes = has_bytes};
    if (has_bytes)
        s.bytes = bytes_slice(w->file, at, end);
    w->each(w->ctx, &s);
}

// ---- ELF ---------------------------------------------------------------------

static bool is_elf(Bytes file)
{
    return file.len > 16 && memcmp(file.ptr, "\177ELF", 4) == 0 &&
           (file.ptr[4] == 1 || file.ptr[4] == 2) && (file.ptr[5] == 1 || file.ptr[5] == 2);
}

typedef struct ElfEntry {
    uint32_t name, type;
    uint64_t flags, address, at, size;
} ElfEntry;

static ElfEntry elf_entry(Cursor *c, uint64_t table, uint32_t size, uint32_t i, size_t word)
{
    cursor_seek(c, table + (uint64_t)i * size);
    ElfEntry e = {.name = cursor_u32(c)};
    e.type = cursor_u32(c);
    e.flags = cursor_uint(c, word);
    e.address = cursor_uint(c, word);
    e.at = cursor_uint(c, word);
    e.size = cursor_uint(c, word);
    return e;
}

static void walk_elf(Walk *w, Cursor *c)
{
    size_t word = w->file.ptr[4] == 2 ? 8 : 4;
    c->big_endian = w->file.ptr[5] == 2;
    w->form.pointer_size = (uint8_t)word;
    cursor_seek(c, 24 + 2 * word); // after entry and program headers
    uint64_t table = cursor_uint(c, word);
    cursor_skip(c, 10); // flags, header sizes, program headers
    uint32_t size = cursor_u16(c), count = cursor_u16(c), strings = cursor_u16(c);
    if (size < 16 + 3 * word || strings >= count)
        cursor_fail(c, "no table of sections");
    ElfEntry names = elf_entry(c, table, size, strings, word);
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        ElfEntry e = elf_entry(c, table, size, i, word);
        Cursor text = cursor_over(bytes_slice(w->file, names.at, w->file.len), "section names");
        cursor_seek(&text, e.name);
        Str name = cursor_c_str(&text);
        if (cursor_ok(&text) && !(e.flags & 0x800))              // SHF_COMPRESSED
            give(w, name, e.at, e.size, e.address, e.type != 8); // SHT_NOBITS
    }
}

// ---- Mach-O --------------------------------------------------------------------

enum { MACHO_SEGMENT = 1, MACHO_SEGMENT_64 = 0x19 };

static bool macho_magic(Bytes file, bool *big_endian, size_t *word)
{
    uint32_t magic;
    if (file.len < 32)
        return false;
    memcpy(&magic, file.ptr, sizeof(magic));
    *big_endian = magic == 0xcffaedfe || magic == 0xcefaedfe;
    if (*big_endian)
        magic = __builtin_bswap32(magic);
    *word = magic == 0xfeedfacf ? 8 : 4;
    return magic == 0xfeedfacf || magic == 0xfeedface;
}

static void walk_segment(Walk *w, Cursor *c, size_t word)
{
    cursor_skip(c, 16 + 4 * word + 8); // name, addresses, protections
    uint32_t count = cursor_u32(c);
    cursor_skip(c, 4);
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        Str name = field_text(cursor_bytes(c, 16));
        cursor_skip(c, 16); // segment
        uint64_t address = cursor_uint(c, word), size = cursor_uint(c, word);
        uint32_t at = cursor_u32(c);
        cursor_skip(c, word == 8 ? 28 : 24);
        if (cursor_ok(c)) // sections of zeros have no bytes in the file
            give(w, name, at, size, address, at != 0);
    }
}

static void walk_macho(Walk *w, Cursor *c)
{
    size_t word;
    if (!macho_magic(w->file, &c->big_endian, &word))
        return;
    w->form.pointer_size = (uint8_t)word;
    cursor_seek(c, 16);
    uint32_t commands = cursor_u32(c);
    cursor_seek(c, word == 8 ? 32 : 28);
    for (uint32_t i = 0; i < commands && cursor_ok(c); i++) {
        size_t start = c->at;
        uint32_t kind = cursor_u32(c), size = cursor_u32(c);
        if (size < 8)
            cursor_fail(c, "load command is shorter than its header");
        cursor_seek(c, start);
        Cursor command = cursor_sub(c, size, "load command");
        command.big_endian = c->big_endian;
        cursor_skip(&command, 8);
        if (kind == (word == 8 ? MACHO_SEGMENT_64 : MACHO_SEGMENT))
            walk_segment(w, &command, word);
    }
}

// ---- COFF and PE -----------------------------------------------------------------

// Whether clang makes COFF objects for a machine.
static bool is_coff_machine(uint16_t machine)
{
    return machine == 0x8664 || machine == 0x14c || machine == 0xaa64 || machine == 0x1c4;
}

// The offset of the COFF header: after "PE\0\0" in a program, at the start of an object.
static bool coff_header(Bytes file, uint64_t *at)
{
    Cursor c = cursor_over(file, "COFF header");
    *at = 0;
    if (cursor_u16(&c) == 0x5a4d) { // MZ
        cursor_seek(&c, 0x3c);
        *at = cursor_u32(&c);
        cursor_seek(&c, *at);
        if (cursor_u32(&c) != 0x4550)
            return false;
        *at += 4;
    }
    cursor_seek(&c, *at);
    uint16_t machine = cursor_u16(&c), sections = cursor_u16(&c);
    return cursor_ok(&c) && is_coff_machine(machine) && sections && sections < 0xff00;
}

// Names of more than 8 bytes are in the string table, stored as "/offset".
static Str coff_name(const Walk *w, Str name, uint64_t strings)
{
    uint64_t offset;
    if (name.len < 2 || name.ptr[0] != '/' ||
        !str_parse_u64(str_slice(name, 1, name.len), 10, &offset))
        return name;
    Cursor c = cursor_over(w->file, "COFF strings");
    cursor_seek(&c, strings + offset);
    return cursor_c_str(&c);
}

// The address for which the linker planned a program; 0 in objects.
static uint64_t image_base(Cursor *c, uint64_t at, uint16_t optional)
{
    cursor_seek(c, at + 20);
    if (optional < 32)
        return 0;
    bool is_64 = cursor_u16(c) == 0x20b;
    cursor_skip(c, is_64 ? 22 : 26);
    return cursor_uint(c, is_64 ? 8 : 4);
}

static void walk_coff(Walk *w, Cursor *c, uint64_t at)
{
    cursor_seek(c, at);
    uint16_t machine = cursor_u16(c);
    w->form.pointer_size = machine == 0x14c || machine == 0x1c4 ? 4 : 8;
    w->form.is_coff = true;
    uint16_t count = cursor_u16(c);
    cursor_skip(c, 4);
    uint32_t symbols = cursor_u32(c), symbol_count = cursor_u32(c);
    uint16_t optional = cursor_u16(c);
    uint64_t strings = symbols + 18 * (uint64_t)symbol_count;
    uint64_t base = image_base(c, at, optional);
    cursor_seek(c, at + 20 + optional);
    for (uint32_t i = 0; i < count && cursor_ok(c); i++) {
        Str name = coff_name(w, field_text(cursor_bytes(c, 8)), strings);
        uint32_t virtual_size = cursor_u32(c), address = cursor_u32(c);
        uint32_t size = cursor_u32(c), offset = cursor_u32(c);
        cursor_skip(c, 16);
        // In programs sections are padded to the file's alignment; the virtual size is the real
        // one.
        if (virtual_size && virtual_size < size)
            size = virtual_size;
        if (cursor_ok(c))
            give(w, name, offset, size, base + address, offset != 0);
    }
}

bool cov_sections_known(Bytes file)
{
    bool big_endian;
    size_t word;
    uint64_t at;
    return is_elf(file) || macho_magic(file, &big_endian, &word) || coff_header(file, &at);
}

bool cov_sections_each(Bytes file, CovSectionEach *each, void *ctx, CovObjectForm *ret, Error *err)
{
    Walk w = {.file = file, .each = each, .ctx = ctx};
    Cursor c = cursor_over(file, "object");
    uint64_t at;
    if (is_elf(file))
        walk_elf(&w, &c);
    else if (coff_header(file, &at))
        walk_coff(&w, &c, at);
    else
        walk_macho(&w, &c);
    if (!cursor_check(&c, err))
        return false;
    w.form.big_endian = c.big_endian;
    *ret = w.form;
    return true;
}

// ---- The mapping -----------------------------------------------------------------

typedef struct Finder {
    Arena *arena;
    uint64_t names_address;
    Bytes found[WANTED_COUNT];
    size_t room[WANTED_COUNT]; // of sections joined in the arena; 0: it borrows the file
} Finder;

// Appends bytes to a section. Each part starts at a multiple of 8, because padding in records
// counts from the start of the section.
static void join(Finder *f, Wanted w, Bytes more)
{
    Bytes *to = &f->found[w];
    size_t start = align_up(to->len, 8), need = start + more.len;
    if (need > f->room[w]) {
        size_t room = MAX(need, 2 * f->room[w]);
        uint8_t *at = arena_alloc(f->arena, room, 8);
        bytes_copy(at, *to);
        to->ptr = at;
        f->room[w] = room;
    }
    // This is memory of the arena: only readers see it as const.
    bytes_copy((uint8_t *)(uintptr_t)to->ptr + start, more);
    to->len = need;
}

bool cov_section_is(Str name, const char *wanted)
{
    Str want = str_from_c(wanted);
    return str_starts_with(name, want) && (name.len == want.len || name.ptr[want.len] == '$');
}

static void take(void *ctx, const CovSection *s)
{
    Finder *f = ctx;
    for (Wanted w = 0; w < WANTED_COUNT; w++) {
        bool is_wanted = false;
        for (size_t i = 0; i < ARRAY_LEN(wanted_names[w]); i++)
            is_wanted |= wanted_names[w][i] && cov_section_is(s->name, wanted_names[w][i]);
        if (!is_wanted)
            continue;
        if (f->found[w].len)
            join(f, w, s->bytes);
        else
            f->found[w] = s->bytes;
        if (w == WANTED_NAMES)
            f->names_address = s->address;
        return;
    }
}

bool cov_sections_find(Arena *arena, Bytes file, CovMapSections *ret, Error *err)
{
    Finder f = {.arena = arena};
    CovObjectForm form;
    if (!cov_sections_each(file, take, &f, &form, err))
        return false;
    *ret = (CovMapSections){.covmap = f.found[WANTED_MAP],
                            .covfun = f.found[WANTED_FUNCTIONS],
                            .names = f.found[WANTED_NAMES],
                            .names_address = f.names_address,
                            .pointer_size = form.pointer_size,
                            .big_endian = form.big_endian};
    return true;
}
