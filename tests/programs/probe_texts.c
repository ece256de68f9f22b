// SPDX-License-Identifier: Apache-2.0
// Functions with texts. Truths: answer returns "no" in 25 of 100 calls, else "yes 0" to "yes 2";
// look gets 10 pointers that lead nowhere; in call 7 its item has a name of 399 x; call 9's name
// holds an escape sequence.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    long number;
    char *name;
};

__attribute__((noinline)) char *answer(long i)
{
    char *text = malloc(40);
    snprintf(text, 40, i % 4 ? "yes %ld" : "no", i % 3);
    __asm__ volatile("" ::: "memory");
    return text;
}

__attribute__((noinline)) long look(struct item *item, const char *name)
{
    __asm__ volatile("" ::"r"(item), "r"(name) : "memory");
    return item->number;
}

int main(void)
{
    static char long_name[400], escape[] = "\033[31mred";
    long sum = 0;
    memset(long_name, 'x', sizeof(long_name) - 1);
    for (long i = 0; i < 100; i++) {
        char *text = answer(i);
        struct item item = {i, i == 7 ? long_name : i == 9 ? escape : text};
        sum += look(&item, i % 10 ? text : (char *)8);
        free(text);
    }
    return sum == 0;
}
