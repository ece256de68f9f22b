// SPDX-License-Identifier: Apache-2.0
// The vdso's image, from where the kernel says it put it.

#include "symbolise/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

Bytes vdso_image(void)
{
    unsigned long at = getauxval(AT_SYSINFO_EHDR);
    if (!at)
        return (Bytes){0};
    // The kernel's own image: whole, and it ends with the section headers.
    const uint8_t *image = (const uint8_t *)at; // NOLINT: an address is what auxv gives
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return (Bytes){0};
    return bytes_over(image, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize);
}
