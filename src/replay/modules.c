// SPDX-License-Identifier: Apache-2.0
// The files that code was mapped from.

#include "replay/modules.h"

#include "base/log.h"
#include "os/owned_file.h"
#include "os/proc.h"
#include "perfdata/jitdump.h"
#include "replay/sigreturn.h"
#include "replay/trampolines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

// The e_machine of an architecture.
static uint16_t elf_machine_of(UnwindArch arch)
{
    return arch == UNWIND_X86_64 ? EM_X86_64 : EM_AARCH64;
}

// ---- Files ------------------------------------------------------------------------

void modules_init(ModuleSet *set, Profile *profile, UnwindArch arch, const ModuleSearch *search)
{
    *set = (ModuleSet){
        .tables = {.huge_pages = true}, .profile = profile, .arch = arch, .search = search};
    kernel_map_init(&set->kernel, profile, search);
}

void modules_deinit(ModuleSet *set)
{
    for (size_t i = 0; i < set->files.len; i++) {
        os_unmap_file(&set->files.at[i]->file);
        if (set->files.at[i]->jit_map)
            close(set->files.at[i]->jit_map - 1);
    }
    for (size_t i = 0; i < set->jit_dumps.len; i++)
        close(set->jit_dumps.at[i].fd);
    table_deinit(&set->by_key);
    table_deinit(&set->by_path);
    foreign_roots_deinit(&set->roots);
    kernel_map_deinit(&set->kernel);
    arena_deinit(&set->tables);
    arena_deinit(&set->arena);
    *set = (ModuleSet){0};
}

static Str hex_of(Arena *arena, Bytes id)
{
    BuildId b = {.len = (uint32_t)MIN(id.len, (size_t)ELF_BUILD_ID_MAX)};
    memcpy(b.bytes, id.ptr, b.len);
    return build_id_hex(arena, &b);
}

// Whether an opened file is the mapped one. With `certain` only a different build-id says no.
static bool is_mapped_file(const ModuleSet *set, const ModuleFile *m, const FileIdentity *file,
                           Str build_id, bool certain)
{
    if (m->build_id.len)
        return str_equal(build_id, m->build_id);
    if (certain || m->inode == 0 || file->inode == m->inode)
        return true;
    // Inode numbers say nothing on another machine; the time of the last change does.
    return set->search && file->mtime_ns <= set->search->recorded_at_ns;
}

// Opens the file at `path` if it is the one that was mapped. `seen` becomes true when there is any
// file at `path`.
static bool open_candidate(ModuleSet *set, ModuleFile *m, Str path, bool certain, bool *seen)
{
    MappedFile file;
    Elf elf;
    if (!os_map_file(path, &file, NULL))
        return false;
    *seen = true;
    if (!elf_parse(&set->arena, file.bytes, &elf, NULL) ||
        elf.machine != elf_machine_of(set->arch)) {
        os_unmap_file(&file);
        return false;
    }
    BuildId id = elf_build_id(&elf);
    Str hex = id.len ? build_id_hex(&set->arena, &id) : STR("");
    if (!is_mapped_file(set, m, &file.identity, hex, certain)) {
        os_unmap_file(&file);
        return false;
    }
    m->file = file;
    m->elf = elf;
    m->build_id = hex;
    m->opened = true;
    return true;
}

// Opens a mapped file through /proc/PID first: the process may have another mount namespace, and
// the file may have been deleted.
static bool open_live(ModuleSet *set, ModuleFile *m, uint32_t pid, const PerfMmap *map, bool *seen)
{
    char path[4096 + 64];
    unsigned long long start = map->start, end = map->start + map->len;
    snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", pid, start, end);
    if (open_candidate(set, m, str_from_c(path), true, seen))
        return true;
    snprintf(path, sizeof(path), "/proc/%u/root%" STR_FMT, pid, STR_ARG(m->path));
    return open_candidate(set, m, str_from_c(path), false, seen) ||
           open_candidate(set, m, m->path, false, seen);
}

