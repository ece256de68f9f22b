// SPDX-License-Identifier: Apache-2.0
// A program whose run time has noise of a stated family: families NAME STEPS [STATE], STEPS being
// the work of a run without noise. Families that depend on time begin with the file STATE, which
// the first run makes.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

static double uniform(void)
{
    unsigned long bits;
    if (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
        exit(2);
    return ((double)(bits >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Seconds since the state was made.
static double age(const char *state)
{
    struct stat st;
    if (stat(state, &st) != 0) {
        FILE *f = fopen(state, "w");
        if (f)
            fclose(f);
        return 0;
    }
    return now() - ((double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9);
}

static double correlated(const char *state)
{
    double carry = 0;
    FILE *f = fopen(state, "r");
    if (f) {
        if (fscanf(f, "%lf", &carry) != 1)
            carry = 0;
        fclose(f);
    }
    carry = 0.3 * carry + normal();
    f = fopen(state, "w");
    if (f) {
        fprintf(f, "%.17g\n", carry);
        fclose(f);
    }
    return carry;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *state = argc > 3 ? argv[3] : "";
    double steps = argc > 2 ? strtod(argv[2], NULL) : 0, apart, share;
    if (sscanf(name, "modes-%lf-%lf", &apart, &share) == 2)
        steps *= uniform() < share / 100 ? apart : 1;
    else if (strcmp(name, "normal") == 0)
        steps *= 1 + 0.05 * normal();
    else if (strcmp(name, "log-normal") == 0)
        steps *= exp(0.1 * normal());
    else if (strcmp(name, "pareto") == 0)
        steps *= pow(uniform(), -1 / 2.1);
    else if (strcmp(name, "drift") == 0)
        steps *= 1 + 0.2 * age(state);
    else if (strcmp(name, "ar1") == 0)
        steps *= exp(0.05 * correlated(state));
    else if (strcmp(name, "periodic") == 0)
        steps *= fmod(now(), 0.012) < 0.006 ? 1.5 : 1;
    else if (strcmp(name, "step") == 0)
        steps *= age(state) > 0.25 ? 1.3 : 1;
    else
        return 2;
    unsigned long x = 88172645463325252ul, n = (unsigned long)steps;
    for (unsigned long i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x == 0;
}
