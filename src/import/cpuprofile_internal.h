// SPDX-License-Identifier: Apache-2.0
// Profiles of V8, which come as files of their own and in traces of Chrome.

#ifndef IMPORT_CPUPROFILE_INTERNAL_H
#define IMPORT_CPUPROFILE_INTERNAL_H

#include "base/json.h"
#include "base/table.h"
#include "model/profile.h"

// A node of the tree; `parent` is a row of CpuProfile.nodes, 0 for the roots.
typedef struct CpuProfileNode {
    const JsonValue *json;
    uint32_t parent;
    StackId stack;
    bool is_placed, is_idle;
} CpuProfileNode;

// One profile of one thread. The caller sets `p`, `thread`, `metric` and `err`, all borrowed.
typedef struct CpuProfile {
    Profile *p;
    Arena scratch;
    Vec(CpuProfileNode) nodes; // row 0 is none
    Table by_id;
    ThreadId thread;
    MetricId metric;
    uint64_t idle_ns; // of samples that were left out because V8 was idle
    Error *err;
} CpuProfile;

// Makes row 0 of the nodes.
void cpuprofile_begin(CpuProfile *c);
void cpuprofile_deinit(CpuProfile *c);

// Adds nodes that name their parents, as chunks of a trace have them: parents come first.
MUST_CHECK bool cpuprofile_add_chunk(CpuProfile *c, const JsonValue *nodes);
// Adds all nodes of a tree, flat or nested, whose nodes name their children.
MUST_CHECK bool cpuprofile_add_tree(CpuProfile *c, const JsonValue *root);

// Adds the sample of a node by its id, unless it is idle.
MUST_CHECK bool cpuprofile_add_sample(CpuProfile *c, const JsonValue *id, int64_t time_ns,
                                      int64_t weight);

// Notes how long V8 was idle, if it was.
void cpuprofile_note_idle(Profile *p, uint64_t idle_ns);

#endif // IMPORT_CPUPROFILE_INTERNAL_H
