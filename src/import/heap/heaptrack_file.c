// SPDX-License-Identifier: Apache-2.0
// heaptrack's text, raw or interpreted, to version 3 -> Profile. Its events are played back; what
// is kept are the sums of each stack.
// Format: heaptrack, src/track/libheaptrack.cpp, src/interpret,
// src/analyze/accumulatedtracedata.cpp.

#include "import/heap/heap_files.h"

#include <inttypes.h>

#include "base/strbuf.h"
#include "base/table.h"
#include "import/heap/heap_rows_internal.h"
#include "model/facts.h"

enum { FORMAT_NEWEST = 3, SLICES_MOST = 1000 };

// The first line: "v 10400 3", or "v 10000" of files before formats had a number.
static bool read_versions(Str line, uint64_t *format)
{
    Str word;
    uint64_t version;
    *format = 0;
    if (!str_starts_with(line, STR("v 1")))
        return false;
    line = str_slice(line, 2, line.len);
    if (!str_next_part(&line, ' ', &word) || !str_parse_u64(word, 16, &version) ||
        version < 0x10000)
        return false;
    return line.len == 0 || str_parse_u64(str_trim(line), 16, format);
}

bool heaptrack_is(Bytes head)
{
    Str text = str_from_bytes(bytes_slice(head, 0, 64)), line;
    uint64_t format;
    return str_next_line(&text, &line) && read_versions(line, &format);
}

// The allocations of a stack so far.
typedef struct Trace {
    StackId stack;
    uint64_t blocks, bytes, freed;
    uint64_t live_blocks, live_bytes, max_blocks, max_bytes;
    uint64_t epoch, peak_blocks, peak_bytes; // live when the peak of that epoch began
    uint64_t smallest, largest;
} Trace;

typedef struct Info {
    uint64_t size;
    uint32_t trace; // 0: none
} Info;

// A block of a raw file, by its address.
typedef struct Block {
    uint64_t address, size;
    uint32_t trace;
    bool live;
} Block;

typedef struct Segment {
    uint64_t from, to, base;
    ModuleId module;
} Segment;

// The places of an address, the outermost first.
typedef struct Place {
    size_t first, count; // in `frames`
} Place;

typedef struct Heaptrack {
    Str program; // its path, in the file; "": not known
    HeapRows rows;
    MetricId live_metric;
    Vec(Trace) traces; // [0]: no stack
    StrVec strings;    // [0]: ""
    Vec(Place) places; // [0]: none
    Vec(FrameId) frames;
    Vec(Info) infos;
    Vec(Block) blocks;
    Vec(Segment) segments;
    Table by_address;
    uint64_t format;
    bool interpreted;
    uint64_t live_bytes, live_blocks, peak_bytes, epoch;
    bool at_peak; // nothing was freed since the peak
    int64_t time_ns, slice_ns, next_ns;
    size_t slices;
    uint64_t slice_most;
    uint64_t unknown_frees;
    size_t line;
    Error *err;
} Heaptrack;

static bool fail(const Heaptrack *h, const char *what)
{
    return error_set(h->err, ERROR_FORMAT, "heaptrack's file: line %zu: %s", h->line, what);
}

// The next hexadecimal number of a line. False: there is none.
static bool next_number(Str *line, uint64_t *ret)
{
    Str word;
    return str_next_part(line, ' ', &word) && str_parse_u64(word, 16, ret);
}

// ---- Places ----------------------------------------------------------------------------------

static bool read_string(Heaptrack *h, Str line)
{
    uint64_t len;
    if (h->format >= 3) {
        if (!next_number(&line, &len) || len > line.len)
            return fail(h, "a text is shorter than its length says");
        line = str_slice(line, 0, len);
    }
    vec_push(NULL, &h->strings, line);
    return true;
}

static bool next_string(const Heaptrack *h, Str *line, Str *ret)
{
    uint64_t number;
    if (!next_number(line, &number) || number >= h->strings.len)
        return false;
    *ret = h->strings.at[number];
    return true;
}

