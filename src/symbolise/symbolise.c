// SPDX-License-Identifier: Apache-2.0
// Symbolises a whole profile. Raw frames are grouped by module and address, so that each module is
// opened once and each address is looked up once.

#include "symbolise/symbolise.h"

#include "base/log.h"
#include "os/owned_file.h"
#include "symbolise/kernel_names.h"
#include "symbolise/section_cache.h"
#include "symbolise/symbol_cache.h"
#include "symbolise/text_maps.h"
#include "symbolise/vdso.h"

#include <stdlib.h>
#include <unistd.h>

#define KALLSYMS "/proc/kallsyms"
#define BOOT_ID  "/proc/sys/kernel/random/boot_id"
enum { TEXT_MAX_BYTES = 256 << 20, MODULE_NOTES_MAX = 8, PROGRESS_STEP = 256 };

typedef struct Run {
    Profile *profile;
    const SymboliseOptions *options;
    SymboliseStats stats;
    Arena scratch;
    DebugSearch search;
    uint64_t *samples_of_module; // [module]: samples whose innermost frame is in it
    size_t done;                 // addresses
    bool kernel_tried;
    bool kernel_ok;
    SymbolIndex kernel; // kallsyms, kept for all kernel modules
    AddressRange kernel_core;
    SectionCache sections;
    int cache;    // the folder of the symbol cache; -1: none
    U32Vec noted; // modules to note, rows
    StrVec noted_text;
} Run;

// The frames of one module that need a name, by address.
typedef struct Group {
    ModuleId module;
    ModuleKind kind;
    const uint32_t *frames;
    size_t len;
} Group;

static bool stopped(const Run *r)
{
    return r->options->stop && atomic_load_explicit(r->options->stop, memory_order_relaxed);
}

static uint64_t address_of(const Run *r, uint32_t frame)
{
    return r->profile->frames.address.at[frame];
}

// ---- From a table into the profile ----------------------------------------------

// Maps rows of a PlaceTable to rows of the profile, which are made when they are first used.
typedef struct RowMap {
    U32Vec functions; // + 1
    U32Vec strings;   // + 1
} RowMap;

static StrId string_row(Run *r, const PlaceTable *t, RowMap *map, uint32_t string)
{
    uint32_t *row = &map->strings.at[string];
    if (*row == 0)
        *row = profile_str(r->profile, intern_get(&t->strings, string)).v + 1;
    return (StrId){*row - 1};
}

static FunctionId function_row(Run *r, const PlaceTable *t, RowMap *map, uint32_t function)
{
    uint32_t *row = &map->functions.at[function];
    if (*row == 0) {
        const PlaceFunction *f = &t->functions.at[function];
        *row = profile_function(r->profile, intern_get(&t->strings, f->name),
                                intern_get(&t->strings, f->linkage_name),
                                intern_get(&t->strings, f->file), f->line)
                   .v +
               1;
    }
    return (FunctionId){*row - 1};
}

static void frame_fill(Run *r, const PlaceTable *t, RowMap *map, uint32_t frame, const Place *place)
{
    FrameId at = {frame};
    for (uint32_t i = 0; i < place->count; i++) {
        const PlaceLine *l = &t->lines.at[place->first + i];
        if (i)
            at = profile_frame_add_inliner(r->profile, at);
        profile_frame_resolve(r->profile, at, function_row(r, t, map, l->function),
                              string_row(r, t, map, l->file), l->line);
    }
    if (place->count && r->profile->frames.function.at[at.v].v)
        r->stats.resolved++;
}

static void group_fill(Run *r, const Group *g, const PlaceTable *t)
{
    RowMap map = {0};
    vec_extend(NULL, &map.functions, t->functions.len);
    vec_extend(NULL, &map.strings, t->strings.texts.len);
    for (size_t i = 0; i < g->len; i++) {
        const Place *place = place_table_find(t, address_of(r, g->frames[i]));
        if (place)
            frame_fill(r, t, &map, g->frames[i], place);
    }
    vec_free(&map.functions);
    vec_free(&map.strings);
}

// The addresses of a group that the table does not have yet, ascending.
static void group_missing(const Run *r, const Group *g, const PlaceTable *t, U64Vec *ret)
{
    uint64_t last = 0;
    for (size_t i = 0; i < g->len; i++) {
        uint64_t address = address_of(r, g->frames[i]);
        if (i && address == last)
            continue;
        last = address;
        if (!place_table_find(t, address))
            vec_push(NULL, ret, address);
    }
}

