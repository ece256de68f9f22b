// SPDX-License-Identifier: Apache-2.0
// Inlined functions for which compilers state no linkage name: nothing outside of the source file
// can call them, and no copy of their own exists.
// Truth: every address of entry() that a loop became is in an inlined function whose name has its
// namespaces and classes.

#include <cstdio>
#include <cstdlib>

static volatile int seen;

namespace {
constexpr int hidden(int v, int n) // HIDDEN
{
    int s = v;
    for (int i = 0; i < n; i++) {
        s = s * 5 + i;
        if (s == 17)
            seen = s;
    }
    return s;
}
} // namespace

namespace shop {
namespace {
class Till {
public:
    struct Drawer {
        int sum;
        constexpr int deep(int n) const // DEEP
        {
            int s = sum;
            for (int i = 0; i < n; i++) {
                s = s * 7 + i;
                if (s == 17)
                    seen = s;
            }
            return s;
        }
    } drawer;
};
} // namespace
} // namespace shop

static inline int plain(int v, int n)
{
    int s = v;
    for (int i = 0; i < n; i++) {
        s = s * 11 + i;
        if (s == 17)
            seen = s;
    }
    return s;
}

extern "C" __attribute__((noinline)) int entry(int n)
{
    shop::Till t{{n}};
    return hidden(n, 1000) + t.drawer.deep(1000) + plain(n, 1000);
}

int main(int argc, char **)
{
    std::printf("%d\n", entry(argc));
}
