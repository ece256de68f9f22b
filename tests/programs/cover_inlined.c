// SPDX-License-Identifier: Apache-2.0
// A line that only calls what an optimiser inlines there.
static inline __attribute__((always_inline)) int quotient(int n)
{
    return 1000 / (n + 1);
}

static inline __attribute__((always_inline)) int passed_on(int n)
{
    return quotient(n); // passed on
}

int main(int argc, char **argv)
{
    volatile int sum = 0;
    (void)argv;
    if (argc > 5)
        sum += quotient(argc); // skipped
    for (int i = 0; i < argc + 3; i++)
        sum += passed_on(i); // called
    return sum != 2083;
}
