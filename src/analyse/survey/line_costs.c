// SPDX-License-Identifier: Apache-2.0
// Costs of source lines.

#include "analyse/survey/line_costs.h"

#include <stdlib.h>

#include "analyse/executions.h"
#include "analyse/lines.h"
#include "analyse/waits.h"
#include "model/facts.h"

// One recording while its stacks are walked.
typedef struct Walk {
    LineCosts *c;
    const Profile *p;
    uint8_t *libraries; // [frame]
    uint8_t *runtimes;  // [module] an interpreter or a virtual machine
    StackId found;      // the stack whose frame was found last
    FrameId below;      // the frame that it called; 0: the sample ended in it
} Walk;

void line_costs_init(LineCosts *c)
{
    *c = (LineCosts){0};
    intern_init(&c->names, &c->arena);
}

void line_costs_deinit(LineCosts *c)
{
    vec_free(&c->rows);
    intern_deinit(&c->names);
    arena_deinit(&c->arena);
}

// ---- Lines of user code ------------------------------------------------------------------------

// Programs whose own functions are not those of the user's program.
static bool is_runtime(Str path)
{
    static const char *const names[] = {"python", "libpython", "node",  "libnode", "libjvm",
                                        "ruby",   "libruby",   "perl5", "libperl", "php"};
    Str base = str_base_name(path);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_starts_with(base, str_from_c(names[i])))
            return true;
    return false;
}

static Str function_name(const Profile *p, FrameId frame)
{
    return profile_text(p, p->functions.name.at[p->frames.function.at[frame.v].v]);
}

