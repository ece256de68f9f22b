// SPDX-License-Identifier: Apache-2.0
// Files: read whole, map, and write atomically.

#include "os/file.h"

#include "os/map_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

// The path as a C string. A path that is too long or contains a NUL is an error, because a cut path
// would open another file.
static bool c_path(Str path, char buf[PATH_MAX], Error *err)
{
    if (path.len >= PATH_MAX)
        return error_set(err, ERROR_USAGE, "path of %zu bytes is too long", path.len);
    if (path.len == 0)
        return error_set(err, ERROR_USAGE, "empty path");
    if (memchr(path.ptr, 0, path.len))
        return error_set(err, ERROR_USAGE, "path contains a NUL");
    memcpy(buf, path.ptr, path.len);
    buf[path.len] = 0;
    return true;
}

static FileIdentity identity_of(const struct stat *st)
{
    return (FileIdentity){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size_bytes = (uint64_t)st->st_size,
        .mtime_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec,
    };
}

int os_open_read(Str path, Error *err)
{
    char name[PATH_MAX];
    if (!c_path(path, name, err))
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        (void)error_os(err, "cannot open '%s'", name);
    return fd;
}

static ssize_t read_retrying(int fd, void *buf, size_t size)
{
    ssize_t n;
    do
        n = read(fd, buf, size);
    while (n < 0 && errno == EINTR);
    return n;
}

bool os_read_fd(Arena *arena, int fd, Str name, size_t max_bytes, Bytes *ret, Error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
    size_t cap = 16384;
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uint64_t)st.st_size > max_bytes)
            return error_set(err, ERROR_LIMIT, "'%" STR_FMT "' has %lld bytes, more than %zu",
                             STR_ARG(name), (long long)st.st_size, max_bytes);
        cap = (size_t)st.st_size + 1;
    }
    uint8_t *buf = arena_alloc(arena, cap, 8);
    size_t len = 0;
    for (;;) {
        ssize_t n = read_retrying(fd, buf + len, cap - len - 1);
        if (n < 0)
            return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
        if (n == 0)
            break;
        len += (size_t)n;
        if (len > max_bytes)
            return error_set(err, ERROR_LIMIT, "'%" STR_FMT "' has more than %zu bytes",
                             STR_ARG(name), max_bytes);
        if (len + 1 == cap) {
            buf = arena_grow_raw(arena, buf, cap, cap * 2, 8);
            cap *= 2;
        }
    }
    buf[len] = 0;
    *ret = (Bytes){buf, len};
    return true;
}

bool os_read_head(int fd, Str name, uint8_t *buf, size_t size, size_t *got, Error *err)
{
    size_t len = 0;
    while (len < size) {
        ssize_t n = read_retrying(fd, buf + len, size - len);
        if (n < 0)
            return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
        if (n == 0)
            break;
        len += (size_t)n;
    }
    *got = len;
    return true;
}

bool os_read_file(Arena *arena, Str path, size_t max_bytes, Bytes *ret, Error *err)
{
    int fd = os_open_read(path, err);
    if (fd < 0)
        return false;
    bool ok = os_read_fd(arena, fd, path, max_bytes, ret, err);
    close(fd);
    return ok;
}

bool os_read_small(const char *path, char *buf, size_t size, Str *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t len = 0;
    ssize_t n = 0;
    while (len + 1 < size && (n = read_retrying(fd, buf + len, size - 1 - len)) > 0)
        len += (size_t)n;
    int saved = errno;
    close(fd);
    errno = saved;
    if (n < 0)
        return false;
    while (len > 0 && (buf[len - 1] == '\n' || buf[len - 1] == ' ' || buf[len - 1] == '\t'))
        len--;
    buf[len] = 0;
    *ret = (Str){buf, len};
    return true;
}

bool os_read_u64(const char *path, uint64_t *ret)
{
    char buf[64];
    Str text;
    return os_read_small(path, buf, sizeof(buf), &text) && str_parse_u64(text, 0, ret);
}

