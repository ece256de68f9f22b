// SPDX-License-Identifier: Apache-2.0
// The executable mappings of this process.

#include "agent/mappings.h"

#include "agent/sys.h"
#include "agent/words.h"

#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum {
    MAPPINGS_MAX = 4096,
    CHUNK = 16384,
    HEADERS_MAX = 64,
    REST_SHARE = 20, // reading the maps takes at most one part of this many of the time
    INDEXES_MAX = 32,
    SECTIONS_MAX = 256,
    EH_FRAME_MAX = 256 << 20, // bytes that an index is made of
};

typedef struct MappingList {
    uint32_t count;
    AgentMapping at[MAPPINGS_MAX];
} MappingList;

// Two lists: readers use one while the other is written. A reader that was interrupted for a whole
// reading sees that the generation has changed.
static MappingList lists[2];
static _Atomic uint64_t generation = 1; // the list in use is number generation & 1
static _Atomic bool is_reading;
static _Atomic bool is_stale;
static uint64_t next_reading_ns;
static char chunk[CHUNK];

// Of files without .eh_frame_hdr, as gcc -static makes them. An index stays as long as the process.
typedef struct FrameIndex {
    uint64_t inode, base;
    const uint8_t *eh_frame, *end;
    const FrameIndexRow *row; // [count]; NULL: the file has no .eh_frame either
    uint32_t count;
} FrameIndex;
static FrameIndex indexes[INDEXES_MAX];
static uint32_t index_count;

#if defined(__x86_64__)
#define OWN_ARCH UNWIND_X86_64
#else
#define OWN_ARCH UNWIND_AARCH64
#endif

// glibc 2.35's dlfcn.h; it may be called in a signal handler.
typedef struct FoundObject {
    unsigned long long flags;
    void *map_start, *map_end;
    void *link_map;
    void *eh_frame; // .eh_frame_hdr
    unsigned long long reserved[8];
} FoundObject;
extern int _dl_find_object(void *pc, FoundObject *ret) __attribute__((weak));

// The linker's: the first byte of this library and the end of its code.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

bool mappings_is_own_code(uint64_t pc)
{
    return pc >= (uint64_t)(uintptr_t)__ehdr_start && pc < (uint64_t)(uintptr_t)etext;
}

void mappings_set_stale(void)
{
    atomic_store(&is_stale, true);
}

bool mappings_are_stale(void)
{
    return atomic_load_explicit(&is_stale, memory_order_relaxed);
}

uint64_t mappings_generation(void)
{
    return atomic_load(&generation);
}

bool mappings_find(uint64_t pc, AgentMapping *ret)
{
    uint64_t now = atomic_load_explicit(&generation, memory_order_acquire);
    const MappingList *list = &lists[now & 1];
    uint32_t low = 0, high = MIN(list->count, (uint32_t)MAPPINGS_MAX);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->at[middle].end <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= list->count || low >= MAPPINGS_MAX || pc < list->at[low].start)
        return false;
    *ret = list->at[low];
    atomic_thread_fence(memory_order_acquire);
    return atomic_load(&generation) == now && pc >= ret->start && pc < ret->end;
}

bool mappings_find_offset(uint64_t inode, uint64_t offset, AgentMapping *ret)
{
    const MappingList *list = &lists[atomic_load(&generation) & 1];
    for (uint32_t i = 0; i < list->count; i++) {
        const AgentMapping *m = &list->at[i];
        if (m->inode != inode || offset < m->offset || offset - m->offset >= m->end - m->start)
            continue;
        *ret = *m;
        return true;
    }
    return false;
}

bool mappings_is_linked(uint64_t pc)
{
    FoundObject found;
    return _dl_find_object && _dl_find_object((void *)(uintptr_t)pc, &found) == 0;
}

bool mappings_is_current(const AgentMapping *m, uint64_t pc)
{
    FoundObject found;
    if (!_dl_find_object)
        return true;
    if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return m->linked == NULL;
    return found.link_map == m->linked &&
           (!m->frames.hdr || !found.eh_frame || found.eh_frame == m->frames.hdr);
}

// ---- Reading the maps -----------------------------------------------------------------

typedef struct MapLine {
    uint64_t start, end, offset, inode;
    uint32_t device_major, device_minor;
    bool readable, executable;
    const char *path; // ends in NUL
} MapLine;

// The first segment of the object that the lines at hand belong to.
typedef struct Object {
    uint64_t inode, base;
    uint64_t frames_end; // the end of its last readable mapping so far
} Object;

static uint64_t take_hex(const char **at)
{
    uint64_t value = 0;
    for (;; (*at)++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                : 16;
        if (digit > 15)
            return value;
        value = value << 4 | digit;
    }
}

static uint64_t take_decimal(const char **at)
{
    uint64_t value = 0;
    while (**at >= '0' && **at <= '9')
        value = value * 10 + (uint64_t)(*(*at)++ - '0');
    return value;
}

static void step(const char **at)
{
    *at += **at != 0;
}

