// SPDX-License-Identifier: Apache-2.0
// The licences of the libraries in the executable.

#ifndef CLI_LICENSES_H
#define CLI_LICENSES_H

#include "base/str.h"

// The text of docs/licenses.txt.
Str licenses_text(void);

#endif // CLI_LICENSES_H
