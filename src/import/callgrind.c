// SPDX-License-Identifier: Apache-2.0
// Callgrind's profile format -> Profile.
// Format: valgrind manual, "Callgrind Format Specification".
//
// The file has costs of lines and of calls between functions, but no stacks. They
// are rebuilt: from the functions that nobody calls, each call passes on its share
// of what its caller was given. Self costs stay exact, totals too where the calls
// form no cycle; docs/decisions/0057 states the assumptions.

#include "import/import.h"

#include "import/places_internal.h"
#include "model/facts.h"

enum {
    EVENTS_MAX = 64,
    DEPTH_MAX = 512,      // of rebuilt stacks
    SHARE_LEAST = 200000, // a path with less than 1/… of the whole is not followed
    PATHS_MAX = 1 << 20,  // followed in all
    WORK_MAX = 1 << 25,   // lines and calls looked at while following
};

// "(12) name" the first time, "(12)" after it; one table for each kind of name.
typedef struct Names {
    Table index; // number -> row
    U64Vec numbers;
    StrVec texts;
} Names;

// Cost of a line of a function: `values` has one for each event.
typedef struct Cost {
    uint32_t function;
    uint32_t file; // StrId
    uint32_t line;
    uint32_t next; // of the function, row + 1
} Cost;

typedef struct Call {
    uint32_t caller, callee;
    uint32_t file, line; // where in the caller
    uint32_t next;       // of the caller, row + 1
    uint64_t weight;     // inclusive, of the main event
} Call;

typedef struct Function {
    uint32_t name, file, object; // StrIds
    uint32_t costs, calls;       // first row + 1
    uint64_t self;               // of the main event
    uint64_t incoming;           // weight of the calls to it
    uint64_t outgoing;           // of its calls but those to itself
    uint64_t called;             // times
    uint64_t given;              // weight that paths have brought so far
    StackId path;                // above it on the first path that reached it
    bool is_reached, is_on_path;
} Function;

typedef struct Reader {
    Profile *p;
    Names objects, files, functions;
    Vec(Function) rows;
    Table function_index, cost_index, call_index;
    Vec(Cost) costs;
    U64Vec values; // [cost * events + event]
    Vec(Call) calls;
    size_t events, main_event;
    bool has_instr, has_line; // positions
    uint64_t last_instr, last_line;
    uint32_t object, file, function_file; // of the function under way
    uint32_t function;                    // row, UINT32_MAX: none yet
    uint32_t callee_object, callee_file;  // UINT32_MAX: not said
    uint32_t callee;
    bool has_callee, is_own; // own: of assay's export
    uint64_t call_count;
    bool call_pending, jump_pending;
    Str metric_name, metric_unit; // of assay's export
    uint64_t odd_lines, cost_lines;
    size_t paths, work; // followed so far, see the limits above
} Reader;

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return b > INT64_MAX - a ? INT64_MAX : a + b; // both at most INT64_MAX
}

// ---- Names -------------------------------------------------------------------------

static Str unescaped(Reader *r, Str text)
{
    return r->is_own ? import_unescaped(&r->p->arena, text) : text;
}

static Str known_name(Reader *r, Str text)
{
    return str_equal(text, STR("???")) ? STR("") : unescaped(r, text);
}

// The text of a name that may be compressed. False when its number was never
// given a name.
static bool name_of(Reader *r, Names *names, Str text, Str *ret)
{
    text = str_trim(text);
    Str number, rest;
    uint64_t id;
    if (text.len < 3 || text.ptr[0] != '(' ||
        !str_split(str_slice(text, 1, text.len), ')', &number, &rest) ||
        !str_parse_u64(number, 10, &id)) {
        *ret = known_name(r, text); // written out
        return true;
    }
    uint32_t row;
    for (TableProbe t = table_probe(&names->index, hash_u64(id));
         table_next(&names->index, &t, &row);)
        if (names->numbers.at[row] == id) {
            *ret = names->texts.at[row];
            return true;
        }
    rest = str_trim(rest);
    if (rest.len == 0)
        return false;
    *ret = known_name(r, rest);
    table_insert(&names->index, hash_u64(id), (uint32_t)names->numbers.len);
    vec_push(NULL, &names->numbers, id);
    vec_push(NULL, &names->texts, *ret);
    return true;
}

