// SPDX-License-Identifier: Apache-2.0
// The symbol cache. A file is:
//   "ASSAYSYM", u32 version, u32 0, u64 length and u64 XXH3 of the payload;
//   payload, numbers as ULEB128, texts as length and bytes:
//   level; debug path; troubles; probes {path, exists, device, inode, size, mtime};
//   texts; functions {name, linkage name, file, line}; places {address - last one,
//   frame count, frames {function, file, line}}. Each list begins with its count.

#include "symbolise/symbol_cache.h"

#include "base/cursor.h"
#include "base/log.h"
#include "os/folder_tree.h"
#include "os/owned_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[8] = {'A', 'S', 'S', 'A', 'Y', 'S', 'Y', 'M'};
enum { HEAD_BYTES = 32 };

// The cache does not check more files than this at each use; a table from more files is not stored.
enum { PROBES_MAX = 2000, TROUBLES_MAX = 1000 };

int symbol_cache_open(Str folder, Error *err)
{
    return os_open_own_folder(folder, err);
}

Str symbol_cache_name(Arena *arena, const BuildId *id, Bytes object, Str module_path)
{
    if (id->len < 4 && object.len == 0 && module_path.len == 0)
        return STR("");
    if (id->len >= 4)
        return arena_printf(arena, "%" STR_FMT ".sym", STR_ARG(build_id_hex(arena, id)));
    // The hash is over all bytes, because an edited comment changes line numbers and little else.
    // It runs at 10 GB/s.
    uint64_t hash = object.len ? bytes_hash(object) : str_hash(module_path);
    return arena_printf(arena, "%s-%016llx.sym", object.len ? "content" : "path",
                        (unsigned long long)hash);
}

// ---- Writing -------------------------------------------------------------------

static void put_number(StrBuf *out, uint64_t v)
{
    while (v >= 0x80) {
        strbuf_add_char(out, (char)(v | 0x80));
        v >>= 7;
    }
    strbuf_add_char(out, (char)v);
}

static void put_text(StrBuf *out, Str s)
{
    put_number(out, s.len);
    strbuf_add(out, s);
}

static void put_probes(StrBuf *out, const FileProbeVec *probes)
{
    put_number(out, probes->len);
    for (size_t i = 0; i < probes->len; i++) {
        const FileProbe *p = &probes->at[i];
        put_text(out, p->path);
        put_number(out, p->exists);
        put_number(out, p->identity.device);
        put_number(out, p->identity.inode);
        put_number(out, p->identity.size_bytes);
        put_number(out, (uint64_t)p->identity.mtime_ns);
    }
}

static void put_places(StrBuf *out, const PlaceTable *t)
{
    put_number(out, t->places.len);
    uint64_t last = 0;
    for (size_t i = 0; i < t->places.len; i++) {
        const Place *p = &t->places.at[i];
        put_number(out, p->address - last);
        last = p->address;
        put_number(out, p->count);
        for (uint32_t k = 0; k < p->count; k++) {
            const PlaceLine *l = &t->lines.at[p->first + k];
            put_number(out, l->function);
            put_number(out, l->file);
            put_number(out, l->line);
        }
    }
}

static void put_payload(StrBuf *out, const PlaceTable *t, const FileProbeVec *probes)
{
    put_number(out, t->level);
    put_text(out, t->debug_path);
    put_number(out, t->troubles.len);
    for (size_t i = 0; i < t->troubles.len; i++)
        put_text(out, t->troubles.at[i]);
    put_probes(out, probes);
    put_number(out, t->strings.texts.len);
    for (size_t i = 0; i < t->strings.texts.len; i++)
        put_text(out, t->strings.texts.at[i]);
    put_number(out, t->functions.len);
    for (size_t i = 0; i < t->functions.len; i++) {
        const PlaceFunction *f = &t->functions.at[i];
        put_number(out, f->name);
        put_number(out, f->linkage_name);
        put_number(out, f->file);
        put_number(out, f->line);
    }
    put_places(out, t);
}

void symbol_cache_encode(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out)
{
    size_t head = out->len;
    strbuf_add_repeated(out, 0, HEAD_BYTES);
    put_payload(out, t, probes);
    Bytes payload = bytes_over(out->ptr + head + HEAD_BYTES, out->len - head - HEAD_BYTES);
    uint32_t version[2] = {SYMBOL_CACHE_VERSION, 0};
    uint64_t sums[2] = {payload.len, bytes_hash(payload)};
    memcpy(out->ptr + head, magic, 8);
    memcpy(out->ptr + head + 8, version, 8);
    memcpy(out->ptr + head + 16, sums, 16);
}

