// SPDX-License-Identifier: Apache-2.0
// Data shared by the reader of Python's memory and the readers at the moment of a sample: the
// threads whose frames are wanted, and the frames that were read.

#ifndef WIRE_PYTHON_CAPTURE_H
#define WIRE_PYTHON_CAPTURE_H

#include <stdint.h>

enum {
    CAPTURE_TARGETS = 4096, // a power of two: a thread's entry is its number modulo this
    CAPTURE_FRAMES_MAX = 63,
    CAPTURE_NO_OFFSET = UINT16_MAX,
    CAPTURE_FRAME_BYTES = 127, // of a frame at most are read; one less than a power of two
};

// A thread, at the number of which modulo CAPTURE_TARGETS its entry stands. Offsets in bytes.
typedef struct CaptureTarget {
    uint32_t tid; // 0: none; written last
    uint32_t
        cframe;     // from what `frame` leads to, to the current frame; CAPTURE_NO_OFFSET: it is it
    uint64_t frame; // address of the word that leads to the current frame
    uint32_t previous, code, instruction, entry; // of a frame
    uint32_t bytes; // of a frame are read at once, up to the end of the last of these words
    uint32_t unused;
} CaptureTarget;

typedef struct CaptureFrame {
    uint64_t code, instruction, entry;
} CaptureFrame;

// Innermost first.
typedef struct CaptureStack {
    uint32_t count;
    uint32_t unused;
    CaptureFrame frames[CAPTURE_FRAMES_MAX + 1];
} CaptureStack;

#endif // WIRE_PYTHON_CAPTURE_H
