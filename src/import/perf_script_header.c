// SPDX-License-Identifier: Apache-2.0
// The lines with which the samples of perf script's text begin:
//     comm pid/tid [cpu] misc tod time: period event: trace addr ip symbol (object)
// perf prints the fields that -F names in this order. Each is told by its shape; numbers alone by
// the width of their column.
// Source: linux tools/perf/builtin-script.c, process_event().

#include "import/perf_script_header_internal.h"

#include "import/other_formats_internal.h"

enum {
    COMM_WIDTH = 16,
    ID_WIDTH_MIN = 5, // 7 since Linux 5.17
    ID_DIGITS_MAX = 7,
    PERIOD_WIDTH = 10,
    ADDRESS_WIDTH = 16,
    MISC_WIDTH = 6,
    FLAGS_WIDTH = 24,         // filled up with spaces, or all spaces
    CPU_WIDTH_OF_LATENCY = 3, // with perf script --latency, without brackets
};

#define FIELDS_HINT                                                                                \
    "write the text with: perf script -F comm,pid,tid,cpu,time,event,period,ip,sym,symoff,dso"

// ---- Words -----------------------------------------------------------------

typedef struct Column {
    Str word;
    size_t width; // of the word and the spaces before it
    size_t end;   // position behind the word
} Column;

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static Column column_at(Str line, size_t at)
{
    size_t from = at;
    while (from < line.len && is_space(line.ptr[from]))
        from++;
    size_t end = from;
    while (end < line.len && !is_space(line.ptr[end]))
        end++;
    return (Column){str_slice(line, from, end), end - at, end};
}

// The position of the next field: perf puts one space behind each.
static size_t behind(Str line, size_t end)
{
    return end < line.len && is_space(line.ptr[end]) ? end + 1 : end;
}

static bool is_decimal(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len != 0;
}

static bool is_hex(Str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
            return false;
    return s.len != 0 && s.len <= ADDRESS_WIDTH;
}

// "2746.896201:" with 6 or 9 places.
static bool parse_time(Str word, int64_t *ret)
{
    if (!str_ends_with(word, STR(":")))
        return false;
    word.len--;
    Str seconds, fraction;
    uint64_t whole, part;
    if (!str_split(word, '.', &seconds, &fraction) || fraction.len > 9 ||
        !str_parse_u64(seconds, 10, &whole) || !str_parse_u64(fraction, 10, &part) ||
        whole > INT64_MAX / 1000000000 - 1)
        return false;
    for (size_t i = fraction.len; i < 9; i++)
        part *= 10;
    *ret = (int64_t)(whole * 1000000000 + part);
    return true;
}

// "[003]".
static bool parse_cpu(Str word, uint32_t *ret)
{
    uint64_t cpu;
    if (word.len < 3 || word.ptr[0] != '[' || word.ptr[word.len - 1] != ']' ||
        !str_parse_u64(str_slice(word, 1, word.len - 1), 10, &cpu) || cpu >= UINT32_MAX)
        return false;
    *ret = (uint32_t)cpu;
    return true;
}

// Kernel, User, Hypervisor, Guest, guest kernel, as `misc` prints a sample's.
static bool is_misc(Str word)
{
    return word.len == 1 && str_find_char(STR("KUHGg"), word.ptr[0]) != SIZE_MAX;
}

static bool parse_u32(Str word, uint32_t *ret)
{
    uint64_t value;
    if (!is_decimal(word) || !str_parse_u64(word, 10, &value) || value > UINT32_MAX)
        return false;
    *ret = (uint32_t)value;
    return true;
}

// ---- The fields, one after the other ---------------------------------------

typedef struct Reading {
    Str line;
    size_t at;
    ScriptHeader *h;
    bool by_columns; // columns must have perf's widths
} Reading;

// Whether the word is one that stands only behind pid and tid.
static bool is_behind_ids(Str word)
{
    int64_t time;
    uint32_t cpu;
    return parse_cpu(word, &cpu) || parse_time(word, &time) || is_misc(word);
}

