// SPDX-License-Identifier: Apache-2.0
// The accounts that agents keep of heaps: a program that writes nonsense there does no harm.

#include "harness.h"

#include "collect/agents/heaps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SITES = 3, FILE_BYTES = WIRE_HEAP_HEAD + SITES * sizeof(WireSite) };
#define RING "77-0"

static AgentSession session;
static AgentHeaps heaps;
static uint8_t *file;

static int set_up(void **state)
{
    (void)state;
    snprintf(session.folder, sizeof(session.folder), "%s/assay-heaps-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(session.folder));
    session.folder_fd = open(session.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = openat(session.folder_fd, WIRE_HEAP_PREFIX RING, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
    file = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(file != MAP_FAILED);
    *(WireHeap *)(void *)file = (WireHeap){
        .magic = WIRE_HEAP_MAGIC, .version = WIRE_VERSION, .pid = 77, .site_count = SITES};
    WireSite *sites = (WireSite *)(void *)(file + WIRE_HEAP_HEAD);
    for (size_t i = 0; i < SITES; i++)
        sites[i] = (WireSite){.bytes = 100 * (i + 1), .blocks = i + 1};
    agent_heaps_init(&heaps, &session);
    assert_true(agent_heaps_add(&heaps, RING));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agent_heaps_deinit(&heaps);
    munmap(file, FILE_BYTES);
    (void)unlinkat(session.folder_fd, WIRE_HEAP_PREFIX RING, 0);
    close(session.folder_fd);
    assert_int_equal(rmdir(session.folder), 0);
    return 0;
}

static void sites_are_kept_when_the_program_ends(void **state)
{
    (void)state;
    agent_heaps_end(&heaps, RING);
    assert_int_equal(heaps.at.at[0].site_count, SITES);
    assert_int_equal(heaps.at.at[0].sites[2].bytes, 300);
    assert_int_equal(faccessat(session.folder_fd, WIRE_HEAP_PREFIX RING, F_OK, 0), -1);
}

// The number of sites is the program's; the size of its file is the kernel's.
static void no_more_sites_are_read_than_the_file_has(void **state)
{
    (void)state;
    AgentHeapSums sums;
    ((WireHeap *)(void *)file)->site_count = UINT32_MAX;
    (void)agent_heaps_level(&heaps);
    agent_heaps_sum(&heaps, &sums);
    assert_int_equal(sums.bytes, 600);
    assert_int_equal(heaps.at.at[0].room, SITES);
    agent_heaps_finish(&heaps);
    assert_int_equal(heaps.at.at[0].site_count, SITES);
}

// A program can give its file any size, and say that it is full. Pages that it has never asked for
// are not read.
static void sites_without_memory_are_not_read(void **state)
{
    (void)state;
    enum { FEW = 8000 };
    if (!heaps.in_memory)
        skip();
    int fd = openat(session.folder_fd, WIRE_HEAP_PREFIX RING, O_RDWR | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, WIRE_HEAP_HEAD + (off_t)WIRE_SITES_MAX * sizeof(WireSite)), 0);
    ((WireHeap *)(void *)file)->site_count = WIRE_SITES_MAX;
    agent_heaps_finish(&heaps);
    assert_in_range(heaps.at.at[0].site_count, SITES, FEW);
    assert_int_equal(heaps.at.at[0].sites[2].bytes, 300);
    // With its memory the file has them all.
    assert_int_equal(posix_fallocate(fd, 0, WIRE_HEAP_HEAD + FEW * sizeof(WireSite)), 0);
    agent_heaps_finish(&heaps);
    assert_true(heaps.at.at[0].site_count >= FEW);
    close(fd);
}

// What is known is kept when the file is taken away first, as when the agent is taken out.
static void a_file_that_is_removed_keeps_its_sites(void **state)
{
    (void)state;
    AgentHeapSums sums;
    (void)agent_heaps_level(&heaps);
    agent_heaps_sum(&heaps, &sums);
    assert_int_equal(unlinkat(session.folder_fd, WIRE_HEAP_PREFIX RING, 0), 0);
    agent_heaps_finish(&heaps);
    assert_int_equal(heaps.at.at[0].site_count, SITES);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sites_are_kept_when_the_program_ends),
        TEST(no_more_sites_are_read_than_the_file_has),
        TEST(sites_without_memory_are_not_read),
        TEST(a_file_that_is_removed_keeps_its_sites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
