// SPDX-License-Identifier: Apache-2.0
// Truth: nearly all time is in code made at run time, which /tmp/perf-PID.map
// names "JS:*spin /srv/app.js:7", a later entry inside the older one "old". With a second
// word the program leaves the file alone that is there.

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
    memcpy(code + 64, spin, sizeof(spin));
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    FILE *map = argc > 2 ? NULL : fopen(path, "w");
    if (!map && argc <= 2)
        return 1;
    if (map) {
        fprintf(map, "%lx 80 old\n%lx 9 JS:*spin /srv/app.js:7\n", (unsigned long)code,
                (unsigned long)(code + 64));
        fclose(map);
    }
    unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 500000000;
    void (*run)(unsigned long);
    unsigned char *entry = code + 64;
    memcpy(&run, &entry, sizeof(run));
    run(turns);
    printf("%s\n", path);
    return 0;
}
