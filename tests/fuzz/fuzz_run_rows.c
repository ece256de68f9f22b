// SPDX-License-Identifier: Apache-2.0
// Fuzzes the summaries of recorded runs: rows and facts that a file could hold, whatever wrote
// it. The input is a list of operations: a byte that chooses, then its operands.

#include "analyse/function_families.h"
#include "analyse/function_summary.h"
#include "analyse/run_summary.h"
#include "base/cursor.h"
#include "model/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const metrics[] = {RUN_METRIC_TIME,
                                      RUN_METRIC_USER_TIME,
                                      RUN_METRIC_SYSTEM_TIME,
                                      RUN_METRIC_WAITED,
                                      RUN_METRIC_WAITING,
                                      RUN_METRIC_RUN_DELAY,
                                      RUN_METRIC_STEAL,
                                      RUN_METRIC_PEAK_MEMORY,
                                      RUN_METRIC_PEAK_MEMORY_COARSE,
                                      RUN_METRIC_MEMORY_FLOOR,
                                      RUN_METRIC_MINOR_FAULTS,
                                      RUN_METRIC_BLOCKS_IN,
                                      RUN_METRIC_BYTES,
                                      RUN_METRIC_SAMPLE_ITERATIONS,
                                      RUN_METRIC_SAMPLE_TIME,
                                      "cycles",
                                      "instructions"};
static const char *const facts[] = {
    FACT_REFERENCE, FACT_LEVEL,           FACT_MARGIN,          FACT_UNTIL,        FACT_MAX_RUNS,
    FACT_SEED,      FACT_SHELL_TIME,      FACT_WITHOUT_WAITING, FACT_WITH_WAITING, FACT_ORDER,
    FACT_CLOCK,     FACT_START_MONOTONIC, FACT_WAITING_SHARE,   FACT_MEMORY_FLOOR};
static const char *const words[] = {"yes", "no",  "grouped", "cpu", "1",
                                    "0",   "0.5", "1e-300",  "nan"};
static const char *const conditions[] = {"", "shell=yes", "build=against", "parameter.n=4\n=\\"};

enum { RUNS_MAX = 200 };

static double read_double(Cursor *c)
{
    uint64_t bits = cursor_u64(c);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void add_run(Profile *p, Cursor *c)
{
    static const char *const names[] = {"a", "b", "c"};
    RunRow row = RUN_NOT_KNOWN;
    uint8_t shape = cursor_u8(c);
    row.name = profile_str(p, str_from_c(names[(shape & 3) % ARRAY_LEN(names)]));
    row.conditions = profile_str(p, str_from_c(conditions[shape / 4 % ARRAY_LEN(conditions)]));
    row.flags = shape >> 4;
    row.round = cursor_u8(c);
    row.wall_ns = (int64_t)cursor_u64(c);
    row.start_ns = (int64_t)cursor_u64(c);
    if (p->runs.name.len < RUNS_MAX)
        profile_add_run(p, &row);
}

static void add_value(Profile *p, Cursor *c)
{
    uint8_t which = cursor_u8(c) % ARRAY_LEN(metrics);
    double value = read_double(c);
    bool is_event = which + 2u >= ARRAY_LEN(metrics);
    Str name = str_from_c(metrics[which]);
    MetricId m = run_metric(p, name, STR(""), METRIC_SUM, is_event ? name : STR(""));
    if (p->runs.name.len)
        profile_add_run_value(p, (RunId){(uint32_t)p->runs.name.len - 1}, m, value);
}

static void set_fact(Profile *p, Cursor *c)
{
    Str key = str_from_c(facts[cursor_u8(c) % ARRAY_LEN(facts)]);
    uint8_t which = cursor_u8(c);
    Str value = which < ARRAY_LEN(words) ? str_from_c(words[which])
                                         : arena_printf(&p->arena, "%.17g", read_double(c));
    profile_set_fact(p, key, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Cursor c = cursor_over(bytes_over(data, size), "operations");
    Profile p;
    RunSummaries s;
    FunctionSummaries f;
    Error err;
    profile_init(&p);
    while (cursor_more(&c)) {
        uint8_t op = cursor_u8(&c) % 8;
        if (op < 2)
            add_run(&p, &c);
        else if (op < 7)
            add_value(&p, &c);
        else
            set_fact(&p, &c);
    }
    if (run_summaries_init(&s, &p, &err)) {
        run_summaries_deinit(&s);
    }
    if (function_summaries_init(&f, &p, &err)) {
        for (size_t i = 0; i < MIN(f.list.len, (size_t)2); i++) {
            Comparison change;
            if (f.list.at[i].runs[0].len)
                (void)function_slope(&f, &f.list.at[i]);
            (void)function_change(&f, &f.list.at[i], &change);
        }
        RunFamilies families = {0}, growths = {0};
        if (f.list.len <= 4) { // of many it takes too long
            function_families_init(&families, &f);
            function_growths_init(&growths, &f);
        }
        function_families_deinit(&families);
        function_families_deinit(&growths);
        function_summaries_deinit(&f);
    }
    profile_deinit(&p);
    return 0;
}
