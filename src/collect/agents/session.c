// SPDX-License-Identifier: Apache-2.0
// The folder of a session, its guard, and the environment that leads programs there.

#include "collect/agents/session.h"

#include "collect/agents/image.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/proc.h"
#include "wire/entries.h"
#include "wire/timer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_PREFIX "assay-agent-"

enum { NAME_LETTERS = 16, GUARD_LOOK_MS = 200, GUARD_CALM_LOOKS = 5 };

// ---- Processes of the session -----------------------------------------------------------

uint32_t agent_ring_pid(const char *name)
{
    uint64_t pid, number;
    Str before, behind;
    if (!str_split(str_from_c(name), '-', &before, &behind) || !str_parse_u64(before, 10, &pid) ||
        !str_parse_u64(behind, 10, &number) || pid > INT32_MAX)
        return 0;
    return (uint32_t)pid;
}

bool agent_process_runs(uint32_t pid)
{
    char path[64], buf[512];
    Str text;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    if (!os_read_small(path, buf, sizeof(buf), &text))
        return proc_exists(pid);
    const char *state = strrchr(buf, ')');
    return state && state[1] && state[2] != 'Z' && state[2] != 'X';
}

static bool any_runs(const char *folder)
{
    DIR *d = opendir(folder);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        uint32_t pid = agent_ring_pid(e->d_name);
        found = pid && agent_process_runs(pid);
    }
    if (d)
        closedir(d);
    return found;
}

// ---- The folder -------------------------------------------------------------------------

// Removes the folder with its files. False: it is still there.
static bool remove_folder(int folder_fd, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)unlinkat(folder_fd, e->d_name, 0);
    if (d)
        closedir(d);
    return rmdir(folder) == 0;
}

// Removes folders of ours whose collector and guard were killed before they could: nobody holds
// their lock, and no program runs in them. One that has just been made is not locked yet.
static void remove_abandoned(Str above)
{
    enum { YOUNG_S = 60 };
    char path[256];
    snprintf(path, sizeof(path), "%" STR_FMT, STR_ARG(above));
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (!str_starts_with(str_from_c(e->d_name), STR(FOLDER_PREFIX)) ||
            snprintf(path, sizeof(path), "%" STR_FMT "/%s", STR_ARG(above), e->d_name) >=
                (int)sizeof(path))
            continue;
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
            st.st_mtim.tv_sec + YOUNG_S < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            !any_runs(path))
            (void)remove_folder(fd, path);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}

static bool make_name(char *to)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t random[NAME_LETTERS];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return false;
    for (size_t i = 0; i < NAME_LETTERS; i++)
        to[i] = letters[random[i] & 31];
    to[NAME_LETTERS] = 0;
    return true;
}

static bool write_all(int fd, Bytes b)
{
    while (b.len > 0) {
        ssize_t n = write(fd, b.ptr, b.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        b = bytes_over(b.ptr + n, b.len - (size_t)n);
    }
    return true;
}

// Whether programs can load a library from this file system: it may be mounted noexec.
static bool may_execute(int fd)
{
    void *at = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED)
        return false;
    munmap(at, WIRE_PAGE);
    return true;
}

static bool put_library(int folder_fd, Bytes image)
{
    int fd = openat(folder_fd, WIRE_LIBRARY_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0500);
    bool ok = fd >= 0 && write_all(fd, image) && may_execute(fd);
    if (fd >= 0)
        close(fd);
    return ok;
}

// Reads the clock and the timer at one time: of several readings it keeps the quickest.
static int64_t read_both(uint64_t *ret_units)
{
    enum { READINGS = 8 };
    uint64_t least = UINT64_MAX;
    int64_t ret_ns = 0;
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t before = timer_read();
        int64_t now_ns = os_monotonic_ns();
        uint64_t took = timer_read() - before;
        if (took >= least)
            continue;
        least = took;
        ret_ns = now_ns;
        *ret_units = before + took / 2;
    }
    return ret_ns;
}

// The length of the timer's unit, and the cost of one reading.
static void measure_timer(WireSession *s)
{
    enum { SPAN_NS = 400000, READINGS = 100 };
    uint64_t least = UINT64_MAX, begin = 0, end = 0;
    int64_t begin_ns = read_both(&begin), now_ns = begin_ns;
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t one = timer_read();
        least = MIN(least, timer_read() - one);
    }
    while (now_ns - begin_ns < SPAN_NS)
        now_ns = os_monotonic_ns();
    now_ns = read_both(&end);
    s->timer_floor = (uint32_t)least;
    s->timer_ns = (double)(now_ns - begin_ns) / (double)MAX(end - begin, (uint64_t)1);
}

