// SPDX-License-Identifier: Apache-2.0
// The rings of agents: what is read of them in which order, and that a program that writes nonsense
// there does no harm.

#include "harness.h"

#include "collect/agents/rings.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING_BYTES = 1 << 16, TASK_BYTES = 64 };

static Arena arena;
static AgentSession session;
static AgentRings rings;
static U64Vec taken; // times of the records that were handed over
static uint32_t exits;

static void take(void *ctx, Bytes record)
{
    (void)ctx;
    struct perf_event_header h;
    uint64_t time;
    memcpy(&h, record.ptr, sizeof(h));
    assert_int_equal(h.size, record.len);
    if (record.len < TASK_BYTES)
        return;
    memcpy(&time, record.ptr + record.len - 24, 8);
    vec_push(NULL, &taken, time);
    exits += h.type == PERF_RECORD_EXIT;
}

static void drain(void)
{
    assert_true(agent_rings_drain(&rings, take, NULL));
}

static void open_session(uint64_t ring_bytes)
{
    static char plain[] = "A=1", preload[] = "LD_PRELOAD=/x/other.so";
    char *none[] = {plain, preload, NULL};
    AgentSessionOptions o = {.environment = none, .period_ns = 1000000, .ring_bytes = ring_bytes};
    Error err = {0};
    assert_ok(agent_session_open(&arena, &o, &session, &err), &err);
    agent_rings_init(&rings, &session, NULL);
    taken.len = 0;
    exits = 0;
}

static int set_up(void **state)
{
    (void)state;
    open_session(RING_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    // A session with the ring of a process that runs, as this one does, would stay.
    char name[64];
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof(name), "%u-%u", (uint32_t)getpid(), i);
        (void)unlinkat(session.folder_fd, name, 0);
    }
    (void)unlinkat(session.folder_fd, "1-7", 0);
    agent_rings_deinit(&rings);
    agent_session_close(&session);
    assert_int_equal(access(session.folder, F_OK), -1);
    vec_free(&taken);
    arena_deinit(&arena);
    return 0;
}

// A ring of process `pid`, as an agent makes it.
static WireRing *make_ring_of(uint64_t bytes, uint32_t pid, unsigned number, uint64_t started_ns)
{
    char name[64];
    snprintf(name, sizeof(name), "%u-%u", pid, number);
    int fd = openat(session.folder_fd, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(WIRE_PAGE + bytes)), 0);
    WireRing *r = mmap(NULL, WIRE_PAGE + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(r != MAP_FAILED);
    *r = (WireRing){.magic = WIRE_RING_MAGIC,
                    .version = WIRE_VERSION,
                    .pid = pid,
                    .size = bytes,
                    .started_ns = started_ns};
    return r;
}

static WireRing *make_ring(uint32_t pid, unsigned number, uint64_t started_ns)
{
    return make_ring_of(RING_BYTES, pid, number, started_ns);
}

static void put(WireRing *r, uint32_t type, uint32_t tid, uint64_t time)
{
    uint8_t *at = (uint8_t *)r + WIRE_PAGE + (r->head & (RING_BYTES - 1));
    struct perf_event_header h = {.type = type, .size = TASK_BYTES};
    memset(at, 0, TASK_BYTES);
    memcpy(at, &h, sizeof(h));
    memcpy(at + sizeof(h) + 8, &tid, 4);
    memcpy(at + TASK_BYTES - 24, &time, 8);
    r->head += TASK_BYTES;
}

// A process that has ended: nobody has its number before the next one is handed out.
static uint32_t ended_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return (uint32_t)pid;
}

