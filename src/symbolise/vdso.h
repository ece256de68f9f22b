// SPDX-License-Identifier: Apache-2.0
// The vdso: code that the kernel maps into every process, without a file.

#ifndef SYMBOLISE_VDSO_H
#define SYMBOLISE_VDSO_H

#include "base/str.h"

// The image in this process, which is that of every process of the same kind on
// this kernel. Empty when there is none. Lives as long as the process.
Bytes vdso_image(void);

#endif // SYMBOLISE_VDSO_H
