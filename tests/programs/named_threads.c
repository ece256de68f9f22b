// SPDX-License-Identifier: Apache-2.0
// Two threads that compute and touch new pages; the name of one holds spaces and a number.
// Truths: nearly all CPU time is in `leaf`, called by `middle`; about 0.1 s of CPU time.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static __attribute__((noinline)) long leaf(long n)
{
    volatile long sum = 0;
    for (long i = 0; i < n; i++)
        sum += i ^ n;
    return sum;
}

static __attribute__((noinline)) long middle(long n)
{
    return leaf(n) * 2 + 1;
}

static void *work(void *result)
{
    long sum = 0;
    prctl(PR_SET_NAME, "my 2 thread");
    for (int i = 0; i < 40000; i++)
        sum += middle(1000);
    char *pages = malloc(1 << 18);
    memset(pages, 1, 1 << 18);
    free(pages);
    *(long *)result = sum;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    long first, second;
    pthread_create(&thread, NULL, work, &first);
    work(&second);
    pthread_join(thread, NULL);
    return first != second;
}
