// SPDX-License-Identifier: Apache-2.0
// The recorded kernel: its modules and its symbols.

#include "replay/kernel.h"

#include "base/log.h"
#include "elf/build_id.h"
#include "os/clock.h"
#include "os/file.h"

#include <stdlib.h>

// /proc/kallsyms has some 200 bytes a symbol at most.
// Kernels have some hundred modules; a file may claim more.
enum {
    KALLSYMS_START_BYTES = 64 << 10,
    KALLSYMS_MAX_BYTES = 256 << 20,
    LATE_BYTES_MAX = 16 << 20,
    MODULES_MAX = 4096
};

static int by_start(const void *a, const void *b)
{
    const KernelModule *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void sort_modules(KernelMap *k)
{
    if (k->modules.len && !k->is_sorted)
        qsort(k->modules.at, k->modules.len, sizeof(k->modules.at[0]), by_start);
    k->is_sorted = true;
}

static void add_module(KernelMap *k, Str name, uint64_t start, uint64_t size)
{
    if (k->modules.len == MODULES_MAX)
        return;
    KernelModule m = {.start = start, .end = start + size, .name = arena_str(&k->arena, name)};
    vec_push(&k->arena, &k->modules, m);
    k->is_sorted = false;
}

// ---- This machine ---------------------------------------------------------------

// Calls `each` for the lines of /proc/modules: name size references users state
// address. Addresses that kptr_restrict hides are 0.
static void each_running_module(KernelMap *k,
                                void (*each)(KernelMap *k, Str name, uint64_t start, uint64_t size))
{
    Arena scratch = {0};
    Bytes content;
    if (!os_read_file(&scratch, STR("/proc/modules"), OS_READ_MAX_BYTES, &content, NULL))
        return;
    Str rest = str_from_bytes(content), line, part;
    while (str_next_line(&rest, &line)) {
        Str words[6] = {0};
        size_t n = 0;
        while (n < ARRAY_LEN(words) && str_next_part(&line, ' ', &part))
            words[n++] = part;
        uint64_t size, start;
        if (n == 6 && str_parse_u64(words[1], 10, &size) && str_parse_u64(words[5], 0, &start) &&
            start != 0)
            each(k, words[0], start, size);
    }
    arena_deinit(&scratch);
}

static Str running_build_id(Arena *arena)
{
    Bytes notes;
    BuildId id = {0};
    if (!os_read_file(arena, STR("/sys/kernel/notes"), 1 << 20, &notes, NULL) ||
        !elf_build_id_find(notes, 4, &id, NULL) || id.len == 0)
        return STR("");
    return build_id_hex(arena, &id);
}

void kernel_map_init(KernelMap *k, Profile *profile, const ModuleSearch *search)
{
    *k = (KernelMap){.profile = profile, .search = search};
    if (search)
        return;
    each_running_module(k, add_module);
    k->build_id = running_build_id(&k->arena);
    k->settled = true;
}

void kernel_map_deinit(KernelMap *k)
{
    strbuf_deinit(&k->late);
    arena_deinit(&k->arena);
    *k = (KernelMap){0};
}

// ---- A recorded one -------------------------------------------------------------

// "/lib/modules/6.1/kernel/fs/ext4/jbd-2.ko.xz" or "[jbd_2]" -> "jbd_2".
static Str module_name(Arena *arena, Str path)
{
    if (path.len > 2 && path.ptr[0] == '[')
        return str_slice(path, 1, path.len - 1);
    Str base = str_base_name(path);
    size_t end = str_find(base, STR(".ko"));
    char *name = arena_c_str(arena, end == SIZE_MAX ? base : str_slice(base, 0, end));
    for (char *at = name; *at; at++)
        if (*at == '-')
            *at = '_';
    return str_from_c(name);
}

// "[kernel.kallsyms]_text" is the kernel itself; the mapping's offset is the address of the symbol
// after the bracket. "[kernel.vmlinux].init" and similar names are parts of the kernel.
static bool is_kernel_itself(Str path)
{
    return str_starts_with(path, STR("[kernel")) || str_equal(str_base_name(path), STR("vmlinux"));
}

void kernel_map_add(KernelMap *k, const PerfMmap *m)
{
    if (m->len == 0 || m->start + m->len < m->start)
        return;
    if (!is_kernel_itself(m->path)) {
        add_module(k, module_name(&k->arena, m->path), m->start, m->len);
        return;
    }
    size_t close = str_find_char(m->path, ']');
    if (k->reference.len || close == SIZE_MAX)
        return;
    k->reference = arena_str(&k->arena, str_slice(m->path, close + 1, m->path.len));
    k->reference_at = m->page_offset;
    if (m->build_id.len) {
        BuildId id = {.len = (uint32_t)MIN(m->build_id.len, (size_t)ELF_BUILD_ID_MAX)};
        memcpy(id.bytes, m->build_id.ptr, id.len);
        k->build_id = build_id_hex(&k->arena, &id);
    }
}

// The address of a symbol in a text as /proc/kallsyms; 0 when it is missing or hidden.
static uint64_t find_symbol(Str text, Str name)
{
    Str line;
    while (name.len && str_next_line(&text, &line)) {
        Str address, rest;
        uint64_t value;
        if (!str_ends_with(line, name) || !str_split(line, ' ', &address, &rest) ||
            rest.len != name.len + 2)
            continue;
        return str_parse_u64(address, 16, &value) ? value : 0;
    }
    return 0;
}

static void shift_module(KernelMap *k, Str name, uint64_t start, uint64_t size)
{
    (void)size;
    for (size_t i = 0; i < k->modules.len; i++)
        if (str_equal(k->modules.at[i].name, name))
            k->modules.at[i].shift = k->modules.at[i].start - start;
}

// The address of the reference symbol. Only the beginning of the text is read, where the symbol
// is: the kernel needs tens of milliseconds to write all of /proc/kallsyms.
static bool find_reference(const KernelMap *k, Str path, uint64_t *ret)
{
    Arena scratch = {0};
    char *start = arena_alloc(&scratch, KALLSYMS_START_BYTES, 1);
    Bytes whole;
    Str text;
    bool ok = os_read_small(arena_c_str(&scratch, path), start, KALLSYMS_START_BYTES, &text);
    size_t whole_lines = ok ? str_find_last_char(text, '\n') : SIZE_MAX;
    *ret = whole_lines != SIZE_MAX ? find_symbol(str_slice(text, 0, whole_lines), k->reference) : 0;
    if (ok && *ret == 0 && k->reference.len &&
        os_read_file(&scratch, path, KALLSYMS_MAX_BYTES, &whole, NULL))
        *ret = find_symbol(str_from_bytes(whole), k->reference);
    arena_deinit(&scratch);
    return ok;
}

// Accepts a text of symbols if it has the addresses of the recorded kernel; with `same_build` also
// if the same kernel lay at another address.
static bool take_symbols(KernelMap *k, Str path, bool same_build)
{
    uint64_t at;
    if (path.len == 0 || !find_reference(k, path, &at))
        return false;
    bool known = at && k->reference_at;
    if (!same_build && !(known && at == k->reference_at))
        return false;
    if (!known && k->reference.len && k->reference_at)
        return false; // the addresses are hidden
    k->symbols_path = arena_str(&k->arena, path);
    k->kernel.shift = known ? k->reference_at - at : 0;
    log_debug(LOG_IMPORT, 1, "kernel symbols from '%" STR_FMT "', moved by 0x%llx", STR_ARG(path),
              (unsigned long long)k->kernel.shift);
    return true;
}

// Chooses the symbols: those of this machine's kernel, if it is the recorded one, else perf's copy.
static void settle(KernelMap *k)
{
    k->settled = true;
    if (k->search->no_files)
        return;
    Arena scratch = {0};
    Machine here = os_machine(&scratch);
    bool release =
        k->search->kernel_release.len && str_ends_with(here.kernel, k->search->kernel_release);
    bool build = k->build_id.len && str_equal(k->build_id, running_build_id(&scratch));
    Str kept = module_kallsyms_path(&scratch, k->search, k->build_id);
    k->is_running =
        release && (build || k->build_id.len == 0) && take_symbols(k, STR("/proc/kallsyms"), build);
    if (k->is_running)
        each_running_module(k, shift_module);
    else
        (void)!take_symbols(k, kept, true);
    arena_deinit(&scratch);
}

// ---- Frames ---------------------------------------------------------------------

static KernelModule *module_at(KernelMap *k, uint64_t pc)
{
    sort_modules(k);
    size_t low = PARTITION_POINT(i, k->modules.len, k->modules.at[i].end <= pc);
    if (low < k->modules.len && pc >= k->modules.at[low].start)
        return &k->modules.at[low];
    return &k->kernel;
}

FrameId kernel_frame(KernelMap *k, uint64_t pc, uint8_t flags)
{
    if (!k->settled)
        settle(k);
    KernelModule *m = module_at(k, pc);
    if (m->id.v == 0)
        m->id = m == &k->kernel
                    ? profile_module(k->profile, MODULE_KERNEL, STR("[kernel]"), k->build_id)
                    : profile_module(k->profile, MODULE_KMOD, m->name, STR(""));
    return profile_frame(k->profile, m->id, pc - m->shift, FRAME_KERNEL | flags);
}

void kernel_map_add_symbol(KernelMap *k, uint64_t address, Str name)
{
    if (k->search || address == 0 || name.len == 0 || k->late.len > LATE_BYTES_MAX ||
        str_find_char(name, '\n') != SIZE_MAX)
        return;
    strbuf_printf(&k->late, "%016llx t %" STR_FMT "\t[bpf]\n", (unsigned long long)address,
                  STR_ARG(name));
}

bool kernel_late_symbols(const KernelMap *k, Arena *arena, Bytes *ret)
{
    Arena scratch = {0};
    Bytes text;
    bool ok = k->late.len &&
              os_read_file(&scratch, STR("/proc/kallsyms"), KALLSYMS_MAX_BYTES, &text, NULL);
    if (ok) {
        // When the kernel hides addresses, all of them are zero, also the last one. The few late
        // symbols would then name the whole kernel.
        Str all = str_from_bytes(text), last = {0}, line;
        while (str_next_line(&all, &line))
            last = line;
        ok = !str_starts_with(last, STR("0000000000000000 "));
    }
    if (ok) {
        uint8_t *both = arena_alloc(arena, text.len + k->late.len, 1);
        memcpy(both, text.ptr, text.len);
        memcpy(both + text.len, k->late.ptr, k->late.len);
        *ret = bytes_over(both, text.len + k->late.len);
    }
    arena_deinit(&scratch);
    return ok;
}

bool kernel_has_module(const KernelMap *k, Str path)
{
    if (str_equal(path, STR("[kernel]")))
        return true;
    for (size_t i = 0; i < k->modules.len; i++)
        if (k->modules.at[i].id.v && str_equal(k->modules.at[i].name, path))
            return true;
    return false;
}

bool kernel_symbols(const KernelMap *k, Arena *arena, Bytes *ret)
{
    return k->symbols_path.len &&
           os_read_file(arena, k->symbols_path, KALLSYMS_MAX_BYTES, ret, NULL);
}
