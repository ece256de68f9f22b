/* SPDX-License-Identifier: Apache-2.0 */
/* A program profiles its own processor time: link with libassay (pkg-config assay), start, run,
 * dump.
 *
 *     #include <assay/profile.h>
 *
 *     assay_profile_start(NULL);
 *     work();
 *     assay_profile_stop();
 *     assay_profile_dump("work.assay");      // then: assay report work.assay
 *
 * Each thread has a timer on its own processor time, whose signal takes the thread's whole stack
 * by unwind tables: frame pointers are not needed. The kernel looks at these timers at its tick,
 * so that there are at most CONFIG_HZ samples per second of processor time, 250 on most systems.
 * A sample stands for the time since the one before, so that the sum is exact at any rate.
 *
 * The functions may be called from any thread, but not from a signal handler. They return 0, or a
 * number of errno(3) as a negative value. They do not set errno. A real-time signal between 40 and
 * 63 that has no handler is used; system calls that it interrupts are restarted (SA_RESTART). */

#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What assay_profile_start takes. Zero-initialise it, then set `size`: later versions add fields
 * at the end. */
typedef struct AssayProfileOptions {
    size_t size;         /* sizeof(AssayProfileOptions) */
    unsigned rate_hz;    /* samples per second of processor time of a thread, 1 to 1000; 0: 1000,
                            which is as many as the kernel gives */
    size_t buffer_bytes; /* memory for samples, at most; 0: 64 MiB, about 250000 samples. Only what
                            is used is taken. When it is full, every second sample is dropped and
                            the others count twice, so that a profile of any length fits. */
} AssayProfileOptions;

/* Starts to profile all threads of the process, those that start later too. `options` may be NULL.
 * Samples of an earlier profile are forgotten. A child of fork(2) goes on profiling, itself only.
 *
 * -EALREADY: a profile is running. -EBUSY: assay records this process. -EINVAL: an option is out
 * of range. -ENOMEM, -EAGAIN: no memory, no signal or no timer is to be had. */
int assay_profile_start(const AssayProfileOptions *options);

/* Stops. The samples stay for assay_profile_dump. -ESRCH: no profile is running. */
int assay_profile_stop(void);

/* Writes what was sampled so far to a file, whether the profile still runs or not. The file
 * replaces one of that name. It is complete under its name, or not there.
 *
 * It is a stream in the format of perf.data, which `assay report FILE` opens and `assay import
 * FILE` converts. For a name that ends in ".assay", ".pb.gz" or ".pprof" this runs assay, where it
 * is in PATH, which makes such a recording of it, with the names of functions and lines in it.
 * Where assay is missing or fails, the stream stays under that name.
 *
 * -ENODATA: nothing was ever started. Other values: why the file cannot be written. */
int assay_profile_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif /* ASSAY_PROFILE_H */
