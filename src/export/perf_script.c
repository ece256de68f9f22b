// SPDX-License-Identifier: Apache-2.0
// The text that 'perf script' prints, which inferno, stackcollapse-perf.pl, the
// Firefox Profiler and speedscope read.

#include "export/export_internal.h"

// A word: readers end it at white space.
static void add_word(StrBuf *out, Str s)
{
    StrBuf word = {0};
    strbuf_add(&word, s);
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == ' ')
            word.ptr[i] = '_';
    export_add_line_safe(out, strbuf_str(&word), NULL);
    strbuf_deinit(&word);
}

// Characters that would begin the object, or stand for a missing name.
static bool is_misread_name(Str s, size_t at)
{
    if (s.ptr[at] == '(')
        return at > 0 && s.ptr[at - 1] == ' ' && at + 1 < s.len &&
               (s.ptr[at + 1] == '/' || s.ptr[at + 1] == '[');
    if (s.ptr[at] == '[')
        return at == 0 && str_equal(s, STR("[unknown]"));
    // "+0x12" at the end would be an offset.
    uint64_t offset;
    return s.ptr[at] == '+' && str_starts_with(str_slice(s, at + 1, s.len), STR("0x")) &&
           str_parse_u64(str_slice(s, at + 1, s.len), 0, &offset);
}

static bool is_misread_object(Str s, size_t at)
{
    return s.ptr[at] == '(' && at > 0 && s.ptr[at - 1] == ' ';
}

// The values of a probe's arguments, as perf shows them: len=5 name="text".
static void add_arguments(StrBuf *out, const Profile *p, uint32_t sample, uint32_t metric)
{
    Str owner_name = profile_text(p, p->metrics.name.at[metric]);
    MetricId owner;
    for (uint32_t m = 0; m < p->metrics.name.len; m++) {
        if (!metric_is_argument(p, (MetricId){m}, &owner) || owner.v != metric)
            continue;
        Str name = profile_text(p, p->metrics.name.at[m]);
        int64_t value = p->samples.values[m].at[sample];
        strbuf_add_char(out, ' ');
        add_word(out, str_slice(name, MIN(owner_name.len + 1, name.len), name.len));
        bool is_text = metric_is_text(p, (MetricId){m});
        if (!is_text) {
            strbuf_printf(out, "=%lld", (long long)value);
            continue;
        }
        strbuf_add(out, STR("=\""));
        if (value > 0 && (uint64_t)value < p->strings.texts.len)
            export_add_line_safe(out, profile_text(p, (StrId){(uint32_t)value}), NULL);
        strbuf_add_char(out, '"');
    }
}

static void add_head(StrBuf *out, const Profile *p, uint32_t sample, uint32_t metric,
                     bool has_arguments)
{
    uint32_t thread = p->samples.thread.at[sample].v;
    uint32_t pid = p->processes.pid.at[p->threads.process.at[thread].v];
    add_word(out, export_thread_name(p, thread));
    strbuf_printf(out, " %u/%u", pid, p->threads.tid.at[thread]);
    if (p->samples.cpu.at[sample] != SAMPLE_CPU_NONE)
        strbuf_printf(out, " [%03u]", p->samples.cpu.at[sample]);
    int64_t time = p->samples.time_ns.at[sample];
    uint64_t ns = time == TIME_NONE || time < 0 ? 0 : (uint64_t)time;
    strbuf_printf(out, " %llu.%06llu: ", (unsigned long long)(ns / 1000000000),
                  (unsigned long long)(ns / 1000 % 1000000));
    strbuf_add_u64(out, (uint64_t)p->samples.values[metric].at[sample]);
    strbuf_add_char(out, ' ');
    Str event = profile_text(p, p->metrics.event.at[metric]);
    if (event.len == 0)
        event = profile_text(p, p->metrics.name.at[metric]);
    add_word(out, event);
    strbuf_add(out, has_arguments ? STR(":") : STR(": "));
    if (has_arguments)
        add_arguments(out, p, sample, metric);
    strbuf_add_char(out, '\n');
}

// "\t    addr name (object)", made once for each frame.
static Str frame_line(const ExportSet *s, uint32_t frame, Arena *arena, StrVec *lines)
{
    uint32_t row = s->row_of_frame[frame];
    if (lines->at[row].len)
        return lines->at[row];
    const Profile *p = s->p;
    StrBuf text = {0}, name = {0};
    bool is_cut = p->frames.flags.at[frame] & FRAME_CUT;
    strbuf_printf(&text, "\t%16llx ",
                  is_cut ? 0ull : (unsigned long long)p->frames.address.at[frame]);
    uint32_t function = p->frames.function.at[frame].v;
    bool is_named = profile_text(p, p->functions.name.at[function]).len > 0;
    if (is_named || is_cut)
        export_add_name(s, s->keys.of_frame[frame], &name);
    else
        strbuf_add(&text, STR("[unknown]"));
    export_add_line_safe(&text, strbuf_str(&name), is_misread_name);
    bool is_inlined = p->frames.inlined_in.at[frame].v || p->frames.flags.at[frame] & FRAME_INLINED;
    Str path = profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]);
    if (p->modules.kind.at[p->frames.module.at[frame].v] == MODULE_KERNEL)
        path = STR("[kernel.kallsyms]");
    strbuf_add(&text, STR(" ("));
    if (is_inlined)
        strbuf_add(&text, STR("inlined"));
    else
        export_add_line_safe(&text, path.len ? path : STR("[unknown]"), is_misread_object);
    strbuf_add(&text, STR(")\n"));
    lines->at[row] = arena_str(arena, strbuf_str(&text));
    strbuf_deinit(&text);
    strbuf_deinit(&name);
    return lines->at[row];
}

bool export_perf_script(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                        Error *err)
{
    ExportSet s;
    if (!export_set_init(&s, p, request, request->all_metrics, err))
        return false;
    ExportOut out = {.sink = sink};
    Arena arena = {0};
    StrVec lines = {0};
    MetricId owner;
    bool has_arguments = false;
    for (uint32_t m = 0; m < p->metrics.name.len; m++)
        has_arguments |= metric_is_argument(p, (MetricId){m}, &owner);
    (void)vec_extend(&arena, &lines, s.frames.len + 1);
    for (size_t i = 0; i < s.samples.len; i++) {
        uint32_t sample = s.samples.at[i];
        for (uint32_t m = 0; m < p->metrics.name.len; m++) {
            if (p->samples.values[m].at[sample] <= 0 ||
                (!request->all_metrics && m != request->selection.metric.v) ||
                metric_is_argument(p, (MetricId){m}, &owner))
                continue;
            add_head(&out.buf, p, sample, m, has_arguments);
            uint32_t stack = p->samples.stack.at[sample].v;
            for (uint32_t row = stack ? s.row_of_stack[stack] : EXPORT_NONE; row != EXPORT_NONE;
                 row = s.stacks.at[row].parent)
                strbuf_add(&out.buf, frame_line(&s, s.stacks.at[row].frame, &arena, &lines));
            strbuf_add_char(&out.buf, '\n');
        }
        if (!export_flush(&out, EXPORT_FLUSH))
            break;
    }
    arena_deinit(&arena);
    export_set_deinit(&s);
    return export_finish(&out, err);
}
