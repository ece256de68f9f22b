// SPDX-License-Identifier: Apache-2.0
// Files whose path another user can choose: what is refused, and with which words.

#include "os/owned_file.h"

#include "base/arena.h"
#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static Arena arena;

static Str in_folder(const char *name)
{
    return arena_printf(&arena, "%s/%s", folder, name);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/assay-owned-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    const char *const names[] = {"file", "fifo", "link", "below"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)remove(in_folder(names[i]).ptr);
    int rc = rmdir(folder);
    arena_deinit(&arena);
    return rc;
}

static void make_file(off_t size)
{
    int fd = open(in_folder("file").ptr, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
}

// Whether the file is taken.
static bool opens(const char *name, uint32_t uid, Error *err)
{
    int fd = os_open_owned(0, in_folder(name), uid, err);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void a_regular_file_of_the_user_opens(void **state)
{
    (void)state;
    Error err = {0};
    make_file(10);
    assert_ok(opens("file", getuid(), &err), &err);
    int fd = os_open_owned((uint32_t)getpid(), in_folder("file"), getuid(), &err);
    assert_true(fd >= 0);
    close(fd);
}

static void links_fifos_folders_and_devices_are_refused_at_once(void **state)
{
    (void)state;
    Error err;
    make_file(10);
    assert_int_equal(mkfifo(in_folder("fifo").ptr, 0600), 0);
    assert_int_equal(symlink("file", in_folder("link").ptr), 0);
    assert_int_equal(mkdir(in_folder("below").ptr, 0700), 0);
    assert_error(opens("fifo", getuid(), &err), &err, ERROR_OS, "is not a regular file");
    assert_error(opens("link", getuid(), &err), &err, ERROR_PERMISSION, "is a symbolic link");
    assert_error(opens("below", getuid(), &err), &err, ERROR_OS, "is not a regular file");
    assert_true(os_open_owned(0, STR("/dev/zero"), 0, &err) < 0);
    assert_true(strstr(err.text, "is not a regular file") != NULL);
}

static void a_file_of_another_user_is_refused(void **state)
{
    (void)state;
    Error err;
    make_file(10);
    if (getuid() == 0)
        assert_int_equal(chown(in_folder("file").ptr, 65533, 65533), 0);
    uint32_t owner = getuid() == 0 ? 65533 : getuid();
    assert_error(opens("file", owner - 1, &err), &err, ERROR_PERMISSION, "belongs to user id");
    if (getuid() == 0)
        assert_ok(opens("file", owner, &err), &err);
}

static void a_file_over_the_limit_is_refused(void **state)
{
    (void)state;
    Error err = {0};
    make_file((off_t)OWNED_FILE_MAX_BYTES);
    assert_ok(opens("file", getuid(), &err), &err);
    make_file((off_t)OWNED_FILE_MAX_BYTES + 1);
    assert_error(opens("file", getuid(), &err), &err, ERROR_LIMIT, "more than 268435456");
}

static void a_file_that_is_absent_is_not_found(void **state)
{
    (void)state;
    Error err;
    assert_error(opens("no-such", getuid(), &err), &err, ERROR_NOT_FOUND, "no-such");
    assert_error(opens("", getuid(), &err), &err, ERROR_OS, "");
    assert_true(os_open_owned(4194303, STR("/etc/passwd"), 0, &err) < 0);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

static bool folder_opens(const char *name, Error *err)
{
    int fd = os_open_own_folder(in_folder(name), err);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void folders_of_ours_are_made_and_others_are_refused(void **state)
{
    (void)state;
    Error err = {0};
    struct stat st;
    assert_ok(folder_opens("below/cache", &err), &err);
    assert_int_equal(stat(in_folder("below/cache").ptr, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(symlink("below", in_folder("link").ptr), 0);
    assert_ok(folder_opens("link/cache", &err), &err);
    make_file(1);
    assert_false(folder_opens("file/cache", &err));
    assert_int_equal(chmod(in_folder("below").ptr, 0777), 0);
    assert_error(folder_opens("below/cache", &err), &err, ERROR_PERMISSION, "every user may write");
    assert_int_equal(chmod(in_folder("below").ptr, 0755), 0);
    if (getuid() == 0) {
        assert_int_equal(lchown(in_folder("link").ptr, 65533, 65533), 0);
        assert_error(folder_opens("link/cache", &err), &err, ERROR_PERMISSION,
                     "is a link of user id 65533");
        assert_int_equal(chown(in_folder("below").ptr, 65533, 65533), 0);
        assert_error(folder_opens("below/cache", &err), &err, ERROR_PERMISSION,
                     "belongs to user id 65533");
        assert_error(folder_opens("below/new", &err), &err, ERROR_PERMISSION,
                     "belongs to user id 65533");
    }
    assert_int_equal(rmdir(in_folder("below/cache").ptr), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_regular_file_of_the_user_opens, set_up, clean_up),
        cmocka_unit_test_setup_teardown(links_fifos_folders_and_devices_are_refused_at_once, set_up,
                                        clean_up),
        cmocka_unit_test_setup_teardown(a_file_of_another_user_is_refused, set_up, clean_up),
        cmocka_unit_test_setup_teardown(a_file_over_the_limit_is_refused, set_up, clean_up),
        cmocka_unit_test_setup_teardown(folders_of_ours_are_made_and_others_are_refused, set_up,
                                        clean_up),
        cmocka_unit_test_setup_teardown(a_file_that_is_absent_is_not_found, set_up, clean_up),
    };
    return RUN_TESTS(tests);
}
