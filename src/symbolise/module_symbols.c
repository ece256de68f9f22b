// SPDX-License-Identifier: Apache-2.0
// Opens the symbols of one module and looks up addresses in them. Separate debug files are searched
// as in GDB's manual, "Separate Debug Files", besides dwz's .gnu_debugaltlink and split DWARF's
// .dwo and .dwp.

#include "symbolise/module_symbols.h"

#include "base/log.h"
#include "symbolise/debuginfod.h"
#include "symbolise/section_cache.h"

#include <stdarg.h>

#define DEBUG_DIR "/usr/lib/debug"

static void trouble_add(ModuleSymbols *m, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void trouble_add(ModuleSymbols *m, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    Str text = arena_vprintf(&m->arena, fmt, args);
    va_end(args);
    log_debug(LOG_SYMBOLISE, 1, "%" STR_FMT ": %" STR_FMT, STR_ARG(m->path), STR_ARG(text));
    vec_push(&m->arena, &m->troubles, text);
}

// Whether the file has the section and bytes for it: a stripped file has no such section, and in a
// debug file .text is NOBITS.
static bool has_content(const Elf *elf, Str name)
{
    const ElfSection *s = elf_section_find(elf, name);
    return s && s->type != SHT_NOBITS && s->size > 0;
}

static bool has_dwarf(const Elf *elf)
{
    return has_content(elf, STR(".debug_info")) || has_content(elf, STR(".zdebug_info"));
}

static bool is_debug_file(const Elf *elf)
{
    return has_dwarf(elf) || elf_section_find_type(elf, SHT_SYMTAB) != NULL;
}

// ---- Finding the debug file ---------------------------------------------------

// Opens a candidate and parses it. The caller checks whether it belongs to the module.
static bool candidate_open(ModuleSymbols *m, Str path, Elf *ret)
{
    Bytes bytes;
    Error err;
    if (!file_set_open(&m->files, path, &bytes))
        return false;
    if (elf_parse(&m->arena, bytes, ret, &err))
        return true;
    trouble_add(m, "debug file '%" STR_FMT "' cannot be read: %s", STR_ARG(path), err.text);
    return false;
}

static bool debug_take(ModuleSymbols *m, Str path, const Elf *elf)
{
    m->debug = *elf;
    m->has_debug = true;
    m->debug_path = arena_str(&m->arena, path);
    return true;
}

// Opens a file found by build-id; it must have the same build-id.
static bool try_by_build_id(ModuleSymbols *m, Str path)
{
    Elf elf;
    if (!candidate_open(m, path, &elf))
        return false;
    BuildId id = elf_build_id(&elf);
    if (!build_id_same(&id, &m->build_id)) {
        trouble_add(m, "debug file '%" STR_FMT "' has another build-id and is not used",
                    STR_ARG(path));
        return false;
    }
    return is_debug_file(&elf) && debug_take(m, path, &elf);
}

// Opens a file found by .gnu_debuglink: it must have the same build-id or, without one, the right
// CRC.
static bool try_by_link(ModuleSymbols *m, Str path, uint32_t crc)
{
    Elf elf;
    if (str_equal(path, m->path) || !candidate_open(m, path, &elf))
        return false;
    BuildId id = elf_build_id(&elf);
    bool matches =
        id.len && m->build_id.len ? build_id_same(&id, &m->build_id) : elf_crc32(elf.file) == crc;
    if (!matches) {
        trouble_add(m, "debug file '%" STR_FMT "' belongs to another build and is not used",
                    STR_ARG(path));
        return false;
    }
    return is_debug_file(&elf) && debug_take(m, path, &elf);
}

static Str module_dir(const ModuleSymbols *m)
{
    Str dir = str_dir_name(m->path);
    return dir.len ? dir : STR(".");
}

static Str debug_dir(const ModuleSymbols *m, size_t i)
{
    return i < m->search.dir_count ? m->search.dirs[i] : STR(DEBUG_DIR);
}

// DIR/.build-id/xx/yyyy.debug
static Str build_id_path(ModuleSymbols *m, Str dir, const BuildId *id)
{
    Str hex = build_id_hex(&m->arena, id);
    return arena_printf(&m->arena, "%" STR_FMT "/.build-id/%" STR_FMT "/%" STR_FMT ".debug",
                        STR_ARG(dir), STR_ARG(str_slice(hex, 0, 2)),
                        STR_ARG(str_slice(hex, 2, hex.len)));
}

static bool find_by_build_id(ModuleSymbols *m)
{
    if (m->build_id.len < 2)
        return false;
    for (size_t i = 0; i <= m->search.dir_count; i++)
        if (try_by_build_id(m, build_id_path(m, debug_dir(m, i), &m->build_id)))
            return true;
    if (m->search.debuginfod_cache.len == 0)
        return false;
    Str hex = build_id_hex(&m->arena, &m->build_id);
    return try_by_build_id(m, arena_printf(&m->arena, "%" STR_FMT "/%" STR_FMT "/debuginfo",
                                           STR_ARG(m->search.debuginfod_cache), STR_ARG(hex)));
}

static bool find_by_link(ModuleSymbols *m)
{
    ElfDebugLink link;
    if (!m->has_object || !elf_debug_link_find(&m->elf, &link))
        return false;
    Arena *a = &m->arena;
    Str dir = module_dir(m);
    if (try_by_link(m, arena_printf(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(dir), STR_ARG(link.name)),
                    link.crc) ||
        try_by_link(
            m, arena_printf(a, "%" STR_FMT "/.debug/%" STR_FMT, STR_ARG(dir), STR_ARG(link.name)),
            link.crc))
        return true;
    for (size_t i = 0; i <= m->search.dir_count; i++) {
        Str path = arena_printf(a, "%" STR_FMT "%s%" STR_FMT "/%" STR_FMT, STR_ARG(debug_dir(m, i)),
                                str_starts_with(dir, STR("/")) ? "" : "/", STR_ARG(dir),
                                STR_ARG(link.name));
        if (try_by_link(m, path, link.crc))
            return true;
    }
    return false;
}

static bool find_known_file(ModuleSymbols *m)
{
    Str path = m->search.known_file;
    return path.len && m->build_id.len && !str_equal(path, m->path) && try_by_build_id(m, path);
}

static bool find_by_debuginfod(ModuleSymbols *m)
{
    Str path;
    const SymboliseHelp *help = m->search.help;
    if (m->search.debuginfod_urls.len == 0 || m->build_id.len == 0)
        return false;
    bool found = help ? help->find_debug_file(help->ctx, &m->arena, &m->build_id, &path)
                      : debuginfod_find(&m->arena, &m->build_id, &path);
    return found && try_by_build_id(m, path);
}

// ---- Loading sections -----------------------------------------------------------

typedef struct SectionSlot {
    const char *name;
    size_t offset; // offset of the field in DwarfSections
} SectionSlot;

static const SectionSlot section_slots[] = {
    {".debug_info", offsetof(DwarfSections, info)},
    {".debug_types", offsetof(DwarfSections, types)},
    {".debug_abbrev", offsetof(DwarfSections, abbrev)},
    {".debug_line", offsetof(DwarfSections, line)},
    {".debug_str", offsetof(DwarfSections, str)},
    {".debug_line_str", offsetof(DwarfSections, line_str)},
    {".debug_str_offsets", offsetof(DwarfSections, str_offsets)},
    {".debug_addr", offsetof(DwarfSections, addr)},
    {".debug_ranges", offsetof(DwarfSections, ranges)},
    {".debug_rnglists", offsetof(DwarfSections, rnglists)},
    {".debug_aranges", offsetof(DwarfSections, aranges)},
    {".debug_cu_index", offsetof(DwarfSections, cu_index)},
    {".debug_tu_index", offsetof(DwarfSections, tu_index)},
};

// Compressed sections of one file, and their copies in the cache.
typedef struct SectionStore {
    const SectionCache *cache; // NULL: they are not kept
    Str name;                  // of the cache's file
    SectionSet known;
    UnpackedSection unpacked[ARRAY_LEN(section_slots)];
    size_t count;
    bool is_new; // a section was not known
} SectionStore;

// Smaller sections are unpacked sooner than found.
enum { STORED_BYTES_MIN = 256 << 10 };

static void store_open(ModuleSymbols *m, const Elf *elf, SectionStore *s)
{
    MappedFile file;
    BuildId id = elf_build_id(elf);
    *s = (SectionStore){.cache = m->search.sections};
    if (!s->cache)
        return;
    s->name = section_cache_name(&m->arena, &id);
    if (s->name.len == 0 || !symbol_cache_map(s->cache->folder, s->name, &file))
        return;
    if (section_set_open(file.bytes, &s->known, NULL))
        file_set_keep(&m->files, &file);
    else
        os_unmap_file(&file);
}

static bool is_compressed(const Elf *elf, const ElfSection *s)
{
    return s && (s->flags & SHF_COMPRESSED) && s->offset <= elf->file.len &&
           s->size <= elf->file.len - s->offset;
}

// As elf_section_load, with the content of a compressed section from the cache when it is there.
static bool store_load(ModuleSymbols *m, SectionStore *store, const Elf *elf, Str name, Bytes *ret,
                       Error *err)
{
    const ElfSection *s = store->name.len ? elf_section_find(elf, name) : NULL;
    if (!is_compressed(elf, s))
        return elf_section_load(&m->arena, elf, name, ret, err);
    Bytes packed = bytes_slice(elf->file, (size_t)s->offset, (size_t)s->offset + (size_t)s->size);
    bool found = section_set_find(&store->known, packed, ret);
    if (!found && !elf_section_load(&m->arena, elf, name, ret, err))
        return false;
    store->is_new |= !found;
    store->unpacked[store->count++] = (UnpackedSection){packed, *ret};
    return true;
}

static void store_save(const SectionStore *s)
{
    StrBuf file = {0};
    uint64_t total = 0;
    for (size_t i = 0; i < s->count; i++)
        total += s->unpacked[i].content.len;
    if (!s->is_new || total < STORED_BYTES_MIN || !section_set_encode(s->unpacked, s->count, &file))
        return;
    if (s->cache->help)
        s->cache->help->cache_write(s->cache->help->ctx, s->name, strbuf_str(&file));
    else
        symbol_cache_write(s->cache->folder, s->name, strbuf_str(&file), s->cache->max_bytes);
    strbuf_deinit(&file);
}

// Loads all DWARF sections. `suffix` is "" or ".dwo"; the names of a package's indexes have no
// suffix.
static void sections_load(ModuleSymbols *m, const Elf *elf, const char *suffix,
                          DwarfSections *sections)
{
    SectionStore store;
    *sections = (DwarfSections){0};
    store_open(m, elf, &store);
    for (size_t i = 0; i < ARRAY_LEN(section_slots); i++) {
        const SectionSlot *slot = &section_slots[i];
        bool is_index = str_ends_with(str_from_c(slot->name), STR("_index"));
        Str name = arena_printf(&m->arena, "%s%s", slot->name, is_index ? "" : suffix);
        Bytes *bytes = (Bytes *)(void *)((char *)sections + slot->offset);
        Error err;
        if (!store_load(m, &store, elf, name, bytes, &err)) {
            *bytes = (Bytes){0};
            trouble_add(m, "debug information is damaged: %s", err.text);
        }
    }
    store_save(&store);
}

// Opens a candidate for the dwz file of .gnu_debugaltlink; true when it is the right one.
static bool alt_try(ModuleSymbols *m, Str path, Bytes build_id)
{
    Elf elf;
    if (!candidate_open(m, path, &elf))
        return false;
    BuildId id = elf_build_id(&elf);
    if (id.len == 0 || !bytes_equal(build_id, id.bytes, id.len)) {
        trouble_add(m, "dwz file '%" STR_FMT "' has another build-id and is not used",
                    STR_ARG(path));
        return false;
    }
    sections_load(m, &elf, "", &m->alt);
    return true;
}

static bool alt_find(ModuleSymbols *m, const Elf *elf, Str elf_path)
{
    ElfAltLink link;
    BuildId id = {0};
    if (!elf_alt_link_find(elf, &link))
        return false;
    bool absolute = str_starts_with(link.path, STR("/"));
    Str dir = str_dir_name(elf_path);
    Str path = absolute ? link.path
                        : arena_printf(&m->arena, "%" STR_FMT "/%" STR_FMT,
                                       STR_ARG(dir.len ? dir : STR(".")), STR_ARG(link.path));
    if (alt_try(m, path, link.build_id))
        return true;
    if (link.build_id.len >= 2 && link.build_id.len <= sizeof(id.bytes)) {
        bytes_copy(id.bytes, link.build_id);
        id.len = (uint32_t)link.build_id.len;
        for (size_t i = 0; i <= m->search.dir_count; i++)
            if (alt_try(m, build_id_path(m, debug_dir(m, i), &id), link.build_id))
                return true;
    }
    trouble_add(m, "dwz file '%" STR_FMT "' is missing: many names and inlined calls are lost",
                STR_ARG(link.path));
    return false;
}

// ---- Split DWARF -------------------------------------------------------------------

static bool dwo_sections(ModuleSymbols *m, Str path, DwarfSections *ret)
{
    Elf elf;
    if (!candidate_open(m, path, &elf))
        return false;
    sections_load(m, &elf, ".dwo", ret);
    return ret->info.len > 0;
}

static bool package_find(ModuleSymbols *m, DwarfSections *ret)
{
    if (!m->package_tried) {
        m->package_tried = true;
        Str paths[] = {m->path, m->debug_path};
        for (size_t i = 0; i < ARRAY_LEN(paths) && m->package.cu_index.len == 0; i++)
            if (paths[i].len &&
                !dwo_sections(m, arena_printf(&m->arena, "%" STR_FMT ".dwp", STR_ARG(paths[i])),
                              &m->package))
                m->package = (DwarfSections){0};
    }
    *ret = m->package;
    return m->package.cu_index.len > 0;
}

static bool get_dwo(void *ctx, const DwarfDwoRequest *request, DwarfSections *ret)
{
    ModuleSymbols *m = ctx;
    Arena *a = &m->arena;
    m->dwo_wanted++;
    bool found = package_find(m, ret);
    if (!found && str_starts_with(request->dwo_name, STR("/")))
        found = dwo_sections(m, request->dwo_name, ret);
    if (!found && request->comp_dir.len)
        found = dwo_sections(m,
                             arena_printf(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(request->comp_dir),
                                          STR_ARG(request->dwo_name)),
                             ret);
    Str dir = module_dir(m);
    if (!found) // it may have been moved together with the program
        found = dwo_sections(m,
                             arena_printf(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(dir),
                                          STR_ARG(str_base_name(request->dwo_name))),
                             ret);
    m->dwo_found += found;
    return found;
}

// ---- Opening -----------------------------------------------------------------------

// Opens the object itself: from the bytes of the caller, or from the file at the path if that is
// the recorded one.
static void object_open(ModuleSymbols *m, Bytes object)
{
    Error err;
    Elf elf;
    if (object.len == 0 && !file_set_open(&m->files, m->path, &object)) {
        trouble_add(m, "the file is gone or cannot be read");
        return;
    }
    if (!elf_parse(&m->arena, object, &elf, &err)) {
        trouble_add(m, "cannot be read: %s", err.text);
        return;
    }
    BuildId id = elf_build_id(&elf);
    if (m->build_id.len && !build_id_same(&id, &m->build_id)) {
        trouble_add(m, "the file was replaced since it was recorded (its build-id differs)");
        return;
    }
    m->build_id = id;
    m->elf = elf;
    m->has_object = true;
}

static void dwarf_load(ModuleSymbols *m)
{
    const Elf *elf = m->has_object && has_dwarf(&m->elf) ? &m->elf : &m->debug;
    if (elf == &m->debug && (!m->has_debug || !has_dwarf(&m->debug)))
        return;
    if (elf == &m->elf)
        m->debug_path = m->path;
    sections_load(m, elf, "", &m->sections);
    if (alt_find(m, elf, m->debug_path))
        m->sections.alt = &m->alt;
    DwarfHooks hooks = {m, get_dwo};
    Error err;
    if (dwarf_open(&m->sections, &hooks, &m->dwarf, &err)) {
        m->level = SYMBOLS_DEBUG;
    } else {
        m->dwarf = NULL;
        trouble_add(m, "debug information cannot be read: %s", err.text);
    }
}

static void table_add(ModuleSymbols *m, const Elf *elf, uint32_t type, SymbolLevel level)
{
    Error err;
    SymbolIndex index = {0};
    if (!symbol_index_from_elf(&m->arena, elf, type, &index, &err)) {
        trouble_add(m, "symbols cannot be read: %s", err.text);
        return;
    }
    if (index.symbols.len == 0)
        return;
    m->tables[m->table_count++] = index;
    m->level = level < m->level ? level : m->level;
}

static void debugdata_add(ModuleSymbols *m)
{
    Bytes bytes;
    Elf *inner = arena_new(&m->arena, Elf);
    Error err;
    if (elf_debugdata_load(&m->arena, &m->elf, &bytes, &err) &&
        (bytes.len == 0 || elf_parse(&m->arena, bytes, inner, &err))) {
        if (bytes.len)
            table_add(m, inner, SHT_SYMTAB, SYMBOLS_DYNAMIC);
    } else {
        trouble_add(m, "%s", err.text);
    }
}

static void plt_add(ModuleSymbols *m)
{
    SymbolIndex index;
    symbol_index_from_plt(&m->arena, &m->elf, &index);
    if (index.symbols.len)
        m->tables[m->table_count++] = index;
}

// Loads symbol tables. Names come from .symtab, in whichever file it is; only without one from
// other tables.
static void tables_load(ModuleSymbols *m)
{
    if (m->has_object)
        table_add(m, &m->elf, SHT_SYMTAB, SYMBOLS_TABLE);
    if (m->table_count == 0 && m->has_debug)
        table_add(m, &m->debug, SHT_SYMTAB, SYMBOLS_TABLE);
    bool has_names = m->table_count > 0;
    if (m->has_object)
        plt_add(m);
    if (has_names || !m->has_object)
        return;
    table_add(m, &m->elf, SHT_DYNSYM, SYMBOLS_DYNAMIC);
    debugdata_add(m);
    SymbolIndex bounds;
    symbol_index_from_eh_frame(&m->arena, &m->elf, &bounds);
    if (bounds.symbols.len) {
        m->tables[m->table_count++] = bounds;
        m->level = m->level < SYMBOLS_BOUNDS ? m->level : SYMBOLS_BOUNDS;
    }
}

// A Go program tells functions, lines and inlined calls also when it is stripped.
static void go_load(ModuleSymbols *m)
{
    Error err;
    if (!m->has_object)
        return;
    m->has_go = gopclntab_open_elf(&m->elf, &m->go, &err);
    if (m->has_go)
        m->level = SYMBOLS_DEBUG;
    else if (err.kind != ERROR_NOT_FOUND)
        trouble_add(m, "%s", err.text);
}

void module_symbols_open_debug(ModuleSymbols *m, const SymboliseFiles *access,
                               const DebugSearch *search, Str path, const BuildId *build_id,
                               Bytes object)
{
    *m = (ModuleSymbols){.search = *search, .build_id = *build_id, .level = SYMBOLS_NONE};
    file_set_init(&m->files, access, &m->arena);
    m->path = arena_str(&m->arena, path);
    object_open(m, object);
    bool complete = m->has_object && has_dwarf(&m->elf);
    if (!complete && !find_by_build_id(m) && !find_by_link(m) && !find_known_file(m))
        (void)find_by_debuginfod(m);
    dwarf_load(m);
}

void module_symbols_open(ModuleSymbols *m, const SymboliseFiles *access, const DebugSearch *search,
                         Str path, const BuildId *build_id, Bytes object)
{
    module_symbols_open_debug(m, access, search, path, build_id, object);
    go_load(m);
    tables_load(m);
}

const Elf *module_symbols_debug_elf(const ModuleSymbols *m)
{
    return m->has_debug ? &m->debug : NULL;
}

void module_symbols_close(ModuleSymbols *m)
{
    dwarf_close(m->dwarf);
    table_deinit(&m->local_names);
    file_set_deinit(&m->files);
    arena_deinit(&m->arena);
    *m = (ModuleSymbols){0};
}

// ---- Looking up ----------------------------------------------------------------------

static const Symbol *symbol_at(const ModuleSymbols *m, uint64_t svma)
{
    for (size_t i = 0; i < m->table_count; i++) {
        const Symbol *s = symbol_index_find(&m->tables[i], svma);
        if (s)
            return s;
    }
    return NULL;
}

static PlaceFrame from_dwarf(const DwarfFrame *f)
{
    return (PlaceFrame){
        .linkage_name = f->linkage_name.len     ? f->linkage_name
                        : f->qualified_name.len ? f->qualified_name
                                                : f->name,
        .decl_file = f->decl_file,
        .decl_line = f->decl_line,
        .file = f->file,
        .line = f->line,
    };
}

// The first local symbol with that name; NULL: none so far. Only the first table,
// .symtab, has local names.
static Symbol *find_local(const ModuleSymbols *m, Str name)
{
    uint32_t row;
    for (TableProbe p = table_probe(&m->local_names, str_hash(name));
         table_next(&m->local_names, &p, &row);)
        if (str_equal(m->tables[0].symbols.at[row].name, name))
            return &m->tables[0].symbols.at[row];
    return NULL;
}

static void read_local_names(ModuleSymbols *m)
{
    const SymbolVec *symbols = &m->tables[0].symbols;
    for (uint32_t i = 0; i < symbols->len; i++) {
        const Symbol *s = &symbols->at[i];
        Symbol *first = s->is_local ? find_local(m, s->name) : NULL;
        if (first)
            first->is_name_shared |= first->function_start != s->function_start;
        else if (s->is_local)
            table_insert(&m->local_names, str_hash(s->name), i);
    }
    m->local_names_read = true;
}

// Whether the object has another function of that name: of functions that are
// private to their source files it may.
static bool shares_name(ModuleSymbols *m, const Symbol *symbol)
{
    if (!symbol->is_local)
        return false;
    if (!m->local_names_read)
        read_local_names(m);
    const Symbol *first = find_local(m, symbol->name);
    return first && first->is_name_shared;
}

static void add_go_frames(const ModuleSymbols *m, uint64_t svma, PlaceFrames *ret)
{
    _Static_assert((int)GO_FRAMES_MAX <= (int)PLACE_FRAMES_MAX, "all frames fit");
    GoFrame frames[GO_FRAMES_MAX];
    size_t n = gopclntab_lookup(&m->go, svma, frames);
    for (size_t i = 0; i < n; i++)
        ret->at[ret->len++] = (PlaceFrame){
            .linkage_name = frames[i].name,
            // A function starts in the file that its lines are in.
            .decl_file = frames[i].start_line ? frames[i].file : (Str){0},
            .decl_line = frames[i].start_line,
            .file = frames[i].file,
            .line = frames[i].line,
        };
}

bool module_symbols_lookup(ModuleSymbols *m, uint64_t svma, PlaceFrames *ret)
{
    DwarfFrames frames;
    frames.len = 0;
    ret->len = 0;
    if (m->dwarf && dwarf_lookup(m->dwarf, svma, &frames))
        for (size_t i = 0; i < frames.len; i++)
            ret->at[ret->len++] = from_dwarf(&frames.at[i]);
    if (ret->len == 0 && m->has_go)
        add_go_frames(m, svma, ret);

    const Symbol *symbol = symbol_at(m, svma);
    if (!symbol)
        return ret->len > 0;
    if (ret->len == 0)
        ret->at[ret->len++] = (PlaceFrame){0};
    // The name of the outermost function: DWARF has that of its abstract form (C4, no clone
    // suffix), the symbol table the one in the file.
    PlaceFrame *outermost = &ret->at[ret->len - 1];
    if (symbol->name.len && outermost->decl_file.len == 0 && shares_name(m, symbol))
        outermost->linkage_name =
            arena_printf(&m->arena, "%" STR_FMT "@0x%llx", STR_ARG(symbol->name),
                         (unsigned long long)symbol->function_start);
    else if (symbol->name.len)
        outermost->linkage_name = symbol->name;
    else if (outermost->linkage_name.len == 0)
        outermost->linkage_name =
            arena_printf(&m->arena, "%" STR_FMT "+0x%llx", STR_ARG(str_base_name(m->path)),
                         (unsigned long long)symbol->function_start);
    return true;
}