// ---- Reading ---------------------------------------------------------------------

// Reads a count of items with at least `min_bytes` each; fails when they do not fit the rest.
static size_t take_count(Cursor *c, size_t min_bytes)
{
    uint64_t n = cursor_uleb(c);
    if (n > cursor_left(c) / min_bytes) {
        cursor_fail(c, "count is larger than the file");
        return 0;
    }
    return n;
}

// Reads a number and fails unless it is below `limit`.
static uint32_t take_index(Cursor *c, size_t limit)
{
    uint64_t n = cursor_uleb(c);
    if (n >= limit) {
        cursor_fail(c, "number is out of range");
        return 0;
    }
    return (uint32_t)n;
}

static Str take_text(Cursor *c)
{
    return str_from_bytes(cursor_bytes(c, cursor_uleb(c)));
}

static void take_probes(Cursor *c, PlaceTable *t, FileProbeVec *probes)
{
    size_t n = take_count(c, 6);
    for (size_t i = 0; i < n && cursor_ok(c); i++) {
        FileProbe p = {.path = arena_str(&t->arena, take_text(c))};
        p.exists = take_index(c, 2);
        p.identity.device = cursor_uleb(c);
        p.identity.inode = cursor_uleb(c);
        p.identity.size_bytes = cursor_uleb(c);
        p.identity.mtime_ns = (int64_t)cursor_uleb(c);
        vec_push(NULL, probes, p);
    }
}

static void take_strings(Cursor *c, PlaceTable *t)
{
    size_t n = take_count(c, 1);
    for (size_t i = 0; i < n && cursor_ok(c); i++)
        if (intern_add(&t->strings, take_text(c)) != i)
            cursor_fail(c, "a text stands there twice");
}

static void take_functions(Cursor *c, PlaceTable *t)
{
    size_t n = take_count(c, 4);
    size_t texts = t->strings.texts.len;
    for (size_t i = 0; i < n && cursor_ok(c); i++) {
        PlaceFunction f;
        f.name = take_index(c, texts);
        f.linkage_name = take_index(c, texts);
        f.file = take_index(c, texts);
        f.line = take_index(c, (size_t)UINT32_MAX + 1);
        if (place_table_function(t, f) != i)
            cursor_fail(c, "a function stands there twice");
    }
}

static void take_places(Cursor *c, PlaceTable *t)
{
    size_t n = take_count(c, 2);
    uint64_t address = 0;
    for (size_t i = 0; i < n && cursor_ok(c); i++) {
        uint64_t step = cursor_uleb(c);
        if ((i && step == 0) || step > UINT64_MAX - address)
            cursor_fail(c, "addresses do not ascend");
        address += step;
        size_t count = take_count(c, 3);
        if (count > PLACE_FRAMES_MAX)
            cursor_fail(c, "too many frames");
        Place p = {address, (uint32_t)t->lines.len, (uint32_t)count};
        for (size_t k = 0; k < count && cursor_ok(c); k++) {
            PlaceLine l;
            l.function = take_index(c, t->functions.len);
            l.file = take_index(c, t->strings.texts.len);
            l.line = take_index(c, (size_t)UINT32_MAX + 1);
            vec_push(&t->arena, &t->lines, l);
        }
        if (cursor_ok(c))
            vec_push(&t->arena, &t->places, p);
    }
}

bool symbol_cache_decode(Bytes file, PlaceTable *t, FileProbeVec *probes, Error *err)
{
    Cursor c = cursor_over(file, "symbol cache");
    Bytes head = cursor_bytes(&c, sizeof(magic));
    uint32_t version = cursor_u32(&c);
    cursor_skip(&c, 4);
    uint64_t length = cursor_u64(&c);
    uint64_t sum = cursor_u64(&c);
    if (!cursor_check(&c, err))
        return false;
    if (!bytes_equal(head, magic, sizeof(magic)) || version != SYMBOL_CACHE_VERSION)
        return error_set(err, ERROR_UNSUPPORTED, "no symbol cache of version %u",
                         SYMBOL_CACHE_VERSION);
    Bytes payload = bytes_slice(file, HEAD_BYTES, file.len);
    if (payload.len != length || bytes_hash(payload) != sum)
        return error_set(err, ERROR_FORMAT, "symbol cache: checksum differs");

    t->level = (SymbolLevel)take_index(&c, SYMBOLS_LEVEL_COUNT);
    t->debug_path = arena_str(&t->arena, take_text(&c));
    size_t troubles = take_count(&c, 1);
    for (size_t i = 0; i < troubles && cursor_ok(&c); i++)
        vec_push(&t->arena, &t->troubles, arena_str(&t->arena, take_text(&c)));
    take_probes(&c, t, probes);
    take_strings(&c, t);
    take_functions(&c, t);
    take_places(&c, t);
    return cursor_check(&c, err);
}

