// SPDX-License-Identifier: Apache-2.0
// Empties a folder of raw profiles while programs write to it.

#include "collect/cover/pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/cover/doctest.h"
#include "llvmcov/profraw.h"
#include "os/clock.h"
#include "os/file.h"

// Programs that were seen writing are held open. When there are more, they are found by build-id
// only.
enum { WRITERS_MAX = 256 };

bool cover_pool_open(CoverPool *pool, Arena *arena, Str folder, Error *err)
{
    folder = arena_str(arena, folder);
    *pool = (CoverPool){
        .arena = arena, .folder = folder, .reach = folder, .keep_to = folder, .notify_fd = -1};
    pool->counts.arena = arena;
    if (!os_make_folders(folder, err))
        return false;
    pool->notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    // Without inotify the folder is read at intervals.
    if (pool->notify_fd >= 0 && inotify_add_watch(pool->notify_fd, arena_c_str(arena, folder),
                                                  IN_CREATE | IN_CLOSE_WRITE) < 0) {
        close(pool->notify_fd);
        pool->notify_fd = -1;
    }
    return true;
}

void cover_pool_close(CoverPool *pool)
{
    if (pool->notify_fd >= 0)
        close(pool->notify_fd);
    pool->notify_fd = -1;
    for (size_t i = 0; i < pool->writers.len; i++)
        close(pool->writers.at[i].fd);
    pool->writers.len = 0;
    if (pool->arena && !pool->keep_folder)
        rmdir(arena_c_str(pool->arena, pool->folder));
}

void cover_pool_deinit(CoverPool *pool)
{
    cover_pool_close(pool);
    cover_counts_deinit(&pool->counts);
}

Str cover_pool_pattern(const CoverPool *pool)
{
    // One file for each process, so that no process waits for another. With %m the runtime adds to
    // an existing file instead of emptying it: a forked child has the number of its parent, and
    // process numbers are reused.
    return arena_printf(pool->arena, "%" STR_FMT "/%%p-%%m%s.profraw", STR_ARG(pool->reach),
                        pool->continuous ? "%c" : "");
}

// ---- The writers -------------------------------------------------------------------

static bool writer_known(const CoverPool *pool, const struct stat *st)
{
    for (size_t i = 0; i < pool->writers.len; i++)
        if (pool->writers.at[i].device == st->st_dev && pool->writers.at[i].inode == st->st_ino)
            return true;
    return false;
}

// Notes the program of a process that has just begun to write. When the process has ended already,
// the program must be found by its build-id later.
static void note_writer(CoverPool *pool, Str file_name)
{
    Str number, rest;
    uint64_t pid;
    if (pool->writers.len >= WRITERS_MAX || !str_split(file_name, '-', &number, &rest) ||
        !str_parse_u64(number, 10, &pid))
        return;
    Str link = arena_printf(pool->arena, "/proc/%llu/exe", (unsigned long long)pid);
    struct stat st;
    char path[4096];
    if (stat(link.ptr, &st) != 0 || writer_known(pool, &st))
        return;
    ssize_t len = readlink(link.ptr, path, sizeof(path));
    int fd = open(link.ptr, O_RDONLY | O_CLOEXEC);
    if (len <= 0 || fd < 0) {
        if (fd >= 0)
            close(fd);
        return;
    }
    Str name = str_over(path, (size_t)len);
    if (str_ends_with(name, STR(" (deleted)")))
        name.len -= STR(" (deleted)").len;
    CoverWriter writer = {fd, arena_str(pool->arena, name), st.st_dev, st.st_ino};
    vec_push(pool->arena, &pool->writers, writer);
    if (pool->correlations) // now, because it may be deleted or linked again meanwhile
        cover_correlations_offer(pool->correlations,
                                 arena_printf(pool->arena, "/proc/self/fd/%d", fd));
}

static void read_notifications(CoverPool *pool)
{
    _Alignas(struct inotify_event) char buf[16384];
    ssize_t n;
    while (pool->notify_fd >= 0 && (n = read(pool->notify_fd, buf, sizeof(buf))) > 0) {
        for (char *at = buf; at < buf + n;) {
            const struct inotify_event *e = (const void *)at;
            if (e->mask & IN_CREATE && e->len)
                note_writer(pool, str_from_c(e->name));
            at += sizeof(*e) + e->len;
        }
    }
}

// ---- Taking files ----------------------------------------------------------------

static void add_binary_id(CoverPool *pool, Bytes id)
{
    BuildId build_id = {.len = (uint32_t)id.len};
    bytes_copy(build_id.bytes, id);
    for (size_t i = 0; i < pool->binary_ids.len; i++)
        if (build_id_same(&pool->binary_ids.at[i], &build_id))
            return;
    vec_push(pool->arena, &pool->binary_ids, build_id);
}

