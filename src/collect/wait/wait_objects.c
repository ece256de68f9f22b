// SPDX-License-Identifier: Apache-2.0
// Names locks by the variable at their address, and descriptors by /proc/PID/fd (proc(5)).

#include "collect/wait/wait_objects_internal.h"

#include "collect/wait/reasons_internal.h"
#include "elf/elf.h"
#include "os/file.h"
#include "symbolise/demangle.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STRUCTURE_BYTES = 64,        // of larger variables the place in it is told
    SOCKETS_BYTES_MAX = 4 << 20, // of a table of sockets
};

void wait_objects_deinit(WaitObjects *o)
{
    arena_deinit(&o->arena);
}

// ---- Variables --------------------------------------------------------------------------

static int by_start(const void *a, const void *b)
{
    const Variable *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static void add_variables(WaitObjects *o, const Elf *elf, uint32_t type, FileVariables *into)
{
    ElfSymbols symbols;
    Error err;
    if (!elf_symbols_load(&o->arena, elf, type, &symbols, &err))
        return;
    for (size_t i = 0; i < symbols.count; i++) {
        ElfSymbol s = elf_symbol_get(&symbols, i);
        if (s.type == STT_OBJECT && s.section != SHN_UNDEF && s.name.len)
            vec_push(&o->arena, &into->at, (Variable){s.value, s.size, s.name});
    }
}

static const FileVariables *variables_of(WaitObjects *o, const ModuleFile *file)
{
    for (size_t i = 0; i < o->files.len; i++)
        if (o->files.at[i].file == file)
            return &o->files.at[i];
    FileVariables v = {.file = file};
    if (file->opened) {
        add_variables(o, &file->elf, SHT_SYMTAB, &v);
        if (v.at.len == 0)
            add_variables(o, &file->elf, SHT_DYNSYM, &v);
    }
    if (v.at.len)
        qsort(v.at.at, v.at.len, sizeof(v.at.at[0]), by_start);
    vec_push(&o->arena, &o->files, v);
    return &vec_last(&o->files);
}

static bool add_variable(WaitObjects *o, const ModuleFile *file, uint64_t svma, StrBuf *out)
{
    const FileVariables *v = variables_of(o, file);
    size_t low = 0, high = v->at.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->at.at[middle].start <= svma)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const Variable *found = &v->at.at[low - 1];
    if (svma - found->start >= MAX(found->size, 1u))
        return false;
    (void)demangle(found->name, out);
    if (found->size > STRUCTURE_BYTES && svma != found->start)
        strbuf_printf(out, "+%llu", (unsigned long long)(svma - found->start));
    return true;
}

static void add_lock(WaitObjects *o, Consumer *c, uint32_t pid, uint64_t address, StrBuf *out)
{
    uint64_t svma;
    const ModuleFile *file = consumer_file_at(c, pid, address, &svma);
    if (!file || !add_variable(o, file, svma, out))
        strbuf_printf(out, "0x%llx", (unsigned long long)address);
}

// ---- Descriptors --------------------------------------------------------------------------

// "socket:[123]" of a process becomes "tcp 10.0.0.2:5432" or "unix /run/db.sock", by the tables in
// its /proc/PID/net. False when they do not have it.
static bool add_socket(WaitObjects *o, uint32_t pid, Str link, StrBuf *out)
{
    static const char *const tables[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
    uint64_t inode;
    if (!str_starts_with(link, STR("socket:[")) ||
        !str_parse_u64(str_slice(link, strlen("socket:["), link.len - 1), 10, &inode))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char path[64];
        Bytes bytes;
        snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, tables[i]);
        if (!os_read_file(&o->arena, str_from_c(path), SOCKETS_BYTES_MAX, &bytes, NULL))
            continue;
        Str text = str_from_bytes(bytes), line;
        while (str_next_line(&text, &line))
            if (wait_socket_name(str_from_c(tables[i]), line, inode, out))
                return true;
    }
    return false;
}

// Whether a descriptor with a path is no file on a disk: a named pipe, a socket, a device.
static bool is_channel(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

static Str add_descriptor(WaitObjects *o, uint32_t pid, uint32_t fd, StrBuf *out)
{
    char path[64], target[512];
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, fd);
    ssize_t n = readlink(path, target, sizeof(target));
    if (n <= 0) {
        strbuf_printf(out, "fd %u", fd);
        return STR("");
    }
    Str text = arena_str(&o->arena, (Str){target, (size_t)n});
    if (!add_socket(o, pid, text, out))
        strbuf_add(out, text);
    return text.ptr[0] == '/' && is_channel(path) ? STR("channel:") : text;
}

Str wait_object_name(WaitObjects *o, Consumer *c, uint32_t pid, uint32_t call, uint64_t object,
                     StrBuf *out)
{
    uint32_t arg;
    switch (wait_object_of(call, &arg)) {
    case WAIT_OBJECT_LOCK:
        add_lock(o, c, pid, object, out);
        break;
    case WAIT_OBJECT_FD:
        return add_descriptor(o, pid, (uint32_t)object, out);
    case WAIT_OBJECT_PID:
    case WAIT_OBJECT_PATH:
    case WAIT_OBJECT_NONE:
        break;
    }
    return STR("");
}