// Whether a function gives out or takes back blocks of the heap, as its callers name it.
static bool is_allocator(Str name)
{
    static const char *const whole[] = {"malloc",          "calloc",         "realloc",
                                        "reallocarray",    "free",           "cfree",
                                        "aligned_alloc",   "posix_memalign", "memalign",
                                        "__libc_malloc",   "__libc_free",    "__libc_calloc",
                                        "strdup",          "strndup",        "__strdup",
                                        "__strndup",       "__libc_realloc", "__GI___libc_malloc",
                                        "__GI___libc_free"};
    static const char *const begins[] = {"operator new",
                                         "operator delete",
                                         "__rust_alloc",
                                         "__rust_dealloc",
                                         "__rust_realloc",
                                         "__rdl_",
                                         "_int_malloc",
                                         "_int_free",
                                         "_int_realloc",
                                         "malloc_consolidate",
                                         "unlink_chunk",
                                         "je_",
                                         "mi_",
                                         "tc_malloc",
                                         "tc_free"};
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (str_equal(name, str_from_c(whole[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (str_starts_with(name, str_from_c(begins[i])))
            return true;
    return false;
}

static void walk_begin(Walk *w, LineCosts *c, const Profile *p)
{
    *w = (Walk){.c = c, .p = p, .libraries = user_code_libraries(p)};
    w->runtimes = heap_alloc(p->modules.path.len + 1);
    for (size_t i = 0; i < p->modules.path.len; i++)
        w->runtimes[i] = is_runtime(profile_text(p, p->modules.path.at[i]));
    // An allocator that is linked into the program is a library, too.
    for (uint32_t i = 0; i < profile_frame_count(p); i++)
        w->libraries[i] |= is_allocator(function_name(p, (FrameId){i}));
}

static void walk_end(Walk *w)
{
    heap_free(w->libraries);
    heap_free(w->runtimes);
}

// Code that comes with the language or the system, or from a registry, not with the program: it
// counts where there is no other.
static bool is_of_others(Str file)
{
    static const char *const begins[] = {"<", "node:", "/usr/include/", "/usr/local/include/",
                                         "/usr/lib/"};
    static const char *const parts[] = {"/lib/python", "/.cargo/registry/", "/.cargo/git/",
                                        "/node_modules/", "/pkg/mod/"};
    for (size_t i = 0; i < ARRAY_LEN(begins); i++)
        if (str_starts_with(file, str_from_c(begins[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (str_find(file, str_from_c(parts[i])) != SIZE_MAX)
            return true;
    return false;
}

static bool has_user_line(const Walk *w, FrameId frame, bool with_runtimes)
{
    const Frames *f = &w->p->frames;
    return !w->libraries[frame.v] && f->file.at[frame.v].v && f->line.at[frame.v] &&
           (with_runtimes || (!w->runtimes[f->module.at[frame.v].v] &&
                              !is_of_others(profile_text(w->p, f->file.at[frame.v]))));
}

// The innermost frame of a stack with a line of user code; 0 without one.
static FrameId find_line(Walk *w, StackId stack, bool with_runtimes)
{
    w->below = (FrameId){0};
    for (; stack.v; stack = w->p->stacks.parent.at[stack.v])
        for (FrameId f = w->p->stacks.frame.at[stack.v]; f.v; f = w->p->frames.inlined_in.at[f.v]) {
            if (has_user_line(w, f, with_runtimes)) {
                w->found = stack;
                return f;
            }
            w->below = f;
        }
    return (FrameId){0};
}

static FrameId user_line_of(Walk *w, StackId stack)
{
    FrameId frame = find_line(w, stack, false);
    return frame.v ? frame : find_line(w, stack, true);
}

static LineCost *row_of(LineCosts *c, Str file, uint32_t line)
{
    StrBuf name = {0};
    strbuf_printf(&name, "%" STR_FMT ":%u", STR_ARG(file), line);
    uint32_t number = intern_add(&c->names, strbuf_str(&name));
    strbuf_deinit(&name);
    if (number > c->rows.len)
        vec_push(NULL, &c->rows, (LineCost){.file = file, .line = line});
    return &c->rows.at[number - 1];
}

static LineCost *row_of_frame(LineCosts *c, const Profile *p, FrameId frame)
{
    const Frames *f = &p->frames;
    LineCost *row = row_of(c, profile_text(p, f->file.at[frame.v]), f->line.at[frame.v]);
    if (row->function.len == 0)
        row->function = profile_text(p, p->functions.name.at[f->function.at[frame.v].v]);
    if (row->text.len == 0)
        (void)line_text_find(p, f->file.at[frame.v], f->line.at[frame.v], &row->text);
    return row;
}

// ---- CPU time ----------------------------------------------------------------------------------

// Where a sample ended below the frame `user`: any function of the allocator on the way counts.
static enum LineBelow below_of(const Walk *w, StackId stack, FrameId user)
{
    const Profile *p = w->p;
    FrameId leaf = p->stacks.frame.at[stack.v];
    if (leaf.v == user.v)
        return BELOW_NOTHING;
    for (StackId s = stack; s.v; s = p->stacks.parent.at[s.v])
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v]) {
            if (f.v == user.v)
                return p->frames.flags.at[leaf.v] & FRAME_KERNEL ? BELOW_KERNEL : BELOW_LIBRARY;
            if (is_allocator(function_name(p, f)))
                return BELOW_ALLOCATOR;
        }
    return BELOW_LIBRARY;
}

// What each function below a line took, to name the greatest.
typedef struct Callee {
    size_t row;
    Str name;
    uint64_t cpu;
} Callee;
typedef Vec(Callee) CalleeVec;

static int compare_callees(const void *a, const void *b)
{
    const Callee *x = a, *y = b;
    int by_row = (x->row > y->row) - (x->row < y->row);
    return by_row ? by_row : str_compare(x->name, y->name);
}

static void name_callees(LineCosts *c, CalleeVec *callees)
{
    if (callees->len)
        qsort(callees->at, callees->len, sizeof(callees->at[0]), compare_callees);
    for (size_t i = 0, end; i < callees->len; i = end) {
        Callee sum = callees->at[i];
        for (end = i + 1; end < callees->len && !compare_callees(&sum, &callees->at[end]); end++)
            sum.cpu += callees->at[end].cpu;
        LineCost *row = &c->rows.at[sum.row];
        if (sum.cpu > row->callee_cpu) {
            row->callee = sum.name;
            row->callee_cpu = sum.cpu;
        }
    }
}

static void add_stack(Walk *w, const WeightRow *weight, CalleeVec *callees, U64Vec *functions)
{
    LineCosts *c = w->c;
    FrameId frame = user_line_of(w, weight->stack);
    enum LineBelow below = below_of(w, weight->stack, frame);
    if (below == BELOW_ALLOCATOR)
        c->cpu_in_allocator += weight->value;
    if (frame.v == 0) {
        FrameId leaf = w->p->stacks.frame.at[weight->stack.v];
        functions->at[w->p->frames.function.at[leaf.v].v] += weight->value;
        c->cpu_without_line += weight->value;
        return;
    }
    LineCost *row = row_of_frame(c, w->p, frame);
    row->cpu += weight->value;
    row->cpu_samples += weight->samples;
    row->cpu_below[below] += weight->value;
    Str callee = w->below.v ? function_name(w->p, w->below) : STR("");
    if (callee.len)
        vec_push(NULL, callees, (Callee){(size_t)(row - c->rows.at), callee, weight->value});
}

// Puts a function into the list of those with the most.
static void add_top_function(LineCosts *c, Str name, uint64_t cpu)
{
    for (int i = 0; i < TOP_FUNCTIONS; i++) {
        TopFunction *at = &c->top_functions[i];
        if (at->name.len && at->cpu >= cpu)
            continue;
        TopFunction moved = *at;
        *at = (TopFunction){name, cpu};
        name = moved.name;
        cpu = moved.cpu;
        if (name.len == 0)
            return;
    }
}

static void find_top_functions(LineCosts *c, const Profile *p, const U64Vec *sums)
{
    for (size_t i = 1; i < sums->len; i++)
        if (sums->at[i])
            add_top_function(c, profile_text(p, p->functions.name.at[i]), sums->at[i]);
}

bool line_costs_add_cpu(LineCosts *c, const Profile *p, Error *err)
{
    Selection all;
    Weights w;
    Walk walk;
    CalleeVec callees = {0};
    U64Vec functions = {0}; // [function] self value of samples without a line
    selection_init(&all);
    if (!weights_init(&w, p, &all, GROUP_NONE, err))
        return false;
    walk_begin(&walk, c, p);
    (void)vec_extend(NULL, &functions, p->functions.name.len);
    for (size_t i = 0; i < w.rows.len; i++)
        add_stack(&walk, &w.rows.at[i], &callees, &functions);
    name_callees(c, &callees);
    find_top_functions(c, p, &functions);
    vec_free(&functions);
    vec_free(&callees);
    walk_end(&walk);
    c->cpu += w.value;
    c->cpu_samples += w.samples;
    bool is_time =
        p->metrics.unit.len && str_equal(profile_text(p, p->metrics.unit.at[0]), STR("ns"));
    uint64_t user = 0, system = 0;
    (void)profile_fact_u64(p, STR(FACT_USER_NS), &user);
    (void)profile_fact_u64(p, STR(FACT_SYSTEM_NS), &system);
    c->cpu_ns = is_time ? c->cpu : user + system;
    weights_deinit(&w);
    return true;
}

// ---- Waits, heap, counts -----------------------------------------------------------------------

void line_costs_add_waits(LineCosts *c, const Profile *p)
{
    const Waits *waits = &p->waits;
    Walk walk;
    walk_begin(&walk, c, p);
    for (size_t i = 0; i < waits->thread.len; i++) {
        WaitClass state = (WaitClass)waits->state.at[i];
        StackId stack = waits->stack.at[i];
        if (state == WAIT_RUNNING || state == WAIT_RUNNABLE || wait_is_idle(p, state, stack))
            continue;
        c->wait_ns += waits->blocked_ns.at[i];
        FrameId frame = user_line_of(&walk, stack);
        if (frame.v == 0)
            continue;
        LineCost *row = row_of_frame(c, p, frame);
        row->wait_ns += waits->blocked_ns.at[i];
        if (waits->blocked_ns.at[i] <= row->wait_longest_ns)
            continue;
        row->wait_longest_ns = waits->blocked_ns.at[i];
        row->wait_state = state;
        row->wait_object = profile_text(p, waits->object.at[i]);
    }
    walk_end(&walk);
}

void line_costs_add_heap(LineCosts *c, const HeapView *v)
{
    const Frames *f = &v->p->frames;
    c->blocks += v->total[HEAP_BLOCKS];
    c->bytes += v->total[HEAP_BYTES];
    for (size_t i = 0; i < v->places.len; i++) {
        const HeapRow *place = &v->places.at[i];
        FrameId frame = place->place.frame;
        if (!place->place.is_user || f->file.at[frame.v].v == 0 || f->line.at[frame.v] == 0)
            continue;
        LineCost *row = row_of_frame(c, v->p, frame);
        row->blocks += place->value[HEAP_BLOCKS];
        row->bytes += place->value[HEAP_BYTES];
    }
}

void line_costs_add_counts(LineCosts *c, const Profile *p)
{
    Executions x;
    executions_init(&x, &p, 1);
    for (size_t i = 0; i < c->rows.len; i++) {
        LineCost *row = &c->rows.at[i];
        uint32_t file = executions_file(&x, row->file);
        if (executions_of(&x, file, row->line, &row->executions))
            row->is_counted = true;
    }
    executions_deinit(&x);
}

// ---- Rows --------------------------------------------------------------------------------------

const LineCost *line_costs_find(LineCosts *c, Str file, uint32_t line)
{
    for (size_t i = 0; i < c->rows.len; i++)
        if (c->rows.at[i].line == line && str_equal(c->rows.at[i].file, file))
            return &c->rows.at[i];
    return NULL;
}

static int compare_costs(const void *a, const void *b)
{
    const LineCost *x = a, *y = b;
    uint64_t of_x = x->cpu + x->wait_ns, of_y = y->cpu + y->wait_ns;
    int by_cost = (of_y > of_x) - (of_y < of_x);
    int by_blocks = by_cost ? by_cost : (y->blocks > x->blocks) - (y->blocks < x->blocks);
    int by_file = by_blocks ? by_blocks : str_compare(x->file, y->file);
    return by_file ? by_file : (x->line > y->line) - (x->line < y->line);
}

// The nanoseconds of CPU time that a value of the recording's metric stands for.
static uint64_t cpu_ns_of(const LineCosts *c, uint64_t cpu)
{
    return c->cpu ? (uint64_t)((double)c->cpu_ns * ((double)cpu / (double)c->cpu)) : 0;
}

void line_costs_finish(LineCosts *c)
{
    // Values of another unit become nanoseconds, so that they can be added to waits.
    for (size_t i = 0; i < c->rows.len; i++) {
        LineCost *row = &c->rows.at[i];
        for (int below = 0; below < BELOW_COUNT; below++)
            row->cpu_below[below] = cpu_ns_of(c, row->cpu_below[below]);
        row->cpu = cpu_ns_of(c, row->cpu);
        row->callee_cpu = cpu_ns_of(c, row->callee_cpu);
    }
    c->cpu_without_line = cpu_ns_of(c, c->cpu_without_line);
    c->cpu_in_allocator = cpu_ns_of(c, c->cpu_in_allocator);
    for (int i = 0; i < TOP_FUNCTIONS; i++)
        c->top_functions[i].cpu = cpu_ns_of(c, c->top_functions[i].cpu);
    c->cpu = c->cpu_ns;
    if (c->rows.len)
        qsort(c->rows.at, c->rows.len, sizeof(c->rows.at[0]), compare_costs);
}