static bool open_searched(ModuleSet *set, ModuleFile *m, bool *seen)
{
    Arena scratch = {0};
    ModuleCandidateVec candidates = {0};
    bool found = false;
    module_candidates(&scratch, set->search, m->path, m->build_id, &candidates);
    for (size_t i = 0; i < candidates.len && !found; i++)
        found = open_candidate(set, m, candidates.at[i].path, candidates.at[i].is_certain, seen);
    arena_deinit(&scratch);
    return found;
}

static bool is_32bit_file(Str path)
{
    MappedFile file;
    if (!os_map_file(path, &file, NULL))
        return false;
    bool is_narrow = file.bytes.len > EI_CLASS && memcmp(file.bytes.ptr, ELFMAG, SELFMAG) == 0 &&
                     file.bytes.ptr[EI_CLASS] == ELFCLASS32;
    os_unmap_file(&file);
    return is_narrow;
}

static void open_module(ModuleSet *set, ModuleFile *m, uint32_t pid, const PerfMmap *map)
{
    bool seen = false, is_narrow = false;
    if (set->search ? open_searched(set, m, &seen) : open_live(set, m, pid, map, &seen)) {
        m->root = set->search ? 0 : foreign_root_of(&set->roots, pid);
        return;
    }
    is_narrow = seen && is_32bit_file(m->path);
    // Code that the process wrote into a file in memory, as Erlang's and other compilers do.
    bool is_memory = str_starts_with(m->path, STR("/memfd:"));
    m->is_replaced = seen && !is_narrow && !is_memory;
    if (is_narrow)
        set->narrow++;
    else if (seen && !is_memory)
        set->replaced++;
    else if (!is_memory)
        set->missing++;
    log_debug(LOG_RECORD, 1, "module '%" STR_FMT "' of %u: %s", STR_ARG(m->path), pid,
              seen ? "not the mapped file" : "cannot be opened");
}

// The vdso has no file. Every process of this kernel has the same one, so that the one in this
// process is read.
static void open_own_vdso(ModuleSet *set, ModuleFile *m)
{
    uint64_t start = getauxval(AT_SYSINFO_EHDR);
    Arena scratch = {0};
    ProcMapVec maps = {0};
    if (start && proc_maps_read(&scratch, (uint32_t)getpid(), &maps, NULL))
        for (size_t i = 0; i < maps.len; i++)
            if (maps.at[i].start == start) {
                // A copy, so that later reads do not depend on the rights of its pages.
                Bytes image = arena_bytes(&set->arena, bytes_over((const void *)(uintptr_t)start,
                                                                  maps.at[i].end - start));
                m->opened = elf_parse(&set->arena, image, &m->elf, NULL);
            }
    arena_deinit(&scratch);
    if (m->opened) {
        BuildId id = elf_build_id(&m->elf);
        m->build_id = id.len ? build_id_hex(&set->arena, &id) : STR("");
    }
}

// Opens the vdso of the recorded programs: that of this process, if it is known to be the same.
static void open_vdso(ModuleSet *set, ModuleFile *m)
{
    m->is_clock = true;
    if (set->search && set->search->no_files)
        return;
    ModuleFile own = *m;
    open_own_vdso(set, &own);
    bool same = !set->search || (m->build_id.len && str_equal(own.build_id, m->build_id));
    if (own.opened && own.elf.machine == elf_machine_of(set->arch) && same) {
        *m = own;
        return;
    }
    bool seen = false;
    (void)!(set->search && open_searched(set, m, &seen));
}

// ---- Generated code -----------------------------------------------------------------

enum { REFUSED_NAMED_MAX = 8 };

// The user id of a running process, UINT32_MAX when the process is gone.
static uint32_t uid_of(uint32_t pid)
{
    Arena scratch = {0};
    ProcStatus st;
    uint32_t uid = proc_status_read(&scratch, pid, &st, NULL) ? st.uid : UINT32_MAX;
    arena_deinit(&scratch);
    return uid;
}

