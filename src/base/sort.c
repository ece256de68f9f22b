// SPDX-License-Identifier: Apache-2.0
// Radix sort, starting at the lowest digit. A digit that is equal in all keys costs no pass.

#include "base/sort.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS, VALUES = 1 << DIGIT_BITS };

static size_t digit_of(uint64_t key, unsigned digit)
{
    return key >> (digit * DIGIT_BITS) & (VALUES - 1);
}

// Moves the rows to the order of one digit.
static void pass(const SortRow *from, SortRow *to, size_t count, unsigned digit)
{
    size_t starts[VALUES + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[digit_of(from[i].key, digit) + 1]++;
    for (size_t v = 1; v < VALUES; v++)
        starts[v] += starts[v - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(from[i].key, digit)]++] = from[i];
}

SortRow *sort_rows(SortRow *rows, SortRow *spare, size_t count)
{
    uint64_t differing = 0;
    for (size_t i = 1; i < count; i++)
        differing |= rows[i].key ^ rows[0].key;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        if (digit_of(differing, digit) == 0)
            continue;
        pass(rows, spare, count, digit);
        SortRow *sorted = spare;
        spare = rows;
        rows = sorted;
    }
    return rows;
}