// A number that stands alone is the pid or tid when something follows that only stands behind
// them; else the width of its column decides.
static bool is_lone_id(const Reading *r, const Column *c)
{
    Column next = column_at(r->line, behind(r->line, c->end));
    if (c->width >= ADDRESS_WIDTH || c->word.len > ID_DIGITS_MAX)
        return false;
    if (r->by_columns && c->width < ID_WIDTH_MIN)
        return false;
    if (is_behind_ids(next.word) || (is_decimal(next.word) && next.width < ADDRESS_WIDTH))
        return true;
    return c->width < PERIOD_WIDTH;
}

static void read_ids(Reading *r)
{
    Column c = column_at(r->line, r->at);
    Str pid, tid;
    if (str_split(c.word, '/', &pid, &tid)) {
        if (!parse_u32(pid, &r->h->pid) || !parse_u32(tid, &r->h->tid))
            return;
        // The column of the tid is filled up behind it.
        size_t end = c.end, full = c.end - tid.len + ID_WIDTH_MIN;
        while (end < full && end < r->line.len && is_space(r->line.ptr[end]))
            end++;
        r->at = behind(r->line, end);
        r->h->fields |= SCRIPT_IDS;
        return;
    }
    if (!is_decimal(c.word) || !is_lone_id(r, &c) || !parse_u32(c.word, &r->h->tid))
        return;
    r->h->pid = r->h->tid;
    r->at = behind(r->line, c.end);
    r->h->fields |= SCRIPT_IDS;
}

static void read_cpu(Reading *r)
{
    Column c = column_at(r->line, r->at);
    Column next = column_at(r->line, behind(r->line, c.end));
    int64_t time;
    bool known = parse_cpu(c.word, &r->h->cpu);
    if (!known && c.width == CPU_WIDTH_OF_LATENCY && r->h->fields & SCRIPT_IDS &&
        parse_time(next.word, &time))
        known = parse_u32(c.word, &r->h->cpu);
    if (!known)
        return;
    r->at = behind(r->line, c.end);
    r->h->fields |= SCRIPT_CPU;
}

static void read_misc(Reading *r)
{
    Column c = column_at(r->line, r->at);
    if (c.width != 1 || !is_misc(c.word))
        return;
    size_t end = r->at;
    while (end < r->at + MISC_WIDTH && end < r->line.len &&
           (end == r->at || is_space(r->line.ptr[end])))
        end++;
    if (end != r->at + MISC_WIDTH)
        return;
    r->at = end;
    r->h->fields |= SCRIPT_MISC;
}

// "2026-11-23 12:00:01.000123 ": the time of day, which is not kept.
static void pass_time_of_day(Reading *r)
{
    Column day = column_at(r->line, r->at);
    Column clock = column_at(r->line, behind(r->line, day.end));
    if (day.word.len == 10 && day.word.ptr[4] == '-' && day.word.ptr[7] == '-' &&
        clock.word.len >= 8 && clock.word.ptr[2] == ':' && clock.word.ptr[5] == ':' &&
        str_find_char(clock.word, '.') != SIZE_MAX)
        r->at = behind(r->line, clock.end);
}

static void read_time(Reading *r)
{
    Column c = column_at(r->line, r->at);
    if (!parse_time(c.word, &r->h->time_ns))
        return;
    r->at = behind(r->line, c.end);
    r->h->fields |= SCRIPT_TIME;
}

static void read_period(Reading *r)
{
    Column c = column_at(r->line, r->at);
    uint64_t period;
    if (!is_decimal(c.word) || c.width >= ADDRESS_WIDTH || !str_parse_u64(c.word, 10, &period))
        return;
    if (r->by_columns && c.width < PERIOD_WIDTH)
        return;
    r->h->period = MIN(period, (uint64_t)INT64_MAX);
    r->at = behind(r->line, c.end);
    r->h->fields |= SCRIPT_PERIOD;
}

static void read_event(Reading *r)
{
    Column c = column_at(r->line, r->at);
    if (c.word.len < 2 || !str_ends_with(c.word, STR(":")) || c.word.ptr[0] == '/' ||
        str_starts_with(c.word, STR("PERF_RECORD_")))
        return;
    r->h->event = str_slice(c.word, 0, c.word.len - 1);
    r->at = behind(r->line, c.end);
    r->h->fields |= SCRIPT_EVENT;
}

