// SPDX-License-Identifier: Apache-2.0
// Translates event names to the numbers of perf_event_open(2).

#include "os/event.h"

#include "base/strbuf.h"
#include "os/file.h"

#include <linux/hw_breakpoint.h>

static const EventName names[] = {
    {"cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    {"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
    {"bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
    {"cgroup-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES},
};

const EventName *event_names(size_t *count)
{
    *count = ARRAY_LEN(names);
    return names;
}

static bool find_known(Str name, EventSpec *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const EventName *n = &names[i];
        if (str_equal(name, str_from_c(n->name)) ||
            (n->alias && str_equal(name, str_from_c(n->alias)))) {
            ret->type = n->type;
            ret->config = n->config;
            return true;
        }
    }
    return false;
}

// ---- Cache events: L1-dcache-load-misses ------------------------------------

static const struct {
    const char *name;
    uint64_t id;
    bool written; // it has store events: instructions and their translations have none
    bool fetched; // it has prefetch events
} caches[] = {
    {"L1-dcache", PERF_COUNT_HW_CACHE_L1D, true, true},
    {"L1-icache", PERF_COUNT_HW_CACHE_L1I, false, true},
    {"LLC", PERF_COUNT_HW_CACHE_LL, true, true},
    {"dTLB", PERF_COUNT_HW_CACHE_DTLB, true, true},
    {"iTLB", PERF_COUNT_HW_CACHE_ITLB, false, false},
    {"branch", PERF_COUNT_HW_CACHE_BPU, false, false},
    {"node", PERF_COUNT_HW_CACHE_NODE, true, true},
};

static const struct {
    const char *name;
    uint64_t op, result;
} cache_ops[] = {
    {"-loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
    {"-load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS},
    {"-stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
    {"-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS},
    {"-prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
    {"-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS},
};

static bool find_cache(Str name, EventSpec *ret)
{
    for (size_t c = 0; c < ARRAY_LEN(caches); c++) {
        Str cache = str_from_c(caches[c].name);
        if (!str_starts_with(name, cache))
            continue;
        Str op = str_slice(name, cache.len, name.len);
        for (size_t o = 0; o < ARRAY_LEN(cache_ops); o++) {
            if (str_equal(op, str_from_c(cache_ops[o].name))) {
                ret->type = PERF_TYPE_HW_CACHE;
                ret->config = caches[c].id | cache_ops[o].op << 8 | cache_ops[o].result << 16;
                return true;
            }
        }
    }
    return false;
}

Str event_kernel_name(Arena *arena, const EventSpec *spec)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (names[i].type == spec->type && names[i].config == spec->config)
            return str_from_c(names[i].name);
    for (size_t c = 0; spec->type == PERF_TYPE_HW_CACHE && c < ARRAY_LEN(caches); c++)
        for (size_t o = 0; o < ARRAY_LEN(cache_ops); o++)
            if (spec->config == (caches[c].id | cache_ops[o].op << 8 | cache_ops[o].result << 16))
                return arena_printf(arena, "%s%s", caches[c].name, cache_ops[o].name);
    return STR("");
}

void event_cache_names(Arena *arena, StrVec *ret)
{
    for (size_t c = 0; c < ARRAY_LEN(caches); c++)
        for (size_t o = 0; o < ARRAY_LEN(cache_ops); o++) {
            uint64_t op = cache_ops[o].op;
            if ((op == PERF_COUNT_HW_CACHE_OP_WRITE && !caches[c].written) ||
                (op == PERF_COUNT_HW_CACHE_OP_PREFETCH && !caches[c].fetched))
                continue;
            vec_push(arena, ret, arena_printf(arena, "%s%s", caches[c].name, cache_ops[o].name));
        }
}

// ---- PMUs of sysfs ------------------------------------------------------------

bool pmu_field_parse(Str text, PmuField *ret)
{
    PmuField f = {0};
    Str word, bits, part, low, high;
    if (!str_split(str_trim(text), ':', &word, &bits))
        return false;
    static const char *const words[] = {"config", "config1", "config2"};
    size_t w = 0;
    while (w < ARRAY_LEN(words) && !str_equal(word, str_from_c(words[w])))
        w++;
    if (w == ARRAY_LEN(words))
        return false;
    f.word = (uint8_t)w;
    while (str_next_part(&bits, ',', &part)) {
        uint64_t from, to;
        if (str_split(part, '-', &low, &high)) {
            if (!str_parse_u64(low, 10, &from) || !str_parse_u64(high, 10, &to))
                return false;
        } else if (str_parse_u64(part, 10, &from)) {
            to = from;
        } else {
            return false;
        }
        if (from > to || to > 63 || f.range_count == PMU_FIELD_RANGES)
            return false;
        f.ranges[f.range_count].low = (uint8_t)from;
        f.ranges[f.range_count].high = (uint8_t)to;
        f.range_count++;
    }
    if (f.range_count == 0)
        return false;
    *ret = f;
    return true;
}

bool pmu_field_put(const PmuField *field, uint64_t value, uint64_t config[3])
{
    uint64_t word = config[field->word];
    for (size_t i = 0; i < field->range_count; i++) {
        unsigned low = field->ranges[i].low, width = field->ranges[i].high - low + 1u;
        uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
        word = (word & ~(mask << low)) | (value & mask) << low;
        value = width == 64 ? 0 : value >> width;
    }
    if (value)
        return false;
    config[field->word] = word;
    return true;
}

// Whether a name may become part of a path: it must not lead out of the folder.
static bool safe_name(Str s)
{
    if (s.len == 0 || s.len > 128 || s.ptr[0] == '.')
        return false;
    return str_find_char(s, '/') == SIZE_MAX && !memchr(s.ptr, 0, s.len);
}

static bool read_sys(Arena *arena, Str path, Str *ret)
{
    Bytes content;
    if (!os_read_file(arena, path, 1 << 20, &content, NULL))
        return false;
    *ret = str_trim(str_from_bytes(content));
    return true;
}

typedef struct PmuParse {
    Arena *arena;
    Str dir; // the PMU's folder
    Str pmu;
    EventSpec *spec;
    unsigned depth; // an alias names fields, never another alias
} PmuParse;

static bool pmu_params(PmuParse *p, Str params, Error *err);

static bool pmu_param(PmuParse *p, Str key, Str text, bool has_value, Error *err)
{
    uint64_t value = 1;
    if (has_value && !str_parse_u64(text, 0, &value))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a number in '%" STR_FMT "/…/'",
                         STR_ARG(text), STR_ARG(p->pmu));
    EventSpec *s = p->spec;
    if (str_equal(key, STR("period"))) {
        s->period = value;
        return true;
    }
    if (str_equal(key, STR("freq"))) {
        s->freq = value;
        return true;
    }
    if (str_equal(key, STR("name")))
        return true;
    if (!safe_name(key))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not a field of '%" STR_FMT "'",
                         STR_ARG(key), STR_ARG(p->pmu));
    uint64_t config[3] = {s->config, s->config1, s->config2};
    static const char *const words[] = {"config", "config1", "config2"};
    for (size_t w = 0; w < ARRAY_LEN(words); w++) {
        if (has_value && str_equal(key, str_from_c(words[w]))) {
            uint64_t *const to[] = {&s->config, &s->config1, &s->config2};
            *to[w] = value;
            return true;
        }
    }
    Str content;
    Str path =
        arena_printf(p->arena, "%" STR_FMT "/format/%" STR_FMT, STR_ARG(p->dir), STR_ARG(key));
    if (read_sys(p->arena, path, &content)) {
        PmuField field;
        if (!pmu_field_parse(content, &field))
            return error_set(err, ERROR_FORMAT, "cannot understand '%" STR_FMT "'", STR_ARG(path));
        if (!pmu_field_put(&field, value, config))
            return error_set(err, ERROR_USAGE,
                             "value 0x%llx is too large for '%" STR_FMT "' of '%" STR_FMT "'",
                             (unsigned long long)value, STR_ARG(key), STR_ARG(p->pmu));
        s->config = config[0];
        s->config1 = config[1];
        s->config2 = config[2];
        return true;
    }
    path = arena_printf(p->arena, "%" STR_FMT "/events/%" STR_FMT, STR_ARG(p->dir), STR_ARG(key));
    if (!has_value && p->depth == 0 && read_sys(p->arena, path, &content)) {
        p->depth++;
        bool ok = pmu_params(p, content, err);
        p->depth--;
        return ok;
    }
    (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' has no field or event '%" STR_FMT "'",
                    STR_ARG(p->pmu), STR_ARG(key));
    return error_hint(err, "its fields and events: ls %" STR_FMT "/format %" STR_FMT "/events",
                      STR_ARG(p->dir), STR_ARG(p->dir));
}

static bool pmu_params(PmuParse *p, Str params, Error *err)
{
    Str part, key, value = {0};
    while (str_next_part(&params, ',', &part)) {
        part = str_trim(part);
        if (part.len == 0)
            continue;
        bool has_value = str_split(part, '=', &key, &value);
        if (!pmu_param(p, has_value ? key : part, value, has_value, err))
            return false;
    }
    return true;
}

static bool open_pmu(Arena *arena, const EventSources *src, Str pmu, PmuParse *ret, EventSpec *spec)
{
    Str content;
    uint64_t type;
    if (!safe_name(pmu) || src->sysfs.len == 0)
        return false;
    Str dir = arena_printf(arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(src->sysfs), STR_ARG(pmu));
    Str path = arena_printf(arena, "%" STR_FMT "/type", STR_ARG(dir));
    if (!read_sys(arena, path, &content) || !str_parse_u64(content, 10, &type) || type > UINT32_MAX)
        return false;
    spec->type = (uint32_t)type;
    *ret = (PmuParse){.arena = arena, .dir = dir, .pmu = pmu, .spec = spec};
    return true;
}

// Parses "pmu/params/".
static bool parse_pmu_event(Arena *arena, const EventSources *src, Str pmu, Str params,
                            EventSpec *spec, Error *err)
{
    PmuParse p;
    if (open_pmu(arena, src, pmu, &p, spec))
        return pmu_params(&p, params, err);
    // "cpu-clock/freq=99/": an event without PMU, with settings of its own.
    if (find_known(pmu, spec) || find_cache(pmu, spec)) {
        p = (PmuParse){.arena = arena, .pmu = pmu, .dir = src->sysfs, .spec = spec, .depth = 1};
        return pmu_params(&p, params, err);
    }
    (void)error_set(err, ERROR_USAGE, "this machine has no PMU '%" STR_FMT "'", STR_ARG(pmu));
    return error_hint(err, "those it has: ls %" STR_FMT, STR_ARG(src->sysfs));
}

// Finds a name without a PMU that the core PMU has in sysfs ("mem-loads").
static bool find_in_core_pmu(Arena *arena, const EventSources *src, Str name, EventSpec *spec)
{
    static const char *const cores[] = {"cpu", "cpu_core", "armv8_pmuv3_0", "armv8_pmuv3"};
    if (!safe_name(name))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(cores); i++) {
        PmuParse p;
        EventSpec tried = *spec;
        Str content;
        if (!open_pmu(arena, src, str_from_c(cores[i]), &p, &tried))
            continue;
        Str path =
            arena_printf(arena, "%" STR_FMT "/events/%" STR_FMT, STR_ARG(p.dir), STR_ARG(name));
        p.depth = 1;
        if (read_sys(arena, path, &content) && pmu_params(&p, content, NULL)) {
            *spec = tried;
            return true;
        }
    }
    return false;
}

// ---- Tracepoints --------------------------------------------------------------

typedef Vec(EventArg) FieldVec;

// "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;" of a file `format`, of which the
// kernel's Documentation/trace/events.rst has the form. False for lines that are no field, and for
// fields that are no number: texts, arrays.
static bool parse_field(Arena *arena, Str line, EventArg *ret)
{
    Str parts[4], word, value;
    line = str_trim(line);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!str_next_part(&line, ';', &parts[i]))
            return false;
    if (!str_starts_with(parts[0], STR("field:")))
        return false;
    size_t space = str_find_last_char(parts[0], ' ');
    Str name = str_slice(parts[0], space + 1, parts[0].len);
    if (space == SIZE_MAX || str_starts_with(name, STR("common_")) ||
        str_find_char(name, '[') != SIZE_MAX || str_find(parts[0], STR("_loc ")) != SIZE_MAX)
        return false;
    uint64_t numbers[3];
    static const char *const words[] = {"offset", "size", "signed"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!str_split(str_trim(parts[i + 1]), ':', &word, &value) ||
            !str_equal(word, str_from_c(words[i])) || !str_parse_u64(value, 10, &numbers[i]))
            return false;
    uint64_t size = numbers[1];
    if ((size != 1 && size != 2 && size != 4 && size != 8) || numbers[0] > UINT16_MAX)
        return false;
    *ret = (EventArg){.name = arena_str(arena, name),
                      .kind = EVENT_ARG_RAW,
                      .size = (uint8_t)size,
                      .is_signed = numbers[2] != 0,
                      .offset = (int64_t)numbers[0]};
    return true;
}

static bool choose_field(Arena *arena, Str event, const FieldVec *all, Str name, FieldVec *ret,
                         Error *err)
{
    StrBuf present = {0};
    for (size_t i = 0; i < all->len; i++) {
        if (str_equal(all->at[i].name, name)) {
            vec_push(arena, ret, all->at[i]);
            strbuf_deinit(&present);
            return true;
        }
        strbuf_printf(&present, "%s%" STR_FMT, i ? ", " : "", STR_ARG(all->at[i].name));
    }
    (void)error_set(err, ERROR_USAGE,
                    "tracepoint '%" STR_FMT "' has no field '%" STR_FMT "' that is a number",
                    STR_ARG(event), STR_ARG(name));
    if (present.len)
        (void)error_hint(err, "it has %" STR_FMT, STR_ARG(strbuf_str(&present)));
    strbuf_deinit(&present);
    return false;
}

// Takes the wanted fields, all when there are none. A format that cannot be read has none.
static bool parse_fields(Arena *arena, Str format, Str wanted, EventSpec *spec, Error *err)
{
    FieldVec all = {0}, chosen = {0};
    EventArg field;
    Str name;
    for (Str rest = format, line; str_next_line(&rest, &line);)
        if (parse_field(arena, line, &field))
            vec_push(arena, &all, field);
    wanted = str_trim(wanted);
    while (wanted.len && str_next_part(&wanted, ' ', &name))
        if (name.len && !choose_field(arena, spec->name, &all, name, &chosen, err))
            return false;
    if (chosen.len == 0)
        chosen = all;
    spec->args = chosen.at;
    spec->arg_count = MIN(chosen.len, (size_t)EVENT_FIELDS_MAX);
    return true;
}

static bool parse_tracepoint(Arena *arena, const EventSources *src, Str system, Str name,
                             EventSpec *spec, Error *err)
{
    if (src->tracefs.len == 0) {
        (void)error_set(err, ERROR_NOT_FOUND,
                        "cannot look up tracepoint '%" STR_FMT ":%" STR_FMT
                        "': tracefs is not mounted",
                        STR_ARG(system), STR_ARG(name));
        return error_hint(err, "run: sudo mount -t tracefs tracefs /sys/kernel/tracing");
    }
    Str path = arena_printf(arena, "%" STR_FMT "/events/%" STR_FMT "/%" STR_FMT "/id",
                            STR_ARG(src->tracefs), STR_ARG(system), STR_ARG(name));
    Bytes content;
    Error os = {0};
    if (!os_read_file(arena, path, 4096, &content, &os)) {
        if (os.kind == ERROR_PERMISSION) {
            (void)error_set(err, ERROR_PERMISSION,
                            "not allowed to read '%" STR_FMT "' for tracepoint '%" STR_FMT
                            ":%" STR_FMT "'",
                            STR_ARG(path), STR_ARG(system), STR_ARG(name));
            return error_hint(err, "run assay as root, or: sudo chmod -R a+rX %" STR_FMT,
                              STR_ARG(src->tracefs));
        }
        (void)error_set(err, ERROR_USAGE, "no tracepoint '%" STR_FMT ":%" STR_FMT "'",
                        STR_ARG(system), STR_ARG(name));
        return error_hint(err, "those of this kernel: %" STR_FMT "/available_events%s",
                          STR_ARG(src->tracefs),
                          src->find_probe ? ""
                                          : "; a function or line of a program is counted by "
                                            "assay record -e FILE:FUNCTION");
    }
    spec->type = PERF_TYPE_TRACEPOINT;
    if (!str_parse_u64(str_trim(str_from_bytes(content)), 10, &spec->config))
        return error_set(err, ERROR_FORMAT, "'%" STR_FMT "' contains no number", STR_ARG(path));
    spec->counts_each = true;
    path = arena_printf(arena, "%" STR_FMT "/events/%" STR_FMT "/%" STR_FMT "/format",
                        STR_ARG(src->tracefs), STR_ARG(system), STR_ARG(name));
    if (!os_read_file(arena, path, 1 << 20, &content, NULL))
        content = (Bytes){0};
    return parse_fields(arena, str_from_bytes(content), spec->fields, spec, err);
}

// ---- Breakpoints and raw events -----------------------------------------------

static bool parse_breakpoint(Str rest, EventSpec *spec, Error *err)
{
    // addr[/len][:rwx]
    Str place = rest, kinds = STR("rw"), address, length;
    (void)str_split(rest, ':', &place, &kinds);
    bool has_length = str_split(place, '/', &address, &length);
    uint64_t len = 4;
    if (!str_parse_u64(has_length ? address : place, 0, &spec->bp_addr) ||
        (has_length && !str_parse_u64(length, 10, &len)))
        return error_set(err, ERROR_USAGE, "'mem:%" STR_FMT "' is not mem:ADDRESS[/LENGTH][:rwx]",
                         STR_ARG(rest));
    for (size_t i = 0; i < kinds.len; i++) {
        switch (kinds.ptr[i]) {
        case 'r':
            spec->bp_type |= HW_BREAKPOINT_R;
            break;
        case 'w':
            spec->bp_type |= HW_BREAKPOINT_W;
            break;
        case 'x':
            spec->bp_type |= HW_BREAKPOINT_X;
            break;
        default:
            return error_set(err, ERROR_USAGE, "'%c' is not a kind of access: r, w or x",
                             kinds.ptr[i]);
        }
    }
    spec->type = PERF_TYPE_BREAKPOINT;
    // The length of an execution breakpoint is the size of an address.
    spec->bp_len = spec->bp_type == HW_BREAKPOINT_X ? sizeof(long) : len;
    spec->counts_each = true;
    return true;
}

static bool parse_raw(Str name, EventSpec *spec)
{
    uint64_t config;
    if (name.len < 2 || name.ptr[0] != 'r' ||
        !str_parse_u64(str_slice(name, 1, name.len), 16, &config))
        return false;
    spec->type = PERF_TYPE_RAW;
    spec->config = config;
    return true;
}

// ---- Modifiers, names, groups ---------------------------------------------------

typedef struct Modifiers {
    bool u, k, h, guest, host, pinned, group_read, most;
    unsigned precise;
} Modifiers;

static bool parse_modifiers(Str text, Modifiers *ret)
{
    Modifiers m = {0};
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case 'u':
            m.u = true;
            break;
        case 'k':
            m.k = true;
            break;
        case 'h':
            m.h = true;
            break;
        case 'G':
            m.guest = true;
            break;
        case 'H':
            m.host = true;
            break;
        case 'D':
            m.pinned = true;
            break;
        case 'S':
            m.group_read = true;
            break;
        case 'P':
            m.most = true;
            break;
        case 'p':
            m.precise++;
            break;
        default:
            return false;
        }
    }
    if (m.precise > 3)
        return false;
    *ret = m;
    return true;
}

static void add_modifiers(EventSpec *s, const Modifiers *m)
{
    if (m->u || m->k || m->h) {
        s->exclude_user = !m->u;
        s->exclude_kernel = !m->k;
        s->exclude_hv = !m->h;
    }
    if (m->guest || m->host) {
        s->exclude_guest = !m->guest;
        s->exclude_host = !m->host;
    }
    s->pinned |= m->pinned;
    s->group_read |= m->group_read;
    s->precise_most |= m->most;
    s->precise = (uint8_t)MAX((unsigned)s->precise, m->precise);
}

bool event_is_clock(const EventSpec *s)
{
    return s->type == PERF_TYPE_SOFTWARE &&
           (s->config == PERF_COUNT_SW_CPU_CLOCK || s->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool unknown_modifiers(Str event, Str modifiers, Error *err)
{
    (void)error_set(err, ERROR_USAGE, "'%" STR_FMT "' are not modifiers of '%" STR_FMT "'",
                    STR_ARG(modifiers), STR_ARG(event));
    return error_hint(err, "they are u (user code), k (kernel), h (hypervisor), p and P (precise)");
}

static bool parse_name(Arena *arena, const EventSources *src, Str name, EventSpec *spec, Error *err)
{
    Str head, tail;
    if (find_known(name, spec) || find_cache(name, spec) || parse_raw(name, spec))
        return true;
    if (str_starts_with(name, STR("mem:")))
        return parse_breakpoint(str_slice(name, 4, name.len), spec, err);
    if (find_in_core_pmu(arena, src, name, spec))
        return true;
    // libpfm4's names have colons, too ("MEM_LOAD:L1_HIT"), but in capitals, unlike tracepoints.
    if (src->find_other && src->find_other(arena, name, spec))
        return true;
    bool split = str_split(name, ':', &head, &tail);
    EventSpec known = *spec;
    if (split && (find_known(head, &known) || find_cache(head, &known) || parse_raw(head, &known)))
        return unknown_modifiers(head, tail, err);
    if (split && safe_name(head) && safe_name(tail))
        return parse_tracepoint(arena, src, head, tail, spec, err);
    (void)error_set(err, ERROR_USAGE, "unknown event '%" STR_FMT "'", STR_ARG(name));
    return error_hint(err, "cpu-clock, cycles, page-faults, sched:sched_switch, r01c2, "
                           "pmu/event=…/ are events; 'assay list' knows all; a function is "
                           "FILE:FUNCTION, one of the kernel kernel:FUNCTION");
}

static bool parse_one(Arena *arena, const EventSources *src, Str text, EventSpec *ret, Error *err)
{
    Str words = text, fields = {0};
    size_t slash = str_find_char(text, '/');
    if (slash == SIZE_MAX && str_split(words, ' ', &text, &fields) && str_trim(fields).len == 0)
        fields = (Str){0};
    EventSpec spec = {.name = text, .group = EVENT_NO_GROUP, .fields = fields};
    Modifiers m = {0};
    if (slash != SIZE_MAX && !str_starts_with(text, STR("mem:"))) {
        size_t end = str_find_last_char(text, '/');
        Str after = str_slice(text, end + 1, text.len);
        if (after.len > 0 && after.ptr[0] == ':')
            after = str_slice(after, 1, after.len);
        if (end == slash || !parse_modifiers(after, &m))
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not PMU/FIELD=VALUE,…/[ukhpP]",
                             STR_ARG(text));
        if (!parse_pmu_event(arena, src, str_slice(text, 0, slash), str_slice(text, slash + 1, end),
                             &spec, err))
            return false;
    } else {
        size_t colon = str_find_last_char(text, ':');
        Error first = {0};
        if (colon != SIZE_MAX && colon + 1 < text.len &&
            parse_modifiers(str_slice(text, colon + 1, text.len), &m) &&
            !str_equal(str_slice(text, 0, colon), STR("mem"))) {
            Str name = str_slice(text, 0, colon);
            if (!parse_name(arena, src, name, &spec, &first)) {
                // "sys:up" could be a tracepoint whose name looks like modifiers.
                spec = (EventSpec){.name = text, .group = EVENT_NO_GROUP, .fields = fields};
                m = (Modifiers){0};
                if (!parse_name(arena, src, text, &spec, NULL)) {
                    if (err)
                        *err = first;
                    return false;
                }
            }
        } else if (!parse_name(arena, src, text, &spec, err)) {
            return false;
        }
    }
    if (fields.len && spec.type != PERF_TYPE_TRACEPOINT)
        return error_set(err, ERROR_USAGE,
                         "'%" STR_FMT "' is not a tracepoint: it has no field '%" STR_FMT "'",
                         STR_ARG(text), STR_ARG(str_trim(fields)));
    add_modifiers(&spec, &m);
    spec.unit = event_is_clock(&spec) ? STR("ns") : STR("");
    *ret = spec;
    return true;
}

// Takes the text up to the next comma outside of {…} and /…/.
static bool next_event(Str *rest, Str *ret)
{
    if (rest->len == 0)
        return false;
    unsigned depth = 0;
    bool in_pmu = false;
    size_t i = 0;
    for (; i < rest->len; i++) {
        char ch = rest->ptr[i];
        if (ch == '{')
            depth++;
        else if (ch == '}' && depth > 0)
            depth--;
        else if (ch == '/')
            in_pmu = !in_pmu;
        else if (ch == ',' && depth == 0 && !in_pmu)
            break;
    }
    *ret = str_slice(*rest, 0, i);
    *rest = str_slice(*rest, i + 1, rest->len);
    return true;
}

static bool parse_group(Arena *arena, const EventSources *src, Str text, EventSpecVec *ret,
                        Error *err)
{
    size_t end = str_find_last_char(text, '}');
    Modifiers m = {0};
    Str after = end == SIZE_MAX ? STR("?") : str_slice(text, end + 1, text.len);
    if (after.len > 0 && after.ptr[0] == ':')
        after = str_slice(after, 1, after.len);
    if (end == SIZE_MAX || !parse_modifiers(after, &m))
        return error_set(err, ERROR_USAGE, "'%" STR_FMT "' is not {EVENT,EVENT…}[:ukhpPSD]",
                         STR_ARG(text));
    Str inside = str_slice(text, 1, end), part;
    uint32_t group = (uint32_t)ret->len;
    while (next_event(&inside, &part)) {
        EventSpec spec;
        if (str_find_char(part, '{') != SIZE_MAX)
            return error_set(err, ERROR_USAGE, "'%" STR_FMT "' has a group inside a group",
                             STR_ARG(text));
        if (!parse_one(arena, src, str_trim(part), &spec, err))
            return false;
        add_modifiers(&spec, &m);
        spec.group = group;
        vec_push(arena, ret, spec);
    }
    if (ret->len == group)
        return error_set(err, ERROR_USAGE, "an empty group of events");
    return true;
}

// A name that no event has may be that of a function of the program.
static bool parse_function(Arena *arena, const EventSources *src, Str name, EventSpecVec *ret)
{
    bool is_probe = false;
    Error ignored;
    if (!src->find_probe || str_find_char(name, ':') != SIZE_MAX ||
        str_find_char(name, '/') != SIZE_MAX)
        return false;
    return src->find_probe(src->probe_ctx, arena, arena_printf(arena, ":%" STR_FMT, STR_ARG(name)),
                           &is_probe, ret, &ignored) &&
           is_probe;
}

bool events_parse(Arena *arena, const EventSources *src, Str text, EventSpecVec *ret, Error *err)
{
    Str rest = str_trim(text), part;
    size_t before = ret->len;
    bool is_probe = false;
    if (src->find_probe && !src->find_probe(src->probe_ctx, arena, text, &is_probe, ret, err))
        return false;
    if (is_probe)
        return true;
    while (next_event(&rest, &part)) {
        part = str_trim(part);
        if (part.len == 0)
            return error_set(err, ERROR_USAGE, "an empty event name in '%" STR_FMT "'",
                             STR_ARG(text));
        if (part.ptr[0] == '{') {
            if (!parse_group(arena, src, part, ret, err))
                return false;
            continue;
        }
        EventSpec spec;
        if (!parse_one(arena, src, part, &spec, err)) {
            if (!parse_function(arena, src, part, ret))
                return false;
            continue;
        }
        vec_push(arena, ret, spec);
    }
    if (ret->len == before)
        return error_set(err, ERROR_USAGE, "an empty event name");
    return true;
}

void event_spec_apply(const EventSpec *spec, struct perf_event_attr *attr)
{
    attr->type = spec->type;
    attr->config = spec->config;
    if (spec->type == PERF_TYPE_BREAKPOINT) {
        attr->bp_type = spec->bp_type;
        attr->bp_addr = spec->bp_addr;
        attr->bp_len = spec->bp_len;
    } else {
        attr->config1 = spec->config1;
        attr->config2 = spec->config2;
    }
    attr->exclude_user = spec->exclude_user;
    attr->exclude_kernel = spec->exclude_kernel;
    attr->exclude_hv = spec->exclude_hv;
    attr->exclude_guest = spec->exclude_guest;
    attr->exclude_host = spec->exclude_host;
    attr->pinned = spec->pinned;
    switch (spec->precise) { // a two-bit field: gcc takes only constants without a warning
    case 1:
        attr->precise_ip = 1;
        break;
    case 2:
        attr->precise_ip = 2;
        break;
    case 3:
        attr->precise_ip = 3;
        break;
    default:
        attr->precise_ip = 0;
        break;
    }
}
