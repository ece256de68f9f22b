// SPDX-License-Identifier: Apache-2.0
// Offsets of the kernel's structures, by its own type information.

#include "collect/bpf/bpf.h"

#include "harness.h"

#include <sys/mman.h>
#include <unistd.h>

static BpfTypes *open_types(void)
{
    BpfTypes *types;
    Error err;
    if (!bpf_types_open(BPF_TYPES_PATH, &types, &err)) {
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

// ---- Files of our own ----------------------------------------------------------------------

typedef struct Types {
    uint32_t words[512];
    size_t count;
    char strings[64];
    uint32_t string_len;
} Types;

static uint32_t name(Types *t, const char *text)
{
    uint32_t at = t->string_len;
    t->string_len += (uint32_t)snprintf(t->strings + at, sizeof(t->strings) - at, "%s", text) + 1;
    return at;
}

static void put(Types *t, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t words[] = {a, b, c};
    memcpy(t->words + t->count, words, sizeof(words));
    t->count += 3;
}

// Opens them with `cut` bytes fewer of the types.
static bool open_own(const Types *t, uint32_t cut, BpfTypes **ret, Error *err)
{
    uint32_t type_len = (uint32_t)(t->count * 4) - cut;
    const uint32_t head[] = {0x0001eb9f, 24, 0, type_len, type_len, t->string_len};
    char path[64];
    int fd = memfd_create("types", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
    assert_int_equal(write(fd, t->words, type_len), type_len);
    assert_int_equal(write(fd, t->strings, t->string_len), t->string_len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    bool ok = bpf_types_open(path, ret, err);
    close(fd);
    return ok;
}

enum { STRUCTURE = 4u << 24 };

static void members_without_a_name_are_searched(void **state)
{
    (void)state;
    Types t = {.string_len = 1};
    BpfTypes *types;
    Error err;
    uint32_t offset = 0;
    put(&t, name(&t, "outer"), STRUCTURE | 1, 64);
    put(&t, 0, 2, 128);
    put(&t, 0, STRUCTURE | 1, 8);
    put(&t, name(&t, "inner"), 0, 64);
    assert_ok(open_own(&t, 0, &types, &err), &err);
    assert_true(bpf_types_offset(types, "outer", "inner", &offset));
    assert_int_equal(offset, 24);
    bpf_types_close(types);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    Types t = {.string_len = 1};
    BpfTypes *types;
    put(&t, name(&t, "s"), STRUCTURE | 1, 8);
    put(&t, name(&t, "m"), 0, 0);
    for (uint32_t cut = 1; cut < 24; cut++) {
        Error err = {0};
        assert_false(open_own(&t, cut, &types, &err));
        assert_non_null(strstr(err.text, "type 1 is cut"));
    }
}

// Each of its members is the structure itself: the ways through it are without number.
static void structures_that_contain_each_other_have_an_end(void **state)
{
    (void)state;
    enum { MEMBERS = 160 };
    Types t = {.string_len = 1};
    BpfTypes *types;
    Error err;
    uint32_t offset = 77;
    put(&t, name(&t, "s"), STRUCTURE | MEMBERS, 8);
    for (int i = 0; i < MEMBERS; i++)
        put(&t, 0, 1, 64);
    assert_ok(open_own(&t, 0, &types, &err), &err);
    assert_false(bpf_types_offset(types, "s", "m", &offset));
    assert_int_equal(offset, 77);
    bpf_types_close(types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_their_offsets),
        cmocka_unit_test(what_is_not_there_is_not_found),
        cmocka_unit_test(tracepoints_state_their_arguments),
        cmocka_unit_test(members_without_a_name_are_searched),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(structures_that_contain_each_other_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
