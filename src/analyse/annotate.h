// SPDX-License-Identifier: Apache-2.0
// Values of one function, or of one source file, by line and by address: for each line its
// self value, its total value and the functions that it called.

#ifndef ANALYSE_ANNOTATE_H
#define ANALYSE_ANNOTATE_H

#include "analyse/keys.h"
#include "analyse/weights.h"

enum { ANNOTATE_NO_KEY = UINT32_MAX };

// A function that a line called, or that was inlined into it.
typedef struct AnnotateCallee {
    uint32_t key; // of the keys by function
    bool is_inlined;
    uint64_t total; // value of the stacks in which the line calls it
} AnnotateCallee;
typedef Vec(AnnotateCallee) AnnotateCalleeVec;

typedef struct AnnotateLine {
    StrId file; // none, with line 0: the frames whose line is not known
    uint32_t line;
    size_t first_value;        // [metric]: self and total in Annotation.self / .total
    AnnotateCalleeVec callees; // of the first metric, greatest first
} AnnotateLine;

// An address in the target's code at which a sample was taken or a call was active.
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
    // [metric]: values of the target, and of the whole selection.
    uint64_t *target_self, *target_total, *all;
    uint64_t samples; // samples of the first metric with the target in their stack

    // Private from here on.
    Table line_index, address_index;
    uint8_t *stack_has; // [stack]: the target is its innermost frame or one of its callers
    uint8_t *frame_has; // [frame]: the target is in its chain of inlined calls
    U64Vec line_stamp, address_stamp;
    uint64_t stamp;
} Annotation;

// Starts an empty annotation. `key` is the target function, or ANNOTATE_NO_KEY for all functions
// of `file`. `keys` are by function; they and the profile must outlive the annotation.
void annotation_init(Annotation *a, const Profile *p, const Keys *keys, uint32_t key, StrId file,
                     size_t metric_count);
void annotation_deinit(Annotation *a);

// Adds the weights of one metric as column `metric`. A recursive call counts once for each stack.
void annotation_add(Annotation *a, const Weights *w, size_t metric);

// Sorts lines, addresses and callees; call once, after the last metric.
void annotation_finish(Annotation *a);

#endif // ANALYSE_ANNOTATE_H