// "i ADDRESS MODULE (FUNCTION [FILE LINE])*": the innermost function first.
static bool read_place(Heaptrack *h, Str line)
{
    Profile *p = h->rows.p;
    uint64_t address, number;
    Str module_path = STR(""), name, file;
    if (!next_number(&line, &address) || !next_string(h, &line, &module_path))
        return fail(h, "an address without a module");
    ModuleId module = {0};
    if (module_path.len)
        module = profile_module(p, MODULE_FILE, module_path, STR(""));
    Place place = {.first = h->frames.len};
    while (line.len) {
        bool ok = next_string(h, &line, &name);
        file = STR("");
        number = 0;
        if (ok && line.len)
            ok = next_string(h, &line, &file) && next_number(&line, &number);
        if (!ok || number > UINT32_MAX)
            return fail(h, "a place without function, file and line");
        FunctionId function = {0};
        if (name.len)
            function = profile_function(p, name, name, STR(""), 0);
        bool is_last = line.len == 0;
        vec_push(NULL, &h->frames,
                 profile_named_frame(p, module, 0, function, profile_str(p, file), (uint32_t)number,
                                     is_last ? 0 : FRAME_INLINED));
        place.count++;
    }
    if (place.count == 0) {
        vec_push(NULL, &h->frames, profile_frame(p, module, address, 0));
        place.count = 1;
    }
    vec_push(NULL, &h->places, place);
    return true;
}

static FrameId raw_frame(Heaptrack *h, uint64_t address)
{
    for (size_t i = h->segments.len; i-- > 0;) {
        const Segment *s = &h->segments.at[i];
        if (address >= s->from && address < s->to)
            return profile_frame(h->rows.p, s->module, address - s->base, 0);
    }
    return profile_frame(h->rows.p, (ModuleId){0}, address, 0);
}

// "t PLACE PARENT"; in a raw file the place is an address.
static bool read_trace(Heaptrack *h, Str line)
{
    uint64_t place, parent;
    Profile *p = h->rows.p;
    if (!next_number(&line, &place) || !next_number(&line, &parent) || parent >= h->traces.len)
        return fail(h, "a stack whose caller is not there");
    StackId stack = h->traces.at[parent].stack;
    if (!h->interpreted) {
        stack = profile_stack(p, stack, raw_frame(h, place));
    } else {
        if (place >= h->places.len)
            return fail(h, "a stack whose place is not there");
        const Place *at = &h->places.at[place];
        for (size_t i = at->count; i-- > 0;)
            stack = profile_stack(p, stack, h->frames.at[at->first + i]);
    }
    vec_push(NULL, &h->traces, (Trace){.stack = stack});
    return true;
}

// "x LEN PATH" of the program, without the length before format 3.
static void read_program(Heaptrack *h, Str line)
{
    uint64_t len;
    if (h->format < 3)
        h->program = line;
    else if (next_number(&line, &len) && len <= line.len)
        h->program = str_slice(line, 0, len);
}

// "m 1 -": none any more; "m LEN PATH BASE (ADDRESS SIZE)*" with a length from format 3 on.
static bool read_module(Heaptrack *h, Str line)
{
    uint64_t len, base, from, size;
    Str path;
    if (h->format >= 3) {
        if (!next_number(&line, &len) || len > line.len)
            return fail(h, "a module's path is shorter than its length says");
        path = str_slice(line, 0, len);
        line = str_slice(line, len, line.len);
        line = str_trim(line);
    } else if (!str_next_part(&line, ' ', &path)) {
        return fail(h, "a module without a path");
    }
    if (str_equal(path, STR("-"))) {
        h->segments.len = 0;
        return true;
    }
    if (!next_number(&line, &base))
        return fail(h, "a module without an address");
    if (str_equal(path, STR("x")) && h->program.len) // the program itself
        path = h->program;
    ModuleId module = profile_module(h->rows.p, MODULE_FILE, path, STR(""));
    while (next_number(&line, &from) && next_number(&line, &size)) {
        uint64_t begin = base + from;
        if (size <= UINT64_MAX - begin)
            vec_push(NULL, &h->segments, (Segment){begin, begin + size, base, module});
    }
    return true;
}

// ---- Events ----------------------------------------------------------------------------------

// Before a change: what is live of the stack is what was live at the peak, if that has ended since.
static void keep_peak(const Heaptrack *h, Trace *t)
{
    if (t->epoch == h->epoch)
        return;
    t->epoch = h->epoch;
    t->peak_blocks = t->live_blocks;
    t->peak_bytes = t->live_bytes;
}

static void allocated(Heaptrack *h, uint32_t trace, uint64_t size)
{
    Trace *t = &h->traces.at[trace];
    if (!h->at_peak)
        keep_peak(h, t);
    t->smallest = t->blocks == 0 ? size : MIN(t->smallest, size);
    t->largest = MAX(t->largest, size);
    t->blocks++;
    t->bytes += size;
    t->live_blocks++;
    t->live_bytes += size;
    if (t->live_bytes >= t->max_bytes) {
        t->max_bytes = t->live_bytes;
        t->max_blocks = t->live_blocks;
    }
    h->live_blocks++;
    h->live_bytes += size;
    if (h->live_bytes >= h->peak_bytes) {
        h->peak_bytes = h->live_bytes;
        h->at_peak = true;
    }
    h->slice_most = MAX(h->slice_most, h->live_bytes);
}

