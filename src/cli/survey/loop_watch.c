// SPDX-License-Identifier: Apache-2.0
// Waits for changes by inotify.

#include "cli/survey/loop_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "os/folder_tree.h"

enum {
    FOLDERS_MAX = 4096,
    DEPTH_MAX = 32,
    QUIET_MS = 250, // changes closer together are one
    CHANGES = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ATTRIB,
};

bool loop_is_source(Str name)
{
    static const char *const ends[] = {
        ".c",   ".h",   ".cc",  ".cpp",   ".cxx", ".c++",  ".hh",  ".hpp", ".hxx",  ".inc",
        ".inl", ".ipp", ".tcc", ".rs",    ".S",   ".s",    ".asm", ".f",   ".f90",  ".go",
        ".zig", ".d",   ".nim", ".swift", ".py",  ".toml", ".y",   ".l",   ".proto"};
    static const char *const names[] = {"Makefile",       "GNUmakefile", "makefile",
                                        "CMakeLists.txt", "meson.build", "BUILD.bazel",
                                        "build.ninja"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_equal(name, str_from_c(names[i])))
            return true;
    // An editor's files of its own begin with a dot, or with .#.
    for (size_t i = 0; i < ARRAY_LEN(ends) && name.len && name.ptr[0] != '.'; i++)
        if (str_ends_with(name, str_from_c(ends[i])))
            return true;
    return false;
}

// ---- Folders -----------------------------------------------------------------------------------

static bool is_left_out(Str name)
{
    static const char *const results[] = {"target", "node_modules", "__pycache__", "CMakeFiles"};
    for (size_t i = 0; i < ARRAY_LEN(results); i++)
        if (str_equal(name, str_from_c(results[i])))
            return true;
    return name.len == 0 || name.ptr[0] == '.';
}

static bool watch_folder(LoopWatch *w, Str path, Error *err)
{
    if (w->folders.len >= FOLDERS_MAX) {
        w->folders_left_out++;
        return true;
    }
    int number = inotify_add_watch(w->events_fd, arena_c_str(w->arena, path), CHANGES | IN_ONLYDIR);
    if (number < 0)
        return error_os(err, "cannot watch '%" STR_FMT "'", STR_ARG(path));
    for (size_t i = 0; i < w->folders.len; i++)
        if (w->folders.at[i].number == number)
            return true;
    vec_push(w->arena, &w->folders, (LoopFolder){number, arena_str(w->arena, path)});
    return true;
}

// Folders that cannot be read or watched are passed over: their sources are no project's.
static void watch_below(LoopWatch *w, Str path, unsigned depth)
{
    if (!watch_folder(w, path, NULL) || depth == 0)
        return;
    DIR *dir = os_open_folder(AT_FDCWD, arena_c_str(w->arena, path));
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        Str name = str_from_c(e->d_name);
        if (!is_left_out(name) && fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode))
            watch_below(
                w, arena_printf(w->arena, "%" STR_FMT "/%" STR_FMT, STR_ARG(path), STR_ARG(name)),
                depth - 1);
    }
    if (dir)
        closedir(dir);
}

static Str folder_of(Str path)
{
    Str folder = str_dir_name(path);
    return folder.len ? folder : STR(".");
}

// ---- Opening -----------------------------------------------------------------------------------

static bool watch_all(LoopWatch *w, Str source_folder, Error *err)
{
    for (size_t i = 0; i < w->programs.len; i++)
        if (!watch_folder(w, folder_of(w->programs.at[i]), err))
            return false;
    if (source_folder.len)
        watch_below(w, source_folder, DEPTH_MAX);
    return true;
}

bool loop_watch_open(Arena *arena, const StrVec *programs, Str source_folder, LoopWatch *ret,
                     Error *err)
{
    LoopWatch w = {.arena = arena,
                   .programs = *programs,
                   .with_sources = source_folder.len > 0,
                   .events_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (w.events_fd < 0)
        return error_os(err, "cannot watch files");
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &w.old_mask);
    w.signals_fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    bool ok = w.signals_fd >= 0 || error_os(err, "cannot wait for signals");
    ok = ok && watch_all(&w, source_folder, err);
    if (!ok) {
        loop_watch_close(&w);
        return false;
    }
    *ret = w;
    return true;
}

void loop_watch_close(LoopWatch *w)
{
    struct signalfd_siginfo taken;
    close(w->events_fd);
    // A signal that ended the loop must not end the process when it is let through again.
    while (w->signals_fd >= 0 && read(w->signals_fd, &taken, sizeof(taken)) > 0)
        continue;
    if (w->signals_fd >= 0)
        close(w->signals_fd);
    sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
}