static bool id_of_name(Reader *r, Names *names, Str text, uint32_t *ret)
{
    Str name;
    if (!name_of(r, names, text, &name))
        return false;
    *ret = profile_str(r->p, name).v;
    return true;
}

static uint32_t function_row(Reader *r, uint32_t name, uint32_t file, uint32_t object)
{
    uint64_t hash = hash_pair((uint64_t)name << 32 | file, object);
    uint32_t row;
    for (TableProbe t = table_probe(&r->function_index, hash);
         table_next(&r->function_index, &t, &row);) {
        const Function *f = &r->rows.at[row];
        if (f->name == name && f->file == file && f->object == object)
            return row;
    }
    row = (uint32_t)r->rows.len;
    table_insert(&r->function_index, hash, row);
    vec_push(NULL, &r->rows, (Function){.name = name, .file = file, .object = object});
    return row;
}

// ---- Costs and calls ------------------------------------------------------------------

static Str take_word(Str *rest)
{
    *rest = str_trim(*rest);
    size_t at = 0;
    while (at < rest->len && rest->ptr[at] != ' ' && rest->ptr[at] != '\t')
        at++;
    Str word = str_slice(*rest, 0, at);
    *rest = str_slice(*rest, at, rest->len);
    return word;
}

// "12", "0x40", "+3", "-3", "*": against the position before.
static bool take_position(Str *rest, uint64_t *last)
{
    Str word = take_word(rest);
    uint64_t number;
    if (str_equal(word, STR("*")))
        return true;
    char sign = word.len > 1 && (word.ptr[0] == '+' || word.ptr[0] == '-') ? word.ptr[0] : 0;
    if (!str_parse_u64(sign ? str_slice(word, 1, word.len) : word, 0, &number))
        return false;
    *last = sign == '+' ? *last + number : sign == '-' ? *last - number : number;
    return true;
}

// A line's positions and costs; costs left out at its end are 0.
static bool take_costs(Reader *r, Str line, uint64_t *values)
{
    if ((r->has_instr && !take_position(&line, &r->last_instr)) ||
        (r->has_line && !take_position(&line, &r->last_line)))
        return false;
    for (size_t e = 0; e < r->events; e++) {
        Str word = take_word(&line);
        values[e] = 0;
        if (word.len && !str_parse_u64(word, 10, &values[e]))
            return false;
        values[e] = MIN(values[e], (uint64_t)INT64_MAX);
    }
    return str_trim(line).len == 0;
}

static uint32_t line_number(const Reader *r)
{
    return r->last_line <= UINT32_MAX ? (uint32_t)r->last_line : 0;
}

static void add_cost(Reader *r, const uint64_t *values)
{
    Function *f = &r->rows.at[r->function];
    uint32_t line = line_number(r), row = UINT32_MAX, found;
    uint64_t hash = hash_pair((uint64_t)r->function << 32 | line, r->file);
    for (TableProbe t = table_probe(&r->cost_index, hash);
         table_next(&r->cost_index, &t, &found);) {
        const Cost *c = &r->costs.at[found];
        if (c->function == r->function && c->line == line && c->file == r->file) {
            row = found;
            break;
        }
    }
    if (row == UINT32_MAX) {
        row = (uint32_t)r->costs.len;
        table_insert(&r->cost_index, hash, row);
        vec_push(NULL, &r->costs,
                 (Cost){.function = r->function, .file = r->file, .line = line, .next = f->costs});
        (void)vec_extend(NULL, &r->values, r->events);
        f->costs = row + 1;
    }
    for (size_t e = 0; e < r->events; e++) {
        uint64_t *to = &r->values.at[row * r->events + e];
        *to = add_capped(*to, values[e]);
    }
}

