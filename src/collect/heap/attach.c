// SPDX-License-Identifier: Apache-2.0
// Maps the agent's image into a running process, relocates it from here, lets one thread run its
// entry, and writes the jumps while all threads are stopped.
// Document: System V ABI for AMD64, "Relocation Types"; the kernel's struct rt_sigframe.

#include "collect/heap/attach.h"

#include "collect/agents/image.h"
#include "elf/elf.h"
#include "os/file.h"
#include "os/proc.h"
#include "wire/attach.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    STACK_BYTES = 64 << 10,
    GLIBC_GRANULE_BITS = 5, // no two of its blocks begin within 32 bytes
    OTHER_GRANULE_BITS = 3,
    TRIES = 200, // at 5 ms
    TRY_MS = 5,
    STACK_SEARCHED = 256 << 10,
    TCB_SEARCHED = 2048,
};

struct HeapOrphan {
    _Atomic uint32_t pid; // that has the agent; 0: none
    const WireEntries *entries;
    uint64_t image, image_bytes;
    WireAttach request;
};

static void sleep_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

// ---- What to hook -----------------------------------------------------------------------

static bool check_status(uint32_t pid, Error *err)
{
    char path[64], buf[4096];
    Str text;
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    if (pid == (uint32_t)getpid())
        return error_set(err, ERROR_USAGE, "%u is assay itself", pid);
    if (!os_read_small(path, buf, sizeof(buf), &text))
        return error_set(err, ERROR_NOT_FOUND, "there is no process %u", pid);
    size_t at = str_find(text, STR("TracerPid:\t"));
    if (at != SIZE_MAX && text.ptr[at + 11] != '0') {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot attach to process %u: another program traces it", pid);
        return error_hint(err, "end the debugger or recorder first");
    }
    at = str_find(text, STR("State:\t"));
    char state = at == SIZE_MAX ? '?' : text.ptr[at + 7];
    if (state == 'Z' || state == 'X')
        return error_set(err, ERROR_NOT_FOUND, "process %u has ended", pid);
    if (state == 'T') {
        (void)error_set(err, ERROR_UNSUPPORTED, "cannot attach to process %u: it is stopped", pid);
        return error_hint(err, "kill -CONT %u", pid);
    }
    return true;
}

static bool is_libc(Str path)
{
    Str name = str_base_name(path);
    return str_starts_with(name, STR("libc.so")) || str_starts_with(name, STR("libc-2")) ||
           str_starts_with(name, STR("ld-musl-")) || str_starts_with(name, STR("libc.musl-"));
}

// musl's has the name libc.so, or that of its loader.
static bool is_glibc(Str path)
{
    Str name = str_base_name(path);
    return str_starts_with(name, STR("libc.so.6")) || str_starts_with(name, STR("libc-2"));
}

bool heap_attach_can(const HeapEntries *e)
{
    unsigned kinds = 0;
    for (uint32_t i = 0; e->wire && i < e->wire->count; i++)
        kinds |= 1u << e->wire->at[i].kind;
#ifndef __x86_64__
    return false;
#endif
    return (kinds & 1u << WIRE_ENTRY_ALLOC) && (kinds & 1u << WIRE_ENTRY_FREE);
}

static bool find_in(Arena *arena, uint32_t pid, Str path, AttachTarget *t, Error *err)
{
    static const StrVec none = {0};
    // Through its root: the process may be in a container.
    Str there = arena_printf(arena, "/proc/%u/root%" STR_FMT, pid, STR_ARG(path));
    t->object = path;
    return heap_entries_find(arena, there, &none, &none, &t->entries, err);
}

bool heap_attach_find(Arena *arena, uint32_t pid, AttachTarget *ret, Error *err)
{
    AttachTarget t = {.pid = pid};
    ProcMapVec maps = {0};
    char exe[PATH_MAX], link[64];
#if !defined(__x86_64__)
    return error_set(err, ERROR_UNSUPPORTED, "assay heap -p works on x86-64 only");
#endif
    if (!check_status(pid, err) || !proc_maps_read(arena, pid, &maps, err))
        return error_context(err, "cannot attach to process %u", pid);
    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    ssize_t n = readlink(link, exe, sizeof(exe) - 1);
    if (n < 0)
        return error_os(err, "cannot attach to process %u", pid);
    exe[n] = 0;
    if (!find_in(arena, pid, str_from_c(exe), &t, err))
        return false;
    for (size_t i = 0; !heap_attach_can(&t.entries) && i < maps.len; i++) {
        const ProcMap *m = &maps.at[i];
        if (!m->exec || !is_libc(m->path))
            continue;
        if (!find_in(arena, pid, m->path, &t, err))
            return false;
        t.is_glibc = is_glibc(m->path);
    }
    if (!heap_attach_can(&t.entries)) {
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "cannot attach to process %u: its malloc and free cannot be hooked%s%.*s",
                        pid, t.entries.missed.len ? "; " : "", (int)t.entries.missed.len,
                        t.entries.missed.len ? t.entries.missed.ptr : "");
        return error_hint(err, "start it under assay heap");
    }
    *ret = t;
    return true;
}

