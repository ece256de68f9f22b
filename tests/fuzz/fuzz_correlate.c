// SPDX-License-Identifier: Apache-2.0
// Fuzzes the joining of profiles that hold counters alone with what their programs say.
// Input: u32 length, little-endian, and a program of so many bytes, then a profile.

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage/llvm/correlated_programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The program as a file, which is what is offered.
static int put_program(Bytes program)
{
    int fd = memfd_create("program", MFD_CLOEXEC);
    if (fd < 0 || write(fd, program.ptr, program.len) != (ssize_t)program.len)
        abort();
    return fd;
}

static void join(Bytes program, Bytes profile)
{
    Arena arena = {0};
    CoverCorrelations all;
    CoverCounts c = {.arena = &arena, .correlations = &all};
    StrBuf out = {0};
    Error err;
    int fd = put_program(program);
    cover_correlations_init(&all);
    cover_correlations_offer(&all, arena_printf(&arena, "/proc/self/fd/%d", fd));
    bool joined = cover_counts_add(&c, STR("fuzz"), profile, 1, &err) &&
                  cover_counts_add(&c, STR("fuzz"), profile, 2, &err);
    if (joined && cover_counts_finish(&c, &err) && c.rows.len < 64)
        (void)!cover_counts_write(&c, 0, false, &out, &err);
    strbuf_deinit(&out);
    cover_counts_deinit(&c);
    cover_correlations_deinit(&all);
    close(fd);
    arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t length;
    if (size < sizeof(length))
        return 0;
    memcpy(&length, data, sizeof(length));
    Bytes rest = bytes_over(data + sizeof(length), size - sizeof(length));
    join(bytes_slice(rest, 0, length), bytes_slice(rest, length, rest.len));
    return 0;
}
