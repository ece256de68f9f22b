// SPDX-License-Identifier: Apache-2.0
// Reads source lines for the locks that they take.

#include "analyse/wait/lock_names.h"

#include "base/table.h"

enum { NAME_MAX_BYTES = 80, PLACES_MAX = 12 };

// ---- One line -----------------------------------------------------------------------------

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_letter(char c)
{
    return is_word(c) && !(c >= '0' && c <= '9');
}

// Where the word that ends at `end` begins.
static size_t word_start(Str s, size_t end)
{
    while (end && is_word(s.ptr[end - 1]))
        end--;
    return end;
}

static bool has_any(Str s, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_find(s, str_from_c(words[i])) != SIZE_MAX)
            return true;
    return false;
}

// The argument of a call, from 0; `open` is the place of its bracket. "" when there is none.
static Str argument(Str s, size_t open, unsigned number)
{
    int depth = 0;
    size_t start = open + 1;
    for (size_t i = open; i < s.len; i++) {
        char c = s.ptr[i];
        depth += c == '(' || c == '[' || c == '{';
        bool is_close = c == ')' || c == ']' || c == '}';
        bool is_end = (depth == 1 && c == ',') || (depth == 1 && is_close);
        depth -= is_close;
        if (!is_end)
            continue;
        if (number == 0)
            return str_trim(str_slice(s, start, i));
        if (is_close)
            break;
        number--;
        start = i + 1;
    }
    return STR("");
}

// Whether a text can name an object: "q->mutex", "this->locks[i]", "Pool::lock".
static bool take_object(Str text, Str *ret)
{
    Str s = str_trim(text);
    while (s.len && (s.ptr[0] == '&' || s.ptr[0] == '*'))
        s = str_trim(str_slice(s, 1, s.len));
    if (s.len == 0 || s.len > NAME_MAX_BYTES || !is_letter(s.ptr[0]))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_arrow = (c == '-' && i + 1 < s.len && s.ptr[i + 1] == '>') ||
                        (c == '>' && i && s.ptr[i - 1] == '-');
        if (!is_word(c) && !is_arrow && c != '.' && c != ':' && c != '[' && c != ']')
            return false;
    }
    *ret = s;
    return true;
}

// The object of a method, whose name begins at `method`.
static bool take_receiver(Str s, size_t method, Str *ret)
{
    size_t end = method;
    if (end >= 2 && s.ptr[end - 2] == '-' && s.ptr[end - 1] == '>')
        end -= 2;
    else if (end && s.ptr[end - 1] == '.')
        end--;
    else
        return false;
    size_t start = end;
    while (start) {
        char c = s.ptr[start - 1];
        bool is_arrow = c == '>' && start >= 2 && s.ptr[start - 2] == '-';
        if (is_arrow)
            start -= 2;
        else if (is_word(c) || c == '.' || c == ':' || c == ']' || c == '[')
            start--;
        else
            break;
    }
    return take_object(str_slice(s, start, end), ret);
}

// Whether a function of this name may take a lock: "clock", "block" and "unlock" do not.
static bool is_taker(Str word)
{
    static const char *const takers[] = {"wait", "Wait", "acquire", "Acquire"};
    for (size_t i = 0; i + 4 <= word.len; i++) {
        Str part = str_slice(word, i, i + 4);
        char before = i ? word.ptr[i - 1] : 0;
        bool is_other =
            before == 'c' || before == 'C' || before == 'b' || before == 'B' || before == 'n';
        if ((str_equal(part, STR("lock")) || str_equal(part, STR("Lock"))) && !is_other)
            return true;
    }
    return has_any(word, takers, ARRAY_LEN(takers));
}

static bool take_call(Str s, size_t open, bool is_mutex, Str *ret)
{
    static const char *const conditions[] = {"cond", "cnd_"};
    size_t start = word_start(s, open);
    Str word = str_slice(s, start, open);
    if (!is_taker(word))
        return false;
    bool waits = str_find(word, STR("wait")) != SIZE_MAX;
    if (take_receiver(s, start, ret))
        return !(waits && is_mutex); // the mutex of a condition has no name there
    bool is_condition = has_any(word, conditions, ARRAY_LEN(conditions));
    return take_object(argument(s, open, is_condition && is_mutex), ret);
}

// "std::lock_guard<std::mutex> guard(m_);": the first bracket behind the type and its arguments.
static bool take_guard(Str s, Str *ret)
{
    static const char *const guards[] = {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"};
    for (size_t i = 0; i < ARRAY_LEN(guards); i++) {
        size_t at = str_find(s, str_from_c(guards[i]));
        int depth = 0;
        for (; at < s.len; at++) {
            depth += s.ptr[at] == '<';
            depth -= s.ptr[at] == '>';
            if (depth == 0 && (s.ptr[at] == '(' || s.ptr[at] == '{'))
                return take_object(argument(s, at, 0), ret);
        }
    }
    return false;
}

bool lock_name_in_line(Str line, bool is_mutex, Str *ret)
{
    if (take_guard(line, ret))
        return true;
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] == '(' && take_call(line, i, is_mutex, ret))
            return true;
    return false;
}

// The argument of a call of `function` that is a part of an object.
static bool member_argument(Str line, Str function, Str *ret)
{
    for (size_t i = 0; i < line.len && function.len; i++) {
        if (line.ptr[i] != '(' || !str_equal(str_slice(line, word_start(line, i), i), function))
            continue;
        for (unsigned number = 0; number < 4; number++) {
            Str object;
            if (take_object(argument(line, i, number), &object) &&
                (str_find_char(object, '.') != SIZE_MAX ||
                 str_find_char(object, '>') != SIZE_MAX)) {
                *ret = object;
                return true;
            }
        }
    }
    return false;
}

