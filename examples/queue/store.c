// SPDX-License-Identifier: Apache-2.0
// A store of answers that many threads use, with a journal on the disk.

#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWERS = 4096, LINES_MAX = 4096 };

typedef struct Line {
    unsigned question, answer;
} Line;

pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned answers[ANSWERS]; // 0: not known
static Line lines[LINES_MAX];     // not in the journal yet
static int line_count;
static int journal;
static bool is_fast;

void store_open(const char *path, bool fast)
{
    is_fast = fast;
    journal = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (journal < 0) {
        perror(path);
        exit(1);
    }
}

unsigned store_get(unsigned question)
{
    unsigned row = question % ANSWERS;
    pthread_mutex_lock(&cache_lock);
    if (answers[row] == 0)
        answers[row] = question * 2654435761u | 1;
    if (line_count < LINES_MAX)
        lines[line_count++] = (Line){question, answers[row]};
    unsigned answer = answers[row];
    pthread_mutex_unlock(&cache_lock);
    return answer;
}

// Writes lines to the disk; each of them must be safe there soon.
static void write_lines(const Line *from, int count)
{
    char text[64];
    for (int i = 0; i < count; i++) {
        int n = snprintf(text, sizeof(text), "%u %u\n", from[i].question, from[i].answer);
        if (write(journal, text, (size_t)n) != n)
            perror("journal");
        if (fdatasync(journal) != 0)
            perror("journal");
    }
}

static int flush_slow(void)
{
    pthread_mutex_lock(&cache_lock);
    int count = line_count;
    write_lines(lines, count);
    line_count = 0;
    pthread_mutex_unlock(&cache_lock);
    return count;
}

static int flush_fast(void)
{
    static Line copy[LINES_MAX];
    pthread_mutex_lock(&cache_lock);
    int count = line_count;
    memcpy(copy, lines, (size_t)count * sizeof(copy[0]));
    line_count = 0;
    pthread_mutex_unlock(&cache_lock);
    write_lines(copy, count);
    return count;
}

int store_flush(void)
{
    return is_fast ? flush_fast() : flush_slow();
}
