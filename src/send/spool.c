// SPDX-License-Identifier: Apache-2.0
// A folder that keeps messages until a server has accepted them.

#include "send/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/owned_file.h"

#define SUFFIX ".message"
#define MAGIC  "assay message 1"

enum { NAME_MAX_BYTES = 64, MESSAGE_MAX_BYTES = 1 << 30 };

bool spool_open(Str path, uint64_t max_bytes, Spool *ret, Error *err)
{
    int fd = os_open_own_folder(path, err);
    if (fd < 0)
        return false;
    *ret = (Spool){.folder = fd, .path = path, .max_bytes = max_bytes};
    return true;
}

void spool_close(Spool *s)
{
    close(s->folder);
    s->folder = -1;
}

// Names are times of 20 digits, so that their order is that of age.
static bool is_message(const char *name)
{
    Str s = str_from_c(name);
    return s.len < NAME_MAX_BYTES && str_ends_with(s, STR(SUFFIX)) && s.ptr[0] >= '0' &&
           s.ptr[0] <= '9';
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const Str *)a, *(const Str *)b);
}

bool spool_list(const Spool *s, Arena *arena, StrVec *ret, Error *err)
{
    int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        error_os(err, "cannot list '%" STR_FMT "'", STR_ARG(s->path));
        if (fd >= 0)
            close(fd);
        return false;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) // NOLINT(concurrency-mt-unsafe): a stream of our own
        if (is_message(entry->d_name))
            vec_push(arena, ret, arena_str(arena, str_from_c(entry->d_name)));
    closedir(dir);
    if (ret->len)
        qsort(ret->at, ret->len, sizeof(Str), compare_names);
    return true;
}

static uint64_t size_of(const Spool *s, Str name)
{
    struct stat st;
    return fstatat(s->folder, name.ptr, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
               ? (uint64_t)st.st_size
               : 0;
}

// Removes the oldest messages until `bytes` more are within the limit.
static bool make_room(const Spool *s, uint64_t bytes, unsigned *removed, Error *err)
{
    Arena scratch = {0};
    StrVec names = {0};
    uint64_t used = 0;
    *removed = 0;
    bool ok = spool_list(s, &scratch, &names, err);
    for (size_t i = 0; i < names.len; i++)
        used += size_of(s, names.at[i]);
    for (size_t i = 0; i < names.len && used + bytes > s->max_bytes; i++) {
        used -= size_of(s, names.at[i]);
        *removed += unlinkat(s->folder, names.at[i].ptr, 0) == 0;
    }
    arena_deinit(&scratch);
    return ok;
}

static bool write_all(int fd, Str text)
{
    while (text.len) {
        ssize_t n = write(fd, text.ptr, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = str_slice(text, (size_t)n, text.len);
    }
    return true;
}

static bool write_message(const Spool *s, const char *temporary, const char *name, Str head,
                          Bytes body, Error *err)
{
    int fd =
        openat(s->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_os(err, "cannot make a file in '%" STR_FMT "'", STR_ARG(s->path));
    bool ok = write_all(fd, head) && write_all(fd, str_from_bytes(body)) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    ok = ok && renameat(s->folder, temporary, s->folder, name) == 0;
    if (!ok) {
        error_os(err, "cannot keep the message in '%" STR_FMT "'", STR_ARG(s->path));
        unlinkat(s->folder, temporary, 0);
    }
    return ok;
}

bool spool_add(const Spool *s, const Message *message, unsigned *removed, Error *err)
{
    StrBuf head = {0};
    char name[NAME_MAX_BYTES], temporary[NAME_MAX_BYTES + 8];
    uint32_t random;
    strbuf_printf(&head,
                  MAGIC "\nurl: %" STR_FMT "\ntype: %" STR_FMT "\nencoding: %" STR_FMT
                        "\nbytes: %zu\n\n",
                  STR_ARG(message->url), STR_ARG(message->type), STR_ARG(message->encoding),
                  message->body.len);
    uint64_t bytes = head.len + message->body.len;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (uint32_t)getpid();
    snprintf(name, sizeof(name), "%020lld-%08x" SUFFIX, (long long)os_realtime_ns(), random);
    snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
    bool ok = true;
    if (bytes > s->max_bytes || message->body.len > MESSAGE_MAX_BYTES)
        ok = error_set(
            err, ERROR_LIMIT,
            "the message of %llu bytes is larger than the spool '%" STR_FMT "' may be: %llu",
            (unsigned long long)bytes, STR_ARG(s->path), (unsigned long long)s->max_bytes);
    ok = ok && make_room(s, bytes, removed, err) &&
         write_message(s, temporary, name, strbuf_str(&head), message->body, err);
    strbuf_deinit(&head);
    return ok;
}

// ---- Reading -------------------------------------------------------------------------

static bool take_line(Str *rest, const char *key, Str *value)
{
    Str line, wanted = str_from_c(key);
    if (!str_next_line(rest, &line) || !str_starts_with(line, wanted))
        return false;
    *value = str_trim(str_slice(line, wanted.len, line.len));
    return true;
}

static bool parse_message(Bytes file, Message *ret, Error *err)
{
    Str rest = str_from_bytes(file), line, bytes;
    uint64_t size;
    Message m = {0};
    bool ok = str_next_line(&rest, &line) && str_equal(line, STR(MAGIC)) &&
              take_line(&rest, "url:", &m.url) && take_line(&rest, "type:", &m.type) &&
              take_line(&rest, "encoding:", &m.encoding) && take_line(&rest, "bytes:", &bytes) &&
              str_parse_u64(bytes, 10, &size) && str_next_line(&rest, &line) && line.len == 0;
    if (!ok || size != rest.len)
        return error_set(err, ERROR_FORMAT, "not a whole message");
    m.body = bytes_from_str(rest);
    *ret = m;
    return true;
}

// Whether the name still leads to the file: another process may have sent it meanwhile.
static bool is_current(const Spool *s, Str name, int fd)
{
    struct stat of_name, of_file;
    return fstatat(s->folder, name.ptr, &of_name, AT_SYMLINK_NOFOLLOW) == 0 &&
           fstat(fd, &of_file) == 0 && of_name.st_ino == of_file.st_ino &&
           of_name.st_dev == of_file.st_dev;
}

SpoolTake spool_take(const Spool *s, Str name, Arena *arena, Message *ret, int *descriptor,
                     Error *err)
{
    Bytes file;
    struct stat st;
    int fd = openat(s->folder, name.ptr, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return SPOOL_GONE;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !is_current(s, name, fd)) {
        close(fd);
        return SPOOL_GONE;
    }
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        (void)error_set(err, ERROR_FORMAT, "not a regular file");
    if (!ok || !os_read_fd(arena, fd, name, MESSAGE_MAX_BYTES + 4096, &file, err) ||
        !parse_message(file, ret, err)) {
        (void)error_context(err, "'%" STR_FMT "/%" STR_FMT "'", STR_ARG(s->path), STR_ARG(name));
        close(fd);
        return SPOOL_BROKEN;
    }
    *descriptor = fd;
    return SPOOL_TAKEN;
}

void spool_done(const Spool *s, Str name, int descriptor)
{
    unlinkat(s->folder, name.ptr, 0);
    close(descriptor);
}

void spool_keep(int descriptor)
{
    close(descriptor);
}
