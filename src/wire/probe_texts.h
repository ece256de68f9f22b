// SPDX-License-Identifier: Apache-2.0
// Texts that arguments of probes point to: where they are, and their copies at a hit. Shared by
// the recorder, the process that sets breakpoints, and the BPF program.

#ifndef WIRE_PROBE_TEXTS_H
#define WIRE_PROBE_TEXTS_H

#include <stdint.h>

enum {
    PROBE_TEXTS_MAX = 4,    // of one probe
    PROBE_TEXT_BYTES = 248, // of one text, with the NUL; what is longer is cut
};

// A text lies at a register's value + `offset`; with `by_pointer` at the pointer that lies at the
// register's value + `pointer_offset`, + `offset`.
typedef struct TextPlace {
    uint32_t word; // of struct pt_regs
    uint32_t by_pointer;
    int64_t pointer_offset, offset;
} TextPlace;

// The texts of one probe.
typedef struct TextPlan {
    uint32_t count;
    uint32_t unused;
    TextPlace at[PROBE_TEXTS_MAX];
} TextPlan;

typedef struct TextCopy {
    int64_t size; // of the text with its NUL; negative: it could not be read
    char bytes[PROBE_TEXT_BYTES];
} TextCopy;

// In a record, in front of the sample of the hit: `count` texts, in the order of the arguments.
typedef struct ProbeTexts {
    uint32_t count;
    uint32_t event; // number of the event
    TextCopy at[PROBE_TEXTS_MAX];
} ProbeTexts;

#endif // WIRE_PROBE_TEXTS_H
