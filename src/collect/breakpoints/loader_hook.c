// SPDX-License-Identifier: Apache-2.0
// Finds _dl_debug_state in the dynamic linker of a process.

#include "collect/breakpoints/loader_hook.h"

#include <string.h>

#include "base/cursor.h"
#include "collect/breakpoints/code.h"
#include "elf/elf.h"
#include "os/file.h"
#include "os/proc.h"

// In the dynamic linker that is mapped at `base`.
static uint64_t find_in(const ProcMapVec *maps, uint64_t base)
{
    Arena scratch = {0};
    MappedFile file = {0};
    Elf elf;
    ElfSymbols symbols = {0};
    uint64_t hook = 0;
    for (size_t i = 0; i < maps->len && !file.bytes.len; i++)
        if (maps->at[i].start == base && !os_map_file(maps->at[i].path, &file, NULL))
            break;
    if (file.bytes.len && elf_parse(&scratch, file.bytes, &elf, NULL) &&
        elf_symbols_load(&scratch, &elf, SHT_DYNSYM, &symbols, NULL))
        for (size_t i = 0; i < symbols.count && !hook; i++) {
            ElfSymbol symbol = elf_symbol_get(&symbols, i);
            if (str_equal(symbol.name, STR("_dl_debug_state")) ||
                str_equal(symbol.name, STR("dl_debug_state")))
                hook = base + symbol.value;
        }
    os_unmap_file(&file);
    arena_deinit(&scratch);
    return hook;
}

typedef struct Auxv {
    uint64_t base; // of the dynamic linker; 0 for a static program
    uint64_t entry;
} Auxv;

static Auxv read_auxv(Arena *scratch, pid_t pid)
{
    enum { KEY_BASE = 7, KEY_ENTRY = 9 };
    Bytes bytes;
    Auxv ret = {0};
    Str path = arena_printf(scratch, "/proc/%d/auxv", (int)pid);
    if (!os_read_file(scratch, path, 1 << 16, &bytes, NULL))
        return ret;
    Cursor c = cursor_over(bytes, "auxv");
    while (cursor_more(&c)) {
        uint64_t key = cursor_u64(&c), value = cursor_u64(&c);
        if (key == KEY_BASE)
            ret.base = value;
        if (key == KEY_ENTRY)
            ret.entry = value;
    }
    return ret;
}

LoaderHook loader_hook_find(pid_t pid)
{
    Arena scratch = {0};
    ProcMapVec maps = {0};
    Auxv auxv = read_auxv(&scratch, pid);
    LoaderHook hook = {.has_loader = auxv.base != 0, .entry = auxv.entry};
    if (auxv.base && proc_maps_read(&scratch, (uint32_t)pid, &maps, NULL))
        hook.address = find_in(&maps, auxv.base);
    arena_deinit(&scratch);
    return hook;
}

bool loader_hook_fits(LoaderHook *hook, int memory_fd, pid_t pid)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[6] = {0};
    if (!hook->address || !code_read(memory_fd, pid, hook->address, code, sizeof(code)))
        return false;
    const uint8_t *body = memcmp(code, endbr, sizeof(endbr)) == 0 ? code + 4 : code;
    hook->byte = code[0];
    return body[0] == 0xc3 || (body[0] == 0xf3 && body[1] == 0xc3);
}