// ---- Text after the event ------------------------------------------

// Whether an instruction's address stands here: a space, then 16 columns with the number at their
// right end.
static bool is_ip_column(Str line, size_t at)
{
    size_t end = at + 1 + ADDRESS_WIDTH;
    if (end > line.len || line.ptr[at] != ' ' || (end < line.len && line.ptr[end] != ' '))
        return false;
    Str column = str_slice(line, at + 1, end), word = str_trim(column);
    return is_hex(word) && str_ends_with(column, word);
}

static size_t find_ip_column(Str line, size_t from)
{
    for (size_t at = from; at + 1 + ADDRESS_WIDTH <= line.len; at++)
        if (is_ip_column(line, at))
            return at;
    return SIZE_MAX;
}

// Cuts what -F may add behind the place: physical address, page sizes, registers, branches,
// instruction.
static Str without_tail(Str place)
{
    static const char *const marks[] = {" ABI:", " insn:", " ilen:", "\t IPC:", "  0x"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        place.len = MIN(place.len, str_find(place, str_from_c(marks[i])));
    size_t close = str_find_last_char(place, ')');
    Column last = column_at(place, close == SIZE_MAX ? 0 : close + 1);
    bool is_address = close != SIZE_MAX && last.width == ADDRESS_WIDTH && is_hex(last.word);
    bool is_size = close != SIZE_MAX && last.word.len &&
                   str_find_char(STR("KMGA"), last.word.ptr[last.word.len - 1]) != SIZE_MAX &&
                   last.word.len <= 5;
    if (close != SIZE_MAX && (is_address || is_size))
        place.len = close + 1;
    return str_trim(place);
}

static bool is_flag_word(Str word)
{
    static const char *const flags[] = {"call", "return",  "jcc",     "jmp",   "int",
                                        "iret", "syscall", "sysret",  "async", "hw",
                                        "tx",   "tr",      "vmentry", "vmexit"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_equal(word, str_from_c(flags[i])))
            return true;
    return false;
}

bool script_is_tracepoint(Str event)
{
    Str system, name;
    if (!str_split(event, ':', &system, &name) || system.len == 0)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!strchr("ukhGHIpPSDWe:", name.ptr[i]))
            return name.ptr[0] != ':' && str_find_char(system, '/') == SIZE_MAX;
    return false; // "cycles:ppp" has modifiers
}

// Reads what follows the event. False for text of no known field.
static bool read_rest(Reading *r)
{
    Str rest = str_slice(r->line, r->at, r->line.len);
    Column first = column_at(rest, 0);
    if (first.word.len == 0)
        return true;
    if (str_starts_with(first.word, STR("PERF_RECORD_"))) {
        r->h->fields |= SCRIPT_RECORD;
        return true;
    }
    // The column of flags of which there are none.
    bool is_behind_flags = first.width >= FLAGS_WIDTH + ADDRESS_WIDTH;
    size_t width = first.width - (is_behind_flags ? FLAGS_WIDTH : 0);
    bool is_column = is_hex(first.word) && (width == ADDRESS_WIDTH || width == ADDRESS_WIDTH + 1);
    bool is_trace = script_is_tracepoint(r->h->event);
    bool is_flags = first.width > first.word.len + 1 && is_flag_word(first.word);
    if (!is_column && !is_trace && !is_flags)
        return false;
    size_t at = find_ip_column(rest, is_behind_flags && width == ADDRESS_WIDTH ? first.end : 0);
    if (at == SIZE_MAX) { // trace, flags or `addr` with its symbol
        r->h->fields |= is_column ? SCRIPT_ADDR : 0;
        return true;
    }
    if (is_trace && !is_column &&
        str_trim(str_slice(rest, at + 1 + ADDRESS_WIDTH, rest.len)).len == 0)
        return true; // the last number of a trace
    r->h->place = without_tail(str_slice(rest, at, rest.len));
    r->h->fields |= SCRIPT_PLACE;
    return true;
}

