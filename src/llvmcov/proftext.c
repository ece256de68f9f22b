// SPDX-License-Identifier: Apache-2.0
// Text profiles: reads and writes directives and records of lines.

#include "llvmcov/proftext.h"

#include <strings.h>

#include "base/md5.h"

bool proftext_is(Bytes file)
{
    size_t look = MIN(file.len, (size_t)256);
    for (size_t i = 0; i < look; i++)
        if (file.ptr[i] < 0x20 && file.ptr[i] != '\n' && file.ptr[i] != '\r' && file.ptr[i] != '\t')
            return false;
    Str rest = str_from_bytes(file), line;
    // The text starts with a directive, or with a name, a hash and a count.
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

// The next line that is not empty or a comment, trimmed. False at the end.
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

static bool broken(const ProfText *p, const char *what, Error *err)
{
    return error_set(err, ERROR_FORMAT, "text profile: line %llu: %s", (unsigned long long)p->line,
                     what);
}

// The bases of numbers are those of LLVM's reader: 0 also takes "0x…".
enum { DECIMAL = 10, DECIMAL_OR_HEX = 0 };

// Reads a line that is a number. `what` names it for the messages.
static bool next_number(ProfText *p, int base, const char *what, uint64_t *ret, Error *err)
{
    Str line;
    if (!next_line(p, &line))
        return error_set(err, ERROR_FORMAT, "text profile: line %llu: the text ends before %s",
                         (unsigned long long)p->line, what);
    if (!str_parse_u64(line, base, ret))
        return error_set(err, ERROR_FORMAT, "text profile: line %llu: '%.*s' is not %s",
                         (unsigned long long)p->line, (int)MIN(line.len, (size_t)64), line.ptr,
                         what);
    return true;
}

// Reads a number of traces, the number of those seen, and for each trace its weight and a line of
// functions in the order in which they first ran.
static bool read_traces(ProfText *p, Error *err)
{
    uint64_t count, seen;
    if (!next_number(p, DECIMAL_OR_HEX, "a number of temporal traces", &count, err) ||
        !next_number(p, DECIMAL_OR_HEX, "a number of temporal traces seen", &seen, err))
        return false;
    p->traces_seen = seen > UINT64_MAX - p->traces_seen ? UINT64_MAX : p->traces_seen + seen;
    for (uint64_t i = 0; i < count; i++) {
        ProfTextTrace trace;
        if (!next_number(p, DECIMAL_OR_HEX, "the weight of a temporal trace", &trace.weight, err))
            return false;
        if (!next_line(p, &trace.functions))
            return broken(p, "the functions of a temporal trace are missing", err);
        vec_push(NULL, &p->traces, trace);
    }
    return true;
}

// LLVM takes directives in capitals too.
static bool is_directive(Str line, Str name)
{
    return line.len == name.len && strncasecmp(line.ptr, name.ptr, name.len) == 0;
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
        {STR_INIT(":instrument_loop_entries"), PROF_VARIANT_LOOP_ENTRIES},
        {STR_INIT(":single_byte_coverage"), PROF_VARIANT_BYTE_COVERAGE},
        {STR_INIT(":temporal_prof_traces"), PROF_VARIANT_TEMPORAL},
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
            if (is_directive(line, directives[i].name)) {
                p->variant |= directives[i].variant;
                known = true;
            }
        }
        if (!known) {
            error_set(err, ERROR_UNSUPPORTED,
                      "text profile: line %llu: directive '%" STR_FMT "' is not known",
                      (unsigned long long)p->line, STR_ARG(line));
            return error_hint(err,
                              "written by an LLVM newer than 23, whose llvm-profdata reads it");
        }
        if (is_directive(line, STR(":temporal_prof_traces")) && !read_traces(p, err))
            return false;
    }
}

bool proftext_open(Bytes file, ProfText *ret, Error *err)
{
    ProfText p = {.rest = str_from_bytes(file)};
    if (!read_directives(&p, err)) {
        proftext_close(&p);
        return false;
    }
    *ret = p;
    return true;
}

void proftext_close(ProfText *p)
{
    vec_free(&p->counters);
    vec_free(&p->bitmap);
    for (size_t k = 0; k < PROF_VALUE_KINDS; k++) {
        vec_free(&p->value_lengths[k]);
        vec_free(&p->values[k]);
    }
    strbuf_deinit(&p->value_block);
    vec_free(&p->vtables);
    vec_free(&p->traces);
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
    if (!str_parse_u64(str_trim(str_slice(line, 1, line.len)), 0, &count))
        return broken(p, "no count of bitmap bytes behind '$'", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!next_number(p, DECIMAL_OR_HEX, "a byte of the bitmap", &byte, err))
            return false;
        if (byte > 255)
            return broken(p, "a byte of the bitmap is more than 255", err);
        vec_push(NULL, &p->bitmap, (uint8_t)byte);
    }
    return true;
}

