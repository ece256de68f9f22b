// SPDX-License-Identifier: Apache-2.0
// What the two halves of the LTO program share.
#pragma once

#include <vector>

struct Sums {
    std::vector<int> values;
    int weighted(int k) const;
};

int helper(int x);
int twice(int x);
