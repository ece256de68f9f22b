// SPDX-License-Identifier: Apache-2.0
// An annotated function as text and JSON.

#ifndef CLI_LOOK_ANNOTATE_SCREEN_H
#define CLI_LOOK_ANNOTATE_SCREEN_H

#include "analyse/executions.h"
#include "analyse/report.h"
#include "cli/look/annotate_code.h"
#include "cli/terminal.h"
#include "symbolise/symbolise.h"

enum { ANNOTATE_METRICS_MAX = 8 };

typedef struct AnnotateView {
    const Report *report;
    Annotation annotation;
    const Code *code;       // NULL: no instructions wanted
    bool is_code_for_lines; // they were not requested, but no line of the function is known
    SourceOptions sources;
    Terminal terminal;
    size_t columns; // SIZE_MAX: no limit
    uint32_t key;   // the function, or ANNOTATE_NO_KEY
    size_t others;  // further functions that match the user's word
    StrId file;     // with ANNOTATE_NO_KEY: the file
    uint32_t wanted_line;
    uint32_t context;
    uint64_t limit;               // of the flat tables; 0: none
    const Executions *executions; // NULL: no counts were given
    bool has_calls;               // of the function: `calls` times
    uint64_t calls;
    // All shares are of this, where waits stand beside processor time; 0: of each metric's own.
    uint64_t whole;
    size_t metric_count;
    MetricId metrics[ANNOTATE_METRICS_MAX];
} AnnotateView;

// Appends the source lines in order, with callees and instructions under them.
void annotate_listing(const AnnotateView *v, Arena *arena, StrBuf *out);
// Appends a table of lines, the hottest first.
void annotate_by_line(const AnnotateView *v, Arena *arena, StrBuf *out);
// Appends a table of instructions, the hottest first.
void annotate_by_instruction(const AnnotateView *v, StrBuf *out);
// Appends the JSON document that docs/formats/annotate-json.md describes.
void annotate_json(const AnnotateView *v, Arena *arena, StrBuf *out);

#endif // CLI_LOOK_ANNOTATE_SCREEN_H
