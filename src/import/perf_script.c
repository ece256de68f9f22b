// SPDX-License-Identifier: Apache-2.0
// The text of `perf script` -> Profile.
//
// A sample is a header line, its frames innermost first, an empty line:
//     comm pid/tid [cpu] seconds.micros:    period event:
//     <tab>  address symbol+0xoffset (object)
//       file:line
// Any of the fields may be missing; comm and symbol may hold spaces. With -G the line of the sample
// ends in the place that its frame would name.
// Reference: perf-script(1), "FIELDS".

#include "import/import.h"

#include "base/strbuf.h"
#include "import/line_frames_internal.h"
#include "import/perf_script_header_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

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
    ScriptForm form;
    bool in_sample;
    size_t sample; // row
    MetricId metric;
    bool has_start;
    int64_t start_ns;
    uint64_t samples, odd_lines;
} Script;

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

static ThreadId thread_of(Script *s, const ScriptHeader *h)
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

// The meaning of the values of a header's samples. Without the period each sample is one of an
// event, which says nothing of how long or how often; only an occurrence of a tracepoint is itself
// counted.
static MetricId add_metric(Profile *p, const ScriptHeader *h)
{
    bool has_period = h->fields & SCRIPT_PERIOD;
    StrBuf name = {0};
    Str unit = STR("");
    if (has_period && counts_time(h->event)) {
        strbuf_add(&name, STR("cpu time"));
        unit = STR("ns");
    } else if (h->event.len == 0) {
        strbuf_add(&name, has_period ? STR("period") : STR("samples"));
    } else {
        strbuf_add(&name, h->event);
        if (!has_period && !script_is_tracepoint(h->event))
            strbuf_add(&name, STR(" samples"));
    }
    MetricId m = profile_add_metric(p, strbuf_str(&name), unit, METRIC_SUM, h->event);
    strbuf_deinit(&name);
    return m;
}

// One metric an event. There are few; the one of the sample before is tried first.
static bool metric_of(Script *s, const ScriptHeader *h, MetricId *ret)
{
    enum { METRICS_MAX = 64 };
    const Metrics *m = &s->p->metrics;
    for (size_t i = 0; i < m->name.len; i++) {
        size_t at = (s->metric.v + i) % m->name.len;
        if (str_equal(profile_text(s->p, m->event.at[at]), h->event)) {
            s->metric.v = (uint32_t)at;
            *ret = s->metric;
            return true;
        }
    }
    if (m->name.len >= METRICS_MAX)
        return false;
    s->metric = add_metric(s->p, h);
    *ret = s->metric;
    return true;
}

// ---- Frames ----------------------------------------------------------------

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

