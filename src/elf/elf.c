// SPDX-License-Identifier: Apache-2.0
// Parses ELF objects: header, sections, segments and symbols. Format: System V gABI ch. 4 "Object
// Files" and ch. 5 "Program Header".

#include "elf/elf.h"

#include "base/cursor.h"
#include "base/decoded.h"
#include "elf/compress.h"

static bool ident_check(Cursor *c, Error *err)
{
    Bytes ident = cursor_bytes(c, EI_NIDENT);
    if (!cursor_ok(c) || memcmp(ident.ptr, ELFMAG, SELFMAG) != 0)
        return error_set(err, ERROR_FORMAT, "not an ELF file");
    if (ident.ptr[EI_CLASS] != ELFCLASS64)
        return error_set(err, ERROR_UNSUPPORTED, "ELF class %u: only 64-bit objects are read",
                         ident.ptr[EI_CLASS]);
    if (ident.ptr[EI_DATA] != ELFDATA2LSB)
        return error_set(err, ERROR_UNSUPPORTED,
                         "ELF data encoding %u: only little-endian objects are read",
                         ident.ptr[EI_DATA]);
    return true;
}

static ElfSection section_read(Cursor *c, uint32_t *name_offset)
{
    ElfSection s = {0};
    *name_offset = cursor_u32(c);
    s.type = cursor_u32(c);
    s.flags = cursor_u64(c);
    s.svma = cursor_u64(c);
    s.offset = cursor_u64(c);
    s.size = cursor_u64(c);
    s.link = cursor_u32(c);
    s.info = cursor_u32(c);
    s.align = cursor_u64(c);
    s.entry_size = cursor_u64(c);
    return s;
}

static ElfSegment segment_read(Cursor *c)
{
    ElfSegment s = {0};
    s.type = cursor_u32(c);
    s.flags = cursor_u32(c);
    s.offset = cursor_u64(c);
    s.svma = cursor_u64(c);
    cursor_skip(c, 8); // p_paddr
    s.file_size = cursor_u64(c);
    s.mem_size = cursor_u64(c);
    s.align = cursor_u64(c);
    return s;
}

// Longer names are not read: if many symbols referred to one long text, reading them would take
// quadratic time.
enum { NAME_MAX_BYTES = 32768 };

// The text at an offset of a string table; "" when the offset is outside, or the text has no end.
static Str string_at(Bytes table, uint64_t offset)
{
    if (offset >= table.len)
        return STR("");
    const uint8_t *text = table.ptr + offset;
    const uint8_t *end = memchr(text, 0, MIN(table.len - offset, (size_t)NAME_MAX_BYTES));
    return end ? str_over((const char *)text, (size_t)(end - text)) : STR("");
}

// Offsets and sizes of the tables, after the escapes for large counts.
typedef struct Tables {
    uint64_t section_offset, segment_offset;
    uint64_t section_count, segment_count;
    uint32_t name_section;
} Tables;

static bool tables_fit(Bytes file, uint64_t offset, uint64_t count, size_t entry_size,
                       const char *what, Error *err)
{
    if (count && (offset > file.len || count > (file.len - offset) / entry_size))
        return error_set(err, ERROR_FORMAT,
                         "%s table of %llu entries at offset 0x%llx lies outside the file", what,
                         (unsigned long long)count, (unsigned long long)offset);
    return true;
}

// gABI: counts that do not fit 16 bits are in section 0.
static bool tables_unescape(Bytes file, Tables *t, Error *err)
{
    bool escaped =
        t->section_count == 0 || t->name_section == SHN_XINDEX || t->segment_count == PN_XNUM;
    if (t->section_offset == 0 || !escaped)
        return true;
    if (!tables_fit(file, t->section_offset, 1, sizeof(Elf64_Shdr), "section", err))
        return false;
    Cursor c = cursor_over(file, "ELF section 0");
    cursor_seek(&c, t->section_offset);
    uint32_t unused_name;
    ElfSection first = section_read(&c, &unused_name);
    if (t->section_count == 0)
        t->section_count = first.size;
    if (t->name_section == SHN_XINDEX)
        t->name_section = first.link;
    if (t->segment_count == PN_XNUM)
        t->segment_count = first.info;
    return cursor_check(&c, err);
}

static bool header_read(Cursor *c, Elf *elf, Tables *t, Error *err)
{
    elf->type = cursor_u16(c);
    elf->machine = cursor_u16(c);
    cursor_skip(c, 4); // e_version
    elf->entry = cursor_u64(c);
    t->segment_offset = cursor_u64(c);
    t->section_offset = cursor_u64(c);
    cursor_skip(c, 4 + 2); // e_flags, e_ehsize
    uint16_t segment_size = cursor_u16(c);
    t->segment_count = cursor_u16(c);
    uint16_t section_size = cursor_u16(c);
    t->section_count = cursor_u16(c);
    t->name_section = cursor_u16(c);
    if (!cursor_check(c, err))
        return false;
    if (t->segment_count && segment_size != sizeof(Elf64_Phdr))
        return error_set(err, ERROR_FORMAT, "program header of %u bytes, expected %zu",
                         segment_size, sizeof(Elf64_Phdr));
    if (t->section_offset && section_size != sizeof(Elf64_Shdr))
        return error_set(err, ERROR_FORMAT, "section header of %u bytes, expected %zu",
                         section_size, sizeof(Elf64_Shdr));
    if (t->section_offset == 0)
        t->section_count = 0;
    return true;
}

