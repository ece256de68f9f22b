// SPDX-License-Identifier: Apache-2.0
// Stacks as texts, with seconds for each run.

#include "analyse/stack_costs.h"

#include "analyse/keys.h"
#include "model/facts.h"

enum { FRAMES_MOST = 24 };

static bool is_start(Str name)
{
    return str_equal(name, STR("_start")) || str_starts_with(name, STR("__libc_start")) ||
           str_equal(name, STR("start_thread")) || str_starts_with(name, STR("__clone")) ||
           str_equal(name, STR("clone3"));
}

// The names of a stack's functions, innermost first. `*leaf` gets the first place in a source.
static void add_stack(const Profile *p, StackId stack, StrBuf *out, StrBuf *leaf)
{
    StrBuf name = {0};
    size_t frames = 0;
    for (uint32_t s = stack.v; s && frames < FRAMES_MOST; s = p->stacks.parent.at[s].v) {
        FrameId frame = p->stacks.frame.at[s];
        if (p->frames.flags.at[frame.v] & FRAME_KERNEL)
            continue;
        strbuf_clear(&name);
        frame_add_function_name(p, frame, &name);
        if (is_start(strbuf_str(&name)))
            continue;
        if (frames++)
            strbuf_add(out, STR(" < "));
        strbuf_add(out, strbuf_str(&name));
        StrId file = p->frames.file.at[frame.v];
        if (leaf->len == 0 && p->frames.line.at[frame.v] && file.v) {
            strbuf_add(leaf, str_base_name(profile_text(p, file)));
            strbuf_printf(leaf, ":%u", p->frames.line.at[frame.v]);
        }
    }
    strbuf_deinit(&name);
}

static StackCost *row_of(StackCosts *c, Str stack, Str leaf, bool waits)
{
    uint64_t hash = hash_pair(str_hash(stack), waits);
    uint32_t row;
    for (TableProbe t = table_probe(&c->index, hash); table_next(&c->index, &t, &row);)
        if (c->rows.at[row].waits == waits && str_equal(c->rows.at[row].stack, stack))
            return &c->rows.at[row];
    table_insert(&c->index, hash, (uint32_t)c->rows.len);
    vec_push(&c->arena, &c->rows,
             ((StackCost){.stack = arena_str(&c->arena, stack),
                          .leaf = arena_str(&c->arena, leaf),
                          .waits = waits}));
    return &vec_last(&c->rows);
}

static void add_seconds(StackCosts *c, StackCost *row, uint32_t run, double seconds)
{
    while (row->seconds.len <= run)
        vec_push(&c->arena, &row->seconds, 0.0);
    row->seconds.at[run] += seconds;
}

// The metric of an event, or UINT32_MAX.
static uint32_t metric_of(const Profile *p, Str event)
{
    for (uint32_t i = 0; i < p->metrics.event.len; i++)
        if (str_starts_with(profile_text(p, p->metrics.event.at[i]), event))
            return i;
    return UINT32_MAX;
}

void stack_costs_add(StackCosts *c, const Profile *p, uint32_t run, StackWait wait, void *ctx)
{
    const Samples *s = &p->samples;
    uint32_t clock = metric_of(p, STR("cpu-clock")),
             switches = metric_of(p, STR("context-switches"));
    uint64_t start_ns = 0;
    StrBuf stack = {0}, leaf = {0};
    (void)profile_fact_u64(p, STR(FACT_START_MONOTONIC), &start_ns);
    for (size_t i = 0; i < s->stack.len; i++) {
        bool computed = clock < s->value_columns && s->values[clock].at[i] > 0;
        bool left = switches < s->value_columns && s->values[switches].at[i] > 0;
        int64_t ns = computed ? s->values[clock].at[i] : 0;
        if (!computed && left && s->time_ns.at[i] != TIME_NONE)
            ns = wait(ctx, p->threads.tid.at[s->thread.at[i].v],
                      (int64_t)start_ns + s->time_ns.at[i]);
        if (ns <= 0)
            continue;
        strbuf_clear(&stack);
        strbuf_clear(&leaf);
        add_stack(p, s->stack.at[i], &stack, &leaf);
        add_seconds(c, row_of(c, strbuf_str(&stack), strbuf_str(&leaf), !computed), run,
                    (double)ns * 1e-9);
    }
    strbuf_deinit(&stack);
    strbuf_deinit(&leaf);
}

void stack_costs_deinit(StackCosts *c)
{
    table_deinit(&c->index);
    arena_deinit(&c->arena);
    *c = (StackCosts){0};
}

double stack_cost_of(const StackCost *row, uint32_t run)
{
    return run < row->seconds.len ? row->seconds.at[run] : 0;
}

Str stack_waits_for(Str stack)
{
    static const struct {
        const char *part, *what;
    } names[] = {{"cond_wait", "a condition"},
                 {"cond_timedwait", "a condition"},
                 {"mutex", "a lock"},
                 {"lll_lock", "a lock"},
                 {"rwlock", "a lock"},
                 {"sem_wait", "a lock"},
                 {"futex", "a lock"},
                 {"_join", "a thread's end"},
                 {"nanosleep", "sleep"},
                 {"usleep", "sleep"},
                 {"wait4", "a child process"},
                 {"waitpid", "a child process"},
                 {"waitid", "a child process"},
                 {"fsync", "a disk"},
                 {"fdatasync", "a disk"},
                 {"msync", "a disk"},
                 {"epoll", "events"},
                 {"poll", "events"},
                 {"select", "events"},
                 {"accept", "a connection"},
                 {"connect", "a connection"},
                 {"recv", "the other end"},
                 {"sendmsg", "the other end"},
                 {"pread", "a read"},
                 {"read", "a read"},
                 {"pwrite", "a write"},
                 {"write", "a write"}};
    // The innermost functions are the C library's; one of the program's may be named anything.
    Str rest = stack;
    for (int depth = 0; depth < 4 && rest.len; depth++) {
        size_t end = str_find(rest, STR(" < "));
        Str name = str_slice(rest, 0, MIN(end, rest.len));
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (str_find(name, str_from_c(names[i].part)) != SIZE_MAX)
                return str_from_c(names[i].what);
        rest = end == SIZE_MAX ? STR("") : str_slice(rest, end + 3, rest.len);
    }
    return STR("");
}
