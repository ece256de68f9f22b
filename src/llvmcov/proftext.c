// SPDX-License-Identifier: Apache-2.0
// Text profiles: directives, then records of lines.

#include "llvmcov/proftext.h"

#include "llvmcov/md5.h"

bool proftext_is(Bytes file)
{
    size_t look = MIN(file.len, (size_t)256);
    for (size_t i = 0; i < look; i++)
        if (file.ptr[i] < 0x20 && file.ptr[i] != '\n' && file.ptr[i] != '\r' && file.ptr[i] != '\t')
            return false;
    Str rest = str_from_bytes(file), line;
    // A directive, or a name, a hash and a count.
    for (unsigned values = 0, name = 0; str_next_line(&rest, &line);) {
        line = str_trim(line);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (line.ptr[0] == ':' && !name)
            return str_find_char(line, ' ') == SIZE_MAX;
        if (!name) {
            name = 1;
            continue;
        }
        uint64_t number;
        if (!str_parse_u64(line, 0, &number))
            return false;
        if (++values == 2)
            return true;
    }
    return false;
}

// The next line that says something, trimmed. False at the end.
static bool next_line(ProfText *p, Str *ret)
{
    Str line;
    while (str_next_line(&p->rest, &line)) {
        p->line++;
        line = str_trim(line);
        if (line.len && line.ptr[0] != '#') {
            *ret = line;
            return true;
        }
    }
    return false;
}

static bool read_directives(ProfText *p, Error *err)
{
    static const struct {
        Str name;
        uint64_t variant;
    } directives[] = {
        {STR_INIT(":fe"), 0},
        {STR_INIT(":ir"), PROF_VARIANT_IR},
        {STR_INIT(":csir"), PROF_VARIANT_IR | PROF_VARIANT_CS_IR},
        {STR_INIT(":entry_first"), PROF_VARIANT_ENTRY_FIRST},
        {STR_INIT(":not_entry_first"), 0},
        {STR_INIT(":single_byte_coverage"), PROF_VARIANT_BYTE_COVERAGE},
    };
    for (;;) {
        ProfText before = *p;
        Str line;
        if (!next_line(p, &line))
            return true;
        if (line.ptr[0] != ':') {
            *p = before;
            return true;
        }
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(directives); i++) {
            if (str_equal(line, directives[i].name)) {
                p->variant |= directives[i].variant;
                known = true;
            }
        }
        if (!known)
            return error_set(err, ERROR_UNSUPPORTED,
                             "text profile: line %llu: directive '%" STR_FMT "' is not known",
                             (unsigned long long)p->line, STR_ARG(line));
    }
}

bool proftext_open(Bytes file, ProfText *ret, Error *err)
{
    ProfText p = {.rest = str_from_bytes(file)};
    if (!read_directives(&p, err))
        return false;
    *ret = p;
    return true;
}

void proftext_close(ProfText *p)
{
    vec_free(&p->counters);
    vec_free(&p->bitmap);
}

static bool broken(const ProfText *p, const char *what, Error *err)
{
    return error_set(err, ERROR_FORMAT, "text profile: line %llu: %s", (unsigned long long)p->line,
                     what);
}

static bool next_number(ProfText *p, const char *what, uint64_t *ret, Error *err)
{
    Str line;
    if (!next_line(p, &line) || !str_parse_u64(line, 0, ret))
        return broken(p, what, err);
    return true;
}

static bool read_bitmap(ProfText *p, Error *err)
{
    p->bitmap.len = 0;
    ProfText before = *p;
    Str line;
    if (!next_line(p, &line) || line.ptr[0] != '$') {
        before.counters = p->counters;
        before.bitmap = p->bitmap;
        *p = before;
        return true;
    }
    uint64_t count, byte;
    if (!str_parse_u64(str_slice(line, 1, line.len), 10, &count))
        return broken(p, "no count of bitmap bytes behind '$'", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!next_number(p, "a byte of the bitmap is missing", &byte, err))
            return false;
        if (byte > 255)
            return broken(p, "a byte of the bitmap is more than 255", err);
        vec_push(NULL, &p->bitmap, (uint8_t)byte);
    }
    return true;
}