static void records_of_all_rings_come_in_the_order_of_time(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1), *b = make_ring(ended_process(), 0, 1);
    put(a, PERF_RECORD_MMAP2, 0, 10);
    put(b, PERF_RECORD_MMAP2, 0, 5);
    put(a, PERF_RECORD_MMAP2, 0, 30);
    put(b, PERF_RECORD_MMAP2, 0, 20);
    drain();
    assert_int_equal(taken.len, 4);
    for (size_t i = 1; i < taken.len; i++)
        assert_true(taken.at[i - 1] < taken.at[i]);
    assert_int_equal(rings.rings.len, 1); // that of the ended process is gone
    drain();
    assert_int_equal(taken.len, 4);
}

static void a_ring_goes_round(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    uint64_t n = 0;
    for (int lap = 0; lap < 5; lap++) {
        for (int i = 0; i < RING_BYTES / TASK_BYTES - 3; i++)
            put(a, PERF_RECORD_MMAP2, 0, ++n);
        drain();
        assert_int_equal(a->head, a->tail);
    }
    assert_int_equal(taken.len, n);
}

static void what_is_being_written_waits(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    put(a, PERF_RECORD_MMAP2, 0, 1);
    put(a, 0, 0, 2);
    put(a, PERF_RECORD_MMAP2, 0, 3);
    drain();
    assert_int_equal(taken.len, 1);
    uint32_t type = PERF_RECORD_MMAP2;
    memcpy((uint8_t *)a + WIRE_PAGE + TASK_BYTES, &type, 4);
    drain();
    assert_int_equal(taken.len, 3);
}

static void what_was_never_finished_is_skipped(void **state)
{
    (void)state;
    WireRing *a = make_ring(ended_process(), 0, 1);
    put(a, 0, 0, 1);
    put(a, PERF_RECORD_MMAP2, 0, 2);
    drain();
    assert_int_equal(taken.len, 1);
    assert_int_equal(rings.rings.len, 0);
}

static void threads_of_an_ended_process_end(void **state)
{
    (void)state;
    WireRing *a = make_ring(ended_process(), 0, 1);
    put(a, PERF_RECORD_FORK, 100, 1);
    put(a, PERF_RECORD_FORK, 101, 2);
    put(a, PERF_RECORD_EXIT, 100, 3);
    drain();
    assert_int_equal(taken.len, 4);
    assert_int_equal(exits, 2);
}

// Whichever of the two is found first.
static void a_later_program_of_a_process_replaces_the_earlier_one(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        uint32_t pid = (uint32_t)getpid();
        WireRing *old = make_ring(pid, 2 * first, 100), *new = make_ring(pid, 2 * first + 1, 200);
        put(old, PERF_RECORD_MMAP2, 0, 110);
        put(new, PERF_RECORD_MMAP2, 0, 210);
        drain();
        put(new, PERF_RECORD_MMAP2, 0, 220);
        drain();
        assert_int_equal(taken.len, 3 * (first + 1));
        new->started_ns = 50; // the next round's are later
    }
}

static void nonsense_does_no_harm(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    drain();
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 64; i++) {
            seed = seed * 1664525 + 1013904223;
            ((uint8_t *)a)[WIRE_PAGE + seed % RING_BYTES] = (uint8_t)(seed >> 24);
        }
        a->head += seed % 512 * 8;
        if (round % 100 == 0)
            a->head = UINT64_MAX - seed;
        if (round % 77 == 0)
            a->head = a->tail = 0;
        a->size = seed;
        drain();
        taken.len = 0;
    }
    assert_true(agent_rings_counts(&rings).broken > 0);
}

// The program can write any number there: nothing is read of a ring that cannot be so full, and
// what it writes after that is read.
static void a_head_that_cannot_be_does_no_harm(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    const uint64_t heads[] = {RING_BYTES + 8, 13, UINT64_MAX, 1ull << 62, 64};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        for (uint64_t at = 0; at < RING_BYTES; at += TASK_BYTES) {
            a->head = at;
            put(a, PERF_RECORD_MMAP2, 0, 1);
        }
        if (rings.rings.len)
            rings.rings.at[0].tail = 128;
        a->head = heads[i];
        drain();
        assert_int_equal(taken.len, 0);
        assert_int_equal(agent_rings_counts(&rings).broken, i + 1);
        assert_int_equal(a->tail, heads[i] / 8 * 8);
    }
    a->head = a->tail;
    put(a, PERF_RECORD_MMAP2, 0, 1);
    drain();
    assert_int_equal(taken.len, 1);
}