// ---- A recording ----------------------------------------------------------------------------

typedef struct Namer {
    Profile *p;
    Table by_line; // of source lines
} Namer;

static uint64_t line_hash(StrId file, uint32_t line)
{
    return hash_u64((uint64_t)file.v << 32 | line);
}

static void index_lines(Namer *n)
{
    const SourceLines *s = &n->p->source_lines;
    for (uint32_t i = 0; i < s->file.len; i++)
        table_insert(&n->by_line, line_hash(s->file.at[i], s->line.at[i]), i);
}

static Str line_text(const Namer *n, StrId file, uint32_t line)
{
    const SourceLines *s = &n->p->source_lines;
    uint32_t row;
    for (TableProbe t = table_probe(&n->by_line, line_hash(file, line));
         table_next(&n->by_line, &t, &row);)
        if (s->file.at[row].v == file.v && s->line.at[row] == line)
            return profile_text(n->p, s->text.at[row]);
    return STR("");
}

static Str function_name(const Profile *p, FrameId frame)
{
    return profile_text(p, p->functions.name.at[p->frames.function.at[frame.v].v]);
}

// Whether the C library waits for a mutex, also one behind a condition.
static bool waits_for_mutex(const Profile *p, StackId stack, StackId program)
{
    for (StackId s = stack; s.v && s.v != program.v; s = p->stacks.parent.at[s.v])
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v]) {
            Str name = function_name(p, f);
            if (str_find(name, STR("mutex")) != SIZE_MAX ||
                str_find(name, STR("lll_lock")) != SIZE_MAX)
                return true;
        }
    return false;
}

// The name of the lock that the innermost lines of the program take; "" when they name none.
static Str name_of(const Namer *n, StackId stack)
{
    const Profile *p = n->p;
    StackId program = wait_program_stack(p, stack);
    bool is_mutex = waits_for_mutex(p, stack, program);
    Str found = {0}, callee = {0};
    size_t places = 0;
    for (StackId s = program; s.v && places < PLACES_MAX; s = p->stacks.parent.at[s.v])
        for (FrameId f = p->stacks.frame.at[s.v]; f.v; f = p->frames.inlined_in.at[f.v]) {
            StrId file = p->frames.file.at[f.v];
            Str text = wait_is_library_file(profile_text(p, file))
                           ? STR("")
                           : line_text(n, file, p->frames.line.at[f.v]),
                member;
            places++;
            if (found.len) // a parameter's name: what the caller passes
                return member_argument(text, callee, &member) ? member : found;
            bool is_bare = lock_name_in_line(text, is_mutex, &found) &&
                           str_find_char(found, '.') == SIZE_MAX &&
                           str_find_char(found, '>') == SIZE_MAX;
            if (found.len && !is_bare)
                return found;
            callee = function_name(p, f);
        }
    return found;
}

// "0x7f…", or a place in a variable, "pool+72".
static bool is_unnamed(Str object)
{
    if (str_starts_with(object, STR("0x")))
        return str_find_char(object, ' ') == SIZE_MAX;
    size_t plus = str_find_last_char(object, '+');
    uint64_t offset;
    return plus != SIZE_MAX && str_parse_u64(str_slice(object, plus + 1, object.len), 10, &offset);
}

// [string] how an object is called, and the time of the waits that called it so; 0: not at all.
typedef struct Names {
    StrId *name;
    uint64_t *ns;
    size_t count;
} Names;

// Takes the name that a row of waits gives its object. The object has one name wherever it is
// waited for: that of the row with the most time.
static void take_name(const Namer *n, size_t row, Names *names)
{
    const Waits *w = &n->p->waits;
    StrId object = w->object.at[row];
    StackId stack = w->stack.at[row];
    uint64_t ns = w->blocked_ns.at[row];
    if (w->state.at[row] != WAIT_LOCK || object.v >= names->count ||
        !is_unnamed(profile_text(n->p, object)) || wait_is_join(n->p, stack) ||
        (names->name[object.v].v && names->ns[object.v] >= ns))
        return;
    Str name = name_of(n, stack);
    if (name.len == 0)
        return;
    StrBuf text = {0};
    strbuf_printf(&text, "%" STR_FMT " (%" STR_FMT ")", STR_ARG(name),
                  STR_ARG(profile_text(n->p, object)));
    names->name[object.v] = profile_str(n->p, strbuf_str(&text));
    names->ns[object.v] = ns;
    strbuf_deinit(&text);
}

static void rename_objects(const Names *names, StrIdVec *objects, const U8Vec *states)
{
    for (size_t i = 0; i < objects->len; i++) {
        uint32_t object = objects->at[i].v;
        if (states->at[i] == WAIT_LOCK && object < names->count && names->name[object].v)
            objects->at[i] = names->name[object];
    }
}

void waits_name_locks(Profile *p)
{
    if (p->waits.thread.len == 0 || p->source_lines.file.len == 0)
        return;
    Namer n = {.p = p};
    Names names = {.count = p->strings.texts.len};
    names.name = heap_alloc((names.count + 1) * sizeof(*names.name));
    names.ns = heap_alloc((names.count + 1) * sizeof(*names.ns));
    index_lines(&n);
    for (size_t i = 0; i < p->waits.thread.len; i++)
        take_name(&n, i, &names);
    rename_objects(&names, &p->waits.object, &p->waits.state);
    rename_objects(&names, &p->states.object, &p->states.state);
    heap_free(names.name);
    heap_free(names.ns);
    table_deinit(&n.by_line);
}
