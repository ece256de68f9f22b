// SPDX-License-Identifier: Apache-2.0
// Debug messages by domain, off unless asked for: ASSAY_DEBUG=elf,unwind:2.
// cli/ reads the variable and gives the sink; libraries never print themselves.

#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

typedef enum LogDomain {
    LOG_ELF,
    LOG_DWARF,
    LOG_UNWIND,
    LOG_SYMBOLISE,
    LOG_RECORD,
    LOG_RING,
    LOG_STORE,
    LOG_IMPORT,
    LOG_COVER,
    LOG_BENCH,
    LOG_DOMAIN_COUNT
} LogDomain;

typedef void (*LogSink)(void *ctx, Str line);

// `spec` is a list of domain[:level], "all" for every one. Unknown names are
// ignored and reported through the sink.
void log_init(Str spec, LogSink sink, void *ctx);

extern uint8_t log_levels[LOG_DOMAIN_COUNT];

#define log_enabled(domain, level) UNLIKELY(log_levels[domain] >= (level))
#define log_debug(domain, level, ...)                                                              \
    do {                                                                                           \
        if (log_enabled(domain, level))                                                            \
            log_write((domain), __VA_ARGS__);                                                      \
    } while (0)

void log_write(LogDomain domain, const char *fmt, ...) PRINTF_LIKE(2, 3) COLD;

#endif // BASE_LOG_H