// "address symbol+0xoffset (object)"; symbol and object may be missing.
static bool parse_frame(Script *s, Str line, FrameId *ret)
{
    Profile *p = s->p;
    Str rest = line;
    uint64_t address;
    Str symbol, object;
    if (!str_parse_u64(take_word(&rest), 16, &address))
        return false;
    bool has_object = script_split_object(skip_spaces(rest), &symbol, &object);
    if (!has_object && s->form.has_objects && !s->form.has_places)
        return false;
    // Without -F dso a text ends in "(inlined)", or with a name such as "f(int) (.cold)".
    if (!has_object || (!s->form.has_objects && !str_equal(object, STR("inlined")))) {
        symbol = str_trim(rest);
        object = STR("[unknown]");
    }
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
    if (!parse_frame(s, line, ret))
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

static void begin_sample(Script *s, const ScriptHeader *h, MetricId metric)
{
    end_sample(s);
    if (h->time_ns != TIME_NONE && !s->has_start) {
        s->has_start = true;
        s->start_ns = h->time_ns;
    }
    int64_t time_ns = h->time_ns == TIME_NONE ? TIME_NONE : h->time_ns - s->start_ns;
    s->sample = profile_add_sample(s->p, time_ns, thread_of(s, h), (StackId){0}, h->cpu);
    profile_sample_set(s->p, s->sample, metric, (int64_t)h->period);
    s->in_sample = true;
    s->samples++;
}

static bool add_frame(Script *s, Str text)
{
    FrameId frame;
    if (!frame_of_line(s, text, &frame))
        return false;
    vec_push(NULL, &s->stack, frame);
    return true;
}

// The line that begins a sample, or another record, which is passed over.
static bool read_header(Script *s, Str line)
{
    ScriptHeader h;
    MetricId metric;
    if (!script_header_parse(&s->form, line, &h))
        return false;
    if (h.fields & SCRIPT_RECORD) {
        end_sample(s);
        return true;
    }
    if (!metric_of(s, &h, &metric))
        return false;
    begin_sample(s, &h, metric);
    return !(h.fields & SCRIPT_PLACE) || add_frame(s, skip_spaces(h.place));
}

// A line of its own behind a frame: "  file.c:12". Where perf knows no line it prints the object.
static bool read_source_line(Script *s, Str line)
{
    if (!s->in_sample || s->stack.len == 0 || !str_starts_with(line, STR("  ")) || line.len < 3 ||
        line.ptr[2] == ' ')
        return false;
    Str text = str_slice(line, 2, line.len);
    size_t colon = str_find_last_char(text, ':');
    uint64_t number;
    if (colon == SIZE_MAX)
        return str_ends_with(text, STR("]")) || str_find_char(text, '+') != SIZE_MAX;
    if (!str_parse_u64(str_slice(text, colon + 1, text.len), 10, &number) || number > UINT32_MAX)
        return false;
    const Frames *f = &s->p->frames;
    FrameId last = vec_last(&s->stack);
    vec_last(&s->stack) = import_named_frame(
        s->p, f->module.at[last.v], f->address.at[last.v], f->function.at[last.v],
        profile_str(s->p, str_slice(text, 0, colon)), (uint32_t)number, f->flags.at[last.v]);
    return true;
}

// Stacks that no line of their own comes before: an empty line begins each.
static void begin_anonymous(Script *s)
{
    MetricId metric;
    ScriptHeader h = {.cpu = SAMPLE_CPU_NONE, .time_ns = TIME_NONE, .period = 1};
    if (metric_of(s, &h, &metric))
        begin_sample(s, &h, metric);
}

static bool read_tab_line(Script *s, Str line)
{
    if (!s->in_sample && s->form.is_anonymous)
        begin_anonymous(s);
    Str text = skip_spaces(line);
    return text.len == 0 || (s->in_sample && add_frame(s, text)) || script_is_passed_over(line);
}

// Whether a line without a tab may be a frame: a text of other writers, or of a copy.
static bool is_bare_frame(const Script *s, Str line)
{
    if (!s->in_sample || s->form.has_places || s->form.has_tab_frames || s->form.is_weak)
        return false;
    Str rest = line, word = take_word(&rest), symbol, object;
    uint64_t address;
    return word.len >= 2 && str_parse_u64(word, 16, &address) &&
           script_split_object(skip_spaces(rest), &symbol, &object);
}

static void read_line(Script *s, Str line)
{
    if (line.len == 0) {
        end_sample(s);
        return;
    }
    if (line.ptr[0] == '#')
        return;
    bool known;
    if (line.ptr[0] == '\t')
        known = read_tab_line(s, line);
    else if (is_bare_frame(s, line))
        known = add_frame(s, skip_spaces(line));
    else
        known = read_source_line(s, line) || read_header(s, line) || script_is_passed_over(line);
    s->odd_lines += !known;
}

static void finish(Script *s)
{
    end_sample(s);
    profile_set_fact(s->p, STR(FACT_COLLECTOR), STR("import perf script"));
    if (s->odd_lines)
        profile_note(s->p, NOTE_WARNING, STR("odd-lines"),
                     "lines that are not of perf script's form and were left out: %llu",
                     (unsigned long long)s->odd_lines);
    table_deinit(&s->threads);
    table_deinit(&s->processes);
    vec_free(&s->thread_keys);
    vec_free(&s->stack);
    line_frames_deinit(&s->frames);
}

bool import_perf_script(Bytes file, Profile *p, Error *err)
{
    Str rest = str_from_bytes(file);
    Str line;
    ScriptForm form;
    if (!script_form_find(rest, &form, err)) {
        if (err->kind == ERROR_NOT_FOUND)
            error_set(err, ERROR_FORMAT, "no sample of perf script's form in %zu bytes", file.len);
        return false;
    }
    profile_init(p);
    Script s = {.p = p, .form = form};
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
