// SPDX-License-Identifier: Apache-2.0
// Lines that end in a comment, and macros in front of it: clang maps the comment as
// skipped, and llvm-cov before 18 then gives the line no count.
#include <stdlib.h>

#define is_small(x) ((x) < 10)
#define table(x)    (names[(x)])

static int pick(int n)
{
    static const int names[] = {
        1, /* one */
        2, /* two */
        3  /* three, and no more */
    };
    if (is_small(n) /* the fast way */
            ? n > 2 // enough
            : n > 20)
        return table(1);
    return is_small(n) /* again */
           && table(n % 3) > 1;
}

int main(int argc, char **argv)
{
    return pick(argc > 1 ? atoi(argv[1]) : 0) == 77;
}
