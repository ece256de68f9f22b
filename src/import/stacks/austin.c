// SPDX-License-Identifier: Apache-2.0
// Stacks of austin as text -> Profile.
// Format: github.com/P403n1x87/austin, README "Output": comments "# key: value", then
// "P<pid>;T<interpreter>:<tid>;<file>:<function>:<line>;… <metrics>", outermost entry first. The
// metric is a time in µs, in the mode "memory" a number of bytes, in the mode "full" the three
// "time,idle,bytes".

#include "import/stacks/stacks.h"

#include "base/table.h"
#include "import/stacks/named.h"

typedef struct Austin {
    Named n;
    MetricId cpu, memory; // of the mode "full"
    bool is_full;
    Table by_name; // "P42;T42" to rows of `names` and of `threads`
    StrVec names;
    Vec(ThreadId) threads;
    Arena scratch;
} Austin;

// "P42;T" or "P42;": what every line of austin begins with.
static bool is_sample(Str line)
{
    size_t at = 1;
    if (line.len < 4 || line.ptr[0] != 'P' || line.ptr[1] < '0' || line.ptr[1] > '9')
        return false;
    while (at < line.len && line.ptr[at] >= '0' && line.ptr[at] <= '9')
        at++;
    return at + 1 < line.len && line.ptr[at] == ';' && line.ptr[at + 1] == 'T';
}

bool austin_is(Bytes head)
{
    Str rest = named_beginning(head), line;
    bool has_mark = false;
    for (unsigned i = 0; i < 200 && str_next_line(&rest, &line); i++) {
        if (str_starts_with(line, STR("# austin:")))
            has_mark = true;
        else if (line.len && line.ptr[0] != '#')
            return is_sample(line);
    }
    return has_mark;
}

// "T0:42" (interpreter and thread), "T42", "T0x7f…".
static uint32_t thread_id(Str word)
{
    uint64_t id = 0;
    size_t colon = str_find_last_char(word, ':');
    Str number = str_slice(word, colon == SIZE_MAX ? 1 : colon + 1, word.len);
    if (!str_parse_u64(number, 0, &id) && !str_parse_u64(number, 16, &id))
        id = 0;
    return (uint32_t)id;
}

static ThreadId thread_of(Austin *a, Str process, Str thread)
{
    Profile *p = a->n.p;
    Str key = str_over(process.ptr, process.len + 1 + thread.len);
    uint32_t row;
    uint64_t hash = str_hash(key), pid = 0;
    for (TableProbe t = table_probe(&a->by_name, hash); table_next(&a->by_name, &t, &row);)
        if (str_equal(a->names.at[row], key))
            return a->threads.at[row];
    (void)!str_parse_u64(str_slice(process, 1, process.len), 10, &pid);
    StrId name = profile_str(p, STR("python"));
    ProcessId of = {UINT32_MAX};
    for (size_t i = 1; i < p->processes.pid.len; i++)
        if (p->processes.pid.at[i] == (uint32_t)pid)
            of = (ProcessId){(uint32_t)i};
    if (of.v == UINT32_MAX)
        of = profile_add_process(p, (uint32_t)pid, 0, name, TIME_NONE);
    ThreadId added = profile_add_thread(p, of, thread_id(thread), name, TIME_NONE);
    table_insert(&a->by_name, hash, (uint32_t)a->names.len);
    vec_push(&a->scratch, &a->names, key);
    vec_push(&a->scratch, &a->threads, added);
    return added;
}

// "/app/main.py:run:12"; a marker such as ":GC:" has no file and no line.
static FrameId frame_of(const Austin *a, Str entry)
{
    Str file = STR(""), function = entry;
    uint64_t line = 0;
    size_t last = str_find_last_char(entry, ':');
    size_t before =
        last == SIZE_MAX ? SIZE_MAX : str_find_last_char(str_slice(entry, 0, last), ':');
    Str number = last == SIZE_MAX ? entry : str_slice(entry, last + 1, entry.len);
    if (before != SIZE_MAX && (number.len == 0 || str_parse_u64(number, 10, &line))) {
        file = str_slice(entry, 0, before);
        function = str_slice(entry, before + 1, last);
    }
    return named_frame(&a->n, function, STR(""), file, line < UINT32_MAX ? (uint32_t)line : 0);
}