static bool progress(Run *r, size_t more)
{
    size_t before = r->done / PROGRESS_STEP;
    r->done += more;
    if (r->options->progress && r->done / PROGRESS_STEP != before)
        r->options->progress(r->options->progress_ctx, r->done, r->stats.frames);
    return !stopped(r);
}

// ---- Notes -------------------------------------------------------------------------

static void note_later(Run *r, ModuleId module, Str text)
{
    vec_push(&r->scratch, &r->noted, module.v);
    vec_push(&r->scratch, &r->noted_text, text);
}

static bool is_system_path(Str path)
{
    return str_starts_with(path, STR("/usr/")) || str_starts_with(path, STR("/lib"));
}

// Hints how the user gets the missing information.
static Str remedy(Run *r, Str path, SymbolLevel level)
{
    Str base = str_base_name(path);
    bool is_libc =
        str_starts_with(base, STR("libc.so")) || str_starts_with(base, STR("ld-linux")) ||
        str_starts_with(base, STR("libm.so")) || str_starts_with(base, STR("libpthread.so"));
    if (is_system_path(path) && !str_starts_with(path, STR("/usr/local/")))
        return is_libc ? STR("Debian and Ubuntu: apt install libc6-dbg")
                       : STR("install its -dbg or -dbgsym package, or set DEBUGINFOD_URLS to your "
                             "distribution's server");
    if (level == SYMBOLS_TABLE)
        return STR("build it with -g");
    return arena_printf(&r->scratch, "build it with -g and do not strip it");
}

static void note_module(Run *r, ModuleId module, const PlaceTable *t)
{
    static const char *const missing[SYMBOLS_LEVEL_COUNT] = {
        [SYMBOLS_DEBUG] = NULL,
        [SYMBOLS_TABLE] = "no debug information: functions without lines and inlined calls",
        [SYMBOLS_DYNAMIC] = "stripped: only exported functions have names",
        [SYMBOLS_BOUNDS] = "stripped: functions have no names",
        [SYMBOLS_NONE] = "no symbols",
    };
    Str path = profile_text(r->profile, r->profile->modules.path.at[module.v]);
    StrBuf text = {0};
    // The vdso never has more than its exported names, and the user cannot change that.
    if (r->profile->modules.kind.at[module.v] == MODULE_VDSO && t->level != SYMBOLS_NONE)
        return;
    if (missing[t->level])
        strbuf_printf(&text, "%s", missing[t->level]);
    for (size_t i = 0; i < MIN(t->troubles.len, (size_t)4); i++)
        strbuf_printf(&text, "%s%" STR_FMT, text.len ? "; " : "", STR_ARG(t->troubles.at[i]));
    if (missing[t->level])
        strbuf_printf(&text, " (%" STR_FMT ")", STR_ARG(remedy(r, path, t->level)));
    if (text.len)
        note_later(r, module, arena_str(&r->scratch, strbuf_str(&text)));
    strbuf_deinit(&text);
}

// ---- Objects -----------------------------------------------------------------------

static Bytes module_bytes(const Run *r, ModuleId module)
{
    const SymboliseFiles *f = &r->options->files;
    Bytes bytes = {0};
    if (!f->module_bytes || !f->module_bytes(f->ctx, module, &bytes))
        bytes = (Bytes){0};
    return bytes;
}

static bool look_up_all(Run *r, ModuleSymbols *m, const U64Vec *addresses, PlaceTable *t)
{
    PlaceFrames frames;
    for (size_t i = 0; i < addresses->len; i++) {
        module_symbols_lookup(m, addresses->at[i], &frames);
        place_table_add(t, addresses->at[i], &frames);
        if (!progress(r, 1))
            return false;
    }
    return true;
}

static void table_take_state(PlaceTable *t, const ModuleSymbols *m)
{
    t->level = m->level;
    t->debug_path = arena_str(&t->arena, m->debug_path);
    t->troubles = (StrVec){0};
    for (size_t i = 0; i < m->troubles.len; i++)
        vec_push(&t->arena, &t->troubles, arena_str(&t->arena, m->troubles.at[i]));
    if (m->dwo_found < m->dwo_wanted)
        vec_push(&t->arena, &t->troubles,
                 arena_printf(&t->arena,
                              "%zu of %zu .dwo files are missing: their inlined calls "
                              "and names are lost",
                              m->dwo_wanted - m->dwo_found, m->dwo_wanted));
    DwarfStats stats;
    if (!m->dwarf)
        return;
    dwarf_stats(m->dwarf, &stats);
    if (stats.units_damaged)
        vec_push(&t->arena, &t->troubles,
                 arena_printf(&t->arena, "%zu of %zu units of debug information are damaged: %s",
                              stats.units_damaged, stats.units, stats.trouble));
}

