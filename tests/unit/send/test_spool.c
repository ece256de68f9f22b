// SPDX-License-Identifier: Apache-2.0
// The folder that keeps messages until they are sent.

#include "send/spool.h"

#include "harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static Spool spool;
static Arena arena;
static Error err;

static int make_spool(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "/tmp/assay-spool.XXXXXX");
    return mkdtemp(path) && spool_open(str_from_c(path), 4000, &spool, &err) ? 0 : -1;
}

static int remove_spool(void **state)
{
    (void)state;
    DIR *dir = opendir(path);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    spool_close(&spool);
    arena_deinit(&arena);
    return rmdir(path);
}

static unsigned add(const char *body)
{
    unsigned removed = 99;
    Message m = {.url = STR("http://h/x?name=a"),
                 .type = STR("a/b"),
                 .encoding = STR("gzip"),
                 .body = bytes_from_str(str_from_c(body))};
    assert_ok(spool_add(&spool, &m, &removed, &err), &err);
    return removed;
}

static StrVec list(void)
{
    StrVec names = {0};
    assert_ok(spool_list(&spool, &arena, &names, &err), &err);
    return names;
}

static void messages_come_back_whole_and_oldest_first(void **state)
{
    (void)state;
    static const char *const bodies[] = {"first\n\nurl: x", "", "third"};
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        assert_int_equal(add(bodies[i]), 0);
    StrVec names = list();
    assert_int_equal(names.len, 3);
    for (size_t i = 0; i < names.len; i++) {
        Message m;
        int fd, other;
        assert_int_equal(spool_take(&spool, names.at[i], &arena, &m, &fd, &err), SPOOL_TAKEN);
        assert_str(str_from_bytes(m.body), bodies[i]);
        assert_str(m.url, "http://h/x?name=a");
        assert_str(m.type, "a/b");
        assert_str(m.encoding, "gzip");
        // Held by one, it is gone for all others.
        assert_int_equal(spool_take(&spool, names.at[i], &arena, &m, &other, &err), SPOOL_GONE);
        if (i == 1)
            spool_keep(fd);
        else
            spool_done(&spool, names.at[i], fd);
        assert_int_equal(spool_take(&spool, names.at[i], &arena, &m, &fd, &err),
                         i == 1 ? SPOOL_TAKEN : SPOOL_GONE);
        if (i == 1)
            spool_keep(fd);
    }
    assert_int_equal(list().len, 1);
}

static void the_oldest_leave_a_full_spool(void **state)
{
    (void)state;
    char body[1000];
    memset(body, 'x', sizeof(body));
    body[sizeof(body) - 1] = 0;
    unsigned removed = 0;
    for (unsigned i = 0; i < 10; i++) {
        body[0] = (char)('0' + i);
        removed += add(body);
    }
    StrVec names = list();
    assert_int_equal(names.len, 3);
    assert_int_equal(removed, 7);
    Message m;
    int fd;
    assert_int_equal(spool_take(&spool, names.at[0], &arena, &m, &fd, &err), SPOOL_TAKEN);
    assert_int_equal(m.body.ptr[0], '7');
    spool_keep(fd);
    char large[5000];
    memset(large, 'x', sizeof(large));
    Message too_large = {.url = STR("u"), .body = {(const uint8_t *)large, sizeof(large)}};
    assert_error(spool_add(&spool, &too_large, &removed, &err), &err, ERROR_LIMIT, "larger than");
    assert_int_equal(list().len, 3);
}

static void a_message_cut_at_any_byte_is_broken(void **state)
{
    (void)state;
    assert_int_equal(add("body"), 0);
    StrVec names = list();
    int fd = openat(spool.folder, names.at[0].ptr, O_RDWR | O_CLOEXEC);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t size = st.st_size - 1; size >= 0; size--) {
        Message m;
        int taken;
        assert_int_equal(ftruncate(fd, size), 0);
        assert_int_equal(spool_take(&spool, names.at[0], &arena, &m, &taken, &err), SPOOL_BROKEN);
        assert_non_null(strstr(err.text, "not a whole message"));
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_come_back_whole_and_oldest_first, make_spool,
                                        remove_spool),
        cmocka_unit_test_setup_teardown(the_oldest_leave_a_full_spool, make_spool, remove_spool),
        cmocka_unit_test_setup_teardown(a_message_cut_at_any_byte_is_broken, make_spool,
                                        remove_spool),
    };
    return RUN_TESTS(tests);
}
