// SPDX-License-Identifier: Apache-2.0
// The order in which libstdc++'s std::sort leaves what has equal keys, which is not that
// in which it came. The same steps (introsort: parting by the median of three, a heap
// when that goes too deep, insertion in the end) give the same order.

#include "coverage/rows/std_order.h"

static bool is_before(const CoverOrdered *x, const CoverOrdered *y)
{
    return x->key < y->key;
}

static void swap(CoverOrdered *x, CoverOrdered *y)
{
    CoverOrdered t = *x;
    *x = *y;
    *y = t;
}

static void insert(CoverOrdered *first, CoverOrdered *at)
{
    CoverOrdered value = *at;
    for (; at > first && is_before(&value, at - 1); at--)
        *at = at[-1];
    *at = value;
}

// Puts the middle one of three in front, and parts the rest by it.
static CoverOrdered *part(CoverOrdered *first, CoverOrdered *last)
{
    CoverOrdered *a = first + 1, *b = first + (last - first) / 2, *c = last - 1;
    if (is_before(a, b))
        swap(first, is_before(b, c) ? b : is_before(a, c) ? c : a);
    else
        swap(first, is_before(a, c) ? a : is_before(b, c) ? c : b);
    for (CoverOrdered *low = first + 1, *high = last;; low++) {
        while (is_before(low, first))
            low++;
        high--;
        while (is_before(first, high))
            high--;
        if (low >= high)
            return low;
        swap(low, high);
    }
}

// Moves `value` up from the hole at `at`, not above `top`.
static void push_up(CoverOrdered *heap, size_t at, size_t top, CoverOrdered value)
{
    while (at > top && is_before(&heap[(at - 1) / 2], &value)) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = value;
}

// Sinks the hole at `at` to a leaf, then puts `value` there.
static void sink(CoverOrdered *heap, size_t at, size_t len, CoverOrdered value)
{
    size_t top = at, child = at;
    while (child < (len - 1) / 2) {
        child = 2 * (child + 1);
        if (is_before(&heap[child], &heap[child - 1]))
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

static void sort_by_heap(CoverOrdered *heap, size_t len)
{
    for (size_t parent = len / 2; parent-- > 0;)
        sink(heap, parent, len, heap[parent]);
    while (len > 1) {
        len--;
        CoverOrdered value = heap[len];
        heap[len] = heap[0];
        sink(heap, 0, len, value);
    }
}

enum { SORT_BY_INSERTION = 16 };

static void part_all(CoverOrdered *first, CoverOrdered *last, int depth)
{
    while (last - first > SORT_BY_INSERTION) {
        if (depth-- == 0) {
            sort_by_heap(first, (size_t)(last - first));
            return;
        }
        CoverOrdered *cut = part(first, last);
        part_all(cut, last, depth);
        last = cut;
    }
}

void cover_std_sort(CoverOrdered *at, size_t len)
{
    if (len < 2) // where there is nothing there is no array either
        return;
    int depth = 0;
    for (size_t n = len; n > 1; n /= 2)
        depth += 2;
    part_all(at, at + len, depth);
    for (size_t i = 1; i < len; i++)
        insert(at, at + i);
}
