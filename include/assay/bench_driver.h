// SPDX-License-Identifier: Apache-2.0
// The part of bench.h that is compiled once in a program: sampling and output of
// one process. Includes as C and as C++.

#ifndef ASSAY_BENCH_DRIVER_H
#define ASSAY_BENCH_DRIVER_H

#include <assay/bench.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// libc's functions under names of our own: -std=c99 and its like declare none of them, and a
// header that the program includes after its system headers cannot change that any more.
typedef struct AssayTime {
    long s, ns; // as the kernel has it on 64-bit machines
} AssayTime;
extern int assay_clock_gettime(int clock, AssayTime *ret) __asm__("clock_gettime");
extern int assay_open(const char *path, int flags, ...) __asm__("open");
extern long assay_pread(int fd, void *to, size_t size, long offset) __asm__("pread");

// An ELF note by which `assay bench` knows such programs: name "assay", type 1,
// the version of what the driver prints with --json.
__asm__(".pushsection .note.assay.bench,\"a\",@note\n"
        ".balign 4\n"
        ".long 6, 4, 1\n"
        ".asciz \"assay\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");

typedef struct AssayRegistered {
    const char *name;
    AssayBenchFunction function;
    const int64_t *args;
    size_t arg_count;
} AssayRegistered;

enum { ASSAY_BENCHES_MAX = 4096, ASSAY_SAMPLES_MAX = 1000 };
static AssayRegistered assay_benches[ASSAY_BENCHES_MAX];
static size_t assay_bench_count;

enum { ASSAY_CLOCK_MONOTONIC = 1, ASSAY_CLOCK_PROCESS_CPUTIME = 2 };

static uint64_t assay_clock_ns(int clock)
{
    AssayTime t;
    if (assay_clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.s * 1000000000u + (uint64_t)t.ns;
}

static uint64_t assay_now_ns(void)
{
    return assay_clock_ns(ASSAY_CLOCK_MONOTONIC);
}

static int assay_schedstat_fd = -1; // of the thread that runs the benchmarks

// How long the thread has been ready to run without a CPU: the second number of its schedstat.
static uint64_t assay_waited_ns(void)
{
    char text[96];
    long n = assay_schedstat_fd < 0 ? -1 : assay_pread(assay_schedstat_fd, text, 95, 0);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    char *rest = text;
    strtoull(text, &rest, 10);
    return strtoull(rest, NULL, 10);
}

// Only a part so long can hold a wait for a CPU. To ask costs 2 µs, too much around each of many
// short batches.
enum { ASSAY_ASK_AFTER_NS = 50000 };

static void assay_start_part(AssayBench *bench)
{
    uint64_t now = assay_now_ns();
    if (now - bench->asked_ns >= ASSAY_ASK_AFTER_NS) {
        bench->asked_wait_ns = assay_waited_ns();
        bench->asked_cpu_ns = assay_clock_ns(ASSAY_CLOCK_PROCESS_CPUTIME);
        bench->asked_ns = now;
        now = assay_now_ns();
    }
    bench->start_ns = now;
}

static void assay_end_part(AssayBench *bench)
{
    uint64_t now = assay_now_ns(), took = now - bench->start_ns;
    bench->time_ns += took;
    if (took < ASSAY_ASK_AFTER_NS) {
        bench->cpu_ns += took;
        return;
    }
    uint64_t cpu = assay_clock_ns(ASSAY_CLOCK_PROCESS_CPUTIME), wait = assay_waited_ns();
    uint64_t ran = cpu - bench->asked_cpu_ns, waited = wait - bench->asked_wait_ns;
    // The time in which other threads computed is not counted as waiting of this thread.
    uint64_t most = ran < took ? took - ran : 0;
    bench->cpu_ns += ran;
    bench->wait_ns += waited < most ? waited : most;
    bench->asked_ns = now;
    bench->asked_cpu_ns = cpu;
    bench->asked_wait_ns = wait;
}

void assay_bench_register(const char *name, AssayBenchFunction function, const int64_t *args,
                          size_t arg_count)
{
    if (assay_bench_count == ASSAY_BENCHES_MAX) {
        fprintf(stderr, "assay: more than %d benchmarks; '%s' is left out\n", ASSAY_BENCHES_MAX,
                name);
        return;
    }
    AssayRegistered r = {name, function, args, arg_count};
    assay_benches[assay_bench_count++] = r;
}

size_t assay_bench_range(int64_t low, int64_t high, int64_t factor, int64_t *values)
{
    size_t n = 0;
    int64_t at = low;
    while (at < high && n < ASSAY_RANGE_MAX - 1) {
        values[n++] = at;
        // What would not grow, or overflow, ends with `high`.
        if (factor < 2 || at < 1 || at > high / factor)
            break;
        at *= factor;
    }
    values[n++] = high;
    return n;
}

uint64_t assay_bench_begin(AssayBench *bench)
{
    assay_start_part(bench);
    return bench->iterations;
}

void assay_bench_end(AssayBench *bench)
{
    assay_end_part(bench);
}

size_t assay_bench_batch(AssayBench *bench, size_t most)
{
    uint64_t n = bench->left < most ? bench->left : most;
    bench->batched = 1;
    bench->left -= n;
    return (size_t)n;
}

void assay_bench_batch_start(AssayBench *bench)
{
    assay_start_part(bench);
}

void assay_bench_batch_stop(AssayBench *bench)
{
    assay_end_part(bench);
}

int64_t assay_bench_get_arg(const AssayBench *bench)
{
    return bench->arg;
}

void assay_bench_set_bytes(AssayBench *bench, uint64_t bytes)
{
    bench->bytes = bytes;
}

void assay_bench_set_elements(AssayBench *bench, uint64_t elements)
{
    bench->elements = elements;
}

static uint64_t assay_run_sample(AssayBench *bench, AssayBenchFunction function,
                                 uint64_t iterations)
{
    bench->iterations = bench->left = iterations;
    bench->time_ns = bench->cpu_ns = bench->wait_ns = 0;
    function(bench);
    return bench->time_ns;
}

static void assay_empty_loop(AssayBench *bench)
{
    ASSAY_LOOP(bench)
    {
    }
}

// Cost of one turn of an empty loop: the least of several, as disturbance only adds.
static double assay_loop_cost_ns(void)
{
    enum { TURNS = 1000000 };
    AssayBench bench;
    double least = 1e9;
    memset(&bench, 0, sizeof(bench));
    for (int i = 0; i < 9; i++) {
        double cost = (double)assay_run_sample(&bench, assay_empty_loop, TURNS) / (double)TURNS;
        if (cost < least)
            least = cost;
    }
    return least;
}

// One CPU cycle, about: a step of this chain takes six, each operation waiting for the one before.
static double assay_cycle_ns(void)
{
    enum { STEPS = 4000, TRIES = 50 };
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        uint64_t x = 88172645463325252u, from = assay_now_ns();
        ASSAY_HIDE(x);
        for (int k = 0; k < STEPS; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        ASSAY_USE(x);
        double cost = (double)(assay_now_ns() - from) / (double)(STEPS * 6);
        if (cost < least)
            least = cost;
    }
    return least;
}

typedef struct AssayRunOptions {
    double warm_s, measure_s;
    int samples;
    int json; // rows for `assay bench`
    double loop_ns, cycle_ns;
} AssayRunOptions;

static int assay_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void assay_print_json_name(const char *name, const char *suffix)
{
    const char *parts[2];
    parts[0] = name;
    parts[1] = suffix;
    for (int i = 0; i < 2; i++)
        for (const char *c = parts[i]; *c; c++) {
            if (*c == '"' || *c == '\\')
                putchar('\\');
            putchar((unsigned char)*c < 0x20 ? ' ' : *c);
        }
}

static void assay_print_json_array(const char *name, const double *values, int count)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%.9g", i ? "," : "", values[i]);
    printf("]");
}