// A program can name threads without end.
static void so_many_threads_are_followed_and_no_more(void **state)
{
    (void)state;
    enum { MOST = 1 << 14, MORE = MOST + 2000 };
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    for (uint32_t tid = 1; tid <= MORE; tid++) {
        put(a, PERF_RECORD_FORK, tid, tid);
        if (tid % 512 == 0 || tid == MORE)
            drain();
    }
    assert_int_equal(taken.len, MORE);
    assert_int_equal(rings.rings.at[0].threads.len, MOST);
}

// Too short for a time: nothing before the record is read.
static void a_short_record_does_no_harm(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    const struct perf_event_header h = {.type = PERF_RECORD_MMAP2, .size = 16};
    memcpy((uint8_t *)a + WIRE_PAGE, &h, sizeof(h));
    a->head = 16;
    put(a, PERF_RECORD_MMAP2, 0, 1);
    drain();
    assert_int_equal(taken.len, 1);
}

static _Atomic bool is_changing;

// Gives the first record one size and another, again and again.
static void *change_sizes(void *ring)
{
    _Atomic uint16_t *size = (_Atomic uint16_t *)(void *)((uint8_t *)ring + WIRE_PAGE + 6);
    while (atomic_load(&is_changing)) {
        atomic_store(size, 0);
        atomic_store(size, TASK_BYTES);
        atomic_store(size, TASK_BYTES);
        atomic_store(size, RING_BYTES - 8);
        atomic_store(size, TASK_BYTES);
    }
    return NULL;
}

// What was checked is what is handed over, also when the program changes it meanwhile.
static void a_record_that_changes_while_it_is_read_does_no_harm(void **state)
{
    (void)state;
    pthread_t changer;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    drain();
    atomic_store(&is_changing, true);
    assert_int_equal(pthread_create(&changer, NULL, change_sizes, a), 0);
    for (int round = 0; round < 20000; round++) {
        a->head = 0;
        rings.rings.at[0].tail = 0;
        put(a, PERF_RECORD_MMAP2, 0, 1);
        drain();
        taken.len = 0;
    }
    atomic_store(&is_changing, false);
    pthread_join(changer, NULL);
}

// The session says how large rings are. A larger one would be read for longer than the others.
static void a_ring_of_another_size_is_not_read(void **state)
{
    (void)state;
    const uint64_t sizes[] = {RING_BYTES / 2, 2 * RING_BYTES};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        put(make_ring_of(sizes[i], ended_process(), (unsigned)i, 1), PERF_RECORD_MMAP2, 0, 1);
        drain();
        assert_int_equal(taken.len, 0);
        assert_int_equal(rings.rings.len, 0);
    }
}

enum { LARGE_BYTES = 16 << 20, LARGE_RINGS = 6, FILL_BYTES = 1 << 15, CALL_MAX_BYTES = 64 << 20 };

// Fills a ring up to the last byte; its last record has that time.
static void fill(WireRing *r, uint64_t time)
{
    while (r->head - r->tail <= LARGE_BYTES - FILL_BYTES) {
        uint8_t *at = (uint8_t *)r + WIRE_PAGE + (r->head & (LARGE_BYTES - 1));
        const struct perf_event_header h = {.type = PERF_RECORD_MMAP2, .size = FILL_BYTES};
        memcpy(at + FILL_BYTES - 24, &time, 8);
        memcpy(at, &h, sizeof(h));
        r->head += FILL_BYTES;
    }
}