// Value profiles: a number of kinds, then for each its number, its sites, and for
// each site a count of "target:count" lines. A record without them is followed by
// a name, which is no number.
static bool skip_values(ProfText *p, bool *has, Error *err)
{
    ProfText before = *p;
    Str line;
    uint64_t kinds, kind, sites, values;
    *has = false;
    if (!next_line(p, &line) || !str_parse_u64(line, 10, &kinds)) {
        p->rest = before.rest;
        p->line = before.line;
        return true;
    }
    *has = kinds != 0;
    for (uint64_t k = 0; k < kinds; k++) {
        if (!next_number(p, "the kind of a value profile is missing", &kind, err) ||
            !next_number(p, "the sites of a value profile are missing", &sites, err))
            return false;
        for (uint64_t s = 0; s < sites; s++) {
            if (!next_number(p, "the values of a site are missing", &values, err))
                return false;
            for (uint64_t i = 0; i < values; i++)
                if (!next_line(p, &line) || str_find_last_char(line, ':') == SIZE_MAX)
                    return broken(p, "a value is missing", err);
        }
    }
    return true;
}

bool proftext_next(ProfText *p, ProfRecord *ret, Error *err)
{
    *err = (Error){0};
    ProfRecord r = {.counter_size = 8};
    uint64_t count, value;
    if (!next_line(p, &r.name))
        return false;
    if (!next_number(p, "the function's hash is missing", &r.hash, err) ||
        !next_number(p, "the number of counters is missing", &count, err))
        return false;
    if (count > p->rest.len)
        return broken(p, "more counters than the text has lines", err);
    p->counters.len = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!next_number(p, "a counter is missing", &value, err))
            return false;
        vec_push(NULL, &p->counters, value);
    }
    if (!read_bitmap(p, err) || !skip_values(p, &r.has_values, err))
        return false;
    r.name_ref = md5_low64(bytes_from_str(r.name));
    r.counter_count = (uint32_t)count;
    r.counters = bytes_over(p->counters.at, p->counters.len * 8);
    r.bitmap_stride = 1;
    r.bitmap = bytes_over(p->bitmap.at, p->bitmap.len);
    *ret = r;
    return true;
}

void proftext_write_header(StrBuf *out, uint64_t variant)
{
    if (variant & PROF_VARIANT_CS_IR)
        strbuf_add(out, STR("# CSIR level Instrumentation Flag\n:csir\n"));
    else if (variant & PROF_VARIANT_IR)
        strbuf_add(out, STR("# IR level Instrumentation Flag\n:ir\n"));
    if (variant & PROF_VARIANT_ENTRY_FIRST)
        strbuf_add(out, STR("# Always instrument the function entry block\n:entry_first\n"));
    if (variant & PROF_VARIANT_BYTE_COVERAGE)
        strbuf_add(out, STR("# Instrument block coverage\n:single_byte_coverage\n"));
}

void proftext_write(StrBuf *out, Str name, uint64_t hash, const uint64_t *counters, size_t count,
                    Bytes bitmap)
{
    strbuf_add(out, name);
    strbuf_add(out, STR("\n# Func Hash:\n"));
    strbuf_add_u64(out, hash);
    strbuf_add(out, STR("\n# Num Counters:\n"));
    strbuf_add_u64(out, count);
    strbuf_add(out, STR("\n# Counter Values:\n"));
    for (size_t i = 0; i < count; i++) {
        strbuf_add_u64(out, counters[i]);
        strbuf_add_char(out, '\n');
    }
    if (bitmap.len) {
        strbuf_printf(out, "# Num Bitmap Bytes:\n$%zu\n# Bitmap Byte Values:\n", bitmap.len);
        for (size_t i = 0; i < bitmap.len; i++)
            strbuf_printf(out, "0x%x\n", bitmap.ptr[i]);
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
}
