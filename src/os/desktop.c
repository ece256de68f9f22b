// SPDX-License-Identifier: Apache-2.0
// Opening a file by the desktop's own program (xdg-utils).

#include "os/desktop.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "base/arena.h"

bool os_desktop_open(Str path, char *const environment[], Error *err)
{
    Arena arena = {0};
    // A path that begins with '-' would be an option.
    bool is_plain = path.len && path.ptr[0] != '/' && path.ptr[0] != '.';
    char *operand = is_plain
                        ? arena_c_str(&arena, arena_printf(&arena, "./%" STR_FMT, STR_ARG(path)))
                        : arena_c_str(&arena, path);
    char program[] = "xdg-open";
    char *argv[] = {program, operand, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    int status = posix_spawnp(&pid, program, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    arena_deinit(&arena);
    if (status == ENOENT)
        return error_set(err, ERROR_NOT_FOUND, "no program 'xdg-open' here");
    errno = status;
    return status == 0 || error_os(err, "cannot run 'xdg-open'");
}
