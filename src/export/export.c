// SPDX-License-Identifier: Apache-2.0
// The table of formats.

#include "export/export.h"

#include "export/export_internal.h"
#include "export/formats_internal.h"

#define FORMAT_ROW(write, name, extension, flags, summary)                                         \
    {name,                                                                                         \
     extension,                                                                                    \
     summary,                                                                                      \
     ((flags)&EXPORT_BINARY) != 0,                                                                 \
     ((flags)&EXPORT_RUNS) != 0,                                                                   \
     ((flags)&EXPORT_LINES) != 0,                                                                  \
     ((flags)&EXPORT_CALLS) != 0,                                                                  \
     ((flags)&EXPORT_WAITS) != 0,                                                                  \
     ((flags)&EXPORT_TEXTS) != 0,                                                                  \
     ((flags)&EXPORT_COUNTS) != 0,                                                                 \
     ((flags)&EXPORT_COVER) != 0,                                                                  \
     ((flags)&EXPORT_TIMED) != 0,                                                                  \
     ((flags)&EXPORT_FOLDER) != 0,                                                                 \
     write},
const ExportFormat export_formats[] = {EXPORT_FORMATS(FORMAT_ROW)};
const size_t export_format_count = ARRAY_LEN(export_formats);