// Reads all fields from `at` on; false when some text is of no field, or nothing is there.
static bool read_fields(Str line, size_t at, bool by_columns, ScriptHeader *h)
{
    *h = (ScriptHeader){.cpu = UINT32_MAX, .time_ns = INT64_MIN, .period = 1};
    Reading r = {line, at, h, by_columns};
    read_ids(&r);
    read_cpu(&r);
    read_misc(&r);
    pass_time_of_day(&r);
    read_time(&r);
    read_period(&r);
    read_event(&r);
    return read_rest(&r) && h->fields;
}

// ---- Lines -----------------------------------------------------------------

static bool is_strong(const ScriptHeader *h)
{
    return h->fields & (SCRIPT_TIME | SCRIPT_EVENT | SCRIPT_CPU) ||
           (h->fields & SCRIPT_IDS && h->pid != h->tid);
}

// The comm ends at the first place from which the rest of the line is of known fields: a name may
// hold spaces and digits.
static bool find_comm(Str line, bool by_columns, ScriptHeader *h)
{
    Column c = column_at(line, 0);
    for (; c.word.len; c = column_at(line, c.end)) {
        bool found = read_fields(line, behind(line, c.end), by_columns, h);
        if (found && (by_columns || is_strong(h))) {
            h->comm = str_trim(str_slice(line, 0, c.end));
            h->fields |= SCRIPT_COMM;
            return true;
        }
    }
    return false;
}

// A comm alone, in perf's column or before a stack.
static bool is_comm_alone(const ScriptForm *form, Str line, ScriptHeader *h)
{
    *h =
        (ScriptHeader){.cpu = UINT32_MAX, .time_ns = INT64_MIN, .period = 1, .fields = SCRIPT_COMM};
    h->comm = str_trim(line);
    return h->comm.len && str_ends_with(line, STR(" ")) &&
           (line.len == COMM_WIDTH + 1 || line.len == COMM_WIDTH + 1 + FLAGS_WIDTH ||
            form->has_tab_frames);
}

// Perf ends each line of these with a space, an address or a place.
static bool parse_weak(const ScriptForm *form, Str line, ScriptHeader *ret)
{
    bool ok = form->has_comm ? find_comm(line, true, ret) || is_comm_alone(form, line, ret)
                             : read_fields(line, 0, true, ret);
    return ok && (ret->fields & (SCRIPT_PLACE | SCRIPT_ADDR) || str_ends_with(line, STR(" ")));
}

static bool is_instruction(Str text)
{
    return str_starts_with(text, STR("insn:")) || str_starts_with(text, STR("ilen:"));
}

// The bytes of the instruction are the last field of a line.
static Str without_instruction(Str line)
{
    return str_slice(line, 0, MIN(str_find(line, STR(" ilen: ")), str_find(line, STR(" insn: "))));
}

bool script_header_parse(const ScriptForm *form, Str line, ScriptHeader *ret)
{
    line = without_instruction(line);
    if (form->is_weak)
        return parse_weak(form, line, ret) &&
               (form->weak_fields == 0 || ret->fields == form->weak_fields);
    if (form->has_comm)
        return find_comm(line, false, ret);
    return read_fields(line, 0, false, ret) && is_strong(ret);
}

bool script_is_passed_over(Str line)
{
    Str text = str_trim(line);
    uint64_t number;
    if (str_starts_with(text, STR("ABI:")) || str_starts_with(text, STR("|")) ||
        str_starts_with(text, STR("insn:")) || str_starts_with(text, STR("metric")) ||
        str_starts_with(text, STR("BPF output:")) || str_starts_with(text, STR("BPF string:")))
        return true;
    size_t slash = str_find_char(text, '/');
    if (str_starts_with(text, STR("0x")) && slash != SIZE_MAX)
        return str_parse_u64(str_slice(text, 0, slash), 0, &number);        // branches
    return line.len >= ADDRESS_WIDTH && line.ptr[0] == ' ' && is_hex(text); // physical address
}

bool script_split_object(Str s, Str *symbol, Str *object)
{
    if (!str_ends_with(s, STR(")")))
        return false;
    size_t last = SIZE_MAX;
    for (size_t at = s.len - 1; at-- > 0;) {
        if (s.ptr[at] != '(' || (at && s.ptr[at - 1] != ' '))
            continue;
        if (last == SIZE_MAX)
            last = at;
        if (s.ptr[at + 1] == '/' || s.ptr[at + 1] == '[') {
            last = at;
            break;
        }
    }
    if (last == SIZE_MAX)
        return false;
    *symbol = str_slice(s, 0, last ? last - 1 : 0);
    *object = str_slice(s, last + 1, s.len - 1);
    return true;
}