// ---- The image --------------------------------------------------------------------------

typedef struct Image {
    Elf elf;
    U8Vec bytes;   // as in memory, without what is zero behind it
    uint64_t size; // in memory, whole pages
} Image;

static bool relocate_one(Image *i, const Elf64_Rela *r, uint64_t base)
{
    uint64_t value;
    if (r->r_offset > i->bytes.len || i->bytes.len - r->r_offset < sizeof(value))
        return false;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_RELATIVE:
        value = base + (uint64_t)r->r_addend;
        break;
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_64:
        value = 0; // weak, and of no library here
        break;
    case R_X86_64_DTPMOD64:
        value = 1; // agent/attached_threads.c does not ask for it
        break;
    default:
        return false;
    }
    memcpy(i->bytes.at + r->r_offset, &value, sizeof(value));
    return true;
}

// Lays the segments out, and relocates them for an address.
static bool make_image(Arena *arena, uint64_t base, Image *ret, Error *err)
{
    Image i = {0};
    Bytes file = attach_agent_image(), table = {0};
    uint64_t end = 0, tls = 0;
    if (!elf_parse(arena, file, &i.elf, err))
        return false;
    for (size_t s = 0; s < i.elf.segment_count; s++) {
        const ElfSegment *g = &i.elf.segments[s];
        if (g->type == PT_LOAD) {
            end = MAX(end, g->svma + g->file_size);
            i.size = MAX(i.size, align_up(g->svma + g->mem_size, PAGE));
        } else if (g->type == PT_TLS) {
            tls = g->file_size ? UINT64_MAX : g->mem_size;
        }
    }
    (void)vec_extend(arena, &i.bytes, end);
    for (size_t s = 0; s < i.elf.segment_count; s++) {
        const ElfSegment *g = &i.elf.segments[s];
        if (g->type == PT_LOAD)
            memcpy(i.bytes.at + g->svma, file.ptr + g->offset, g->file_size);
    }
    bool ok = tls <= WIRE_TLS_BYTES;
    const ElfSection *rela = elf_section_find(&i.elf, STR(".rela.dyn"));
    const ElfSection *plt = elf_section_find(&i.elf, STR(".rela.plt"));
    for (int t = 0; t < 2; t++) {
        const ElfSection *s = t ? plt : rela;
        if (!s || !elf_section_raw(&i.elf, s, &table, err))
            continue;
        for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.len; at += sizeof(Elf64_Rela)) {
            Elf64_Rela r;
            memcpy(&r, table.ptr + at, sizeof(r));
            ok &= relocate_one(&i, &r, base);
        }
    }
    *ret = i;
    return ok || error_set(err, ERROR_UNSUPPORTED, "the agent's image cannot be relocated");
}

static bool call_kernel(Remote *r, const char *what, long number, const uint64_t arg[6], long *ret,
                        Error *err)
{
    if (!remote_syscall(r, number, arg, ret, err))
        return false;
    if (*ret > -PAGE && *ret < 0) {
        errno = (int)-*ret;
        return error_os(err, "process %u cannot %s", r->pid, what);
    }
    return true;
}

static bool map_there(Remote *r, uint64_t size, uint64_t *ret, Error *err)
{
    const uint64_t arg[6] = {
        0,          size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        UINT64_MAX, 0};
    long at;
    if (!call_kernel(r, "map memory", SYS_mmap, arg, &at, err))
        return false;
    *ret = (uint64_t)at;
    return true;
}

static void unmap_there(Remote *r, uint64_t at, uint64_t size)
{
    const uint64_t arg[6] = {at, size};
    long ret;
    Error unheard;
    if (at)
        (void)!remote_syscall(r, SYS_munmap, arg, &ret, &unheard);
}

