// SPDX-License-Identifier: Apache-2.0
// VTune's call trees as CSV -> Profile: vtune -report top-down -call-stack-mode all
// -column="CPU Time:Self","Module" -format csv -csv-delimiter comma.
// Reference: Intel VTune Profiler User Guide, "Save and Format Command Line Reports". A row's depth
// is the number of spaces before the function's name; times are in seconds.

#include "import/stacks/stacks.h"

#include "import/stacks/csv_row.h"
#include "import/stacks/named.h"

static const char *const separators = ",;\t|";

// Whether the line is the head of such a table. Lines before it are VTune's remarks.
static bool is_head(Str line, char *separator)
{
    Str name = STR("Function Stack");
    if (!str_starts_with(line, name) || line.len == name.len ||
        !strchr(separators, line.ptr[name.len]) || str_find(line, STR("CPU Time")) == SIZE_MAX)
        return false;
    *separator = line.ptr[name.len];
    return true;
}

static bool find_head(Str *rest, Str *head, char *separator)
{
    for (unsigned i = 0; i < 200 && str_next_line(rest, head); i++)
        if (is_head(*head, separator))
            return true;
    return false;
}

bool vtune_is(Bytes head)
{
    Str rest = named_beginning(head), line;
    char separator;
    return find_head(&rest, &line, &separator);
}

typedef struct Columns {
    size_t time, module, file; // SIZE_MAX: there is none
} Columns;

static bool read_row(Named *n, NamedPath *path, const StrVec *row, const Columns *columns,
                     Error *err)
{
    StackId stack;
    double seconds = 0;
    Str name = row->at[0], none = STR("");
    size_t depth = 0;
    while (depth < name.len && name.ptr[depth] == ' ')
        depth++;
    Str time = columns->time < row->len ? str_trim(row->at[columns->time]) : none;
    if (str_ends_with(time, STR("s")))
        time = str_slice(time, 0, time.len - 1);
    if (time.len && (!str_parse_double(time, &seconds) || !(seconds >= 0 && seconds < 9e9)))
        return error_set(err, ERROR_FORMAT, "vtune: '%" STR_FMT "' is not a time in seconds",
                         STR_ARG(time));
    FrameId frame =
        named_frame(n, str_trim(name), columns->module < row->len ? row->at[columns->module] : none,
                    columns->file < row->len ? row->at[columns->file] : none, 0);
    if (!named_path_enter(n, path, depth, frame, &stack, err))
        return false;
    named_add(n, stack, (int64_t)(seconds * 1e9 + 0.5));
    return true;
}

static bool read_table(Named *n, Bytes file, Error *err)
{
    Arena scratch = {0};
    NamedPath path = {0};
    Str rest = str_from_bytes(file), line;
    char separator = 0;
    bool ok = true;
    if (!find_head(&rest, &line, &separator))
        return error_set(err, ERROR_FORMAT, "vtune: no head of a table");
    StrVec head = csv_row(&scratch, line, separator);
    size_t self = csv_column(&head, "CPU Time:Self");
    Columns columns = {self, csv_column(&head, "Module"), csv_column(&head, "Source File")};
    if (self == SIZE_MAX) {
        ok = error_set(err, ERROR_UNSUPPORTED, "vtune: the table has no column 'CPU Time:Self'");
        error_hint(err, "write it with -column='CPU Time:Self','Module'");
    }
    while (ok && str_next_line(&rest, &line)) {
        arena_clear(&scratch);
        StrVec row = csv_row(&scratch, line, separator);
        if (str_trim(line).len)
            ok = read_row(n, &path, &row, &columns, err);
    }
    named_path_deinit(&path);
    arena_deinit(&scratch);
    return ok;
}

bool import_vtune(Bytes file, Profile *p, Error *err)
{
    Named n = named_begin(p, "import vtune", (NamedMetric){"cpu time", "ns"});
    bool ok = read_table(&n, file, err);
    if (!ok)
        profile_deinit(p);
    return ok;
}
