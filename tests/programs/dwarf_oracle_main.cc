// SPDX-License-Identifier: Apache-2.0
// Two files that -flto makes one unit of, for tests/e2e/dwarf-oracle.sh.
#include "dwarf_oracle_lto.h"

#include <cstdio>
#include <string>

int helper(int x)
{
    return twice(x) / 3 + 1;
}

int main(int argc, char **argv)
{
    Sums s;
    for (int i = 0; i < argc * 40; i++)
        s.values.push_back(i);
    std::string name = argv[0];
    printf("%d %s\n", s.weighted(argc), name.c_str());
}
