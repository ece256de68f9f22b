// SPDX-License-Identifier: Apache-2.0
// The same standard input for each run of a command.

#include "cli/survey/survey_input.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "os/file.h"
#include "os/unnamed_file.h"

#define NO_INPUT STR("/dev/null")

// The name by which a descriptor of this process can be opened anew, from its start.
static Str path_of(Arena *arena, int fd)
{
    return arena_printf(arena, "/proc/%d/fd/%d", (int)getpid(), fd);
}

// Says why nothing goes on when nothing comes.
static void say_when_waiting(void)
{
    enum { QUIET_MS = 2000 };
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&in, 1, QUIET_MS) == 0) {
        cli_say("reads standard input to its end first, because each run gets the same");
        cli_say_hint(STR("--input null, if the command reads none"));
    }
}

static bool copy_all(int to, uint64_t *size, Error *err)
{
    char bytes[1 << 16];
    ssize_t got;
    while ((got = read(STDIN_FILENO, bytes, sizeof(bytes))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_os(err, "cannot read standard input");
        for (ssize_t done = 0, n; done < got; done += n)
            if ((n = write(to, bytes + done, (size_t)(got - done))) < 0)
                return error_os(err, "cannot keep standard input");
        *size += (uint64_t)got;
    }
    return true;
}

// The descriptor stays open until the process ends: runs open it by its path.
static bool keep(Arena *arena, Str *ret, Error *err)
{
    uint64_t size = 0;
    int fd = os_open_unnamed(STR("/tmp"), err);
    if (fd < 0)
        return false;
    say_when_waiting();
    if (!copy_all(fd, &size, err)) {
        close(fd);
        return false;
    }
    *ret = path_of(arena, fd);
    cli_say("each run gets the %llu bytes of standard input", (unsigned long long)size);
    return true;
}

bool survey_input_find(Arena *arena, Str given, Str *ret, Error *err)
{
    struct stat st;
    if (str_equal(given, STR("null"))) {
        *ret = NO_INPUT;
        return true;
    }
    if (given.len) {
        FileIdentity file;
        *ret = given;
        return os_file_identity(given, &file, err);
    }
    if (fstat(STDIN_FILENO, &st) != 0 || isatty(STDIN_FILENO) == 1) {
        *ret = NO_INPUT;
        return true;
    }
    if (S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
        *ret = path_of(arena, STDIN_FILENO);
        return true;
    }
    struct stat null;
    if (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && null.st_rdev == st.st_rdev) {
        *ret = NO_INPUT;
        return true;
    }
    return keep(arena, ret, err);
}
