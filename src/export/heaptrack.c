// SPDX-License-Identifier: Apache-2.0
// heaptrack's text, interpreted form, version 3. It is a list of events, of which the recording has
// only sums: the events that are written have its sums, its peak and its end.
// Format: heaptrack, src/interpret and src/analyze/accumulatedtracedata.cpp.

#include "export/export_internal.h"

#include <inttypes.h>

#include "analyse/heap/heap_view.h"
#include "base/table.h"
#include "model/facts.h"

enum {
    HEAPTRACK_VERSION = 0x10500, // 1.5.0, the first whose texts have a length
    FORMAT_VERSION = 3,
    EVENTS_MOST = 20000000, // an event has about six bytes
};

typedef struct Writer {
    HeapView v;
    ExportOut out;
    Intern strings; // number: as heaptrack counts them, 0 is none
    Arena arena;
    uint32_t written;   // strings
    uint32_t *ip_of;    // [frame]: its number
    uint32_t *trace_of; // [stack]: its number
    uint32_t ips, traces, infos;
    StrBuf text;
} Writer;

static uint32_t string_of(Writer *w, Str s)
{
    StrBuf safe = {0};
    export_add_line_safe(&safe, s, NULL);
    uint32_t number = s.len ? intern_add(&w->strings, strbuf_str(&safe)) : 0;
    if (number > w->written) {
        w->written = number;
        strbuf_printf(&w->out.buf, "s %zx %" STR_FMT "\n", safe.len, STR_ARG(strbuf_str(&safe)));
    }
    strbuf_deinit(&safe);
    return number;
}

static uint32_t ip_of(Writer *w, uint32_t frame)
{
    const Profile *p = w->v.p;
    if (w->ip_of[frame])
        return w->ip_of[frame];
    uint32_t module =
        string_of(w, profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]));
    StrBuf line = {0};
    strbuf_printf(&line, "i %" PRIx64 " %x", p->frames.address.at[frame], module);
    // The place of the address itself is the innermost one; the others follow outwards.
    for (uint32_t f = frame; f; f = p->frames.inlined_in.at[f].v) {
        strbuf_clear(&w->text);
        frame_add_function_name(p, (FrameId){f}, &w->text);
        uint32_t name = string_of(w, strbuf_str(&w->text));
        uint32_t file = string_of(w, profile_text(p, p->frames.file.at[f]));
        strbuf_printf(&line, " %x %x %x", name, file, p->frames.line.at[f]);
    }
    strbuf_add_char(&line, '\n');
    strbuf_add(&w->out.buf, strbuf_str(&line));
    strbuf_deinit(&line);
    return w->ip_of[frame] = ++w->ips;
}

// Parents have smaller numbers, so that stacks above are written first.
static uint32_t trace_of(Writer *w, uint32_t stack)
{
    const Profile *p = w->v.p;
    U32Vec todo = {0};
    for (uint32_t s = stack; s && !w->trace_of[s]; s = p->stacks.parent.at[s].v)
        vec_push(NULL, &todo, s);
    while (todo.len) {
        uint32_t s = vec_pop(&todo), parent = p->stacks.parent.at[s].v;
        uint32_t ip = ip_of(w, p->stacks.frame.at[s].v);
        strbuf_printf(&w->out.buf, "t %x %x\n", ip, parent ? w->trace_of[parent] : 0);
        w->trace_of[s] = ++w->traces;
    }
    vec_free(&todo);
    return stack ? w->trace_of[stack] : 0;
}

// Blocks of one size of a stack: `count` of them.
typedef struct Blocks {
    uint32_t info;
    uint64_t count, size;
} Blocks;

static Blocks blocks_of(Writer *w, uint32_t trace, uint64_t size, uint64_t count)
{
    if (count == 0)
        return (Blocks){0};
    strbuf_printf(&w->out.buf, "a %" PRIx64 " %x\n", size, trace);
    return (Blocks){w->infos++, count, size};
}

// `bytes` in `count` blocks: most of the mean size, the last ones a byte larger.
static void split(Writer *w, uint32_t trace, uint64_t bytes, uint64_t count, Blocks ret[2])
{
    ret[0] = ret[1] = (Blocks){0};
    if (count == 0)
        return;
    uint64_t size = bytes / count, larger = bytes % count;
    ret[0] = blocks_of(w, trace, size, count - larger);
    ret[1] = blocks_of(w, trace, size + 1, larger);
}

static bool add_events(Writer *w, char sign, const Blocks b[2])
{
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 0; n < b[i].count; n++) {
            strbuf_printf(&w->out.buf, "%c %x\n", sign, b[i].info);
            if (!export_flush(&w->out, EXPORT_FLUSH))
                return false;
        }
    return true;
}

