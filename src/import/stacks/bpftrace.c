// SPDX-License-Identifier: Apache-2.0
// Maps of bpftrace whose keys hold stacks, @[kstack, ustack, comm] = count() -> Profile.
// Reference: bpftrace(8), "Maps" and "kstack and ustack": a stack is a line for each entry,
// innermost first, between lines that begin with '@', ',' or ']'; the value stands behind "]: ".

#include "import/stacks/stacks.h"

#include "import/stacks/named.h"

#include <stdio.h>

enum { MAPS_MAX = 64 };

typedef struct Bpftrace {
    Named n;
    FrameIdVec frames; // of the key, innermost first, on the heap
    FrameIdVec words;  // what the key holds beside stacks, on the heap
    bool in_key;
    size_t without_value, odd;
} Bpftrace;

// ---- Lines -----------------------------------------------------------------

static bool is_entry(Str line)
{
    return line.len > 1 && (line.ptr[0] == '\t' || str_starts_with(line, STR("    ")));
}

// "@name[" and what follows it.
static bool begins_key(Str line, Str *name, Str *rest)
{
    size_t bracket = str_find_char(line, '[');
    if (line.len == 0 || line.ptr[0] != '@' || bracket == SIZE_MAX)
        return false;
    *name = str_slice(line, 1, bracket);
    for (size_t i = 0; i < name->len; i++) {
        char c = name->ptr[i];
        if (c != '_' && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') &&
            !(c >= 'A' && c <= 'Z'))
            return false;
    }
    *rest = str_slice(line, bracket + 1, line.len);
    return true;
}

// The end of a key, "]: ", which a name of a thread may hold, too: the last one. A histogram
// follows on other lines.
static size_t find_end_of_key(Str line)
{
    if (str_ends_with(line, STR("]:")))
        return line.len - 2;
    for (size_t at = line.len; at-- > 0;)
        if (str_starts_with(str_slice(line, at, line.len), STR("]: ")))
            return at;
    return SIZE_MAX;
}

// The first map with a stack in its key; other lines may stand before it.
static bool find_first_map(Str rest, Str *name)
{
    enum { LINES_MAX = 200 };
    Str line, of_key;
    bool begun = false;
    for (unsigned i = 0; i < LINES_MAX && str_next_line(&rest, &line); i++) {
        if (begun && is_entry(line))
            return true;
        begun = begins_key(line, name, &of_key) && find_end_of_key(of_key) == SIZE_MAX;
    }
    return false;
}

bool bpftrace_is(Bytes head)
{
    Str name;
    return find_first_map(named_beginning(head), &name);
}

// ---- Keys ------------------------------------------------------------------

static bool is_offset(Str s)
{
    uint64_t value;
    return str_parse_u64(s, 10, &value) ||
           (str_starts_with(s, STR("0x")) && str_parse_u64(s, 0, &value));
}

// "function+12", or as perf has it: "ffffffff81e5b0a1 function+12 (object)".
static FrameId frame_of(const Bpftrace *b, Str line)
{
    enum { ADDRESS_DIGITS_MIN = 6 };
    Str address, function = line, object = STR(""), rest;
    uint64_t value;
    if (str_split(line, ' ', &address, &rest) && address.len >= ADDRESS_DIGITS_MIN &&
        str_parse_u64(address, 16, &value)) {
        size_t open = str_ends_with(rest, STR(")")) ? str_find_last_char(rest, '(') : SIZE_MAX;
        function = str_trim(str_slice(rest, 0, open));
        if (open != SIZE_MAX)
            object = str_slice(rest, open + 1, rest.len - 1);
    }
    size_t plus = str_find_last_char(function, '+');
    if (plus != SIZE_MAX && plus > 0 && is_offset(str_slice(function, plus + 1, function.len)))
        function = str_slice(function, 0, plus);
    return named_frame(&b->n, function, object, STR(""), 0);
}

