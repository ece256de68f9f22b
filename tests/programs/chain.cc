// SPDX-License-Identifier: Apache-2.0
// main -> shop::a -> shop::B<int>::run -> recursion of shop::descend -> hot,
// compiled without frame pointers, the leaf inside a lambda given to a template.
//
// Truths:
// - `shop::hot` takes at least 90 % of the time
// - its callers are main, shop::a, shop::B<int>::run and DEPTH frames of shop::descend
// - stacks are complete

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace shop
{
static volatile uint64_t sink;
enum { DEPTH = 50 };

template <typename F> __attribute__((noinline)) uint64_t apply(F f, uint64_t n)
{
    return f(n) + sink;
}

__attribute__((noinline)) uint64_t hot(const std::string &seed, uint64_t rounds)
{
    uint64_t x = seed.size();
    for (uint64_t i = 0; i < rounds; i++)
        x = (x ^ (x >> 7)) * 0x9e3779b97f4a7c15ull + i;
    return x;
}

__attribute__((noinline)) uint64_t descend(int depth, uint64_t rounds)
{
    if (depth > 1)
        return descend(depth - 1, rounds) + sink;
    std::string seed(16, 'x');
    return apply([&seed](uint64_t n) { return hot(seed, n) + sink; }, rounds);
}

template <typename T> struct B {
    T unused = T();
    __attribute__((noinline)) uint64_t run(uint64_t rounds)
    {
        return descend(DEPTH, rounds) + sink;
    }
};

__attribute__((noinline)) uint64_t a(uint64_t rounds)
{
    B<int> b;
    return b.run(rounds) + sink;
}
} // namespace shop

int main(int argc, char **argv)
{
    int slices = argc > 1 ? std::atoi(argv[1]) : 100;
    for (int i = 0; i < slices; i++)
        shop::sink = shop::sink ^ (shop::a(500000) & 1);
    std::puts("done");
    return 0;
}
