// SPDX-License-Identifier: Apache-2.0
// The first screen of a recording of the heap, and the same as JSON and CSV.

#ifndef CLI_LOOK_HEAP_SCREEN_H
#define CLI_LOOK_HEAP_SCREEN_H

#include "analyse/heap/advice.h"
#include "base/json.h"
#include "cli/look/report_screen.h"

// The kinds of rows of the report.
typedef enum HeapRows {
    HEAP_BY_PLACE, // where user code allocates
    HEAP_BY_SIZE,  // blocks of a range of sizes
    HEAP_BY_TIME,  // a slice of time
} HeapRows;

// Everything that the screen shows.
typedef struct HeapReport {
    const Report *report; // of the metric that sorts, for the head and the notes
    HeapView view;        // its places are sorted
    HeapAdviceVec advice;
    enum HeapMetric by;
    Str path; // of the recording, for the commands to run next; "": none
} HeapReport;

// The words of --sort for a recording of the heap.
typedef struct HeapSortWord {
    const char *word;
    enum HeapMetric metric;
} HeapSortWord;
// Finds a word; NULL: it is none of them.
const HeapSortWord *heap_sort_find(Str word);

// Computes the report; the views in it borrow `r`.
MUST_CHECK bool heap_report_init(HeapReport *h, const Report *r, enum HeapMetric by, Str path,
                                 Error *err);
void heap_report_deinit(HeapReport *h); // frees the memory of heap_report_init

// Appends the screen. `style->limit` 0 shows all places and all advice, SIZE_MAX what fits 24
// lines.
void heap_add_screen(StrBuf *out, const HeapReport *h, const ScreenStyle *style);
// Appends the document of docs/formats/heap-json.md; at most `limit` places, 0: all.
void heap_add_json(StrBuf *out, const HeapReport *h, size_t limit);
// Appends the places as CSV with a header line.
void heap_add_csv(StrBuf *out, const HeapReport *h, size_t limit);

// Appends the histogram of sizes: blocks for each power of two, as text with a bar, or as CSV.
void heap_add_sizes(StrBuf *out, const HeapReport *h, bool csv);
// Appends the size of the heap over time. As text at most `limit` rows, which join slices, 0: all;
// as CSV all slices.
void heap_add_timeline(StrBuf *out, const HeapReport *h, size_t limit, bool csv);

#endif // CLI_LOOK_HEAP_SCREEN_H
