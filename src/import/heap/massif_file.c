// SPDX-License-Identifier: Apache-2.0
// massif's text -> Profile: what was live at the peak by stack, and the size of the heap over time.
// Format: valgrind, massif/ms_main.c, and ms_print.

#include "import/heap/heap_files.h"

#include "import/heap/heap_rows_internal.h"
#include "model/facts.h"

bool massif_is(Bytes head)
{
    Str text = str_from_bytes(bytes_slice(head, 0, 64 << 10)), line;
    return str_starts_with(text, STR("desc: ")) && str_next_line(&text, &line) &&
           str_next_line(&text, &line) && str_starts_with(line, STR("cmd: "));
}

enum { DEPTH_MAX = 4096 };

// A node on the way from the root: the innermost function is nearest to the root.
typedef struct Node {
    FrameId frame;
    uint64_t left; // bytes that no child has taken yet
} Node;

typedef struct Massif {
    HeapRows rows;
    MetricId live;
    Vec(Node) path;
    Str text;         // what is still to be read
    size_t line;      // number of the last line
    uint64_t tree_at; // number of the snapshot whose tree is taken
    bool has_tree;
    int64_t tick_ns; // of a unit of time
    Error *err;
} Massif;

static bool next_line(Massif *m, Str *line)
{
    m->line++;
    return str_next_line(&m->text, line);
}

static bool fail(const Massif *m, const char *what)
{
    return error_set(m->err, ERROR_FORMAT, "massif's file: line %zu: %s", m->line, what);
}

// The value of "key=value" as a number.
static bool value_of(Str line, const char *key, uint64_t *ret)
{
    Str name, value;
    return str_split(line, '=', &name, &value) && str_equal(name, str_from_c(key)) &&
           str_parse_u64(value, 10, ret);
}

// Ends the nodes of the path from `depth` on: what they did not give to children is theirs.
static void close_nodes(Massif *m, size_t depth)
{
    while (m->path.len > depth) {
        uint64_t left = vec_last(&m->path).left;
        if (left && m->path.len > 1) {
            StackId stack = {0};
            uint64_t value[HEAP_METRIC_COUNT] = {[HEAP_PEAK_BYTES] = left};
            for (size_t i = m->path.len; i-- > 1;)
                stack = profile_stack(m->rows.p, stack, m->path.at[i].frame);
            heap_rows_add(&m->rows, stack, value);
        } else if (left) {
            uint64_t value[HEAP_METRIC_COUNT] = {[HEAP_PEAK_BYTES] = left};
            heap_rows_add(&m->rows, (StackId){0}, value);
        }
        m->path.len--;
    }
}

// "  n2: 1000 0x401136: f (prog.c:5)", "  n0: 12 in 3 places, all below massif's threshold".
static bool read_node(Massif *m, Str line)
{
    size_t depth = 0;
    uint64_t children, bytes;
    Str count, rest, number;
    while (depth < line.len && line.ptr[depth] == ' ')
        depth++;
    line = str_slice(line, depth, line.len);
    if (depth > m->path.len || depth > DEPTH_MAX || !str_starts_with(line, STR("n")) ||
        !str_split(str_slice(line, 1, line.len), ':', &count, &rest) ||
        !str_parse_u64(count, 10, &children))
        return fail(m, "no node of a tree");
    rest = str_trim(rest);
    size_t space = str_find_char(rest, ' ');
    number = str_slice(rest, 0, MIN(space, rest.len));
    if (!str_parse_u64(number, 10, &bytes))
        return fail(m, "a node without bytes");
    rest = space == SIZE_MAX ? STR("") : str_slice(rest, space + 1, rest.len);
    close_nodes(m, depth);
    // Joined places stay with the node that they are below.
    if (str_starts_with(rest, STR("in ")) && children == 0)
        return true;
    if (depth) {
        Node *above = &m->path.at[depth - 1];
        if (bytes > above->left)
            return fail(m, "a node has more bytes than the one above it has left");
        above->left -= bytes;
    }
    FrameId frame = depth ? heap_rows_frame(m->rows.p, rest) : (FrameId){0};
    vec_push(NULL, &m->path, (Node){frame, bytes});
    return true;
}

static bool is_node(Str line)
{
    Str text = str_trim(line);
    return text.len > 1 && text.ptr[0] == 'n' && text.ptr[1] >= '0' && text.ptr[1] <= '9';
}