// Copies probes to the arena of the table, because their paths are freed with the ModuleSymbols.
static void probes_take(PlaceTable *t, const FileProbeVec *from, FileProbeVec *to)
{
    to->len = 0;
    for (size_t i = 0; i < from->len; i++) {
        FileProbe p = from->at[i];
        p.path = arena_str(&t->arena, p.path);
        vec_push(NULL, to, p);
    }
}

// Loads the cached data of a module; an empty table when it has nothing.
static void table_load(const Run *r, Str cache_name, PlaceTable *t, FileProbeVec *probes)
{
    place_table_init(t);
    if (!symbol_cache_load(r->cache, cache_name, &r->options->files, t, probes)) {
        place_table_deinit(t);
        place_table_init(t);
    }
}

static void cache_write(const Run *r, Str name, Str content)
{
    const SymboliseHelp *help = r->options->help;
    if (help)
        help->cache_write(help->ctx, name, content);
    else
        symbol_cache_write(r->cache, name, content, r->options->cache_max_bytes);
}

static void cache_save(const Run *r, Str name, const PlaceTable *t, const FileProbeVec *probes)
{
    StrBuf file = {0};
    if (r->cache >= 0 && symbol_cache_pack(t, probes, &file))
        cache_write(r, name, strbuf_str(&file));
    strbuf_deinit(&file);
}

static bool object_resolve(Run *r, const Group *g)
{
    Profile *p = r->profile;
    const SymboliseFiles *files = &r->options->files;
    Str path = profile_text(p, p->modules.path.at[g->module.v]);
    BuildId id = {0};
    if (!build_id_from_hex(profile_text(p, p->modules.build_id.at[g->module.v]), &id))
        id = (BuildId){0};
    Bytes object = module_bytes(r, g->module);
    if (object.len == 0 && g->kind == MODULE_VDSO && r->options->is_live)
        object = vdso_image();
    Str cache_name = symbol_cache_name(&r->scratch, &id, object, path);
    PlaceTable t;
    FileProbeVec probes = {0};
    table_load(r, cache_name, &t, &probes);
    U64Vec missing = {0};
    group_missing(r, g, &t, &missing);
    bool ok = true;
    // The cached places may be those of a stripped copy with the same build-id.
    if (missing.len || t.level == SYMBOLS_BOUNDS) {
        ModuleSymbols *m = arena_new(&r->scratch, ModuleSymbols);
        DebugSearch search = r->search;
        search.known_file = arena_str(&r->scratch, t.debug_path);
        module_symbols_open(m, files, &search, path, &id, object);
        bool is_cached = t.places.len != 0;
        if (is_cached && m->level < t.level) {
            place_table_deinit(&t);
            place_table_init(&t);
            missing.len = 0;
            group_missing(r, g, &t, &missing);
        }
        bool is_worse = is_cached && m->level > t.level;
        ok = look_up_all(r, m, &missing, &t);
        table_take_state(&t, m);
        if (is_worse)
            vec_push(&t.arena, &t.troubles,
                     STR("places that a copy with more symbols named earlier keep their names"));
        probes_take(&t, &m->files.probes, &probes);
        module_symbols_close(m);
        place_table_sort(&t);
        if (ok && t.level != SYMBOLS_NONE && missing.len && !is_worse)
            cache_save(r, cache_name, &t, &probes);
    } else {
        r->stats.from_cache += g->len;
        progress(r, g->len);
    }
    group_fill(r, g, &t);
    r->stats.debug_modules += t.level == SYMBOLS_DEBUG;
    note_module(r, g->module, &t);
    vec_free(&missing);
    vec_free(&probes);
    place_table_deinit(&t);
    return ok;
}

// ---- Kernel and JIT ----------------------------------------------------------------

// Adds those of the addresses that lie inside the range, or those outside of it.
static bool index_look_up(Run *r, const SymbolIndex *index, const U64Vec *addresses,
                          AddressRange range, bool inside, PlaceTable *t)
{
    bool ok = true;
    for (size_t i = 0; i < addresses->len && ok; i++) {
        uint64_t address = addresses->at[i];
        if ((address >= range.start && address < range.end) != inside)
            continue;
        const Symbol *s = symbol_index_find(index, address);
        PlaceFrames frames;
        frames.len = s != NULL;
        if (s)
            frames.at[0] = (PlaceFrame){.linkage_name = s->name};
        place_table_add(t, address, &frames);
        ok = progress(r, 1);
    }
    place_table_sort(t);
    return ok;
}