// proc(5): "start-end perms offset major:minor inode path".
static MapLine parse_line(const char *at)
{
    MapLine m = {.start = take_hex(&at)};
    step(&at);
    m.end = take_hex(&at);
    step(&at);
    for (unsigned i = 0; i < 4 && *at; i++, at++) {
        m.readable |= *at == 'r';
        m.executable |= *at == 'x';
    }
    step(&at);
    m.offset = take_hex(&at);
    step(&at);
    m.device_major = (uint32_t)take_hex(&at);
    step(&at);
    m.device_minor = (uint32_t)take_hex(&at);
    step(&at);
    m.inode = take_decimal(&at);
    while (*at == ' ')
        at++;
    m.path = *at ? at : "//anon";
    return m;
}

// The first segments of a file in memory.
typedef struct Headers {
    Elf64_Ehdr e;
    Elf64_Phdr p[HEADERS_MAX]; // [e.e_phnum]
    uint64_t bias;
} Headers;

// The file may have been cut short since it was mapped; so the headers are copied by the kernel,
// which fails where a load would be SIGBUS.
static bool read_headers(uint64_t base, Headers *h)
{
    if (!words_copy(base, &h->e, sizeof(h->e)) ||
        __builtin_memcmp(h->e.e_ident, ELFMAG, SELFMAG) != 0 ||
        h->e.e_phentsize != sizeof(h->p[0]) || h->e.e_phnum == 0 || h->e.e_phnum > HEADERS_MAX ||
        !words_copy(base + h->e.e_phoff, h->p, h->e.e_phnum * sizeof(h->p[0])))
        return false;
    h->bias = base;
    for (unsigned i = 0; i < h->e.e_phnum; i++)
        if (h->p[i].p_type == PT_LOAD && h->p[i].p_offset == 0)
            h->bias = base - h->p[i].p_vaddr;
    return true;
}

// The end of the file's part of the segment that has this address; 0: none has.
static uint64_t segment_end(const Headers *h, uint64_t at)
{
    for (unsigned i = 0; i < h->e.e_phnum; i++) {
        uint64_t start = h->bias + h->p[i].p_vaddr, end = start + h->p[i].p_filesz;
        if (h->p[i].p_type == PT_LOAD && h->p[i].p_flags & PF_R && at >= start && at < end)
            return end;
    }
    return 0;
}

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return SYS4(SYS_pread64, fd, to, size, offset) == (long)size;
}

// Finds the section .eh_frame by the section headers, which are in the file only.
static bool find_section(int fd, const Headers *h, Elf64_Shdr *ret)
{
    static const char name[] = ".eh_frame";
    char text[sizeof(name)] = "";
    Elf64_Shdr names = {0};
    if (h->e.e_shentsize != sizeof(*ret) || h->e.e_shnum > SECTIONS_MAX ||
        h->e.e_shstrndx >= h->e.e_shnum ||
        !read_at(fd, &names, sizeof(names), h->e.e_shoff + h->e.e_shstrndx * sizeof(names)))
        return false;
    for (unsigned i = 0; i < h->e.e_shnum; i++)
        if (read_at(fd, ret, sizeof(*ret), h->e.e_shoff + i * sizeof(*ret)) &&
            ret->sh_flags & SHF_ALLOC && ret->sh_type != SHT_NOBITS &&
            read_at(fd, text, sizeof(text), names.sh_offset + ret->sh_name) &&
            __builtin_memcmp(text, name, sizeof(name)) == 0)
            return true;
    return false;
}

static void make_index(const Headers *h, const Elf64_Shdr *section, FrameIndex *ret)
{
    uint64_t start = h->bias + section->sh_addr, end = start + section->sh_size;
    uint32_t last = 0;
    if (section->sh_size < sizeof(last) || section->sh_size > EH_FRAME_MAX ||
        end > segment_end(h, start) || !words_copy(end - sizeof(last), &last, sizeof(last)))
        return;
    uint32_t max = (uint32_t)(section->sh_size / FRAME_INDEX_ENTRY_BYTES);
    // Pages that get no rows cost nothing.
    FrameIndexRow *row = sys_map(NULL, MAX(max, 1u) * sizeof(*row), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!row)
        return;
    ret->eh_frame = (const uint8_t *)(uintptr_t)start;
    ret->end = (const uint8_t *)(uintptr_t)end;
    FrameSections s = {.eh_frame = ret->eh_frame, .end = ret->end, .arch = OWN_ARCH};
    ret->count = frame_index_make(&s, row, max);
    ret->row = row;
}