static void add_call(Reader *r, const uint64_t *values)
{
    uint32_t line = line_number(r), row = UINT32_MAX, found;
    uint64_t weight = values[r->main_event];
    Function *callee = &r->rows.at[r->callee];
    callee->called = add_capped(callee->called, MIN(r->call_count, (uint64_t)INT64_MAX));
    uint64_t hash =
        hash_pair((uint64_t)r->function << 32 | r->callee, (uint64_t)r->file << 32 | line);
    for (TableProbe t = table_probe(&r->call_index, hash);
         table_next(&r->call_index, &t, &found);) {
        const Call *c = &r->calls.at[found];
        if (c->caller == r->function && c->callee == r->callee && c->line == line &&
            c->file == r->file) {
            row = found;
            break;
        }
    }
    if (row == UINT32_MAX) {
        Function *caller = &r->rows.at[r->function];
        row = (uint32_t)r->calls.len;
        table_insert(&r->call_index, hash, row);
        vec_push(NULL, &r->calls,
                 (Call){.caller = r->function,
                        .callee = r->callee,
                        .file = r->file,
                        .line = line,
                        .next = caller->calls});
        caller->calls = row + 1;
    }
    r->calls.at[row].weight = add_capped(r->calls.at[row].weight, weight);
}

// ---- Lines -----------------------------------------------------------------------------

static bool read_events(Reader *r, Str text, Error *err)
{
    if (r->events)
        return true; // of a further part: the same
    Str word;
    while ((word = take_word(&text)).len) {
        if (r->events == EVENTS_MAX)
            return error_set(err, ERROR_LIMIT, "more than %d events", EVENTS_MAX);
        bool is_renamed = r->is_own && r->events == 0 && r->metric_name.len;
        (void)profile_add_metric(r->p, is_renamed ? r->metric_name : word,
                                 is_renamed ? r->metric_unit : STR(""), METRIC_SUM, word);
        r->events++;
    }
    return r->events > 0 || error_set(err, ERROR_FORMAT, "the 'events:' line names no event");
}

static void read_positions(Reader *r, Str text)
{
    r->has_instr = str_find(text, STR("instr")) != SIZE_MAX;
    r->has_line = str_find(text, STR("line")) != SIZE_MAX;
    if (!r->has_instr && !r->has_line)
        r->has_line = true;
}

// "desc: Metric: cpu time, ns", as our export has it.
static void read_description(Reader *r, Str text)
{
    if (!str_starts_with(text, STR("Metric: ")))
        return;
    Str rest = unescaped(r, str_slice(text, 8, text.len));
    size_t comma = str_find_last_char(rest, ',');
    if (comma == SIZE_MAX)
        return;
    r->metric_name = str_slice(rest, 0, comma);
    r->metric_unit = str_trim(str_slice(rest, comma + 1, rest.len));
}

// "key: value". Unknown keys are other tools' business.
static bool read_header(Reader *r, Str key, Str value, Error *err)
{
    if (str_equal(key, STR("events")))
        return read_events(r, value, err);
    if (str_equal(key, STR("positions")))
        read_positions(r, value);
    else if (str_equal(key, STR("creator")))
        r->is_own = str_starts_with(value, STR("assay"));
    else if (str_equal(key, STR("cmd")))
        profile_set_fact(r->p, STR(FACT_COMMAND), unescaped(r, value));
    else if (str_equal(key, STR("desc")) && r->is_own)
        read_description(r, value);
    return true;
}

static void set_function(Reader *r, uint32_t name)
{
    r->file = r->function_file;
    r->function = function_row(r, name, r->function_file, r->object);
    r->callee_object = r->callee_file = UINT32_MAX;
}

static void set_callee(Reader *r, uint32_t name)
{
    // What is not said is as where the call stands.
    r->callee = function_row(r, name, r->callee_file == UINT32_MAX ? r->file : r->callee_file,
                             r->callee_object == UINT32_MAX ? r->object : r->callee_object);
    r->has_callee = true;
    r->callee_object = r->callee_file = UINT32_MAX;
}