static void refuse(ModuleSet *set, uint32_t pid, const Error *why)
{
    if (why->kind == ERROR_NOT_FOUND)
        return;
    Str text = arena_printf(&set->arena, "process %u: %s", pid, why->text);
    for (size_t i = 0; i < set->refused.len; i++)
        if (str_equal(set->refused.at[i], text))
            return; // the file was looked for again
    if (set->refused_count++ < REFUSED_NAMED_MAX)
        vec_push(&set->arena, &set->refused, text);
}

void modules_note_refused(const ModuleSet *set, Profile *p)
{
    for (size_t i = 0; i < set->refused.len; i++)
        profile_note(p, NOTE_WARNING, STR("refused-jit-map"),
                     "a map of generated code is not used: %" STR_FMT, STR_ARG(set->refused.at[i]));
    if (set->refused_count > set->refused.len)
        profile_note(p, NOTE_WARNING, STR("refused-jit-map"),
                     "%zu more maps of generated code are not used",
                     set->refused_count - set->refused.len);
}

void modules_note_unnamed(const ModuleSet *set, Profile *p)
{
    for (size_t i = 0; i < set->awaited.len; i++) {
        const ModuleFile *m = modules_get(set, set->awaited.at[i]);
        if (m->runtime)
            profile_note(p, NOTE_INFO, STR("unnamed-runtime"),
                         "process %u runs %s, whose generated code has no names: %s", m->owner,
                         m->runtime->name, m->runtime->option);
    }
}

// Opens a file that a process names: below the root of the process while it runs, in our
// own root when it is gone. Its user or root must have made the file.
static int open_of_process(ModuleSet *set, uint32_t pid, uint32_t mapped_uid, Str path)
{
    if (set->search && set->search->no_files)
        return -1;
    Error why = {0};
    uint32_t uid = set->search ? UINT32_MAX : uid_of(pid);
    if (uid != UINT32_MAX) {
        int fd = os_open_owned(pid, path, uid, &why);
        if (fd >= 0 || proc_exists(pid)) {
            if (fd < 0)
                refuse(set, pid, &why);
            return fd;
        }
    }
    int fd = os_open_owned(0, path, mapped_uid == UINT32_MAX ? geteuid() : mapped_uid, &why);
    if (fd < 0)
        refuse(set, pid, &why);
    return fd;
}

// The map that a runtime writes of its code: in the process's own mount
// namespace and under its own number there, or, when it is gone, in ours.
static int open_jit_map(ModuleSet *set, const ModuleFile *m)
{
    Arena scratch = {0};
    ProcStatus st;
    uint32_t number = m->owner;
    if (!set->search && proc_status_read(&scratch, m->owner, &st, NULL))
        number = st.ns_pid;
    int fd = open_of_process(set, m->owner, m->owner_uid,
                             arena_printf(&scratch, "/tmp/perf-%u.map", number));
    arena_deinit(&scratch);
    return fd;
}

// Keeps a descriptor of the jitdump open: the file system of the process may end with it.
static void add_jit_dump(ModuleSet *set, uint32_t pid, Str path)
{
    int fd = open_of_process(set, pid, UINT32_MAX, path);
    if (fd >= 0)
        vec_push(&set->arena, &set->jit_dumps, (JitDump){pid, fd, path});
}

static const JitDump *find_jit_dump(const ModuleSet *set, uint32_t pid)
{
    for (size_t i = set->jit_dumps.len; i-- > 0;)
        if (set->jit_dumps.at[i].pid == pid)
            return &set->jit_dumps.at[i];
    return NULL;
}

static bool dump_text(const ModuleFile *m, Arena *arena, Bytes dump, Bytes *ret)
{
    StrBuf text = {0};
    JitdumpStats stats;
    Error err;
    bool ok = jitdump_to_map(dump, &text, &stats, &err);
    if (ok)
        *ret = bytes_from_str(arena_str(arena, strbuf_str(&text)));
    log_debug(LOG_RECORD, 1, "jitdump '%" STR_FMT "': %s%zu functions, %zu moved%s",
              STR_ARG(m->path), ok ? "" : err.text, ok ? stats.functions : 0, ok ? stats.moved : 0,
              ok && stats.cut ? ", the last record is not whole" : "");
    strbuf_deinit(&text);
    return ok;
}

