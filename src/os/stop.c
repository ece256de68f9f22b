// SPDX-License-Identifier: Apache-2.0
// Lets long work stop cleanly on Ctrl-C.

#include "os/stop.h"

#include <pthread.h>

#include "os/clock.h"

static const int stop_signals[STOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool asked;

static _Atomic int64_t requested_ns; // the last request that stop_note_request counted; 0: none

bool stop_note_request(void)
{
    int64_t now = os_monotonic_ns(), last = atomic_load(&requested_ns);
    if (last && now - last < STOP_REPEAT_MS * INT64_C(1000000))
        return false;
    atomic_store(&requested_ns, now);
    return true;
}

static void on_signal(int number)
{
    if (!stop_note_request() || !atomic_exchange(&asked, true))
        return;
    signal(number, SIG_DFL);
    raise(number); // comes when this handler returns
}

void stop_begin(StopSignals *s)
{
    atomic_store(&asked, false);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < STOP_SIGNALS; i++) {
        sigaction(stop_signals[i], &action, &s->old[i]);
        // nohup, and shells that start a job in the background, expect the signal to be ignored.
        if (s->old[i].sa_handler == SIG_IGN)
            sigaction(stop_signals[i], &s->old[i], NULL);
        sigaddset(&ours, stop_signals[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &ours, &s->old_mask);
}

void stop_end(const StopSignals *s)
{
    pthread_sigmask(SIG_SETMASK, &s->old_mask, NULL);
    for (size_t i = 0; i < STOP_SIGNALS; i++)
        sigaction(stop_signals[i], &s->old[i], NULL);
}

const atomic_bool *stop_flag(void)
{
    return &asked;
}
