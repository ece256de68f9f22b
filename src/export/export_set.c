// SPDX-License-Identifier: Apache-2.0
// Code shared by the writers of the formats: the samples and rows to write, names, output.

#include "base/unshown.h"
#include "export/export_internal.h"
#include "export/protobuf_internal.h"
#include "model/facts.h"

bool export_flush(ExportOut *out, size_t above)
{
    if (out->buf.len > above && !out->failed) {
        out->failed = !out->sink->write(out->sink->ctx, strbuf_str(&out->buf));
        strbuf_clear(&out->buf);
    }
    return !out->failed;
}

bool export_finish(ExportOut *out, Error *err)
{
    bool ok = export_flush(out, 0);
    strbuf_deinit(&out->buf);
    if (!ok && err)
        *err = (Error){0};
    return ok;
}

// ---- The used rows ------------------------------------------------------------

static uint32_t *none_rows(size_t count)
{
    uint32_t *rows = heap_alloc((count + 1) * sizeof(uint32_t));
    memset(rows, 0xff, (count + 1) * sizeof(uint32_t));
    return rows;
}

static void use_thread(ExportSet *s, uint32_t thread)
{
    if (s->row_of_thread[thread] != EXPORT_NONE)
        return;
    s->row_of_thread[thread] = (uint32_t)s->threads.len;
    vec_push(NULL, &s->threads, thread);
}

static void use_frame(ExportSet *s, uint32_t frame)
{
    if (s->row_of_frame[frame] != EXPORT_NONE)
        return;
    s->row_of_frame[frame] = (uint32_t)s->frames.len;
    vec_push(NULL, &s->frames, frame);
    uint32_t key = s->keys.of_frame[frame];
    if (s->row_of_key[key] == EXPORT_NONE) {
        s->row_of_key[key] = (uint32_t)s->functions.len;
        vec_push(NULL, &s->functions, key);
    }
}

// Rows for one stack of the profile, whose parent has its rows already: one for
// each inlined level, outermost first.
static void use_stack(ExportSet *s, uint32_t stack)
{
    const FrameId *inlined_in = s->p->frames.inlined_in.at;
    uint32_t parent = s->p->stacks.parent.at[stack].v;
    uint32_t above = parent ? s->row_of_stack[parent] : EXPORT_NONE;
    uint32_t chain[64];
    size_t depth = 0;
    for (uint32_t f = s->p->stacks.frame.at[stack].v; depth < ARRAY_LEN(chain);
         f = inlined_in[f].v) {
        chain[depth++] = f;
        if (inlined_in[f].v == 0)
            break;
    }
    while (depth > 0) {
        uint32_t frame = chain[--depth];
        use_frame(s, frame);
        vec_push(NULL, &s->stacks, (ExportStack){.parent = above, .frame = frame});
        above = (uint32_t)s->stacks.len - 1;
    }
    s->row_of_stack[stack] = above;
}

// Rows for the marked stacks, and for those that they lead through, which have none yet.
static void use_stacks(ExportSet *s, uint8_t *used)
{
    size_t stacks = s->p->stacks.parent.len;
    for (size_t i = stacks; i-- > 1;)
        if (used[i])
            used[s->p->stacks.parent.at[i].v] = 1;
    for (uint32_t i = 1; i < stacks; i++)
        if (used[i] && s->row_of_stack[i] == EXPORT_NONE)
            use_stack(s, i);
}

bool export_set_init(ExportSet *s, const Profile *p, const ExportRequest *request, bool any_metric,
                     Error *err)
{
    *s = (ExportSet){.p = p, .request = request};
    if (!selection_samples(p, &request->selection, any_metric, &s->samples, err))
        return false;
    keys_init(&s->keys, p, BY_FUNCTION);
    size_t stacks = p->stacks.parent.len;
    s->row_of_stack = none_rows(stacks);
    s->row_of_frame = none_rows(p->frames.module.len);
    s->row_of_key = none_rows(s->keys.first.len);
    s->row_of_thread = none_rows(p->threads.tid.len);
    uint8_t *used = heap_alloc(stacks + 1);
    for (size_t i = 0; i < s->samples.len; i++) {
        uint32_t sample = s->samples.at[i];
        use_thread(s, p->samples.thread.at[sample].v);
        used[p->samples.stack.at[sample].v] = 1;
    }
    use_stacks(s, used);
    heap_free(used);
    return true;
}

void export_set_add_events(ExportSet *s)
{
    const Profile *p = s->p;
    const Selection *selection = &s->request->selection;
    if (selection->focus || selection->ignore)
        return;
    uint8_t *has = selection_threads(p, selection);
    for (size_t i = 0; i < p->calls.thread.len; i++)
        if (has[p->calls.thread.at[i].v])
            use_thread(s, p->calls.thread.at[i].v);
    for (size_t i = 0; i < p->waits.thread.len; i++)
        if (has[p->waits.thread.at[i].v])
            use_thread(s, p->waits.thread.at[i].v);
    heap_free(has);
}

