// SPDX-License-Identifier: Apache-2.0
// Profiles by hand for tests: stacks written as "main;a;b", root first.
//   "a"      function a, declared in a.c:1, running at a.c:10
//   "a:20"   the same, at a.c:20
//   "=b"     b, inlined into what stands before it
//   "k!x"    kernel function x
//   "?lib"   a place in module /lib/lib.so that has no symbol
//   "#1"     the stack is cut here, because of StackCut 1

#ifndef TESTS_UNIT_ANALYSE_SKETCH_H
#define TESTS_UNIT_ANALYSE_SKETCH_H

#include "model/profile.h"

typedef struct Sketch {
    Profile p;
    MetricId time;
    ThreadId main_thread;
} Sketch;

static inline Sketch *sketch_open(Sketch *s)
{
    profile_init(&s->p);
    s->time = profile_add_metric(&s->p, STR("cpu time"), STR("ns"), METRIC_SUM, STR("cpu-clock:u"));
    ProcessId process = profile_add_process(&s->p, 100, 1, profile_str(&s->p, STR("prog")), 0);
    s->main_thread = profile_add_thread(&s->p, process, 100, profile_str(&s->p, STR("prog")), 0);
    return s;
}

static inline void sketch_close(Sketch *s)
{
    profile_deinit(&s->p);
}

typedef struct SketchPlace {
    FunctionId function;
    StrId file;
    uint32_t line;
} SketchPlace;

static inline SketchPlace sketch_place(Profile *p, Str word)
{
    Str name = word, number = STR("10");
    (void)str_split(word, ':', &name, &number);
    uint64_t line = 10;
    assert(str_parse_u64(number, 10, &line));
    Str file = arena_printf(&p->arena, "/src/%" STR_FMT ".c", STR_ARG(name));
    return (SketchPlace){profile_function(p, name, name, file, 1), profile_str(p, file),
                         (uint32_t)line};
}

static inline FrameId sketch_frame(Profile *p, Str word)
{
    ModuleId program = profile_module(p, MODULE_FILE, STR("/bin/prog"), STR("abcd"));
    if (word.ptr[0] == '#') {
        uint64_t cut = 0;
        assert(str_parse_u64(str_slice(word, 1, word.len), 10, &cut));
        return profile_cut_frame(p, (StackCut)cut);
    }
    if (word.ptr[0] == '?') {
        Str path =
            arena_printf(&p->arena, "/lib/%" STR_FMT ".so", STR_ARG(str_slice(word, 1, word.len)));
        return profile_frame(p, profile_module(p, MODULE_FILE, path, STR("")), 0x40, 0);
    }
    if (str_starts_with(word, STR("k!"))) {
        Str name = str_slice(word, 2, word.len);
        ModuleId kernel = profile_module(p, MODULE_KERNEL, STR("[kernel]"), STR(""));
        return profile_named_frame(p, kernel, 0xffff0000,
                                   profile_function(p, name, name, STR(""), 0), (StrId){0}, 0,
                                   FRAME_KERNEL);
    }
    SketchPlace at = sketch_place(p, word);
    return profile_named_frame(p, program, 0x1000 + at.line, at.function, at.file, at.line, 0);
}

// The frame for "outer;=mid;=inner": `inner` innermost.
static inline FrameId sketch_inlined(Profile *p, FrameId outer, Str word)
{
    SketchPlace at = sketch_place(p, str_slice(word, 1, word.len));
    static uint64_t address = 0x100000;
    FrameId inner = profile_frame(p, p->frames.module.at[outer.v], address++, 0);
    profile_frame_resolve(p, inner, at.function, at.file, at.line);
    // Inliners stand behind what they hold: the chain is copied to the end.
    FrameId last = inner;
    for (FrameId from = outer; from.v; from = p->frames.inlined_in.at[from.v]) {
        last = profile_frame_add_inliner(p, last);
        profile_frame_resolve(p, last, p->frames.function.at[from.v], p->frames.file.at[from.v],
                              p->frames.line.at[from.v]);
    }
    return inner;
}

static inline StackId sketch_stack(Profile *p, const char *text)
{
    Str rest = str_from_c(text), word;
    StackId stack = {0};
    FrameId frame = {0};
    while (str_next_part(&rest, ';', &word)) {
        if (word.ptr[0] == '=') {
            frame = sketch_inlined(p, frame, word);
            continue;
        }
        if (frame.v)
            stack = profile_stack(p, stack, frame);
        frame = sketch_frame(p, word);
    }
    return frame.v ? profile_stack(p, stack, frame) : stack;
}

// One sample of `value` in the first metric.
static inline void sketch_sample(Sketch *s, ThreadId thread, int64_t time_ns, const char *stack,
                                 int64_t value)
{
    size_t i = profile_add_sample(&s->p, time_ns, thread, sketch_stack(&s->p, stack), 0);
    profile_sample_set(&s->p, i, s->time, value);
}

static inline void sketch_add(Sketch *s, const char *stack, int64_t value)
{
    sketch_sample(s, s->main_thread, (int64_t)s->p.samples.stack.len * 1000, stack, value);
}

#endif // TESTS_UNIT_ANALYSE_SKETCH_H
