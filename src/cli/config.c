// SPDX-License-Identifier: Apache-2.0
// The user's file of defaults.

#include "cli/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "os/file.h"

enum { CONFIG_MAX_BYTES = 64 << 10 };

static Str config_path(Arena *arena)
{
    Str base = cli_env("XDG_CONFIG_HOME");
    Str home = cli_env("HOME");
    if (getenv("ASSAY_CONFIG"))
        return cli_env("ASSAY_CONFIG");
    if (str_starts_with(base, STR("/")))
        return arena_printf(arena, "%" STR_FMT "/assay/config", STR_ARG(base));
    if (str_starts_with(home, STR("/")))
        return arena_printf(arena, "%" STR_FMT "/.config/assay/config", STR_ARG(home));
    return STR("");
}

// Whoever writes this file chooses, for one, which command --build runs.
static bool read_config(Arena *arena, Str path, Bytes *ret, Error *err)
{
    struct stat st;
    int fd = open(arena_c_str(arena, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    // With root's HOME, as under setpriv, another user may not look.
    bool is_none = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (fd < 0 && is_none && !getenv("ASSAY_CONFIG")) {
        *ret = (Bytes){0};
        return true;
    }
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    if (!ok)
        error_os(err, "cannot read '%" STR_FMT "'", STR_ARG(path));
    else if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0))
        ok = error_set(err, ERROR_PERMISSION,
                       "'%" STR_FMT "' is not a regular file of this user or of root",
                       STR_ARG(path));
    else
        ok = os_read_fd(arena, fd, path, CONFIG_MAX_BYTES, ret, err);
    if (!ok)
        error_hint(err, "with an empty ASSAY_CONFIG in the environment no file is read");
    if (fd >= 0)
        close(fd);
    return ok;
}

// "[record]": whether the line is a section, and which.
static bool is_section(Str line, Str *name)
{
    bool is_one = line.len > 2 && line.ptr[0] == '[' && line.ptr[line.len - 1] == ']';
    if (is_one)
        *name = str_trim(str_slice(line, 1, line.len - 1));
    return is_one;
}

static ConfigOption option_of(Str line, unsigned number)
{
    ConfigOption o = {.name = line, .line = number};
    o.has_value = str_split(line, '=', &o.name, &o.value);
    o.name = str_trim(o.name);
    o.value = str_trim(o.value);
    return o;
}

bool config_options(Arena *arena, Str command, ConfigOptions *ret, Error *err)
{
    *ret = (ConfigOptions){.path = config_path(arena)};
    Bytes bytes = {0};
    Str section = {0}, line;
    unsigned number = 0;
    if (ret->path.len && !read_config(arena, ret->path, &bytes, err))
        return false;
    for (Str rest = str_from_bytes(bytes); str_next_line(&rest, &line);) {
        Str text = str_trim(line);
        number++;
        if (text.len == 0 || text.ptr[0] == '#' || is_section(text, &section))
            continue;
        ConfigOption o = option_of(text, number);
        if (section.len == 0 || o.name.len == 0 || o.name.ptr[0] == '-' || o.name.ptr[0] == '[') {
            error_set(err, ERROR_USAGE, "line %u of '%" STR_FMT "' is not an option: %" STR_FMT,
                      number, STR_ARG(ret->path), STR_ARG(text));
            return error_hint(err,
                              "write '[COMMAND]' and below it 'OPTION = VALUE', without dashes");
        }
        if (str_equal(section, command))
            vec_push(arena, &ret->options, o);
    }
    return true;
}
