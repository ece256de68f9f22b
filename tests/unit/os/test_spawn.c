// SPDX-License-Identifier: Apache-2.0
// Finding and starting the observed program.

#include "os/spawn.h"

#include "os/file.h"

#include "harness.h"

#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Arena arena;
static Error err;

static int clean_up(void **state)
{
    (void)state;
    arena_deinit(&arena);
    return 0;
}

static ChildEnd run(const Program *p, char *const argv[])
{
    Spawned s;
    ChildEnd end = {0};
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_ok(spawn_prepare(p, argv, &mask, &s, &err), &err);
    assert_ok(spawn_release(&s, p, &err), &err);
    while (!spawn_collect(&s, &end))
        usleep(1000);
    spawn_close(&s, false);
    return end;
}

static void a_command_is_found_in_the_search_path(void **state)
{
    (void)state;
    Program p;
    assert_ok(program_find(&arena, STR("sh"), STR("/nonexistent:/bin:/usr/bin"), &p, &err), &err);
    assert_str(p.path, "/bin/sh");
    assert_false(p.is_script);
    assert_error(program_find(&arena, STR("no-such-command"), STR("/bin"), &p, &err), &err,
                 ERROR_NOT_FOUND, "command not found");
    assert_error(program_find(&arena, STR("/bin"), STR(""), &p, &err), &err, ERROR_OS, "directory");
    assert_false(program_find(&arena, STR(""), STR("/bin"), &p, &err));
}

static void the_status_of_the_child_is_its_own(void **state)
{
    (void)state;
    Program p;
    assert_ok(program_find(&arena, STR("/bin/sh"), STR(""), &p, &err), &err);
    char sh[] = "sh", c[] = "-c", seven[] = "exit 7", killed[] = "kill -TERM $$";
    char *argv[] = {sh, c, seven, NULL};
    assert_int_equal(exit_status_of(run(&p, argv).status), 7);
    argv[2] = killed;
    assert_int_equal(exit_status_of(run(&p, argv).status), 128 + SIGTERM);
}

static void a_child_that_is_not_released_never_runs(void **state)
{
    (void)state;
    Program p;
    Spawned s;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_ok(program_find(&arena, STR("/bin/true"), STR(""), &p, &err), &err);
    char name[] = "true";
    char *argv[] = {name, NULL};
    assert_ok(spawn_prepare(&p, argv, &mask, &s, &err), &err);
    pid_t pid = s.pid;
    spawn_close(&s, true);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); // collected already
}

static void an_exec_that_fails_is_told(void **state)
{
    (void)state;
    Program p = {.path = STR("/nonexistent/program")};
    Spawned s;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    char name[] = "program";
    char *argv[] = {name, NULL};
    assert_ok(spawn_prepare(&p, argv, &mask, &s, &err), &err);
    assert_error(spawn_release(&s, &p, &err), &err, ERROR_NOT_FOUND, "/nonexistent/program");
}

static void let_go_on(void *ctx)
{
    unsigned *stops = ctx;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
        if (!WIFSTOPPED(status)) // it has run to its end already
            continue;
        ++*stops;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
    }
}

// A Ctrl-C while the recorder makes ready waits until the child takes its mask back.
static void a_signal_before_the_exec_does_not_hold_a_traced_child(void **state)
{
    (void)state;
    Program p;
    Spawned s;
    sigset_t mask, blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGWINCH);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    assert_ok(program_find(&arena, STR("/bin/true"), STR(""), &p, &err), &err);
    char name[] = "true";
    char *argv[] = {name, NULL};
    assert_ok(spawn_prepare(&p, argv, &mask, &s, &err), &err);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (ptrace(PTRACE_SEIZE, s.pid, NULL, NULL) != 0) {
        spawn_close(&s, true);
        skip();
    }
    kill(s.pid, SIGWINCH);
    unsigned stops = 0;
    assert_ok(spawn_release_traced(&s, &p, let_go_on, &stops, &err), &err);
    assert_int_equal(stops, 1);
    spawn_close(&s, true);
}

static void scripts_and_data_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool runs, script;
    } cases[] = {
        {"#! /bin/sh -e\nexit 3\n", true, true}, {"exit 3\n", false, false}, {"", false, false}};
    char path[] = "/tmp/assay-spawn-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_ok(os_write_file(str_from_c(path), bytes_from_str(str_from_c(cases[i].text)),
                                OUTPUT_REPLACE, &err),
                  &err);
        chmod(path, 0755);
        Program p = {0};
        assert_int_equal(program_find(&arena, str_from_c(path), STR(""), &p, &err), cases[i].runs);
        assert_int_equal(p.is_script, cases[i].script);
        if (cases[i].script) {
            assert_str(p.interpreter, "/bin/sh");
            char *argv[] = {path, NULL};
            assert_int_equal(exit_status_of(run(&p, argv).status), 3);
        }
    }
    unlink(path);
}

int main(void)
{
#define SPAWN_TEST(f) cmocka_unit_test_teardown(f, clean_up)
    const struct CMUnitTest tests[] = {
        SPAWN_TEST(a_command_is_found_in_the_search_path),
        SPAWN_TEST(the_status_of_the_child_is_its_own),
        SPAWN_TEST(a_child_that_is_not_released_never_runs),
        SPAWN_TEST(an_exec_that_fails_is_told),
        SPAWN_TEST(a_signal_before_the_exec_does_not_hold_a_traced_child),
        SPAWN_TEST(scripts_and_data_are_told_apart),
    };
    return RUN_TESTS(tests);
}
