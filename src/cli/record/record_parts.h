// SPDX-License-Identifier: Apache-2.0
// Code shared by all commands that record: their options, and their messages about a recording.

#ifndef CLI_RECORD_RECORD_PARTS_H
#define CLI_RECORD_RECORD_PARTS_H

#include "base/strbuf.h"
#include "collect/sampling/sampling.h"

// The value of an option -c that was not given.
#define RECORD_PERIOD_NONE UINT64_MAX

// Sets the rate or the period from -F ("": not given) and -c.
MUST_CHECK bool record_parse_rate(Str freq, uint64_t period, SamplingOptions *s, Error *err);

// Appends the numbers of `lists`, whose items are lists joined by commas. `what` names them in the
// error: "process id".
MUST_CHECK bool record_parse_ids(const StrVec *lists, const char *what, U32Vec *ret, Error *err);

// Refuses programs that the kernel would run but not let us observe.
MUST_CHECK bool record_check_program(const Program *p, Error *err);

// Appends how many samples there are: "120 samples of cpu-clock, 30 of page-faults".
void record_add_counts(const Profile *p, const SamplingResult *r, StrBuf *out);

// Prints the warnings among the first `count` notes, which are the recorder's own. The report
// prints those about symbols.
void record_say_warnings(const Profile *p, size_t count);

// Prints why the file could not be written, and that the part recorded until then can be opened.
// Returns STATUS_FAILED.
int record_fail_with_part(Str part, const Error *why);

// Ends this process by signal `number`: a thread of the recorder hangs and may use all there is.
// `writer` is NULL when no file is written.
_Noreturn void record_end_hung(StoreWriter *writer, const Error *why, int number);

// Waits for a program that outlived its recording and says so. Returns the status of the recorded
// program, as a shell reports it; 0 when none was started.
int record_wait_child(Sampling *sampling, SamplingResult *result, Str program);

#endif // CLI_RECORD_RECORD_PARTS_H
