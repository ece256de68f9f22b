// SPDX-License-Identifier: Apache-2.0
// Reads the program headers of a module in memory to find where its code ends.

#include "collect/breakpoints/room.h"

#include <elf.h>
#include <string.h>

#include "collect/breakpoints/code.h"

// The mapping of the file's beginning that belongs to `in`: the nearest one below it.
static const ProcMap *find_header(const ProcMapVec *maps, const ProcMap *in)
{
    const ProcMap *found = NULL;
    for (size_t i = 0; i < maps->len; i++) {
        const ProcMap *m = &maps->at[i];
        if (m->offset == 0 && m->inode == in->inode && m->device_major == in->device_major &&
            m->device_minor == in->device_minor && m->start <= in->start &&
            (!found || m->start > found->start))
            found = m;
    }
    return found;
}

// The offset in the file at which the code in `in` ends; 0: not known.
static uint64_t end_of_code(int memory_fd, pid_t pid, const ProcMap *header, const ProcMap *in)
{
    enum { HEADERS_MAX = 64 };
    Elf64_Ehdr file;
    Elf64_Phdr h;
    if (!code_read(memory_fd, pid, header->start, &file, sizeof(file)) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_phentsize != sizeof(h))
        return 0;
    for (unsigned i = 0; i < file.e_phnum && i < HEADERS_MAX; i++) {
        uint64_t at = header->start + file.e_phoff + i * sizeof(h);
        if (!code_read(memory_fd, pid, at, &h, sizeof(h)))
            return 0;
        uint64_t end = h.p_offset + h.p_filesz, in_end = in->offset + (in->end - in->start);
        if (h.p_type == PT_LOAD && h.p_flags & PF_X && h.p_memsz == h.p_filesz &&
            end > in->offset && end < in_end)
            return end;
    }
    return 0;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

uint64_t room_find(int memory_fd, pid_t pid, const ProcMapVec *maps, const ProcMap *in, size_t len)
{
    enum { ALIGN = 16, STEP = 8, LEN_MAX = 64 };
    uint8_t there[LEN_MAX];
    const ProcMap *header = find_header(maps, in);
    uint64_t end = header && len <= LEN_MAX ? end_of_code(memory_fd, pid, header, in) : 0;
    if (!end)
        return 0;
    uint64_t at = (in->start + (end - in->offset) + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    for (; at + len <= in->end; at += STEP)
        if (!code_read(memory_fd, pid, at, there, len))
            return 0;
        else if (is_zero(there, len))
            return at;
    return 0;
}
