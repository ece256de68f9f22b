// SPDX-License-Identifier: Apache-2.0
// massif's text, as ms_print and massif-visualizer read it: the size of the heap over time, and the
// tree of what was live at the peak, innermost frames first.
// Format: valgrind, massif/ms_main.c, and ms_print.

#include "export/export_internal.h"

#include <math.h>

#include "analyse/call_tree.h"
#include "analyse/heap/heap_view.h"
#include "model/facts.h"

// Nodes with a smaller part of the peak are joined, as massif joins them.
static const double threshold_percent = 1;

typedef struct Writer {
    const Profile *p;
    StrBuf out;
    Weights weights;
    Keys keys;
    CallTree upright, tree;
    uint64_t threshold, peak;
    unsigned snapshot;
} Writer;

static void add_snapshot(Writer *w, int64_t time_ns, uint64_t bytes, const char *tree)
{
    strbuf_printf(&w->out,
                  "#-----------\nsnapshot=%u\n#-----------\ntime=%lld\nmem_heap_B=%llu\n"
                  "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
                  w->snapshot++, (long long)(time_ns / 1000000), (unsigned long long)bytes, tree);
}

static void add_place(Writer *w, uint32_t frame)
{
    const Profile *p = w->p;
    strbuf_printf(&w->out, "0x%llX: ", (unsigned long long)p->frames.address.at[frame]);
    StrBuf name = {0};
    frame_add_function_name(p, (FrameId){frame}, &name);
    export_add_line_safe(&w->out, strbuf_str(&name), NULL);
    strbuf_clear(&name);
    StrId file = p->frames.file.at[frame];
    Str module = profile_text(p, p->modules.path.at[p->frames.module.at[frame].v]);
    if (file.v) {
        strbuf_add(&name, str_base_name(profile_text(p, file)));
        strbuf_printf(&name, ":%u", p->frames.line.at[frame]);
    } else if (module.len) {
        strbuf_printf(&name, "in %" STR_FMT, STR_ARG(module));
    }
    if (name.len) {
        strbuf_add(&w->out, STR(" ("));
        export_add_line_safe(&w->out, strbuf_str(&name), NULL);
        strbuf_add_char(&w->out, ')');
    }
    strbuf_add_char(&w->out, '\n');
    strbuf_deinit(&name);
}

typedef struct Step {
    uint32_t node, depth; // NODE_NONE: the line for joined stacks
    uint64_t bytes;
    uint32_t places;
} Step;

// Depth first, without recursion: stacks may be deep.
static void add_tree(Writer *w)
{
    Vec(Step) todo = {0};
    const CallNode *nodes = w->tree.nodes.at;
    vec_push(NULL, &todo, (Step){0, 0, w->peak, 0});
    while (todo.len) {
        Step s = vec_pop(&todo);
        strbuf_add_repeated(&w->out, ' ', s.depth);
        if (s.node == NODE_NONE) {
            strbuf_printf(
                &w->out, "n0: %llu in %u place%s, all below massif's threshold (%.2f%%)\n",
                (unsigned long long)s.bytes, s.places, s.places == 1 ? "" : "s", threshold_percent);
            continue;
        }
        const CallNode *n = &nodes[s.node];
        size_t first = todo.len, shown = 0;
        uint64_t shown_bytes = 0;
        uint32_t small = 0;
        for (uint32_t c = n->first_child; c != NODE_NONE; c = nodes[c].next) {
            if (nodes[c].total < w->threshold) {
                small++;
                continue;
            }
            vec_push(NULL, &todo, (Step){c, s.depth + 1, nodes[c].total, 0});
            shown_bytes += nodes[c].total;
            shown++;
        }
        uint64_t rest = s.bytes > shown_bytes ? s.bytes - shown_bytes : 0;
        // Stacks that end here have no callers, and make no line.
        rest = rest > n->self ? rest - n->self : 0;
        bool joined = small && rest && n->first_child != NODE_NONE;
        if (joined)
            vec_push(NULL, &todo, (Step){NODE_NONE, s.depth + 1, rest, small});
        // The greatest first: the last that was pushed is the first that is taken.
        for (size_t i = first, j = todo.len; i + 1 < j; i++) {
            j--;
            Step t = todo.at[i];
            todo.at[i] = todo.at[j];
            todo.at[j] = t;
        }
        strbuf_printf(&w->out, "n%zu: %llu ", shown + joined, (unsigned long long)s.bytes);
        if (s.depth == 0)
            strbuf_add(&w->out, STR("(heap allocation functions) malloc/new/new[], "
                                    "--alloc-fns, etc.\n"));
        else
            add_place(w, n->frame);
    }
    vec_free(&todo);
}

