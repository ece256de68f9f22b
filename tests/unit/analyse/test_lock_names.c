// SPDX-License-Identifier: Apache-2.0
// Locks named by the source lines that take them.

#include "analyse/wait/lock_names.h"

#include "harness.h"
#include "sketch.h"

static void is_named(const char *line, bool is_mutex, const char *wanted)
{
    Str name = {0};
    bool found = lock_name_in_line(str_from_c(line), is_mutex, &name);
    assert_int_equal(found, wanted != NULL);
    if (wanted)
        assert_true(str_equal(name, str_from_c(wanted)));
}

static void lines_name_the_lock(void **state)
{
    (void)state;
    is_named("    pthread_mutex_lock(&q->mutex);", true, "q->mutex");
    is_named("if (pthread_mutex_timedlock( & pool.locks[i] , &t))", true, "pool.locks[i]");
    is_named("while (n) pthread_cond_wait(&q->ready, &q->mutex);", false, "q->ready");
    is_named("while (n) pthread_cond_wait(&q->ready, &q->mutex);", true, "q->mutex");
    is_named("sem_wait(&free_slots)", false, "free_slots");
    is_named("std::lock_guard<std::mutex> guard(m_);", true, "m_");
    is_named("std::unique_lock lk{this->state.mu};", true, "this->state.mu");
    is_named("std::scoped_lock<std::mutex, std::map<int, int>> g(a.mu, b.mu);", true, "a.mu");
    is_named("q->mutex.lock();", true, "q->mutex");
    is_named("let mut g = self.inner.queue.lock().unwrap();", true, "self.inner.queue");
    is_named("cv.wait(lk, [&] { return done; });", false, "cv");
    is_named("cv.wait(lk, [&] { return done; });", true, NULL); // the mutex has no name here
    is_named("pthread_mutex_unlock(&a); pthread_mutex_lock(&b);", true, "b");
    is_named("AcquireLock(Pool::table)", true, "Pool::table");
}

static void other_lines_name_none(void **state)
{
    (void)state;
    is_named("", true, NULL);
    is_named("return 1;", true, NULL);
    is_named("pthread_mutex_lock(", true, NULL);
    is_named("pthread_mutex_lock()", true, NULL);
    is_named("pthread_mutex_lock(find(q, 3))", true, NULL);
    is_named("lock_guard<", true, NULL);
    is_named("clock_gettime(CLOCK_MONOTONIC, &t);", true, NULL);
    is_named("block(q);", true, NULL);
    is_named("((((((", true, NULL);
    is_named("->lock()", true, NULL);
    is_named(".wait(", false, NULL);
}

static void add_wait(Sketch *s, const char *stack, const char *object, uint64_t ns)
{
    StackId at = sketch_stack(&s->p, stack);
    StrId name = profile_str(&s->p, str_from_c(object));
    profile_add_wait(&s->p, &(WaitRow){.thread = s->main_thread,
                                       .stack = at,
                                       .state = WAIT_LOCK,
                                       .object = name,
                                       .count = 1,
                                       .blocked_ns = ns});
    profile_add_state(&s->p, &(StateRow){.thread = s->main_thread,
                                         .state = WAIT_LOCK,
                                         .end_ns = (int64_t)ns,
                                         .object = name,
                                         .stack = at});
}

static void add_line(Sketch *s, const char *file, uint32_t line, const char *text)
{
    profile_source_line(&s->p, profile_str(&s->p, str_from_c(file)), line, str_from_c(text));
}

static void is_object(const Sketch *s, size_t row, const char *wanted)
{
    assert_true(str_equal(profile_text(&s->p, s->p.waits.object.at[row]), str_from_c(wanted)));
    assert_int_equal(s->p.waits.object.at[row].v, s->p.states.object.at[row].v);
}

static void locks_of_a_recording_get_names(void **state)
{
    (void)state;
    Sketch s;
    sketch_open(&s);
    add_line(&s, "/src/push.c", 20, "pthread_mutex_lock(&q->mutex);");
    add_line(&s, "/src/pop.c", 30, "pthread_mutex_lock(&queue->mutex);");
    add_line(&s, "/src/take.c", 40, "pthread_mutex_lock(m);");
    add_line(&s, "/src/work.c", 50, "take(&pool->jobs, 3);");
    add_wait(&s, "main;push:20;?libc", "0x7f10", 5);
    add_wait(&s, "main;pop:30;?libc", "0x7f10", 50); // the same lock: one name
    add_wait(&s, "main;work:50;take:40;?libc", "0x7f90", 5);
    add_wait(&s, "main;other:20;take:40;?libc", "table+72", 5);
    add_wait(&s, "main;push:20;?libc", "cache_lock", 5); // has a name
    add_wait(&s, "main;nowhere:9;?libc", "0x7fff", 5);   // no source
    waits_name_locks(&s.p);
    is_object(&s, 0, "queue->mutex (0x7f10)");
    is_object(&s, 1, "queue->mutex (0x7f10)");
    is_object(&s, 2, "pool->jobs (0x7f90)");
    is_object(&s, 3, "m (table+72)");
    is_object(&s, 4, "cache_lock");
    is_object(&s, 5, "0x7fff");
    waits_name_locks(&s.p); // again: nothing changes
    is_object(&s, 1, "queue->mutex (0x7f10)");
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_name_the_lock),
        cmocka_unit_test(other_lines_name_none),
        cmocka_unit_test(locks_of_a_recording_get_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