static bool index_resolve(Run *r, const Group *g, const SymbolIndex *index)
{
    PlaceTable t;
    place_table_init(&t);
    U64Vec missing = {0};
    group_missing(r, g, &t, &missing);
    bool ok = index_look_up(r, index, &missing, (AddressRange){0, UINT64_MAX}, true, &t);
    group_fill(r, g, &t);
    vec_free(&missing);
    place_table_deinit(&t);
    return ok;
}

static void kernel_load(Run *r, ModuleId module)
{
    Error err;
    Bytes text = module_bytes(r, module);
    r->kernel_tried = true;
    if (text.len == 0 && r->options->is_live &&
        !os_read_file(&r->scratch, STR(KALLSYMS), TEXT_MAX_BYTES, &text, &err)) {
        note_later(r, module, arena_str(&r->scratch, str_from_c(err.text)));
        return;
    }
    if (text.len == 0)
        return note_later(r, module, STR("no kernel symbols were recorded"));
    r->kernel_ok =
        kallsyms_parse(&r->scratch, str_from_bytes(text), &r->kernel, &r->kernel_core, &err);
    if (!r->kernel_ok)
        note_later(r, module, arena_printf(&r->scratch, "%s; %s", err.text, err.hint));
}

// The name of the cache file for the running kernel. The code that the kernel was linked with does
// not change until the next boot. "" when the profile is from another kernel.
static Str kernel_cache_name(Run *r)
{
    const SymboliseOptions *o = r->options;
    char buf[64];
    Str boot;
    if (!(o->is_live || o->is_running_kernel) || r->cache < 0 ||
        !os_read_small(BOOT_ID, buf, sizeof(buf), &boot))
        return STR("");
    return arena_printf(&r->scratch, "kernel-%" STR_FMT ".sym", STR_ARG(boot));
}

// The cache file with all functions that the running kernel was linked with.
static Str kernel_names_file(Run *r, Str cache_name)
{
    return arena_printf(&r->scratch, "%" STR_FMT "-all.sym",
                        STR_ARG(str_slice(cache_name, 0, cache_name.len - sizeof(".sym") + 1)));
}

static void kernel_names_save(Run *r, Str cache_name)
{
    StrBuf file = {0};
    if (cache_name.len && kernel_names_encode(&r->kernel, r->kernel_core, &file) &&
        file.len <= SYMBOL_CACHE_FILE_MAX_BYTES)
        cache_write(r, kernel_names_file(r, cache_name), strbuf_str(&file));
    strbuf_deinit(&file);
}

// Takes addresses that the cached functions of the kernel name out of `missing`.
static void kernel_from_names(Run *r, Str cache_name, U64Vec *missing, PlaceTable *t)
{
    static const FileProbeVec no_probes = {0};
    MappedFile file;
    KernelNames names;
    if (missing->len == 0 || cache_name.len == 0 ||
        !symbol_cache_map(r->cache, kernel_names_file(r, cache_name), &file))
        return;
    size_t kept = 0, all = missing->len;
    bool ok = kernel_names_open(file.bytes, &names, NULL);
    for (size_t i = 0; ok && i < all; i++) {
        PlaceFrames frames;
        Str name;
        if (!kernel_names_find(&names, missing->at[i], &name)) {
            missing->at[kept++] = missing->at[i];
            continue;
        }
        frames.len = name.len > 0;
        frames.at[0] = (PlaceFrame){.linkage_name = name};
        place_table_add(t, missing->at[i], &frames);
        (void)progress(r, 1);
    }
    if (ok && kept < all) {
        missing->len = kept;
        place_table_sort(t);
        cache_save(r, cache_name, t, &no_probes);
    }
    os_unmap_file(&file);
}

static bool kernel_look_up(Run *r, const U64Vec *missing, Str cache_name, PlaceTable *t)
{
    static const FileProbeVec no_probes = {0};
    bool ok = index_look_up(r, &r->kernel, missing, r->kernel_core, true, t);
    if (ok)
        cache_save(r, cache_name, t, &no_probes);
    // Code of modules, and generated code, may be other code tomorrow, so it is not cached.
    return ok && index_look_up(r, &r->kernel, missing, r->kernel_core, false, t);
}

