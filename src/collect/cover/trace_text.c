// SPDX-License-Identifier: Apache-2.0
// The mappings of traced processes, and the breakpoints in them. Documents: proc(5), "maps" and
// "mem"; the dynamic linker's hook: <link.h>, r_brk.

#include "collect/cover/trace_internal.h"

#ifdef __x86_64__

#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/breakpoints/journal.h"
#include "collect/breakpoints/loader_hook.h"
#include "collect/breakpoints/trap_guard.h"
#include "os/file.h"
#include "os/proc.h"

enum { CHUNK_BYTES = 1 << 16 };

// ---- Memory --------------------------------------------------------------------------

static bool open_memory(Tracer *t, TraceProcess *p)
{
    char path[40];
    if (p->mem_fd >= 0)
        return true;
    for (size_t i = 0; i < t->processes.len && t->memories_open >= t->memories_max; i++)
        trace_close_memory(t, &t->processes.at[i]);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)p->pid);
    p->mem_fd = open(path, O_RDWR | O_CLOEXEC);
    t->memories_open += p->mem_fd >= 0;
    return p->mem_fd >= 0;
}

void trace_close_memory(Tracer *t, TraceProcess *p)
{
    if (p->mem_fd >= 0) {
        close(p->mem_fd);
        t->memories_open--;
    }
    p->mem_fd = -1;
}

bool trace_read(Tracer *t, TraceProcess *p, uint64_t at, void *to, size_t len)
{
    (void)open_memory(t, p);
    return code_read(p->mem_fd, p->pid, at, to, len);
}

bool trace_write(Tracer *t, TraceProcess *p, pid_t tid, uint64_t at, const uint8_t *from,
                 size_t len)
{
    (void)open_memory(t, p);
    return code_write(p->mem_fd, tid, at, from, len);
}

// ---- Modules -------------------------------------------------------------------------

// A path by which the mapped file can be opened: a process with another root has other paths.
static Str file_path(Arena *arena, pid_t pid, const ProcMap *map, FileIdentity *ret)
{
    *ret = (FileIdentity){0};
    if (map->deleted || (os_file_identity(map->path, ret, NULL) && ret->inode == map->inode))
        return map->path;
    FileIdentity below_root;
    Str path = arena_printf(arena, "/proc/%d/root%" STR_FMT, (int)pid, STR_ARG(map->path));
    if (!os_file_identity(path, &below_root, NULL) || below_root.inode != map->inode)
        return map->path;
    *ret = below_root;
    return path;
}

// Whether the file is still the one that was read. A linker that overwrites a program, or gets the
// inode number of a deleted one, makes a different file.
static bool is_same_file(const TraceModule *m, uint64_t device_inode, const FileIdentity *now)
{
    return m->device_inode == device_inode &&
           (now->inode == 0 || (m->size_bytes == now->size_bytes && m->mtime_ns == now->mtime_ns));
}

static bool add_to_journal(int journal, const TraceModule *m)
{
    U64Vec words = {0};
    for (size_t i = 0; i < m->site_count; i++)
        if (i == 0 || m->sites[i].svma != m->sites[i - 1].svma)
            vec_push(NULL, &words, journal_word(m->sites[i].svma, m->sites[i].original));
    bool ok = journal_add_module(journal, m->number, &words);
    vec_free(&words);
    return ok;
}

static TraceModule *module_of(Tracer *t, pid_t pid, const ProcMap *map)
{
    Arena scratch = {0};
    FileIdentity file;
    Str path = file_path(&scratch, pid, map, &file);
    uint64_t key = hash_pair(makedev(map->device_major, map->device_minor), map->inode);
    TraceModule *m = NULL;
    for (size_t i = t->modules.len; i-- > 0 && !m;)
        if (is_same_file(t->modules.at[i], key, &file))
            m = t->modules.at[i];
    if (!m) {
        m = arena_new(&t->arena, TraceModule);
        sites_load(&t->loader, path, m);
        m->number = (uint32_t)t->modules.len;
        m->device_inode = key;
        m->size_bytes = file.size_bytes;
        m->mtime_ns = file.mtime_ns;
        // Without the journal the breakpoints would stay when this process is killed.
        if (m->site_count && !add_to_journal(t->journal, m))
            m->site_count = 0;
        vec_push(&t->arena, &t->modules, m);
        t->result->sites += m->place_count;
        t->result->off_boundary += m->off_boundary;
        t->result->modules_with_debug += m->has_debug;
        t->result->modules_without += !m->has_debug;
    }
    arena_deinit(&scratch);
    return m;
}