// ---- Events ------------------------------------------------------------------------------------

static Str path_of(const LoopWatch *w, int number, Str name)
{
    for (size_t i = 0; i < w->folders.len; i++)
        if (w->folders.at[i].number == number) {
            Str folder = w->folders.at[i].path;
            return str_equal(folder, STR(".")) ? arena_str(w->arena, name)
                                               : arena_printf(w->arena, "%" STR_FMT "/%" STR_FMT,
                                                              STR_ARG(folder), STR_ARG(name));
        }
    return STR("");
}

static Str without_dot(Str path)
{
    return str_starts_with(path, STR("./")) ? str_slice(path, 2, path.len) : path;
}

static bool is_program(const LoopWatch *w, Str path)
{
    for (size_t i = 0; i < w->programs.len; i++)
        if (str_equal(without_dot(path), without_dot(w->programs.at[i])))
            return true;
    return false;
}

// What one event of inotify means; LOOP_END: nothing.
static LoopEvent meaning_of(LoopWatch *w, const struct inotify_event *e, Str *changed)
{
    Str name = str_from_c(e->len ? e->name : "");
    Str path = path_of(w, e->wd, name);
    if (name.len == 0 || path.len == 0)
        return LOOP_END;
    if (e->mask & IN_ISDIR) { // a new folder of sources
        if (w->with_sources && !is_left_out(name) && e->mask & (IN_CREATE | IN_MOVED_TO))
            watch_below(w, path, DEPTH_MAX);
        return LOOP_END;
    }
    bool is_of_program = is_program(w, path);
    // A file is created empty and changes its rights before its content is there.
    bool is_written = e->mask & (IN_CLOSE_WRITE | IN_MOVED_TO);
    if (is_of_program) {
        *changed = path;
        return LOOP_PROGRAM;
    }
    if (!w->with_sources || !is_written || !loop_is_source(name))
        return LOOP_END;
    *changed = path;
    return LOOP_SOURCE;
}

// Reads what there is. Sources come before the program: a build will write that.
static LoopEvent read_events(LoopWatch *w, LoopEvent before, Str *changed)
{
    char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t got;
    LoopEvent ret = before;
    while ((got = read(w->events_fd, buf, sizeof(buf))) > 0)
        for (char *at = buf; at < buf + got;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
            LoopEvent one = meaning_of(w, e, changed);
            if (one == LOOP_SOURCE || (one == LOOP_PROGRAM && ret != LOOP_SOURCE))
                ret = one;
            at += sizeof(*e) + e->len;
        }
    return ret;
}

void loop_watch_drain(LoopWatch *w)
{
    Str unused;
    (void)read_events(w, LOOP_END, &unused);
}

// Keys without a line feed, as long as it waits: a build or a program that is interrupted finds the
// terminal as it was.
static bool keys_begin(struct termios *old)
{
    if (isatty(STDIN_FILENO) != 1 || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        tcgetattr(STDIN_FILENO, old) != 0)
        return false;
    struct termios raw = *old;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

// A key's meaning; LOOP_SOURCE stands for none.
static LoopEvent read_key(bool *has_keys)
{
    char key;
    ssize_t got = read(STDIN_FILENO, &key, 1);
    if (got <= 0) {
        *has_keys = false;
        return LOOP_SOURCE;
    }
    if (key == 'q' || key == 'Q' || key == 3 || key == 4)
        return LOOP_END;
    return key == 'r' || key == ' ' || key == '\n' || key == '\r' ? LOOP_AGAIN : LOOP_SOURCE;
}

static LoopEvent wait_with_keys(LoopWatch *w, bool has_keys, Str *changed)
{
    LoopEvent seen = LOOP_END; // no change yet
    for (;;) {
        struct pollfd fds[] = {{.fd = w->signals_fd, .events = POLLIN},
                               {.fd = w->events_fd, .events = POLLIN},
                               {.fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
        int ready = poll(fds, ARRAY_LEN(fds), seen == LOOP_END ? -1 : QUIET_MS);
        if (ready < 0 && errno != EINTR)
            return LOOP_END;
        if (ready == 0)
            return seen;
        if (fds[0].revents)
            return LOOP_END;
        if (fds[1].revents)
            seen = read_events(w, seen, changed);
        if (fds[2].revents) {
            LoopEvent key = read_key(&has_keys);
            if (key != LOOP_SOURCE)
                return key;
        }
    }
}

LoopEvent loop_watch_wait(LoopWatch *w, Str *changed)
{
    struct termios old;
    bool has_keys = keys_begin(&old);
    LoopEvent ret = wait_with_keys(w, has_keys, changed);
    if (has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &old);
    return ret;
}
