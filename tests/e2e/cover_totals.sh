#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Lines, functions and branches have the same totals in the report and in every format.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
command -v python3 >/dev/null || skip_all "no python3"
cat >shared.h <<'END'
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
static int clamp(int x)
{
    return x < 0 ? 0 : LARGER(x, 3) + LARGER(x, 4);
}
END
cat >one.cc <<'END'
#include "shared.h"
#include <vector>
template <typename T> T scale(T x, int n)
{
    if (n > 3 || x > 8)
        x *= 2;
    if constexpr (sizeof(T) > 4)
        return x > 4 ? x : 4;
    return x;
}
struct Base {
    int n;
    explicit Base(int x) : n(x > 2 ? x : 2) {}
    virtual ~Base() {}
};
struct Derived : virtual Base {
    Derived() : Base(1) {}
};
int main(int argc, char **argv)
{
    std::vector<int> seen;
    for (int i = 0; i < argc + 2; i++)
        seen.push_back(scale(i, i) + (int)scale((double)i, 9) + clamp(-i));
    auto a = [](int x) { return x ? 1 : 2; }; auto b = [](int x) { return x > 1; };
    Derived d;
    return argc > 9 ? (int)scale(2L, 1) + b(argc) : a((int)seen.size()) + d.n - 3;
}
END
cat >two.cc <<'END'
#include "shared.h"
int main(int argc, char **)
{
    return clamp(argc * 3) > 99;
}
END
totals() { # totals INPUT...
    python3 "$TOP/tests/e2e/lib/cover_totals.py" "$ASSAY" "$@"
}

# Both programs together took each way in shared.h.
shared_branches() { # shared_branches INPUT...
    "$ASSAY" cover export "$@" | sed -n '/shared\.h$/,/end_of_record/p' >rows
    "$ASSAY" cover export "$@" --format json >all.json
    python3 - all.json <<'END'
import json, sys
f = next(f for f in json.load(open(sys.argv[1]))["files"] if f["path"].endswith("shared.h"))
assert (f["branches_covered"], f["branch_count"]) == (6, 6), f
assert (f["functions_covered"], f["function_count"]) == (1, 1), f
END
}

if command -v g++ >/dev/null; then
    for flag in "" -O2 -fno-exceptions; do
        rm -f ./*.gc*
        # shellcheck disable=SC2086 # none or one flag
        g++ -w -std=c++17 $flag --coverage one.cc -o one && g++ -w $flag --coverage two.cc -o two || exit 1
        ./one a b && ./two a
        check "g++ $flag: equal totals" totals .
    done
fi
for llvm in 14 16 19; do
    flags="-w -std=c++17 -fprofile-instr-generate -fcoverage-mapping"
    # shellcheck disable=SC2086 # several flags
    if ! clang++-$llvm $flags one.cc -o one$llvm 2>build.log || ! clang++-$llvm $flags two.cc -o two$llvm; then
        skip "clang $llvm" "no clang-$llvm with its profile runtime"
        continue
    fi
    LLVM_PROFILE_FILE=one$llvm.profraw ./one$llvm a b && LLVM_PROFILE_FILE=two$llvm.profraw ./two$llvm a || exit 1
    check "clang $llvm: equal totals of a program" totals one$llvm one$llvm.profraw
    check "clang $llvm: equal totals of two programs" totals one$llvm two$llvm one$llvm.profraw two$llvm.profraw
    check "clang $llvm: instances of one branch are one branch" \
        shared_branches one$llvm two$llvm one$llvm.profraw two$llvm.profraw
    "$ASSAY" cover export -f -o $llvm.info one$llvm two$llvm one$llvm.profraw two$llvm.profraw
    check "clang $llvm: the tracefile has them too" test "$(totals $llvm.info)" = \
        "$(totals one$llvm two$llvm one$llvm.profraw two$llvm.profraw)"
    "$ASSAY" cover merge -f -o $llvm.assay one$llvm two$llvm one$llvm.profraw two$llvm.profraw &&
        check "clang $llvm: and the recording" test "$(totals $llvm.assay)" = "$(totals $llvm.info)"
done
if command -v rustc >/dev/null; then
    cat >gen.rs <<'END'
fn pick<T: PartialOrd + Copy>(x: T, y: T) -> T { if x > y { x } else { y } }
macro_rules! twice { ($x:expr) => { if $x > 2 { $x * 2 } else { $x } }; }
fn main() {
    let n = std::env::args().count() as i32;
    let v: Vec<i32> = (0..n).map(|x| x + 1).filter(|x| x % 2 == 0).collect();
    println!("{} {} {}", pick(n, 2), pick(1.5, n as f64), twice!(n) + twice!(v.len() as i32));
}
END
    rustc -C instrument-coverage gen.rs -o gen && LLVM_PROFILE_FILE=gen.profraw ./gen a b >/dev/null &&
        check "rustc: equal totals" totals gen gen.profraw
fi
finish
