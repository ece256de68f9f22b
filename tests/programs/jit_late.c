// SPDX-License-Identifier: Apache-2.0
// jit_late N: nearly all time is in code made at run time. Truth: /tmp/perf-PID.map,
// which the program writes at its end, as a JVM does, names it "late_spin".

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    // mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret
    static const unsigned char spin[] = {0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3};
    unsigned char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code, spin, sizeof(spin));
    void (*run)(unsigned long);
    memcpy(&run, &code, sizeof(run));
    run(argc > 1 ? strtoul(argv[1], NULL, 10) : 300000000);
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx %zx late_spin\n", (unsigned long)code, sizeof(spin));
    printf("%s\n", path);
    return fclose(map) != 0;
}
