// SPDX-License-Identifier: Apache-2.0
// From the words of -e, -M and -d to events.

#include "collect/counters/counting.h"

#include "os/event_list.h"

static const struct {
    const char *name;
    CountingTool tool;
} tools[] = {
    {"duration_time", TOOL_DURATION}, {"user_time", TOOL_USER}, {"system_time", TOOL_SYSTEM}};

static bool add_tool(Arena *arena, Str word, EventSpecVec *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (str_equal(word, str_from_c(tools[i].name))) {
            EventSpec spec = {.name = word,
                              .type = COUNTING_TOOL_EVENT,
                              .config = tools[i].tool,
                              .group = EVENT_NO_GROUP,
                              .unit = STR("ns")};
            vec_push(arena, ret, spec);
            return true;
        }
    return false;
}

static bool is_glob(Str word)
{
    return str_find_char(word, '*') != SIZE_MAX || str_find_char(word, '?') != SIZE_MAX;
}

// All events of the machine whose name or alias matches.
static bool add_matching(Arena *arena, const EventSources *sources, Str glob, EventSpecVec *ret,
                         Error *err)
{
    enum { MATCHES_MAX = 1024 };
    ListedEventVec all = {0};
    Error no_tracepoints = {0};
    size_t before = ret->len;
    event_list(arena, sources, &all, &no_tracepoints);
    for (size_t i = 0; i < all.len; i++) {
        const ListedEvent *e = &all.at[i];
        bool matches = str_glob_match(glob, e->name) || str_glob_match(glob, e->alias);
        if (!matches || e->group == EVENT_GROUP_RAW || e->group == EVENT_GROUP_BREAKPOINT ||
            e->try.len == 0)
            continue;
        if (ret->len - before == MATCHES_MAX)
            return error_set(err, ERROR_LIMIT, "'%" STR_FMT "' matches more than %d events",
                             STR_ARG(glob), MATCHES_MAX);
        if (!events_parse(arena, sources, e->name, ret, err))
            return false;
    }
    if (ret->len > before)
        return true;
    error_set(err, ERROR_USAGE, "no event matches '%" STR_FMT "'", STR_ARG(glob));
    return error_hint(err, "%s",
                      no_tracepoints.kind ? no_tracepoints.text : "'assay list' shows all events");
}

// Where the word at the start of `text` ends: at a comma outside of braces and of a PMU's slashes.
static size_t word_end(Str text)
{
    int depth = 0;
    Str start = str_trim(text);
    bool is_path = str_starts_with(start, STR("/")) || str_starts_with(start, STR("./")) ||
                   str_starts_with(start, STR("../"));
    bool in_pmu = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        in_pmu ^= c == '/' && !is_path;
        if (c == ',' && depth <= 0 && !in_pmu)
            return i;
    }
    return text.len;
}

// Whether the words of a text may be something that the parser of events does not know: globs,
// times and probes.
static bool has_words_of_ours(const EventSources *sources, Str text)
{
    bool ours = is_glob(text);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        ours |= str_find(text, str_from_c(tools[i].name)) != SIZE_MAX;
    for (const char *c = ":% "; sources->find_probe && *c; c++)
        ours |= str_find_char(text, *c) != SIZE_MAX;
    return ours;
}

static bool add_word(Arena *arena, const EventSources *sources, Str word, EventSpecVec *ret,
                     Error *err)
{
    bool is_probe = false;
    if (add_tool(arena, word, ret))
        return true;
    if (sources->find_probe &&
        !sources->find_probe(sources->probe_ctx, arena, word, &is_probe, ret, err))
        return false;
    if (is_probe)
        return true;
    return is_glob(word) ? add_matching(arena, sources, word, ret, err)
                         : events_parse(arena, sources, word, ret, err);
}

static bool add_words(Arena *arena, const EventSources *sources, Str text, EventSpecVec *ret,
                      Error *err)
{
    // The parser's messages show the whole text, so it gets that where nothing in it is ours.
    if (!has_words_of_ours(sources, text))
        return events_parse(arena, sources, text, ret, err);
    while (text.len) {
        size_t end = word_end(text);
        Str word = str_trim(str_slice(text, 0, end));
        if (!add_word(arena, sources, word, ret, err))
            return false;
        text = str_slice(text, MIN(end + 1, text.len), text.len);
    }
    return true;
}

