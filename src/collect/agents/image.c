// SPDX-License-Identifier: Apache-2.0
// The embedded library.

#include "collect/agents/image.h"

#include <agent_image.h> // made by the build: AGENT_IMAGE_PATH

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".hidden agent_image_start\n"
        "agent_image_start:\n"
        ".incbin \"" AGENT_IMAGE_PATH "\"\n"
        ".hidden agent_image_end\n"
        "agent_image_end:\n"
        ".popsection\n"
        ".globl agent_image_start\n"
        ".globl agent_image_end\n");

extern const uint8_t agent_image_start[] __attribute__((visibility("hidden")));
extern const uint8_t agent_image_end[] __attribute__((visibility("hidden")));

Bytes agent_image(void)
{
    return bytes_over(agent_image_start, (size_t)(agent_image_end - agent_image_start));
}
