// SPDX-License-Identifier: Apache-2.0
// The C++ shapes for tests/unit/dwarf: a template, a lambda, a local class, a
// member declared apart from its definition.
volatile int sink;

namespace shop {
struct Till {
    int total;
    void add(int price);
};

void Till::add(int price)
{
    total += price * sink; // ADD
}

template <class F> [[gnu::always_inline]] inline int apply(F f, int x)
{
    return f(x); // APPLY
}
} // namespace shop

extern "C" int entry(shop::Till *till, int n)
{
    struct Local {
        [[gnu::noinline]] static int twice(int x) { return x * sink; } // LOCAL
    };
    till->add(n);
    return shop::apply([](int x) { return sink - x; }, n) + Local::twice(n); // LAMBDA
}
