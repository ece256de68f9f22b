// SPDX-License-Identifier: Apache-2.0
// Where the texts of a probe are, in the form in which they are read.

#ifndef COLLECT_SAMPLING_TEXT_PLANS_INTERNAL_H
#define COLLECT_SAMPLING_TEXT_PLANS_INTERNAL_H

#include "os/event.h"
#include "wire/probe_texts.h"

// The id of records with texts that the process which sets breakpoints writes.
#define PROBE_TEXTS_ID 0x7465787473ull

// Whether an argument of some event is a text.
bool probe_texts_wanted(const EventSpecVec *events);
// Where the texts of a probe are.
TextPlan probe_texts_plan(const EventSpec *spec);

#endif // COLLECT_SAMPLING_TEXT_PLANS_INTERNAL_H
