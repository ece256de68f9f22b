// SPDX-License-Identifier: Apache-2.0
// Finds the image of the vdso, by the address that the kernel states.

#include "symbolise/vdso.h"

#include <elf.h>
#include <sys/auxv.h>

Bytes vdso_image(void)
{
    unsigned long at = getauxval(AT_SYSINFO_EHDR);
    if (!at)
        return (Bytes){0};
    // This is the kernel's own image: complete, with the section headers at its end.
    const uint8_t *image = (const uint8_t *)at; // NOLINT: auxv gives an address
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return (Bytes){0};
    return bytes_over(image, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize);
}
