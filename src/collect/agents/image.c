// SPDX-License-Identifier: Apache-2.0
// The embedded libraries.

#include "collect/agents/image.h"

#include <agent_image.h> // made by the build: the two paths

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

EMBED(agent_image, AGENT_IMAGE_PATH);
EMBED(heap_agent_image, HEAP_AGENT_IMAGE_PATH);

Bytes agent_image(void)
{
    return bytes_over(agent_image_start, (size_t)(agent_image_end - agent_image_start));
}

Bytes heap_agent_image(void)
{
    return bytes_over(heap_agent_image_start,
                      (size_t)(heap_agent_image_end - heap_agent_image_start));
}
