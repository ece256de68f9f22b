// SPDX-License-Identifier: Apache-2.0
// Chunks of Java Flight Recordings: header, classes, pools, events.

#include "jfr/jfr.h"

enum {
    HEADER_BYTES = 68,
    EVENT_METADATA = 0,
    EVENT_POOLS = 1,
    FLAG_VARINTS = 1,
    DEPTH_MAX = 16,
};

bool jfr_is(Bytes head)
{
    return head.len >= 4 && memcmp(head.ptr, "FLR\0", 4) == 0;
}

typedef struct Header {
    uint64_t size, metadata_at;
} Header;

static bool read_header(JfrChunk *c, Bytes rest, Header *ret, Error *err)
{
    Cursor in = cursor_over(rest, "Java Flight Recording");
    in.big_endian = true;
    cursor_skip(&in, 4);
    unsigned major = cursor_u16(&in), minor = cursor_u16(&in);
    ret->size = cursor_u64(&in);
    cursor_skip(&in, 8); // the pools, which are found among the events
    ret->metadata_at = cursor_u64(&in);
    c->start_ns = cursor_u64(&in);
    cursor_skip(&in, 8); // its duration
    c->start_ticks = cursor_u64(&in);
    c->ticks_per_s = cursor_u64(&in);
    uint32_t flags = cursor_u32(&in);
    if (!cursor_check(&in, err))
        return false;
    if (!jfr_is(rest))
        return error_set(err, ERROR_FORMAT, "no chunk of a Java Flight Recording");
    if (major != 2)
        return error_set(err, ERROR_UNSUPPORTED,
                         "Java Flight Recording %u.%u: only version 2 is read", major, minor);
    if (!(flags & FLAG_VARINTS))
        return error_set(err, ERROR_UNSUPPORTED,
                         "a Java Flight Recording without compressed numbers");
    if (ret->size < HEADER_BYTES || ret->size > rest.len)
        return error_set(err, ERROR_FORMAT, "a chunk of %llu bytes, of which %zu are there",
                         (unsigned long long)ret->size, rest.len);
    if (c->ticks_per_s == 0)
        return error_set(err, ERROR_FORMAT, "a clock without ticks");
    return true;
}

// ---- Classes -----------------------------------------------------------------------------

// The elements of the metadata: a tree like XML, with numbers of texts for all words.
typedef struct Metadata {
    JfrChunk *chunk;
    Cursor in;
    StrVec texts;
    JfrClass *of; // the class whose fields follow
} Metadata;

static Str take_text(Metadata *m)
{
    uint64_t number = jfr_varint(&m->in);
    if (number >= m->texts.len) {
        cursor_fail(&m->in, "a text that is not there");
        return STR("");
    }
    return m->texts.at[number];
}

static JfrKind kind_of(Str name)
{
    static const struct {
        const char *name;
        JfrKind kind;
    } kinds[] = {{"boolean", JFR_BYTE}, {"byte", JFR_BYTE},     {"char", JFR_NUMBER},
                 {"short", JFR_NUMBER}, {"int", JFR_NUMBER},    {"long", JFR_NUMBER},
                 {"float", JFR_FLOAT},  {"double", JFR_DOUBLE}, {"java.lang.String", JFR_STRING}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_equal(name, str_from_c(kinds[i].name)))
            return kinds[i].kind;
    return JFR_OBJECT;
}

// The attributes that matter of "class" and "field".
typedef struct Attributes {
    Str name;
    uint64_t id, class_id;
    bool is_pooled, is_array;
} Attributes;

static Attributes take_attributes(Metadata *m)
{
    Attributes a = {0};
    uint64_t count = jfr_varint(&m->in);
    for (uint64_t i = 0; i < count && cursor_more(&m->in); i++) {
        Str key = take_text(m), value = take_text(m);
        if (str_equal(key, STR("name")))
            a.name = value;
        else if (str_equal(key, STR("id")))
            (void)!str_parse_u64(value, 10, &a.id);
        else if (str_equal(key, STR("class")))
            (void)!str_parse_u64(value, 10, &a.class_id);
        else if (str_equal(key, STR("constantPool")))
            a.is_pooled = str_equal(value, STR("true"));
        else if (str_equal(key, STR("dimension")))
            a.is_array = !str_equal(value, STR("0"));
    }
    return a;
}

static void take_element(Metadata *m, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        cursor_fail(&m->in, "elements in elements without end");
        return;
    }
    JfrChunk *chunk = m->chunk;
    Str word = take_text(m);
    Attributes a = take_attributes(m);
    JfrClass *outer = m->of;
    if (str_equal(word, STR("class"))) {
        table_insert(&chunk->class_by_id, hash_u64(a.id), (uint32_t)chunk->classes.len);
        vec_push(chunk->arena, &chunk->classes,
                 (JfrClass){.name = a.name, .id = a.id, .kind = kind_of(a.name)});
        m->of = &vec_last(&chunk->classes);
        if (m->of->kind == JFR_STRING)
            chunk->text_class = a.id;
    } else if (str_equal(word, STR("field")) && m->of) {
        JfrField field = {a.name, a.class_id, a.is_pooled, a.is_array};
        vec_push(chunk->arena, &m->of->fields, field);
    }
    size_t here = m->of ? (size_t)(m->of - chunk->classes.at) : 0;
    uint64_t children = jfr_varint(&m->in);
    for (uint64_t i = 0; i < children && cursor_more(&m->in); i++) {
        take_element(m, depth + 1);
        // The list of classes may have moved.
        if (m->of)
            m->of = &chunk->classes.at[here];
    }
    m->of = outer;
}