// Notes the build-ids of the objects that wrote a file's profiles.
static void note_binary_ids(CoverPool *pool, Bytes file)
{
    ProfRaw p;
    for (size_t at = 0; at < file.len && profraw_parse(file, at, &p, NULL); at += p.size) {
        Cursor c = cursor_over(p.binary_ids, "binary ids");
        c.big_endian = p.big_endian;
        bool any = false;
        while (cursor_more(&c)) {
            Bytes id = cursor_padded(&c, cursor_u64(&c), 8);
            if (!cursor_ok(&c) || id.len == 0 || id.len > ELF_BUILD_ID_MAX)
                break;
            add_binary_id(pool, id);
            any = true;
        }
        pool->has_unnamed |= !any;
        if (p.size == 0)
            break;
    }
}

// The name that is shown to the user: "N-NAME" for ".N-NAME".
static Str shown_name(Str path)
{
    Str base = str_base_name(path);
    return str_starts_with(base, STR(".")) ? str_slice(base, 1, base.len) : base;
}

// Whether the first profile of a file has counters only.
static bool is_correlated(Bytes file)
{
    ProfRaw p;
    return profraw_is(file) && profraw_parse_sections(file, 0, &p, NULL) &&
           profraw_lacks_records(&p);
}

// Programs write regular files. Others who may add files to the folder must not lead us to what
// only we may read, nor make us wait.
static bool map_written(Str path, MappedFile *ret, Error *err)
{
    Str name = shown_name(path);
    int fd = open(path.ptr, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ELOOP)
        return error_set(err, ERROR_PERMISSION, "cannot read '%" STR_FMT "': it is a symbolic link",
                         STR_ARG(name));
    if (fd < 0)
        return error_os(err, "cannot open '%" STR_FMT "'", STR_ARG(name));
    bool ok = os_map_fd(fd, name, ret, err);
    close(fd);
    return ok;
}

typedef enum Added { ADDED, REFUSED, WAITS } Added;

// Adds the counts of a file. On failure `err` is set.
static Added add_file(CoverPool *pool, Str path, Error *err)
{
    MappedFile m = {0};
    Added added = map_written(path, &m, err) ? ADDED : REFUSED;
    if (added == ADDED && m.bytes.len) {
        pool->counts.correlations = pool->correlations;
        if (!cover_counts_add(&pool->counts, shown_name(path), m.bytes, 1, err))
            added = err->kind == ERROR_NOT_FOUND && pool->may_wait && is_correlated(m.bytes)
                        ? WAITS
                        : REFUSED;
        if (added != REFUSED)
            note_binary_ids(pool, m.bytes);
        pool->file_count += added == ADDED;
        pool->byte_count += added == WAITS ? 0 : m.bytes.len;
    }
    os_unmap_file(&m);
    return added;
}

static void refuse(CoverPool *pool, const Error *why)
{
    vec_push(pool->arena, &pool->refused, arena_str(pool->arena, str_from_c(why->text)));
}

bool cover_pool_add(CoverPool *pool, Str path)
{
    Error err = {0};
    Added added = add_file(pool, path, &err);
    if (added != ADDED)
        refuse(pool, &err);
    return added == ADDED;
}

typedef enum Writing { WRITING_NO, WRITING_YES, WRITING_UNKNOWN } Writing;

// Tries a read lease, which the kernel grants only while no process has the file open for writing.
// For an empty file the answer is "unknown": inotify may wake this process after the file was
// created and before it is open.
static Writing is_being_written(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return WRITING_NO;
    Writing answer = WRITING_NO;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
        answer = errno == EAGAIN ? WRITING_YES : WRITING_UNKNOWN;
    else if (fcntl(fd, F_SETLEASE, F_UNLCK) == 0 && fstat(fd, &st) == 0 && st.st_size == 0)
        answer = WRITING_UNKNOWN;
    close(fd);
    return answer;
}

// Renames a file, so that the next process that opens it creates a new one. A process that has it
// open writes to the renamed file.
static void set_aside(CoverPool *pool, const char *name)
{
    Str from = arena_printf(pool->arena, "%" STR_FMT "/%s", STR_ARG(pool->folder), name);
    Str to = arena_printf(pool->arena, "%" STR_FMT "/.%zu-%s", STR_ARG(pool->folder),
                          pool->aside_count++, name);
    if (rename(from.ptr, to.ptr) == 0)
        vec_push(pool->arena, &pool->taken, to);
}

Str cover_pool_object_path(CoverPool *pool, const char *suffix)
{
    Str path;
    do
        path = arena_printf(pool->arena, "%" STR_FMT "/object-%zu%s", STR_ARG(pool->kept_folder),
                            pool->object_count++, suffix);
    while (os_file_exists(path));
    return path;
}

