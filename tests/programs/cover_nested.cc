// What gcov's JSON has to get right: nested and adjacent functions, instances on one
// line, exceptions and cleanups, inlined library code, a body from another file.
#include <vector>
#include <stdio.h>
static int f(int n)
{
    int t = 0;
#include "cover_body.inc"
    auto g = [&](int q) {
        return q + t;
    }; auto h = [](int z) { return z; };
    std::vector<int> v;
    v.push_back(n);
    return g(2) + h(3);
}
int one() { return 1; } int two() { return 2; }
int glob = f(4);
struct A { std::vector<int> v; A() : v(3) {} };
template<class T> int tt(T x) { return x + 1; } template<class T> int uu(T x) { return x; }
int main()
{
    A a; A b = a;
    struct L { int m() { return 3; }
      int n() {
         return 4; } } l;
    try { if (f(1) > 100) throw 1; } catch (int) { puts("x"); }
    return f(2) + one() + two() + tt(1) + tt(2.0) + uu('c') + uu(1) + l.m() + l.n() > 9999;
}
