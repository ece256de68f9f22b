// SPDX-License-Identifier: Apache-2.0
// Offsets of the kernel's structures, by its own type information.

#include "collect/bpf/bpf.h"

#include "harness.h"

static BpfTypes *open_types(void)
{
    BpfTypes *types;
    Error err;
    if (!bpf_types_open(&types, &err)) {
        assert_true(err.text[0]);
        skip(); // this kernel has none, or this user may not read it
    }
    return types;
}

static void members_have_their_offsets(void **state)
{
    (void)state;
    BpfTypes *types = open_types();
    uint32_t pid = 0, tgid = 0, inner = UINT32_MAX;
    assert_true(bpf_types_offset(types, "task_struct", "pid", &pid));
    assert_true(bpf_types_offset(types, "task_struct", "tgid", &tgid));
    assert_true(pid > 0);
    assert_int_equal(tgid, pid + 4); // both are pid_t, one behind the other
    assert_true(bpf_types_offset(types, "list_head", "next", &inner));
    assert_int_equal(inner, 0);
    bpf_types_close(types);
}

static void what_is_not_there_is_not_found(void **state)
{
    (void)state;
    BpfTypes *types = open_types();
    uint32_t offset = 77, args;
    assert_false(bpf_types_offset(types, "task_struct", "no_such_member", &offset));
    assert_false(bpf_types_offset(types, "no_such_structure", "pid", &offset));
    assert_int_equal(offset, 77);
    assert_false(bpf_types_tracepoint(types, "no_such_tracepoint", &args));
    bpf_types_close(types);
}

static void tracepoints_state_their_arguments(void **state)
{
    (void)state;
    BpfTypes *types = open_types();
    uint32_t args = 0;
    assert_true(bpf_types_tracepoint(types, "sched_switch", &args));
    assert_true(args >= 3); // preempt, prev, next
    bpf_types_close(types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_their_offsets),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(tracepoints_state_their_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
