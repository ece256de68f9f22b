// SPDX-License-Identifier: Apache-2.0
// Ending long work on a signal.

#include "os/stop.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

// Until another signal is another request.
static void wait_a_while(void)
{
    const struct timespec time = {.tv_nsec = (STOP_REPEAT_MS + 50) * 1000000L};
    nanosleep(&time, NULL);
}

static void the_first_signal_sets_the_flag_and_the_process_lives(void **state)
{
    (void)state;
    StopSignals s;
    stop_begin(&s);
    assert_false(atomic_load(stop_flag()));
    raise(SIGINT);
    assert_true(atomic_load(stop_flag()));
    stop_end(&s);
    stop_begin(&s);
    assert_false(atomic_load(stop_flag()));
    stop_end(&s);
}

static void a_signal_that_was_blocked_comes_through_and_the_mask_is_put_back(void **state)
{
    (void)state;
    wait_a_while();
    sigset_t ours, now;
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    raise(SIGTERM);
    StopSignals s;
    stop_begin(&s);
    assert_true(atomic_load(stop_flag()));
    stop_end(&s);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    assert_true(sigismember(&now, SIGTERM));
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

static void the_second_signal_ends_the_process(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        StopSignals s;
        stop_begin(&s);
        wait_a_while();
        raise(SIGINT);
        wait_a_while();
        raise(SIGINT);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

// As timeout(1) sends it.
static void a_signal_that_comes_twice_at_once_is_one_request(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        StopSignals s;
        wait_a_while();
        stop_begin(&s);
        raise(SIGTERM);
        raise(SIGTERM);
        bool was_set = atomic_load(stop_flag());
        stop_end(&s);
        // Read by other means, then by the handler.
        wait_a_while();
        bool counts = stop_note_request() && !stop_note_request();
        stop_begin(&s);
        raise(SIGTERM);
        _exit(was_set && counts && !atomic_load(stop_flag()) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void an_ignored_signal_stays_ignored(void **state)
{
    (void)state;
    signal(SIGHUP, SIG_IGN);
    StopSignals s;
    stop_begin(&s);
    raise(SIGHUP);
    assert_false(atomic_load(stop_flag()));
    stop_end(&s);
    signal(SIGHUP, SIG_DFL);
}

int main(void)
{
    // A shell that starts the tests in the background has them ignored.
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_signal_sets_the_flag_and_the_process_lives),
        cmocka_unit_test(a_signal_that_was_blocked_comes_through_and_the_mask_is_put_back),
        cmocka_unit_test(the_second_signal_ends_the_process),
        cmocka_unit_test(a_signal_that_comes_twice_at_once_is_one_request),
        cmocka_unit_test(an_ignored_signal_stays_ignored),
    };
    return RUN_TESTS(tests);
}