bool os_read_i64(const char *path, int64_t *ret)
{
    char buf[64];
    Str text;
    return os_read_small(path, buf, sizeof(buf), &text) && str_parse_i64(text, ret);
}

static bool stat_regular(int fd, Str name, struct stat *st, Error *err)
{
    if (fstat(fd, st) != 0)
        return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
    if (S_ISREG(st->st_mode))
        return true;
    const char *what = S_ISDIR(st->st_mode) ? "it is a directory" : "it is not a regular file";
    return error_set(err, ERROR_OS, "cannot read '%" STR_FMT "': %s", STR_ARG(name), what);
}

bool os_map_fd(int fd, Str name, MappedFile *ret, Error *err)
{
    struct stat st;
    if (!stat_regular(fd, name, &st, err))
        return false;
    MappedFile m = {.identity = identity_of(&st), .uid = st.st_uid};
    if (st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED)
            return error_os(err, "cannot map '%" STR_FMT "'", STR_ARG(name));
        m.bytes = bytes_over(at, (size_t)st.st_size);
        map_guard_add(m.bytes);
    }
    *ret = m;
    return true;
}

static bool write_whole(int fd, Bytes bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            bytes = bytes_slice(bytes, (size_t)n, bytes.len);
    }
    return true;
}

static bool copy_rest(int from, int to, Str name, Error *err)
{
    uint8_t piece[1 << 16];
    for (;;) {
        ssize_t n = read_retrying(from, piece, sizeof(piece));
        if (n < 0)
            return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
        if (n == 0)
            return true;
        if (!write_whole(to, bytes_over(piece, (size_t)n)))
            return error_os(err, "cannot keep '%" STR_FMT "' while it is read", STR_ARG(name));
    }
}

bool os_map_input(int fd, Str name, Bytes head, Str folder, MappedFile *ret, Error *err)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%" STR_FMT, STR_ARG(folder)) >= sizeof(path))
        return error_set(err, ERROR_OS, "the path of the folder for temporary files is too long");
    int to = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (to < 0)
        return error_os(err, "cannot make a temporary file in '%" STR_FMT "'", STR_ARG(folder));
    bool ok = (write_whole(to, head) ||
               error_os(err, "cannot keep '%" STR_FMT "' while it is read", STR_ARG(name))) &&
              copy_rest(fd, to, name, err) && os_map_fd(to, name, ret, err);
    close(to);
    return ok;
}

// Opens without blocking: a FIFO or a device must not hang before the check of its type.
static int open_at_once(Str path, Error *err)
{
    char name[PATH_MAX];
    if (!c_path(path, name, err))
        return -1;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        (void)error_os(err, "cannot open '%s'", name);
    return fd;
}

static bool load_fd(int fd, Str name, U8Vec *into, FileIdentity *identity, Error *err)
{
    struct stat st;
    ssize_t n = 1;
    if (!stat_regular(fd, name, &st, err))
        return false;
    into->len = 0;
    vec_reserve(NULL, into, (size_t)st.st_size);
    while (into->len < (size_t)st.st_size && n > 0) {
        n = read_retrying(fd, into->at + into->len, (size_t)st.st_size - into->len);
        into->len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(name));
    if (identity)
        *identity = identity_of(&st);
    return true;
}

bool os_load_file(Str path, U8Vec *into, FileIdentity *identity, Error *err)
{
    int fd = open_at_once(path, err);
    if (fd < 0)
        return false;
    bool ok = load_fd(fd, path, into, identity, err);
    close(fd);
    return ok;
}

