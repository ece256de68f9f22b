// SPDX-License-Identifier: Apache-2.0
// Code of many shapes for tests/e2e/dwarf-oracle.sh: templates, lambdas in
// lambdas, local classes, virtual calls, deep inlining of the standard library.
// -DSMALL leaves std::regex out, which takes most of the time to compile.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
#ifndef SMALL
#include <regex>
#endif
namespace
{
#ifdef SMALL
struct Pattern {
    std::string text;
    Pattern(const char *t) : text(t, 1)
    {
    }
};
bool matches(const std::string &s, const Pattern &p)
{
    return s.find(p.text) != std::string::npos;
}
#else
using Pattern = std::regex;
bool matches(const std::string &s, const Pattern &p)
{
    return std::regex_search(s, p);
}
#endif
template <class T> struct Box {
    T v;
    template <class F> auto map(F f) const
    {
        return f(v);
    }
};
template <int N> __attribute__((always_inline)) inline int rec(int x)
{
    if constexpr (N == 0)
        return x * 3;
    else
        return rec<N - 1>(x + N) ^ N;
}
} // namespace
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Sq : Shape {
    double s;
    Sq(double x) : s(x)
    {
    }
    double area() const override
    {
        struct L {
            static double f(double a)
            {
                return a * a + 1;
            }
        };
        return L::f(s);
    }
};
static int count(const std::vector<std::string> &v, const Pattern &p)
{
    return (int)std::count_if(v.begin(), v.end(), [&](const std::string &s) {
        auto g = [&] { return matches(s, p); };
        return g();
    });
}
int main(int argc, char **argv)
{
    std::map<std::string, int> m;
    std::vector<std::string> v;
    for (int i = 0; i < 100; i++) {
        v.push_back("x" + std::to_string(i * argc));
        m[v.back()] += rec<6>(i);
    }
    std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a > b; });
    std::function<int(int)> f = [&](int k) {
        return Box<int>{k}.map([&](int z) { return z + (int)m.size(); });
    };
    std::unique_ptr<Shape> s = std::make_unique<Sq>(argc);
    printf("%d %d %f\n", count(v, Pattern("x[0-9]*7$")), f(argc), s->area());
    return argc > 5 ? argv[1][0] : 0;
}