typedef struct Slice {
    int64_t time_ns;
    uint64_t bytes;
} Slice;

static bool is_whole_heap(const Profile *p, size_t point)
{
    return str_equal(profile_text(p, p->metrics.name.at[p->series.metric.at[point].v]),
                     STR(HEAP_LIVE_BYTES)) &&
           profile_text(p, p->series.part.at[point]).len == 0;
}

static void add_snapshots(Writer *w)
{
    const Profile *p = w->p;
    Vec(Slice) slices = {0};
    size_t highest = 0;
    for (size_t i = 0; i < p->series.metric.len; i++) {
        double value = p->series.value.at[i];
        if (!is_whole_heap(p, i) || !(value >= 0 && value < 9e18))
            continue;
        vec_push(NULL, &slices, (Slice){p->series.time_ns.at[i], (uint64_t)value});
        if (vec_last(&slices).bytes > slices.at[highest].bytes)
            highest = slices.len - 1;
    }
    if (slices.len == 0)
        vec_push(NULL, &slices, (Slice){0, 0});
    add_snapshot(w, 0, 0, "empty");
    for (size_t i = 0; i < slices.len; i++) {
        bool is_peak = i == highest;
        // The series is read now and then: its highest value may be below the true peak.
        add_snapshot(w, slices.at[i].time_ns, is_peak ? w->peak : slices.at[i].bytes,
                     is_peak ? "peak" : "empty");
        if (is_peak)
            add_tree(w);
    }
    vec_free(&slices);
}

static bool write_all(Writer *w, const ExportRequest *request, MetricId metric, Error *err)
{
    Selection selection = request->selection;
    selection.metric = metric;
    if (!weights_init(&w->weights, w->p, &selection, GROUP_NONE, err))
        return false;
    w->peak = w->weights.value;
    w->threshold = MAX((uint64_t)ceil(threshold_percent / 100 * (double)w->peak), (uint64_t)1);
    keys_init(&w->keys, w->p, BY_LINE);
    call_tree_init_self(&w->upright, &w->weights, &w->keys);
    call_tree_invert(&w->tree, &w->upright, w->threshold, 1000);
    call_tree_sort(&w->tree);
    StrBuf command = {0};
    export_add_line_safe(&command, profile_fact(w->p, STR(FACT_COMMAND)), NULL);
    strbuf_printf(&w->out, "desc: assay heap\ncmd: %" STR_FMT "\ntime_unit: ms\n",
                  STR_ARG(strbuf_str(&command)));
    strbuf_deinit(&command);
    add_snapshots(w);
    call_tree_deinit(&w->tree);
    call_tree_deinit(&w->upright);
    keys_deinit(&w->keys);
    weights_deinit(&w->weights);
    return true;
}

bool export_massif(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                   Error *err)
{
    MetricId metric;
    Writer w = {.p = p};
    if (!heap_metric_find(p, HEAP_PEAK_BYTES, &metric)) {
        error_set(err, ERROR_UNSUPPORTED,
                  "massif's format holds recordings of the heap, with bytes at the peak");
        return error_hint(err, "record one: assay heap -- ./prog");
    }
    if (!write_all(&w, request, metric, err))
        return false;
    ExportOut out = {.buf = w.out, .sink = sink};
    return export_finish(&out, err);
}