// ---- Value profiles ----------------------------------------------------------

static const Str external_symbol = STR_INIT("** External Symbol **");

// Reads "target:count"; the target is a name or a number.
static bool read_value(ProfText *p, uint64_t kind, Error *err)
{
    Str line;
    size_t colon = SIZE_MAX;
    ProfValue v = {0};
    if (next_line(p, &line))
        colon = str_find_last_char(line, ':');
    if (colon == SIZE_MAX ||
        !str_parse_u64(str_trim(str_slice(line, colon + 1, line.len)), 10, &v.count))
        return broken(p, "a value is missing", err);
    Str target = str_trim(str_slice(line, 0, colon));
    if (kind == PROF_VALUE_MEM_SIZE) {
        if (!str_parse_u64(target, 10, &v.value))
            return broken(p, "the size of a value is not a number", err);
    } else if (!str_equal(target, external_symbol)) {
        v.value = md5_low64(bytes_from_str(target));
        if (kind == PROF_VALUE_VTABLE)
            vec_push(NULL, &p->vtables, target);
    }
    vec_push(NULL, &p->values[kind], v);
    return true;
}

static bool read_value_site(ProfText *p, uint64_t kind, Error *err)
{
    uint64_t count;
    size_t first = p->values[kind].len;
    if (!next_number(p, DECIMAL, "the number of values of a site", &count, err))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!read_value(p, kind, err))
            return false;
    // A text may have more values than LLVM keeps.
    if (count > PROF_VALUES_PER_SITE_MAX) {
        count = prof_values_keep_largest(p->values[kind].at + first, count);
        p->values[kind].len = first + count;
    }
    vec_push(NULL, &p->value_lengths[kind], (uint8_t)count);
    return true;
}

static bool read_value_kind(ProfText *p, Error *err)
{
    uint64_t kind, sites;
    if (!next_number(p, DECIMAL, "the kind of a value profile", &kind, err) ||
        !next_number(p, DECIMAL, "the number of sites of a value profile", &sites, err))
        return false;
    if (kind >= PROF_VALUE_KINDS)
        return error_set(err, ERROR_FORMAT,
                         "text profile: line %llu: unknown kind of a value profile: %llu",
                         (unsigned long long)p->line, (unsigned long long)kind);
    if (p->value_lengths[kind].len)
        return broken(p, "a kind of value profile stands twice", err);
    for (uint64_t i = 0; i < sites; i++)
        if (!read_value_site(p, kind, err))
            return false;
    return true;
}

static void build_value_block(ProfText *p)
{
    uint32_t counts[PROF_VALUE_KINDS];
    Vec(ProfValueSite) sites = {0};
    for (size_t k = 0; k < PROF_VALUE_KINDS; k++) {
        size_t at = 0;
        counts[k] = (uint32_t)p->value_lengths[k].len;
        vec_reserve(NULL, &p->values[k], 1); // so that the pointer is valid also without values
        for (size_t i = 0; i < counts[k]; i++) {
            uint32_t len = p->value_lengths[k].at[i];
            vec_push(NULL, &sites, (ProfValueSite){p->values[k].at + at, len});
            at += len;
        }
    }
    strbuf_clear(&p->value_block);
    prof_values_write(&p->value_block, counts, sites.at);
    vec_free(&sites);
}

// Reads value profiles: the number of kinds, then for each its number, its number of sites, and for
// each site a count of "target:count" lines. After a record without them comes a name, which is no
// number.
static bool read_values(ProfText *p, Bytes *ret, Error *err)
{
    Str rest = p->rest, line;
    uint64_t at = p->line, kinds;
    *ret = (Bytes){0};
    if (!next_line(p, &line) || !str_parse_u64(line, 10, &kinds)) {
        p->rest = rest;
        p->line = at;
        return true;
    }
    for (size_t k = 0; k < PROF_VALUE_KINDS; k++)
        p->value_lengths[k].len = p->values[k].len = 0;
    for (uint64_t k = 0; k < kinds; k++)
        if (!read_value_kind(p, err))
            return false;
    build_value_block(p);
    *ret = bytes_from_str(strbuf_str(&p->value_block));
    return true;
}

