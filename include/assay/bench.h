// SPDX-License-Identifier: Apache-2.0
// Function benchmarks for C and C++, and through the C ABI for other languages.
// No library: one file of the program defines ASSAY_BENCH_MAIN (or
// ASSAY_BENCH_IMPLEMENTATION, to write its own main) before it includes this.
//
//     #define ASSAY_BENCH_MAIN
//     #include <assay/bench.h>
//
//     ASSAY_BENCH(sum_squares)
//     {
//         static int values[1000];
//         const int *v = values;
//         assay_bench_elements(bench, 1000);
//         ASSAY_LOOP(bench) {
//             long sum = 0;
//             ASSAY_HIDE(v); // else the compiler sums known values once, or not at all
//             for (int i = 0; i < 1000; i++)
//                 sum += (long)v[i] * v[i];
//             ASSAY_USE(sum);
//         }
//     }
//
// C99 to C23 and C++11 to C++23, gcc and clang, 64-bit Linux.
// Build with optimisation and run: `./benches` prints a table of one process;
// `assay bench ./benches` knows it by the note it carries and repeats the process,
// which is what makes an interval honest. It compares builds: --against
// ./benches.old, and with what was saved: --save, --baseline.

#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// One benchmark while it runs. The fields are the implementation's.
typedef struct AssayBench {
    const char *name;
    int64_t arg;
    uint64_t iterations;        // of this sample
    uint64_t left;              // of them, for batches
    uint64_t start_ns, time_ns; // the timed part so far
    uint64_t bytes, elements;   // of one iteration; 0: not said
    int batched;
    // What the kernel said when it was last asked, and what of that lies in the timed part.
    uint64_t asked_ns, asked_cpu_ns, asked_wait_ns;
    uint64_t cpu_ns, wait_ns;
} AssayBench;

typedef void (*AssayBenchFunction)(AssayBench *bench);

// Adds a benchmark. `name` must stay. With args, it runs once for each, as
// "name/ARG"; args NULL: once. Other languages call this, then assay_bench_main.
void assay_bench_register(const char *name, AssayBenchFunction function, const int64_t *args,
                          size_t arg_count);
// Runs what the arguments ask for: the program's main. Returns its exit status.
int assay_bench_main(int argc, char **argv);

// Fills `values` with low, low * factor … high, ASSAY_RANGE_MAX at most; how many.
enum { ASSAY_RANGE_MAX = 64 };
size_t assay_bench_range(int64_t low, int64_t high, int64_t factor, int64_t *values);

uint64_t assay_bench_begin(AssayBench *bench); // starts the clock; how often to loop
void assay_bench_end(AssayBench *bench);       // stops it
// Batches, for work that needs fresh inputs whose making is not timed:
//     for (size_t n; (n = assay_bench_batch(bench, 64)) > 0;) {
//         make n inputs;
//         assay_bench_batch_start(bench);
//         for (size_t i = 0; i < n; i++) work on input i;
//         assay_bench_batch_stop(bench);
//     }
size_t assay_bench_batch(AssayBench *bench, size_t most); // how many are next; 0: done
void assay_bench_batch_start(AssayBench *bench);
void assay_bench_batch_stop(AssayBench *bench);

// The inline functions below, for languages that cannot call those.
int64_t assay_bench_get_arg(const AssayBench *bench);
void assay_bench_set_bytes(AssayBench *bench, uint64_t bytes);
void assay_bench_set_elements(AssayBench *bench, uint64_t elements);

static inline int64_t assay_bench_arg(const AssayBench *bench)
{
    return bench->arg;
}
// What one iteration works through, for throughput.
static inline void assay_bench_bytes(AssayBench *bench, uint64_t bytes)
{
    bench->bytes = bytes;
}
static inline void assay_bench_elements(AssayBench *bench, uint64_t elements)
{
    bench->elements = elements;
}

// Defines and registers a benchmark; the body sees `bench`.
#define ASSAY_BENCH(id) ASSAY_BENCH_DEFINE_(id, 0, 0)
// The same for each of the values: ASSAY_BENCH_ARGS(sort, 10, 100, 1000) { … }
#define ASSAY_BENCH_ARGS(id, ...)                                                                  \
    static const int64_t assay_user_args_##id[] = {__VA_ARGS__};                                   \
    ASSAY_BENCH_DEFINE_(id, assay_user_args_##id,                                                  \
                        sizeof(assay_user_args_##id) / sizeof(assay_user_args_##id[0]))

// The same for low, low * factor … and high: ASSAY_BENCH_RANGE(sort, 8, 4096, 8) { … }
#define ASSAY_BENCH_RANGE(id, low, high, factor)                                                   \
    static int64_t assay_user_args_##id[ASSAY_RANGE_MAX];                                          \
    ASSAY_BENCH_DEFINE_(id, assay_user_args_##id,                                                  \
                        assay_bench_range(low, high, factor, assay_user_args_##id))

#define ASSAY_BENCH_DEFINE_(id, args, count)                                                       \
    static void assay_user_bench_##id(AssayBench *bench);                                          \
    __attribute__((constructor)) static void assay_user_register_##id(void)                        \
    {                                                                                              \
        assay_bench_register(#id, assay_user_bench_##id, args, count);                             \
    }                                                                                              \
    static void assay_user_bench_##id(AssayBench *bench)

// The timed loop. It costs one decrement and jump, which is measured and taken off.
#define ASSAY_LOOP(bench)                                                                          \
    for (uint64_t assay_left_ = assay_bench_begin(bench);                                          \
         assay_left_ != 0 || (assay_bench_end(bench), 0); assay_left_--, ASSAY_KEEP_())

// The compiler must make the value, and must take memory for changed.
#define ASSAY_USE(value) __asm__ volatile("" : : "g"(value) : "memory")
// The value, of which the compiler knows nothing: Rust's black_box.
#define ASSAY_BLACK_BOX(value)                                                                     \
    __extension__({                                                                                \
        __typeof__(value) assay_value_ = (value);                                                  \
        __asm__ volatile("" : "+m"(assay_value_) : : "memory");                                    \
        assay_value_;                                                                              \
    })
// The compiler must take the variable for changed: hides a constant input.
#define ASSAY_HIDE(variable) __asm__ volatile("" : "+m"(variable) : : "memory")
#define ASSAY_KEEP_()        __extension__({ __asm__ volatile(""); })

#ifdef __cplusplus
}
#endif

#if defined(ASSAY_BENCH_MAIN) && !defined(ASSAY_BENCH_IMPLEMENTATION)
#define ASSAY_BENCH_IMPLEMENTATION
#endif
#if defined(ASSAY_BENCH_IMPLEMENTATION) && !defined(ASSAY_BENCH_IMPLEMENTED)
#define ASSAY_BENCH_IMPLEMENTED
#include <assay/bench_driver.h>
#endif

#endif // ASSAY_BENCH_H
