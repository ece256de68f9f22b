// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of a kernel's types, which is given a path. The end of the file, behind the
// last NUL, is the name that is looked for too.

#include "collect/bpf/bpf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for(const BpfTypes *t, const char *structure, const char *member)
{
    uint32_t offset = 77, args = 77;
    if (!bpf_types_offset(t, structure, member, &offset) && offset != 77)
        abort();
    if (bpf_types_tracepoint(t, structure, &args) == 0 && args != 77)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BpfTypes *types;
    Error err = {0};
    char path[64], name[16] = {0};
    int fd = memfd_create("types", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < sizeof(name) - 1 && i < size && data[size - 1 - i]; i++)
        name[i] = (char)data[size - 1 - i];
    if (bpf_types_open(path, &types, &err)) {
        look_for(types, "s", "m");
        look_for(types, "task_struct", "pid");
        look_for(types, name, "m");
        look_for(types, "s", name);
        bpf_types_close(types);
    } else if (err.text[0] == '\0') {
        abort();
    }
    close(fd);
    return 0;
}