// Blocks that came and went: two at a time, freed in the order in which they came, because a block
// that is freed at once counts as temporary.
static bool add_passing(Writer *w, const Blocks b[2])
{
    for (int i = 0; i < 2; i++)
        for (uint64_t n = 0, step; n < b[i].count; n += step) {
            // A second block must not make a new peak.
            bool two = n + 1 < b[i].count && b[i].size <= w->v.total[HEAP_PEAK_BYTES] / 2;
            uint32_t info = b[i].info;
            strbuf_printf(&w->out.buf, two ? "+ %x\n+ %x\n- %x\n- %x\n" : "+ %x\n- %x\n", info,
                          info, info, info);
            step = two ? 2 : 1;
            if (!export_flush(&w->out, EXPORT_FLUSH))
                return false;
        }
    return true;
}

typedef struct StackBlocks {
    Blocks passing[2]; // neither live at the peak nor at the end
    Blocks peak[2];    // live at the peak, freed behind it
    Blocks both[2];    // live at the peak and at the end
    Blocks late[2];    // live at the end, allocated behind the peak
} StackBlocks;

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static StackBlocks plan(Writer *w, const HeapRow *row)
{
    const uint64_t *x = row->value;
    StackBlocks s;
    uint32_t trace = trace_of(w, row->stack.v);
    uint64_t peak = x[HEAP_PEAK_BLOCKS], end = x[HEAP_END_BLOCKS];
    uint64_t peak_bytes = x[HEAP_PEAK_BYTES], end_bytes = x[HEAP_END_BYTES];
    // Which blocks stay from the peak on is not known: as many as can be.
    uint64_t both = MIN(peak, end), both_bytes = MIN(peak_bytes, end_bytes);
    if ((peak == both) != (peak_bytes == both_bytes) || (end == both) != (end_bytes == both_bytes))
        both = both_bytes = 0;
    uint64_t kept = peak + end - both, kept_bytes = peak_bytes + end_bytes - both_bytes;
    split(w, trace, less(x[HEAP_BYTES], kept_bytes), less(x[HEAP_BLOCKS], kept), s.passing);
    split(w, trace, peak_bytes - both_bytes, peak - both, s.peak);
    split(w, trace, both_bytes, both, s.both);
    split(w, trace, end_bytes - both_bytes, end - both, s.late);
    return s;
}

static bool write_events(Writer *w)
{
    size_t rows = w->v.stacks.len;
    StackBlocks *s = heap_alloc((rows + 1) * sizeof(*s));
    bool ok = true;
    for (size_t i = 0; i < rows; i++)
        s[i] = plan(w, &w->v.stacks.at[i]);
    strbuf_add(&w->out.buf, STR("c 0\n"));
    for (size_t i = 0; i < rows && ok; i++)
        ok = add_passing(w, s[i].passing);
    for (size_t i = 0; i < rows && ok; i++)
        ok = add_events(w, '+', s[i].peak) && add_events(w, '+', s[i].both);
    for (size_t i = 0; i < rows && ok; i++)
        ok = add_events(w, '-', s[i].peak);
    for (size_t i = 0; i < rows && ok; i++)
        ok = add_events(w, '+', s[i].late);
    strbuf_printf(&w->out.buf, "c %" PRIx64 "\n", w->v.wall_ns / 1000000);
    heap_free(s);
    return ok;
}

bool export_heaptrack(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                      Error *err)
{
    Writer w = {.out = {.sink = sink}};
    if (!heap_view_init(&w.v, p, &request->selection, err))
        return false;
    bool fits = w.v.total[HEAP_BLOCKS] <= EVENTS_MOST, known = w.v.has[HEAP_BLOCKS];
    if (!fits || !known) {
        error_set(err, ERROR_UNSUPPORTED,
                  known ? "heaptrack's format has an event for each block: %" PRIu64
                          " blocks are too many"
                        : "heaptrack's format holds recordings of the heap, with blocks allocated",
                  w.v.total[HEAP_BLOCKS]);
        error_hint(err, "%s",
                   known ? "export as dhat or pprof, which hold sums"
                         : "record one: assay heap -- ./prog");
        heap_view_deinit(&w.v);
        return false;
    }
    intern_init(&w.strings, &w.arena);
    w.ip_of = heap_alloc((p->frames.module.len + 1) * sizeof(*w.ip_of));
    w.trace_of = heap_alloc((p->stacks.parent.len + 1) * sizeof(*w.trace_of));
    strbuf_printf(&w.out.buf, "v %x %x\nX %" STR_FMT "\nI 1000 0\n", HEAPTRACK_VERSION,
                  FORMAT_VERSION, STR_ARG(profile_fact(p, STR(FACT_COMMAND))));
    bool ok = write_events(&w);
    ok = export_finish(&w.out, err) && ok;
    strbuf_deinit(&w.text);
    heap_free(w.ip_of);
    heap_free(w.trace_of);
    intern_deinit(&w.strings);
    arena_deinit(&w.arena);
    heap_view_deinit(&w.v);
    return ok;
}
