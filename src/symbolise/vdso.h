// SPDX-License-Identifier: Apache-2.0
// The vdso: code that the kernel maps into every process, without a file.

#ifndef SYMBOLISE_VDSO_H
#define SYMBOLISE_VDSO_H

#include "base/str.h"

// The image in this process; every process of the same architecture on this kernel has the same
// one. Empty when there is none. Valid until the process ends.
Bytes vdso_image(void);

#endif // SYMBOLISE_VDSO_H