// What was measured of one benchmark.
typedef struct AssaySamples {
    double iterations[ASSAY_SAMPLES_MAX];
    double times[ASSAY_SAMPLES_MAX]; // all of it; below, the parts of it, in ns
    double waits[ASSAY_SAMPLES_MAX], cpus[ASSAY_SAMPLES_MAX];
    double each[ASSAY_SAMPLES_MAX]; // less the wait, by iterations
} AssaySamples;

static void assay_print_json(const AssayBench *bench, const char *suffix, const AssaySamples *s,
                             double slope, const AssayRunOptions *o)
{
    printf("{\"name\":\"");
    assay_print_json_name(bench->name, suffix);
    printf("\",\"slope_ns\":%.9g,\"cycle_ns\":%.4g,\"bytes\":%" PRIu64 ",\"elements\":%" PRIu64,
           slope, o->cycle_ns, bench->bytes, bench->elements);
    assay_print_json_array("iters", s->iterations, o->samples);
    assay_print_json_array("times", s->times, o->samples);
    if (assay_schedstat_fd >= 0)
        assay_print_json_array("waits", s->waits, o->samples);
    assay_print_json_array("cpus", s->cpus, o->samples);
    printf("}\n");
}

static void assay_print_row(const AssayBench *bench, const char *suffix, AssaySamples *s,
                            double slope, const AssayRunOptions *o)
{
    // No machine reads or computes as much in a cycle.
    const double most_in_a_cycle = 256;
    double median, cycle = o->cycle_ns, work = (double)bench->bytes;
    if ((double)bench->elements > work)
        work = (double)bench->elements;
    qsort(s->each, (size_t)o->samples, sizeof(s->each[0]), assay_compare_doubles);
    median = s->each[o->samples / 2];
    printf("%-32s%-12s %14.2f ns/iter", bench->name, suffix, slope);
    printf("   median %.2f, range %.2f to %.2f", median, s->each[0], s->each[o->samples - 1]);
    if (median < cycle || work * cycle > most_in_a_cycle * median) {
        printf(
            "\n  Warning: %s; the compiler has probably removed the work: ASSAY_USE its result,\n"
            "  ASSAY_HIDE its input\n",
            median < cycle ? "this is less than one CPU cycle" : "no CPU is so fast");
        return;
    }
    if (bench->bytes && slope > 0)
        printf("   %.1f MB/s", (double)bench->bytes / slope * 1e3);
    if (bench->elements && slope > 0)
        printf("   %.2f M elements/s", (double)bench->elements / slope * 1e3);
    printf("\n");
}

