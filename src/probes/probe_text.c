// SPDX-License-Identifier: Apache-2.0
// The words of a probe.

#include "probes/probe_text.h"

#include "os/file.h"

// The position of the first colon that is not half of "::"; SIZE_MAX: there is none.
static size_t find_colon(Str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != ':')
            continue;
        if (i + 1 < s.len && s.ptr[i + 1] == ':')
            i++;
        else
            return i;
    }
    return SIZE_MAX;
}

static bool is_number(Str s)
{
    uint64_t n;
    return str_parse_u64(s, 10, &n) && n > 0;
}

static bool is_source_name(Str s)
{
    static const char *const ends[] = {".c",   ".cc", ".cpp", ".cxx", ".C",   ".h",   ".hh",
                                       ".hpp", ".rs", ".go",  ".S",   ".inc", ".f90", ".d"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends_with(s, str_from_c(ends[i])))
            return true;
    return false;
}

static bool is_path(Str s)
{
    return str_starts_with(s, STR("/")) || str_starts_with(s, STR("./")) ||
           str_starts_with(s, STR("../"));
}

static bool is_library(Str s)
{
    return str_ends_with(s, STR(".so")) || str_find(s, STR(".so.")) != SIZE_MAX;
}

// "sdt_libc", which perf writes for markers of the provider libc.
static bool is_marker(Str s)
{
    return str_starts_with(s, STR("sdt_")) && s.len > 4;
}

// "probe_libc", the group in which perf puts a probe of libc.
static bool is_of_perf(Str s)
{
    return str_starts_with(s, STR("probe_")) && s.len > 6;
}

// Whether the kernel has an event of that name.
static bool is_event(Str tracefs, Str group, Str name)
{
    Arena scratch = {0};
    bool ok = tracefs.len &&
              os_file_exists(arena_printf(&scratch, "%" STR_FMT "/events/%" STR_FMT "/%" STR_FMT,
                                          STR_ARG(tracefs), STR_ARG(group), STR_ARG(name)));
    arena_deinit(&scratch);
    return ok;
}

static Str first_word(Str text)
{
    size_t space = str_find_char(text, ' ');
    return space == SIZE_MAX ? text : str_slice(text, 0, space);
}

bool probe_text_is(Str text, Str program, Str tracefs)
{
    Str point = first_word(str_trim(text));
    size_t colon = find_colon(point);
    Str head = colon == SIZE_MAX ? point : str_slice(point, 0, colon);
    if (str_ends_with(point, STR("%return")))
        return true;
    if (colon == SIZE_MAX && program.len && str_find(point, STR("::")) != SIZE_MAX)
        return true; // a function of C++ or Rust
    if (colon == SIZE_MAX)
        // Events of perf have no arguments; the only spaces stand behind commas.
        return point.len < str_trim(text).len && !str_ends_with(point, STR(","));
    Str tail = str_slice(point, colon + 1, point.len);
    if (head.len == 0)
        return tail.len > 0; // of the program, also where an event has the name
    if (is_of_perf(head) || is_marker(head))
        return !is_event(tracefs, head, tail);
    if (is_library(head) || (is_source_name(head) && is_number(tail)))
        return true;
    if (is_path(head))
        return tail.len > 0;
    return program.len && str_equal(head, str_base_name(program)) && tail.len > 0;
}

// ---- Parsing ---------------------------------------------------------------------------

static bool parse_marker(Str text, ProbeText *ret)
{
    Str head, tail;
    if (!str_split(text, ':', &head, &tail) || !is_marker(head))
        return false;
    ret->kind = PROBE_USDT;
    ret->provider = str_slice(head, 4, head.len);
    ret->name = tail;
    return true;
}

static bool parse_line(Str text, ProbeText *ret)
{
    size_t colon = str_find_last_char(text, ':');
    uint64_t line;
    if (colon == SIZE_MAX || colon == 0 ||
        !str_parse_u64(str_slice(text, colon + 1, text.len), 10, &line) || line == 0 ||
        line > UINT32_MAX)
        return false;
    ret->kind = PROBE_LINE;
    ret->name = str_slice(text, 0, colon);
    ret->line = (uint32_t)line;
    return true;
}

static bool parse_function(Str text, ProbeText *ret, Error *err)
{
    Str name = text, offset;
    size_t plus = str_find_last_char(text, '+');
    if (str_starts_with(text, STR("0x"))) {
        ret->kind = PROBE_ADDRESS;
        return str_parse_u64(text, 0, &ret->address) ||
               error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not an address", STR_ARG(text));
    }
    // Names of operators have a plus, too: "operator+".
    if (plus != SIZE_MAX && plus > 0 && plus + 1 < text.len) {
        offset = str_slice(text, plus + 1, text.len);
        if (str_parse_u64(offset, 0, &ret->offset))
            name = str_slice(text, 0, plus);
    }
    ret->kind = PROBE_FUNCTION;
    ret->name = name;
    return true;
}

// Takes the target off: the part up to the first colon, unless that belongs to "main.c:42" or
// "sdt_libc:setjmp".
static Str take_target(Str point, ProbeText *ret)
{
    size_t colon = find_colon(point);
    if (colon == SIZE_MAX || is_marker(str_slice(point, 0, colon)))
        return point;
    Str head = str_slice(point, 0, colon), tail = str_slice(point, colon + 1, point.len);
    if (is_source_name(head) && is_number(tail) && !is_path(head))
        return point;
    ret->target = is_of_perf(head) ? str_slice(head, 6, head.len) : head;
    return tail;
}

bool probe_text_parse(Arena *arena, Str text, ProbeText *ret, Error *err)
{
    ProbeText p = {0};
    Str rest = str_trim(text), word;
    if (str_starts_with(rest, STR(":")))
        rest = str_slice(rest, 1, rest.len);
    p.point = first_word(rest);
    rest = str_slice(rest, p.point.len, rest.len);
    while (str_next_part(&rest, ' ', &word))
        if (word.len)
            vec_push(arena, &p.args, word);
    Str point = p.point;
    if (str_ends_with(point, STR("%return"))) {
        p.is_return = true;
        point = str_slice(point, 0, point.len - 7);
    }
    point = take_target(point, &p);
    if (point.len == 0)
        return error_set(err, ERROR_USAGE,
                         "a probe needs a function or a line: '%" STR_FMT "' has none",
                         STR_ARG(text));
    if (!parse_marker(point, &p) && !parse_line(point, &p) && !parse_function(point, &p, err))
        return false;
    if (p.is_return && (p.kind != PROBE_FUNCTION || p.offset))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "': only a function returns",
                         STR_ARG(p.point));
    *ret = p;
    return true;
}