// ---- The form of a text ----------------------------------------------------

enum { LINES_LOOKED_AT = 2000 };

// "\t  401234 …": a frame, as perf writes it.
static bool is_tab_frame(Str line)
{
    return line.len > 1 && line.ptr[0] == '\t' && is_hex(column_at(line, 1).word);
}

// A frame without a tab: an address, and an object in brackets at the end.
static bool is_bare_frame(Str line)
{
    Str symbol, object;
    Column c = column_at(line, 0);
    return c.word.len >= 3 && is_hex(c.word) &&
           script_split_object(str_trim(str_slice(line, c.end, line.len)), &symbol, &object);
}

typedef struct Survey {
    uint32_t headers;    // lines that begin samples under the form
    uint32_t others;     // lines that are neither these nor frames
    uint32_t timed;      // headers with a time
    Str other;           // the first of the others
    uint32_t tab_frames; // frames that begin with a tab
    uint32_t objects;    // of these with an object
    uint32_t places;
    bool starts_with_frame;
    unsigned fields; // that all headers have
    bool is_mixed;   // headers have different fields
} Survey;

static void survey_frame(Survey *s, Str line)
{
    Str symbol, object;
    Column c = column_at(line, 1);
    if (s->headers == 0 && s->tab_frames == 0)
        s->starts_with_frame = true;
    s->tab_frames++;
    s->objects += script_split_object(str_trim(str_slice(line, c.end, line.len)), &symbol, &object);
}

static void survey_header(Survey *s, const ScriptHeader *h)
{
    s->is_mixed |= s->headers && s->fields != h->fields;
    s->fields = h->fields;
    s->headers++;
    s->timed += (h->fields & SCRIPT_TIME) != 0;
    s->places += (h->fields & SCRIPT_PLACE) != 0;
}

// Without the last line, which the end of the head may cut.
static Str whole_lines(Str head)
{
    size_t end = head.len < SCRIPT_HEAD_BYTES ? SIZE_MAX : str_find_last_char(head, '\n');
    return str_slice(head, 0, end);
}

static void survey(const ScriptForm *form, Str head, Survey *s)
{
    Str line;
    ScriptHeader h;
    *s = (Survey){0};
    for (unsigned i = 0; i < LINES_LOOKED_AT && str_next_line(&head, &line); i++) {
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (is_tab_frame(line))
            survey_frame(s, line);
        else if (script_header_parse(form, line, &h))
            survey_header(s, &h);
        else if (!is_bare_frame(line) && !script_is_passed_over(line) &&
                 !(s->headers + s->tab_frames && str_starts_with(line, STR("  ")))) {
            if (s->others++ == 0)
                s->other = line;
        }
    }
}

static bool survey_explains(const ScriptForm *form, const Survey *s)
{
    if (form->is_weak)
        return s->others == 0 && !s->is_mixed && s->headers;
    if (s->timed)
        return s->headers && s->headers + s->tab_frames >= s->others;
    return s->headers && (uint64_t)s->headers + s->tab_frames >= 20 * (uint64_t)s->others;
}

static void form_complete(ScriptForm *form, const Survey *s)
{
    form->has_tab_frames = s->tab_frames != 0;
    form->has_objects = s->tab_frames == 0 || s->objects == s->tab_frames;
    form->has_places = s->places && s->tab_frames == 0;
    form->weak_fields = form->is_weak ? s->fields : 0;
}

// Stacks without a line before them, as `-F ip,sym` gives.
static bool is_bare_stacks(const Survey *s)
{
    return s->starts_with_frame && s->tab_frames > s->others && s->headers == 0;
}

// Whether a line has the time of a sample, so that only what follows is not understood.
static bool has_time(Str line)
{
    int64_t time;
    Column c = column_at(line, 0);
    for (unsigned i = 0; i < 12 && c.word.len; i++, c = column_at(line, c.end))
        if (parse_time(c.word, &time))
            return true;
    return false;
}

