// SPDX-License-Identifier: Apache-2.0
// Stacks that DTrace has aggregated, @[ustack()] = count() -> Profile.
// Reference: Dynamic Tracing Guide, "Aggregations" and "User Process Tracing: ustack"; innermost
// entry first, a line for each, then the value, then an empty line.

#include "import/stacks/stacks.h"

#include "import/stacks/named.h"

typedef struct Dtrace {
    Named n;
    FrameIdVec frames; // innermost first, on the heap
} Dtrace;

static bool is_count(Str line, uint64_t *ret)
{
    return str_parse_u64(line, 10, ret) && *ret <= INT64_MAX;
}

static bool is_address(Str line)
{
    uint64_t ignored;
    return str_starts_with(line, STR("0x")) && str_parse_u64(line, 0, &ignored);
}

static bool is_entry(Str line)
{
    return str_find_char(line, '`') != SIZE_MAX || is_address(line);
}

// Lines of other kinds may stand before the first stack: "dtrace: description …", a table's head.
bool dtrace_is(Bytes head)
{
    Str rest = named_beginning(head), line;
    uint64_t count;
    unsigned entries = 0;
    for (unsigned before = 0; before < 100 && str_next_line(&rest, &line);) {
        line = str_trim(line);
        if (line.len && is_entry(line))
            entries++;
        else if (entries && is_count(line, &count))
            return true;
        else if (entries && line.len)
            return false;
        else
            before++;
    }
    // A first stack that is longer than what was looked at.
    return entries > 1000;
}

// "libc.so.1`malloc+0x12"; an entry without a name is an address.
static FrameId frame_of(const Dtrace *d, Str line)
{
    Str module = STR(""), function = line;
    (void)!str_split(line, '`', &module, &function);
    size_t plus = str_find_last_char(function, '+');
    if (plus != SIZE_MAX && plus > 0 && is_address(str_slice(function, plus + 1, function.len)))
        function = str_slice(function, 0, plus);
    return named_frame(&d->n, function, module, STR(""), 0);
}

static void end_stack(Dtrace *d, uint64_t count)
{
    StackId stack = {0};
    for (size_t i = d->frames.len; i-- > 0;)
        stack = profile_stack(d->n.p, stack, d->frames.at[i]);
    if (d->frames.len)
        named_add(&d->n, stack, (int64_t)count);
    d->frames.len = 0;
}

bool import_dtrace(Bytes file, Profile *p, Error *err)
{
    Dtrace d = {.n = named_begin(p, "import dtrace", (NamedMetric){"samples", ""})};
    Str rest = str_from_bytes(file), line;
    uint64_t count;
    size_t odd = 0;
    while (str_next_line(&rest, &line)) {
        line = str_trim(line);
        // A function's name may hold any character, so that behind an entry all is an entry.
        if (line.len && is_count(line, &count))
            end_stack(&d, count);
        else if (line.len && (is_entry(line) || d.frames.len))
            vec_push(NULL, &d.frames, frame_of(&d, line));
        else if (line.len && p->samples.stack.len)
            odd++;
    }
    bool is_cut = d.frames.len > 0;
    vec_free(&d.frames);
    if (p->samples.stack.len == 0) {
        profile_deinit(p);
        return error_set(err, ERROR_FORMAT, "dtrace: no stack has a count");
    }
    if (is_cut)
        profile_note(p, NOTE_WARNING, STR("cut"), "the last stack has no count: the file is cut");
    if (odd)
        profile_note(p, NOTE_WARNING, STR("odd-lines"), "%zu line%s outside of stacks left out",
                     odd, odd == 1 ? "" : "s");
    return true;
}
