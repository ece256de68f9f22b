// Macros and an inline function that cover.cc uses.
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define TWICE(x)     LARGER(x, 3) + LARGER(2, x)
static inline int in_range(int x)
{
    if (x > 1 && x < 10)
        return 1;
    return 0;
}
