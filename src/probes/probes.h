// SPDX-License-Identifier: Apache-2.0
// Places in programs as events: what perf probe and perf record -e probe_… do, in one step. The
// kernel's uprobe PMU takes file and offset, so that nothing is written anywhere and nothing stays
// behind. Document: perf_event_open(2), "uprobe"; Documentation/ABI/testing/
// sysfs-bus-event_source-devices-uprobe.

#ifndef PROBES_PROBES_H
#define PROBES_PROBES_H

#include "probes/probe_object.h"

// Appends an event for every place that the words of one -e stand for, one behind the other. Events
// of one probe have one name. `*is_probe` is false when the text is no probe: then nothing is
// appended. The signature is that of EventSources.find_probe; `context` is a ProbeContext.
MUST_CHECK bool probes_find(void *context, Arena *arena, Str text, bool *is_probe,
                            EventSpecVec *ret, Error *err);

#endif // PROBES_PROBES_H
