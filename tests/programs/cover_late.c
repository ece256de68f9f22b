// SPDX-License-Identifier: Apache-2.0
// An object that cover_threads and cover_traps load with dlopen.
static int state;

__attribute__((constructor)) static void prepare(void)
{
    state = 5; // constructor
}

int late(int n)
{
    if (n > 10)
        return 0;     // not reached
    return n + state; // late
}

int later(int n)
{
    return n * state; // later
}