// Reading the 100,000 symbols of the kernel takes longer than all else in a small recording. It is
// done only for addresses that the cache does not have.
static bool kernel_resolve(Run *r, const Group *g)
{
    Str cache_name = g->kind == MODULE_KERNEL ? kernel_cache_name(r) : STR("");
    PlaceTable t;
    FileProbeVec probes = {0};
    U64Vec missing = {0};
    table_load(r, cache_name, &t, &probes);
    group_missing(r, g, &t, &missing);
    kernel_from_names(r, cache_name, &missing, &t);
    r->stats.from_cache += g->len - missing.len;
    if (missing.len && !r->kernel_tried) {
        kernel_load(r, g->module);
        if (r->kernel_ok)
            kernel_names_save(r, cache_name);
    }
    bool ok = missing.len && r->kernel_ok ? kernel_look_up(r, &missing, cache_name, &t)
                                          : progress(r, g->len);
    group_fill(r, g, &t);
    vec_free(&missing);
    vec_free(&probes);
    place_table_deinit(&t);
    return ok;
}

// Anyone can make a file of this name in /tmp: ours and root's are read.
static bool jit_map_read(Run *r, Str path, Bytes *ret, Error *err)
{
    int fd = os_open_owned(0, path, geteuid(), err);
    if (fd < 0)
        return false;
    bool ok = os_read_fd(&r->scratch, fd, path, OWNED_FILE_MAX_BYTES, ret, err);
    close(fd);
    return ok;
}

static bool jit_resolve(Run *r, const Group *g)
{
    Str path = profile_text(r->profile, r->profile->modules.path.at[g->module.v]);
    Bytes text = module_bytes(r, g->module);
    Error err;
    if (text.len == 0 && !jit_map_read(r, path, &text, &err)) {
        note_later(
            r, g->module,
            err.kind != ERROR_NOT_FOUND
                ? arena_printf(&r->scratch, "the map of generated code is not used: %s", err.text)
                : STR("no map of generated code (most runtimes write one when told to)"));
        return progress(r, g->len);
    }
    SymbolIndex index;
    size_t bad_lines;
    jit_map_parse(&r->scratch, str_from_bytes(text), &index, &bad_lines);
    if (bad_lines)
        note_later(r, g->module,
                   arena_printf(&r->scratch,
                                "lines of the map of generated code that are not "
                                "'START SIZE name' and were skipped: %zu",
                                bad_lines));
    return index_resolve(r, g, &index);
}

// ---- The run -----------------------------------------------------------------------

static bool group_resolve(Run *r, const Group *g)
{
    r->stats.modules++;
    switch (g->kind) {
    case MODULE_FILE:
    case MODULE_VDSO:
        return object_resolve(r, g);
    case MODULE_KERNEL:
    case MODULE_KMOD:
        return kernel_resolve(r, g);
    case MODULE_JIT:
        return jit_resolve(r, g);
    case MODULE_NONE:
    case MODULE_ANON:
        break;
    }
    return progress(r, g->len);
}

// A frame with its sort key: module, then address; equal ones keep the order of rows.
typedef struct FrameKey {
    uint64_t address;
    uint32_t module;
    uint32_t frame;
} FrameKey;