static bool protect_there(Remote *r, const Image *image, uint64_t base, Error *err)
{
    for (size_t s = 0; s < image->elf.segment_count; s++) {
        const ElfSegment *g = &image->elf.segments[s];
        if (g->type != PT_LOAD || (g->flags & PF_W))
            continue;
        const uint64_t arg[6] = {base + g->svma, align_up(g->mem_size, PAGE),
                                 PROT_READ | (g->flags & PF_X ? PROT_EXEC : 0)};
        long ret;
        if (!call_kernel(r, "make memory executable", SYS_mprotect, arg, &ret, err))
            return false;
    }
    return true;
}

// Stops threads although something is missing for a moment, as descriptors or memory: what is in
// the process must not stay there for that. False: the process has ended.
static bool stop_surely(Remote *r, bool all)
{
    Error unheard;
    for (unsigned tries = 0; tries < TRIES && agent_process_runs(r->pid); tries++) {
        if (remote_stop(r, all, &unheard))
            return true;
        sleep_ms(TRY_MS);
    }
    return false;
}

// ---- Thread ids -------------------------------------------------------------------------

// Where behind the thread pointer the C library keeps the thread's id: at the same place for all
// threads. 0: not found.
static uint32_t find_tid_offset(const Remote *r)
{
    uint32_t word[TCB_SEARCHED / sizeof(uint32_t)];
    bool fits[ARRAY_LEN(word)];
    memset(fits, 1, sizeof(fits));
    for (size_t i = 0; i < r->threads.len; i++) {
        const RemoteThread *t = &r->threads.at[i];
        if (!t->is_stopped || !remote_read(r, remote_thread_data(t), word, sizeof(word)))
            continue;
        for (size_t k = 0; k < ARRAY_LEN(word); k++)
            fits[k] = fits[k] && word[k] == (uint32_t)t->tid;
    }
    for (size_t k = 1; k < ARRAY_LEN(word); k++)
        if (fits[k])
            return (uint32_t)(k * sizeof(uint32_t));
    return 0;
}

// ---- Where threads are ------------------------------------------------------------------

typedef struct Range {
    uint64_t start, end;
} Range;

static bool in_ranges(uint64_t at, const Range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (at >= ranges[i].start && at < ranges[i].end)
            return true;
    return false;
}

// Where a thread is: its instruction pointer and its stack pointer in the program.
typedef struct Place {
    uint64_t rip, rsp;
} Place;

typedef enum Known {
    PLACE_UNKNOWN, // it waits for a processor, and may be anywhere when it gets one
    PLACE_KNOWN,
    PLACE_ENDED // the thread has ended
} Known;

// Asks for the place of a thread that has not stopped. The kernel tells it while it holds the
// thread, which then stops before it goes on in the program. A thread that other work has kept off
// the processors is "running" for it.
static Known held_at(const Remote *r, pid_t tid, Place *ret)
{
    char path[64], buf[512];
    Str text;
    snprintf(path, sizeof(path), "/proc/%u/task/%d/syscall", r->pid, (int)tid);
    if (!os_read_small(path, buf, sizeof(buf) - 1, &text))
        return errno == ENOENT || errno == ESRCH ? PLACE_ENDED : PLACE_UNKNOWN;
    buf[MIN(text.len, sizeof(buf) - 1)] = 0;
    char *last = strrchr(buf, ' ');
    if (!last)
        return PLACE_UNKNOWN;
    ret->rip = strtoull(last, NULL, 16);
    *last = 0;
    last = strrchr(buf, ' ');
    if (!last)
        return PLACE_UNKNOWN;
    ret->rsp = strtoull(last, NULL, 16);
    return PLACE_KNOWN;
}

// Whether a signal handler of the thread will return into the ranges: the frames of signals lie on
// its stack, each with the code segment of programs behind the instruction pointer.
static bool handler_returns_to(const Remote *r, uint64_t rsp, const Range *ranges, size_t count)
{
    // From the frame's start: return address, ucontext (40 bytes before its registers).
    enum { RIP_AT = 8 + 40 + 16 * 8, CS_AT = RIP_AT + 16, USER_CS = 0x33 };
    uint8_t *bytes = heap_alloc(STACK_SEARCHED);
    ssize_t n = pread(r->memory_fd, bytes, STACK_SEARCHED, (off_t)rsp);
    bool found = false;
    for (ssize_t at = 0; at + CS_AT + 8 <= n && !found; at += 8) {
        uint64_t rip, cs;
        memcpy(&rip, bytes + at + RIP_AT, sizeof(rip));
        memcpy(&cs, bytes + at + CS_AT, sizeof(cs));
        found = (cs & 0xffff) == USER_CS && in_ranges(rip, ranges, count);
    }
    heap_free(bytes);
    return found;
}