// "fn=(3) main" and its kin. False for a line that is none of them or is broken.
static bool read_assignment(Reader *r, Str key, Str value)
{
    uint32_t id;
    if (str_equal(key, STR("calls"))) {
        Str count = take_word(&value);
        r->call_pending = str_parse_u64(count, 10, &r->call_count) && r->has_callee;
        return r->call_pending;
    }
    if (str_equal(key, STR("jump")) || str_equal(key, STR("jcnd"))) {
        r->jump_pending = true;
        return true;
    }
    if (str_equal(key, STR("ob")) || str_equal(key, STR("cob"))) {
        bool ok = id_of_name(r, &r->objects, value, &id);
        if (ok && key.ptr[0] == 'c')
            r->callee_object = id;
        else if (ok)
            r->object = id;
        return ok;
    }
    if (str_equal(key, STR("fn")) || str_equal(key, STR("cfn"))) {
        if (!id_of_name(r, &r->functions, value, &id))
            return false;
        if (key.ptr[0] == 'c')
            set_callee(r, id);
        else
            set_function(r, id);
        return true;
    }
    if (str_equal(key, STR("jfn"))) // where a jump leads: only the name may be of use
        return id_of_name(r, &r->functions, value, &id);
    if (!id_of_name(r, &r->files, value, &id))
        return false;
    if (str_equal(key, STR("fl")))
        r->function_file = r->file = id;
    else if (str_equal(key, STR("fi")) || str_equal(key, STR("fe")))
        r->file = id;
    else if (str_equal(key, STR("cfi")) || str_equal(key, STR("cfl")))
        r->callee_file = id;
    else
        return str_equal(key, STR("jfi"));
    return true;
}

static bool is_cost_line(Str line)
{
    char c = line.ptr[0];
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*';
}

static void read_cost_line(Reader *r, Str line)
{
    uint64_t values[EVENTS_MAX] = {0};
    if (r->jump_pending) { // where the jump stands: no cost
        r->jump_pending = false;
        (void)((r->has_instr && !take_position(&line, &r->last_instr)) ||
               (r->has_line && !take_position(&line, &r->last_line)));
        return;
    }
    bool is_call = r->call_pending;
    r->call_pending = false;
    if (r->function == UINT32_MAX || !take_costs(r, line, values)) {
        r->odd_lines++;
        return;
    }
    r->cost_lines++;
    if (is_call) {
        add_call(r, values);
        r->has_callee = false;
    } else {
        add_cost(r, values);
    }
}

static bool read_line(Reader *r, Str line, Error *err)
{
    line = str_trim(line);
    if (line.len == 0 || line.ptr[0] == '#')
        return true;
    if (is_cost_line(line)) {
        if (r->events == 0)
            return error_set(err, ERROR_FORMAT, "costs before any 'events:' line");
        read_cost_line(r, line);
        return true;
    }
    Str key, value;
    size_t equal = str_find_char(line, '='), colon = str_find_char(line, ':');
    if (equal != SIZE_MAX && equal < colon && equal <= 5) {
        (void)str_split(line, '=', &key, &value);
        r->odd_lines += !read_assignment(r, key, value);
        return true;
    }
    if (!str_split(line, ':', &key, &value)) {
        r->odd_lines++;
        return true;
    }
    return read_header(r, key, str_trim(value), err);
}

// ---- Stacks ------------------------------------------------------------------------------

static FrameId frame_of(Reader *r, const Function *f, uint32_t file, uint32_t line)
{
    Profile *p = r->p;
    Str name = profile_text(p, (StrId){f->name});
    ModuleId module = {0};
    Str object = profile_text(p, (StrId){f->object});
    if (object.len)
        module = profile_module(p, import_module_kind(object), object, STR(""));
    FunctionId function = {0};
    if (name.len)
        function = profile_function(p, name, name, profile_text(p, (StrId){f->file}), 0);
    return import_named_frame(p, module, 0, function, (StrId){file}, line, 0);
}

static void add_sample(Reader *r, const Function *f, const Cost *cost, size_t row, StackId above,
                       uint64_t from, uint64_t to, uint64_t whole)
{
    Profile *p = r->p;
    const uint64_t *values = &r->values.at[row * r->events];
    int64_t shares[EVENTS_MAX];
    bool any = false;
    for (size_t e = 0; e < r->events; e++) {
        // The shares of all that a function is given add up to the whole cost. A
        // cost of 1 goes to one path: which, is another one for each line.
        unsigned __int128 v = values[e], start = hash_pair(row, e) % whole;
        shares[e] = (int64_t)((v * to + start) / whole - (v * from + start) / whole);
        any |= shares[e] > 0;
    }
    if (!any)
        return;
    StackId stack = profile_stack(p, above, frame_of(r, f, cost->file, cost->line));
    size_t sample = profile_add_sample(p, TIME_NONE, (ThreadId){0}, stack, SAMPLE_CPU_NONE);
    for (size_t e = 0; e < r->events; e++)
        profile_sample_set(p, sample, (MetricId){(uint32_t)e}, shares[e]);
}

