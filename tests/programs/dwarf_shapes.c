// SPDX-License-Identifier: Apache-2.0
// What tests/unit/dwarf knows about: line numbers and names here are its truths.
volatile int sink;

struct item {
    int weight, count;
};

__attribute__((always_inline)) static inline int leaf(const struct item *it)
{
    return it->weight * sink; // LEAF
}

__attribute__((always_inline)) static inline int middle(const struct item *it)
{
    return leaf(it) + it->count; // MIDDLE
}

__attribute__((noinline)) int outer(const struct item *items, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += middle(&items[i]); // OUTER
    return sum;
}

__attribute__((noinline)) static void never_returns(int code)
{
    sink = code; // COLD
    __builtin_trap();
}

int entry(const struct item *items, int n)
{
    if (n < 0)
        never_returns(n);
    return outer(items, n) / (n + 1); // ENTRY
}