size_t os_read_start(Str path, uint8_t *buf, size_t size)
{
    struct stat st;
    int fd = open_at_once(path, NULL);
    ssize_t n = 0;
    if (fd >= 0 && stat_regular(fd, path, &st, NULL))
        n = read_retrying(fd, buf, size);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

bool os_map_file(Str path, MappedFile *ret, Error *err)
{
    int fd = open_at_once(path, err);
    if (fd < 0)
        return false;
    bool ok = os_map_fd(fd, path, ret, err);
    close(fd);
    return ok;
}

void os_unmap_file(MappedFile *m)
{
    map_guard_remove(m->bytes);
    if (m->bytes.len > 0)
        munmap((void *)(uintptr_t)m->bytes.ptr, m->bytes.len);
    *m = (MappedFile){0};
}

bool os_file_exists(Str path)
{
    char name[PATH_MAX];
    struct stat st;
    return c_path(path, name, NULL) && stat(name, &st) == 0;
}

bool os_name_is_taken(Str path)
{
    char name[PATH_MAX];
    struct stat st;
    return c_path(path, name, NULL) && lstat(name, &st) == 0;
}

bool os_file_identity(Str path, FileIdentity *ret, Error *err)
{
    char name[PATH_MAX];
    struct stat st;
    if (!c_path(path, name, err))
        return false;
    if (stat(name, &st) != 0)
        return error_os(err, "cannot open '%s'", name);
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_USAGE, "'%s' is not a regular file", name);
    if (access(name, R_OK) != 0)
        return error_os(err, "cannot open '%s'", name);
    *ret = identity_of(&st);
    return true;
}

bool os_make_folders(Str path, Error *err)
{
    char name[PATH_MAX];
    if (!c_path(path, name, err) || !os_check_way_not_planted(path, err))
        return false;
    for (char *slash = name + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        if (mkdir(name, 0777) != 0 && errno != EEXIST)
            return error_os(err, "cannot make folder '%s'", name);
        *slash = '/';
    }
    struct stat st;
    if (mkdir(name, 0777) != 0 && errno != EEXIST)
        return error_os(err, "cannot make folder '%s'", name);
    if (stat(name, &st) != 0 || !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return error_os(err, "cannot make folder '%s'", name);
    }
    return true;
}

static bool refuse_existing(const char *path, Error *err)
{
    (void)error_set(err, ERROR_LIMIT, "'%s' exists already", path);
    return error_hint(err, "use another name with -o, or --force to replace it");
}

bool os_check_not_planted(Str path, Error *err)
{
    char name[PATH_MAX], folder[PATH_MAX];
    struct stat st, above;
    if (!c_path(path, name, err))
        return false;
    Str dir = str_dir_name(path);
    if (!c_path(dir.len ? dir : STR("."), folder, err))
        return false;
    if (lstat(name, &st) != 0 || stat(folder, &above) != 0)
        return true; // opening says what is wrong
    bool is_shared = (above.st_mode & S_ISVTX) && (above.st_mode & S_IWOTH);
    if (!is_shared || st.st_uid == geteuid() || st.st_uid == above.st_uid)
        return true;
    (void)error_set(err, ERROR_PERMISSION,
                    "cannot write '%s': it belongs to user id %u, in a folder where every user may "
                    "make files",
                    name, (unsigned)st.st_uid);
    return error_hint(err, "choose another place with -o");
}

// Whether one part of the way leads elsewhere by a link of another user.
static bool check_not_strangers_link(Str path, Error *err)
{
    char name[PATH_MAX];
    struct stat st;
    if (!c_path(path, name, err))
        return false;
    if (lstat(name, &st) != 0 || !S_ISLNK(st.st_mode) || st.st_uid == geteuid() || st.st_uid == 0)
        return true;
    (void)error_set(err, ERROR_PERMISSION, "cannot write '%s': it is a link of user id %u", name,
                    (unsigned)st.st_uid);
    return error_hint(err, "if you trust this link, give the path from / instead");
}

bool os_check_way_not_planted(Str path, Error *err)
{
    bool is_named = str_starts_with(path, STR("/"));
    for (size_t i = 1; i <= path.len; i++) {
        Str so_far = str_slice(path, 0, i);
        if (i < path.len && (path.ptr[i] != '/' || path.ptr[i - 1] == '/'))
            continue;
        if (!os_check_not_planted(so_far, err) ||
            (!is_named && !check_not_strangers_link(so_far, err)))
            return false;
    }
    return true;
}

