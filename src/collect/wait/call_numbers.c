// SPDX-License-Identifier: Apache-2.0
// Reads x86-64 code backwards from a system call: "mov $N,%eax" or "xor %eax,%eax" stands a few
// instructions before it in the C library. Elsewhere numbers are known from looks only.

#include "collect/wait/call_numbers_internal.h"

#include "base/defs.h"

#include <string.h>
#include <sys/uio.h>

void call_numbers_deinit(CallNumbers *n)
{
    vec_free(&n->places);
    table_deinit(&n->by_place);
}

// Whether the byte before an instruction makes it one of other registers (REX, 0x40 to 0x4f).
static bool is_prefixed(Bytes code, size_t at)
{
    return at > 0 && (code.ptr[at - 1] & 0xf0) == 0x40;
}

bool call_number_in(Bytes code, uint32_t *ret)
{
#if defined(__x86_64__)
    enum { SYSCALL_BYTES = 2, XOR_BYTES = 2, MOV_BYTES = 5 };
    static const uint8_t syscall_code[SYSCALL_BYTES] = {0x0f, 0x05};
    if (code.len < SYSCALL_BYTES ||
        memcmp(code.ptr + code.len - SYSCALL_BYTES, syscall_code, SYSCALL_BYTES) != 0)
        return false;
    size_t end = code.len - SYSCALL_BYTES;
    for (size_t at = end; at-- > 0;) {
        const uint8_t *p = code.ptr + at;
        uint32_t number;
        if (is_prefixed(code, at))
            continue;
        if (end - at >= XOR_BYTES && (p[0] == 0x31 || p[0] == 0x33) && p[1] == 0xc0) {
            *ret = 0;
            return true;
        }
        if (end - at < MOV_BYTES || p[0] != 0xb8)
            continue;
        memcpy(&number, p + 1, sizeof(number));
        if (number < WAIT_UNKNOWN_CALL) {
            *ret = number;
            return true;
        }
    }
#else
    (void)code;
    (void)ret;
    (void)is_prefixed;
#endif
    return false;
}

static CallPlace *find(CallNumbers *n, uint32_t pid, uint64_t pc)
{
    uint32_t row;
    for (TableProbe t = table_probe(&n->by_place, hash_pair(pid, pc));
         table_next(&n->by_place, &t, &row);)
        if (n->places.at[row].pid == pid && n->places.at[row].pc == pc)
            return &n->places.at[row];
    return NULL;
}

static void add(CallNumbers *n, CallPlace place)
{
    table_insert(&n->by_place, hash_pair(place.pid, place.pc), (uint32_t)n->places.len);
    vec_push(NULL, &n->places, place);
}

void call_numbers_learn(CallNumbers *n, uint32_t pid, uint64_t pc, uint32_t call)
{
    CallPlace *p = find(n, pid, pc);
    if (!p)
        add(n, (CallPlace){pid, call, pc});
    else if (p->call != call)
        p->call = WAIT_UNKNOWN_CALL;
}

uint32_t call_numbers_find(CallNumbers *n, uint32_t pid, uint64_t pc)
{
    const CallPlace *known = find(n, pid, pc);
    if (known)
        return known->call;
    uint8_t code[CALL_CODE_BYTES];
    CallPlace place = {pid, WAIT_UNKNOWN_CALL, pc};
    struct iovec to = {code, sizeof(code)};
    struct iovec from = {(void *)(uintptr_t)(pc - sizeof(code)), sizeof(code)};
    if (process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(code))
        (void)call_number_in(bytes_over(code, sizeof(code)), &place.call);
    add(n, place);
    return place.call;
}
