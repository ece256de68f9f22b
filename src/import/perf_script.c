// SPDX-License-Identifier: Apache-2.0
// The text of `perf script` -> Profile.
//
// A sample is a header line, its frames innermost first, an empty line:
//     comm pid/tid [cpu] seconds.micros:    period event:
//     <tab>  address symbol+0xoffset (object)
// pid or tid, cpu and period may be missing; comm and symbol may hold spaces.
// Reference: perf-script(1), "FIELDS".

#include "import/import.h"

#include "import/line_frames_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

typedef struct Header {
    Str comm;
    uint32_t pid, tid;
    uint32_t cpu;
    int64_t time_ns;
    uint64_t period;
    Str event;
} Header;

typedef struct ThreadKey {
    uint32_t pid, tid;
    StrId comm;
} ThreadKey;

typedef struct Script {
    Profile *p;
    LineFrames frames;
    uint32_t last_frame;        // row of `frames`
    Vec(FrameId) stack;         // of the sample being read, innermost first
    Vec(ThreadKey) thread_keys; // by thread row
    Table threads;
    Table processes; // pid -> process row
    bool in_sample;
    size_t sample; // row
    MetricId metric;
    bool has_start;
    int64_t start_ns;
    uint64_t samples, odd_lines;
} Script;

// ---- Header lines ----------------------------------------------------------

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static Str skip_spaces(Str s)
{
    size_t at = 0;
    while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == '\t'))
        at++;
    return str_slice(s, at, s.len);
}

// Takes the word before the next space or tab.
static Str take_word(Str *s)
{
    *s = skip_spaces(*s);
    size_t at = 0;
    while (at < s->len && s->ptr[at] != ' ' && s->ptr[at] != '\t')
        at++;
    Str word = str_slice(*s, 0, at);
    *s = str_slice(*s, at, s->len);
    return word;
}

// "123" or "123/124".
static bool parse_pid_tid(Str word, Header *h)
{
    Str head = word;
    Str tail = word;
    uint64_t pid, tid;
    str_split(word, '/', &head, &tail);
    if (!str_parse_u64(head, 10, &pid) || !str_parse_u64(tail, 10, &tid) || pid > UINT32_MAX ||
        tid > UINT32_MAX)
        return false;
    h->pid = (uint32_t)pid;
    h->tid = (uint32_t)tid;
    return true;
}

// "2746.896201:" with 6 or 9 places.
static bool parse_time(Str word, int64_t *ret)
{
    if (!str_ends_with(word, STR(":")))
        return false;
    word.len--;
    Str seconds, fraction;
    uint64_t whole, part;
    if (!str_split(word, '.', &seconds, &fraction) || fraction.len > 9 ||
        !str_parse_u64(seconds, 10, &whole) || !str_parse_u64(fraction, 10, &part) ||
        whole > INT64_MAX / 1000000000 - 1)
        return false;
    for (size_t i = fraction.len; i < 9; i++)
        part *= 10;
    *ret = (int64_t)(whole * 1000000000 + part);
    return true;
}

// "[003]".
static bool parse_cpu(Str word, uint32_t *ret)
{
    uint64_t cpu;
    if (word.len < 3 || word.ptr[0] != '[' || word.ptr[word.len - 1] != ']' ||
        !str_parse_u64(str_slice(word, 1, word.len - 1), 10, &cpu) || cpu >= SAMPLE_CPU_NONE)
        return false;
    *ret = (uint32_t)cpu;
    return true;
}

// What follows the time: "   1001001 cpu-clock:ppp: ", the period optional.
static void parse_event(Str rest, Header *h)
{
    Str word = take_word(&rest);
    uint64_t period;
    h->period = 1;
    if (str_parse_u64(word, 10, &period)) {
        h->period = MIN(period, (uint64_t)INT64_MAX);
        word = take_word(&rest);
    }
    if (str_ends_with(word, STR(":")))
        word.len--;
    h->event = word;
}

// The comm ends where a word that is a pid is followed by a cpu, a time or the
// event: a name may hold spaces and digits.
static bool parse_header(Str line, Header *h)
{
    Str rest = line;
    size_t before_word = 0;
    while (skip_spaces(rest).len) {
        Str word = take_word(&rest);
        if (before_word && is_digit(word.ptr[0]) && parse_pid_tid(word, h)) {
            Str after = rest;
            Str next = take_word(&after);
            if (parse_cpu(next, &h->cpu))
                next = take_word(&after);
            else
                h->cpu = SAMPLE_CPU_NONE;
            bool timed = parse_time(next, &h->time_ns);
            if (timed || str_ends_with(next, STR(":"))) {
                if (!timed) {
                    h->time_ns = TIME_NONE;
                    after = next;
                }
                h->comm = str_trim(str_slice(line, 0, before_word));
                parse_event(after, h);
                return true;
            }
        }
        before_word = (size_t)(rest.ptr - line.ptr);
    }
    return false;
}