static void sections_read(Arena *arena, Elf *elf, const Tables *t)
{
    elf->section_count = t->section_count;
    elf->sections = arena_array(arena, ElfSection, elf->section_count);
    uint32_t *names = arena_array(arena, uint32_t, elf->section_count);
    Cursor c = cursor_over(elf->file, "ELF sections");
    cursor_seek(&c, t->section_offset);
    for (size_t i = 0; i < elf->section_count; i++)
        elf->sections[i] = section_read(&c, &names[i]);

    Bytes texts = {0};
    if (t->name_section >= elf->section_count ||
        !elf_section_raw(elf, &elf->sections[t->name_section], &texts, NULL))
        return; // sections without names are still found by type
    for (size_t i = 0; i < elf->section_count; i++)
        elf->sections[i].name = string_at(texts, names[i]);
}

static void segments_read(Arena *arena, Elf *elf, const Tables *t)
{
    elf->segment_count = t->segment_count;
    elf->segments = arena_array(arena, ElfSegment, elf->segment_count);
    Cursor c = cursor_over(elf->file, "ELF segments");
    cursor_seek(&c, t->segment_offset);
    for (size_t i = 0; i < elf->segment_count; i++)
        elf->segments[i] = segment_read(&c);
}

bool elf_parse(Arena *arena, Bytes file, Elf *ret, Error *err)
{
    Elf elf = {.file = file};
    Tables t = {0};
    Cursor c = cursor_over(file, "ELF header");
    if (!ident_check(&c, err) || !header_read(&c, &elf, &t, err) ||
        !tables_unescape(file, &t, err) ||
        !tables_fit(file, t.segment_offset, t.segment_count, sizeof(Elf64_Phdr), "segment", err) ||
        !tables_fit(file, t.section_offset, t.section_count, sizeof(Elf64_Shdr), "section", err))
        return false;
    segments_read(arena, &elf, &t);
    sections_read(arena, &elf, &t);
    *ret = elf;
    return true;
}

const ElfSection *elf_section_find(const Elf *elf, Str name)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (str_equal(elf->sections[i].name, name))
            return &elf->sections[i];
    return NULL;
}

const ElfSection *elf_section_find_type(const Elf *elf, uint32_t type)
{
    for (size_t i = 1; i < elf->section_count; i++)
        if (elf->sections[i].type == type)
            return &elf->sections[i];
    return NULL;
}

bool elf_section_raw(const Elf *elf, const ElfSection *s, Bytes *ret, Error *err)
{
    if (s->type == SHT_NOBITS) {
        *ret = (Bytes){0};
        return true;
    }
    if (s->offset > elf->file.len || s->size > elf->file.len - s->offset)
        return error_set(err, ERROR_FORMAT,
                         "section '%" STR_FMT "' of 0x%llx bytes at offset 0x%llx lies outside "
                         "the file",
                         STR_ARG(s->name), (unsigned long long)s->size,
                         (unsigned long long)s->offset);
    *ret = bytes_over(elf->file.ptr + s->offset, s->size);
    return true;
}

static bool is_compressed(const ElfSection *s)
{
    return (s->flags & SHF_COMPRESSED) || str_starts_with(s->name, STR(".zdebug_"));
}

// What all compressed sections state to hold. Of all, because a reader keeps several at once.
static uint64_t compressed_total(const Elf *elf)
{
    uint64_t total = 0;
    for (size_t i = 0; i < elf->section_count; i++) {
        const ElfSection *s = &elf->sections[i];
        Bytes raw;
        uint64_t size;
        if (!is_compressed(s) || !elf_section_raw(elf, s, &raw, NULL) ||
            !elf_compressed_size(raw, s->flags & SHF_COMPRESSED, &size))
            continue;
        total = total > UINT64_MAX - size ? UINT64_MAX : total + size;
    }
    return total;
}

bool elf_section_bytes(Arena *arena, const Elf *elf, const ElfSection *s, Bytes *ret, Error *err)
{
    Bytes raw;
    if (!elf_section_raw(elf, s, &raw, err))
        return false;
    bool ok = true;
    if (is_compressed(s) && !decoded_check(compressed_total(elf), elf->file.len, err))
        return error_context(err, "compressed section '%" STR_FMT "' at offset 0x%llx",
                             STR_ARG(s->name), (unsigned long long)s->offset);
    if (s->flags & SHF_COMPRESSED)
        ok = elf_decompress_section(arena, raw, ret, err);
    else if (str_starts_with(s->name, STR(".zdebug_")))
        ok = elf_decompress_zdebug(arena, raw, ret, err);
    else
        *ret = raw;
    return ok || error_context(err, "section '%" STR_FMT "' at offset 0x%llx", STR_ARG(s->name),
                               (unsigned long long)s->offset);
}

