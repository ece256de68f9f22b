// SPDX-License-Identifier: Apache-2.0
// The spawning process: what one run took, and what goes wrong.

#include "harness.h"

#include "collect/bench/spawn_server.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static SpawnServer server;
static Error err;

static int start(void **state)
{
    (void)state;
    return spawn_server_open(environ, true, &server, &err) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    spawn_server_close(&server);
    return 0;
}

static SpawnResult run_sh(const char *script)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    const char *env[] = {"SPAWN_TEST=yes", NULL};
    SpawnRequest request = {.path = "/bin/sh", .argv = argv, .env = env};
    SpawnResult r = {0};
    assert_ok(spawn_server_run(&server, &request, &r, &err), &err);
    return r;
}

static void status_and_environment_are_the_childs(void **state)
{
    (void)state;
    SpawnResult r = run_sh("test \"$SPAWN_TEST\" = yes && exit 7");
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 7);
    r = run_sh("kill -9 $$");
    assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == 9);
    // stdin is empty, stdout is not ours.
    r = run_sh("cat; echo swallowed");
    assert_int_equal(r.status, 0);
}

static void time_is_the_childs_and_never_longer_by_the_kernel(void **state)
{
    (void)state;
    SpawnResult r = run_sh("sleep 0.05");
    assert_true(r.wall_ns >= 50000000 && r.wall_ns <= r.waited_ns);
    assert_true(r.run_delay_ns <= r.wall_ns);
    assert_true(r.clock == (server.kernel_clock ? SPAWN_CLOCK_KERNEL : SPAWN_CLOCK_WAIT));
    if (!server.kernel_clock)
        assert_true(server.clock_reason[0] != '\0');
}

static void peak_memory_is_of_this_run_only(void **state)
{
    (void)state;
    // A large allocation of ours, and a large run before, must not show.
    size_t big = (size_t)64 << 20;
    char *mine = malloc(big);
    assert_non_null(mine);
    memset(mine, 1, big);
    SpawnResult large = run_sh("head -c 40000000 /dev/zero | tail -c 40000000 >/dev/null");
    SpawnResult small = run_sh("exit 0");
    assert_true(mine[big - 1] == 1);
    free(mine);
    assert_true(large.max_rss_bytes > 30000000);
    assert_true(small.max_rss_bytes < 16000000);
}

static SpawnResult weigh_sh(const char *script, int64_t timeout_ns)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    SpawnRequest request = {
        .path = "/bin/sh", .argv = argv, .timeout_ns = timeout_ns, .weigh = true};
    SpawnResult r = {0};
    assert_ok(spawn_server_run(&server, &request, &r, &err), &err);
    return r;
}

static void a_weighed_run_reads_what_the_command_itself_reads(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-test-peak-XXXXXX", script[256];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    // The shell reads its own peak with a builtin, as the last thing that it does.
    snprintf(script, sizeof(script),
             "while read -r n v u; do case $n in VmHWM:) echo $v >%s;; esac; done </proc/$$/status",
             path);
    SpawnResult r = weigh_sh(script, 0);
    if (r.exact_rss_bytes == 0) {
        unlink(path);
        close(fd);
        skip(); // tracing is refused here
    }
    FILE *f = fdopen(fd, "r");
    unsigned long kib = 0;
    assert_int_equal(fscanf(f, "%lu", &kib), 1);
    fclose(f);
    unlink(path);
    // It may touch a few pages more until its end.
    assert_true(r.exact_rss_bytes >= kib * 1024 && r.exact_rss_bytes <= kib * 1024 + 262144);
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0);
    assert_true(r.alone == server.kernel_clock);
}

static void a_weighed_run_has_its_status_signals_and_timeout(void **state)
{
    (void)state;
    SpawnResult r = weigh_sh("exit 7", 0);
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 7);
    r = weigh_sh("kill -TERM $$; exit 1", 0);
    assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == SIGTERM);
    r = weigh_sh("trap 'exit 5' USR1; kill -USR1 $$; exit 1", 0);
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 5);
    r = weigh_sh("exec sh -c 'exit 6'", 0);
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 6);
    r = weigh_sh("/bin/true; exit 4", 0);
    assert_true(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 4 && !r.alone);
    r = weigh_sh("sleep 20", 50000000);
    assert_true(r.timed_out && WIFSIGNALED(r.status));
    // What runs after it is alone again.
    assert_true(run_sh("exit 0").alone == server.kernel_clock);
}

static void a_run_that_hangs_is_killed_with_its_children(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "sleep 30 & sleep 30", NULL};
    SpawnRequest request = {.path = "/bin/sh", .argv = argv, .timeout_ns = 50000000};
    SpawnResult r;
    assert_ok(spawn_server_run(&server, &request, &r, &err), &err);
    assert_true(r.timed_out && WIFSIGNALED(r.status) && r.waited_ns < 10000000000);
}

static void what_cannot_be_executed_is_an_error(void **state)
{
    (void)state;
    const char *argv[] = {"x", NULL};
    SpawnRequest request = {.path = "/nonexistent/x", .argv = argv};
    SpawnResult r;
    assert_error(spawn_server_run(&server, &request, &r, &err), &err, ERROR_NOT_FOUND,
                 "/nonexistent/x");
    request.path = "/bin/sh";
    request.input = "/nonexistent/input";
    assert_error(spawn_server_run(&server, &request, &r, &err), &err, ERROR_NOT_FOUND, "input");
    // And it goes on working.
    assert_int_equal(run_sh("exit 0").status, 0);
}