// ---- Breakpoints ---------------------------------------------------------------------

// The sites [from, to) of a mapping, whose bytes are near each other, and their bytes in the
// buffer.
typedef struct Chunk {
    const TraceSite *sites;
    size_t from, to;
    uint64_t at; // address of the first byte in the process
} Chunk;

static bool next_chunk(Tracer *t, TraceProcess *p, const TraceMapped *m, Chunk *c)
{
    const TraceModule *module = m->module;
    size_t count = module->site_count, i = c->to;
    while (i < count && (module->sites[i].svma + m->bias < m->start ||
                         module->sites[i].svma + m->bias >= m->end))
        i++;
    if (i == count)
        return false;
    size_t to = i + 1;
    while (to < count && module->sites[to].svma + m->bias < m->end &&
           module->sites[to].svma - module->sites[i].svma < CHUNK_BYTES)
        to++;
    *c = (Chunk){module->sites, i, to, module->sites[i].svma + m->bias};
    t->buffer.len = 0;
    vec_extend(NULL, &t->buffer, (size_t)(module->sites[to - 1].svma - module->sites[i].svma) + 1);
    return trace_read(t, p, c->at, t->buffer.at, t->buffer.len);
}

static uint8_t *byte_of(Tracer *t, const Chunk *c, size_t site)
{
    return &t->buffer.at[c->sites[site].svma - c->sites[c->from].svma];
}

// Whether the mapped code is that of the file that was read: a file that was replaced since has
// other code.
static bool has_its_code(Tracer *t, TraceProcess *p, const TraceMapped *m)
{
    size_t other = 0, all = 0;
    for (Chunk c = {0}; next_chunk(t, p, m, &c);)
        for (size_t i = c.from; i < c.to; i++) {
            uint8_t byte = *byte_of(t, &c, i);
            all++;
            other += byte != c.sites[i].original && byte != BREAKPOINT_BYTE;
        }
    return other <= all / 8;
}

// Sets or removes the breakpoints of a mapping. Where the program has an int3 of its own at a
// statement, that one is used.
static void patch(Tracer *t, TraceProcess *p, pid_t tid, const TraceMapped *m, bool insert)
{
    for (Chunk c = {0}; next_chunk(t, p, m, &c);) {
        for (size_t i = c.from; i < c.to; i++) {
            uint8_t *byte = byte_of(t, &c, i);
            if (insert && *byte == c.sites[i].original &&
                !site_is_known(m->module, &c.sites[i], t->loader.profile))
                *byte = BREAKPOINT_BYTE;
            else if (!insert && *byte == BREAKPOINT_BYTE)
                *byte = c.sites[i].original;
        }
        (void)!trace_write(t, p, tid, c.at, t->buffer.at, t->buffer.len);
    }
}

static bool tells_line(const TraceSite *site, const TraceSite *hit, const TraceSite *hit_end)
{
    for (const TraceSite *h = hit; h < hit_end; h++)
        if (h->line == site->line && h->line != SITE_NO_ROW)
            return true;
    return false;
}

// Stops cost more than anything else here, and `for (a; b; c)` has three breakpoints.
void trace_clear_lines(Tracer *t, TraceProcess *p, pid_t tid, const TraceMapped *m,
                       const TraceSite *hit)
{
    enum { NEAR_SITES = 64, NEAR_BYTES = 4096 };
    const TraceModule *module = m->module;
    const TraceSite *hit_end = site_next_place(module, hit);
    const TraceSite *end = module->sites + module->site_count, *site = hit;
    while (site > module->sites && hit - site < NEAR_SITES &&
           hit->svma - site[-1].svma < NEAR_BYTES)
        site--;
    for (; site < end && site - hit < NEAR_SITES && site->svma < hit->svma + NEAR_BYTES; site++) {
        uint8_t byte;
        uint64_t at = site->svma + m->bias;
        if (site->svma != hit->svma && tells_line(site, hit, hit_end) && at >= m->start &&
            at < m->end &&
            site_is_known(module, site_find(module, site->svma), t->loader.profile) &&
            trace_read(t, p, at, &byte, 1) && byte == BREAKPOINT_BYTE)
            (void)!trace_write(t, p, tid, at, &site->original, 1);
    }
}

// ---- Mappings ------------------------------------------------------------------------

