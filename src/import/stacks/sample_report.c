// SPDX-License-Identifier: Apache-2.0
// The report of macOS's sample -> Profile.
// Reference: sample(1) of macOS; the part "Call graph:" has a row for each entry of the tree, with
// the number of samples in which it was on the stack:
//     2669 Thread_77308   DispatchQueue_1: com.apple.main-thread  (serial)
//     + 2669 start  (in libdyld.dylib) + 1  [0x7fff6bb1c3d5]
//     +   2669 main  (in prog) + 20  [0x10d1c5f54]  main.c:12

#include "import/stacks/stacks.h"

#include "import/stacks/named.h"

typedef struct Row {
    size_t depth;
    uint64_t count; // of the entry and all below it
    Str text;
} Row;

// A row whose count its children have not yet used up.
typedef struct Open {
    StackId stack;
    uint64_t left;
} Open;

enum { INDENT = 4 };

bool sample_report_is(Bytes head)
{
    Str text = named_beginning(head);
    return str_starts_with(text, STR("Analysis of sampling ")) ||
           str_starts_with(text, STR("Sampling process ")) ||
           str_starts_with(text, STR("Call graph:\n"));
}

static bool parse_row(Str line, Row *ret)
{
    size_t at = 0;
    while (at < line.len && strchr(" +!:|", line.ptr[at]))
        at++;
    Str count, text;
    if (at < INDENT || !str_split(str_slice(line, at, line.len), ' ', &count, &text) ||
        !str_parse_u64(count, 10, &ret->count) || ret->count > INT64_MAX)
        return false;
    ret->depth = (at - INDENT) / 2;
    ret->text = str_trim(text);
    return ret->text.len > 0;
}

// "file.c:12" as the last word.
static void find_place(Str text, Str *file, uint32_t *line)
{
    uint64_t number;
    size_t colon = str_find_last_char(text, ':'), space = str_find_last_char(text, ' ');
    if (colon == SIZE_MAX || space == SIZE_MAX || space > colon ||
        !str_parse_u64(str_slice(text, colon + 1, text.len), 10, &number) || number > UINT32_MAX)
        return;
    *file = str_slice(text, space + 1, colon);
    *line = (uint32_t)number;
}

// A thread's row has no module. A function's name may hold parentheses.
static FrameId frame_of(const Named *n, Str text)
{
    Str function = text, module = STR(""), file = STR("");
    uint32_t line = 0;
    size_t in = str_find(text, STR("  (in "));
    if (in != SIZE_MAX) {
        Str rest = str_slice(text, in + 6, text.len);
        size_t end = str_find_char(rest, ')');
        module = str_slice(rest, 0, MIN(rest.len, end));
        function = str_slice(text, 0, in);
        find_place(rest, &file, &line);
    } else if (str_find(text, STR("  ")) != SIZE_MAX) {
        function = str_slice(text, 0, str_find(text, STR("  ")));
    }
    return named_frame(n, str_trim(function), module, file, line);
}

static bool read_graph(Named *n, Str rest, Error *err)
{
    Vec(Open) open = {0};
    NamedPath path = {0};
    Str line;
    Row row;
    bool ok = true;
    while (ok && str_next_line(&rest, &line)) {
        if (str_starts_with(line, STR("Total number in stack")) ||
            str_starts_with(line, STR("Sort by top of stack")))
            break;
        if (!parse_row(line, &row))
            continue;
        Open entry = {.left = row.count};
        ok = named_path_enter(n, &path, row.depth, frame_of(n, row.text), &entry.stack, err);
        size_t depth = MIN(row.depth, open.len);
        // What the rows below have not taken is the entry's own.
        while (open.len > depth) {
            named_add(n, vec_last(&open).stack, (int64_t)vec_last(&open).left);
            open.len--;
        }
        if (open.len) {
            Open *parent = &open.at[open.len - 1];
            if (row.count > parent->left)
                ok = ok && error_set(err, ERROR_FORMAT,
                                     "sample: the rows below have more samples than '%" STR_FMT
                                     "' leaves",
                                     STR_ARG(row.text));
            parent->left -= MIN(parent->left, row.count);
        }
        vec_push(NULL, &open, entry);
    }
    for (; open.len; open.len--)
        named_add(n, vec_last(&open).stack, (int64_t)vec_last(&open).left);
    vec_free(&open);
    named_path_deinit(&path);
    return ok;
}

bool import_sample_report(Bytes file, Profile *p, Error *err)
{
    Named n = named_begin(p, "import sample", (NamedMetric){"samples", ""});
    Str rest = str_from_bytes(file), line;
    bool found = false;
    while (!found && str_next_line(&rest, &line))
        found = str_starts_with(line, STR("Call graph:"));
    bool ok = found || error_set(err, ERROR_FORMAT, "sample: no line 'Call graph:'");
    ok = ok && read_graph(&n, rest, err);
    if (ok && p->samples.stack.len == 0)
        ok = error_set(err, ERROR_FORMAT, "sample: the call graph is empty");
    if (!ok)
        profile_deinit(p);
    return ok;
}
