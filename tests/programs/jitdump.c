// SPDX-License-Identifier: Apache-2.0
// Truth: nearly all time is in code made at run time, which ./jit-PID.dump names
// "dumped_spin"; it was moved there, from where "elsewhere" lies now.

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Load {
    uint32_t id, total_size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, address, size, index;
} Load;

typedef struct Move {
    uint32_t id, total_size;
    uint64_t time;
    uint32_t pid, tid;
    uint64_t vma, from, to, size, index;
} Move;

static void add_load(int fd, const char *name, const unsigned char *code, uint64_t size,
                     uint64_t index)
{
    Load load = {.id = 0,
                 .total_size = (uint32_t)(sizeof(load) + strlen(name) + 1 + size),
                 .pid = (uint32_t)getpid(),
                 .tid = (uint32_t)getpid(),
                 .vma = (uintptr_t)code,
                 .address = (uintptr_t)code,
                 .size = size,
                 .index = index};
    if (write(fd, &load, sizeof(load)) < 0 || write(fd, name, strlen(name) + 1) < 0 ||
        write(fd, code, size) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    // mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret
    static const unsigned char spin[] = {0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3};
    char path[64];
    snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
    int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0666);
    const uint32_t head[4] = {0x4a695444, 1, 40, EM_X86_64};
    const uint32_t rest[6] = {0, (uint32_t)getpid()};
    if (fd < 0 || write(fd, head, sizeof(head)) < 0 || write(fd, rest, sizeof(rest)) < 0)
        return 1;
    // The mark by which a profiler learns of the file.
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        return 1;
    unsigned char *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    memcpy(code + 64, spin, sizeof(spin));
    add_load(fd, "dumped_spin", code, sizeof(spin), 7);
    Move move = {.id = 1,
                 .total_size = sizeof(move),
                 .pid = (uint32_t)getpid(),
                 .from = (uintptr_t)code,
                 .to = (uintptr_t)(code + 64),
                 .size = sizeof(spin),
                 .index = 7};
    if (write(fd, &move, sizeof(move)) < 0)
        return 1;
    add_load(fd, "elsewhere", code, sizeof(spin), 8);
    unsigned long turns = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000000;
    void (*run)(unsigned long);
    unsigned char *entry = code + 64;
    memcpy(&run, &entry, sizeof(run));
    run(turns);
    return 0;
}
