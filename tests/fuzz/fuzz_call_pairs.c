// SPDX-License-Identifier: Apache-2.0
// Fuzzes the pairing of entries with returns. The input is a row of operations of OP_BYTES bytes:
// {u8 what, u8 function, u8 flow, u8 values, u32 stack pointer, u32 time}.

#include "collect/calls/pairing_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OP_BYTES = 12, FUNCTIONS = 4, THREADS = 3 };

static void set_up(Profile *p)
{
    profile_init(p);
    ProcessId process = profile_add_process(p, 7, 1, profile_str(p, STR("p")), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        profile_add_thread(p, process, 7 + i, profile_str(p, STR("p")), 0);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        profile_frame(p, (ModuleId){0}, 0x100 * (i + 1), FRAME_EXACT);
}

// Copies of stacks and places in the trampoline.
static void mend(Pairing *p, uint64_t flow, uint64_t sp, Bytes words)
{
    uint8_t stack[64];
    size_t len = MIN(words.len, sizeof(stack));
    memcpy(stack, words.ptr, len);
    pairing_mend(p, flow, sp, stack, len);
    uint64_t ip = p->trampoline + (sp & 0xfff), at = sp, before = sp;
    if (pairing_step_out(p, flow, &ip, &at) && at < before)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Profile profile;
    Pairing p = {.profile = &profile};
    Error err;
    size_t begun = 0;
    set_up(&profile);
    for (size_t at = 0; size - at >= OP_BYTES; at += OP_BYTES) {
        uint32_t sp, time;
        const uint8_t *op = data + at;
        memcpy(&sp, op + 4, sizeof(sp));
        memcpy(&time, op + 8, sizeof(time));
        const PairingValue values[PAIRING_VALUES_MAX] = {{profile_str(&profile, STR("n")), time},
                                                         {profile_str(&profile, STR("m")), sp}};
        PairingHit h = {.function = op[1] % FUNCTIONS,
                        .flow = op[2] % THREADS,
                        .is_go = op[2] & 0x80,
                        .sp = (uint64_t)sp << (op[0] >> 6) * 10,
                        .return_address = op[0] & 0x20 ? 0x555500000000ull + sp : 0,
                        .time_ns = (int64_t)time << (op[3] >> 4),
                        .frame = {1 + op[1] % FUNCTIONS},
                        .thread = {op[2] % THREADS},
                        .values = values,
                        .value_count = op[3] % (PAIRING_VALUES_MAX + 1)};
        switch (op[0] % 5) {
        case 0:
            pairing_enter(&p, &h);
            begun++;
            break;
        case 1:
            pairing_return(&p, &h);
            break;
        case 2:
            pairing_begin(&p, op[1], &h);
            begun++;
            break;
        case 3:
            pairing_end(&p, op[1], &h);
            break;
        default:
            mend(&p, h.flow, h.sp, bytes_over(op, size - at));
            break;
        }
    }
    pairing_finish(&p, INT64_MAX / 4);
    const Calls *c = &profile.calls;
    if (c->frame.len != begun || !profile_check(&profile, &err))
        abort();
    for (size_t i = 0; i < begun; i++)
        if (c->end_ns.at[i] < c->begin_ns.at[i])
            abort();
    pairing_deinit(&p);
    profile_deinit(&profile);
    return 0;
}
