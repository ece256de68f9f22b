// SPDX-License-Identifier: Apache-2.0
// Profiles of other tools that hold stacks of named functions and little else. Each pair tells a
// file by its beginning, and reads it: the readers initialise `p`, and deinitialise it on false.

#ifndef IMPORT_STACKS_STACKS_H
#define IMPORT_STACKS_STACKS_H

#include "model/profile.h"

// The report of macOS's sample: the part "Call graph:", inclusive counts of samples.
bool sample_report_is(Bytes head);
MUST_CHECK bool import_sample_report(Bytes file, Profile *p, Error *err);

// Aggregated stacks of DTrace: "module`function+0x12", innermost first, then the count.
bool dtrace_is(Bytes head);
MUST_CHECK bool import_dtrace(Bytes file, Profile *p, Error *err);

// Maps of bpftrace whose keys hold stacks: @[kstack, ustack, comm] = count(). Each map is a metric.
bool bpftrace_is(Bytes head);
MUST_CHECK bool import_bpftrace(Bytes file, Profile *p, Error *err);

// VTune's report top-down or callstacks as CSV, with processor time by stack.
bool vtune_is(Bytes head);
MUST_CHECK bool import_vtune(Bytes file, Profile *p, Error *err);

// The text that "Deep Copy" of Apple's Instruments copies.
bool instruments_is(Bytes head);
MUST_CHECK bool import_instruments(Bytes file, Profile *p, Error *err);

// Stacks of austin as text, "P42;T42;file.py:function:12 100".
bool austin_is(Bytes head);
MUST_CHECK bool import_austin(Bytes file, Profile *p, Error *err);

// Timelines of Safari's Web Inspector as JSON.
bool safari_is(Bytes head);
MUST_CHECK bool import_safari(Bytes file, Profile *p, Error *err);

#endif // IMPORT_STACKS_STACKS_H
