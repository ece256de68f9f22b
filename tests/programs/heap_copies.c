// SPDX-License-Identifier: Apache-2.0
// Copies by functions of libc. Truths, as FUNCTION COPIES BYTES: moves 4 310, strings 6 66, padded
// 2 22, joined 4 21, fortified 3 32, wide 4 60, in_thread 4000 64000, in_child 1 10, pieces 1 6.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static char from[4096] = "0123456789", to[4096];
// So that the compiler writes no copies itself.
static volatile size_t ten = 10, hundred = 100;
#define APART __attribute__((noinline, noclone))

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s is wrong\n", what);
    _exit(1);
}

APART static void moves(void)
{
    memset(to, 'x', sizeof(to));
    must(memcpy(to, from, hundred) == to && memcmp(to, from, 100) == 0 && to[100] == 'x', "memcpy");
    memcpy(to, from, 10);
    must(memmove(to + 1, to, hundred) == to + 1 && to[1] == '0' && to[10] == '9', "memmove");
    must(mempcpy(to, from, hundred) == to + 100, "mempcpy");
}

APART static void strings(void)
{
    must(strcpy(to, from) == to && strcmp(to, from) == 0, "strcpy");
    must(stpcpy(to, from) == to + 10, "stpcpy");
    strcpy(to, from + ten);
    must(to[0] == 0, "strcpy of nothing");
    must(memccpy(to, from, '4', hundred) == to + 5 && to[4] == '4', "memccpy");
    must(memccpy(to, from, '?', ten) == NULL && to[9] == '9', "memccpy without the byte");
    bcopy(from, to, 28 + ten - 10);
}

APART static void padded(void)
{
    memset(to, 'x', sizeof(to));
    must(strncpy(to, from, ten + 22) == to && to[10] == 0 && to[31] == 0 && to[32] == 'x',
         "strncpy");
    must(stpncpy(to, from, ten + 22) == to + 10, "stpncpy");
}

APART static void joined(void)
{
    to[0] = 0;
    must(strcat(to, from + ten - 2) == to && strcmp(to, "89") == 0, "strcat");
    must(strcmp(strncat(to, from, ten - 8), "8901") == 0, "strncat");
    must(strcmp(strncat(to, from + 6, hundred), "89016789") == 0, "strncat of all");
    strcat(to, from + ten - 9);
    must(strlen(to) == 17, "strcat of more");
}

extern void *__memcpy_chk(void *, const void *, size_t, size_t);
extern char *__strcpy_chk(char *, const char *, size_t);
extern char *__strncpy_chk(char *, const char *, size_t, size_t);

APART static void fortified(void)
{
    must(__memcpy_chk(to, from, ten, hundred) == to, "__memcpy_chk");
    must(__strcpy_chk(to, from, ten + 1) == to, "__strcpy_chk");
    must(__strncpy_chk(to, from, ten + 5, ten + 5) == to && to[14] == 0, "__strncpy_chk");
}

APART static void wide(void)
{
    static wchar_t a[100] = L"12345", b[100];
    must(wmemcpy(b, a, ten - 5) == b && b[4] == L'5', "wmemcpy");
    must(wcscpy(b, a + ten - 5) == b && b[0] == 0, "wcscpy of nothing");
    must(wcscpy(b, a) == b && wcscmp(b, a) == 0, "wcscpy");
    must(wcscat(b, a + ten - 7) == b && wcscmp(b, L"1234545") == 0, "wcscat");
}

APART static void *in_thread(void *arg)
{
    char own[16];
    for (int i = 0; i < 1000; i++)
        memcpy(own, from, ten + 6);
    return arg;
}

APART static void in_child(void)
{
    memcpy(to, from, ten);
}

// libc copies the text itself; the program copies the result.
APART static void pieces(void)
{
    char text[16];
    snprintf(text, sizeof(text), "%zu-%zu", ten, ten);
    memcpy(to, text, ten - 4);
}

static void handler(int signal)
{
    (void)signal;
    memcpy(to + 100, from, ten);
}

int main(int argc, char **argv)
{
    pthread_t thread[4];
    if (argc > 1 && strcmp(argv[1], "overflow") == 0)
        __memcpy_chk(to, from, hundred, ten); // libc ends the program
    if (argc > 1 && strcmp(argv[1], "signals") == 0) {
        signal(SIGUSR1, handler);
        for (int i = 0; i < 1000; i++)
            raise(SIGUSR1);
        puts("1000 signals");
        return 0;
    }
    moves();
    strings();
    padded();
    joined();
    fortified();
    wide();
    pieces();
    for (int i = 0; i < 4; i++)
        must(pthread_create(&thread[i], NULL, in_thread, NULL) == 0, "pthread_create");
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    must(waitpid(child, NULL, 0) == child, "waitpid");
    return 0;
}