// What the lines hold beside ids when no field of the samples is among them.
typedef struct BareLines {
    bool has_instruction; // " ilen: 3 insn: 48 89 e7"
    bool has_trace;       // "NR 12 (0, 7ffd69dfeb6c)"
    bool has_others;
} BareLines;

static BareLines bare_lines(Str head)
{
    BareLines b = {0};
    Str line;
    for (unsigned i = 0; i < LINES_LOOKED_AT && !b.has_others && str_next_line(&head, &line); i++) {
        line = str_trim(line);
        Column first = column_at(line, 0);
        if (is_misc(first.word))
            line = str_trim(str_slice(line, first.end, line.len));
        if (is_instruction(line))
            b.has_instruction = true;
        else if (trace_fields_alone(line, false))
            b.has_trace = true;
        else if (line.len && !is_decimal(line))
            b.has_others = true;
    }
    return b;
}

// Says which field stands in the way of a text that has the times of samples.
static bool refuse(Str head, const Survey *s, Error *err)
{
    BareLines bare = bare_lines(head);
    if (bare.has_instruction && !bare.has_trace && !bare.has_others) {
        error_set(err, ERROR_FORMAT,
                  "perf script's field 'insn' is not read without another field of the samples");
        return error_hint(err, FIELDS_HINT);
    }
    bool has_header = s->headers || has_time(s->other);
    if (trace_fields_alone(head, false) || (bare.has_trace && !bare.has_others) ||
        (has_header && trace_fields_alone(s->other, false))) {
        error_set(err, ERROR_FORMAT, "perf script's field 'trace' is not read without 'event'");
        return error_hint(err, TRACE_FIELDS_HINT);
    }
    if (!has_time(s->other) || str_find(s->other, STR("PERF_RECORD_")) != SIZE_MAX)
        return err && error_set(err, ERROR_NOT_FOUND, "not the text of perf script");
    Str line = str_slice(s->other, 0, 200);
    if (str_find(head, STR("\tinsn: ")) != SIZE_MAX || str_find(head, STR("# PRED")) != SIZE_MAX)
        error_set(err, ERROR_FORMAT, "perf script's field 'brstackinsn' is not read");
    else
        error_set(err, ERROR_FORMAT,
                  "perf script: the line '%" STR_FMT "' has a field that is not known",
                  STR_ARG(line));
    return error_hint(err, FIELDS_HINT);
}

static bool holds_trace(const ScriptForm *form, Str head, const Survey *s)
{
    BareLines bare = bare_lines(head);
    return trace_fields_alone(head, false) || (s->others && trace_fields_alone(s->other, false)) ||
           (form->is_weak && bare.has_trace && !bare.has_others);
}

bool script_form_find(Str head, ScriptForm *ret, Error *err)
{
    Survey s, first = {0};
    Error ignored;
    head = whole_lines(str_slice(head, 0, SCRIPT_HEAD_BYTES));
    if (memchr(head.ptr ? head.ptr : "", '\0', head.len))
        return error_set(err ? err : &ignored, ERROR_NOT_FOUND, "not text");
    for (unsigned i = 0; i < 4; i++) {
        ScriptForm form = {.is_weak = i >= 2, .has_comm = i & 1};
        survey(&form, head, &s);
        form.has_tab_frames = s.tab_frames != 0;
        if (form.is_weak && form.has_tab_frames)
            survey(&form, head, &s); // a comm before a stack needs no column
        bool explained = survey_explains(&form, &s);
        // Without a comm all lines must agree: else the comm is a number.
        if (explained && (form.has_comm || s.others == 0)) {
            // The fields of tracepoints end the comm where no event stands between them.
            if (!(s.fields & SCRIPT_EVENT) && holds_trace(&form, head, &s))
                return refuse(head, &s, err ? err : &ignored);
            form_complete(&form, &s);
            *ret = form;
            return true;
        }
        if (i == 1)
            first = s;
    }
    if (is_bare_stacks(&first)) {
        *ret = (ScriptForm){.is_anonymous = true, .is_weak = true};
        form_complete(ret, &first);
        return true;
    }
    return refuse(head, &first, err ? err : &ignored);
}