static bool jit_text(const ModuleFile *m, Arena *arena, Bytes *ret)
{
    if (!m->jit_map || lseek(m->jit_map - 1, 0, SEEK_SET) != 0)
        return false;
    if (!m->is_dump)
        return os_read_fd(arena, m->jit_map - 1, m->path, OWNED_FILE_MAX_BYTES, ret, NULL);
    Arena scratch = {0};
    Bytes dump;
    bool ok = os_read_fd(&scratch, m->jit_map - 1, m->path, OWNED_FILE_MAX_BYTES, &dump, NULL) &&
              dump_text(m, arena, dump, ret);
    arena_deinit(&scratch);
    return ok;
}

// The first module of this path whose bytes are known.
static const ModuleFile *find_module(const ModuleSet *set, Str path, Str build_id_hex)
{
    const ModuleFile *found = NULL;
    uint32_t row, first = UINT32_MAX;
    for (TableProbe p = table_probe(&set->by_path, str_hash(path));
         table_next(&set->by_path, &p, &row);) {
        const ModuleFile *m = set->files.at[row];
        bool fits = (m->opened && str_equal(m->build_id, build_id_hex)) || m->kind == MODULE_JIT;
        if (fits && row < first && str_equal(m->path, path)) {
            found = m;
            first = row;
        }
    }
    return found;
}

bool modules_bytes(const ModuleSet *set, Arena *arena, Str path, Str build_id_hex, Bytes *ret)
{
    if (kernel_has_module(&set->kernel, path) && kernel_symbols(&set->kernel, arena, ret))
        return true;
    if (str_equal(path, STR("[kernel]")) && kernel_late_symbols(&set->kernel, arena, ret))
        return true;
    const ModuleFile *found = find_module(set, path, build_id_hex);
    if (!found)
        return false;
    if (!found->opened || !str_equal(found->build_id, build_id_hex))
        return jit_text(found, arena, ret);
    *ret = found->elf.file;
    return true;
}

SourceAccess modules_source(const ModuleSet *set, Str path, Str build_id_hex, Str source,
                            MappedFile *ret)
{
    const ModuleFile *m = find_module(set, path, build_id_hex);
    if (!m || !m->opened || m->root == 0)
        return SOURCE_ABSENT;
    if (m->file.uid != geteuid() && m->file.uid != 0)
        return SOURCE_OUTSIDE;
    return source_map_in_root(foreign_root_fd(&set->roots, m->root), source, ret);
}

// Whether a path names memory without a file: "//anon", "[heap]", "[stack]", memfds, System V
// segments, /dev/zero.
static bool is_anonymous(Str path)
{
    return path.len == 0 || path.ptr[0] != '/' || str_starts_with(path, STR("//")) ||
           str_starts_with(path, STR("/memfd:")) || str_starts_with(path, STR("/SYSV")) ||
           str_starts_with(path, STR("/dev/zero")) || str_starts_with(path, STR("/anon_hugepage"));
}

static Str without_deleted(Str path)
{
    Str gone = STR(" (deleted)");
    return str_ends_with(path, gone) ? str_slice(path, 0, path.len - gone.len) : path;
}

static uint32_t add_module(ModuleSet *set, ModuleFile m)
{
    ModuleFile *own = arena_new(&set->arena, ModuleFile);
    *own = m;
    uint32_t row = (uint32_t)set->files.len;
    vec_push(&set->arena, &set->files, own);
    table_insert(&set->by_key, m.hash, row);
    table_insert(&set->by_path, str_hash(m.path), row);
    return row;
}

