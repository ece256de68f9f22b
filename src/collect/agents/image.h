// SPDX-License-Identifier: Apache-2.0
// The library that runs inside observed programs, as it is embedded in this executable.

#ifndef COLLECT_AGENTS_IMAGE_H
#define COLLECT_AGENTS_IMAGE_H

#include "base/str.h"

// The bytes of libassay.so, which samples.
Bytes agent_image(void);
// The same with the functions that allocate, for keeping account of the heap.
Bytes heap_agent_image(void);
// The same with the functions that copy memory and strings, too.
Bytes copy_agent_image(void);
// heap_agent_image for a program that runs already (wire/attach.h).
Bytes attach_agent_image(void);

#endif // COLLECT_AGENTS_IMAGE_H