// Whether it is certain that no thread runs, or will return by a signal handler, in the ranges.
static bool all_outside(const Remote *r, const Range *ranges, size_t count)
{
    for (size_t i = 0; i < r->threads.len; i++) {
        const RemoteThread *t = &r->threads.at[i];
        Place at = {remote_pc(t), remote_sp(t)};
        Known known = t->is_stopped ? PLACE_KNOWN : held_at(r, t->tid, &at);
        if (known == PLACE_UNKNOWN ||
            (known == PLACE_KNOWN &&
             (in_ranges(at.rip, ranges, count) || handler_returns_to(r, at.rsp, ranges, count))))
            return false;
    }
    return true;
}

// ---- Jumps ------------------------------------------------------------------------------

static bool write_jump(HeapAttached *a, uint32_t i)
{
    const WirePlaced *p = &a->request.placed[i];
    uint8_t jump[WIRE_ENTRY_JUMP] = {0xe9};
    int64_t distance = (int64_t)(p->place - (p->entry + sizeof(jump)));
    int32_t narrow = (int32_t)distance;
    memcpy(jump + 1, &narrow, sizeof(narrow));
    return narrow == distance && remote_write(&a->remote, p->entry, jump, sizeof(jump));
}

static void restore_entries(HeapAttached *a)
{
    for (uint32_t i = 0; i < a->entries->count; i++)
        if (a->request.placed[i].entry)
            (void)remote_write(&a->remote, a->request.placed[i].entry, a->entries->at[i].before,
                               WIRE_ENTRY_JUMP);
}

// With all threads stopped: whether none of them is between the bytes that jumps replace.
static bool can_hook(const HeapAttached *a)
{
    Range at[WIRE_ENTRIES_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < a->entries->count; i++) {
        const WirePlaced *p = &a->request.placed[i];
        if (p->entry)
            at[count++] = (Range){p->entry + 1, p->entry + a->entries->at[i].moved};
    }
    return all_outside(&a->remote, at, count);
}

static bool hook(HeapAttached *a, Error *err)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        if (!remote_stop(&a->remote, true, err))
            return false;
        bool can = can_hook(a), ok = can;
        for (uint32_t i = 0; ok && i < a->entries->count; i++)
            ok = !a->request.placed[i].entry || write_jump(a, i);
        if (can && !ok)
            restore_entries(a);
        remote_go(&a->remote);
        if (can && ok) {
            a->is_hooked = true;
            return true;
        }
        if (can)
            return error_set(err, ERROR_OS, "cannot change the code of process %u", a->remote.pid);
        sleep_ms(TRY_MS);
    }
    return error_set(err, ERROR_OS, "process %u is never outside the functions that allocate",
                     a->remote.pid);
}

// ---- Attaching --------------------------------------------------------------------------

static bool check_answer(const HeapAttached *a, const AttachTarget *t, Error *err)
{
    switch ((WireAttachStatus)a->request.status) {
    case WIRE_ATTACH_DONE:
        return true;
    case WIRE_ATTACH_NO_SESSION:
        (void)error_set(err, ERROR_OS, "process %u cannot use the folder of the recording", t->pid);
        return error_hint(err, "it may be in a container or in a sandbox: set TMPDIR to a folder "
                               "that it sees and may write to");
    case WIRE_ATTACH_NO_HEAP:
        return error_set(err, ERROR_OS,
                         "process %u has no room for an account of its blocks (ulimit -v)", t->pid);
    case WIRE_ATTACH_NO_ENTRIES:
        (void)error_set(err, ERROR_UNSUPPORTED,
                        "the functions of '%" STR_FMT "' in process %u are not as in the file",
                        STR_ARG(t->object), t->pid);
        return error_hint(err, "another recorder may have hooked them, or the file was replaced "
                               "since the program has started");
    default:
        return error_set(err, ERROR_OS, "process %u has no memory for the agent", t->pid);
    }
}

