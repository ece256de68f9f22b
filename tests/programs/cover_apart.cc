// What gcov counts apart and adds up: functions that start on one line, with and without
// blocks of their own there. And ways out of functions that are no returns: exceptions,
// longjmp, calls that do not return, forks and exec.
#include <csetjmp>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

template <typename T> T twice(T v) { for (int i = 0; i < 2; i++) v = v + v; return v; }
template <typename T> struct Box {
    T v; Box(T a) : v(a) {} ~Box() { if (v == T()) count++; } T get() const { return v; }
    static int count;
};
template <typename T> int Box<T>::count = 0;
static int clamp(int v, int lo, int hi) { if (v < lo) return lo; if (v > hi) return hi; return v; }
static void raise_if(bool b) { if (b) throw std::runtime_error("b"); }

static jmp_buf env;
[[noreturn]] static void leave(int n) { longjmp(env, n); }
static int jumps(int n)
{
    volatile int k = 0;
    switch (setjmp(env)) {
    case 0: k = 1; break;
    case 1: k = 2; break;
    default: return k + 10;
    }
    if (k < 2 && n > 0) leave(k);
    if (n > 3) leave(5);
    return k;
}
struct Guard { int &r; Guard(int &x) : r(x) {} ~Guard() { r++; } };
static int throws(int n)
{
    int r = 0;
    for (int i = 0; i < n; i++) {
        try { Guard g(r); raise_if(i % 3 == 1); r += 2; }
        catch (const std::logic_error &) { r += 100; }
        catch (const std::exception &e) { r += e.what()[0] == 'b' ? 1 : 7; }
    }
    return r;
}
static int lambdas(int n)
{
    int sum = 0; auto add = [&](int x) { if (x & 1) sum += x; else sum -= x; }; auto gen = [&](auto x) { return x + sum; };
    std::function<int(int)> fib = [&](int k) { return k < 2 ? k : fib(k - 1) + fib(k - 2); };
    for (int i = 0; i < n; i++) add(i); sum += gen(2) + (int)gen(2.5); return sum + fib(5);
}
static int loops(int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) { s += j; if (s > 50) goto out; } while (n--) s++; do s--; while (s > 30 && n < 4 && ++n); out: return s; }
static int cases(int n) { switch (n) {
#define C(k) case k: return k * 3;
    C(0) C(1) C(2) C(3) C(4) C(5) C(6) C(7) C(8) C(9) C(10) C(11) C(12) C(13) C(14) C(15) C(16) C(17) C(18) C(19) C(20)
    case 40 ... 50: return 7;
    default: return -1; } }
static int line(int c) { auto a = [&](int x) { if (x) return x + c; return 2; }; int r = 0; for (int i = 0; i < 3; i++) { if (i != 1) r += a(i); }
    auto d = [&](int x) { if (x > 1) return x; return c; }; if (c > 0 || r) { r += d(1) + d(2); }
    auto e = [&](int x) { return x + 1; }; auto f = [&](auto x) { if (x > 2) return x; return x - 1; };
    for (int k = 0; k < 4; k++) r += (int)f(k) + (int)f(k * .9) + e(k);
    return r; } static int after(int n) { if (n > 3) return 2; return 1; } static int more(int n) { return n > 4 ? 1 : after(n); }
static int one(int n) { return n; } static int two(int n) { while (n--) one(n); return one(3); }
static thread_local Box<int> local(3);
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4, r = 0;
    Box<int> a(n); Box<std::string> s(std::string(n, 'x')); Box<double> d(0);
    r += jumps(n) + throws(n) + lambdas(n) + loops(n) + cases(n) + cases(44) + local.get() + line(n) + more(n) + two(n);
    r += twice(n) + (int)twice(2.5) + clamp(n, 2, 3) + (int)s.get().size();
    std::map<int, std::vector<int>> m;
    for (int i = 0; i < n; i++) m[i % 2].push_back(i);
    for (auto &[k, v] : m) for (int x : v) r += k * x;
    if (pid_t p = fork()) { int st; waitpid(p, &st, 0); r += WEXITSTATUS(st); } else { exit(clamp(r, 0, 5)); }
    if (n == 9) _exit(3);
    if (n == 8) abort();
    if (n == 7) execl("/bin/true", "true", nullptr);
    return r > 9999;
}
