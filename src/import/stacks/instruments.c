// SPDX-License-Identifier: Apache-2.0
// The text that "Deep Copy" of Apple's Instruments gives -> Profile.
// Reference: speedscope's wiki, "Importing from Instruments.app": columns separated by tabs, the
// head "Weight", "Self Weight" (older: "Running Time", "Self (ms)") and "Symbol Name". The table of
// allocations has "Bytes Used", which is a total, and no column of own values. A row's depth is the
// number of spaces before the name.

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
           (str_find(line, STR("Self")) != SIZE_MAX ||
            str_find(line, STR("Bytes Used")) != SIZE_MAX);
}

bool instruments_is(Bytes head)
{
    Str rest = named_beginning(head), line;
    return str_next_line(&rest, &line) && is_head(line);
}

// "26.00 ms", "0 s", "1.5Gc", and "-" for none; without a unit `plain` is meant.
static bool parse_weight(Str text, const Unit *plain, double *value, const Unit **unit, Error *err)
{
    size_t digits = 0;
    text = str_trim(text);
    if (str_equal(text, STR("-"))) {
        *value = 0;
        *unit = &units[0];
        return true;
    }
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

// A row of a table of totals whose callees are being read.
typedef struct OpenRow {
    StackId stack;
    double self;     // its total without those of its callees so far
    double rounding; // how far the roundings of these totals can be from it
} OpenRow;
typedef Vec(OpenRow) OpenRowVec;

typedef struct Reader {
    Named n;
    NamedPath path;
    size_t value, name; // columns
    bool is_total;      // the column of values has totals
    const Unit *plain;  // of weights without a unit
    const char *metric;
    OpenRowVec open; // by depth, on the heap; of a table of totals
} Reader;

// The total of a row is written, when all rows below it were read, without its callees' totals. A
// rest that the roundings of the texts explain is none.
static void close_rows(Reader *t, size_t depth)
{
    while (t->open.len > depth) {
        OpenRow row = t->open.at[--t->open.len];
        if (row.self > row.rounding)
            named_add(&t->n, row.stack, (int64_t)(row.self + 0.5));
    }
}

// Opens the row of `stack`, whose total is a text like "429.93 MB  100.0%".
static void open_row(Reader *t, StackId stack, double total, double rounding)
{
    close_rows(t, t->path.stacks.len - 1);
    if (t->open.len) {
        OpenRow *parent = &t->open.at[t->open.len - 1];
        parent->self -= total;
        parent->rounding += rounding;
    }
    vec_push(NULL, &t->open, ((OpenRow){.stack = stack, .self = total, .rounding = rounding}));
}

// The weight before its percentage, "26.00 ms  100.0%".
static Str without_percentage(Str total)
{
    total = str_trim(total);
    return str_slice(total, 0, MIN(total.len, str_find(total, STR("  "))));
}

// Half a unit of the last digit of a weight's text: "73.35 MB" is at most 0.005 MB off.
static double rounding_of(Str weight, double scale)
{
    double half = 0.5 * scale;
    size_t point = str_find_char(weight, '.');
    for (size_t i = point;
         point != SIZE_MAX && ++i < weight.len && weight.ptr[i] >= '0' && weight.ptr[i] <= '9';)
        half /= 10;
    return half;
}

static bool read_row(Reader *t, const StrVec *row, Error *err)
{
    double value;
    const Unit *unit;
    StackId stack;
    if (row->len <= MAX(t->value, t->name))
        return error_set(err, ERROR_FORMAT, "instruments: a row of %zu fields", row->len);
    Str name = row->at[t->name];
    size_t depth = 0;
    while (depth < name.len && name.ptr[depth] == ' ')
        depth++;
    Str weight = without_percentage(row->at[t->value]);
    if (!parse_weight(weight, t->plain, &value, &unit, err))
        return false;
    // "0 s" stands beside other units, too.
    if (value > 0 && strcmp(unit->metric.name, t->metric) != 0)
        return error_set(err, ERROR_FORMAT, "instruments: %s beside %s", unit->metric.name,
                         t->metric);
    FrameId frame = named_frame(&t->n, str_trim(name), STR(""), STR(""), 0);
    if (!named_path_enter(&t->n, &t->path, depth, frame, &stack, err))
        return false;
    if (t->is_total)
        open_row(t, stack, value, rounding_of(weight, unit->scale));
    else
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
    Str total = without_percentage(csv_row(scratch, line, '\t').at[0]);
    if (parse_weight(total, NULL, &value, &unit, &ignored))
        found = unit->metric;
    return found;
}

bool import_instruments(Bytes file, Profile *p, Error *err)
{
    Arena scratch = {0};
    Str rest = str_from_bytes(file), line = {0};
    (void)!str_next_line(&rest, &line);
    StrVec head = csv_row(&scratch, line, '\t');
    Reader t = {.value = csv_column(&head, "Self"), .name = csv_column(&head, "Symbol Name")};
    if (t.value == SIZE_MAX) {
        t.value = csv_column(&head, "Bytes Used");
        t.is_total = true;
    }
    if (t.value == SIZE_MAX || t.name == SIZE_MAX) {
        arena_deinit(&scratch);
        return error_set(err, ERROR_FORMAT,
                         "instruments: no columns 'Self' or 'Bytes Used', and 'Symbol Name'");
    }
    if (str_find(head.at[t.value], STR("(ms)")) != SIZE_MAX)
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
    close_rows(&t, 0);
    vec_free(&t.open);
    named_path_deinit(&t.path);
    arena_deinit(&scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