bool proftext_next(ProfText *p, ProfRecord *ret, Error *err)
{
    *err = (Error){0};
    ProfRecord r = {.counter_size = 8};
    uint64_t count, value;
    if (!next_line(p, &r.name))
        return false;
    if (!next_number(p, DECIMAL_OR_HEX, "the hash of a function", &r.hash, err) ||
        !next_number(p, DECIMAL, "a number of counters", &count, err))
        return false;
    if (count == 0)
        return broken(p, "a function without counters", err);
    if (count > p->rest.len)
        return broken(p, "more counters than the text has lines", err);
    p->counters.len = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!next_number(p, DECIMAL, "a counter", &value, err))
            return false;
        vec_push(NULL, &p->counters, value);
    }
    if (!read_bitmap(p, err) || !read_values(p, &r.values, err))
        return false;
    r.name_ref = p->refs_later ? 0 : md5_low64(bytes_from_str(r.name));
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
    if (variant & PROF_VARIANT_LOOP_ENTRIES)
        strbuf_add(out, STR("# Always instrument the loop entry blocks\n"
                            ":instrument_loop_entries\n"));
    if (variant & PROF_VARIANT_BYTE_COVERAGE)
        strbuf_add(out, STR("# Instrument block coverage\n:single_byte_coverage\n"));
}

void proftext_write_traces(StrBuf *out, const ProfTrace *traces, size_t count, uint64_t seen,
                           ProfNameOf *name_of, const void *ctx)
{
    strbuf_printf(out,
                  ":temporal_prof_traces\n# Num Temporal Profile Traces:\n%zu\n"
                  "# Temporal Profile Trace Stream Size:\n%llu\n",
                  count, (unsigned long long)seen);
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "# Weight:\n%llu\n", (unsigned long long)traces[i].weight);
        for (size_t k = 0; k < traces[i].count; k++) {
            Str name = name_of(ctx, PROF_VALUE_CALL_TARGET, traces[i].refs[k]);
            if (name.len == 0)
                continue;
            strbuf_add(out, name);
            strbuf_add_char(out, ',');
        }
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
}

static void write_site(StrBuf *out, const ProfValues *v, ProfValueKindId id, size_t first,
                       size_t len, ProfNameOf *name_of, const void *ctx)
{
    strbuf_add_u64(out, len);
    strbuf_add_char(out, '\n');
    for (size_t i = 0; i < len; i++) {
        ProfValue value = prof_value_get(v, &v->kinds[id], first + i);
        if (id == PROF_VALUE_MEM_SIZE) {
            strbuf_add_u64(out, value.value);
        } else {
            Str name = value.value ? name_of(ctx, id, value.value) : (Str){0};
            strbuf_add(out, name.len ? name : external_symbol);
        }
        strbuf_add_char(out, ':');
        strbuf_add_u64(out, value.count);
        strbuf_add_char(out, '\n');
    }
}

static void write_values(StrBuf *out, Bytes block, ProfNameOf *name_of, const void *ctx)
{
    static const char *const names[PROF_VALUE_KINDS] = {"IPVK_IndirectCallTarget", "IPVK_MemOPSize",
                                                        "IPVK_VTableTarget"};
    ProfValues v;
    Cursor c = cursor_over(block, "value profile");
    prof_values_parse(&c, &v);
    unsigned kinds = 0;
    for (unsigned k = 0; k < PROF_VALUE_KINDS; k++)
        kinds += v.kinds[k].site_count != 0;
    strbuf_printf(out, "# Num Value Kinds:\n%u\n", kinds);
    for (unsigned k = 0; k < PROF_VALUE_KINDS; k++) {
        const ProfValueKind *kind = &v.kinds[k];
        if (kind->site_count == 0)
            continue;
        strbuf_printf(out, "# ValueKind = %s:\n%u\n# NumValueSites:\n%u\n", names[k], k,
                      kind->site_count);
        size_t first = 0;
        for (uint32_t i = 0; i < kind->site_count; i++) {
            write_site(out, &v, (ProfValueKindId)k, first, kind->lengths[i], name_of, ctx);
            first += kind->lengths[i];
        }
    }
}

void proftext_write(StrBuf *out, const ProfDataRow *row, ProfNameOf *name_of, const void *ctx)
{
    strbuf_add(out, row->name);
    strbuf_add(out, STR("\n# Func Hash:\n"));
    strbuf_add_u64(out, row->hash);
    strbuf_add(out, STR("\n# Num Counters:\n"));
    strbuf_add_u64(out, row->counter_count);
    strbuf_add(out, STR("\n# Counter Values:\n"));
    for (size_t i = 0; i < row->counter_count; i++) {
        strbuf_add_u64(out, row->counters[i]);
        strbuf_add_char(out, '\n');
    }
    if (row->bitmap.len) {
        strbuf_printf(out, "# Num Bitmap Bytes:\n$%zu\n# Bitmap Byte Values:\n", row->bitmap.len);
        for (size_t i = 0; i < row->bitmap.len; i++)
            strbuf_printf(out, "0x%x\n", row->bitmap.ptr[i]);
        strbuf_add_char(out, '\n');
    }
    if (row->values.len)
        write_values(out, row->values, name_of, ctx);
    strbuf_add_char(out, '\n');
}