typedef struct Snapshot {
    uint64_t number, time, bytes;
    bool has_tree, is_peak;
} Snapshot;

// Reads the lines of a snapshot behind "snapshot=N", up to its tree.
static bool read_snapshot(Massif *m, Snapshot *s)
{
    Str line;
    bool has_time = false, has_bytes = false;
    while (next_line(m, &line)) {
        if (value_of(line, "time", &s->time))
            has_time = true;
        else if (value_of(line, "mem_heap_B", &s->bytes))
            has_bytes = true;
        else if (str_starts_with(line, STR("heap_tree="))) {
            Str kind = str_slice(line, 10, line.len);
            s->is_peak = str_equal(kind, STR("peak"));
            s->has_tree = s->is_peak || str_equal(kind, STR("detailed"));
            return (has_time && has_bytes) || fail(m, "a snapshot without time or mem_heap_B");
        }
    }
    return fail(m, "the file ends within a snapshot");
}

// Passes over all snapshots to find the one whose tree is the peak: the marked one, else the one
// with the most bytes.
static bool find_peak(Massif m, uint64_t *ret, bool *found, Error *err)
{
    Str line;
    Snapshot s;
    uint64_t most = 0;
    bool marked = false;
    m.err = err;
    *found = false;
    while (next_line(&m, &line)) {
        s = (Snapshot){0};
        if (!value_of(line, "snapshot", &s.number))
            continue;
        if (!read_snapshot(&m, &s))
            return false;
        if (!s.has_tree || (marked && !s.is_peak) || (s.bytes < most && !s.is_peak))
            continue;
        marked |= s.is_peak;
        most = s.bytes;
        *ret = s.number;
        *found = true;
    }
    return true;
}

static bool read_snapshots(Massif *m)
{
    Str line;
    StrId whole = profile_str(m->rows.p, STR(""));
    bool any = false, inside = false;
    while (next_line(m, &line)) {
        Snapshot s = {0};
        if (value_of(line, "snapshot", &s.number)) {
            close_nodes(m, 0);
            if (!read_snapshot(m, &s))
                return false;
            any = true;
            inside = m->has_tree && s.number == m->tree_at && s.has_tree;
            int64_t time = (int64_t)MIN(s.time, (uint64_t)(INT64_MAX / m->tick_ns)) * m->tick_ns;
            profile_add_point(m->rows.p, m->live, time, (double)s.bytes, 0, 0, whole);
        } else if (inside && is_node(line)) {
            if (!read_node(m, line))
                return false;
        } else if (!is_node(line) && line.len && line.ptr[0] != '#') {
            return fail(m, "not a line of massif");
        }
    }
    close_nodes(m, 0);
    return any || fail(m, "no snapshot");
}

static bool read_head(Massif *m, Profile *p)
{
    Str line;
    if (!next_line(m, &line)) // the description
        return fail(m, "no command");
    if (!next_line(m, &line) || !str_starts_with(line, STR("cmd: ")))
        return fail(m, "no command");
    Str command = str_slice(line, 5, line.len);
    if (!next_line(m, &line) || !str_starts_with(line, STR("time_unit: ")))
        return fail(m, "no unit of time");
    Str unit = str_slice(line, 11, line.len);
    m->tick_ns = str_equal(unit, STR("ms")) ? 1000000 : 1;
    heap_rows_init(&m->rows, p, STR("import massif"), HEAP_BIT(PEAK_BYTES), 0, command);
    m->live = profile_add_metric(p, STR(HEAP_LIVE_BYTES), STR("bytes"), METRIC_MAX, STR(""));
    if (!str_equal(unit, STR("ms")))
        profile_note(p, NOTE_INFO, STR("no-time"), "the time line counts %s, shown as ns",
                     str_equal(unit, STR("i")) ? "instructions" : "allocated bytes");
    return true;
}

bool import_massif(Bytes file, Profile *p, Error *err)
{
    Massif m = {.text = str_from_bytes(file), .err = err};
    profile_init(p);
    bool ok = read_head(&m, p) && find_peak(m, &m.tree_at, &m.has_tree, err) && read_snapshots(&m);
    if (ok && !m.has_tree)
        profile_note(p, NOTE_WARNING, STR("no-tree"),
                     "the file has no detailed snapshot: only the size of the heap over time");
    vec_free(&m.path);
    if (!ok)
        profile_deinit(p);
    return ok;
}
