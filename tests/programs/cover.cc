// What coverage has to get right: macros in macros, instantiations, an unused
// function, gaps, fall-through, short circuits, an exception, a lambda.
#include "cover.h"
#include <stdio.h>
#include <stdlib.h>

template <class T> T tsum(T n)
{
    T s = 0;
    for (T i = 0; i < n; i++) {
        if ((int)i % 3 == 0 || i > 5)
            s += i;
        else
            s -= 1;
    }
    return s;
}

static int unused(int x)
{
    return x + 1;
}

struct Shape {
    int v;
    explicit Shape(int x) : v(x) {}
    ~Shape() {}
    virtual int get() const { return v; }
};

int pick(int c)
{
    switch (c) {
    case 1:
        return 10;
    case 2:
        c++;
    case 3:
        c += 2;
        break;
    default:
        return 0;
    }
    auto add = [&](int q) { return q + c; };
    return add(3);
}
#if 0
int skipped;
#endif

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 5;
    int t = 0;
    for (int i = 0; i < n; i++) {
        t += TWICE(i);
        t += in_range(i);
        if (i == 3) {
            t += pick(i);
            continue;
        }
        while (t > 100000)
            t -= 7;
        do {
            t++;
        } while (t % 4);
    }
    try {
        if (n == 7)
            throw 3;
    } catch (int e) {
        t += e;
    }
    printf("%d %d %f\n", t, tsum(n), tsum((double)n));
    Shape s(4);
    printf("%d\n", s.get());
    return n > 100 ? 1 : 0;
}
