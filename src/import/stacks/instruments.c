// SPDX-License-Identifier: Apache-2.0
// The text that "Deep Copy" of Apple's Instruments gives -> Profile.
// Reference: speedscope's wiki, "Importing from Instruments.app": columns separated by tabs, the
// head "Weight", "Self Weight" (older: "Running Time", "Self (ms)") and "Symbol Name". A row's
// depth is the number of spaces before the name.

#include "import/stacks/stacks.h"

#include "import/stacks/csv_row.h"
#include "import/stacks/named.h"

typedef struct Unit {
    const char *word;
    double scale;
    NamedMetric metric;
} Unit;

#define CPU_TIME                                                                                   \
    {                                                                                              \
        "cpu time", "ns"                                                                           \
    }
#define CYCLES                                                                                     \
    {                                                                                              \
        "cycles", ""                                                                               \
    }
#define ALLOCATED                                                                                  \
    {                                                                                              \
        "bytes allocated", "bytes"                                                                 \
    }

static const Unit units[] = {{"ns", 1, CPU_TIME},          {"us", 1e3, CPU_TIME},
                             {"\xc2\xb5s", 1e3, CPU_TIME}, {"\xce\xbcs", 1e3, CPU_TIME},
                             {"ms", 1e6, CPU_TIME},        {"s", 1e9, CPU_TIME},
                             {"min", 60e9, CPU_TIME},      {"h", 3600e9, CPU_TIME},
                             {"cycles", 1, CYCLES},        {"c", 1, CYCLES},
                             {"Kc", 1e3, CYCLES},          {"Mc", 1e6, CYCLES},
                             {"Gc", 1e9, CYCLES},          {"Bytes", 1, ALLOCATED},
                             {"KB", 1024, ALLOCATED},      {"MB", 1048576, ALLOCATED},
                             {"GB", 1073741824, ALLOCATED}};

static bool is_head(Str line)
{
    return str_find(line, STR("\t")) != SIZE_MAX &&
           str_find(line, STR("Symbol Name")) != SIZE_MAX &&
           str_find(line, STR("Self")) != SIZE_MAX;
}

bool instruments_is(Bytes head)
{
    Str rest = named_beginning(head), line;
    return str_next_line(&rest, &line) && is_head(line);
}

// "26.00 ms", "0 s", "1.5Gc"; without a unit `plain` is meant.
static bool parse_weight(Str text, const Unit *plain, double *value, const Unit **unit, Error *err)
{
    size_t digits = 0;
    text = str_trim(text);
    while (digits < text.len && strchr("0123456789.,", text.ptr[digits]))
        digits++;
    Str word = str_trim(str_slice(text, digits, text.len));
    *unit = word.len ? NULL : plain;
    for (size_t i = 0; i < ARRAY_LEN(units) && !*unit; i++)
        if (str_equal(word, str_from_c(units[i].word)))
            *unit = &units[i];
    char number[64];
    size_t len = 0;
    for (size_t i = 0; i < digits && len < sizeof(number); i++)
        if (text.ptr[i] != ',')
            number[len++] = text.ptr[i];
    if (!*unit || !str_parse_double(str_over(number, len), value) || *value * (*unit)->scale > 9e18)
        return error_set(err, ERROR_FORMAT, "instruments: '%" STR_FMT "' is no weight",
                         STR_ARG(text));
    *value *= (*unit)->scale;
    return true;
}

typedef struct Reader {
    Named n;
    NamedPath path;
    size_t self, name; // columns
    const Unit *plain; // of weights without a unit
    const char *metric;
} Reader;

static bool read_row(Reader *t, const StrVec *row, Error *err)
{
    double value;
    const Unit *unit;
    StackId stack;
    if (row->len <= MAX(t->self, t->name))
        return error_set(err, ERROR_FORMAT, "instruments: a row of %zu fields", row->len);
    Str name = row->at[t->name];
    size_t depth = 0;
    while (depth < name.len && name.ptr[depth] == ' ')
        depth++;
    if (!parse_weight(row->at[t->self], t->plain, &value, &unit, err))
        return false;
    // "0 s" stands beside other units, too.
    if (value > 0 && strcmp(unit->metric.name, t->metric) != 0)
        return error_set(err, ERROR_FORMAT, "instruments: %s beside %s", unit->metric.name,
                         t->metric);
    FrameId frame = named_frame(&t->n, str_trim(name), STR(""), STR(""), 0);
    if (!named_path_enter(&t->n, &t->path, depth, frame, &stack, err))
        return false;
    named_add(&t->n, stack, (int64_t)(value + 0.5));
    return true;
}

// The metric is that of the first row whose total has a unit.
static NamedMetric metric_of(Arena *scratch, Str rest, const Unit *plain)
{
    Str line;
    double value;
    const Unit *unit;
    Error ignored;
    NamedMetric found = units[0].metric;
    if (plain || !str_next_line(&rest, &line))
        return found;
    // "26.00 ms  100.0%"
    Str total = csv_row(scratch, line, '\t').at[0];
    size_t percent = str_find(total, STR("  "));
    if (parse_weight(str_slice(total, 0, MIN(total.len, percent)), NULL, &value, &unit, &ignored))
        found = unit->metric;
    return found;
}

bool import_instruments(Bytes file, Profile *p, Error *err)
{
    Arena scratch = {0};
    Str rest = str_from_bytes(file), line = {0};
    (void)!str_next_line(&rest, &line);
    StrVec head = csv_row(&scratch, line, '\t');
    Reader t = {.self = csv_column(&head, "Self"), .name = csv_column(&head, "Symbol Name")};
    if (t.self == SIZE_MAX || t.name == SIZE_MAX) {
        arena_deinit(&scratch);
        return error_set(err, ERROR_FORMAT, "instruments: no columns 'Self' and 'Symbol Name'");
    }
    if (str_find(head.at[t.self], STR("(ms)")) != SIZE_MAX)
        t.plain = &units[4];
    NamedMetric metric = metric_of(&scratch, rest, t.plain);
    t.metric = metric.name;
    t.n = named_begin(p, "import instruments", metric);
    bool ok = true;
    while (ok && str_next_line(&rest, &line)) {
        arena_clear(&scratch);
        StrVec row = csv_row(&scratch, line, '\t');
        if (str_trim(line).len)
            ok = read_row(&t, &row, err);
    }
    named_path_deinit(&t.path);
    arena_deinit(&scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
