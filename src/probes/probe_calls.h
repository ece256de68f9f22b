// SPDX-License-Identifier: Apache-2.0
// Functions as calls: where each of them begins and where it returns.
//   'handle_*'   './server:handle id=$arg1 $retval'   'submit..complete' with a key

#ifndef PROBES_PROBE_CALLS_H
#define PROBES_PROBE_CALLS_H

#include "os/call_plan.h"
#include "probes/probe_object.h"

// Appends the functions and places that one --calls stands for. With a `key`, which is an argument
// such as $arg1, the text is BEGIN..END: work begins where BEGIN is entered and ends where END is
// entered with an equal value. "" for none.
//
// Functions that may be left by an exception get a place at each return instruction: the kernel's
// trampoline would end the program there.
MUST_CHECK bool probe_calls_find(Arena *arena, const ProbeContext *context, Str text, Str key,
                                 CallPlan *ret, Error *err);

#endif // PROBES_PROBE_CALLS_H