// Whether the mapping lies within another one, which is unmapped whole: what other threads map
// there after that must stay.
static bool is_part(const WireAttachMap *maps, size_t count, size_t of)
{
    const WireAttachMap *m = &maps[of];
    for (size_t i = 0; i < count; i++) {
        const WireAttachMap *o = &maps[i];
        bool within = m->at >= o->at && m->at + m->size <= o->at + o->size;
        if (i != of && within && (m->size < o->size || i < of))
            return true;
    }
    return false;
}

static size_t read_maps(const HeapAttached *a, WireAttachMap *maps)
{
    size_t count = 0;
    if (!a->request.maps ||
        !remote_read(&a->remote, a->request.maps, maps, WIRE_ATTACH_MAPS * sizeof(*maps)))
        return 0;
    for (size_t i = 0; i < WIRE_ATTACH_MAPS; i++)
        if (maps[i].at)
            maps[count++] = maps[i];
    return count;
}

static void close_there(Remote *r, const int32_t *files)
{
    for (size_t i = 0; i < WIRE_ATTACH_FILES; i++) {
        const uint64_t arg[6] = {(uint64_t)(files[i] - 1)};
        long ret;
        Error unheard;
        if (files[i] > 0)
            (void)!remote_syscall(r, SYS_close, arg, &ret, &unheard);
    }
}

// Unmaps what is mapped there, and closes what is open. No thread uses it. One thread does the
// work, and is stopped for a short time only.
static void clear(HeapAttached *a)
{
    enum { AT_ONCE = 16 };
    Remote *r = &a->remote;
    WireAttachMap *maps = heap_alloc(WIRE_ATTACH_MAPS * sizeof(*maps));
    int32_t files[WIRE_ATTACH_FILES] = {0};
    size_t count = read_maps(a, maps);
    if (a->request.files)
        (void)remote_read(r, a->request.files, files, sizeof(files));
    for (size_t i = 0; i <= count; i += AT_ONCE) {
        if (!stop_surely(r, false))
            break;
        for (size_t k = i; k < MIN(i + AT_ONCE, count); k++)
            if (!is_part(maps, count, k))
                unmap_there(r, maps[k].at, maps[k].size);
        if (i + AT_ONCE > count) {
            close_there(r, files);
            unmap_there(r, a->image, a->image_bytes);
            a->image = 0;
        }
        remote_go(r);
    }
    heap_free(maps);
}

static bool put_image(Arena *arena, HeapAttached *a, Error *err)
{
    Remote *r = &a->remote;
    Image image;
    // The size does not depend on the address.
    if (!make_image(arena, 0, &image, err))
        return false;
    a->image_bytes = image.size + align_up(sizeof(WireAttach), PAGE) + STACK_BYTES;
    return remote_stop(r, false, err) && map_there(r, a->image_bytes, &a->image, err) &&
           make_image(arena, a->image, &image, err) &&
           (remote_write(r, a->image, image.bytes.at, image.bytes.len) ||
            error_os(err, "cannot write into process %u", r->pid)) &&
           protect_there(r, &image, a->image, err);
}

static bool run_agent(Arena *arena, HeapAttached *a, Error *err)
{
    Remote *r = &a->remote;
    Elf elf;
    uint64_t request = a->image + a->image_bytes - STACK_BYTES - align_up(sizeof(WireAttach), PAGE);
    if (!elf_parse(arena, attach_agent_image(), &elf, err))
        return false;
    a->request.tid_offset = find_tid_offset(r);
    if (!remote_write(r, request, &a->request, sizeof(a->request)))
        return error_os(err, "cannot write into process %u", r->pid);
    return remote_call(r, a->image + elf.entry, request, a->image + a->image_bytes, err) &&
           (remote_read(r, request, &a->request, sizeof(a->request)) ||
            error_os(err, "cannot read from process %u", r->pid));
}

// Before the jumps are written: to restore what is there does no harm.
static void tell_orphan(const HeapAttached *a)
{
    HeapOrphan *o = a->orphan;
    if (!o)
        return;
    o->image = a->image;
    o->image_bytes = a->image_bytes;
    o->request = a->request;
    atomic_store(&o->pid, a->remote.pid);
}

