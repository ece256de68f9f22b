// SPDX-License-Identifier: Apache-2.0
// Tables of virtual functions, for value profiles. With an argument call() sees one
// D and two C.

struct B {
    virtual int f() = 0;
};

struct C : B {
    int f()
    {
        return 1;
    }
};

namespace
{
struct D : B {
    int f()
    {
        return 2;
    }
};
} // namespace

__attribute__((noinline)) int call(B *b)
{
    return b->f();
}

int main(int argc, char **)
{
    C c;
    D d;
    return call(&c) + call(&d) + (argc > 1 ? call(&c) : 0) < 3;
}
