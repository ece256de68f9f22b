// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of /proc/PID/task/TID/syscall and of the tables of sockets.

#include "collect/wait/proc_sampler_internal.h"
#include "collect/wait/reasons_internal.h"
#include "collect/wait/wait_objects_internal.h"
#include "wire/wait.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ProcWait w = {.call = 1, .sp = 2};
    uint32_t arg;
    Str text = str_from_bytes(bytes_over(data, size));
    StrBuf name = {0};
    (void)wait_socket_name(STR("tcp6"), text, 77, &name);
    (void)wait_socket_name(STR("unix"), text, 77, &name);
    strbuf_deinit(&name);
    if (!proc_syscall_parse(text, &w)) {
        assert(w.call == 1 && w.sp == 2);
        return 0;
    }
    assert(w.call < WAIT_CALLS || w.call == WAIT_NO_CALL);
    (void)wait_object_of(w.call, &arg);
    assert(wait_class_of(w.call, (uint32_t)size & 3, text) < WAIT_CLASS_COUNT);
    return 0;
}
