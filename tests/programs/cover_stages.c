// SPDX-License-Identifier: Apache-2.0
// A main thread, a second thread and a forked child each go through 40 stages, and each stage runs
// code that did not run before. Arguments: a file, and optionally a FIFO and a stage.
//
// Truths:
// - at its start each of the three appends "begin NAME" to the file, and at its end "end NAME"
// - the status is 5
// - with a FIFO all three wait at that stage until somebody has written to it and closed it; each
//   appends "wait NAME" before

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int out, wait_stage = -1;
static const char *fifo;
static volatile unsigned sink;

static void say(const char *what, const char *name)
{
    char line[64];
    int len = snprintf(line, sizeof(line), "%s %s\n", what, name);
    if (write(out, line, (size_t)len) != len)
        _exit(99);
}

static void work(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink = sink * 31 + i;
}

static void maybe_wait(int stage, const char *name)
{
    char byte;
    if (stage != wait_stage)
        return;
    say("wait", name);
    int fd = open(fifo, O_RDONLY);
    while (read(fd, &byte, 1) > 0)
        ;
    close(fd);
}

#define STAGE(n)                                                                                   \
    static void stage_##n(const char *name)                                                        \
    {                                                                                              \
        maybe_wait(n, name);                                                                       \
        if (n % 3 == 0)                                                                            \
            work(n * 100);                                                                         \
        else                                                                                       \
            work(n * 50);                                                                          \
    }
STAGE(0)
STAGE(1)
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)
STAGE(6)
STAGE(7)
STAGE(8)
STAGE(9)
STAGE(10)
STAGE(11)
STAGE(12)
STAGE(13)
STAGE(14)
STAGE(15)
STAGE(16)
STAGE(17)
STAGE(18)
STAGE(19)
STAGE(20)
STAGE(21)
STAGE(22)
STAGE(23)
STAGE(24)
STAGE(25)
STAGE(26)
STAGE(27)
STAGE(28)
STAGE(29)
STAGE(30)
STAGE(31)
STAGE(32)
STAGE(33)
STAGE(34)
STAGE(35)
STAGE(36)
STAGE(37)
STAGE(38)
STAGE(39)

static void (*const stages[])(const char *name) = {
    stage_0,  stage_1,  stage_2,  stage_3,  stage_4,  stage_5,  stage_6,  stage_7,
    stage_8,  stage_9,  stage_10, stage_11, stage_12, stage_13, stage_14, stage_15,
    stage_16, stage_17, stage_18, stage_19, stage_20, stage_21, stage_22, stage_23,
    stage_24, stage_25, stage_26, stage_27, stage_28, stage_29, stage_30, stage_31,
    stage_32, stage_33, stage_34, stage_35, stage_36, stage_37, stage_38, stage_39,
};

static void *all_stages(void *name)
{
    say("begin", name);
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
        stages[i](name);
    say("end", name);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 2)
        return 98;
    if (argc > 3) {
        fifo = argv[2];
        wait_stage = atoi(argv[3]);
    }
    out = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0644);
    pid_t child = fork();
    if (child == 0) {
        all_stages("child");
        _exit(0);
    }
    pthread_create(&thread, NULL, all_stages, "thread");
    all_stages("main");
    pthread_join(thread, NULL);
    waitpid(child, NULL, 0);
    return 5;
}
