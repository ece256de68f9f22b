// SPDX-License-Identifier: Apache-2.0
// Reads coverage mapping: lists of files and records of functions. covmap_decode.c decodes the
// mappings.

#include "llvmcov/covmap.h"

#include "base/cursor.h"
#include "base/md5.h"

static const FormatVersion version_list[] = {
    {1, 1, "LLVM before 11", "", false},
    {2, 2, "LLVM before 11", "names by their hash", false},
    {3, 3, "LLVM before 11", "gaps", false},
    {4, 4, "LLVM 11", "functions in a section of their own", false},
    {5, 5, "LLVM 12", "branches", false},
    {6, 6, "LLVM 13 to 17", "the working folder", false},
    {7, 7, "LLVM 18 and later", "MC/DC", false},
};

const FormatVersions covmap_versions = {
    .format = "coverage mapping",
    .newer = "written by an LLVM newer than 23, whose 'llvm-cov export -format=lcov' makes a "
             "tracefile that is read here",
    .numbers = "",
    .at = version_list,
    .count = ARRAY_LEN(version_list),
};

// ---- Files -------------------------------------------------------------------

typedef struct FileRange {
    uint64_t ref; // md5_low64 of the list as it is encoded
    uint32_t first, count;
} FileRange;

typedef struct Reader {
    Arena *arena;
    CovMap *map;
    CovMapSections s;
    Vec(FileRange) ranges;
    Table range_index;
    Table function_index; // by name_ref
    ProfInflater inflater;
} Reader;

static bool is_absolute(Str path)
{
    if (path.len && (path.ptr[0] == '/' || path.ptr[0] == '\\'))
        return true;
    return path.len > 2 && path.ptr[1] == ':' && (path.ptr[2] == '\\' || path.ptr[2] == '/');
}

// LLVM 16 and later resolve paths in this way when they join them.
Str covmap_path_without_dots(Arena *arena, Str path)
{
    if (str_find(path, STR("/.")) == SIZE_MAX && str_find(path, STR("//")) == SIZE_MAX &&
        !str_starts_with(path, STR(".")))
        return path;
    bool absolute = str_starts_with(path, STR("/"));
    char *to = arena_alloc(arena, path.len + 1, 1);
    U64Vec starts = {0}; // starts of the kept components, without ".." that lead out of the path
    size_t len = 0;
    Str rest = path, part;
    while (str_next_part(&rest, '/', &part)) {
        if (part.len == 0 || str_equal(part, STR(".")))
            continue;
        bool is_up = str_equal(part, STR(".."));
        if (is_up && starts.len) {
            len = vec_pop(&starts);
            continue;
        }
        if (is_up && absolute)
            continue;
        if (!is_up)
            vec_push(NULL, &starts, len);
        if (absolute || len)
            to[len++] = '/';
        memcpy(to + len, part.ptr, part.len);
        len += part.len;
    }
    vec_free(&starts);
    return str_over(to, len);
}

static bool read_file_names(Reader *r, Cursor *c, uint64_t count, Error *err)
{
    if (count > cursor_left(c))
        return error_set(err, ERROR_FORMAT, "list of %llu files in %zu bytes",
                         (unsigned long long)count, cursor_left(c));
    size_t first = r->map->files.len;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t len = cursor_uleb(c);
        Str name = str_from_bytes(cursor_bytes(c, len));
        if (!cursor_check(c, err))
            return false;
        // From version 6 on the first name is the compilation directory.
        Str dir = r->map->version >= 6 && i > 0 ? r->map->files.at[first] : STR("");
        if (dir.len && !is_absolute(name)) {
            if (str_starts_with(name, STR("./")))
                name = str_slice(name, 2, name.len);
            name = arena_printf(r->arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(dir),
                                str_ends_with(dir, STR("/")) ? "" : "/", STR_ARG(name));
            name = covmap_path_without_dots(r->arena, name);
        } else {
            name = arena_str(r->arena, name);
        }
        vec_push(r->arena, &r->map->files, name);
    }
    return true;
}

static bool read_files(Reader *r, Bytes blob, FileRange *ret, Error *err)
{
    FileRange range = {.first = (uint32_t)r->map->files.len};
    Cursor c = cursor_over(blob, "list of files");
    uint64_t count = cursor_uleb(&c);
    Bytes plain = {0};
    if (r->map->version >= 4) {
        uint64_t plain_len = cursor_uleb(&c);
        uint64_t packed_len = cursor_uleb(&c);
        if (packed_len) {
            Bytes packed = cursor_bytes(&c, packed_len);
            if (!cursor_check(&c, err) ||
                !prof_inflate(&r->inflater, r->arena, packed, plain_len, &plain, err))
                return error_context(err, "list of files");
            c = cursor_over(plain, "list of files");
        }
        range.ref = md5_low64(blob);
    }
    if (!cursor_check(&c, err) || !read_file_names(r, &c, count, err))
        return false;
    range.count = (uint32_t)count;
    *ret = range;
    return true;
}

// ---- Function records --------------------------------------------------------

