// SPDX-License-Identifier: Apache-2.0
// A static program that takes a stated number of dependent steps: for A/A and
// +x % experiments. No libc start-up to speak of. work STEPS [MIB [hold]]: with MIB it
// touches that much memory, frees it unless it is to hold it, and prints its own peak
// (VmHWM) to stderr.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    unsigned long x = 88172645463325252ul, n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    if (argc > 2) {
        size_t bytes = strtoul(argv[2], NULL, 10) << 20;
        char *p = malloc(bytes), line[256];
        memset(p, (int)x, bytes);
        if (argc == 3)
            free(p);
        FILE *f = fopen("/proc/self/status", "r");
        while (f && fgets(line, sizeof(line), f))
            if (strncmp(line, "VmHWM:", 6) == 0)
                fputs(line, stderr);
    }
    return x == 0;
}