// ---- Threads and metrics ---------------------------------------------------

static ProcessId process_of(Script *s, uint32_t pid, StrId comm)
{
    uint64_t hash = hash_u64(pid);
    uint32_t row;
    for (TableProbe t = table_probe(&s->processes, hash); table_next(&s->processes, &t, &row);)
        if (s->p->processes.pid.at[row] == pid)
            return (ProcessId){row};
    ProcessId process = profile_add_process(s->p, pid, 0, comm, TIME_NONE);
    table_insert(&s->processes, hash, process.v);
    return process;
}

static ThreadId thread_of(Script *s, const Header *h)
{
    ThreadKey key = {h->pid, h->tid, profile_str(s->p, h->comm)};
    uint64_t hash = hash_pair((uint64_t)key.pid << 32 | key.tid, key.comm.v);
    uint32_t row;
    for (TableProbe t = table_probe(&s->threads, hash); table_next(&s->threads, &t, &row);) {
        const ThreadKey *k = &s->thread_keys.at[row];
        if (k->pid == key.pid && k->tid == key.tid && k->comm.v == key.comm.v)
            return (ThreadId){row};
    }
    ProcessId process = process_of(s, key.pid, key.comm);
    ThreadId thread = profile_add_thread(s->p, process, key.tid, key.comm, TIME_NONE);
    vec_push(NULL, &s->thread_keys, key);
    table_insert(&s->threads, hash, thread.v);
    return thread;
}

static bool counts_time(Str event)
{
    return str_starts_with(event, STR("cpu-clock")) || str_starts_with(event, STR("task-clock"));
}

// One metric an event. There are few; the one of the sample before is tried first.
static bool metric_of(Script *s, Str event, MetricId *ret)
{
    enum { METRICS_MAX = 64 };
    const Metrics *m = &s->p->metrics;
    for (size_t i = 0; i < m->name.len; i++) {
        size_t at = (s->metric.v + i) % m->name.len;
        if (str_equal(profile_text(s->p, m->event.at[at]), event)) {
            s->metric.v = (uint32_t)at;
            *ret = s->metric;
            return true;
        }
    }
    if (m->name.len >= METRICS_MAX)
        return false;
    bool time = counts_time(event);
    s->metric = profile_add_metric(s->p, time ? STR("cpu time") : event, time ? STR("ns") : STR(""),
                                   METRIC_SUM, event);
    *ret = s->metric;
    return true;
}

// ---- Frames ----------------------------------------------------------------

// Splits "symbol+0x12 (object)". Both may hold " (": symbols as "operator()
// (int)", paths as "/a (b)/c" or with " (deleted)" behind. An object begins with
// a slash or a bracket, but for "inlined" and names of maps.
static bool split_object(Str s, Str *symbol, Str *object)
{
    if (!str_ends_with(s, STR(")")))
        return false;
    size_t last = SIZE_MAX;
    for (size_t at = s.len - 1; at-- > 1;) {
        if (s.ptr[at] != '(' || s.ptr[at - 1] != ' ')
            continue;
        if (last == SIZE_MAX)
            last = at;
        if (s.ptr[at + 1] == '/' || s.ptr[at + 1] == '[') {
            last = at;
            break;
        }
    }
    if (last == SIZE_MAX)
        return false;
    *symbol = str_slice(s, 0, last - 1);
    *object = str_slice(s, last + 1, s.len - 1);
    return true;
}

static Str without_offset(Str symbol)
{
    size_t plus = str_find_last_char(symbol, '+');
    if (plus == SIZE_MAX || plus == 0)
        return symbol;
    uint64_t offset;
    Str tail = str_slice(symbol, plus + 1, symbol.len);
    bool is_offset = str_starts_with(tail, STR("0x")) && str_parse_u64(tail, 0, &offset);
    return is_offset ? str_slice(symbol, 0, plus) : symbol;
}

