// SPDX-License-Identifier: Apache-2.0
// Code that the readers of heap profiles share.

#include "import/heap/heap_rows_internal.h"

#include "model/facts.h"

void heap_rows_init(HeapRows *r, Profile *p, Str collector, uint64_t has, uint32_t pid, Str command)
{
    static const struct {
        const char *name, *unit;
        MetricKind kind;
    } metrics[] = {
#define ROW(name, text, unit, kind, which) {text, unit, kind},
        HEAP_METRICS(ROW)
#undef ROW
    };
    *r = (HeapRows){.p = p, .has = has};
    for (size_t i = 0; i < HEAP_METRIC_COUNT; i++)
        if (has >> i & 1)
            r->metric[i] =
                profile_add_metric(p, str_from_c(metrics[i].name), str_from_c(metrics[i].unit),
                                   metrics[i].kind, STR(""));
    Str program = str_base_name(str_slice(command, 0, str_find_char(command, ' ')));
    StrId name = profile_str(p, program);
    ProcessId process = profile_add_process(p, pid, 0, name, TIME_NONE);
    r->thread = profile_add_thread(p, process, pid, name, TIME_NONE);
    profile_set_fact(p, STR(FACT_COLLECTOR), collector);
    if (command.len)
        profile_set_fact(p, STR(FACT_COMMAND), command);
}

void heap_rows_add(HeapRows *r, StackId stack, const uint64_t value[HEAP_METRIC_COUNT])
{
    size_t row = profile_add_sample(r->p, TIME_NONE, r->thread, stack, SAMPLE_CPU_NONE);
    for (size_t i = 0; i < HEAP_METRIC_COUNT; i++)
        if (r->has >> i & 1)
            profile_sample_set(r->p, row, r->metric[i],
                               (int64_t)MIN(value[i], (uint64_t)INT64_MAX));
}

// Splits "prog.c:12", "src/alloc.rs:84:14".
static void split_place(Str place, Str *file, uint32_t *line)
{
    uint64_t numbers[2] = {0, 0};
    int found = 0;
    while (found < 2) {
        size_t colon = str_find_last_char(place, ':');
        if (colon == SIZE_MAX ||
            !str_parse_u64(str_slice(place, colon + 1, place.len), 10, &numbers[found]))
            break;
        place = str_slice(place, 0, colon);
        found++;
    }
    *file = place;
    uint64_t number = found == 2 ? numbers[1] : numbers[0];
    *line = number <= UINT32_MAX ? (uint32_t)number : 0;
}

static size_t find_last_open(Str text)
{
    for (size_t i = text.len; i > 1; i--)
        if (text.ptr[i - 1] == '(' && text.ptr[i - 2] == ' ')
            return i - 1;
    return SIZE_MAX;
}

FrameId heap_rows_frame(Profile *p, Str place)
{
    ModuleId module = {0};
    uint64_t address = 0;
    uint32_t line = 0;
    Str name = place, file = STR("");
    size_t colon = str_find(place, STR(": "));
    if (str_starts_with(place, STR("0x")) && colon != SIZE_MAX &&
        str_parse_u64(str_slice(place, 2, colon), 16, &address))
        name = str_slice(place, colon + 2, place.len);
    size_t open = str_ends_with(name, STR(")")) ? find_last_open(name) : SIZE_MAX;
    if (open != SIZE_MAX) {
        Str inside = str_slice(name, open + 1, name.len - 1);
        if (str_starts_with(inside, STR("in ")))
            module = profile_module(p, MODULE_FILE, str_slice(inside, 3, inside.len), STR(""));
        else
            split_place(inside, &file, &line);
        if (module.v || line)
            name = str_slice(name, 0, open - 1);
        else
            file = STR("");
    }
    if (str_equal(name, STR("???")))
        name = STR("");
    FunctionId function = name.len ? profile_function(p, name, name, STR(""), 0) : (FunctionId){0};
    return profile_named_frame(p, module, module.v ? address : 0, function, profile_str(p, file),
                               line, 0);
}