static void freed(Heaptrack *h, uint32_t trace, uint64_t size)
{
    Trace *t = &h->traces.at[trace];
    if (h->at_peak) { // the peak ends
        h->at_peak = false;
        h->epoch++;
    }
    if (t->live_blocks == 0 || t->live_bytes < size) {
        h->unknown_frees++;
        return;
    }
    keep_peak(h, t);
    t->freed++;
    t->live_blocks--;
    t->live_bytes -= size;
    h->live_blocks--;
    h->live_bytes -= size;
}

static Block *block_find(Heaptrack *h, uint64_t address)
{
    uint32_t row;
    uint64_t hash = hash_u64(address);
    for (TableProbe t = table_probe(&h->by_address, hash); table_next(&h->by_address, &t, &row);)
        if (h->blocks.at[row].address == address)
            return &h->blocks.at[row];
    return NULL;
}

static bool read_raw_allocation(Heaptrack *h, Str line)
{
    uint64_t size, trace, address;
    if (!next_number(&line, &size) || !next_number(&line, &trace) ||
        !next_number(&line, &address) || trace >= h->traces.len || size > INT64_MAX)
        return fail(h, "an allocation without size, stack and address");
    Block *b = block_find(h, address);
    if (!b) {
        table_insert(&h->by_address, hash_u64(address), (uint32_t)h->blocks.len);
        vec_push(NULL, &h->blocks, (Block){.address = address});
        b = &vec_last(&h->blocks);
    }
    // A free that was not seen: the address is in use again.
    if (b->live)
        freed(h, b->trace, b->size);
    *b = (Block){address, size, (uint32_t)trace, true};
    allocated(h, b->trace, size);
    return true;
}

static bool read_event(Heaptrack *h, char kind, Str line)
{
    uint64_t number;
    if (!h->interpreted && kind == '+')
        return read_raw_allocation(h, line);
    if (!next_number(&line, &number))
        return fail(h, "an event without a number");
    if (!h->interpreted) {
        Block *b = block_find(h, number);
        if (b && b->live) {
            b->live = false;
            freed(h, b->trace, b->size);
        } else {
            h->unknown_frees++;
        }
        return true;
    }
    if (number >= h->infos.len)
        return fail(h, "an event of an allocation that is not described");
    const Info *info = &h->infos.at[number];
    if (kind == '+')
        allocated(h, info->trace, info->size);
    else
        freed(h, info->trace, info->size);
    return true;
}

static bool read_info(Heaptrack *h, Str line)
{
    uint64_t size, trace;
    if (!next_number(&line, &size) || !next_number(&line, &trace) || trace >= h->traces.len ||
        size > INT64_MAX)
        return fail(h, "an allocation's size or stack is not there");
    vec_push(NULL, &h->infos, (Info){size, (uint32_t)trace});
    return true;
}

// "c MS": a time stamp, every 10 ms. Of many, slices are kept.
static bool read_time(Heaptrack *h, Str line)
{
    uint64_t ms;
    if (!next_number(&line, &ms) || ms > INT64_MAX / 1000000)
        return fail(h, "a time stamp without a time");
    h->time_ns = (int64_t)ms * 1000000;
    if (h->time_ns < h->next_ns)
        return true;
    profile_add_point(h->rows.p, h->live_metric, h->time_ns,
                      (double)MAX(h->slice_most, h->live_bytes), 0, 0,
                      profile_str(h->rows.p, STR("")));
    h->slice_most = 0;
    // Farther apart the more there are: a run of a day has not more than some thousands.
    if (++h->slices % SLICES_MOST == 0)
        h->slice_ns *= 2;
    h->next_ns = h->time_ns + h->slice_ns;
    return true;
}

// ---- The file --------------------------------------------------------------------------------

static bool read_line(Heaptrack *h, Str line)
{
    if (line.len < 2 || line.ptr[1] != ' ')
        return line.len <= 1 || line.ptr[0] == '#' || fail(h, "not a line of heaptrack");
    Str rest = str_slice(line, 2, line.len);
    switch (line.ptr[0]) {
    case 's':
        return read_string(h, rest);
    case 'i':
        return read_place(h, rest);
    case 't':
        return read_trace(h, rest);
    case 'm':
        return read_module(h, rest);
    case 'a':
        return read_info(h, rest);
    case '+':
    case '-':
        return read_event(h, line.ptr[0], rest);
    case 'c':
        return read_time(h, rest);
    case 'x':
        read_program(h, rest);
        return true;
    case 'X':
        profile_set_fact(h->rows.p, STR(FACT_COMMAND), rest);
        return true;
    default: // I, S, R, A, #, and what later versions add
        return true;
    }
}