// Whether a record is a dummy: its translation unit saw the function and did not use it. It has
// hash 0 and one region without a counter.
static bool is_dummy(const CovMapFunction *f)
{
    if (f->hash)
        return false;
    Cursor c = cursor_over(f->mapping, "mapping");
    if (cursor_uleb(&c) != 1)
        return false;
    cursor_uleb(&c);
    uint64_t expressions = cursor_uleb(&c);
    uint64_t regions = cursor_uleb(&c);
    if (expressions != 0 || regions != 1)
        return false;
    return (cursor_uleb(&c) & 3) == COV_ZERO && cursor_ok(&c);
}

static void add_function(Reader *r, CovMapFunction f)
{
    uint32_t row;
    for (TableProbe p = table_probe(&r->function_index, hash_u64(f.name_ref));
         table_next(&r->function_index, &p, &row);) {
        CovMapFunction *old = &r->map->functions.at[row];
        if (old->name_ref != f.name_ref)
            continue;
        if (is_dummy(old) && !is_dummy(&f))
            *old = f;
        return;
    }
    row = (uint32_t)r->map->functions.len;
    vec_push(r->arena, &r->map->functions, f);
    table_insert(&r->function_index, hash_u64(f.name_ref), row);
}

// Reads records of versions 1 to 3. They come after their header; their mappings come after the
// list of files, in the same order.
static bool read_inline_records(Reader *r, Cursor records, Cursor mappings, uint32_t count,
                                const FileRange *files, Error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        CovMapFunction f = {.files_first = files->first, .files_count = files->count};
        uint32_t size;
        if (r->map->version == 1) {
            uint64_t pointer = cursor_uint(&records, r->s.pointer_size);
            uint32_t name_len = cursor_u32(&records);
            size = cursor_u32(&records);
            f.hash = cursor_u64(&records);
            uint64_t at = pointer - r->s.names_address;
            if (at <= r->s.names.len && name_len <= r->s.names.len - at)
                f.name =
                    arena_str(r->arena, str_from_bytes(bytes_slice(r->s.names, at, at + name_len)));
            f.name_ref = md5_low64(bytes_from_str(f.name));
            if (f.name.len)
                prof_names_add(r->arena, &r->map->names, f.name);
        } else {
            f.name_ref = cursor_u64(&records);
            size = cursor_u32(&records);
            f.hash = cursor_u64(&records);
            f.name = prof_names_find(&r->map->names, f.name_ref);
        }
        f.mapping = cursor_bytes(&mappings, size);
        if (!cursor_check(&records, err) || !cursor_check(&mappings, err))
            return false;
        if (f.mapping.len)
            add_function(r, f);
    }
    return true;
}

static void add_range(Reader *r, FileRange range)
{
    uint32_t row;
    for (TableProbe p = table_probe(&r->range_index, range.ref);
         table_next(&r->range_index, &p, &row);)
        if (r->ranges.at[row].ref == range.ref)
            return;
    row = (uint32_t)r->ranges.len;
    vec_push(r->arena, &r->ranges, range);
    table_insert(&r->range_index, range.ref, row);
}

static bool find_range(const Reader *r, uint64_t ref, FileRange *ret)
{
    uint32_t row;
    for (TableProbe p = table_probe(&r->range_index, ref); table_next(&r->range_index, &p, &row);) {
        if (r->ranges.at[row].ref == ref) {
            *ret = r->ranges.at[row];
            return true;
        }
    }
    return false;
}

static bool read_headers(Reader *r, Error *err)
{
    Cursor c = cursor_over(r->s.covmap, "coverage mapping");
    c.big_endian = r->s.big_endian;
    while (cursor_more(&c)) {
        uint32_t records = cursor_u32(&c);
        uint32_t files_size = cursor_u32(&c);
        uint32_t mapping_size = cursor_u32(&c);
        uint32_t version = cursor_u32(&c) + 1;
        if (!cursor_check(&c, err))
            return false;
        if (!format_version_find(&covmap_versions, version))
            return format_version_refuse(&covmap_versions, version, err);
        if (r->map->version && r->map->version != version)
            return error_set(err, ERROR_UNSUPPORTED,
                             "coverage mapping mixes versions %u and %u in one object",
                             r->map->version, version);
        r->map->version = version;
        uint32_t record_size = version == 1 ? r->s.pointer_size + 16u : 20;
        Cursor inline_records = {0};
        if (version < 4)
            inline_records = cursor_sub(&c, (uint64_t)records * record_size, "coverage mapping");
        Bytes blob = cursor_bytes(&c, files_size);
        Cursor mappings = cursor_sub(&c, mapping_size, "coverage mapping");
        inline_records.big_endian = mappings.big_endian = r->s.big_endian;
        FileRange range = {0};
        if (!cursor_check(&c, err) || !read_files(r, blob, &range, err))
            return error_context(err, "coverage mapping at offset 0x%zx", c.at);
        if (version >= 4)
            add_range(r, range);
        else if (!read_inline_records(r, inline_records, mappings, records, &range, err))
            return false;
        size_t pad = align_up(c.at, 8) - c.at;
        cursor_skip(&c, MIN(pad, cursor_left(&c)));
    }
    return cursor_check(&c, err);
}