uint32_t modules_of_mapping(ModuleSet *set, uint32_t pid, const PerfMmap *map)
{
    bool vdso = str_equal(map->path, STR("[vdso]"));
    bool anonymous = !vdso && is_anonymous(map->path);
    bool memfd = anonymous && str_starts_with(map->path, STR("/memfd:"));
    Str path = vdso ? map->path : without_deleted(map->path);
    if (anonymous && path.len == 0)
        path = STR("//anon");
    // Generated code belongs to one process; a file is the same for all.
    bool jit = anonymous && !str_equal(path, STR("[vsyscall]"));
    uint64_t identity = map->build_id.len ? bytes_hash(map->build_id) : map->inode;
    if (vdso)
        identity = 0;
    uint64_t hash = hash_pair(str_hash(path), jit && !memfd ? pid : identity);
    uint32_t row;
    for (TableProbe p = table_probe(&set->by_key, hash); table_next(&set->by_key, &p, &row);)
        if (set->files.at[row]->hash == hash)
            return row;

    ModuleFile m = {.kind = MODULE_FILE,
                    .path = arena_str(&set->arena, path),
                    .hash = hash,
                    .inode = map->inode,
                    .build_id = map->build_id.len ? hex_of(&set->arena, map->build_id) : STR("")};
    if (vdso) {
        m.kind = MODULE_VDSO;
        open_vdso(set, &m);
    } else if (!anonymous && jitdump_is_name(str_base_name(path))) {
        add_jit_dump(set, pid, m.path);
    } else if (!anonymous || memfd) {
        open_module(set, &m, pid, map);
        if (memfd && !m.opened)
            m.kind = MODULE_ANON;
    } else {
        m.kind = MODULE_ANON;
    }
    if (m.kind == MODULE_ANON && jit) {
        m.owner = pid;
        m.owner_uid = set->search ? UINT32_MAX : uid_of(pid);
    }
    return add_module(set, m);
}

ModuleId modules_id(ModuleSet *set, uint32_t module)
{
    ModuleFile *m = modules_get(set, module);
    if (m->id.v)
        return m->id;
    int map = -1;
    const JitDump *dump = m->owner ? find_jit_dump(set, m->owner) : NULL;
    if (dump) {
        m->kind = MODULE_JIT;
        m->jit_map = fcntl(dump->fd, F_DUPFD_CLOEXEC, 0) + 1;
        m->is_dump = true;
        m->path = dump->path;
    } else if (m->owner && (map = open_jit_map(set, m)) >= 0) {
        m->kind = MODULE_JIT;
        m->jit_map = map + 1;
        m->path = arena_printf(&set->arena, "/tmp/perf-%u.map", m->owner);
    } else if (m->owner && !set->search) {
        // Many runtimes write it when they end, or when they are asked to.
        m->kind = MODULE_JIT;
        m->path = arena_printf(&set->arena, "/tmp/perf-%u.map", m->owner);
        vec_push(&set->arena, &set->awaited, module);
    }
    if (m->kind == MODULE_JIT)
        table_insert(&set->by_path, str_hash(m->path), module);
    // Without a build-id only another path keeps the symbols of the wrong file away.
    Str shown = m->path;
    if (set->search && m->is_replaced && m->build_id.len == 0)
        shown = arena_printf(&set->arena, "%" STR_FMT " (replaced)", STR_ARG(m->path));
    m->id = profile_module(set->profile, m->kind, shown, m->build_id);
    return m->id;
}

// The bias of a mapping: its address in the process less the address stated in the ELF file.
void modules_find_late_maps(ModuleSet *set, uint32_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->awaited.len; i++) {
        ModuleFile *m = modules_get(set, set->awaited.at[i]);
        if (pid == 0 || m->owner == pid)
            m->jit_map = open_jit_map(set, m) + 1;
        if (!m->jit_map)
            set->awaited.at[kept++] = set->awaited.at[i];
    }
    set->awaited.len = kept;
}

static uint64_t bias_of(const ModuleFile *m, const PerfMmap *map)
{
    uint64_t svma;
    if (m->kind == MODULE_ANON || m->kind == MODULE_JIT)
        return 0;
    if (m->is_clock && m->opened) {
        for (size_t i = 0; i < m->elf.segment_count; i++)
            if (m->elf.segments[i].type == PT_LOAD)
                return map->start - (m->elf.segments[i].svma - m->elf.segments[i].offset);
    }
    if (m->opened && elf_svma_of_mapping(&m->elf, map->page_offset, map->len, &svma))
        return map->start - svma;
    return map->start - map->page_offset;
}

