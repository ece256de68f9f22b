// SPDX-License-Identifier: Apache-2.0
// The licences of the libraries in the executable.

#include "cli/licenses.h"

#include <licenses_path.h> // made by the build

#include "base/embed.h"

EMBED(licenses, LICENSES_PATH);

Str licenses_text(void)
{
    return (Str){.ptr = (const char *)licenses_start,
                 .len = (size_t)(licenses_end - licenses_start)};
}