bool elf_section_load(Arena *arena, const Elf *elf, Str name, Bytes *ret, Error *err)
{
    const ElfSection *s = elf_section_find(elf, name);
    if (!s && str_starts_with(name, STR(".debug_"))) {
        char old_name[64] = ".z";
        Str tail = str_slice(name, 1, name.len);
        if (tail.len < sizeof(old_name) - 2) {
            bytes_copy(old_name + 2, bytes_from_str(tail));
            s = elf_section_find(elf, str_over(old_name, tail.len + 2));
        }
    }
    if (!s) {
        *ret = (Bytes){0};
        return true;
    }
    return elf_section_bytes(arena, elf, s, ret, err);
}

// The number of bytes that two ranges of a file have in common.
static uint64_t shared_bytes(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
    uint64_t a_end = a + a_len < a ? UINT64_MAX : a + a_len;
    uint64_t b_end = b + b_len < b ? UINT64_MAX : b + b_len;
    uint64_t from = MAX(a, b), to = MIN(a_end, b_end);
    return from < to ? to - from : 0;
}

bool elf_svma_of_mapping(const Elf *elf, uint64_t offset, uint64_t len, uint64_t *ret)
{
    const ElfSegment *best = NULL;
    uint64_t best_shared = 0;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type != PT_LOAD)
            continue;
        uint64_t shared = shared_bytes(s->offset, s->file_size, offset, len);
        bool more_code = best && (s->flags & PF_X) && !(best->flags & PF_X);
        bool less_code = best && !(s->flags & PF_X) && (best->flags & PF_X);
        if (shared && !less_code && (more_code || shared > best_shared)) {
            best = s;
            best_shared = shared;
        }
    }
    if (!best)
        return false;
    *ret = best->svma + (offset - best->offset);
    return true;
}

static const ElfSegment *segment_at(const Elf *elf, uint64_t svma)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type == PT_LOAD && svma >= s->svma && svma - s->svma < s->file_size)
            return s;
    }
    return NULL;
}

Bytes elf_bytes_at_svma(const Elf *elf, uint64_t svma)
{
    const ElfSegment *s = segment_at(elf, svma);
    if (!s || s->offset > elf->file.len)
        return (Bytes){0};
    uint64_t size = MIN(s->file_size, elf->file.len - s->offset);
    uint64_t skip = svma - s->svma;
    return skip < size ? bytes_over(elf->file.ptr + s->offset + skip, size - skip) : (Bytes){0};
}

bool elf_offset_at_svma(const Elf *elf, uint64_t svma, uint64_t *ret)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type != PT_LOAD || svma < s->svma || svma - s->svma >= s->file_size)
            continue;
        *ret = svma - s->svma + s->offset;
        return true;
    }
    return false;
}

bool elf_is_code(const Elf *elf, uint64_t svma)
{
    const ElfSegment *segment = segment_at(elf, svma);
    if (elf->segment_count)
        return segment && (segment->flags & PF_X);
    for (size_t i = 1; i < elf->section_count; i++) {
        const ElfSection *s = &elf->sections[i];
        if ((s->flags & SHF_EXECINSTR) && svma >= s->svma && svma - s->svma < s->size)
            return true;
    }
    return false;
}

bool elf_symbols_load(Arena *arena, const Elf *elf, uint32_t section_type, ElfSymbols *ret,
                      Error *err)
{
    *ret = (ElfSymbols){0};
    const ElfSection *s = elf_section_find_type(elf, section_type);
    if (!s)
        return true;
    if (s->link == 0 || s->link >= elf->section_count)
        return error_set(err, ERROR_FORMAT,
                         "symbol table '%" STR_FMT "' names section %u as its "
                         "string table, there are %zu",
                         STR_ARG(s->name), s->link, elf->section_count);
    ElfSymbols symbols = {0};
    if (!elf_section_bytes(arena, elf, s, &symbols.entries, err) ||
        !elf_section_bytes(arena, elf, &elf->sections[s->link], &symbols.names, err))
        return false;
    symbols.count = symbols.entries.len / sizeof(Elf64_Sym);
    *ret = symbols;
    return true;
}

ElfSymbol elf_symbol_get(const ElfSymbols *s, size_t i)
{
    assert(i < s->count);
    Elf64_Sym raw;
    memcpy(&raw, s->entries.ptr + i * sizeof(raw), sizeof(raw));
    return (ElfSymbol){
        .name = string_at(s->names, raw.st_name),
        .value = raw.st_value,
        .size = raw.st_size,
        .section = raw.st_shndx,
        .type = ELF64_ST_TYPE(raw.st_info),
        .binding = ELF64_ST_BIND(raw.st_info),
        .visibility = ELF64_ST_VISIBILITY(raw.st_other),
    };
}