// Keeps the mapping of a program that will be deleted, not the program.
static void keep_mapping(CoverPool *pool, Str name)
{
    Arena scratch = {0};
    StrBuf out = {0};
    MappedFile m = {0};
    CoverKept kept;
    Error err = {0};
    Str path =
        arena_printf(&scratch, "%" STR_FMT "/%" STR_FMT, STR_ARG(pool->folder), STR_ARG(name));
    kept.path = cover_pool_object_path(pool, ".covmapping");
    if (map_written(path, &m, &err) &&
        cover_doctest_mapping(&scratch, m.bytes, &kept.id, &out, &err) &&
        os_write_file(kept.path, bytes_from_str(strbuf_str(&out)), OUTPUT_REPLACE, &err))
        vec_push(pool->arena, &pool->kept, kept);
    else if (err.kind != ERROR_NOT_FOUND) // it has no coverage mapping
        vec_push(pool->arena, &pool->refused, arena_str(pool->arena, str_from_c(err.text)));
    os_unmap_file(&m);
    unlink(path.ptr);
    strbuf_deinit(&out);
    arena_deinit(&scratch);
}

static bool is_raw_name(Str name)
{
    return name.len && name.ptr[0] != '.' && str_ends_with(name, STR(".profraw"));
}

static void list_new(CoverPool *pool)
{
    DIR *dir = opendir(arena_c_str(pool->arena, pool->folder));
    if (!dir)
        return;
    Arena scratch = {0};
    StrVec names = {0};
    for (struct dirent *e; (e = readdir(dir));) {
        Str name = str_from_c(e->d_name);
        if (e->d_type == DT_DIR)
            continue;
        if (is_raw_name(name) || (pool->kept_folder.len && str_ends_with(name, STR(".object"))))
            vec_push(&scratch, &names, arena_str(&scratch, name));
    }
    closedir(dir);
    for (size_t i = 0; i < names.len; i++)
        if (is_raw_name(names.at[i]))
            set_aside(pool, names.at[i].ptr);
        else
            keep_mapping(pool, names.at[i]);
    arena_deinit(&scratch);
}

// Renames ".N-NAME" to "N-NAME.SUFFIX", a name that is not read again.
static void keep_under_name(CoverPool *pool, Str path, const char *suffix)
{
    Str to = arena_printf(pool->arena, "%" STR_FMT "/%" STR_FMT ".%s", STR_ARG(pool->keep_to),
                          STR_ARG(shown_name(path)), suffix);
    (void)rename(path.ptr, to.ptr);
}

// Adds the counts of a complete file, or adds the file to the waiting ones.
static void take_file(CoverPool *pool, Str path, StrVec *waiting)
{
    Error err = {0};
    switch (add_file(pool, path, &err)) {
    case WAITS:
        vec_push(pool->arena, waiting, path);
        break;
    case REFUSED:
        refuse(pool, &err);
        keep_under_name(pool, path, "refused");
        break;
    case ADDED:
        if (pool->keep_raw)
            keep_under_name(pool, path, "kept");
        else if (pool->defers)
            vec_push(pool->arena, &pool->added, path);
        else
            unlink(path.ptr);
    }
}

void cover_pool_delete_added(CoverPool *pool)
{
    for (size_t i = 0; i < pool->added.len; i++)
        unlink(pool->added.at[i].ptr);
    pool->added.len = 0;
}

// Splits ".N-NAME.profraw", the name of a file that was set aside.
static bool is_aside_name(Str name, uint64_t *number)
{
    Str digits, rest;
    return str_starts_with(name, STR(".")) && str_ends_with(name, STR(".profraw")) &&
           str_split(str_slice(name, 1, name.len), '-', &digits, &rest) &&
           str_parse_u64(digits, 10, number);
}

void cover_pool_take_up(CoverPool *pool)
{
    uint64_t number;
    DIR *dir = opendir(arena_c_str(pool->arena, pool->folder));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_aside_name(str_from_c(e->d_name), &number))
            continue;
        pool->aside_count = MAX(pool->aside_count, number + 1);
        vec_push(pool->arena, &pool->taken,
                 arena_printf(pool->arena, "%" STR_FMT "/%s", STR_ARG(pool->folder), e->d_name));
    }
    if (dir)
        closedir(dir);
}

bool cover_pool_retry(CoverPool *pool, bool end)
{
    StrVec waiting = {0};
    pool->may_wait &= !end;
    for (size_t i = 0; i < pool->waiting.len; i++)
        take_file(pool, pool->waiting.at[i], &waiting);
    pool->waiting = waiting;
    return waiting.len != 0;
}

