// SPDX-License-Identifier: Apache-2.0
// The order of branches in llvm-cov's lists. llvm-cov up to 19 sorts with
// libstdc++'s std::sort, which is not stable: branches of equal place, such as
// those of two instances of a template, are numbered in the order in which that
// leaves them. The same steps (introsort: parting by the median of three, a heap
// when that goes too deep, insertion in the end) give the same order.

#include "collect/cover/summary_internal.h"

// Whether llvm-cov lists x before y.
static bool branch_before(const CoverBranch *x, const CoverBranch *y)
{
    return x->line != y->line ? x->line < y->line : x->region->column < y->region->column;
}

static void swap_branches(CoverBranch *x, CoverBranch *y)
{
    CoverBranch t = *x;
    *x = *y;
    *y = t;
}

static void insert_branch(CoverBranch *first, CoverBranch *at)
{
    CoverBranch value = *at;
    for (; at > first && branch_before(&value, at - 1); at--)
        *at = at[-1];
    *at = value;
}

// Puts the middle one of three in front, and parts the rest by it.
static CoverBranch *part_branches(CoverBranch *first, CoverBranch *last)
{
    CoverBranch *a = first + 1, *b = first + (last - first) / 2, *c = last - 1;
    if (branch_before(a, b))
        swap_branches(first, branch_before(b, c) ? b : branch_before(a, c) ? c : a);
    else
        swap_branches(first, branch_before(a, c) ? a : branch_before(b, c) ? c : b);
    for (CoverBranch *low = first + 1, *high = last;; low++) {
        while (branch_before(low, first))
            low++;
        high--;
        while (branch_before(first, high))
            high--;
        if (low >= high)
            return low;
        swap_branches(low, high);
    }
}

// Moves `value` up from the hole at `at`, not above `top`.
static void push_up(CoverBranch *heap, size_t at, size_t top, CoverBranch value)
{
    while (at > top && branch_before(&heap[(at - 1) / 2], &value)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = value;
}

// Sinks the hole at `at` to a leaf, then puts `value` there.
static void sink(CoverBranch *heap, size_t at, size_t len, CoverBranch value)
{
    size_t top = at, child = at;
    while (child < (len - 1) / 2) {
        child = 2 * (child + 1);
        if (branch_before(&heap[child], &heap[child - 1]))
            child--;
        heap[at] = heap[child];
        at = child;
    }
    if (len % 2 == 0 && child == (len - 2) / 2) {
        child = 2 * child + 1;
        heap[at] = heap[child];
        at = child;
    }
    push_up(heap, at, top, value);
}

static void sort_by_heap(CoverBranch *heap, size_t len)
{
    for (size_t parent = len / 2; parent-- > 0;)
        sink(heap, parent, len, heap[parent]);
    while (len > 1) {
        len--;
        CoverBranch value = heap[len];
        heap[len] = heap[0];
        sink(heap, 0, len, value);
    }
}

enum { SORT_BY_INSERTION = 16 };

static void part_all(CoverBranch *first, CoverBranch *last, int depth)
{
    while (last - first > SORT_BY_INSERTION) {
        if (depth-- == 0) {
            sort_by_heap(first, (size_t)(last - first));
            return;
        }
        CoverBranch *cut = part_branches(first, last);
        part_all(cut, last, depth);
        last = cut;
    }
}

void cover_branches_sort(CoverBranch *at, size_t len)
{
    if (len < 2) // a file without branches has no array either
        return;
    int depth = 0;
    for (size_t n = len; n > 1; n /= 2)
        depth += 2;
    part_all(at, at + len, depth);
    for (size_t i = 1; i < len; i++)
        insert_branch(at, at + i);
}
