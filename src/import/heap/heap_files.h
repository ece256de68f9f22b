// SPDX-License-Identifier: Apache-2.0
// Recordings of other heap profilers. Each pair tells a file by its beginning, and reads it: the
// readers initialise `p`, and deinitialise it on false. The metrics are those of
// model/heap_metrics.h, as far as the file knows them.

#ifndef IMPORT_HEAP_HEAP_FILES_H
#define IMPORT_HEAP_HEAP_FILES_H

#include "model/profile.h"

// DHAT's JSON, of valgrind and of dhat-rs.
bool dhat_is(Bytes head);
MUST_CHECK bool import_dhat(Bytes file, Profile *p, Error *err);

// massif's text: the tree of the peak, and the size of the heap over time.
bool massif_is(Bytes head);
MUST_CHECK bool import_massif(Bytes file, Profile *p, Error *err);

// heaptrack's text, raw or interpreted. A file that is cut short gives its complete part, and a
// note. Frames of a raw file have addresses and modules, and no names.
bool heaptrack_is(Bytes head);
MUST_CHECK bool import_heaptrack(Bytes file, Profile *p, Error *err);

#endif // IMPORT_HEAP_HEAP_FILES_H