bool counting_choose_events(Arena *arena, const EventSources *sources, const StrVec *words,
                            unsigned details, EventSpecVec *ret, Error *err)
{
    static const char *const usual = "task-clock,context-switches,cpu-migrations,page-faults,"
                                     "cycles,instructions,branches,branch-misses";
    // Each level adds a line, as in perf.
    static const char *const levels[] = {
        "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
        ("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
         "iTLB-load-misses"),
        "L1-dcache-prefetches,L1-dcache-prefetch-misses"};
    for (size_t i = 0; i < words->len; i++)
        if (!add_words(arena, sources, words->at[i], ret, err))
            return false;
    if (words->len == 0 && !events_parse(arena, sources, str_from_c(usual), ret, err))
        return false;
    for (unsigned i = 0; i < MIN(details, (unsigned)ARRAY_LEN(levels)); i++)
        if (!events_parse(arena, sources, str_from_c(levels[i]), ret, err))
            return false;
    return true;
}

// ---- Metrics -----------------------------------------------------------------

// perf's names, and the events from which analyse/derive.c forms the figure.
static const struct {
    const char *name, *events;
} metrics[] = {
    {"CPUs_utilized", "task-clock"},
    {"cs_per_second", "task-clock,context-switches"},
    {"migrations_per_second", "task-clock,cpu-migrations"},
    {"page_faults_per_second", "task-clock,page-faults"},
    {"cycles_frequency", "task-clock,cycles"},
    {"insn_per_cycle", "cycles,instructions"},
    {"IPC", "cycles,instructions"},
    {"branch_frequency", "task-clock,branches"},
    {"branch_miss_rate", "branches,branch-misses"},
    {"cache_miss_rate", "cache-references,cache-misses"},
    {"l1d_miss_rate", "L1-dcache-loads,L1-dcache-load-misses"},
    {"llc_miss_rate", "LLC-loads,LLC-load-misses"},
};

static bool is_counted(const EventSpecVec *events, Str name)
{
    for (size_t i = 0; i < events->len; i++)
        if (str_equal(events->at[i].name, name))
            return true;
    return false;
}

bool counting_add_metrics(Arena *arena, Str names, EventSpecVec *ret, Error *err)
{
    EventSources sources = event_sources_default();
    Str name, event;
    while (str_next_part(&names, ',', &name)) {
        size_t m = 0;
        while (m < ARRAY_LEN(metrics) && !(strlen(metrics[m].name) == name.len &&
                                           strncasecmp(metrics[m].name, name.ptr, name.len) == 0))
            m++;
        if (m == ARRAY_LEN(metrics)) {
            error_set(err, ERROR_USAGE, "there is no metric '%" STR_FMT "'", STR_ARG(name));
            return error_hint(err, "metrics: CPUs_utilized, cs_per_second, migrations_per_second, "
                                   "page_faults_per_second, cycles_frequency, insn_per_cycle, "
                                   "branch_frequency, branch_miss_rate, cache_miss_rate, "
                                   "l1d_miss_rate, llc_miss_rate");
        }
        for (Str rest = str_from_c(metrics[m].events); str_next_part(&rest, ',', &event);)
            if (!is_counted(ret, event) && !events_parse(arena, &sources, event, ret, err))
                return false;
    }
    return true;
}

bool counting_add_topdown(Arena *arena, EventSpecVec *ret, Error *err)
{
    EventSources sources = event_sources_default();
    Error none;
    if (events_parse(arena, &sources,
                     STR("{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,"
                         "topdown-be-bound}"),
                     ret, &none))
        return true;
    error_set(err, ERROR_UNSUPPORTED, "this machine has no top-down events");
    return error_hint(err,
                      "they need a processor with a counter of pipeline slots and a kernel that "
                      "may use it; virtual machines rarely have one ('assay list topdown*')");
}