// Linear sampling as Criterion's: d, 2d, … iterations, so that a slope frees the
// time of an iteration from what each sample costs once.
static void assay_run_bench(const AssayRegistered *r, int64_t arg, const char *suffix,
                            const AssayRunOptions *o)
{
    static AssaySamples samples;
    AssayBench bench;
    memset(&bench, 0, sizeof(bench));
    bench.name = r->name;
    bench.arg = arg;
    uint64_t start = assay_now_ns(), n = 1, done = 0, spent = 0;
    while ((double)(assay_now_ns() - start) < o->warm_s * 1e9 || spent == 0) {
        spent += assay_run_sample(&bench, r->function, n);
        done += n;
        if (assay_now_ns() - start > 60000000000u || n > UINT64_C(1) << 60)
            break; // nothing is timed in it
        n *= 2;
    }
    // Set-up that is not timed takes time too.
    double wall = (double)(assay_now_ns() - start) / (double)done;
    double turns = o->measure_s * 1e9 / wall;
    double unit = turns / ((double)o->samples * (o->samples + 1) / 2.0);
    uint64_t d = unit < 1 ? 1 : (uint64_t)unit;
    double xy = 0, xx = 0;
    // Loop cost is not in what a batch times.
    double loop = bench.batched ? 0 : o->loop_ns;
    for (int s = 0; s < o->samples; s++) {
        uint64_t count = d * (uint64_t)(s + 1);
        double took = (double)assay_run_sample(&bench, r->function, count);
        double off = loop * (double)count, wait = (double)bench.wait_ns;
        double t = took - off > 0 ? took - off : 0, cpu = (double)bench.cpu_ns - off;
        samples.iterations[s] = (double)count;
        samples.times[s] = t;
        samples.waits[s] = wait < t ? wait : t;
        samples.cpus[s] = cpu > 0 ? cpu : 0;
        samples.each[s] = (t - samples.waits[s]) / (double)count;
        xy += (double)count * (t - samples.waits[s]);
        xx += (double)count * (double)count;
    }
    if (o->json)
        assay_print_json(&bench, suffix, &samples, xy / xx, o);
    else
        assay_print_row(&bench, suffix, &samples, xy / xx, o);
}

static int assay_bench_usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--list] [--filter TEXT] [--time SECONDS] [--warm-up SECONDS]\n"
            "       [--samples N] [--json] [--reverse]\n",
            program);
    return 2;
}

int assay_bench_main(int argc, char **argv)
{
    AssayRunOptions o = {0.3, 1.0, 30, 0, 0, 0};
    const char *filter = "";
    int list = 0, reverse = 0;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(a, "--list") == 0)
            list = 1;
        else if (strcmp(a, "--json") == 0)
            o.json = 1;
        else if (strcmp(a, "--reverse") == 0)
            reverse = 1;
        else if (!value)
            return assay_bench_usage(argv[0]);
        else if (strcmp(a, "--filter") == 0)
            filter = argv[++i];
        else if (strcmp(a, "--time") == 0)
            o.measure_s = strtod(argv[++i], NULL);
        else if (strcmp(a, "--warm-up") == 0)
            o.warm_s = strtod(argv[++i], NULL);
        else if (strcmp(a, "--samples") == 0)
            o.samples = (int)strtol(argv[++i], NULL, 10);
        else
            return assay_bench_usage(argv[0]);
    }
    if (o.samples < 2 || o.samples > ASSAY_SAMPLES_MAX || !(o.measure_s > 0) || !(o.warm_s >= 0))
        return assay_bench_usage(argv[0]);
    if (!list) {
        assay_schedstat_fd = assay_open("/proc/thread-self/schedstat", 02000000 /* O_CLOEXEC */);
        o.loop_ns = assay_loop_cost_ns();
        o.cycle_ns = assay_cycle_ns();
    }
    for (size_t k = 0; k < assay_bench_count; k++) {
        const AssayRegistered *r = &assay_benches[reverse ? assay_bench_count - 1 - k : k];
        for (size_t i = 0; i < (r->arg_count ? r->arg_count : 1); i++) {
            char suffix[32] = "", full[512];
            if (r->arg_count)
                snprintf(suffix, sizeof(suffix), "/%" PRId64, r->args[i]);
            snprintf(full, sizeof(full), "%s%s", r->name, suffix);
            if (!strstr(full, filter))
                continue;
            if (list)
                printf("%s\n", full);
            else
                assay_run_bench(r, r->arg_count ? r->args[i] : 0, suffix, &o);
            if (fflush(stdout) != 0)
                return 1;
        }
    }
    return 0;
}

#ifdef __cplusplus
}
#endif

#ifdef ASSAY_BENCH_MAIN
int main(int argc, char **argv)
{
    return assay_bench_main(argc, argv);
}
#endif

#endif // ASSAY_BENCH_DRIVER_H