// The index of a file that is mapped at h->bias; made the first time. NULL: there is no room.
static const FrameIndex *find_index(const MapLine *l, uint64_t base, const Headers *h)
{
    Elf64_Shdr section = {0};
    struct stat st = {0};
    for (uint32_t i = 0; i < index_count; i++)
        if (indexes[i].inode == l->inode && indexes[i].base == base)
            return &indexes[i];
    if (index_count == INDEXES_MAX)
        return NULL;
    FrameIndex *index = &indexes[index_count];
    *index = (FrameIndex){.inode = l->inode, .base = base};
    // Another file may have that name now: it could be one that opening waits for.
    int fd = sys_open(l->path, O_RDONLY | O_NONBLOCK, 0);
    if (fd >= 0 && SYS2(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == l->inode &&
        find_section(fd, h, &section))
        make_index(h, &section, index);
    sys_close(fd);
    index_count++;
    return index;
}

// Finds .eh_frame_hdr by the program headers, or makes an index of .eh_frame.
static void find_frames(const MapLine *l, uint64_t base, AgentMapping *m)
{
    Headers h;
    if (!read_headers(base, &h))
        return;
    for (unsigned i = 0; i < h.e.e_phnum; i++) {
        if (h.p[i].p_type != PT_GNU_EH_FRAME)
            continue;
        uint64_t hdr = h.bias + h.p[i].p_vaddr, end = segment_end(&h, hdr);
        m->frames.hdr = end ? (const uint8_t *)(uintptr_t)hdr : NULL;
        m->frames.hdr_size = h.p[i].p_memsz;
        m->frames.end = (const uint8_t *)(uintptr_t)end;
        return;
    }
    const FrameIndex *index = l->inode ? find_index(l, base, &h) : NULL;
    if (!index || !index->row)
        return;
    m->frames.index = index->row;
    m->frames.index_count = index->count;
    m->frames.eh_frame = index->eh_frame;
    m->frames.end = index->end;
}

static bool is_known(const MappingList *old, const MapLine *l)
{
    uint32_t at = (uint32_t)PARTITION_POINT(i, old->count, old->at[i].start < l->start);
    const AgentMapping *m = &old->at[at];
    return at < old->count && m->start == l->start && m->end == l->end && m->offset == l->offset &&
           m->inode == l->inode;
}

static const void *linked_object(uint64_t pc)
{
    FoundObject found;
    if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &found) != 0)
        return NULL;
    return found.link_map;
}

static void take_line(const char *text, MappingList *list, const MappingList *old, Object *object,
                      MappingNew *on_new)
{
    MapLine l = parse_line(text);
    bool is_file = l.inode != 0, is_vdso = l.path[0] == '[' && l.path[1] == 'v';
    if (l.readable && l.offset == 0 && (is_file || is_vdso))
        *object = (Object){.inode = l.inode, .base = l.start};
    if (!l.executable || list->count == MAPPINGS_MAX || l.start > INT64_MAX)
        return; // [vsyscall] lies above all addresses of the process
    AgentMapping *m = &list->at[list->count];
    *m = (AgentMapping){.start = l.start, .end = l.end, .offset = l.offset, .inode = l.inode};
    if (object->base && object->inode == l.inode && (is_file || is_vdso))
        find_frames(&l, object->base, m);
    m->frames.code = (const uint8_t *)(uintptr_t)l.start;
    m->frames.code_end = (const uint8_t *)(uintptr_t)l.end;
    m->frames.arch = OWN_ARCH;
    m->linked = linked_object(l.start);
    bool is_new = !is_known(old, &l);
    list->count++;
    if (is_new && on_new)
        on_new(m, l.device_major, l.device_minor, l.path);
}

static bool read_lines(int fd, MappingList *list, const MappingList *old, MappingNew *on_new)
{
    Object object = {0};
    size_t have = 0;
    for (;;) {
        long n = SYS3(SYS_read, fd, chunk + have, CHUNK - 1 - have);
        if (n <= 0)
            return n == 0;
        have += (size_t)n;
        size_t from = 0;
        for (size_t i = 0; i < have; i++) {
            if (chunk[i] != '\n')
                continue;
            chunk[i] = 0;
            take_line(chunk + from, list, old, &object, on_new);
            from = i + 1;
        }
        have -= from;
        __builtin_memmove(chunk, chunk + from, have);
        if (have == CHUNK - 1)
            have = 0; // a line of this length is no line of the kernel's
    }
}

bool mappings_refresh(MappingNew *on_new)
{
    bool idle = false;
    if (!atomic_compare_exchange_strong(&is_reading, &idle, true))
        return false;
    uint64_t begin = sys_clock_ns(CLOCK_MONOTONIC);
    // A module that has moved must be read anew at once: its samples would be named wrongly.
    bool ok = atomic_exchange(&is_stale, false) || begin >= next_reading_ns;
    int fd = ok ? sys_open("/proc/self/maps", O_RDONLY, 0) : -1;
    if (fd >= 0) {
        uint64_t now = atomic_load(&generation);
        MappingList *list = &lists[(now + 1) & 1];
        list->count = 0;
        ok = read_lines(fd, list, &lists[now & 1], on_new);
        sys_close(fd);
        atomic_store_explicit(&generation, now + 1, memory_order_release);
        uint64_t end = sys_clock_ns(CLOCK_MONOTONIC);
        next_reading_ns = end + REST_SHARE * (end - begin);
    }
    atomic_store(&is_reading, false);
    return ok && fd >= 0;
}

void mappings_forget(void)
{
    lists[atomic_load(&generation) & 1].count = 0;
    next_reading_ns = 0;
    atomic_store(&is_reading, false);
}
