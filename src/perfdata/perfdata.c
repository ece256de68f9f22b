// SPDX-License-Identifier: Apache-2.0
// Reads perf.data files: events, features and the stream of records. Format: linux
// tools/perf/Documentation/perf.data-file-format.txt.

#include "perfdata/perfdata.h"

#include <inttypes.h>
#include <zstd.h>

#include "base/cursor.h"
#include "base/decoded.h"
#include "base/log.h"
#include "perfdata/simpleperf_internal.h"

enum {
    MAGIC_LEN = 8,
    FILE_HEADER_LEN = 104,
    PIPE_HEADER_LEN = 16,
    RECORD_HEAD_LEN = 8,
    FEATURE_BITS = 256,
    EVENTS_MAX = 4096,
    // perf writes one ring at a time; a larger chunk is not from perf.
    CHUNK_MAX = 256 << 20,
};

typedef enum Feature {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOSTNAME = 3,
    FEATURE_OSRELEASE = 4,
    FEATURE_VERSION = 5,
    FEATURE_ARCH = 6,
    FEATURE_NRCPUS = 7,
    FEATURE_CPUDESC = 8,
    FEATURE_CMDLINE = 11,
    FEATURE_EVENT_DESC = 12,
    FEATURE_SAMPLE_TIME = 21,
    FEATURE_CLOCK_DATA = 29,
    FEATURE_SIMPLEPERF_FILES = 128,
    FEATURE_SIMPLEPERF_PACKED_FILES = 132,
} Feature;

typedef struct Section {
    uint64_t offset, size;
} Section;

struct PerfDataReader {
    Arena *arena;
    Bytes file;
    PerfData info;
    Cursor data;     // the records
    bool open_ended; // the size of the data part was never written
    // Decompressed bytes that have not been returned yet.
    ZSTD_DStream *zstd;
    U8Vec unpacked;
    size_t unpacked_at;
    uint64_t unpacked_offset; // of the compressed record that they came from
    uint64_t unpacked_total;  // of all compressed records so far
    const Bytes *streams;     // that follow
    size_t stream_count;
    uint64_t input_bytes; // of the file and all streams
};

bool perfdata_is(Bytes head)
{
    Bytes magic = bytes_slice(head, 0, MAGIC_LEN);
    return bytes_equal(magic, "PERFILE2", MAGIC_LEN) || bytes_equal(magic, "2ELIFREP", MAGIC_LEN);
}

// ---- Attributes ------------------------------------------------------------

// Reads an attr, which may be shorter or longer than that of our headers, depending on the version
// of perf. Fields that it lacks are zero; fields beyond ours are ignored.
static bool read_attr(Cursor *c, uint64_t size, struct perf_event_attr *ret)
{
    if (size < PERF_ATTR_SIZE_VER0)
        cursor_fail(c, "event attributes shorter than their first version");
    Bytes b = cursor_bytes(c, size);
    *ret = (struct perf_event_attr){0};
    bytes_copy(ret, bytes_slice(b, 0, sizeof(*ret)));
    return cursor_ok(c);
}

