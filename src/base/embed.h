// SPDX-License-Identifier: Apache-2.0
// Files of the build as bytes of the executable.

#ifndef BASE_EMBED_H
#define BASE_EMBED_H

#include <stdint.h>

// Makes the bytes of the file `path`, a string literal, the array name_start[] up to name_end, both
// of this source file. Stands outside functions.
#define EMBED(name, path)                                                                          \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            ".hidden " #name "_start\n" #name "_start:\n"                                          \
            ".incbin \"" path "\"\n"                                                               \
            ".hidden " #name "_end\n" #name "_end:\n"                                              \
            ".popsection\n"                                                                        \
            ".globl " #name "_start\n"                                                             \
            ".globl " #name "_end\n");                                                             \
    extern const uint8_t name##_start[] __attribute__((visibility("hidden")));                     \
    extern const uint8_t name##_end[] __attribute__((visibility("hidden")))

#endif // BASE_EMBED_H