UnwindMapping modules_mapping(ModuleSet *set, uint32_t module, uint32_t pid, const PerfMmap *map)
{
    (void)pid;
    const ModuleFile *m = modules_get(set, module);
    UnwindMapping u = {
        .start = map->start, .end = map->start + map->len, .bias = bias_of(m, map), .user = module};
    if (m->opened)
        u.flags = UNWIND_MAP_LAZY;
    else if (m->kind == MODULE_ANON || m->kind == MODULE_JIT)
        u.flags = UNWIND_MAP_JIT | (m->owner && !set->search ? UNWIND_MAP_LAZY : 0);
    return u;
}

// ---- Tables -------------------------------------------------------------------------

static UnwindRange section_range(const Elf *elf, const char *name)
{
    const ElfSection *s = elf_section_find(elf, str_from_c(name));
    return s ? (UnwindRange){s->svma, s->svma + s->size} : (UnwindRange){0};
}

static UnwindRange text_of(const Elf *elf)
{
    UnwindRange text = {UINT64_MAX, 0};
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type != PT_LOAD || !(s->flags & PF_X) || s->svma + s->mem_size < s->svma)
            continue;
        text.start = MIN(text.start, s->svma);
        text.end = MAX(text.end, s->svma + s->mem_size);
    }
    return text.start < text.end ? text : (UnwindRange){0};
}

static UnwindCode code_of(const Elf *elf)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *s = &elf->segments[i];
        if (s->type == PT_LOAD && (s->flags & PF_X) && s->offset <= elf->file.len)
            return (UnwindCode){
                bytes_over(elf->file.ptr + s->offset, MIN(s->file_size, elf->file.len - s->offset)),
                s->svma};
    }
    return (UnwindCode){0};
}

// Finds .eh_frame through PT_GNU_EH_FRAME, for files without section headers.
static void find_by_header(const Elf *elf, UnwindSections *s)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const ElfSegment *seg = &elf->segments[i];
        uint64_t at;
        if (seg->type != PT_GNU_EH_FRAME)
            continue;
        Bytes hdr = bytes_slice(elf_bytes_at_svma(elf, seg->svma), 0, (size_t)seg->mem_size);
        if (!unwind_eh_frame_hdr_parse(hdr, seg->svma, s->data_svma, &at, NULL))
            continue;
        s->eh_frame = elf_bytes_at_svma(elf, at);
        s->eh_frame_svma = at;
        s->eh_frame_open_ended = true;
    }
}

static UnwindCode section_code(const Elf *elf, const char *name)
{
    const ElfSection *s = elf_section_find(elf, str_from_c(name));
    UnwindCode code = {0};
    if (s && elf_section_raw(elf, s, &code.bytes, NULL))
        code.svma = s->svma;
    return code;
}

// A Go program's own tables know more than its .debug_frame: where the frame
// pointer is saved, and where stacks are switched.
static bool go_frames(ModuleFile *m, StrBuf *ret, UnwindRange *ret_sigreturn)
{
    GoPclntab go;
    if (!gopclntab_open_elf(&m->elf, &go, NULL))
        return false;
    gopclntab_debug_frame(&go, elf_bytes_at_svma(&m->elf, go.text_svma), ret);
    for (uint32_t i = 0; i < go.function_count; i++) {
        GoFunction f;
        if (!gopclntab_function_get(&go, i, &f))
            continue;
        if (gopclntab_switches_stack(f.name) && m->stack_switch_count < MODULE_SWITCHES_MAX)
            m->stack_switches[m->stack_switch_count++] = (UnwindRange){f.start, f.end};
        if (gopclntab_is_sigreturn(f.name))
            *ret_sigreturn = (UnwindRange){f.start, f.end};
    }
    return true;
}

