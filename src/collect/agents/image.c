// SPDX-License-Identifier: Apache-2.0
// The embedded libraries.

#include "collect/agents/image.h"

#include <agent_image.h> // made by the build: the two paths

#include "base/embed.h"

EMBED(agent_image, AGENT_IMAGE_PATH);
EMBED(heap_agent_image, HEAP_AGENT_IMAGE_PATH);
EMBED(attach_agent_image, ATTACH_AGENT_IMAGE_PATH);
EMBED(copy_agent_image, COPY_AGENT_IMAGE_PATH);

Bytes agent_image(void)
{
    return bytes_over(agent_image_start, (size_t)(agent_image_end - agent_image_start));
}

Bytes heap_agent_image(void)
{
    return bytes_over(heap_agent_image_start,
                      (size_t)(heap_agent_image_end - heap_agent_image_start));
}

Bytes attach_agent_image(void)
{
    return bytes_over(attach_agent_image_start,
                      (size_t)(attach_agent_image_end - attach_agent_image_start));
}

Bytes copy_agent_image(void)
{
    return bytes_over(copy_agent_image_start,
                      (size_t)(copy_agent_image_end - copy_agent_image_start));
}
