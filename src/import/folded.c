// SPDX-License-Identifier: Apache-2.0
// Folded stacks -> Profile: "root;caller;leaf 12", one stack a line.
// Reference: github.com/brendangregg/FlameGraph, README "Fold stacks".

#include "import/import.h"

#include "import/line_frames_internal.h"
#include "import/places_internal.h"
#include "model/facts.h"

#include <stdio.h>

// Suffixes that state the kind of frame of a name.
static Str without_annotation(Str name, uint8_t *flags, bool *is_jit)
{
    if (str_ends_with(name, STR("_[k]")))
        *flags = FRAME_KERNEL;
    else if (str_ends_with(name, STR("_[i]")))
        *flags = FRAME_INLINED;
    else if (str_ends_with(name, STR("_[j]")))
        *is_jit = true;
    else
        return name;
    return str_slice(name, 0, name.len - 4);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

// What our own export writes as %XX (docs/formats/export.md): ';', '%' and
// control characters. Other writers' "%XX" of other characters stays as it is.
static Str unescaped(Profile *p, Str name)
{
    if (str_find_char(name, '%') == SIZE_MAX)
        return name;
    char *out = arena_alloc(&p->arena, name.len + 1, 1);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        int high = i + 2 < name.len && name.ptr[i] == '%' ? hex_digit(name.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(name.ptr[i + 2]) : -1;
        int code = low >= 0 ? high * 16 + low : -1;
        bool is_edge = code == ' ' && (i == 0 || i + 3 == name.len);
        bool is_suffix = code == '_' && i + 6 == name.len && name.ptr[i + 3] == '[';
        if (code == ';' || code == '%' || (code >= 0 && code < 0x20) || code >= 0x7f || is_edge ||
            is_suffix) {
            out[len++] = (char)code;
            i += 2;
        } else {
            out[len++] = name.ptr[i];
        }
    }
    return str_over(out, len);
}

static FrameId frame_of(Profile *p, LineFrames *frames, Str name, uint64_t hash)
{
    FrameId frame;
    if (line_frames_find(frames, name, hash, &frame))
        return frame;
    uint8_t flags = 0;
    bool is_jit = false;
    Str plain = unescaped(p, without_annotation(name, &flags, &is_jit));
    FunctionId function = profile_function(p, plain, plain, STR(""), 0);
    ModuleId module = is_jit ? profile_module(p, MODULE_JIT, STR("[jit]"), STR("")) : (ModuleId){0};
    frame = import_named_frame(p, module, 0, function, (StrId){0}, 0, flags);
    line_frames_add(frames, name, hash, frame);
    return frame;
}

// As almost all lines are: one space before up to 18 digits, none at the ends.
static bool split_plain(Str line, Str *stack, uint64_t *count)
{
    size_t at = line.len, first = line.len - MIN(line.len, (size_t)18);
    uint64_t value = 0, scale = 1;
    for (; at > first && line.ptr[at - 1] >= '0' && line.ptr[at - 1] <= '9'; at--) {
        value += scale * (uint64_t)(line.ptr[at - 1] - '0');
        scale *= 10;
    }
    if (at == line.len || at < 2 || line.ptr[at - 1] != ' ' || (uint8_t)line.ptr[at - 2] <= ' ' ||
        (uint8_t)line.ptr[0] <= ' ')
        return false;
    *stack = str_over(line.ptr, at - 1);
    *count = value;
    return true;
}

enum { DECIMALS_MAX = 6 };

// Digits behind the point of a count, without zeros at the end: 0 for "12" and "12.0".
static unsigned decimals_of(Str number)
{
    size_t dot = str_find_char(number, '.');
    if (dot == SIZE_MAX)
        return 0;
    while (number.ptr[number.len - 1] == '0')
        number.len--;
    return (unsigned)MIN(number.len - dot - 1, (size_t)DECIMALS_MAX);
}

// A count as a number of 1/`scale`.
static bool parse_count(Str number, uint64_t scale, uint64_t *ret)
{
    double value;
    if (str_parse_u64(number, 10, ret))
        return !__builtin_mul_overflow(*ret, scale, ret) && *ret <= INT64_MAX;
    if (!str_parse_double(number, &value) || !(value >= 0) || value * (double)scale > 9e18)
        return false;
    *ret = (uint64_t)(value * (double)scale + 0.5);
    return true;
}

// The count is the last word; what stands before it is the stack, which may hold spaces.
static bool split_line(Str line, Str *stack, Str *number)
{
    line = str_trim(line);
    size_t space = str_find_last_char(line, ' ');
    if (space == SIZE_MAX || space == 0)
        return false;
    *number = str_slice(line, space + 1, line.len);
    *stack = str_trim(str_slice(line, 0, space));
    for (size_t i = 0; i < number->len; i++)
        if (str_find_char(STR("0123456789.eE+-"), number->ptr[i]) == SIZE_MAX)
            return false;
    return stack->len && number->ptr[0] >= '0' && number->ptr[0] <= '9';
}

static bool split_count(Str line, uint64_t scale, Str *stack, uint64_t *count)
{
    Str number;
    if (scale == 1 && split_plain(line, stack, count))
        return true;
    return split_line(line, stack, &number) && parse_count(number, scale, count);
}

static bool is_comment(Str line)
{
    return line.len == 0 || line.ptr[0] == '#' || str_starts_with(line, STR("//"));
}

// The factor by which counts are multiplied so that they have no fractions: a power of ten.
static uint64_t scale_of(Bytes file)
{
    Str rest = str_from_bytes(file), line, stack, number;
    unsigned decimals = 0;
    if (str_find_char(rest, '.') == SIZE_MAX)
        return 1;
    while (decimals < DECIMALS_MAX && str_next_line(&rest, &line)) {
        if (line.len < 3 || !memchr(line.ptr + line.len - MIN(line.len, (size_t)24), '.',
                                    MIN(line.len, (size_t)24)))
            continue;
        if (!is_comment(line) && split_line(line, &stack, &number))
            decimals = MAX(decimals, decimals_of(number));
    }
    uint64_t scale = 1;
    while (decimals--)
        scale *= 10;
    return scale;
}

bool folded_is(Bytes head)
{
    enum { LINES_MAX = 2000 };
    Str rest = str_from_bytes(head), line, stack, number;
    uint64_t count;
    unsigned good = 0, odd = 0;
    for (unsigned i = 0; i < LINES_MAX && str_next_line(&rest, &line); i++) {
        bool is_cut = rest.len == 0 && line.ptr + line.len == (const char *)head.ptr + head.len;
        if (is_comment(line) || str_trim(line).len == 0)
            continue;
        if (memchr(line.ptr, '\0', line.len))
            return false;
        if (split_line(line, &stack, &number) && parse_count(number, 1, &count))
            good++;
        else
            odd += !is_cut || good == 0;
    }
    return good && odd * 20 <= good;
}

// A level of the line before: where its name ends in the line, and its stack.
typedef struct Level {
    size_t end;
    StackId stack;
} Level;
typedef Vec(Level) LevelVec;

// While the stacks come sorted by their bytes, those that begin alike stand
// together: a level is known only from the line before or as an `ended` stack,
// and need not be looked up among all stacks.
typedef struct Line {
    Str text;
    LevelVec levels; // root first
    LevelVec ended;  // whole stacks of lines whose text the last line begins with
    U64Vec hashes;   // of the names that a line does not share with the one before it
    Vec(size_t) ends;
    bool is_sorted; // so far, and no two names stand for one frame
} Line;

static size_t common_bytes(Str a, Str b)
{
    size_t same = 0, most = MIN(a.len, b.len);
    uint64_t x, y;
    for (; same + sizeof(x) <= most; same += sizeof(x)) {
        memcpy(&x, a.ptr + same, sizeof(x));
        memcpy(&y, b.ptr + same, sizeof(y));
        if (x != y)
            break;
    }
    while (same < most && a.ptr[same] == b.ptr[same])
        same++;
    return same;
}

// The levels that a line shares with the one before it: folded files are mostly
// sorted, so that few levels of a line are new.
static size_t shared_levels(const Line *last, Str text, size_t same)
{
    size_t levels = last->levels.len;
    for (; levels; levels--) {
        size_t end = last->levels.at[levels - 1].end;
        if (end <= same && (end == text.len || text.ptr[end] == ';'))
            break;
    }
    return levels;
}

// Notes that `text` follows the last line, with which it shares `same` bytes.
static void move_on(Line *last, Str text, size_t same)
{
    if (same < last->text.len &&
        (same == text.len || (uint8_t)text.ptr[same] < (uint8_t)last->text.ptr[same]))
        last->is_sorted = false;
    while (last->ended.len && vec_last(&last->ended).end > same)
        (void)vec_pop(&last->ended);
    last->text = text;
}

static const Level *ended_at(const Line *last, size_t end)
{
    for (size_t i = last->ended.len; i-- && last->ended.at[i].end >= end;)
        if (last->ended.at[i].end == end)
            return &last->ended.at[i];
    return NULL;
}

// Hashes the names from `at` on.
static void split_names(Line *last, Str text, size_t at)
{
    last->hashes.len = last->ends.len = 0;
    while (at < text.len) {
        const char *from = text.ptr + at, *separator = memchr(from, ';', text.len - at);
        size_t end = separator ? (size_t)(separator - text.ptr) : text.len;
        vec_push(NULL, &last->hashes, str_hash(str_slice(text, at, end)));
        vec_push(NULL, &last->ends, end);
        at = end + 1;
    }
}

static StackId stack_of(Profile *p, LineFrames *frames, Line *last, Str text)
{
    size_t same = common_bytes(last->text, text);
    size_t shared = shared_levels(last, text, same);
    size_t at = shared ? last->levels.at[shared - 1].end + 1 : 0;
    StackId stack = shared ? last->levels.at[shared - 1].stack : (StackId){0};
    last->levels.len = shared;
    move_on(last, text, same);
    split_names(last, text, at);
    line_frames_prefetch(frames, last->hashes.at, last->hashes.len);
    for (size_t i = 0; i < last->hashes.len; i++) {
        size_t end = last->ends.at[i];
        Str name = str_slice(text, at, end);
        at = end + 1;
        size_t frames_before = p->frames.module.len, known = frames->rows.len;
        FrameId frame = frame_of(p, frames, name, last->hashes.at[i]);
        if (frames->rows.len > known && p->frames.module.len == frames_before)
            last->is_sorted = false;
        const Level *ended = last->is_sorted ? ended_at(last, end) : NULL;
        stack = ended             ? ended->stack
                : last->is_sorted ? profile_stack_append(p, stack, frame)
                                  : profile_stack(p, stack, frame);
        Level level = {end, stack};
        vec_push(NULL, &last->levels, level);
    }
    if (last->is_sorted && last->levels.len &&
        (!last->ended.len || vec_last(&last->ended).end < vec_last(&last->levels).end))
        vec_push(NULL, &last->ended, vec_last(&last->levels));
    return stack;
}

static MetricId add_metric(Profile *p, uint64_t scale)
{
    char unit[32] = "";
    if (scale > 1) {
        snprintf(unit, sizeof(unit), FOLDED_UNIT "%llu", (unsigned long long)scale);
        profile_note(p, NOTE_INFO, STR("fractions"),
                     "counts have fractions: values are in units of %s", unit);
    }
    return profile_add_metric(p, STR("samples"), str_from_c(unit), METRIC_SUM, STR(""));
}

bool import_folded(Bytes file, Profile *p, Error *err)
{
    profile_init(p);
    profile_set_fact(p, STR(FACT_COLLECTOR), STR(FOLDED_COLLECTOR));
    uint64_t scale = scale_of(file);
    MetricId metric = add_metric(p, scale);
    ProcessId process = profile_add_process(p, 0, 0, (StrId){0}, TIME_NONE);
    ThreadId thread = profile_add_thread(p, process, 0, (StrId){0}, TIME_NONE);
    LineFrames frames = {0};
    Line last = {.is_sorted = true};
    Str rest = str_from_bytes(file);
    Str line;
    uint64_t odd_lines = 0;
    while (str_next_line(&rest, &line)) {
        Str text;
        uint64_t count;
        if (is_comment(line))
            continue;
        if (!split_count(line, scale, &text, &count)) {
            odd_lines++;
            continue;
        }
        size_t row = profile_add_sample(p, TIME_NONE, thread, stack_of(p, &frames, &last, text),
                                        SAMPLE_CPU_NONE);
        profile_sample_set(p, row, metric, (int64_t)count);
    }
    line_frames_deinit(&frames);
    vec_free(&last.levels);
    vec_free(&last.ended);
    vec_free(&last.hashes);
    vec_free(&last.ends);
    if (p->samples.stack.len == 0) {
        profile_deinit(p);
        return error_set(err, ERROR_FORMAT, "no folded stack in %zu bytes", file.len);
    }
    if (odd_lines)
        profile_note(p, NOTE_WARNING, STR("odd-lines"),
                     "lines that are not folded stacks and were left out: %llu",
                     (unsigned long long)odd_lines);
    return true;
}