static TraceMapped *mapped_find(TraceProcess *p, const ProcMap *map, const TraceModule *module)
{
    for (size_t i = 0; i < p->mapped.len; i++) {
        TraceMapped *m = &p->mapped.at[i];
        if (m->start == map->start && m->end == map->end && m->module == module)
            return m;
    }
    return NULL;
}

// Programs that use huge pages for their code copy it to other memory and map that at the same
// address. The copy has the breakpoints, so that the mapping is kept.
static void keep_copied(TraceProcess *p, const ProcMap *map)
{
    for (size_t i = 0; i < p->mapped.len; i++)
        p->mapped.at[i].is_there |=
            p->mapped.at[i].start < map->end && map->start < p->mapped.at[i].end;
}

// Forgets mappings that no longer exist: the same object may be mapped at the same address again.
static void forget_unmapped(Tracer *t, TraceProcess *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->mapped.len; i++)
        if (p->mapped.at[i].is_there)
            p->mapped.at[kept++] = p->mapped.at[i];
        else
            journal_drop_mapping(t->journal, p->pid, p->mapped.at[i].start);
    p->mapped.len = kept;
}

static void add_mapping(Tracer *t, TraceProcess *p, pid_t tid, const ProcMap *map, bool insert)
{
    uint64_t svma;
    TraceModule *module = module_of(t, tid, map);
    TraceMapped *known = mapped_find(p, map, module);
    if (known) {
        known->is_there = true;
        return;
    }
    if (module->site_count == 0 ||
        !elf_svma_of_mapping(&module->elf, map->offset, map->end - map->start, &svma))
        return;
    TraceMapped mapped = {module, map->start, map->end, map->start - svma, true};
    if (!has_its_code(t, p, &mapped)) {
        t->result->replaced++;
        return;
    }
    bool is_listed = journal_add_mapping(
        t->journal, p->pid,
        &(JournalMapping){module->number, mapped.start, mapped.end, mapped.bias});
    vec_push(NULL, &p->mapped, mapped);
    if (insert && is_listed)
        patch(t, p, tid, &mapped, true);
}

// Reads the mappings and sets breakpoints in new ones. `insert` is false for a forked child, whose
// memory has the breakpoints of its parent.
bool trace_look_at_maps(Tracer *t, TraceProcess *p, pid_t tid, bool insert)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    Error err;
    if (!proc_maps_read(&scratch, (uint32_t)p->pid, &maps, &err)) {
        arena_deinit(&scratch);
        return err.kind != ERROR_PERMISSION;
    }
    for (size_t i = 0; i < p->mapped.len; i++)
        p->mapped.at[i].is_there = false;
    for (size_t i = 0; i < maps.len; i++) {
        const ProcMap *map = &maps.at[i];
        if (!map->exec)
            continue;
        if (map->inode == 0)
            keep_copied(p, map);
        else if (map->path.len && map->path.ptr[0] == '/')
            add_mapping(t, p, tid, map, insert);
    }
    forget_unmapped(t, p);
    arena_deinit(&scratch);
    return true;
}

void trace_clean(Tracer *t, TraceProcess *p, pid_t tid)
{
    for (size_t i = 0; i < p->mapped.len; i++)
        patch(t, p, tid, &p->mapped.at[i], false);
    if (p->loader_hook)
        (void)!trace_write(t, p, tid, p->loader_hook, &p->loader_byte, 1);
    journal_drop_process(t->journal, p->pid);
    p->is_clean = true;
}

// ---- Breakpoints at the beginning of a program ----------------------------------------------

void trace_set_guard(Tracer *t, TraceProcess *p, pid_t tid)
{
    // Without it only those threads suffer that are at a breakpoint when this process is killed.
    if (open_memory(t, p))
        (void)trap_guard_set(tid, p->mem_fd);
}

void trace_set_hook(Tracer *t, TraceProcess *p, pid_t tid)
{
    static const uint8_t breakpoint = BREAKPOINT_BYTE;
    LoaderHook hook = loader_hook_find(p->pid);
    p->loader_hook = 0;
    (void)open_memory(t, p);
    if (loader_hook_fits(&hook, p->mem_fd, p->pid) &&
        journal_add_byte(t->journal, p->pid, hook.address, hook.byte) &&
        trace_write(t, p, tid, hook.address, &breakpoint, 1)) {
        p->loader_hook = hook.address;
        p->loader_byte = hook.byte;
    }
    t->result->no_loader |= hook.has_loader && !p->loader_hook;
}

#endif // __x86_64__
