// SPDX-License-Identifier: Apache-2.0
// Builds for assay loop.

#include "cli/survey/loop_build.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "os/file.h"
#include "os/spawn.h"

static bool has_file(Arena *arena, Str folder, const char *name)
{
    return os_file_exists(folder.len ? arena_printf(arena, "%" STR_FMT "/%s", STR_ARG(folder), name)
                                     : str_from_c(name));
}

static Str with_folder(Arena *arena, const char *before, Str folder)
{
    StrBuf out = {0};
    strbuf_add(&out, str_from_c(before));
    strbuf_add_shell_word(&out, folder.len ? folder : STR("."));
    Str ret = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

// "target/release/x" and "target/debug/x" are cargo's.
static Str cargo_command(Arena *arena, Str folder)
{
    Str profile = str_base_name(folder), target = str_dir_name(folder);
    if (!str_equal(str_base_name(target), STR("target")) ||
        !has_file(arena, str_dir_name(target), "Cargo.toml"))
        return STR("");
    StrBuf out = {0};
    strbuf_add(&out, STR("cargo build"));
    if (str_equal(profile, STR("release")))
        strbuf_add(&out, STR(" --release"));
    else if (!str_equal(profile, STR("debug")))
        strbuf_printf(&out, " --profile %" STR_FMT, STR_ARG(profile));
    strbuf_add(&out, STR(" --manifest-path "));
    Str root = str_dir_name(target);
    strbuf_add_shell_word(&out, root.len
                                    ? arena_printf(arena, "%" STR_FMT "/Cargo.toml", STR_ARG(root))
                                    : STR("Cargo.toml"));
    Str ret = arena_str(arena, strbuf_str(&out));
    strbuf_deinit(&out);
    return ret;
}

static Str without_dot(Str path)
{
    return str_starts_with(path, STR("./")) ? str_slice(path, 2, path.len) : path;
}

Str loop_build_find(Arena *arena, Str path)
{
    Str folder = str_dir_name(without_dot(path)), cargo = cargo_command(arena, folder);
    if (cargo.len)
        return cargo;
    // From the program's folder upwards, not above the present one.
    for (;; folder = str_dir_name(folder)) {
        if (has_file(arena, folder, "CMakeCache.txt"))
            return with_folder(arena, "cmake --build ", folder);
        if (has_file(arena, folder, "build.ninja"))
            return with_folder(arena, "ninja -C ", folder);
        if (has_file(arena, folder, "Makefile") || has_file(arena, folder, "GNUmakefile"))
            return folder.len ? with_folder(arena, "make -C ", folder) : STR("make");
        if (folder.len == 0 || str_equal(folder, STR("/")))
            return STR("");
    }
}

bool loop_build_run(Arena *arena, Str command, const sigset_t *mask, int *status, Error *err)
{
    char *words[] = {arena_c_str(arena, STR("sh")), arena_c_str(arena, STR("-c")),
                     arena_c_str(arena, command), NULL};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), wait_status;
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        dup2(null, STDIN_FILENO);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv("/bin/sh", words);
        _exit(127);
    }
    if (null >= 0)
        close(null);
    if (pid < 0)
        return error_os(err, "cannot run '%" STR_FMT "'", STR_ARG(command));
    while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    *status = exit_status_of(wait_status);
    return true;
}