static bool put_entries(int folder_fd, Bytes entries)
{
    if (entries.len == 0)
        return true;
    int fd = openat(folder_fd, WIRE_ENTRIES_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    bool ok = fd >= 0 && write_all(fd, entries);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool put_session(AgentSession *s, const AgentSessionOptions *o)
{
    int fd = openat(s->folder_fd, WIRE_SESSION_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    void *at = MAP_FAILED;
    if (posix_fallocate(fd, 0, WIRE_PAGE) == 0)
        at = mmap(NULL, WIRE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    s->page = at;
    s->page->version = WIRE_VERSION;
    s->page->period_ns = o->period_ns;
    s->page->ring_bytes = s->ring_bytes = o->ring_bytes;
    s->page->notes_heap = o->notes_heap;
    s->page->notes_mappings = o->notes_mappings;
    s->page->clock_kind = o->clock_kind;
    s->page->short_lived = o->short_lived;
    s->page->sample_bytes = o->sample_bytes;
    if (o->notes_heap)
        measure_timer(s->page);
    atomic_store(&s->page->state, WIRE_WAITING);
    s->page->magic = WIRE_SESSION_MAGIC;
    return true;
}

static void close_folder(AgentSession *s)
{
    if (s->page)
        munmap(s->page, WIRE_PAGE);
    s->page = NULL;
    if (s->folder_fd >= 0)
        close(s->folder_fd);
    s->folder_fd = -1;
}

static bool try_folder(Str above, const AgentSessionOptions *o, AgentSession *s)
{
    char name[NAME_LETTERS + 1];
    if (above.len == 0 || !make_name(name))
        return false;
    remove_abandoned(above);
    int n = snprintf(s->folder, sizeof(s->folder), "%" STR_FMT "/" FOLDER_PREFIX "%s",
                     STR_ARG(above), name);
    // ld.so separates the entries of LD_PRELOAD by colons and spaces, and expands "$…".
    if (n >= (int)sizeof(s->folder) - 64 || strpbrk(s->folder, ": $") || s->folder[0] != '/' ||
        mkdir(s->folder, 0700) != 0)
        return false;
    Bytes image = o->notes_copies ? copy_agent_image()
                  : o->notes_heap ? heap_agent_image()
                                  : agent_image();
    s->folder_fd = open(s->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    // Held until this process and the guard have ended.
    if (s->folder_fd >= 0)
        (void)flock(s->folder_fd, LOCK_EX | LOCK_NB);
    if (s->folder_fd >= 0 && put_library(s->folder_fd, image) &&
        put_entries(s->folder_fd, o->entries) && put_session(s, o))
        return true;
    int saved = errno;
    if (s->folder_fd >= 0)
        (void)remove_folder(s->folder_fd, s->folder);
    close_folder(s);
    errno = saved;
    return false;
}

static bool make_folder(const AgentSessionOptions *o, AgentSession *s, Error *err)
{
    // Memory first: writes to a disk's file may wait.
    const Str folders[] = {STR("/dev/shm"), o->temp_folder, STR("/tmp"), STR("/var/tmp")};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        if (try_folder(folders[i], o, s))
            return true;
    (void)error_os(err, "cannot make a folder for the library that programs preload");
    return error_hint(err, "set TMPDIR to a folder of yours on a file system that is not mounted "
                           "noexec");
}

// ---- The guard --------------------------------------------------------------------------

static void sleep_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

// Closes all descriptors from 3 on but two.
static void close_others(int a, int b)
{
    int low = MIN(a, b), high = MAX(a, b);
    if ((low <= 3 || close_range(3, (unsigned)low - 1, 0) == 0) &&
        (low + 1 >= high || close_range((unsigned)low + 1, (unsigned)high - 1, 0) == 0) &&
        close_range((unsigned)high + 1, UINT_MAX, 0) == 0)
        return;
    for (int i = 3; i < 1024; i++)
        if (i != a && i != b)
            close(i);
}

// In the guard: the end of `fd` is that of the collector. A byte says that there is nothing to do.
static void guard(AgentSession *s, const AgentSessionOptions *o, int fd)
{
    char byte;
    ssize_t n;
    setsid();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)!chdir("/");
    // Whoever waits for the end of our output must not wait for the guard.
    close_others(fd, s->folder_fd);
    do
        n = read(fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        return;
    atomic_store(&s->page->state, WIRE_OVER);
    uint32_t left = o->orphaned ? o->orphaned(o->orphaned_ctx) : 0;
    if (left)
        agent_session_leave(s, left);
    // A program between its fork and its exec has no ring; so a few looks must find nothing.
    for (int calm = 0; calm < GUARD_CALM_LOOKS;) {
        calm = any_runs(s->folder) ? 0 : calm + 1;
        sleep_ms(GUARD_LOOK_MS);
    }
    (void)remove_folder(s->folder_fd, s->folder);
}

static bool start_guard(AgentSession *s, const AgentSessionOptions *o, Error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_os(err, "cannot make a pipe");
    s->guard = fork();
    if (s->guard == 0) {
        close(ends[1]);
        guard(s, o, ends[0]);
        _exit(0);
    }
    close(ends[0]);
    s->guard_fd = ends[1];
    if (s->guard > 0)
        return true;
    close(s->guard_fd);
    return error_os(err, "cannot start a process");
}

// ---- The environment --------------------------------------------------------------------

// The value of the variable whose name with its "=" is `name`, taken out of the list; "" when it is
// not set.
static Str take_variable(char **list, size_t *count, Str name)
{
    Str value = {0};
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        Str variable = str_from_c(list[i]);
        if (str_starts_with(variable, name))
            value = str_slice(variable, name.len, variable.len);
        else
            list[kept++] = list[i];
    }
    *count = kept;
    return value;
}

// Libraries that the user preloads stay behind ours. gcc's address sanitizer ends a program in
// which any library lies before it, unless it is told not to look.
static char *const *with_library(Arena *arena, const AgentSession *s, char *const *from)
{
    size_t count = 0;
    while (from[count])
        count++;
    char **to = arena_array(arena, char *, count + 3);
    memcpy(to, from, count * sizeof(*to));
    Str preload = take_variable(to, &count, STR("LD_PRELOAD="));
    Str asan = take_variable(to, &count, STR("ASAN_OPTIONS="));
    to[count++] =
        arena_c_str(arena, arena_printf(arena, "LD_PRELOAD=%s/" WIRE_LIBRARY_FILE "%s%" STR_FMT,
                                        s->folder, preload.len ? ":" : "", STR_ARG(preload)));
    to[count++] = arena_c_str(
        arena, arena_printf(arena, "ASAN_OPTIONS=%" STR_FMT "%sverify_asan_link_order=0",
                            STR_ARG(asan), asan.len ? ":" : ""));
    to[count] = NULL;
    return to;
}

bool agent_session_open(Arena *arena, const AgentSessionOptions *options, AgentSession *ret,
                        Error *err)
{
    AgentSession s = {.folder_fd = -1, .guard_fd = -1};
    if (!make_folder(options, &s, err))
        return false;
    if (!start_guard(&s, options, err)) {
        (void)remove_folder(s.folder_fd, s.folder);
        close_folder(&s);
        return false;
    }
    s.environment = with_library(arena, &s, options->environment);
    *ret = s;
    return true;
}

void agent_session_set(AgentSession *s, WireState state)
{
    atomic_store(&s->page->state, state);
}

void agent_session_give(const AgentSession *s, uint32_t uid)
{
    static const char *const files[] = {WIRE_SESSION_FILE, WIRE_ENTRIES_FILE};
    if (uid == geteuid())
        return;
    // Without the right to do so, the agent says that it cannot use the folder.
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        (void)!fchownat(s->folder_fd, files[i], uid, (gid_t)-1, AT_SYMLINK_NOFOLLOW);
    (void)!fchown(s->folder_fd, uid, (gid_t)-1);
}

void agent_session_leave(AgentSession *s, uint32_t pid)
{
    DIR *d = opendir(s->folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (agent_ring_pid(e->d_name) == pid || (pid == AGENT_ALL && agent_ring_pid(e->d_name)))
            (void)unlinkat(s->folder_fd, e->d_name, 0);
    if (d)
        closedir(d);
}

void agent_session_close(AgentSession *s)
{
    if (!s->page)
        return;
    agent_session_set(s, WIRE_OVER);
    // Files that this process cannot remove are left to the guard.
    bool keep = any_runs(s->folder) || !remove_folder(s->folder_fd, s->folder);
    if (!keep)
        (void)!write(s->guard_fd, "", 1);
    close(s->guard_fd);
    while (!keep && waitpid(s->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    close_folder(s);
}
