// SPDX-License-Identifier: Apache-2.0
// Small ELF images made in memory for tests: a header, one executable and one
// data segment laid out as lld does, and whatever sections a test adds.

#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include "base/strbuf.h"

#include <elf.h>

enum { IMAGE_SECTIONS_MAX = 16 };

typedef struct ElfImage {
    StrBuf file;
    Elf64_Shdr sections[IMAGE_SECTIONS_MAX];
    const char *names[IMAGE_SECTIONS_MAX];
    unsigned section_count; // [0] is the null section
} ElfImage;

static inline void image_pad(ElfImage *m, size_t align)
{
    while (m->file.len % align)
        strbuf_add_char(&m->file, 0);
}

// Starts with room for the header and two program headers:
// text: offset 0x200 -> svma 0x11200, size 0x100, executable
// data: offset 0x300 -> svma 0x22300, size 0x80 in the file, 0x100 in memory
static inline ElfImage image_begin(void)
{
    ElfImage m = {.section_count = 1};
    m.names[0] = "";
    strbuf_add_repeated(&m.file, 0, 0x380);
    Elf64_Phdr load[2] = {
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_X,
         .p_offset = 0x200,
         .p_vaddr = 0x11200,
         .p_filesz = 0x100,
         .p_memsz = 0x100,
         .p_align = 0x1000},
        {.p_type = PT_LOAD,
         .p_flags = PF_R | PF_W,
         .p_offset = 0x300,
         .p_vaddr = 0x22300,
         .p_filesz = 0x80,
         .p_memsz = 0x100,
         .p_align = 0x1000},
    };
    memcpy(m.file.ptr + sizeof(Elf64_Ehdr), load, sizeof(load));
    return m;
}

// Adds a section with that content and gives its number.
static inline unsigned image_add(ElfImage *m, const char *name, uint32_t type, uint64_t flags,
                                 Bytes content)
{
    assert(m->section_count < IMAGE_SECTIONS_MAX - 1);
    image_pad(m, 8);
    unsigned i = m->section_count++;
    m->names[i] = name;
    m->sections[i] = (Elf64_Shdr){.sh_type = type,
                                  .sh_flags = flags,
                                  .sh_offset = m->file.len,
                                  .sh_size = content.len,
                                  .sh_addralign = 4};
    strbuf_add_bytes(&m->file, content);
    return i;
}

// Writes the section names, the section table and the header. Gives the image,
// which lives until strbuf_deinit(&m->file).
static inline Bytes image_finish(ElfImage *m)
{
    StrBuf names = {0};
    uint32_t offsets[IMAGE_SECTIONS_MAX];
    unsigned own = m->section_count;
    m->names[own] = ".shstrtab";
    for (unsigned i = 0; i <= own; i++) {
        offsets[i] = (uint32_t)names.len;
        strbuf_add(&names, str_from_c(m->names[i]));
        strbuf_add_char(&names, 0);
    }
    image_add(m, ".shstrtab", SHT_STRTAB, 0, bytes_from_str(strbuf_str(&names)));
    strbuf_deinit(&names);
    image_pad(m, 8);

    Elf64_Ehdr h = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = 0x11200,
        .e_phoff = sizeof(Elf64_Ehdr),
        .e_shoff = m->file.len,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 2,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (uint16_t)m->section_count,
        .e_shstrndx = (uint16_t)own,
    };
    for (unsigned i = 0; i < m->section_count; i++) {
        m->sections[i].sh_name = offsets[i];
        strbuf_add_bytes(&m->file, bytes_over(&m->sections[i], sizeof(Elf64_Shdr)));
    }
    memcpy(m->file.ptr, &h, sizeof(h));
    return bytes_from_str(strbuf_str(&m->file));
}

// A build-id note as linkers write it.
static inline void image_build_id_note(StrBuf *out, const uint8_t *id, uint32_t len)
{
    uint32_t head[3] = {4, len, NT_GNU_BUILD_ID};
    strbuf_add_bytes(out, bytes_over(head, sizeof(head)));
    strbuf_add(out, STR("GNU\0"));
    strbuf_add_bytes(out, bytes_over(id, len));
}

#endif // TESTS_UNIT_ELF_IMAGE_H
