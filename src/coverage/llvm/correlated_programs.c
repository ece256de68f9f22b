// SPDX-License-Identifier: Apache-2.0
// Finding the program of a correlated profile, and reading what it says of its counters.

#include "coverage/llvm/correlated_programs.h"

#include "base/cursor.h"
#include "dwarf/dwarf.h"
#include "llvmcov/sections.h"
#include "os/file.h"
#include "symbolise/module_symbols.h"

void cover_correlations_init(CoverCorrelations *all)
{
    *all = (CoverCorrelations){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void cover_correlations_deinit(CoverCorrelations *all)
{
    pthread_mutex_destroy(&all->lock);
    arena_deinit(&all->arena);
}

void cover_correlations_offer(CoverCorrelations *all, Str path)
{
    for (size_t i = 0; i < all->objects.len; i++)
        if (str_equal(all->objects.at[i].path, path))
            return;
    CoverCorrelated object = {.path = arena_str(&all->arena, path)};
    vec_push(&all->arena, &all->objects, object);
}

bool cover_correlations_used(const CoverCorrelations *all, Str path)
{
    for (size_t i = 0; all && i < all->objects.len; i++)
        if (str_equal(all->objects.at[i].path, path))
            return all->objects.at[i].is_used;
    return false;
}

// ---- Debug information ------------------------------------------------------------

typedef struct Functions {
    Vec(ProfCorrelated) at; // heap; names borrow from the debug information
    size_t incomplete;
} Functions;

static void take_function(void *ctx, const DwarfCounters *c)
{
    Functions *f = ctx;
    ProfCorrelated function = {.name = c->function,
                               .hash = c->hash,
                               .counters_address = c->address,
                               .counter_count = c->count,
                               .function_address = c->low};
    vec_push(NULL, &f->at, function);
}

static void note_incomplete(CoverCorrelations *all, Str path, DwarfFile *dwarf,
                            const Functions *found)
{
    DwarfStats stats;
    dwarf_stats(dwarf, &stats);
    if (stats.units_damaged)
        vec_push(&all->arena, &all->notes,
                 arena_printf(&all->arena,
                              "'%" STR_FMT "': %zu units of debug information are damaged, "
                              "functions may be missing: %s",
                              STR_ARG(path), stats.units_damaged, stats.trouble));
    if (found->incomplete)
        vec_push(&all->arena, &all->notes,
                 arena_printf(&all->arena,
                              "'%" STR_FMT "': %zu functions left out, of which the debug "
                              "information does not say all",
                              STR_ARG(path), found->incomplete));
}

static bool read_dwarf(CoverCorrelations *all, CoverCorrelated *o, DwarfFile *dwarf)
{
    Functions found = {0};
    for (size_t unit = 0; unit < dwarf_unit_count(dwarf); unit++)
        found.incomplete += dwarf_unit_counters(dwarf, unit, take_function, &found);
    note_incomplete(all, o->path, dwarf, &found);
    bool any = found.at.len != 0;
    if (any)
        prof_correlation_make(&all->arena, &o->correlation, found.at.at, found.at.len);
    vec_free(&found.at);
    return any;
}

static void take_debug_section(void *ctx, const CovSection *s)
{
    static const struct {
        const char *elf, *macho;
        size_t offset;
    } slots[] = {
        {".debug_info", "__debug_info", offsetof(DwarfSections, info)},
        {".debug_abbrev", "__debug_abbrev", offsetof(DwarfSections, abbrev)},
        {".debug_str", "__debug_str", offsetof(DwarfSections, str)},
        {".debug_line_str", "__debug_line_str", offsetof(DwarfSections, line_str)},
        {".debug_str_offsets", "__debug_str_offs", offsetof(DwarfSections, str_offsets)},
        {".debug_addr", "__debug_addr", offsetof(DwarfSections, addr)},
        {".debug_ranges", "__debug_ranges", offsetof(DwarfSections, ranges)},
        {".debug_rnglists", "__debug_rnglists", offsetof(DwarfSections, rnglists)},
    };
    for (size_t i = 0; i < ARRAY_LEN(slots); i++)
        if (str_equal(s->name, str_from_c(slots[i].elf)) ||
            str_equal(s->name, str_from_c(slots[i].macho)))
            *(Bytes *)(void *)((char *)ctx + slots[i].offset) = s->bytes;
}

// Of 32 bits, big-endian, or of Mach-O: what is in the file itself.
static bool read_foreign_dwarf(CoverCorrelations *all, CoverCorrelated *o, Bytes file, Error *err)
{
    DwarfSections sections = {0};
    CovObjectForm form;
    DwarfFile *dwarf;
    if (!cov_sections_each(file, take_debug_section, &sections, &form, err))
        return false;
    sections.big_endian = form.big_endian;
    if (!dwarf_open(&sections, NULL, &dwarf, err))
        return false;
    bool any = read_dwarf(all, o, dwarf);
    dwarf_close(dwarf);
    return any || error_set(err, ERROR_NOT_FOUND, "no counters in its debug information");
}

// In the file or its debug file, wherever that lies; or the sections of the debug file.
static bool read_modules_debug(CoverCorrelations *all, CoverCorrelated *o, Error *err)
{
    static const SymboliseFiles plain_files;
    static const DebugSearch nowhere;
    static const BuildId any;
    ModuleSymbols m;
    module_symbols_open_debug(&m, &plain_files, &nowhere, o->path, &any, (Bytes){0});
    ProfCorrelation separate;
    bool ok = false;
    if (m.has_debug && prof_correlation_read(m.debug.file, &separate, err) &&
        separate.records.len) {
        o->correlation.records = arena_bytes(&all->arena, separate.records);
        o->correlation.names = arena_bytes(&all->arena, separate.names);
        ok = true;
    } else if (m.dwarf) {
        ok = read_dwarf(all, o, m.dwarf) ||
             error_set(err, ERROR_NOT_FOUND, "no counters in its debug information");
    } else {
        error_set(err, ERROR_NOT_FOUND, "%s",
                  m.troubles.len ? m.troubles.at[0].ptr : "no debug information");
    }
    module_symbols_close(&m);
    return ok;
}

// ---- One object -------------------------------------------------------------------

static bool is_elf_64(Bytes file)
{
    return file.len > 6 && memcmp(file.ptr, "\177ELF\2\1", 6) == 0;
}

static bool read_records(CoverCorrelations *all, CoverCorrelated *o, Bytes file, Error *err)
{
    ProfCorrelation *c = &o->correlation;
    if (!prof_correlation_read(file, c, err))
        return false;
    if (c->counters_size == 0)
        return error_set(err, ERROR_NOT_FOUND, "it has no counters");
    if (c->records.len == 0)
        return is_elf_64(file) ? read_modules_debug(all, o, err)
                               : read_foreign_dwarf(all, o, file, err);
    c->names = arena_bytes(&all->arena, c->names);
    return true;
}

// For a profile of `version`.
static void read_object(CoverCorrelations *all, CoverCorrelated *o, uint32_t version)
{
    MappedFile m = {0};
    if (o->is_read)
        return;
    o->is_read = true;
    o->has_records = os_map_file(o->path, &m, &o->why) && read_records(all, o, m.bytes, &o->why) &&
                     prof_correlation_settle(&all->arena, &o->correlation, version, &o->why);
    os_unmap_file(&m);
}

static void take_build_id(void *ctx, const CovSection *s)
{
    if (str_equal(s->name, STR(".note.gnu.build-id")) && s->has_bytes)
        (void)!elf_build_id_find(s->bytes, 4, ctx, NULL);
}

static void look_at(CoverCorrelated *o)
{
    Arena arena = {0};
    MappedFile m = {0};
    Elf elf;
    CovObjectForm form;
    if (o->is_looked_at)
        return;
    o->is_looked_at = true;
    if (!os_map_file(o->path, &m, NULL))
        return;
    o->identity = m.identity;
    if (elf_parse(&arena, m.bytes, &elf, NULL))
        o->id = elf_build_id(&elf);
    else if (cov_sections_known(m.bytes))
        (void)!cov_sections_each(m.bytes, take_build_id, &o->id, &form, NULL);
    os_unmap_file(&m);
    arena_deinit(&arena);
}

// ---- The one that is wanted --------------------------------------------------------

// The first of a profile's binary ids: it is written by one object.
static BuildId id_of_profile(const ProfRaw *p)
{
    BuildId id = {0};
    Cursor c = cursor_over(p->binary_ids, "binary ids");
    c.big_endian = p->big_endian;
    Bytes bytes = cursor_padded(&c, cursor_u64(&c), 8);
    if (cursor_ok(&c) && bytes.len <= sizeof(id.bytes)) {
        bytes_copy(id.bytes, bytes);
        id.len = (uint32_t)bytes.len;
    }
    return id;
}

static bool refuse_object(const CoverCorrelated *o, const ProfRaw *p, Error *err)
{
    if (o->has_records)
        return error_set(err, ERROR_FORMAT,
                         "its counters take %zu bytes, and those of '%" STR_FMT "' %llu: it is of "
                         "another build",
                         p->counters.len, STR_ARG(o->path),
                         (unsigned long long)o->correlation.counters_size);
    error_set(err, ERROR_NOT_FOUND,
              "it holds counts alone, and '%" STR_FMT "' does not say of which functions: %s",
              STR_ARG(o->path), o->why.text);
    return error_hint(err, "give the file from before it was stripped, or its debug file");
}

static bool refuse_unknown(const BuildId *id, Error *err)
{
    Arena arena = {0};
    if (id->len)
        error_set(err, ERROR_NOT_FOUND,
                  "it holds only counters; their functions are in the program of build %" STR_FMT
                  ", which is not among the inputs",
                  STR_ARG(build_id_hex(&arena, id)));
    else
        error_set(err, ERROR_NOT_FOUND,
                  "it holds only counters; their functions are in the program that wrote it, "
                  "which is not among the inputs, and it states no build id");
    arena_deinit(&arena);
    return error_hint(err, "name the program, or its debug file, beside the profile");
}

// Of those with the profile's id one may be stripped, and another its debug file.
static CoverCorrelated *find_by_id(CoverCorrelations *all, const ProfRaw *p, const BuildId *id,
                                   bool *known, Error *err)
{
    *known = false;
    for (size_t i = 0; i < all->objects.len; i++) {
        CoverCorrelated *o = &all->objects.at[i];
        if (!build_id_same(&o->id, id))
            continue;
        read_object(all, o, p->version);
        if (o->has_records && profraw_fits(p, &o->correlation))
            return o;
        if (!*known)
            (void)refuse_object(o, p, err);
        *known = true;
    }
    return NULL;
}

// One file may be known under several paths.
static bool is_same_file(const CoverCorrelated *a, const CoverCorrelated *b)
{
    return a->identity.device == b->identity.device && a->identity.inode == b->identity.inode;
}

static CoverCorrelated *find_by_size(CoverCorrelations *all, const ProfRaw *p, const BuildId *id,
                                     Error *err)
{
    CoverCorrelated *found = NULL;
    const CoverCorrelated *refused = NULL;
    for (size_t i = 0; i < all->objects.len; i++) {
        CoverCorrelated *o = &all->objects.at[i];
        if (id->len && o->id.len)
            continue; // of another build
        read_object(all, o, p->version);
        bool fits = o->has_records && profraw_fits(p, &o->correlation);
        if (fits && found && !is_same_file(o, found)) {
            error_set(err, ERROR_FORMAT,
                      "it holds counts alone, and both '%" STR_FMT "' and '%" STR_FMT "' may say "
                      "of which functions",
                      STR_ARG(found->path), STR_ARG(o->path));
            error_hint(err, "name one of them, or link with --build-id");
            return NULL;
        }
        found = fits && !found ? o : found;
        if (!fits && !refused && o->correlation.counters_size)
            refused = o;
    }
    if (!found)
        (void)(refused ? refuse_object(refused, p, err) : refuse_unknown(id, err));
    return found;
}

static CoverCorrelated *find_object(CoverCorrelations *all, const ProfRaw *p, Error *err)
{
    BuildId id = id_of_profile(p);
    bool known;
    for (size_t i = 0; i < all->objects.len; i++)
        look_at(&all->objects.at[i]);
    CoverCorrelated *o = find_by_id(all, p, &id, &known, err);
    return o || known ? o : find_by_size(all, p, &id, err);
}

bool cover_correlations_join(CoverCorrelations *all, ProfRaw *p, Error *err)
{
    if (!all) {
        BuildId id = id_of_profile(p);
        return refuse_unknown(&id, err);
    }
    pthread_mutex_lock(&all->lock);
    CoverCorrelated *o = find_object(all, p, err);
    if (o) {
        o->is_used = true;
        profraw_join(p, &o->correlation);
    }
    pthread_mutex_unlock(&all->lock);
    return o != NULL;
}