// The name as a C string; NULL for an empty name, one that is too long, or one with a '/'.
static const char *c_name(Str name, char buf[NAME_MAX + 1])
{
    if (name.len == 0 || name.len > NAME_MAX || str_find_char(name, '/') != SIZE_MAX)
        return NULL;
    memcpy(buf, name.ptr, name.len);
    buf[name.len] = 0;
    return buf;
}

// Sets the file's time of change, by which the folder is trimmed, at most once a day: a file in use
// must not be removed.
static void used_now(int fd, const FileIdentity *identity)
{
    if (identity->mtime_ns / 1000000000 <= time(NULL) - 86400)
        (void)futimens(fd, NULL);
}

static bool is_of_cache(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (st.st_uid == geteuid() || st.st_uid == 0) &&
           (uint64_t)st.st_size <= SYMBOL_CACHE_FILE_MAX_BYTES;
}

bool symbol_cache_map(int folder, Str name, MappedFile *ret)
{
    char buf[NAME_MAX + 1];
    const char *at = folder >= 0 ? c_name(name, buf) : NULL;
    int fd =
        at ? openat(folder, at, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
    bool ok = fd >= 0 && is_of_cache(fd) && os_map_fd(fd, name, ret, NULL);
    if (ok)
        used_now(fd, &ret->identity);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool load_table(int folder, Str name, PlaceTable *t, FileProbeVec *probes)
{
    MappedFile file;
    Error err;
    if (!symbol_cache_map(folder, name, &file))
        return false;
    bool ok = symbol_cache_decode(file.bytes, t, probes, &err);
    os_unmap_file(&file);
    return ok;
}

bool symbol_cache_load(int folder, Str name, const SymboliseFiles *access, PlaceTable *t,
                       FileProbeVec *probes)
{
    bool ok = load_table(folder, name, t, probes);
    for (size_t i = 0; ok && i < probes->len; i++) {
        ok = file_probe_holds(access, &probes->at[i]);
        if (!ok)
            log_debug(LOG_SYMBOLISE, 1, "cache '%" STR_FMT "' is out of date: '%" STR_FMT "'",
                      STR_ARG(name), STR_ARG(probes->at[i].path));
    }
    return ok;
}

// ---- Keeping the folder small ---------------------------------------------------

typedef struct CacheFile {
    char name[256];
    uint64_t size_bytes;
    int64_t mtime_s;
} CacheFile;

typedef Vec(CacheFile) CacheFileVec;

static int oldest_first(const void *a, const void *b)
{
    const CacheFile *x = a, *y = b;
    if (x->mtime_s != y->mtime_s)
        return x->mtime_s < y->mtime_s ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Whether a file in the folder belongs to this cache: NAME.sym, or a writer's temporary file
// NAME.sym.RANDOM.tmp. Other files are left alone.
static bool is_ours(Str name)
{
    return str_ends_with(name, STR(".sym")) ||
           (str_ends_with(name, STR(".tmp")) && str_find(name, STR(".sym.")) != SIZE_MAX);
}

static uint64_t folder_list(DIR *dir, CacheFileVec *files)
{
    uint64_t total = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        CacheFile f = {0};
        Str name = str_from_c(e->d_name);
        if (name.len >= sizeof(f.name) || !is_ours(name) ||
            fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        bytes_copy(f.name, bytes_from_str(name));
        f.size_bytes = (uint64_t)st.st_size;
        f.mtime_s = st.st_mtim.tv_sec;
        total += f.size_bytes;
        vec_push(NULL, files, f);
    }
    return total;
}

// The file with this name says how large the folder is, so that not each write has to list it.
#define SIZE_FILE "size"
enum { LIST_AGAIN_S = 3600 };

typedef struct FolderSize {
    uint64_t bytes; // when it was listed, and of all files that were written since
    int64_t listed_s;
} FolderSize;

static int size_file_open(int folder)
{
    struct stat st;
    int fd =
        openat(folder, SIZE_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void size_file_set(int folder, const FolderSize *size)
{
    int fd = size_file_open(folder);
    if (fd < 0)
        return;
    (void)!pwrite(fd, size, sizeof(*size), 0);
    close(fd);
}

// Counts a written file. Whether the folder must be listed: it may be too large, or was not listed
// for an hour. Two writers at a time may lose one's bytes, until then.
static bool size_file_add(int folder, uint64_t bytes, uint64_t max_bytes)
{
    FolderSize size;
    int fd = size_file_open(folder);
    if (fd < 0)
        return true;
    int64_t now = time(NULL);
    bool is_good = pread(fd, &size, sizeof(size), 0) == (ssize_t)sizeof(size) &&
                   size.listed_s <= now && size.listed_s > now - LIST_AGAIN_S;
    if (is_good) {
        size.bytes += bytes;
        is_good =
            size.bytes <= max_bytes && pwrite(fd, &size, sizeof(size), 0) == (ssize_t)sizeof(size);
    }
    close(fd);
    return !is_good;
}

// Removes the oldest files until the others are small enough together, and temporary files that
// killed writers left more than an hour ago.
static void folder_trim(int folder, uint64_t max_bytes)
{
    DIR *dir = os_open_folder(folder, "."); // with a position of its own
    if (!dir)
        return;
    CacheFileVec files = {0};
    uint64_t total = folder_list(dir, &files);
    if (files.len)
        qsort(files.at, files.len, sizeof(files.at[0]), oldest_first);
    int64_t now = time(NULL);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < files.len; i++) {
            const CacheFile *f = &files.at[i];
            bool is_left_over = !str_ends_with(str_from_c(f->name), STR(".sym"));
            bool goes = pass == 0 ? is_left_over && f->mtime_s < now - 3600
                                  : !is_left_over && total > max_bytes;
            if (goes && unlinkat(dirfd(dir), f->name, 0) == 0)
                total -= f->size_bytes;
        }
    }
    size_file_set(folder, &(FolderSize){total, now});
    vec_free(&files);
    closedir(dir);
}

void symbol_cache_size(int folder, uint64_t *files, uint64_t *bytes)
{
    CacheFileVec list = {0};
    DIR *dir = os_open_folder(folder, "."); // with a position of its own
    *files = *bytes = 0;
    if (!dir)
        return;
    *bytes = folder_list(dir, &list);
    *files = list.len;
    vec_free(&list);
    closedir(dir);
}

void symbol_cache_clear(int folder)
{
    CacheFileVec list = {0};
    DIR *dir = os_open_folder(folder, "."); // with a position of its own
    if (!dir)
        return;
    (void)folder_list(dir, &list);
    for (size_t i = 0; i < list.len; i++)
        (void)unlinkat(dirfd(dir), list.at[i].name, 0);
    (void)unlinkat(dirfd(dir), SIZE_FILE, 0);
    vec_free(&list);
    closedir(dir);
}

static bool write_whole(int fd, Str content)
{
    while (content.len) {
        ssize_t n = write(fd, content.ptr, content.len);
        if (n < 0 && errno != EINTR)
            return false;
        content = str_slice(content, n > 0 ? (size_t)n : 0, content.len);
    }
    return true;
}

// Rename replaces any file of that name, also a link or a FIFO.
static bool write_file(int folder, const char *name, Str content)
{
    char temp[NAME_MAX + 32];
    uint64_t random;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        return false;
    snprintf(temp, sizeof(temp), "%s.%016llx.tmp", name, (unsigned long long)random);
    int fd = openat(folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write_whole(fd, content);
    ok = close(fd) == 0 && ok;
    ok = ok && renameat(folder, temp, folder, name) == 0;
    if (!ok)
        (void)unlinkat(folder, temp, 0);
    return ok;
}

bool symbol_cache_pack(const PlaceTable *t, const FileProbeVec *probes, StrBuf *out)
{
    if (probes->len > PROBES_MAX || t->troubles.len > TROUBLES_MAX)
        return false;
    symbol_cache_encode(t, probes, out);
    return out->len <= SYMBOL_CACHE_FILE_MAX_BYTES;
}

void symbol_cache_write(int folder, Str name, Str content, uint64_t max_bytes)
{
    char buf[NAME_MAX + 1];
    bool named = is_ours(name) && str_find_char(name, 0) == SIZE_MAX;
    const char *file_name = named ? c_name(name, buf) : NULL;
    if (folder >= 0 && file_name && content.len <= SYMBOL_CACHE_FILE_MAX_BYTES &&
        write_file(folder, file_name, content) &&
        size_file_add(folder, content.len, max_bytes ? max_bytes : SYMBOL_CACHE_MAX_BYTES))
        folder_trim(folder, max_bytes ? max_bytes : SYMBOL_CACHE_MAX_BYTES);
}
