// SPDX-License-Identifier: Apache-2.0
// lcov's tracefiles (.info), of lcov 1.x and 2.x.
// Document: lcov, man geninfo(1), "FILES".

#include "tracefile/tracefile.h"

#include <math.h>

// A function's place, from FNL, which FNA refers to by number.
typedef struct Place {
    uint64_t index;
    uint32_t line, end_line;
} Place;

typedef struct Reader {
    CoverSet *set;
    CoverSetFile file; // the present section; its lists are the heap's
    bool in_section;
    Vec(Place) places; // heap
    Str line;          // what is left of the present line
    uint64_t line_number;
    const char *bad; // what is wrong with it
} Reader;

// The first reason stands.
static void fail(Reader *r, const char *why)
{
    if (!r->bad)
        r->bad = why;
}

// The next part, up to a comma.
static Str take_part(Reader *r)
{
    Str part = {0};
    if (!str_next_part(&r->line, ',', &part))
        fail(r, "a field is missing");
    return part;
}

static uint64_t parse_number(Reader *r, Str text)
{
    uint64_t v = 0;
    if (!str_parse_u64(text, 10, &v))
        fail(r, "a number was expected");
    return v;
}

static uint32_t take_u32(Reader *r)
{
    uint64_t v = parse_number(r, take_part(r));
    if (v > UINT32_MAX)
        fail(r, "a number is too large");
    return (uint32_t)v;
}

// Some tools write counts below zero, with a fraction, or in scientific form.
static uint64_t parse_count(Reader *r, Str text)
{
    uint64_t v;
    double d;
    if (str_parse_u64(text, 10, &v))
        return v;
    if (!str_parse_double(text, &d) || isnan(d)) {
        fail(r, "a count was expected");
        return 0;
    }
    if (d < 0) {
        r->set->clamped++;
        return 0;
    }
    return d >= 0x1p64 ? UINT64_MAX : (uint64_t)d;
}

