// SPDX-License-Identifier: Apache-2.0
// Code that the formats share: buffered output, names, and the rows of a profile that the selection
// uses, with new numbers, so that nothing else is written.

#ifndef EXPORT_EXPORT_INTERNAL_H
#define EXPORT_EXPORT_INTERNAL_H

#include "analyse/keys.h"
#include "analyse/wait/wait_spans.h"
#include "export/export.h"
#include "export/formats_internal.h"

// ---- Output ----------------------------------------------------------------
typedef struct ExportOut {
    StrBuf buf;
    const ExportSink *sink;
    bool failed;
} ExportOut;

// Writes the buffer to the sink when it holds more than `above` bytes. False: the sink gave up.
bool export_flush(ExportOut *out, size_t above);
enum { EXPORT_FLUSH = 1 << 20 };
// Writes the rest and frees the buffer. False with ERROR_NONE when the sink failed.
MUST_CHECK bool export_finish(ExportOut *out, Error *err);

// ---- What is used ------------------------------------------------------------
#define EXPORT_NONE UINT32_MAX

// A stack entry with inlined calls as entries of their own.
typedef struct ExportStack {
    uint32_t parent; // row, EXPORT_NONE at the root
    uint32_t frame;  // of the profile
} ExportStack;

typedef struct ExportSet {
    const Profile *p;
    const ExportRequest *request;
    U32Vec samples;          // rows of the profile's samples
    Keys keys;               // by function
    Vec(ExportStack) stacks; // parents before children
    uint32_t *row_of_stack;  // [stack of the profile]: its innermost row, or EXPORT_NONE
    U32Vec frames;           // used frames of the profile, inlined levels too
    uint32_t *row_of_frame;  // [frame]: its place in `frames`, or EXPORT_NONE
    U32Vec functions;        // used keys
    uint32_t *row_of_key;    // [key]: its place in `functions`, or EXPORT_NONE
    U32Vec threads;          // used threads, in order of first sample
    uint32_t *row_of_thread; // [thread], or EXPORT_NONE
} ExportSet;

// Numbers the rows that the selected samples use; with `any_metric` samples count that have a value
// of any metric, not of the selected one alone. Release with export_set_deinit after success.
MUST_CHECK bool export_set_init(ExportSet *s, const Profile *p, const ExportRequest *request,
                                bool any_metric, Error *err);
// Releases the memory of export_set_init.
void export_set_deinit(ExportSet *s);

// Numbers the threads, wakers and stacks of spans too.
void export_set_use_spans(ExportSet *s, const WaitSpans *w);

// The samples of each used thread, in their order: those of threads[t] are
// order[starts[t]] … order[starts[t + 1] - 1]. The caller frees both with heap_free.
void export_samples_by_thread(const ExportSet *s, uint32_t **order, size_t **starts);

// Numbers the threads of recorded calls and of waits, too, whether they have samples or not; for
// formats that write them. A choice of functions leaves both out.
void export_set_add_events(ExportSet *s);

typedef enum ExportEvent {
    EXPORT_SPAN, // of `intervals`
    EXPORT_CALL, // of `calls`, whose function entered and returned on its thread
    EXPORT_WORK, // of `calls`: it may overlap others of its thread, and end on another one
    EXPORT_WAIT, // of `states`
} ExportEvent;

// An interval of a used thread, cut to the selection's time.
typedef struct ExportInterval {
    uint32_t thread; // place in `threads`
    ExportEvent kind;
    uint32_t row; // of the table of its kind
    int64_t start_ns, end_ns;
    Str name, detail;
} ExportInterval;

// The intervals of each used thread that lie in the selection's time: those of threads[t] are
// at[starts[t]] … at[starts[t + 1] - 1]. First come those of `intervals`, in the order of the
// profile, then calls and single waits by their begin, the longer one first.
typedef struct ExportIntervals {
    ExportInterval *at;
    size_t *starts;
    Arena texts;
} ExportIntervals;

// With `calls` and `waits` single ones of these, too. Both arrays are on the heap.
ExportIntervals export_intervals(const ExportSet *s, bool calls, bool waits);
// Frees the arrays.
void export_intervals_deinit(ExportIntervals *i);

// Whether a call of a used thread lies in the selection's time.
bool export_has_call(const ExportSet *s, size_t call);
// Whether the export holds sums of waits: those of the whole recording, so not with a time.
bool export_has_wait(const ExportSet *s, size_t wait);
// The name of the function of a call.
Str export_call_name(Arena *arena, const ExportSet *s, size_t call);

// Appends the name of a function, by its key.
void export_add_name(const ExportSet *s, uint32_t key, StrBuf *out);
// A thread's name; "[unnamed]" for one without a name.
Str export_thread_name(const Profile *p, uint32_t thread);
// A metric's name in pprof's words, which its tools know: "cpu".
Str export_metric_name(const Profile *p, size_t metric);
// A metric's unit in pprof's words: "nanoseconds", "count".
Str export_metric_unit(const Profile *p, size_t metric);
// Whether the export holds the values of a metric. Texts are no values that formats could add up.
bool export_has_metric(const ExportSet *s, size_t metric);

// Appends text for a format of lines. \xNN replaces control characters, spaces at the ends, which
// readers trim, a backslash that would be read as such an escape, and every character for which
// `also` (may be NULL) is true. A reader that undoes \xNN gets the text back.
void export_add_line_safe(StrBuf *out, Str s, bool (*also)(Str s, size_t at));

// ---- The formats ---------------------------------------------------------------
typedef bool ExportWrite(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                         Error *err);
// The writers of the table, as ExportFormat says: ExportWrite export_folded, export_pprof, …
#define DECLARE_WRITER(write, name, extension, is_binary, summary) ExportWrite write;
EXPORT_FORMATS(DECLARE_WRITER)

#endif // EXPORT_EXPORT_INTERNAL_H