// What a path gives to a function, for each of whose costs a share is due.
static void place_costs(Reader *r, uint32_t row, StackId above, uint64_t from, uint64_t to,
                        uint64_t whole)
{
    Function *f = &r->rows.at[row];
    for (uint32_t c = f->costs; c; c = r->costs.at[c - 1].next, r->work++)
        add_sample(r, f, &r->costs.at[c - 1], c - 1, above, from, to, whole);
}

// One function on the path being followed.
typedef struct Step {
    uint32_t function;
    uint32_t call; // next to follow, row + 1
    StackId above;
    uint64_t weight;
    uint64_t allowed; // what its self cost and its calls off the path weigh
    uint64_t passed;  // of that, its self cost and the calls followed so far
} Step;

static uint64_t weight_off_path(Reader *r, const Function *f)
{
    uint64_t sum = f->self;
    for (uint32_t c = f->calls; c; c = r->calls.at[c - 1].next, r->work++)
        if (!r->rows.at[r->calls.at[c - 1].callee].is_on_path)
            sum = add_capped(sum, r->calls.at[c - 1].weight);
    return sum;
}

// All that reaches the function: its costs are shared out over this.
static uint64_t whole_of(const Function *f)
{
    return MAX(f->incoming, f->self + f->outgoing);
}

static Step enter(Reader *r, uint32_t row, StackId above, uint64_t weight)
{
    Function *f = &r->rows.at[row];
    uint64_t whole = MAX(whole_of(f), (uint64_t)1);
    if (!f->is_reached)
        f->path = above;
    f->is_reached = true;
    uint64_t to = MIN(add_capped(f->given, weight), whole);
    place_costs(r, row, above, MIN(f->given, whole), to, whole);
    f->given = to;
    f->is_on_path = true;
    return (Step){row, f->calls, above, weight, MAX(weight_off_path(r, f), (uint64_t)1), f->self};
}

static uint64_t part_of(uint64_t weight, uint64_t part, uint64_t whole)
{
    return (uint64_t)((unsigned __int128)weight * part / whole);
}

static void follow(Reader *r, uint32_t root, uint64_t weight, uint64_t least)
{
    Step *steps = heap_alloc(DEPTH_MAX * sizeof(Step));
    size_t depth = 1;
    steps[0] = enter(r, root, (StackId){0}, weight);
    while (depth > 0) {
        Step *s = &steps[depth - 1];
        if (s->call == 0) {
            r->rows.at[s->function].is_on_path = false;
            depth--;
            continue;
        }
        const Call *call = &r->calls.at[s->call - 1];
        s->call = call->next;
        if (r->rows.at[call->callee].is_on_path)
            continue;
        // Differences of running sums: nothing is lost to rounding.
        uint64_t to = MIN(add_capped(s->passed, call->weight), s->allowed);
        uint64_t share =
            part_of(s->weight, to, s->allowed) - part_of(s->weight, s->passed, s->allowed);
        s->passed = to;
        if (share < least || depth == DEPTH_MAX || r->paths == PATHS_MAX || r->work > WORK_MAX)
            continue;
        r->paths++;
        FrameId at = frame_of(r, &r->rows.at[s->function], call->file, call->line);
        StackId above = profile_stack(r->p, s->above, at);
        steps[depth] = enter(r, call->callee, above, MIN(share, call->weight));
        depth++;
    }
    heap_free(steps);
}

static void sum_up(Reader *r)
{
    for (size_t e = 0; e < r->events; e++) {
        // The first event that has costs is what the calls are weighed by.
        uint64_t sum = 0;
        for (size_t c = 0; c < r->costs.len; c++)
            sum = add_capped(sum, r->values.at[c * r->events + e]);
        if (sum && e >= r->main_event) {
            r->main_event = e;
            break;
        }
    }
    for (size_t c = 0; c < r->costs.len; c++) {
        Function *f = &r->rows.at[r->costs.at[c].function];
        f->self = add_capped(f->self, r->values.at[c * r->events + r->main_event]);
    }
    for (size_t c = 0; c < r->calls.len; c++) {
        const Call *call = &r->calls.at[c];
        if (call->caller == call->callee)
            continue; // recursion: in its self cost already
        Function *callee = &r->rows.at[call->callee], *caller = &r->rows.at[call->caller];
        callee->incoming = add_capped(callee->incoming, call->weight);
        caller->outgoing = MIN(add_capped(caller->outgoing, call->weight), (uint64_t)INT64_MAX / 2);
    }
}

