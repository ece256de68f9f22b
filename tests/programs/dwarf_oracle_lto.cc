// SPDX-License-Identifier: Apache-2.0
// The other half of dwarf_oracle_main.cc: inlined across files by -flto.
#include "dwarf_oracle_lto.h"

#include <string>

int Sums::weighted(int k) const
{
    int total = 0;
    for (int x : values)
        total += helper(x) * k;
    return total;
}

static inline int square(int x)
{
    return x * x;
}

int twice(int x)
{
    return square(x) + static_cast<int>(std::to_string(x).size());
}
