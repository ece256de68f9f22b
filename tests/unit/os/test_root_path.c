// SPDX-License-Identifier: Apache-2.0
// Paths below the root folder of another process: no link and no ".." leads out of it.

#include "os/root_path.h"

#include "base/arena.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// The folder holds a root folder "root" and beside it a file "outside".
static char folder[64];
static int root_fd;
static Arena arena;

static char *in_folder(const char *name)
{
    return arena_c_str(&arena, arena_printf(&arena, "%s/%s", folder, name));
}

static void make_file(const char *name, const char *text)
{
    int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/assay-root-XXXXXX");
    if (!mkdtemp(folder) || mkdir(in_folder("root"), 0700) || mkdir(in_folder("root/sub"), 0700))
        return -1;
    make_file("outside", "outside");
    make_file("root/file", "root's file");
    make_file("root/sub/file", "sub's file");
    root_fd = open(in_folder("root"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root_fd >= 0 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    const char *const names[] = {"outside",     "root/file",   "root/sub/file",
                                 "root/link",   "root/to-sub", "root/loop",
                                 "root/sub/up", "root/sub",    "root"};
    close(root_fd);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)remove(in_folder(names[i]));
    int rc = rmdir(folder);
    arena_deinit(&arena);
    return rc;
}

// Whether the path leads to the file with this text.
static bool leads_to(const char *path, const char *text)
{
    char got[64] = {0};
    int fd = os_open_in_root(root_fd, str_from_c(path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, got, sizeof(got) - 1);
    close(fd);
    return n >= 0 && strcmp(got, text) == 0;
}

static void plain_paths_begin_at_the_root(void **state)
{
    (void)state;
    assert_true(leads_to("/file", "root's file"));
    assert_true(leads_to("//sub/./file", "sub's file"));
    assert_true(leads_to("/sub/../file", "root's file"));
    assert_false(leads_to("/none", ""));
    assert_int_equal(errno, ENOENT);
    assert_false(leads_to("/file/below", ""));
    assert_int_equal(errno, ENOTDIR);
}

static void nothing_leads_above_the_root(void **state)
{
    (void)state;
    assert_false(leads_to("/../outside", "outside"));
    assert_false(leads_to("/sub/../../outside", "outside"));
    assert_int_equal(symlink("../../outside", in_folder("root/sub/up")), 0);
    assert_false(leads_to("/sub/up", "outside"));
    assert_int_equal(symlink(in_folder("outside"), in_folder("root/link")), 0);
    assert_false(leads_to("/link", "outside"));
}

static void links_are_followed_below_the_root(void **state)
{
    (void)state;
    assert_int_equal(symlink("/sub", in_folder("root/to-sub")), 0);
    assert_true(leads_to("/to-sub/file", "sub's file"));
    assert_int_equal(symlink("../../../file", in_folder("root/sub/up")), 0);
    assert_true(leads_to("/to-sub/up", "root's file"));
    assert_true(os_open_in_root(root_fd, STR("/sub/up"), O_RDONLY | O_NOFOLLOW) < 0);
    assert_int_equal(errno, ELOOP);
}

static void a_circle_of_links_ends(void **state)
{
    (void)state;
    assert_int_equal(symlink("loop", in_folder("root/loop")), 0);
    assert_false(leads_to("/loop", ""));
    assert_int_equal(errno, ELOOP);
}

static void the_root_of_this_process_is_its_own(void **state)
{
    (void)state;
    int fd = os_root_of((uint32_t)getpid());
    assert_true(fd >= 0);
    int passwd = os_open_in_root(fd, STR("/etc/passwd"), O_RDONLY | O_CLOEXEC);
    assert_true(passwd >= 0);
    close(passwd);
    close(fd);
    assert_true(os_root_of(4194303) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_paths_begin_at_the_root, set_up, clean_up),
        cmocka_unit_test_setup_teardown(nothing_leads_above_the_root, set_up, clean_up),
        cmocka_unit_test_setup_teardown(links_are_followed_below_the_root, set_up, clean_up),
        cmocka_unit_test_setup_teardown(a_circle_of_links_ends, set_up, clean_up),
        cmocka_unit_test_setup_teardown(the_root_of_this_process_is_its_own, set_up, clean_up),
    };
    return RUN_TESTS(tests);
}