// ", bash, 42": each word stands around the stacks.
static void take_words(Bpftrace *b, Str text)
{
    while (text.len) {
        size_t comma = str_find(text, STR(", "));
        Str word = str_trim(str_slice(text, 0, comma));
        if (word.len && !str_equal(word, STR(",")))
            vec_push(NULL, &b->words, named_frame(&b->n, word, STR(""), STR(""), 0));
        text = comma == SIZE_MAX ? STR("") : str_slice(text, comma + 2, text.len);
    }
}

// The metric of a map; maps beyond the most that are kept apart are left out.
static bool choose_metric(Bpftrace *b, Str name)
{
    Profile *p = b->n.p;
    Str metric = name.len ? name : STR("samples");
    for (size_t i = 0; i < p->metrics.name.len; i++) {
        b->n.metric.v = (uint32_t)i;
        if (str_equal(profile_text(p, p->metrics.name.at[i]), metric))
            return true;
    }
    if (p->metrics.name.len >= MAPS_MAX)
        return false;
    b->n.metric = profile_add_metric(p, metric, STR(""), METRIC_SUM, STR(""));
    return true;
}

static void end_key(Bpftrace *b, Str value)
{
    StackId stack = {0};
    uint64_t count;
    for (size_t i = 0; i < b->words.len; i++)
        stack = profile_stack(b->n.p, stack, b->words.at[i]);
    for (size_t i = b->frames.len; i-- > 0;)
        stack = profile_stack(b->n.p, stack, b->frames.at[i]);
    if (str_parse_u64(str_trim(value), 10, &count) && count <= INT64_MAX)
        named_add(&b->n, stack, (int64_t)count);
    else
        b->without_value++;
    b->in_key = false;
}

// What stands behind '[' or, between stacks, on a line of its own.
static void read_key_text(Bpftrace *b, Str text)
{
    size_t end = find_end_of_key(text);
    take_words(b, str_slice(text, 0, end));
    if (end != SIZE_MAX)
        end_key(b, str_slice(text, end + 2, text.len));
}

static void read_line(Bpftrace *b, Str line)
{
    Str name, rest;
    if (b->in_key && is_entry(line)) {
        vec_push(NULL, &b->frames, frame_of(b, str_trim(line)));
    } else if (b->in_key && line.len && (line.ptr[0] == ',' || line.ptr[0] == ']')) {
        read_key_text(b, line);
    } else if (begins_key(line, &name, &rest) && choose_metric(b, name)) {
        b->without_value += b->in_key;
        b->frames.len = b->words.len = 0;
        b->in_key = true;
        read_key_text(b, rest);
    } else {
        b->odd += line.len != 0 && b->n.p->samples.stack.len != 0;
    }
}

static void note_left_out(Bpftrace *b)
{
    Profile *p = b->n.p;
    if (b->in_key)
        profile_note(p, NOTE_WARNING, STR("cut"), "the last stack has no count: the file is cut");
    if (b->without_value)
        profile_note(p, NOTE_WARNING, STR("no-number"),
                     "%zu key%s without a single number left out (histograms, averages of nothing)",
                     b->without_value, b->without_value == 1 ? "" : "s");
    if (b->odd)
        profile_note(p, NOTE_WARNING, STR("odd-lines"), "%zu line%s outside of maps left out",
                     b->odd, b->odd == 1 ? "" : "s");
}

bool import_bpftrace(Bytes file, Profile *p, Error *err)
{
    char metric[64] = "samples";
    Str rest = str_from_bytes(file), line, name;
    if (find_first_map(rest, &name) && name.len)
        snprintf(metric, sizeof(metric), "%" STR_FMT, STR_ARG(name));
    Bpftrace b = {.n = named_begin(p, "import bpftrace", (NamedMetric){metric, ""})};
    while (str_next_line(&rest, &line))
        read_line(&b, line);
    note_left_out(&b);
    vec_free(&b.frames);
    vec_free(&b.words);
    if (p->samples.stack.len == 0) {
        profile_deinit(p);
        return error_set(err, ERROR_FORMAT, "bpftrace: no stack has a count");
    }
    return true;
}