static bool is_number(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

// ---- Records -----------------------------------------------------------------

static Str keep_text(Reader *r, Str text)
{
    return cover_set_text(r->set, text);
}

static void read_line(Reader *r)
{
    uint32_t line = take_u32(r);
    uint64_t count = parse_count(r, take_part(r));
    // A checksum of the line's text may follow.
    vec_push(NULL, &r->file.lines, (CoverSetLine){line, count});
}

// FN:<line>,[<end line>,]<name>
static void read_function(Reader *r)
{
    CoverSetFunction f = {.line = take_u32(r)};
    size_t comma = str_find_char(r->line, ',');
    if (comma != SIZE_MAX && is_number(str_slice(r->line, 0, comma)))
        f.end_line = take_u32(r);
    f.name = keep_text(r, r->line);
    vec_push(NULL, &r->file.functions, f);
}

// FNDA:<count>,<name>
static void read_function_count(Reader *r)
{
    CoverSetFunction f = {.count = parse_count(r, take_part(r))};
    f.name = keep_text(r, r->line);
    vec_push(NULL, &r->file.functions, f);
}

// FNL:<index>,<line>[,<end line>]
static void read_place(Reader *r)
{
    Place p = {.index = parse_number(r, take_part(r))};
    p.line = take_u32(r);
    if (r->line.len)
        p.end_line = take_u32(r);
    vec_push(NULL, &r->places, p);
}

// FNA:<index>,<count>,<name>; one place can have several names.
static void read_alias(Reader *r)
{
    uint64_t index = parse_number(r, take_part(r));
    CoverSetFunction f = {.count = parse_count(r, take_part(r))};
    f.name = keep_text(r, r->line);
    // Indexes count up from 0 or 1 and come in order; anything else is searched.
    size_t at = SIZE_MAX;
    for (uint64_t back = 0; back < 2 && at == SIZE_MAX; back++)
        if (index - back < r->places.len && r->places.at[index - back].index == index)
            at = index - back;
    if (at == SIZE_MAX && r->places.len && vec_last(&r->places).index == index)
        at = r->places.len - 1;
    if (at == SIZE_MAX) {
        fail(r, "its index has no FNL record");
        return;
    }
    f.line = r->places.at[at].line;
    f.end_line = r->places.at[at].end_line;
    vec_push(NULL, &r->file.functions, f);
}

// BRDA:<line>,[e|f|u]<block>,<branch or expression>,<count or '-'>; 'e' marks
// branches taken by throwing.
static void read_branch(Reader *r)
{
    CoverSetBranch b = {.line = take_u32(r)};
    Str block = take_part(r);
    while (block.len && (block.ptr[0] == 'e' || block.ptr[0] == 'f' || block.ptr[0] == 'u')) {
        b.is_exception |= block.ptr[0] == 'e';
        block = str_slice(block, 1, block.len);
    }
    uint64_t number = parse_number(r, block);
    size_t comma = str_find_last_char(r->line, ',');
    if (comma == SIZE_MAX || number > UINT32_MAX) {
        fail(r, "a field is missing");
        return;
    }
    b.block = (uint32_t)number;
    Str branch = str_slice(r->line, 0, comma), taken = str_slice(r->line, comma + 1, r->line.len);
    if (is_number(branch) && str_parse_u64(branch, 10, &number) && number <= UINT32_MAX)
        b.branch = (uint32_t)number;
    else
        b.expression = keep_text(r, branch);
    b.is_reached = !str_equal(taken, STR("-"));
    b.count = b.is_reached ? parse_count(r, taken) : 0;
    vec_push(NULL, &r->file.branches, b);
}

// MCDC:<line>,<group size>,<t|f>,<count>,<index>,<expression>
static void read_condition(Reader *r)
{
    CoverSetCondition c = {.line = take_u32(r), .group = take_u32(r)};
    Str sense = take_part(r);
    if (!str_equal(sense, STR("t")) && !str_equal(sense, STR("f")))
        fail(r, "its sense is neither t nor f");
    c.sense = str_equal(sense, STR("t"));
    c.count = parse_count(r, take_part(r));
    c.index = take_u32(r);
    c.expression = keep_text(r, r->line);
    vec_push(NULL, &r->file.conditions, c);
}

static void begin_section(Reader *r)
{
    if (r->in_section)
        fail(r, "the section before has no end_of_record");
    r->in_section = true;
    r->file.path = keep_text(r, r->line);
}

static void clear_section(Reader *r)
{
    r->file.lines.len = r->file.branches.len = 0;
    r->file.functions.len = r->file.conditions.len = 0;
    r->places.len = 0;
    r->in_section = false;
}

static void end_section(Reader *r)
{
    if (!r->in_section)
        fail(r, "no section to end");
    cover_set_file_normalise(&r->file);
    CoverSetFile *into = cover_set_file(r->set, r->file.path);
    cover_set_file_add(r->set->arena, into, &r->file);
    clear_section(r);
}

static void skip(Reader *r)
{
    (void)r;
}

static void read_test_name(Reader *r)
{
    r->set->is_hits |= str_equal(str_trim(r->line), STR(TRACEFILE_HITS));
}

// ---- Lines -------------------------------------------------------------------

static const struct {
    const char *key;
    void (*read)(Reader *r);
    bool outside; // may stand outside of a section
} records[] = {
    {"DA", read_line, false},
    {"BRDA", read_branch, false},
    {"FN", read_function, false},
    {"FNDA", read_function_count, false},
    {"FNL", read_place, false},
    {"FNA", read_alias, false},
    {"MCDC", read_condition, false},
    {"SF", begin_section, true},
    {"TN", read_test_name, true},
    {"VER", skip, false},
    {"FNF", skip, false},
    {"FNH", skip, false},
    {"BRF", skip, false},
    {"BRH", skip, false},
    {"LF", skip, false},
    {"LH", skip, false},
    {"MCF", skip, false},
    {"MCH", skip, false},
    {"MRF", skip, false},
    {"MRH", skip, false},
};

static void read_record(Reader *r)
{
    if (str_equal(str_trim(r->line), STR("end_of_record"))) {
        end_section(r);
        return;
    }
    Str key, rest;
    if (!str_split(r->line, ':', &key, &rest)) {
        fail(r, "no record");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        if (!str_equal(key, str_from_c(records[i].key)))
            continue;
        if (!r->in_section && !records[i].outside)
            fail(r, "it stands outside of any section");
        r->line = rest;
        records[i].read(r);
        return;
    }
    fail(r, "its kind is not known");
}

bool tracefile_read_lcov(CoverSet *into, Bytes file, Error *err)
{
    Reader r = {.set = into};
    Str rest = str_from_bytes(file), line = {0};
    while (!r.bad && str_next_line(&rest, &line)) {
        r.line_number++;
        r.line = line;
        if (line.len && line.ptr[0] != '#')
            read_record(&r);
    }
    // A last line that is cut is no broken one.
    if (r.bad && rest.len == 0 && file.ptr[file.len - 1] != '\n' && r.in_section)
        r.bad = NULL;
    if (!r.bad && r.in_section)
        vec_push(into->arena, &into->notes,
                 arena_printf(into->arena,
                              "the file ends within the section of '%" STR_FMT
                              "', which is left out",
                              STR_ARG(r.file.path)));
    vec_free(&r.file.lines);
    vec_free(&r.file.branches);
    vec_free(&r.file.functions);
    vec_free(&r.file.conditions);
    vec_free(&r.places);
    if (!r.bad)
        return true;
    error_set(err, ERROR_FORMAT, "line %llu, '%" STR_FMT "': %s", (unsigned long long)r.line_number,
              STR_ARG(str_slice(line, 0, 80)), r.bad);
    return str_equal(str_from_c(r.bad), STR("its kind is not known"))
               ? error_hint(err,
                            "records of lcov 1.x and 2.x are known; the tool that wrote it, or "
                            "a newer lcov, reads it")
               : false;
}