// Programs that fill their rings as fast as they are read do not keep others from being read, and
// take no more memory than a part of their rings.
static void each_ring_has_its_turn(void **state)
{
    (void)state;
    (void)tear_down(state);
    open_session(LARGE_BYTES);
    WireRing *ring[LARGE_RINGS];
    pid_t child[LARGE_RINGS];
    for (unsigned i = 0; i < LARGE_RINGS; i++) {
        child[i] = fork();
        if (child[i] == 0)
            for (;;)
                pause();
        assert_true(child[i] > 0);
        ring[i] = make_ring_of(LARGE_BYTES, (uint32_t)child[i], 0, 1);
    }
    for (unsigned call = 0; call < 6; call++) {
        uint32_t before[LARGE_RINGS], read = 0;
        for (unsigned i = 0; i < LARGE_RINGS; i++) {
            fill(ring[i], i);
            before[i] = (uint32_t)(ring[i]->tail / LARGE_BYTES);
        }
        bool all = agent_rings_drain(&rings, take, NULL);
        assert_true(rings.bytes.len <= CALL_MAX_BYTES + LARGE_BYTES);
        for (unsigned i = 0; i < LARGE_RINGS; i++)
            read += ring[i]->tail / LARGE_BYTES != before[i];
        assert_int_equal(read, call % 2 ? LARGE_RINGS - 5 : 5);
        assert_int_equal(all, call % 2);
        for (unsigned i = 0; all && i < LARGE_RINGS; i++)
            assert_int_equal(ring[i]->tail, (call + 1) / 2 * (uint64_t)LARGE_BYTES);
    }
    for (unsigned i = 0; i < LARGE_RINGS; i++) {
        kill(child[i], SIGKILL);
        assert_int_equal(waitpid(child[i], NULL, 0), child[i]);
    }
    while (!agent_rings_drain(&rings, take, NULL))
        ;
    assert_int_equal(rings.rings.len, 0);
}

static void a_file_cut_short_does_no_harm(void **state)
{
    (void)state;
    WireRing *a = make_ring((uint32_t)getpid(), 0, 1);
    put(a, PERF_RECORD_MMAP2, 0, 1);
    drain();
    char path[512];
    snprintf(path, sizeof(path), "%s/%u-0", session.folder, (uint32_t)getpid());
    assert_int_equal(truncate(path, 0), 0);
    drain();
    assert_int_equal(taken.len, 1);
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    const char *const names[] = {"x-1", "1", "-", "99999999999-0", "1-", "0-0"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        close(openat(session.folder_fd, names[i], O_RDWR | O_CREAT, 0600));
    assert_int_equal(mkfifoat(session.folder_fd, "1-7", 0600), 0);
    drain();
    assert_int_equal(rings.rings.len, 0);
}

static void what_the_user_preloads_stays(void **state)
{
    (void)state;
    char *const *e = session.environment;
    assert_string_equal(e[0], "A=1");
    assert_non_null(strstr(e[1], "/libassay.so:/x/other.so"));
    assert_string_equal(e[2], "ASAN_OPTIONS=verify_asan_link_order=0");
    assert_null(e[3]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(records_of_all_rings_come_in_the_order_of_time),
        TEST(a_ring_goes_round),
        TEST(what_is_being_written_waits),
        TEST(what_was_never_finished_is_skipped),
        TEST(threads_of_an_ended_process_end),
        TEST(a_later_program_of_a_process_replaces_the_earlier_one),
        TEST(nonsense_does_no_harm),
        TEST(a_head_that_cannot_be_does_no_harm),
        TEST(so_many_threads_are_followed_and_no_more),
        TEST(a_short_record_does_no_harm),
        TEST(a_record_that_changes_while_it_is_read_does_no_harm),
        TEST(a_ring_of_another_size_is_not_read),
        TEST(each_ring_has_its_turn),
        TEST(a_file_cut_short_does_no_harm),
        TEST(other_files_are_left_alone),
        TEST(what_the_user_preloads_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