static bool set_value(Austin *a, size_t row, MetricId metric, int64_t scale, Str text)
{
    int64_t value;
    if (!str_parse_i64(text, &value) || __builtin_mul_overflow(value, scale, &value))
        return false;
    profile_sample_set(a->n.p, row, metric, value);
    return true;
}

static bool add_values(Austin *a, size_t row, Str values, int64_t scale)
{
    Str time, idle, bytes, rest;
    if (!a->is_full)
        return set_value(a, row, a->n.metric, scale, values);
    if (!str_split(values, ',', &time, &rest) || !str_split(rest, ',', &idle, &bytes))
        return false;
    return set_value(a, row, a->n.metric, 1000, time) &&
           set_value(a, row, a->cpu, str_equal(idle, STR("0")) ? 1000 : 0, time) &&
           set_value(a, row, a->memory, 1, bytes);
}

static bool read_line(Austin *a, Str line, int64_t scale, Error *err)
{
    Str process, thread, entry;
    size_t space = str_find_last_char(line, ' ');
    if (!is_sample(line) || space == SIZE_MAX)
        return error_set(err, ERROR_FORMAT, "austin: no stack: '%" STR_FMT "'", STR_ARG(line));
    Str rest = str_slice(line, 0, space);
    StackId stack = {0};
    (void)!str_next_part(&rest, ';', &process);
    (void)!str_next_part(&rest, ';', &thread);
    ThreadId of = thread_of(a, process, thread);
    while (str_next_part(&rest, ';', &entry))
        stack = profile_stack(a->n.p, stack, frame_of(a, entry));
    size_t row = profile_add_sample(a->n.p, TIME_NONE, of, stack, SAMPLE_CPU_NONE);
    if (!add_values(a, row, str_slice(line, space + 1, line.len), scale))
        return error_set(err, ERROR_FORMAT, "austin: no number: '%" STR_FMT "'", STR_ARG(line));
    return true;
}

// The mode, of the comments before the first stack.
static Str mode_of(Bytes file)
{
    Str rest = str_from_bytes(file), line, mode = STR("wall");
    while (str_next_line(&rest, &line) && line.len && line.ptr[0] == '#')
        if (str_starts_with(line, STR("# mode:")))
            mode = str_trim(str_slice(line, 7, line.len));
    return mode;
}

static bool read_lines(Austin *a, Bytes file, int64_t scale, Error *err)
{
    Str rest = str_from_bytes(file), line;
    while (str_next_line(&rest, &line)) {
        bool is_last = rest.len == 0 && (file.len == 0 || file.ptr[file.len - 1] != '\n');
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (read_line(a, line, scale, err))
            continue;
        if (!is_last || a->n.p->samples.stack.len == 0)
            return false;
        profile_note(a->n.p, NOTE_WARNING, STR("cut"), "the last line is cut");
    }
    return true;
}

bool import_austin(Bytes file, Profile *p, Error *err)
{
    Str mode = mode_of(file);
    bool is_memory = str_equal(mode, STR("memory")), is_cpu = str_equal(mode, STR("cpu"));
    NamedMetric metric = {"wall time", "ns"};
    if (is_cpu)
        metric.name = "cpu time";
    if (is_memory)
        metric = (NamedMetric){"bytes allocated", "bytes"};
    Austin a = {.n = named_begin(p, "import austin", metric)};
    a.is_full = str_equal(mode, STR("full"));
    if (a.is_full) {
        a.cpu = profile_add_metric(p, STR("cpu time"), STR("ns"), METRIC_SUM, STR(""));
        a.memory = profile_add_metric(p, STR("bytes allocated"), STR("bytes"), METRIC_SUM, STR(""));
    }
    bool ok = read_lines(&a, file, is_memory ? 1 : 1000, err);
    table_deinit(&a.by_name);
    arena_deinit(&a.scratch);
    if (!ok)
        profile_deinit(p);
    return ok;
}