// What no path brought: put where the function was met first.
static uint64_t place_the_rest(Reader *r)
{
    uint64_t rest = 0;
    for (uint32_t i = 0; i < r->rows.len; i++) {
        Function *f = &r->rows.at[i];
        uint64_t whole = MAX(whole_of(f), (uint64_t)1);
        if (f->given < whole && f->costs) {
            rest = add_capped(rest,
                              (uint64_t)((unsigned __int128)f->self * (whole - f->given) / whole));
            place_costs(r, i, f->path, f->given, whole, whole);
        }
    }
    return rest;
}

static void rebuild_stacks(Reader *r)
{
    Profile *p = r->p;
    uint64_t total = 0;
    sum_up(r);
    for (size_t i = 0; i < r->rows.len; i++)
        total = add_capped(total, r->rows.at[i].self);
    for (uint32_t i = 0; i < r->rows.len; i++) {
        const Function *f = &r->rows.at[i];
        uint64_t whole = whole_of(f);
        if (f->incoming < whole && f->self + f->outgoing > f->incoming)
            follow(r, i, f->self + f->outgoing - f->incoming,
                   MAX(total / SHARE_LEAST, (uint64_t)1));
    }
    uint64_t rest = place_the_rest(r);
    if (rest && total)
        profile_note(p, NOTE_INFO, STR("callgrind-paths"),
                     "callgrind keeps calls, no stacks: %.2g%% of the cost is of cycles or of "
                     "paths too rare to follow and stands on one path of its function",
                     100.0 * (double)rest / (double)total);
}

// Times that functions were called: true counts, but in our own export.
static void add_counts(Reader *r)
{
    Profile *p = r->p;
    for (size_t i = 0; i < r->rows.len && !r->is_own; i++) {
        const Function *f = &r->rows.at[i];
        Str name = profile_text(p, (StrId){f->name});
        if (f->called == 0 || name.len == 0)
            continue;
        FunctionId id = profile_function(p, name, name, profile_text(p, (StrId){f->file}), 0);
        vec_push(&p->arena, &p->function_counts.function, id);
        vec_push(&p->arena, &p->function_counts.count, f->called);
        vec_push(&p->arena, &p->function_counts.hash, 0);
        vec_push(&p->arena, &p->function_counts.column, 0);
    }
}

static void free_names(Names *n)
{
    table_deinit(&n->index);
    vec_free(&n->numbers);
    vec_free(&n->texts);
}

static void free_reader(Reader *r)
{
    free_names(&r->objects);
    free_names(&r->files);
    free_names(&r->functions);
    vec_free(&r->rows);
    vec_free(&r->costs);
    vec_free(&r->values);
    vec_free(&r->calls);
    table_deinit(&r->function_index);
    table_deinit(&r->cost_index);
    table_deinit(&r->call_index);
}

bool import_callgrind(Bytes file, Profile *p, Error *err)
{
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR("import callgrind"));
    ProcessId process = profile_add_process(p, 0, 0, (StrId){0}, TIME_NONE);
    (void)profile_add_thread(p, process, 0, (StrId){0}, TIME_NONE);
    Reader r = {.p = p,
                .has_line = true,
                .function = UINT32_MAX,
                .callee_object = UINT32_MAX,
                .callee_file = UINT32_MAX};
    Str rest = str_from_bytes(file), line;
    bool ok = true;
    while (ok && str_next_line(&rest, &line))
        ok = read_line(&r, line, err);
    if (ok && r.cost_lines == 0)
        ok = error_set(err, ERROR_FORMAT, "no costs in %zu bytes of callgrind's format", file.len);
    if (ok) {
        rebuild_stacks(&r);
        add_counts(&r);
    }
    if (ok && r.odd_lines)
        profile_note(p, NOTE_WARNING, STR("odd-lines"),
                     "lines that are not of callgrind's format and were left out: %llu",
                     (unsigned long long)r.odd_lines);
    free_reader(&r);
    if (!ok)
        profile_deinit(p);
    return ok;
}