bool cover_pool_drain(CoverPool *pool, bool end)
{
    read_notifications(pool);
    list_new(pool);
    size_t left = 0;
    bool writing = false;
    for (size_t i = 0; i < pool->taken.len; i++) {
        Str path = pool->taken.at[i];
        Writing state = is_being_written(path.ptr);
        if (state == WRITING_YES || (state == WRITING_UNKNOWN && !end)) {
            writing |= state == WRITING_YES;
            pool->taken.at[left++] = path;
            continue;
        }
        take_file(pool, path, &pool->waiting);
    }
    pool->taken.len = left;
    return writing;
}

// ---- A run -------------------------------------------------------------------------

typedef struct Run {
    CoverPool *pool;
    Spawned child;
    sigset_t our_mask, old_mask;
    int signal_fd;
    CoverRunEnd *end;
} Run;

static bool open_signals(Run *r, Error *err)
{
    static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigemptyset(&r->our_mask);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        sigaddset(&r->our_mask, wanted[i]);
    sigprocmask(SIG_BLOCK, &r->our_mask, &r->old_mask);
    r->signal_fd = signalfd(-1, &r->our_mask, SFD_NONBLOCK | SFD_CLOEXEC);
    return r->signal_fd >= 0 || error_os(err, "cannot receive signals");
}

// A terminal sends its signals to the program, too; signals from elsewhere are passed on.
static void read_signals(Run *r)
{
    struct signalfd_siginfo info;
    while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if ((int)info.ssi_signo == SIGCHLD)
            continue;
        r->end->interrupted = true;
        if (info.ssi_code != SI_KERNEL)
            kill(r->child.pid, (int)info.ssi_signo);
    }
}

// Drains the pool, then waits for an event or until the next look at the folder is due.
static void drain_and_wait(Run *r)
{
    enum { BUSY_MS = 20, IDLE_MS = 500 };
    struct pollfd fds[] = {{.fd = r->signal_fd, .events = POLLIN},
                           {.fd = r->pool->notify_fd, .events = POLLIN}};
    bool pending = cover_pool_drain(r->pool, false) || r->pool->taken.len;
    (void)poll(fds, ARRAY_LEN(fds), pending || r->pool->notify_fd < 0 ? BUSY_MS : IDLE_MS);
}

static void drain_the_rest(CoverPool *pool)
{
    // A process that outlives the command may be writing its file, or write it later.
    (void)cover_pool_drain(pool, false);
    if (pool->taken.len)
        usleep(20000);
    for (int tries = 0; cover_pool_drain(pool, true) && tries < 50; tries++)
        usleep(20000);
}

static void close_signals(Run *r)
{
    if (r->signal_fd >= 0)
        close(r->signal_fd);
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

static void wait_for_end(Run *r)
{
    while (!spawn_collect(&r->child, &r->end->child)) {
        drain_and_wait(r);
        read_signals(r);
    }
}

bool cover_pool_run(CoverPool *pool, const Program *program, char *const argv[], CoverRunEnd *ret,
                    Error *err)
{
    *ret = (CoverRunEnd){0};
    Run r = {.pool = pool, .signal_fd = -1, .end = ret};
    if (pool->correlations)
        cover_correlations_offer(pool->correlations, program->path);
    bool ok = open_signals(&r, err) && spawn_prepare(program, argv, &r.old_mask, &r.child, err);
    if (ok) {
        // The parent of this process may have set SIGCHLD to be ignored; then no child could be
        // waited for.
        signal(SIGCHLD, SIG_DFL);
        ok = spawn_release(&r.child, program, err);
    }
    if (ok) {
        wait_for_end(&r);
        drain_the_rest(pool);
        spawn_close(&r.child, false);
    }
    close_signals(&r);
    return ok;
}

static bool stop_is_asked(const Run *r)
{
    struct signalfd_siginfo info;
    bool stop = false;
    while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        stop |= (int)info.ssi_signo != SIGCHLD;
    return stop;
}

bool cover_pool_wait(CoverPool *pool, bool (*is_busy)(void *ctx), void *ctx, int64_t max_ns,
                     Error *err)
{
    Run r = {.pool = pool, .signal_fd = -1};
    int64_t end_ns = os_monotonic_ns() + max_ns;
    bool ok = open_signals(&r, err);
    while (ok && is_busy(ctx) && os_monotonic_ns() < end_ns && !stop_is_asked(&r))
        drain_and_wait(&r);
    if (ok)
        drain_the_rest(pool);
    close_signals(&r);
    return ok;
}

bool cover_pool_watch(CoverPool *pool, void (*drained)(void *ctx), void *ctx, Error *err)
{
    Run r = {.pool = pool, .signal_fd = -1};
    bool ok = open_signals(&r, err);
    while (ok && !stop_is_asked(&r)) {
        drain_and_wait(&r);
        drained(ctx);
    }
    if (ok)
        drain_the_rest(pool);
    close_signals(&r);
    return ok;
}