bool heap_attach(Arena *arena, const AgentSession *session, const AttachTarget *target,
                 HeapOrphan *orphan, HeapAttached *a, Error *err)
{
    *a = (HeapAttached){.orphan = orphan, .entries = target->entries.wire};
    a->request.granule_bits = target->is_glibc ? GLIBC_GRANULE_BITS : OTHER_GRANULE_BITS;
    snprintf(a->request.folder, sizeof(a->request.folder), "%s", session->folder);
    ProcStatus status;
    if (!proc_status_read(arena, target->pid, &status, err) ||
        !remote_open(arena, target->pid, &a->remote, err))
        return false;
    agent_session_give(session, status.uid);
    bool ok = put_image(arena, a, err) && run_agent(arena, a, err) && check_answer(a, target, err);
    remote_go(&a->remote);
    if (!ok && a->image)
        clear(a);
    a->hooked = a->request.count;
    if (ok)
        tell_orphan(a);
    if (ok && hook(a, err))
        return true;
    if (ok)
        heap_detach(a);
    remote_close(&a->remote);
    return false;
}

// ---- Detaching --------------------------------------------------------------------------

// Whether hooks have called the functions that they stand before, and wait for them.
static bool hooks_wait(const HeapAttached *a, WireThread *rows)
{
    if (!remote_read(&a->remote, a->request.threads, rows, WIRE_THREADS_MAX * sizeof(*rows)))
        return true;
    for (size_t i = 0; i < WIRE_THREADS_MAX; i++)
        if (rows[i].pointer && rows[i].inside)
            return true;
    return false;
}

// The same of one thread.
static bool hook_waits_on(const HeapAttached *a, uint64_t pointer)
{
    uint32_t at = wire_thread_row(pointer);
    WireThread row;
    for (unsigned i = 0; i < WIRE_THREAD_PROBES; i++, at++) {
        uint64_t from = a->request.threads + (at & (WIRE_THREADS_MAX - 1)) * sizeof(row);
        if (!remote_read(&a->remote, from, &row, sizeof(row)))
            return true;
        if (row.pointer == pointer)
            return row.inside != 0;
        if (row.pointer == 0)
            return false;
    }
    return false;
}

// With all threads stopped: whether none of them is in the agent's code, or will return there.
static bool none_inside(const HeapAttached *a, WireThread *rows)
{
    const Range ranges[] = {{a->image, a->image + a->image_bytes},
                            {a->request.places, a->request.places_end}};
    uint32_t others = 0;
    if (!all_outside(&a->remote, ranges, ARRAY_LEN(ranges)) ||
        !remote_read(&a->remote, a->request.others, &others, sizeof(others)) || others)
        return false;
    for (size_t i = 0; i < a->remote.threads.len; i++) {
        const RemoteThread *t = &a->remote.threads.at[i];
        if (t->is_stopped ? hook_waits_on(a, remote_thread_data(t)) : hooks_wait(a, rows))
            return false;
    }
    return true;
}

void heap_detach(HeapAttached *a)
{
    WireThread *rows = heap_alloc(WIRE_THREADS_MAX * sizeof(*rows));
    a->is_left = true;
    for (unsigned tries = 0; tries < TRIES && a->is_left; tries++) {
        // Once the jumps are gone threads only leave.
        if (!a->is_hooked && hooks_wait(a, rows)) {
            sleep_ms(TRY_MS);
            continue;
        }
        if (!stop_surely(&a->remote, true))
            break;
        if (a->is_hooked)
            restore_entries(a);
        a->is_hooked = false;
        a->is_left = !none_inside(a, rows);
        remote_go(&a->remote);
        if (a->is_left)
            sleep_ms(TRY_MS);
    }
    if (!a->is_left)
        clear(a);
    if (a->orphan)
        atomic_store(&a->orphan->pid, 0);
    heap_free(rows);
}

// ---- When this process is killed --------------------------------------------------------

HeapOrphan *heap_orphan_new(const WireEntries *entries)
{
    HeapOrphan *o =
        mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED)
        return NULL;
    o->entries = entries;
    return o;
}

void heap_orphan_free(HeapOrphan *o)
{
    if (o)
        munmap(o, sizeof(*o));
}

uint32_t heap_orphan_detach(void *orphan)
{
    HeapOrphan *o = orphan;
    uint32_t pid = atomic_load(&o->pid);
    Arena arena = {0};
    Error unheard;
    HeapAttached a = {.orphan = o,
                      .entries = o->entries,
                      .image = o->image,
                      .image_bytes = o->image_bytes,
                      .request = o->request,
                      .is_hooked = true};
    if (pid && remote_open(&arena, pid, &a.remote, &unheard)) {
        heap_detach(&a);
        remote_close(&a.remote);
    }
    arena_deinit(&arena);
    return pid;
}