static bool find_kind(Str text)
{
    Str line;
    while (str_next_line(&text, &line))
        if (str_starts_with(line, STR("i ")) || str_starts_with(line, STR("a ")) ||
            str_starts_with(line, STR("s ")))
            return true;
    return false;
}

static void add_rows(Heaptrack *h)
{
    for (size_t i = 0; i < h->traces.len; i++) {
        const Trace *t = &h->traces.at[i];
        bool changed = !h->at_peak && t->epoch == h->epoch;
        uint64_t value[HEAP_METRIC_COUNT] = {0};
        if (t->blocks == 0)
            continue;
        value[HEAP_BLOCKS] = t->blocks;
        value[HEAP_BYTES] = t->bytes;
        value[HEAP_PEAK_BYTES] = changed ? t->peak_bytes : t->live_bytes;
        value[HEAP_PEAK_BLOCKS] = changed ? t->peak_blocks : t->live_blocks;
        value[HEAP_END_BYTES] = t->live_bytes;
        value[HEAP_END_BLOCKS] = t->live_blocks;
        value[HEAP_MAX_BYTES] = t->max_bytes;
        value[HEAP_MAX_BLOCKS] = t->max_blocks;
        value[HEAP_FREED] = t->freed;
        value[HEAP_SMALLEST] = t->smallest;
        value[HEAP_LARGEST] = t->largest;
        heap_rows_add(&h->rows, t->stack, value);
    }
    if (h->unknown_frees)
        profile_note(h->rows.p, NOTE_INFO, STR("unknown-frees"),
                     "%" PRIu64 " freed blocks were allocated before the recording",
                     h->unknown_frees);
    if (!h->interpreted)
        profile_note(h->rows.p, NOTE_WARNING, STR("no-names"),
                     "a raw recording has addresses alone: heaptrack --record-only files become "
                     "named by heaptrack_interpret");
    if (h->time_ns > 0) {
        StrBuf ns = {0};
        strbuf_add_u64(&ns, (uint64_t)h->time_ns);
        profile_set_fact(h->rows.p, STR(FACT_WALL_NS), strbuf_str(&ns));
        strbuf_deinit(&ns);
    }
}

static bool read_file(Heaptrack *h, Str text)
{
    Str line;
    bool is_cut = text.len && text.ptr[text.len - 1] != '\n';
    h->line = 1;
    if (!str_next_line(&text, &line) || !read_versions(line, &h->format))
        return fail(h, "no version of heaptrack");
    if (h->format > FORMAT_NEWEST)
        return error_set(h->err, ERROR_UNSUPPORTED,
                         "heaptrack's file: format %" PRIu64 " is newer than %d", h->format,
                         FORMAT_NEWEST);
    h->interpreted = find_kind(text);
    while (str_next_line(&text, &line)) {
        h->line++;
        if (is_cut && text.len == 0)
            break; // the last line may have lost digits
        if (!read_line(h, line))
            return false;
    }
    if (is_cut)
        profile_note(h->rows.p, NOTE_WARNING, STR("cut-file"),
                     "the file is cut in line %zu: the part before is read", h->line);
    return true;
}

bool import_heaptrack(Bytes file, Profile *p, Error *err)
{
    Heaptrack h = {.err = err, .slice_ns = 10000000};
    profile_init(p);
    heap_rows_init(&h.rows, p, STR("import heaptrack"),
                   HEAP_BIT(BLOCKS) | HEAP_BIT(BYTES) | HEAP_BIT(PEAK_BYTES) |
                       HEAP_BIT(PEAK_BLOCKS) | HEAP_BIT(END_BYTES) | HEAP_BIT(END_BLOCKS) |
                       HEAP_BIT(MAX_BYTES) | HEAP_BIT(MAX_BLOCKS) | HEAP_BIT(FREED) |
                       HEAP_BIT(SMALLEST) | HEAP_BIT(LARGEST),
                   0, STR(""));
    h.live_metric = profile_add_metric(p, STR(HEAP_LIVE_BYTES), STR("bytes"), METRIC_MAX, STR(""));
    vec_push(NULL, &h.traces, (Trace){.stack = {0}});
    vec_push(NULL, &h.strings, STR(""));
    vec_push(NULL, &h.places, (Place){0, 0});
    bool ok = read_file(&h, str_from_bytes(file));
    if (ok)
        add_rows(&h);
    vec_free(&h.traces);
    vec_free(&h.strings);
    vec_free(&h.places);
    vec_free(&h.frames);
    vec_free(&h.infos);
    vec_free(&h.blocks);
    vec_free(&h.segments);
    table_deinit(&h.by_address);
    if (!ok)
        profile_deinit(p);
    return ok;
}
