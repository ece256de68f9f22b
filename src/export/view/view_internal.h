// SPDX-License-Identifier: Apache-2.0
// The parts of a page.

#ifndef EXPORT_VIEW_VIEW_INTERNAL_H
#define EXPORT_VIEW_VIEW_INTERNAL_H

#include "analyse/wait/wait_spans.h"
#include "export/view/block.h"
#include "export/view/view.h"

// Texts of a page: each is written once, in the first block.
typedef struct ViewStrings {
    Arena arena;
    Intern texts;
} ViewStrings;

// The calls of a recording as the page has them. A node is a call at a place, inlined calls
// included; nodes are numbered depth first, the root is node 0 and has no place.
typedef struct ViewTree {
    uint32_t node_count;
    uint32_t *parent;    // [node]
    uint32_t *place;     // [node]
    uint32_t *of_sample; // [sample] its node; 0: the sample has no stack
    size_t metric_count;
    uint64_t **self; // [metric][node]
    // Of places: function, place of the call or sample, module.
    U32Vec key, line;
    StrIdVec file;
    ModuleIdVec module;
    U8Vec flags;
} ViewTree;

// Appends how far the numbers of a recording can be trusted, and of how many recordings they are.
void view_add_truth(StrBuf *out, const Report *r, const ViewOptions *o);

// The value of a sample that the page adds up: never negative, 0 for texts.
uint64_t view_value(const Profile *p, size_t metric, size_t sample);

enum { // of a place
    VIEW_KERNEL = 1 << 0,
    VIEW_INLINED = 1 << 1,
    VIEW_CUT = 1 << 2,
    VIEW_JIT = 1 << 3,
};

// Builds the tree of all samples of the profile.
void view_tree_init(ViewTree *t, const Profile *p, const Keys *keys);
void view_tree_deinit(ViewTree *t);
// Sets `*ret` to what a first picture shows of a large tree: the nodes with more than 1/4000 of the
// metric, and their places. Values of the others are added to the self values of those above
// them. It has no `of_sample`. False: the tree is small, and `ret` is untouched.
bool view_tree_preview(const ViewTree *t, size_t metric, ViewTree *ret);

// Adds the columns of the tree, of its functions and of its places.
void view_add_tree(ViewBlock *b, const ViewTree *t, const Keys *keys, ViewStrings *strings);
// Appends blocks with the samples of each thread in the order of time; samples without a time are
// in the tree alone.
MUST_CHECK bool view_add_samples(ViewPage *page, const ViewTree *t, const Profile *p, Error *err);
enum { VIEW_STATES_MAX = 20000, VIEW_ARROWS_MAX = 20000 };

// The waits that a page shows: the longest ones, by thread and by time, and all wakings. Returns
// how many waits were left out. Free with wait_spans_deinit.
size_t view_states_init(WaitSpans *w, const Profile *p);
// Adds series, intervals, marks, states of threads and wakings.
void view_add_tracks(ViewBlock *b, const Profile *p, ViewStrings *strings);
// Appends blocks with source text, kept lines, counts of lines and instructions.
MUST_CHECK bool view_add_source(ViewPage *page, const Profile *p, const ViewOptions *o,
                                ViewStrings *strings, Error *err);

// The summary in plain HTML.
void view_add_summary(StrBuf *out, const Report *r, const ViewOptions *o);

// The number of a text in the page.
static inline uint32_t view_string(ViewStrings *s, Str text)
{
    return intern_add(&s->texts, text);
}

#endif // EXPORT_VIEW_VIEW_INTERNAL_H