void export_set_use_spans(ExportSet *s, const WaitSpans *w)
{
    uint8_t *used = heap_alloc(s->p->stacks.parent.len + 1);
    for (size_t i = 0; i < w->spans.len; i++) {
        use_thread(s, w->spans.at[i].thread.v);
        used[w->spans.at[i].stack.v] = 1;
    }
    for (size_t i = 0; i < w->arrows.len; i++) {
        use_thread(s, w->arrows.at[i].from.v);
        use_thread(s, w->arrows.at[i].to.v);
    }
    use_stacks(s, used);
    heap_free(used);
}

void export_set_deinit(ExportSet *s)
{
    vec_free(&s->samples);
    vec_free(&s->stacks);
    vec_free(&s->frames);
    vec_free(&s->functions);
    vec_free(&s->threads);
    heap_free(s->row_of_stack);
    heap_free(s->row_of_frame);
    heap_free(s->row_of_key);
    heap_free(s->row_of_thread);
    keys_deinit(&s->keys);
}

void export_samples_by_thread(const ExportSet *s, uint32_t **order, size_t **starts)
{
    const ThreadId *thread = s->p->samples.thread.at;
    size_t *at = heap_alloc((s->threads.len + 2) * sizeof(size_t));
    for (size_t i = 0; i < s->samples.len; i++)
        at[s->row_of_thread[thread[s->samples.at[i]].v] + 1]++;
    for (size_t t = 0; t < s->threads.len; t++)
        at[t + 1] += at[t];
    uint32_t *sorted = heap_alloc((s->samples.len + 1) * sizeof(uint32_t));
    size_t *next = heap_alloc((s->threads.len + 1) * sizeof(size_t));
    memcpy(next, at, s->threads.len * sizeof(size_t));
    for (size_t i = 0; i < s->samples.len; i++)
        sorted[next[s->row_of_thread[thread[s->samples.at[i]].v]]++] = s->samples.at[i];
    heap_free(next);
    *order = sorted;
    *starts = at;
}

void export_add_name(const ExportSet *s, uint32_t key, StrBuf *out)
{
    keys_add_name(&s->keys, key, out);
}

Str export_thread_name(const Profile *p, uint32_t thread)
{
    Str name = profile_text(p, p->threads.name.at[thread]);
    return name.len ? name : STR("[unnamed]");
}

Str export_service_name(const Profile *p, const ExportRequest *request)
{
    Str words = profile_fact(p, STR(FACT_COMMAND)), name;
    if (request->service.len)
        return request->service;
    if (str_next_part(&words, ' ', &name) && str_base_name(name).len)
        return str_base_name(name);
    for (size_t i = 0; i < p->processes.pid.len; i++) {
        name = profile_text(p, p->processes.name.at[i]);
        if (p->processes.pid.at[i] != 0 && name.len)
            return name;
    }
    return STR("unknown_service");
}

static bool is_lower_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_mark(Str s, size_t at)
{
    return s.ptr[at] == '\\' && at + 3 < s.len && s.ptr[at + 1] == 'x' &&
           is_lower_hex(s.ptr[at + 2]) && is_lower_hex(s.ptr[at + 3]);
}

void export_add_line_safe(StrBuf *out, Str s, bool (*also)(Str s, size_t at))
{
    int hidden = 0;
    for (size_t i = 0; i < s.len; i++) {
        bool is_edge = s.ptr[i] == ' ' && (i == 0 || i + 1 == s.len);
        bool is_hidden = str_next_unshown(s, i, &hidden);
        if (is_hidden || is_edge || is_mark(s, i) || (also && also(s, i)))
            strbuf_printf(out, "\\x%02x", (unsigned char)s.ptr[i]);
        else
            strbuf_add_char(out, s.ptr[i]);
    }
}

Str export_metric_name(const Profile *p, size_t metric)
{
    Str name = profile_text(p, p->metrics.name.at[metric]);
    return str_equal(name, STR("cpu time")) ? STR("cpu") : name;
}

bool export_has_metric(const ExportSet *s, size_t metric)
{
    bool is_wanted = s->request->all_metrics || metric == s->request->selection.metric.v;
    return is_wanted && !metric_is_text(s->p, (MetricId){(uint32_t)metric});
}

Str export_metric_unit(const Profile *p, size_t metric)
{
    Str unit = profile_text(p, p->metrics.unit.at[metric]);
    return str_equal(unit, STR("ns")) ? STR("nanoseconds") : unit.len ? unit : STR("count");
}

uint64_t pb_string_of(Intern *strings, Str s)
{
    // Other than ASCII is rare: the check comes first.
    bool ascii = true;
    for (size_t i = 0; i < s.len && ascii; i++)
        ascii = (unsigned char)s.ptr[i] < 0x80;
    if (ascii)
        return intern_add(strings, s);
    StrBuf clean = {0};
    for (size_t at = 0; at < s.len;) {
        size_t from = at;
        if (utf8_next(s, &at) == 0xfffd)
            strbuf_add(&clean, STR("\xef\xbf\xbd"));
        else
            strbuf_add(&clean, str_slice(s, from, at));
    }
    uint64_t id = intern_add(strings, strbuf_str(&clean));
    strbuf_deinit(&clean);
    return id;
}
