// SPDX-License-Identifier: Apache-2.0
// One function, or one source file, by line and by address: what each line used
// itself, what it used with all that it called, and whom it called.

#ifndef ANALYSE_ANNOTATE_H
#define ANALYSE_ANNOTATE_H

#include "analyse/keys.h"
#include "analyse/weights.h"

enum { ANNOTATE_NO_KEY = UINT32_MAX };

// A function that a line called, or that was inlined into it.
typedef struct AnnotateCallee {
    uint32_t key; // of the keys by function
    bool is_inlined;
    uint64_t total; // of the stacks that go from the line into it
} AnnotateCallee;
typedef Vec(AnnotateCallee) AnnotateCalleeVec;

typedef struct AnnotateLine {
    StrId file;                // none: frames whose line is not known
    uint32_t line;             // 0 with them
    size_t first_value;        // [metric]: self and total in Annotation.self / .total
    AnnotateCalleeVec callees; // of the first metric, greatest first
} AnnotateLine;

// A place in the target's code where a sample stood, or a call was under way.
typedef struct AnnotateAddress {
    ModuleId module;
    uint64_t address;
    bool is_exact; // false: the last byte of a call instruction
    size_t first_value;
} AnnotateAddress;

typedef struct Annotation {
    const Profile *profile;
    const Keys *keys; // by function
    uint32_t key;     // the target function, or ANNOTATE_NO_KEY
    StrId file;       // then the target file
    size_t metric_count;
    Vec(AnnotateLine) lines;        // by file, then line
    Vec(AnnotateAddress) addresses; // by module, then address
    // Values of lines and of addresses: at first_value + metric.
    U64Vec self, total;
    U64Vec address_self, address_total;
    // The target's own, and those of the whole selection, by metric.
    uint64_t *target_self, *target_total, *all;
    uint64_t samples; // of the first metric with the target in their stack

    // Private from here on.
    Table line_index, address_index;
    uint8_t *stack_has; // [stack]: the target is in it or above it
    uint8_t *frame_has; // [frame]: in its chain of inlined calls
    U64Vec line_stamp, address_stamp;
    uint64_t stamp;
} Annotation;

// `keys` are by function and outlive the annotation. `key` is the target, or
// ANNOTATE_NO_KEY for all functions of `file`.
void annotation_init(Annotation *a, const Profile *p, const Keys *keys, uint32_t key, StrId file,
                     size_t metric_count);
void annotation_deinit(Annotation *a);

// Adds one metric's weights as column `metric`. Recursion counts once a stack.
void annotation_add(Annotation *a, const Weights *w, size_t metric);

// Sorts lines, addresses and callees; call once, after the last metric.
void annotation_finish(Annotation *a);

#endif // ANALYSE_ANNOTATE_H