static void build_table(ModuleSet *set, ModuleFile *m)
{
    Arena scratch = {0};
    const Elf *elf = &m->elf;
    UnwindSections s = {.arch = set->arch, .text = text_of(elf)};
    const ElfSection *eh = elf_section_find(elf, STR(".eh_frame"));
    s.data_svma = section_range(elf, ".got").start;
    if (eh && elf_section_bytes(&scratch, elf, eh, &s.eh_frame, NULL))
        s.eh_frame_svma = eh->svma;
    if (s.eh_frame.len == 0)
        find_by_header(elf, &s);
    if (!elf_section_load(&scratch, elf, STR(".debug_frame"), &s.debug_frame, NULL))
        s.debug_frame = (Bytes){0};
    s.plt = section_range(elf, ".plt");
    s.plt_plain[0] = section_range(elf, ".plt.sec");
    s.plt_plain[1] = section_range(elf, ".plt.got");
    s.code = code_of(elf);
    s.init = section_code(elf, ".init");
    s.fini = section_code(elf, ".fini");
    s.sigreturn = sigreturn_find(&scratch, elf, set->arch);
    StrBuf go = {0};
    if (set->arch == UNWIND_X86_64 && go_frames(m, &go, &s.sigreturn))
        s.debug_frame = bytes_over(go.ptr, go.len);
    UnwindBuildStats stats = {0};
    Error err = {0};
    if (!unwind_table_build(&set->tables, &s, &m->table, &stats, &err))
        m->table = (UnwindTable){0};
    else
        set->table_bytes += unwind_table_size_bytes(&m->table);
    log_debug(LOG_RECORD, 1, "unwind table of '%" STR_FMT "': %u entries, %u rows, %u broken %s",
              STR_ARG(m->path), stats.entries, m->table.row_count, stats.broken,
              stats.broken ? stats.first_broken.text : err.text);
    strbuf_deinit(&go);
    arena_deinit(&scratch);
}

// Of generated code the process has the only copy.
static const UnwindTable *load_trampolines(ModuleSet *set, const ModuleFile *m,
                                           const UnwindMapping *mapping)
{
    enum { BYTES_MAX = 1 << 20 };
    Arena scratch = {0};
    UnwindTable table;
    size_t size = (size_t)MIN(mapping->end - mapping->start, (uint64_t)BYTES_MAX);
    uint8_t *code = arena_array(&scratch, uint8_t, size);
    struct iovec to = {code, size};
    struct iovec from = {(void *)(uintptr_t)mapping->start, size}; // in that process
    ssize_t n =
        set->arch == UNWIND_X86_64 ? process_vm_readv((pid_t)m->owner, &to, 1, &from, 1, 0) : -1;
    bool ok = n > 0 &&
              trampolines_table(&set->tables, bytes_over(code, (size_t)n), mapping->start, &table);
    arena_deinit(&scratch);
    if (!ok)
        return NULL;
    UnwindTable *own = arena_new(&set->tables, UnwindTable);
    *own = table;
    return own;
}

const UnwindTable *modules_load_table(void *ctx, const UnwindMapping *mapping)
{
    ModuleSet *set = ctx;
    ModuleFile *m = modules_get(set, mapping->user);
    if (mapping->flags & UNWIND_MAP_JIT)
        return load_trampolines(set, m, mapping);
    if (!m->opened)
        return NULL;
    if (!m->table_tried) {
        m->table_tried = true;
        build_table(set, m);
    }
    return m->table.size ? &m->table : NULL;
}

bool modules_search_rule(void *ctx, const UnwindMapping *mapping, uint64_t svma, UnwindAction *ret)
{
    ModuleSet *set = ctx;
    ModuleFile *m = modules_get(set, mapping->user);
    if (mapping->flags & UNWIND_MAP_JIT || !m->opened || m->table_tried)
        return false;
    if (!m->search_tried) {
        m->search_tried = true;
        rule_search_init(&m->elf, set->arch, &m->search);
    }
    if (!set->rules)
        set->rules = arena_new(&set->arena, RuleCache);
    return rule_search_find(&m->search, set->rules, mapping->user, svma, ret);
}