bool os_keep_owner(int fd, const char *replaced, Error *err)
{
    struct stat old, new;
    if (stat(replaced, &old) != 0)
        return errno == ENOENT || error_os(err, "cannot replace '%s'", replaced);
    if (fstat(fd, &new) != 0)
        return error_os(err, "cannot replace '%s'", replaced);
    mode_t mode = old.st_mode & 0777;
    if (old.st_uid != new.st_uid)
        (void)!fchown(fd, old.st_uid, (gid_t)-1);
    if (old.st_gid != new.st_gid && fchown(fd, (uid_t)-1, old.st_gid) != 0)
        mode &= ~(mode_t)070;
    if (fchmod(fd, mode) != 0)
        return error_os(err, "cannot give '%s' the mode of the file before", replaced);
    return true;
}

// A name that nobody else has or can guess, in the final one's folder so that the rename cannot
// cross file systems.
static bool choose_temporary(OutputFile *out, unsigned attempt)
{
    uint64_t random;
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (uint64_t)getpid() << 32 | attempt;
    int n = snprintf(out->temp_path, sizeof(out->temp_path), "%s.%016llx.tmp", out->path,
                     (unsigned long long)random);
    if (n >= 0 && (size_t)n < sizeof(out->temp_path))
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static int open_temporary(OutputFile *out, mode_t mode)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (!choose_temporary(out, attempt))
            return -1;
        int fd = open(out->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

// Opens a file without a name in the final one's folder. -1 where the file system has no such
// files, or where /proc, which gives them a name, is missing.
static int open_unnamed(const OutputFile *out, mode_t mode)
{
    char folder[PATH_MAX];
    Str dir = str_dir_name(str_from_c(out->path));
    if (access("/proc/self/fd", X_OK) != 0 || !c_path(dir.len ? dir : STR("."), folder, NULL))
        return -1;
    return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
}

// Gives the file without a name this one; a name that exists is an error (EEXIST).
static bool give_name(int fd, const char *path)
{
    char link_path[40];
    snprintf(link_path, sizeof(link_path), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link_path, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

// Gives a file without a name its final one, or the temporary one when it is to replace a file:
// only a rename can do that.
static bool take_name(OutputFile *out, int fd)
{
    if (out->place != OUTPUT_UNNAMED)
        return true;
    if (give_name(fd, out->path)) {
        out->place = OUTPUT_NAMED;
        return true;
    }
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        if (errno != EEXIST || out->mode == OUTPUT_KEEP || !choose_temporary(out, attempt))
            return false;
        if (give_name(fd, out->temp_path)) {
            out->place = OUTPUT_TEMPORARY;
            return true;
        }
    }
    return false;
}

static void remove_temporary(const OutputFile *out)
{
    if (out->place == OUTPUT_TEMPORARY)
        unlink(out->temp_path);
}

// The file beside the final one. Nobody gets a right to the content that the replaced file
// did not give.
static int open_beside(OutputFile *out, bool replaces, Error *err)
{
    mode_t mode = replaces ? 0600 : 0666;
    int fd = open_unnamed(out, mode);
    out->place = fd >= 0 ? OUTPUT_UNNAMED : OUTPUT_TEMPORARY;
    if (fd < 0)
        fd = open_temporary(out, mode);
    if (fd < 0) {
        (void)error_os(err, "cannot write '%s'", out->path);
        return -1;
    }
    if (replaces && !os_keep_owner(fd, out->path, err)) {
        close(fd);
        remove_temporary(out);
        return -1;
    }
    return fd;
}

bool os_output_open(Str path, OutputMode mode, OutputFile *ret, Error *err)
{
    char name[PATH_MAX];
    struct stat st;
    *ret = (OutputFile){.mode = mode};
    if (!c_path(path, name, err) || !os_check_not_planted(path, err))
        return false;
    bool exists = stat(name, &st) == 0;
    memcpy(ret->path, name, sizeof(name));
    // The target of a link is replaced, not the link.
    char real[PATH_MAX];
    if (exists && S_ISREG(st.st_mode) && realpath(name, real))
        memcpy(ret->path, real, sizeof(real));
    int fd;
    if (exists && !S_ISREG(st.st_mode)) {
        ret->place = OUTPUT_DIRECT;
        fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
            return error_os(err, "cannot write '%s'", name);
    } else {
        if (exists && mode == OUTPUT_KEEP)
            return refuse_existing(name, err);
        fd = open_beside(ret, exists, err);
        if (fd < 0)
            return false;
    }
    ret->stream = fdopen(fd, "w");
    if (!ret->stream) {
        (void)error_os(err, "cannot write '%s'", name);
        close(fd);
        remove_temporary(ret);
        return false;
    }
    return true;
}

// Renames without replacing a file. Not every file system supports RENAME_NOREPLACE; link() refuses
// an existing name, too.
static bool rename_keeping(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (link(from, to) != 0)
        return false;
    unlink(from);
    return true;
}

// Whether the file has its final name now. `saved` gets the reason why not.
static bool finish_name(OutputFile *out, int *saved)
{
    if (out->place != OUTPUT_TEMPORARY)
        return true;
    bool ok = out->mode == OUTPUT_KEEP ? rename_keeping(out->temp_path, out->path)
                                       : rename(out->temp_path, out->path) == 0;
    if (!ok)
        *saved = errno;
    return ok;
}

// Whether the content is on the disk, or the file system cannot put it there (EINVAL).
static bool sync_content(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL;
}

// Has the names in the folder of a file written to the disk, where the file system can.
static void sync_folder_of(const char *path)
{
    char name[PATH_MAX];
    Str folder = str_dir_name(str_from_c(path));
    if (!c_path(folder.len ? folder : STR("."), name, NULL))
        return;
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

bool os_output_commit(OutputFile *out, Error *err)
{
    FILE *stream = out->stream;
    out->stream = NULL;
    // errno is still that of the failed write, unless code of the caller has changed it since.
    int saved = errno;
    bool wrote = !ferror(stream), ok = wrote;
    if (ok && (fflush(stream) != 0 || (out->sync && !sync_content(fileno(stream))) ||
               !take_name(out, fileno(stream)))) {
        ok = false;
        saved = errno;
    }
    if (fclose(stream) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && finish_name(out, &saved)) {
        if (out->sync)
            sync_folder_of(out->path);
        return true;
    }
    remove_temporary(out);
    if (wrote && out->mode == OUTPUT_KEEP && saved == EEXIST)
        return refuse_existing(out->path, err);
    errno = saved ? saved : EIO;
    return error_os(err, "cannot write '%s'", out->path);
}

void os_output_abort(OutputFile *out)
{
    if (!out->stream)
        return;
    fclose(out->stream);
    out->stream = NULL;
    remove_temporary(out);
}

static bool write_file(Str path, Bytes content, OutputMode mode, bool sync, Error *err)
{
    OutputFile out;
    if (!os_output_open(path, mode, &out, err))
        return false;
    out.sync = sync;
    if (content.len)
        fwrite(content.ptr, 1, content.len, out.stream);
    return os_output_commit(&out, err);
}

bool os_write_file(Str path, Bytes content, OutputMode mode, Error *err)
{
    return write_file(path, content, mode, false, err);
}

bool os_write_file_synced(Str path, Bytes content, OutputMode mode, Error *err)
{
    return write_file(path, content, mode, true, err);
}

static bool is_regular_or_none(const char *path, bool *exists, Error *err)
{
    struct stat st;
    *exists = lstat(path, &st) == 0;
    if (!*exists)
        return errno == ENOENT || error_os(err, "cannot read '%s'", path);
    return S_ISREG(st.st_mode) || error_set(err, ERROR_OS, "'%s' is not a regular file", path);
}

bool os_keep_old(const char *path, Error *err)
{
    bool exists, is_there;
    if (!is_regular_or_none(path, &exists, err))
        return false;
    if (!exists)
        return true;
    Arena scratch = {0};
    const char *old = arena_printf(&scratch, "%s.old", path).ptr;
    bool ok = is_regular_or_none(old, &is_there, err) &&
              (rename(path, old) == 0 || error_os(err, "cannot rename '%s' to '%s'", path, old));
    arena_deinit(&scratch);
    return ok;
}