static bool read_ids(PerfDataReader *r, Cursor *c, uint64_t count, U64Vec *ids)
{
    if (count > cursor_left(c) / 8) {
        cursor_fail(c, "more ids than bytes");
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        vec_push(r->arena, ids, cursor_u64(c));
    return true;
}

static Cursor cursor_at_section(const PerfDataReader *r, Section s, const char *what)
{
    Cursor c = cursor_over(r->file, what);
    cursor_seek(&c, s.offset);
    return cursor_sub(&c, s.size, what);
}

static Section read_section(Cursor *c)
{
    Section s;
    s.offset = cursor_u64(c);
    s.size = cursor_u64(c);
    return s;
}

static bool read_attrs(PerfDataReader *r, Section attrs, uint64_t entry_size, Error *err)
{
    enum { IDS_LEN = 16 };
    Cursor c = cursor_at_section(r, attrs, "event attributes");
    if (entry_size < PERF_ATTR_SIZE_VER0 + IDS_LEN)
        cursor_fail(&c, "attribute entries too small");
    while (cursor_more(&c) && r->info.events.len < EVENTS_MAX) {
        PerfDataEvent event = {0};
        read_attr(&c, entry_size - IDS_LEN, &event.attr);
        Section ids = read_section(&c);
        if (!cursor_ok(&c))
            break;
        Cursor id_cursor = cursor_at_section(r, ids, "event ids");
        read_ids(r, &id_cursor, ids.size / 8, &event.ids);
        if (!cursor_check(&id_cursor, err))
            return false;
        vec_push(r->arena, &r->info.events, event);
    }
    return cursor_check(&c, err);
}

// ---- Features --------------------------------------------------------------

// Reads a string in perf's form: u32 length with padding, text up to a NUL.
static Str read_string(Cursor *c)
{
    uint32_t len = cursor_u32(c);
    Str s = str_from_bytes(cursor_bytes(c, len));
    size_t end = str_find_char(s, '\0');
    return end == SIZE_MAX ? s : str_slice(s, 0, end);
}

static void read_build_id(PerfDataReader *r, Cursor *c, uint16_t misc, uint64_t size)
{
    enum { BUILD_ID_FIELD = 24, BUILD_ID_DEFAULT = 20, MISC_SIZE_GIVEN = 1 << 15 };
    Cursor e = cursor_sub(c, size, "build-id");
    PerfDataBuildId b = {.misc = misc};
    b.pid = cursor_u32(&e);
    Bytes field = cursor_bytes(&e, BUILD_ID_FIELD);
    if (!cursor_ok(&e))
        return;
    size_t len = misc & MISC_SIZE_GIVEN ? field.ptr[20] : BUILD_ID_DEFAULT;
    b.id = bytes_slice(field, 0, MIN(len, (size_t)BUILD_ID_DEFAULT));
    b.path = str_from_bytes(cursor_bytes(&e, cursor_left(&e)));
    size_t end = str_find_char(b.path, '\0');
    if (end != SIZE_MAX)
        b.path.len = end;
    vec_push(r->arena, &r->info.build_ids, b);
}

static void read_build_ids(PerfDataReader *r, Cursor *c)
{
    while (cursor_left(c) >= RECORD_HEAD_LEN && cursor_ok(c)) {
        cursor_skip(c, 4);
        uint16_t misc = cursor_u16(c);
        uint16_t size = cursor_u16(c);
        if (size < RECORD_HEAD_LEN)
            return;
        read_build_id(r, c, misc, size - RECORD_HEAD_LEN);
    }
}

static bool ids_overlap(const U64Vec *a, const U64Vec *b)
{
    return a->len && b->len && a->at[0] == b->at[0];
}

// Reads the names of events, matched by id or, without ids, by position.
static void read_event_names(PerfDataReader *r, Cursor *c)
{
    uint32_t count = cursor_u32(c);
    uint32_t attr_size = cursor_u32(c);
    for (uint32_t i = 0; i < count && cursor_more(c); i++) {
        PerfDataEvent named = {0};
        if (!read_attr(c, attr_size, &named.attr))
            return;
        uint32_t id_count = cursor_u32(c);
        named.name = read_string(c);
        if (!read_ids(r, c, id_count, &named.ids))
            return;
        for (size_t e = 0; e < r->info.events.len; e++) {
            PerfDataEvent *event = &r->info.events.at[e];
            if (ids_overlap(&event->ids, &named.ids) || (named.ids.len == 0 && e == i))
                event->name = named.name;
        }
    }
}

static void read_command(PerfDataReader *r, Cursor *c)
{
    uint32_t count = cursor_u32(c);
    for (uint32_t i = 0; i < count && cursor_more(c); i++)
        vec_push(r->arena, &r->info.command, read_string(c));
}

static void read_clock_data(PerfDataReader *r, Cursor *c)
{
    cursor_skip(c, 8); // version and clock id
    r->info.clock_realtime_ns = cursor_u64(c);
    r->info.clock_reference_ns = cursor_u64(c);
    r->info.has_clock_data = cursor_ok(c);
}

// Reads a feature. The recording can be read without it, so a broken one is left out.
static void read_feature(PerfDataReader *r, unsigned feature, Cursor *c)
{
    PerfData *info = &r->info;
    switch (feature) {
    case FEATURE_BUILD_ID:
        read_build_ids(r, c);
        break;
    case FEATURE_HOSTNAME:
        info->hostname = read_string(c);
        break;
    case FEATURE_OSRELEASE:
        info->os_release = read_string(c);
        break;
    case FEATURE_VERSION:
        info->perf_version = read_string(c);
        break;
    case FEATURE_ARCH:
        info->arch = read_string(c);
        break;
    case FEATURE_NRCPUS:
        info->cpus_online = cursor_u32(c);
        break;
    case FEATURE_CPUDESC:
        info->cpu_description = read_string(c);
        break;
    case FEATURE_CMDLINE:
        read_command(r, c);
        break;
    case FEATURE_EVENT_DESC:
        read_event_names(r, c);
        break;
    case FEATURE_SAMPLE_TIME:
        info->first_sample_ns = cursor_u64(c);
        info->last_sample_ns = cursor_u64(c);
        break;
    case FEATURE_CLOCK_DATA:
        read_clock_data(r, c);
        break;
    case FEATURE_SIMPLEPERF_FILES:
        simpleperf_files_read(r->arena, c, &info->files);
        break;
    case FEATURE_SIMPLEPERF_PACKED_FILES:
        simpleperf_files_read_packed(r->arena, c, &info->files);
        break;
    default:
        break;
    }
    if (!cursor_ok(c))
        log_debug(LOG_IMPORT, 1, "perf.data feature %u is broken: %s", feature, c->why);
}

// Reads the features: a section for each set bit, in the order of the bits, after the data.
static void read_features(PerfDataReader *r, const uint64_t bits[4], uint64_t table_at)
{
    Cursor table = cursor_over(r->file, "feature table");
    cursor_seek(&table, table_at);
    for (unsigned f = 0; f < FEATURE_BITS && cursor_ok(&table); f++) {
        if (!(bits[f / 64] >> f % 64 & 1))
            continue;
        Section s = read_section(&table);
        if (!cursor_ok(&table))
            return;
        Cursor c = cursor_at_section(r, s, "feature");
        read_feature(r, f, &c);
    }
}

// ---- Opening ---------------------------------------------------------------

static bool open_file(PerfDataReader *r, Error *err)
{
    Cursor c = cursor_over(r->file, "perf.data header");
    cursor_seek(&c, MAGIC_LEN + 8);
    uint64_t entry_size = cursor_u64(&c);
    Section attrs = read_section(&c);
    Section data = read_section(&c);
    (void)read_section(&c); // event types: names, from before there was EVENT_DESC
    uint64_t features[4];
    for (size_t i = 0; i < 4; i++)
        features[i] = cursor_u64(&c);
    if (!cursor_check(&c, err) || !read_attrs(r, attrs, entry_size, err))
        return false;
    if (r->info.events.len == 0)
        return error_set(err, ERROR_FORMAT, "perf.data has no events");
    r->open_ended = data.size == 0;
    if (data.offset > r->file.len)
        return error_set(err, ERROR_FORMAT,
                         "perf.data: data begins at 0x%" PRIx64 ", past the end at 0x%zx",
                         data.offset, r->file.len);
    uint64_t left = r->file.len - data.offset;
    r->info.is_open_ended = r->open_ended;
    r->info.is_cut = data.size > left;
    Cursor all = cursor_over(r->file, "perf.data");
    cursor_seek(&all, data.offset);
    r->data = cursor_sub(&all, r->open_ended || data.size > left ? left : data.size, "perf.data");
    if (!r->open_ended && data.size < left)
        read_features(r, features, data.offset + data.size);
    return true;
}

bool perfdata_open(Arena *arena, Bytes file, PerfDataReader **ret, Error *err)
{
    Cursor c = cursor_over(file, "perf.data header");
    Bytes magic = cursor_bytes(&c, MAGIC_LEN);
    uint64_t size = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    if (bytes_equal(magic, "2ELIFREP", MAGIC_LEN))
        return error_set(err, ERROR_UNSUPPORTED, "perf.data of a big-endian machine");
    if (!perfdata_is(file))
        return error_set(err, ERROR_FORMAT, "not perf.data");
    PerfDataReader *r = arena_new(arena, PerfDataReader);
    r->arena = arena;
    r->file = file;
    r->input_bytes = file.len;
    if (size == PIPE_HEADER_LEN) {
        r->info.is_pipe = true;
        r->data = cursor_sub(&c, cursor_left(&c), "perf.data");
    } else if (size < FILE_HEADER_LEN) {
        return error_set(err, ERROR_FORMAT, "perf.data header of %" PRIu64 " bytes", size);
    } else if (!open_file(r, err)) {
        return false;
    }
    *ret = r;
    return true;
}

void perfdata_close(PerfDataReader *r)
{
    if (!r)
        return;
    ZSTD_freeDStream(r->zstd);
    vec_free(&r->unpacked);
}

void perfdata_add_streams(PerfDataReader *r, const Bytes *streams, size_t count)
{
    r->streams = streams;
    r->stream_count = count;
    for (size_t i = 0; i < count; i++)
        r->input_bytes += streams[i].len;
}

// Goes on with the next stream; each has compressed records of its own. False when there is none.
static bool next_stream(PerfDataReader *r)
{
    if (r->stream_count == 0)
        return false;
    r->data = cursor_over(*r->streams++, "perf.data");
    r->stream_count--;
    r->unpacked.len = r->unpacked_at = 0;
    ZSTD_freeDStream(r->zstd);
    r->zstd = NULL;
    return true;
}

const PerfData *perfdata_info(const PerfDataReader *r)
{
    return &r->info;
}

uint64_t perfdata_position(const PerfDataReader *r)
{
    return r->data.base + r->data.at;
}

// ---- Records ---------------------------------------------------------------

// Decompresses a record. One zstd stream continues through all compressed records, and a record may
// begin in one and end in the next: the incomplete rest is moved to the front.
static bool unpack(PerfDataReader *r, Bytes packed, uint64_t offset, Error *err)
{
    enum { STEP = 256 << 10 };
    size_t left = r->unpacked.len - r->unpacked_at;
    if (left)
        memmove(r->unpacked.at, r->unpacked.at + r->unpacked_at, left);
    r->unpacked.len = left;
    r->unpacked_at = 0;
    r->unpacked_offset = offset;
    if (!r->zstd) {
        r->zstd = ZSTD_createDStream();
        if (!r->zstd)
            return error_set(err, ERROR_LIMIT, "cannot start zstd");
    }
    ZSTD_inBuffer in = {packed.ptr, packed.len, 0};
    for (;;) {
        vec_reserve(NULL, &r->unpacked, STEP);
        ZSTD_outBuffer out = {r->unpacked.at + r->unpacked.len, STEP, 0};
        size_t result = ZSTD_decompressStream(r->zstd, &out, &in);
        if (ZSTD_isError(result))
            return error_set(err, ERROR_FORMAT,
                             "perf.data: compressed record at offset 0x%" PRIx64
                             " cannot be unpacked: %s",
                             offset, ZSTD_getErrorName(result));
        r->unpacked.len += out.pos;
        if (r->unpacked.len > CHUNK_MAX)
            return error_set(err, ERROR_LIMIT,
                             "perf.data: compressed record at offset 0x%" PRIx64
                             " unpacks to over %d bytes",
                             offset, CHUNK_MAX);
        r->unpacked_total += out.pos;
        if (!decoded_check(r->unpacked_total, r->input_bytes, err))
            return error_context(err, "perf.data: compressed record at offset 0x%" PRIx64, offset);
        if (in.pos == in.size && out.pos < STEP)
            return true;
    }
}

// Takes a complete record from `c`. False when there are too few bytes, or when its size is
// impossible (`*bad`).
static bool take_record(Cursor *c, PerfDataRecord *ret, bool *bad)
{
    Bytes rest = bytes_slice(c->data, c->at, c->data.len);
    if (rest.len < RECORD_HEAD_LEN)
        return false;
    struct perf_event_header head;
    memcpy(&head, rest.ptr, sizeof(head));
    *bad = head.size < RECORD_HEAD_LEN;
    if (*bad || head.size > rest.len)
        return false;
    ret->type = head.type;
    ret->misc = head.misc;
    ret->bytes = bytes_slice(rest, 0, head.size);
    c->at += head.size;
    return true;
}

// Skips bytes that follow a record and are not counted in its size.
static bool skip_payload(PerfDataReader *r, const PerfDataRecord *record)
{
    Cursor c = cursor_over(record->bytes, "record");
    cursor_skip(&c, RECORD_HEAD_LEN);
    uint64_t size = 0;
    if (record->type == PERFDATA_TRACING_DATA)
        size = align_up(cursor_u32(&c), 8);
    else if (record->type == PERFDATA_AUXTRACE)
        size = cursor_u64(&c);
    cursor_skip(&r->data, size);
    return cursor_ok(&r->data);
}

static void digest_attr(PerfDataReader *r, Bytes record)
{
    Cursor c = cursor_over(record, "HEADER_ATTR");
    cursor_skip(&c, RECORD_HEAD_LEN);
    if (cursor_left(&c) < PERF_ATTR_SIZE_VER0 || r->info.events.len >= EVENTS_MAX)
        return;
    uint32_t size; // attr.size, the second u32 of it
    memcpy(&size, c.data.ptr + c.at + 4, sizeof(size));
    PerfDataEvent event = {0};
    if (size > cursor_left(&c) || !read_attr(&c, size, &event.attr))
        return;
    read_ids(r, &c, cursor_left(&c) / 8, &event.ids);
    vec_push(r->arena, &r->info.events, event);
}

// Handles an EVENT_UPDATE of the kind NAME.
static void digest_event_update(PerfDataReader *r, Bytes record)
{
    enum { UPDATE_NAME = 2 };
    Cursor c = cursor_over(record, "EVENT_UPDATE");
    cursor_skip(&c, RECORD_HEAD_LEN);
    uint64_t kind = cursor_u64(&c);
    uint64_t id = cursor_u64(&c);
    Str name = cursor_c_str(&c);
    if (!cursor_ok(&c) || kind != UPDATE_NAME)
        return;
    for (size_t e = 0; e < r->info.events.len; e++) {
        PerfDataEvent *event = &r->info.events.at[e];
        for (size_t i = 0; i < event->ids.len; i++)
            if (event->ids.at[i] == id)
                event->name = arena_str(r->arena, name);
    }
}

// Reads a feature from a record. Its texts borrow the file; from decompressed bytes, which do not
// stay, they are copied.
static void digest_feature(PerfDataReader *r, Bytes record)
{
    Bytes kept = arena_bytes(r->arena, record);
    Cursor c = cursor_over(kept, "HEADER_FEATURE");
    cursor_skip(&c, RECORD_HEAD_LEN);
    uint64_t feature = cursor_u64(&c);
    if (cursor_ok(&c) && feature < FEATURE_BITS)
        read_feature(r, (unsigned)feature, &c);
}

static void digest_build_id(PerfDataReader *r, const PerfDataRecord *record)
{
    Bytes kept = arena_bytes(r->arena, record->bytes);
    Cursor c = cursor_over(kept, "BUILD_ID");
    cursor_skip(&c, RECORD_HEAD_LEN);
    read_build_id(r, &c, record->misc, cursor_left(&c));
}

// Handles records of headers and features. True when the record is for the caller.
static bool digest(PerfDataReader *r, const PerfDataRecord *record)
{
    switch (record->type) {
    case PERFDATA_HEADER_ATTR:
        digest_attr(r, record->bytes);
        return false;
    case PERFDATA_EVENT_UPDATE:
        digest_event_update(r, record->bytes);
        return false;
    case PERFDATA_HEADER_FEATURE:
        digest_feature(r, record->bytes);
        return false;
    case PERFDATA_BUILD_ID:
        digest_build_id(r, record);
        return false;
    default:
        return true;
    }
}

static bool next_unpacked(PerfDataReader *r, PerfDataRecord *ret, bool *bad)
{
    Cursor c = cursor_over(bytes_over(r->unpacked.at, r->unpacked.len), "unpacked records");
    c.at = r->unpacked_at;
    bool taken = take_record(&c, ret, bad);
    r->unpacked_at = c.at;
    ret->offset = r->unpacked_offset;
    return taken;
}

static bool is_compressed(uint32_t type)
{
    return type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2;
}

static Bytes compressed_payload(const PerfDataRecord *record)
{
    size_t at = RECORD_HEAD_LEN;
    size_t end = record->bytes.len;
    if (record->type == PERFDATA_COMPRESSED2) { // a u64 length, then data padded to 8
        uint64_t len = 0;
        if (record->bytes.len >= at + 8)
            memcpy(&len, record->bytes.ptr + at, 8);
        at += 8;
        end = len <= record->bytes.len - MIN(at, record->bytes.len) ? at + len : end;
    }
    return bytes_slice(record->bytes, at, end);
}

PerfDataNext perfdata_next(PerfDataReader *r, PerfDataRecord *ret, Error *err)
{
    for (;;) {
        bool bad = false;
        PerfDataRecord record = {0};
        if (next_unpacked(r, &record, &bad)) {
            if (digest(r, &record)) {
                *ret = record;
                return PERFDATA_RECORD;
            }
            continue;
        }
        uint64_t offset = perfdata_position(r);
        bool left_over = r->unpacked_at < r->unpacked.len;
        if (!bad && cursor_left(&r->data) == 0 && !left_over) {
            if (next_stream(r))
                continue;
            return PERFDATA_END;
        }
        if (bad || !take_record(&r->data, &record, &bad)) {
            if (!bad && next_stream(r)) { // one that is cut does not cut the others
                r->info.is_cut = true;
                continue;
            }
            error_set(err, ERROR_FORMAT, "perf.data: record %s at offset 0x%" PRIx64,
                      bad ? "of impossible size" : "cut short", offset);
            return bad ? PERFDATA_BAD : PERFDATA_CUT;
        }
        record.offset = offset;
        record.in_file = true;
        if (is_compressed(record.type)) {
            if (!unpack(r, compressed_payload(&record), offset, err))
                return PERFDATA_BAD;
            continue;
        }
        if (!skip_payload(r, &record)) {
            error_set(err, ERROR_FORMAT, "perf.data: trace data cut short at offset 0x%" PRIx64,
                      offset);
            return PERFDATA_CUT;
        }
        if (digest(r, &record)) {
            *ret = record;
            return PERFDATA_RECORD;
        }
    }
}
