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

// Switches domains on. `spec` is a comma-separated list of domain[:level]; "all" is every domain,
// a missing level is 1. Messages go to `sink` from then on. An unknown domain is ignored and
// reported through the sink.
void log_init(Str spec, LogSink sink, void *ctx);

// [domain]: the highest level that is printed; 0: none. Set by log_init only.
extern uint8_t log_levels[LOG_DOMAIN_COUNT];

#define log_enabled(domain, level) UNLIKELY(log_levels[domain] >= (level))
#define log_debug(domain, level, ...)                                                              \
    do {                                                                                           \
        if (log_enabled(domain, level))                                                            \
            log_write((domain), __VA_ARGS__);                                                      \
    } while (0)

// Gives "domain: text" to the sink, cut to 1023 bytes. Call log_debug, which formats nothing
// while the domain is off.
void log_write(LogDomain domain, const char *fmt, ...) PRINTF_LIKE(2, 3) COLD;

#endif // BASE_LOG_H
