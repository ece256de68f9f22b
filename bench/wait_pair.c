// SPDX-License-Identifier: Apache-2.0
// Two threads that wake each other N times through pipes: 2 N context switches or more.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
static int a[2], b[2], n;
static void *other(void *u)
{
    char c;
    for (int i = 0; i < n; i++)
        if (read(a[0], &c, 1) != 1 || write(b[1], &c, 1) != 1)
            abort();
    return u;
}
int main(int argc, char **argv)
{
    char c = 0;
    pthread_t t;
    struct rusage r;
    n = argc > 1 ? atoi(argv[1]) : 100000;
    if (pipe(a) || pipe(b))
        return 1;
    pthread_create(&t, NULL, other, NULL);
    for (int i = 0; i < n; i++)
        if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1)
            abort();
    pthread_join(t, NULL);
    getrusage(RUSAGE_SELF, &r);
    long long us = (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000ll + r.ru_utime.tv_usec +
                   r.ru_stime.tv_usec;
    printf("%.3f us a switch, %ld switches\n", (double)us / (double)(r.ru_nvcsw + r.ru_nivcsw),
           r.ru_nvcsw + r.ru_nivcsw);
    return 0;
}