static int frame_key_compare(const void *a, const void *b)
{
    const FrameKey *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static bool is_raw(const Profile *p, uint32_t frame)
{
    const Frames *f = &p->frames;
    return f->module.at[frame].v && f->function.at[frame].v == 0 &&
           f->inlined_in.at[frame].v == 0 && f->file.at[frame].v == 0 &&
           !(f->flags.at[frame] & FRAME_CUT);
}

static uint32_t *frames_by_module(Run *r, size_t *ret_len)
{
    const Profile *p = r->profile;
    Vec(FrameKey) keys = {0};
    for (uint32_t i = MAX(r->options->first_frame, 1u); i < profile_frame_count(p); i++)
        if (is_raw(p, i))
            vec_push(NULL, &keys, (FrameKey){p->frames.address.at[i], p->frames.module.at[i].v, i});
    if (keys.len)
        qsort(keys.at, keys.len, sizeof(keys.at[0]), frame_key_compare);
    uint32_t *rows = arena_array(&r->scratch, uint32_t, keys.len);
    for (size_t i = 0; i < keys.len; i++)
        rows[i] = keys.at[i].frame;
    *ret_len = keys.len;
    vec_free(&keys);
    return rows;
}

// Counts the samples whose innermost frame is in each module: without symbols their first column in
// a report has no name or line.
static void samples_count(Run *r)
{
    const Profile *p = r->profile;
    r->samples_of_module = arena_array(&r->scratch, uint64_t, p->modules.path.len);
    uint64_t *weight = arena_array(&r->scratch, uint64_t, p->stacks.parent.len);
    const U64Vec *dropped = &p->samples.dropped.of_stack;
    if (dropped->len)
        memcpy(weight, dropped->at, dropped->len * sizeof(weight[0]));
    for (size_t i = 0; i < p->samples.stack.len; i++)
        weight[p->samples.stack.at[i].v]++;
    for (size_t i = 1; i < p->stacks.frame.len; i++) {
        uint32_t frame = p->stacks.frame.at[i].v;
        r->samples_of_module[p->frames.module.at[frame].v] += weight[i];
    }
}

typedef struct NoteOrder {
    uint64_t samples;
    size_t row;
} NoteOrder;

static int most_samples_first(const void *a, const void *b)
{
    const NoteOrder *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void notes_write(Run *r)
{
    Profile *p = r->profile;
    size_t n = r->noted.len;
    if (n == 0)
        return;
    size_t samples = p->samples.stack.len + p->samples.dropped.rows;
    NoteOrder *order = arena_array(&r->scratch, NoteOrder, n);
    for (size_t i = 0; i < n; i++)
        order[i] = (NoteOrder){r->samples_of_module[r->noted.at[i]], i};
    qsort(order, n, sizeof(order[0]), most_samples_first);
    for (size_t i = 0; i < MIN(n, (size_t)MODULE_NOTES_MAX); i++) {
        Str path = profile_text(p, p->modules.path.at[r->noted.at[order[i].row]]);
        // A module with less than one sample in a hundred cannot change a conclusion.
        bool matters = order[i].samples && order[i].samples * 100 >= samples;
        profile_note(p, matters ? NOTE_WARNING : NOTE_INFO, STR("symbols"),
                     "'%" STR_FMT "' (%llu of %zu samples): %" STR_FMT, STR_ARG(path),
                     (unsigned long long)order[i].samples, samples,
                     STR_ARG(r->noted_text.at[order[i].row]));
    }
    if (n > MODULE_NOTES_MAX)
        profile_note(p, NOTE_INFO, STR("symbols"),
                     "%zu more modules with fewer samples lack symbols or debug information",
                     n - MODULE_NOTES_MAX);
}

static bool groups_resolve(Run *r)
{
    const Profile *p = r->profile;
    const uint32_t *rows = frames_by_module(r, &r->stats.frames);
    for (size_t i = 0; i < r->stats.frames;) {
        ModuleId module = p->frames.module.at[rows[i]];
        size_t end = i + 1;
        while (end < r->stats.frames && p->frames.module.at[rows[end]].v == module.v)
            end++;
        Group g = {module, (ModuleKind)p->modules.kind.at[module.v], rows + i, end - i};
        if (!group_resolve(r, &g))
            return false;
        i = end;
    }
    return true;
}

// A cache that another user can write to would give false names, or lead our writes astray.
static void cache_open(Run *r)
{
    Error why;
    r->cache = -1;
    if (r->options->cache_dir.len == 0)
        return;
    r->cache = symbol_cache_open(r->options->cache_dir, &why);
    if (r->cache < 0 && why.kind == ERROR_PERMISSION && why.os_errno == 0)
        profile_note(r->profile, NOTE_INFO, STR("symbol-cache"),
                     "the symbol cache '%" STR_FMT "' is not used: %s",
                     STR_ARG(r->options->cache_dir), why.text);
}

bool symbolise_profile(Profile *p, const SymboliseOptions *options, SymboliseStats *stats,
                       Error *err)
{
    Run r = {.profile = p, .options = options};
    cache_open(&r);
    r.sections = (SectionCache){r.cache, options->help, options->cache_max_bytes};
    r.search = (DebugSearch){options->debug_dirs,
                             options->debug_dir_count,
                             options->debuginfod_cache,
                             options->debuginfod_urls,
                             options->help,
                             r.cache >= 0 ? &r.sections : NULL,
                             STR("")};
    samples_count(&r);
    bool ok = groups_resolve(&r);
    notes_write(&r);
    if (stats)
        *stats = r.stats;
    if (r.cache >= 0)
        close(r.cache);
    arena_deinit(&r.scratch);
    return ok || error_set(err, ERROR_LIMIT, "symbolising was stopped");
}
