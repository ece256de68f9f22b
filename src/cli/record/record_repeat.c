// SPDX-License-Identifier: Apache-2.0
// Several recordings, in turns.

#include "cli/record/record_repeat.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shell_words.h"
#include "cli/cli.h"

enum { OLD, NEW, SIDES };

typedef struct Repeat {
    Arena *arena;
    const RecordRepeat *r;
    Str name;
    char **words[SIDES]; // NULL: the side is not recorded
} Repeat;

static bool find_commands(Repeat *p, Error *err)
{
    StrVec words = {0};
    p->words[NEW] = p->r->words;
    if (p->r->against.len == 0)
        return true;
    if (!shell_split_words(p->arena, p->r->against, &words, err))
        return false;
    if (words.len == 0)
        return error_set(err, ERROR_USAGE, "--against names no command");
    p->words[OLD] = arena_array(p->arena, char *, words.len + 1);
    for (size_t i = 0; i < words.len; i++)
        p->words[OLD][i] = arena_c_str(p->arena, words.at[i]);
    return true;
}

static Str output_of(const Repeat *p, int side, uint64_t number)
{
    const char *which = p->words[OLD] == NULL ? "" : side == OLD ? ".old" : ".new";
    return arena_printf(p->arena, "%" STR_FMT "%s.%" PRIu64 ".assay", STR_ARG(p->name), which,
                        number);
}

// Whether nothing more is to be recorded after this status.
static bool ends_all(const Repeat *p, Str output, int status)
{
    return status == 128 + SIGINT || status == 128 + SIGTERM ||
           access(arena_c_str(p->arena, output), R_OK) != 0;
}

// Records in a process of its own, because a recorder gives up rights that the next one needs.
// Ctrl-C is for the recorded command and its recorder.
static int record_apart(const RecordRepeat *r, char **words, Str output)
{
    int status;
    sighandler_t interrupt = signal(SIGINT, SIG_IGN), quit = signal(SIGQUIT, SIG_IGN);
    pid_t child = fork();
    if (child <= 0) {
        signal(SIGINT, interrupt);
        signal(SIGQUIT, quit);
    }
    if (child < 0) {
        Error err;
        error_os(&err, "cannot start a process");
        return cli_fail(&err);
    }
    if (child == 0)
        exit(r->once(r->ctx, words, output));
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void say_next(const Repeat *p)
{
    Str first = output_of(p, NEW, 1);
    if (p->words[OLD])
        cli_say("%" PRIu64 " recordings of each; next: assay diff -a %" STR_FMT
                ".old.*.assay -b %" STR_FMT ".new.*.assay",
                p->r->count, STR_ARG(p->name), STR_ARG(p->name));
    else
        cli_say("%" PRIu64 " recordings, %" STR_FMT " …; they are a side of assay diff: -a or -b "
                "%" STR_FMT ".*.assay",
                p->r->count, STR_ARG(first), STR_ARG(p->name));
}

int record_repeatedly(Arena *arena, const RecordRepeat *r)
{
    Repeat p = {.arena = arena, .r = r, .name = r->output};
    Error err;
    int first_bad = STATUS_OK;
    if (str_ends_with(p.name, STR(".assay")))
        p.name = str_slice(p.name, 0, p.name.len - strlen(".assay"));
    if (!find_commands(&p, &err))
        return cli_fail(&err);
    for (uint64_t i = 1; i <= r->count; i++)
        for (int turn = 0; turn < SIDES; turn++) {
            int side = i % 2 ? turn : SIDES - 1 - turn;
            if (!p.words[side])
                continue;
            Str output = output_of(&p, side, i);
            int status = record_apart(r, p.words[side], output);
            if (first_bad == STATUS_OK)
                first_bad = status;
            if (ends_all(&p, output, status))
                return first_bad;
        }
    if (!r->quiet)
        say_next(&p);
    return first_bad;
}
