// SPDX-License-Identifier: Apache-2.0
// A folder with the files of agents, as the programs of a session leave them.

#ifndef FUZZ_AGENT_FOLDER_H
#define FUZZ_AGENT_FOLDER_H

#include "collect/agents/rings.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// No process has this number: pid_max is at most 2^22.
enum { AGENT_FOLDER_ENDED = 1 << 30 };

static AgentSession agent_folder = {.folder_fd = -1, .guard_fd = -1};

static void agent_folder_remove(void)
{
    rmdir(agent_folder.folder);
}

// The folder of this process; it is made once, and empty between two inputs.
static inline AgentSession *agent_folder_need(void)
{
    if (agent_folder.folder_fd >= 0)
        return &agent_folder;
    const char *above = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(agent_folder.folder, sizeof(agent_folder.folder), "%s/assay-fuzz-XXXXXX", above);
    if (!mkdtemp(agent_folder.folder))
        abort();
    agent_folder.folder_fd = open(agent_folder.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (agent_folder.folder_fd < 0 || atexit(agent_folder_remove) != 0)
        abort();
    return &agent_folder;
}

// A file of `size` bytes that begins with `content`, mapped as its program has it.
static inline void *agent_folder_put(const char *name, Bytes content, size_t size)
{
    int fd = openat(agent_folder.folder_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        abort();
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        abort();
    memcpy(at, content.ptr, MIN(content.len, size));
    return at;
}

static inline void agent_folder_drop(const char *name, void *at, size_t size)
{
    munmap(at, size);
    (void)unlinkat(agent_folder.folder_fd, name, 0);
}

#endif // FUZZ_AGENT_FOLDER_H
