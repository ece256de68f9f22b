// SPDX-License-Identifier: Apache-2.0
// Debug messages by domain.

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

uint8_t log_levels[LOG_DOMAIN_COUNT];

static const char *const domain_names[LOG_DOMAIN_COUNT] = {
    [LOG_ELF] = "elf",       [LOG_DWARF] = "dwarf",   [LOG_UNWIND] = "unwind",
    [LOG_RECORD] = "record", [LOG_RING] = "ring",     [LOG_SYMBOLISE] = "symbolise",
    [LOG_STORE] = "store",   [LOG_IMPORT] = "import", [LOG_COVER] = "cover",
    [LOG_BENCH] = "bench",
};

static LogSink log_sink;
static void *log_sink_ctx;

static void emit(const char *text)
{
    if (log_sink)
        log_sink(log_sink_ctx, str_from_c(text));
}

static void set_level(Str name, uint8_t level)
{
    bool known = str_equal(name, STR("all"));
    for (size_t i = 0; i < LOG_DOMAIN_COUNT; i++) {
        if (str_equal(name, STR("all")) || str_equal(name, str_from_c(domain_names[i]))) {
            log_levels[i] = level;
            known = true;
        }
    }
    if (!known) {
        char text[128];
        snprintf(text, sizeof(text), "debug: no domain '%" STR_FMT "'",
                 STR_ARG(str_slice(name, 0, 64)));
        emit(text);
    }
}

void log_init(Str spec, LogSink sink, void *ctx)
{
    log_sink = sink;
    log_sink_ctx = ctx;
    Str part;
    while (str_next_part(&spec, ',', &part)) {
        Str name = part;
        Str level_text;
        uint64_t level = 1;
        if (str_split(part, ':', &name, &level_text) && !str_parse_u64(level_text, 10, &level))
            level = 1;
        set_level(name, (uint8_t)MIN(level, (uint64_t)9));
    }
}

void log_write(LogDomain domain, const char *fmt, ...)
{
    char text[1024];
    int at = snprintf(text, sizeof(text), "%s: ", domain_names[domain]);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + at, sizeof(text) - (size_t)at, fmt, args);
    va_end(args);
    emit(text);
}
