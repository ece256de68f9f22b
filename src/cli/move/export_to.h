// SPDX-License-Identifier: Apache-2.0
// assay export --to URL: sends a recording to an OpenTelemetry Collector or to Pyroscope.

#ifndef CLI_MOVE_EXPORT_TO_H
#define CLI_MOVE_EXPORT_TO_H

#include "cli/option.h"
#include "export/export.h"

typedef struct SendOptions {
    Str url, spool, ca_file;
    uint64_t spool_bytes;
    int64_t retry_for_ns;
} SendOptions;

enum { SPOOL_DEFAULT_BYTES = 64 << 20 };
#define RETRY_FOR_DEFAULT_NS INT64_C(30000000000)

// For an option table; `field` is a SendOptions in the options struct S.
#define SEND_OPTIONS(S, field)                                                                     \
    OPT_TEXT(0, "to", S, field.url, "URL",                                                         \
             "send it to a collector of OpenTelemetry (otlp), or to Pyroscope (pprof)"),           \
        OPT_DURATION(0, "retry-for", S, field.retry_for_ns, "TIME",                                \
                     "--to: how long to try again while the server is unavailable (default 30s)"), \
        OPT_TEXT(0, "spool", S, field.spool, "DIR",                                                \
                 "--to: keep the recording in DIR until the server accepts it; DIR's older "       \
                 "recordings are sent "                                                            \
                 "first"),                                                                         \
        OPT_SIZE(0, "spool-size", S, field.spool_bytes, "SIZE",                                    \
                 "--to: greatest size of the spool; the oldest recordings are removed first "      \
                 "(default 64M)"),                                                                 \
        OPT_TEXT(0, "cacert", S, field.ca_file, "FILE",                                            \
                 "--to: trust the certificate authorities in FILE")

// The format that --to sends when the user names none: otlp.
const ExportFormat *send_default_format(void);

// Writes the profile in the format and sends it. Tokens and headers come from the environment.
// Returns the exit status.
int export_send(const SendOptions *o, const ExportFormat *format, const Profile *p,
                const ExportRequest *request);

#endif // CLI_MOVE_EXPORT_TO_H
