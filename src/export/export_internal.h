// SPDX-License-Identifier: Apache-2.0
// What the formats share: buffered output, names, and the part of a profile that
// the selection uses, renumbered, so that nothing else is sent.

#ifndef EXPORT_EXPORT_INTERNAL_H
#define EXPORT_EXPORT_INTERNAL_H

#include "analyse/keys.h"
#include "export/export.h"
#include "export/formats_internal.h"

// ---- Output ----------------------------------------------------------------
typedef struct ExportOut {
    StrBuf buf;
    const ExportSink *sink;
    bool failed;
} ExportOut;

// Hands what has gathered on; call it every now and then. False: give up.
bool export_flush(ExportOut *out, size_t above);
enum { EXPORT_FLUSH = 1 << 20 };
// The last flush; frees the buffer. False with ERROR_NONE when the sink failed.
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

MUST_CHECK bool export_set_init(ExportSet *s, const Profile *p, const ExportRequest *request,
                                bool any_metric, Error *err);
void export_set_deinit(ExportSet *s);

// The samples of each used thread, in their order: those of threads[t] are
// order[starts[t]] … order[starts[t + 1] - 1]. Both are the heap's.
void export_samples_by_thread(const ExportSet *s, uint32_t **order, size_t **starts);

// Appends the name of a function's key.
void export_add_name(const ExportSet *s, uint32_t key, StrBuf *out);
// A thread's name, "" becomes "[unnamed]".
Str export_thread_name(const Profile *p, uint32_t thread);
// A metric in pprof's words, which its tools know: "cpu", "nanoseconds", "count".
Str export_metric_name(const Profile *p, size_t metric);
Str export_metric_unit(const Profile *p, size_t metric);

// Appends text for a format of lines: control characters become \xNN, and so do
// spaces at the ends, which readers trim, the backslash of what looks like a mark,
// and every position for which `also` (may be NULL) is true. Undoing \xNN gives the
// text back.
void export_add_line_safe(StrBuf *out, Str s, bool (*also)(Str s, size_t at));

// ---- The formats ---------------------------------------------------------------
typedef bool ExportWrite(const Profile *p, const ExportRequest *request, const ExportSink *sink,
                         Error *err);
// The writers of the table, as ExportFormat says: ExportWrite export_folded, export_pprof, …
#define DECLARE_WRITER(write, name, extension, is_binary, summary) ExportWrite write;
EXPORT_FORMATS(DECLARE_WRITER)

#endif // EXPORT_EXPORT_INTERNAL_H