static bool read_classes(JfrChunk *c, uint64_t at, Error *err)
{
    Metadata m = {.chunk = c, .in = cursor_over(c->bytes, "classes")};
    cursor_seek(&m.in, at);
    (void)jfr_varint(&m.in); // size
    if (jfr_varint(&m.in) != EVENT_METADATA)
        cursor_fail(&m.in, "no description of classes");
    (void)jfr_varint(&m.in); // start
    (void)jfr_varint(&m.in); // duration
    (void)jfr_varint(&m.in); // number of this description
    uint64_t count = jfr_varint(&m.in);
    for (uint64_t i = 0; i < count && cursor_more(&m.in); i++)
        vec_push(c->arena, &m.texts, jfr_string(c, &m.in));
    take_element(&m, 0);
    return cursor_check(&m.in, err);
}

// ---- Events and pools ----------------------------------------------------------------------

// The event at `*at`, its class's number, and the place of its fields.
static bool next_event(const JfrChunk *c, size_t *at, uint64_t *class_id, size_t *fields,
                       Error *err)
{
    Cursor in = cursor_over(c->bytes, "events");
    if (*at < HEADER_BYTES)
        *at = HEADER_BYTES;
    if (*at >= c->bytes.len)
        return false;
    cursor_seek(&in, *at);
    uint64_t size = jfr_varint(&in);
    *class_id = jfr_varint(&in);
    *fields = in.at;
    if (cursor_ok(&in) && (size < in.at - *at || size > c->bytes.len - *at))
        cursor_fail_decimal(&in, "an event of this size:", size);
    if (!cursor_check(&in, err))
        return false;
    *at += (size_t)size;
    return true;
}

static void read_pool(JfrChunk *c, Cursor *in)
{
    uint64_t class_id = jfr_varint(in), count = jfr_varint(in);
    for (uint64_t i = 0; i < count && cursor_more(in); i++) {
        uint64_t number = jfr_varint(in);
        JfrPooled value = {class_id, number, in->at};
        jfr_skip(c, in, class_id, 0);
        if (!cursor_ok(in))
            return;
        table_insert(&c->pooled_by_number, hash_u64(class_id * 31 ^ number),
                     (uint32_t)c->pooled.len);
        vec_push(c->arena, &c->pooled, value);
    }
}

static bool read_pools(JfrChunk *c, Error *err)
{
    size_t at = 0, fields;
    uint64_t class_id;
    err->kind = ERROR_NONE;
    while (next_event(c, &at, &class_id, &fields, err)) {
        if (class_id != EVENT_POOLS)
            continue;
        Cursor in = cursor_over(c->bytes, "pools");
        cursor_seek(&in, fields);
        (void)jfr_varint(&in); // start
        (void)jfr_varint(&in); // duration
        (void)jfr_varint(&in); // distance to the pools before it
        (void)cursor_u8(&in);  // kind
        uint64_t count = jfr_varint(&in);
        for (uint64_t i = 0; i < count && cursor_more(&in); i++)
            read_pool(c, &in);
        if (!cursor_check(&in, err))
            return false;
    }
    return err->kind == ERROR_NONE;
}

bool jfr_event_next(const JfrChunk *c, size_t *at, JfrValue *ret, Error *err)
{
    uint64_t class_id;
    size_t fields;
    err->kind = ERROR_NONE;
    while (next_event(c, at, &class_id, &fields, err)) {
        const JfrClass *of = class_id > EVENT_POOLS ? jfr_class(c, class_id) : NULL;
        if (!of)
            continue;
        *ret = (JfrValue){c, of, fields};
        return true;
    }
    return false;
}

bool jfr_chunk_open(Arena *arena, Bytes rest, JfrChunk *ret, size_t *size, Error *err)
{
    JfrChunk c = {.arena = arena};
    Header header;
    if (!read_header(&c, rest, &header, err))
        return false;
    c.bytes = bytes_slice(rest, 0, (size_t)header.size);
    if (!read_classes(&c, header.metadata_at, err) || !read_pools(&c, err)) {
        jfr_chunk_close(&c);
        return false;
    }
    *size = (size_t)header.size;
    *ret = c;
    return true;
}

void jfr_chunk_close(JfrChunk *c)
{
    table_deinit(&c->class_by_id);
    table_deinit(&c->pooled_by_number);
}
