// SPDX-License-Identifier: Apache-2.0
// Places of waits in programs that a runtime executes, and threads of the runtime's own.

#include "analyse/waits.h"

#include "harness.h"
#include "sketch.h"

// A stack of {module, function, file}, root first.
typedef struct Frame {
    const char *module, *function, *file;
} Frame;

static StackId stack_of(Profile *p, const Frame *frames, size_t count)
{
    StackId stack = {0};
    for (size_t i = 0; i < count; i++) {
        bool is_jit = frames[i].module[0] == '[';
        ModuleId module = profile_module(p, is_jit ? MODULE_JIT : MODULE_FILE,
                                         str_from_c(frames[i].module), STR(""));
        Str name = str_from_c(frames[i].function), file = str_from_c(frames[i].file);
        FrameId frame = profile_named_frame(p, module, 16 * (uint64_t)i,
                                            profile_function(p, name, name, file, 1),
                                            profile_str(p, file), 7, 0);
        stack = profile_stack(p, stack, frame);
    }
    return stack;
}

static const Frame start = {"/lib/jvm/libjvm.so", "thread_native_entry(Thread*)", ""};
static const Frame call = {"/lib/jvm/libjvm.so", "JavaCalls::call_helper", ""};
static const Frame park = {"/lib/jvm/libjvm.so", "os::PlatformEvent::park()", ""};
static const Frame enter = {"/lib/jvm/libjvm.so", "ObjectMonitor::enter", ""};
static const Frame wait = {"/lib/libc.so.6", "pthread_cond_wait", ""};
static const Frame work = {"[Java]", "W.work", "W.java"};
static const Frame take = {"[Java]", "java.util.concurrent.ThreadPoolExecutor.getTask", "X.java"};

static void expect_place(const Profile *p, StackId stack, Str name)
{
    FunctionId f = p->frames.function.at[wait_own_place(p, stack).frame.v];
    assert_true(str_equal(profile_text(p, p->functions.name.at[f.v]), name));
}

static void a_worker_of_a_pool_of_java_is_idle_and_one_at_work_is_not(void **state)
{
    (void)state;
    Sketch s;
    Profile *p = &sketch_open(&s)->p;
    StackId idle = stack_of(p, (Frame[]){start, call, take, enter, park, wait}, 6);
    StackId busy = stack_of(p, (Frame[]){start, call, work, enter, park, wait}, 6);
    assert_true(wait_is_idle(p, WAIT_LOCK, idle));
    assert_false(wait_is_idle(p, WAIT_LOCK, busy));
    assert_false(wait_is_idle(p, WAIT_DISK, idle));
    expect_place(p, busy, STR("W.work"));
    sketch_close(&s);
}

static void places_are_those_of_the_program_and_not_of_its_libraries(void **state)
{
    (void)state;
    Sketch s;
    Profile *p = &sketch_open(&s)->p;
    Frame main = {"[Python]", "cons", "/src/w.py"}, native = {"/bin/python3", "acquire", "/p/t.c"};
    Frame get = {"[Python]", "get", "/usr/lib/python3.11/queue.py"};
    Frame frozen = {"[Python]", "load", "<frozen importlib>"};
    expect_place(p, stack_of(p, (Frame[]){main, get, native, wait}, 4), STR("cons"));
    expect_place(p, stack_of(p, (Frame[]){frozen, get, native, wait}, 4), STR("acquire"));
    Frame handle = {"[JavaScript]", "handle", "/src/n.js"};
    Frame write = {"[JavaScript]", "writeSync", "node:fs"};
    expect_place(p, stack_of(p, (Frame[]){handle, write, native, wait}, 4), STR("handle"));
    sketch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_of_a_pool_of_java_is_idle_and_one_at_work_is_not),
        cmocka_unit_test(places_are_those_of_the_program_and_not_of_its_libraries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
