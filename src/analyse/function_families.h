// SPDX-License-Identifier: Apache-2.0
// Functions as benches of their builds, so that the writers and pictures of benches of commands
// serve function benchmarks too.

#ifndef ANALYSE_FUNCTION_FAMILIES_H
#define ANALYSE_FUNCTION_FAMILIES_H

#include "analyse/function_summary.h"
#include "analyse/run_summary.h"

// Each function that this build has, as one bench. Its last measurement is this build, the one
// before it, if any, the build or the saved times that it is compared with, which is the reference.
// A run is a process; its time is that of an iteration. User and system time are NaN. `f` must
// outlive them; function_families_deinit frees them.
void function_families_init(RunFamilies *ret, FunctionSummaries *f);

// Functions that ran with three or more numbers as arguments, each as a bench of which the number
// is the parameter, to draw how their time grows.
void function_growths_init(RunFamilies *ret, FunctionSummaries *f);

// Frees either. Accepts a zeroed one.
void function_families_deinit(RunFamilies *families);

#endif // ANALYSE_FUNCTION_FAMILIES_H