static void output_goes_where_it_is_asked_to(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-spawn-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const char *argv[] = {"sh", "-c", "echo text; echo more >&2", NULL};
    SpawnRequest request = {
        .path = "/bin/sh", .argv = argv, .output = SPAWN_OUTPUT_FILE, .output_file = path};
    SpawnResult r;
    char buf[16] = {0};
    for (int i = 0; i < 2; i++) // truncated each time
        assert_ok(spawn_server_run(&server, &request, &r, &err), &err);
    assert_int_equal(read(fd, buf, sizeof(buf)), 5);
    assert_string_equal(buf, "text\n");
    close(fd);
    unlink(path);
    // Much more than a pipe holds must not block.
    const char *much[] = {"sh", "-c", "head -c 5000000 /dev/zero", NULL};
    request = (SpawnRequest){
        .path = "/bin/sh", .argv = much, .output = SPAWN_OUTPUT_PIPE, .timeout_ns = 20000000000};
    assert_ok(spawn_server_run(&server, &request, &r, &err), &err);
    assert_int_equal(r.status, 0);
}

static void processes_left_behind_are_told_of(void **state)
{
    (void)state;
    // It lives until we say so: whoever waited for it would wait for ever.
    char path[] = "/tmp/assay-spawn-XXXXXX", script[128];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(script, sizeof(script), "while [ -e %s ]; do sleep 0.01; done & exit 0", path);
    SpawnResult r = run_sh(script);
    unlink(path);
    assert_true(r.left_children);
    while (run_sh("exit 0").left_children)
        usleep(10000);
}

static void every_run_has_its_own_counts(void **state)
{
    (void)state;
    Arena arena = {0};
    EventSpecVec events = {0};
    SpawnCounter counters[SPAWN_COUNTERS_MAX];
    EventSources sources = event_sources_default();
    assert_ok(
        events_parse(&arena, &sources, STR("task-clock:u,page-faults:u,r1ffff"), &events, &err),
        &err);
    assert_ok(spawn_server_count(&server, &events, counters, &err), &err);
    assert_string_equal(counters[0].name, "task-clock:u");
    assert_true(counters[0].is_time && !counters[1].is_time);
    assert_true(counters[2].open || counters[2].reason.text[0]);
    if (counters[0].open && counters[1].open) {
        double few = 0, many = 0;
        // The kernel may swap the events of parent and child: later runs count too.
        for (int i = 0; i < 5; i++) {
            few = run_sh("exit 0").counts[1];
            SpawnResult r = run_sh("/bin/true; /bin/true; /bin/true; /bin/true");
            many = r.counts[1];
            assert_true(few > 0 && many > 2 * few);
            assert_true(r.counts[0] > 0 && r.counts[0] <= (double)r.waited_ns);
        }
    }
    // Nothing more to count.
    events.len = 0;
    assert_ok(spawn_server_count(&server, &events, counters, &err), &err);
    assert_true(isnan(run_sh("exit 0").counts[0]));
    for (int i = 0; i <= SPAWN_COUNTERS_MAX; i++)
        vec_push(&arena, &events, (EventSpec){.name = STR("x")});
    assert_error(spawn_server_count(&server, &events, counters, &err), &err, ERROR_USAGE,
                 "more than 12 events");
    arena_deinit(&arena);
}

static void the_wait_clock_works_without_records(void **state)
{
    (void)state;
    SpawnServer plain;
    assert_ok(spawn_server_open(environ, false, &plain, &err), &err);
    const char *argv[] = {"sh", "-c", "kill -INT $$; sleep 5", NULL};
    SpawnRequest request = {.path = "/bin/sh", .argv = argv};
    SpawnResult r;
    // Signals that the server blocks reach the command.
    assert_ok(spawn_server_run(&plain, &request, &r, &err), &err);
    assert_true(r.clock == SPAWN_CLOCK_WAIT && r.wall_ns == r.waited_ns);
    assert_true(WIFSIGNALED(r.status) && WTERMSIG(r.status) == 2);
    spawn_server_close(&plain);
}

static void too_long_a_command_line_is_refused(void **state)
{
    (void)state;
    size_t n = (size_t)4 << 20;
    char *word = malloc(n + 1);
    assert_non_null(word);
    memset(word, 'x', n);
    word[n] = '\0';
    const char *argv[] = {"sh", word, NULL};
    SpawnRequest request = {.path = "/bin/sh", .argv = argv};
    SpawnResult r;
    assert_error(spawn_server_run(&server, &request, &r, &err), &err, ERROR_LIMIT, "too long");
    free(word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(status_and_environment_are_the_childs, start, stop),
        cmocka_unit_test_setup_teardown(time_is_the_childs_and_never_longer_by_the_kernel, start,
                                        stop),
        cmocka_unit_test_setup_teardown(peak_memory_is_of_this_run_only, start, stop),
        cmocka_unit_test_setup_teardown(a_weighed_run_reads_what_the_command_itself_reads, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_weighed_run_has_its_status_signals_and_timeout, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_run_that_hangs_is_killed_with_its_children, start, stop),
        cmocka_unit_test_setup_teardown(what_cannot_be_executed_is_an_error, start, stop),
        cmocka_unit_test_setup_teardown(output_goes_where_it_is_asked_to, start, stop),
        cmocka_unit_test_setup_teardown(processes_left_behind_are_told_of, start, stop),
        cmocka_unit_test_setup_teardown(every_run_has_its_own_counts, start, stop),
        cmocka_unit_test_setup_teardown(the_wait_clock_works_without_records, start, stop),
        cmocka_unit_test_setup_teardown(too_long_a_command_line_is_refused, start, stop),
    };
    return RUN_TESTS(tests);
}
