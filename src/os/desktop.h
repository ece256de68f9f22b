// SPDX-License-Identifier: Apache-2.0
// The user's desktop: whether there is one, and opening a file on it.

#ifndef OS_DESKTOP_H
#define OS_DESKTOP_H

#include "base/error.h"

// Starts the desktop's program for a file, which need not be absolute, and does not wait for it.
// `environment` is that of this process.
// ERROR_NOT_FOUND when the desktop has no such program.
MUST_CHECK bool os_desktop_open(Str path, char *const environment[], Error *err);

#endif // OS_DESKTOP_H