// The number of complete records in the section.
static size_t count_records(const Reader *r)
{
    enum { SIZE_AT = 8, HEAD = 28 };
    size_t count = 0;
    Cursor c = cursor_over(r->s.covfun, "function records");
    c.big_endian = r->s.big_endian;
    for (; cursor_left(&c) >= HEAD; count++) {
        cursor_skip(&c, SIZE_AT);
        uint32_t size = cursor_u32(&c);
        cursor_skip(&c, HEAD - SIZE_AT - sizeof(size));
        cursor_skip(&c, MIN(align_up(c.at + (uint64_t)size, 8) - c.at, cursor_left(&c)));
    }
    return count;
}

static bool read_covfun(Reader *r, Error *err)
{
    size_t count = count_records(r);
    table_reserve(&r->function_index, count);
    vec_reserve(r->arena, &r->map->functions, count);
    Cursor c = cursor_over(r->s.covfun, "function records of the coverage mapping");
    c.big_endian = r->s.big_endian;
    while (cursor_more(&c)) {
        CovMapFunction f = {0};
        f.name_ref = cursor_u64(&c);
        uint32_t size = cursor_u32(&c);
        f.hash = cursor_u64(&c);
        uint64_t files_ref = cursor_u64(&c);
        f.mapping = cursor_bytes(&c, size);
        size_t pad = align_up(c.at, 8) - c.at;
        cursor_skip(&c, MIN(pad, cursor_left(&c)));
        if (!cursor_check(&c, err))
            return false;
        FileRange files;
        if (!find_range(r, files_ref, &files))
            return error_set(err, ERROR_FORMAT,
                             "function record before offset 0x%zx names list of files 0x%llx, "
                             "which the object does not have",
                             c.at, (unsigned long long)files_ref);
        f.files_first = files.first;
        f.files_count = files.count;
        f.name = prof_names_find(&r->map->names, f.name_ref);
        if (f.mapping.len)
            add_function(r, f);
    }
    return cursor_check(&c, err);
}

bool covmap_parse(Arena *arena, CovMapSections s, CovMap *ret, Error *err)
{
    CovMap map = {0};
    Reader r = {.arena = arena, .map = &map, .s = s};
    Bytes first = bytes_slice(s.covmap, 12, 16);
    Cursor version = cursor_over(first, "coverage mapping");
    version.big_endian = s.big_endian;
    // Version 1 has plain names, which only its records separate.
    bool names_ok = s.covmap.len < 16 || cursor_u32(&version) == 0 ||
                    prof_names_add_blob(arena, &map.names, s.names, err);
    bool ok = names_ok && read_headers(&r, err) && (map.version < 4 || read_covfun(&r, err));
    table_deinit(&r.range_index);
    table_deinit(&r.function_index);
    prof_inflater_deinit(&r.inflater);
    if (!ok) {
        covmap_deinit(&map);
        return false;
    }
    *ret = map;
    return true;
}

void covmap_deinit(CovMap *m)
{
    prof_names_deinit(&m->names);
}

// ---- Test form ---------------------------------------------------------------

#define TEST_MAGIC STR("llvmcovm")

bool covmap_is_test_form(Bytes file)
{
    return str_starts_with(str_from_bytes(file), TEST_MAGIC);
}

bool covmap_open_test_form(Bytes file, CovMapSections *ret, Error *err)
{
    CovMapSections s = {.pointer_size = 8};
    Cursor c = cursor_over(file, "coverage mapping in test form");
    cursor_skip(&c, TEST_MAGIC.len);
    // The first form had "testdata" in place of the number of the second.
    uint64_t version = cursor_u64(&c);
    bool second = version == 1;
    if (!second && version != 0x6174616474736574ull && cursor_ok(&c))
        return error_set(err, ERROR_UNSUPPORTED,
                         "coverage mapping in test form %llu; forms 1 and 2 are known",
                         (unsigned long long)version);
    uint64_t names_size = cursor_uleb(&c);
    s.names_address = cursor_uleb(&c);
    s.names = cursor_bytes(&c, names_size);
    uint64_t covmap_size = second ? cursor_uleb(&c) : 0;
    if (second) {
        cursor_skip(&c, align_up(c.at, 8) - c.at);
        s.covmap = cursor_bytes(&c, covmap_size);
    } else {
        cursor_skip(&c, align_up(c.at, 8) - c.at);
        // A list of files, then the records of functions up to the end.
        Cursor header = c;
        cursor_skip(&header, 4);
        uint32_t files = cursor_u32(&header);
        uint32_t mapping = cursor_u32(&header);
        uint32_t field = cursor_u32(&header);
        s.covmap = field < 3 ? cursor_bytes(&c, cursor_left(&c))
                             : cursor_bytes(&c, 16 + (uint64_t)files + mapping);
    }
    size_t pad = align_up(c.at, 8) - c.at;
    cursor_skip(&c, MIN(pad, cursor_left(&c)));
    s.covfun = cursor_bytes(&c, cursor_left(&c));
    if (!cursor_check(&c, err))
        return false;
    *ret = s;
    return true;
}