static bool parse_frame(Profile *p, Str line, FrameId *ret)
{
    Str rest = line;
    uint64_t address;
    Str symbol, object;
    if (!str_parse_u64(take_word(&rest), 16, &address) ||
        !split_object(skip_spaces(rest), &symbol, &object))
        return false;
    symbol = without_offset(symbol);
    bool is_named = symbol.len && !str_equal(symbol, STR("[unknown]"));
    bool inlined = str_equal(object, STR("inlined"));
    symbol = import_unescaped(&p->arena, symbol);
    object = import_unescaped(&p->arena, object);
    if (str_equal(object, STR("[kernel.kallsyms]")))
        object = STR("[kernel]"); // as recordings of our own name it
    ModuleId module = {0};
    ModuleKind kind = import_module_kind(object);
    if (!inlined && !str_equal(object, STR("[unknown]")))
        module = profile_module(p, kind, object, STR(""));
    uint8_t flags = inlined ? FRAME_INLINED : 0;
    if (kind == MODULE_KERNEL || kind == MODULE_KMOD)
        flags |= FRAME_KERNEL;
    FunctionId function = {0};
    if (is_named)
        function = profile_function(p, symbol, symbol, STR(""), 0);
    *ret = import_named_frame(p, module, address, function, (StrId){0}, 0, flags);
    return true;
}

static bool frame_of_line(Script *s, Str line, FrameId *ret)
{
    if (line_frames_follow(&s->frames, line, &s->last_frame, ret))
        return true;
    if (!parse_frame(s->p, line, ret))
        return false;
    line_frames_add(&s->frames, line, str_hash(line), *ret);
    return true;
}

// ---- Samples ---------------------------------------------------------------

// "(inlined)" stands where the module would: it is that of the call around it.
static FrameId inlined_in_module(Profile *p, FrameId frame, ModuleId module)
{
    const Frames *f = &p->frames;
    return import_named_frame(p, module, f->address.at[frame.v], f->function.at[frame.v],
                              f->file.at[frame.v], f->line.at[frame.v], f->flags.at[frame.v]);
}

static void end_sample(Script *s)
{
    if (!s->in_sample)
        return;
    StackId stack = {0};
    ModuleId module = {0};
    for (size_t i = s->stack.len; i-- > 0;) {
        FrameId frame = s->stack.at[i];
        if (s->p->frames.flags.at[frame.v] & FRAME_INLINED)
            frame = inlined_in_module(s->p, frame, module);
        module = s->p->frames.module.at[frame.v];
        stack = profile_stack(s->p, stack, frame);
    }
    s->p->samples.stack.at[s->sample] = stack;
    s->stack.len = 0;
    s->in_sample = false;
}

static bool begin_sample(Script *s, Str line)
{
    Header h = {0};
    MetricId metric;
    end_sample(s);
    if (!parse_header(line, &h) || !metric_of(s, h.event, &metric))
        return false;
    if (h.time_ns != TIME_NONE && !s->has_start) {
        s->has_start = true;
        s->start_ns = h.time_ns;
    }
    int64_t time_ns = h.time_ns == TIME_NONE ? TIME_NONE : h.time_ns - s->start_ns;
    s->sample = profile_add_sample(s->p, time_ns, thread_of(s, &h), (StackId){0}, h.cpu);
    profile_sample_set(s->p, s->sample, metric, (int64_t)h.period);
    s->in_sample = true;
    s->samples++;
    return true;
}

static void read_line(Script *s, Str line)
{
    if (line.len == 0) {
        end_sample(s);
        return;
    }
    if (line.ptr[0] == '#')
        return;
    if (line.ptr[0] != '\t' && line.ptr[0] != ' ') {
        s->odd_lines += !begin_sample(s, line);
        return;
    }
    // perf aligns comms to the right: a header may begin with spaces too.
    FrameId frame;
    Str text = skip_spaces(line);
    if (text.len && s->in_sample && frame_of_line(s, text, &frame))
        vec_push(NULL, &s->stack, frame);
    else if (text.len)
        s->odd_lines += line.ptr[0] == '\t' || !begin_sample(s, text);
}

static void finish(Script *s)
{
    end_sample(s);
    profile_set_fact(s->p, STR(FACT_COLLECTOR), STR("import perf script"));
    if (s->odd_lines)
        profile_note(s->p, NOTE_WARNING, STR("odd-lines"),
                     "%llu lines are not of perf script's form and were left out",
                     (unsigned long long)s->odd_lines);
    table_deinit(&s->threads);
    table_deinit(&s->processes);
    vec_free(&s->thread_keys);
    vec_free(&s->stack);
    line_frames_deinit(&s->frames);
}

bool import_perf_script(Bytes file, Profile *p, Error *err)
{
    profile_init(p);
    Script s = {.p = p};
    Str rest = str_from_bytes(file);
    Str line;
    while (str_next_line(&rest, &line))
        read_line(&s, line);
    finish(&s);
    if (s.samples == 0) {
        profile_deinit(p);
        return error_set(err, ERROR_FORMAT, "no sample of perf script's form in %zu bytes",
                         file.len);
    }
    return true;
}
