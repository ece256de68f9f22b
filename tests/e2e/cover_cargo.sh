#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run -- cargo …: a workspace of several crates from one command, equal
# to llvm-cov; the user's own build is not touched.
set -u
cd "$SCRATCH" || exit 1
if ! command -v cargo >/dev/null || ! cargo --version >/dev/null 2>&1; then
    echo "no cargo"
    exit 77
fi
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
cover() { # cover ARGS...
    "$ASSAY" cover run -f -o res "$@" >out 2>err
    status=$?
}
export CARGO_TERM_COLOR=never CARGO_NET_OFFLINE=true
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR

# Three crates, one upon the other; a build script; unit, integration and doc tests.
crate() { # crate NAME DEPENDENCY
    mkdir -p "$1/src"
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n[features]\nextra = []\n[dependencies]\n' "$1" >"$1/Cargo.toml"
    [ -z "$2" ] || printf '%s = { path = "../%s" }\n' "$2" "$2" >>"$1/Cargo.toml"
}
mkdir ws && cd ws || exit 1
printf '[workspace]\nmembers = ["base", "middle", "app"]\nresolver = "2"\n' >Cargo.toml
crate base ""
crate middle base
crate app middle
cat >base/src/lib.rs <<'RS'
/// ```
/// assert_eq!(base::only_doctest(2), 5);
/// ```
pub fn only_doctest(n: i64) -> i64 {
    n + 3 // doctest
}
pub fn double(n: i64) -> i64 {
    n * 2 // double
}
pub fn never(n: i64) -> i64 {
    if n > 3 {
        return 4; // never
    }
    n
}
pub fn generic<T: std::fmt::Debug>(t: T) -> String {
    format!("{t:?}")
}
RS
cat >middle/src/lib.rs <<'RS'
pub fn sum(n: i64) -> i64 {
    let mut total = 0;
    for i in 0..n {
        if i % 3 == 0 {
            total += base::double(i);
        } else {
            total += i; // sum
        }
    }
    total
}
#[cfg(feature = "extra")]
pub fn extra() -> i32 {
    5 // extra
}
#[cfg(test)]
mod more_tests;
#[cfg(test)]
mod tests {
    #[test]
    fn sums() {
        assert_eq!(super::sum(4), 9);
    }
    #[test]
    fn generics() {
        assert_eq!(base::generic(5), "5");
        assert_eq!(base::generic("x"), "\"x\"");
    }
    #[test]
    #[cfg(feature = "extra")]
    fn extra() {
        assert_eq!(super::extra(), 5);
    }
}
RS
printf '#[test]\nfn more() {\n    assert_eq!(crate::sum(1), 0);\n}\n' >middle/src/more_tests.rs
mkdir middle/tests
cat >middle/tests/it.rs <<'RS'
#[test]
fn integration() {
    assert_eq!(middle::sum(2), 1); // integration
}
RS
cat >app/src/main.rs <<'RS'
fn main() {
    let n = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(3);
    println!("{}", middle::sum(n));
    if n > 100 {
        std::process::exit(9); // large
    }
}
RS
cat >app/build.rs <<'RS'
fn main() {
    println!("cargo:rerun-if-changed=build.rs"); // build script
}
RS

if ! cargo build -q 2>err; then
    echo "cargo cannot build here: $(head -1 err)"
    exit 77
fi
before=$(find target -type f -exec stat -c '%n %Y' {} + | sort | md5sum)
cover -- cargo test
sed '/^in /,$d' out >out.test
verdict "tests of a workspace" "$([ $status -eq 0 ] && [ "$(count_of res '// sum')" -ge 3 ]; echo $?)"
verdict "what only doctests call counts" "$([ "$(count_of res '// doctest')" -ge 1 ]; echo $?)"
verdict "what nothing calls has zeros" "$([ "$(count_of res '// never')" = 0 ]; echo $?)"
verdict "only the workspace's sources, without tests" "$(grep -q 'app/src/main.rs' out && ! grep -q -E 'registry|rustc|_tests.rs|tests/it.rs|build.rs' out; echo $?)"
verdict "the user's build is left as it was" "$([ "$before" = "$(find target -path target/assay-cover -prune -o -type f -exec stat -c '%n %Y' {} + | sort | md5sum)" ]; echo $?)"
"$ASSAY" cover report res >later 2>later.err
verdict "a later report has the same sources, and says that others were left out" "$(cmp out <(cat out.test later) && grep -q 'left out.*--all-sources' later.err; echo $?)"
"$ASSAY" cover export res 2>/dev/null | grep ^SF: >files
verdict "so has an export" "$([ "$(wc -l <files)" -eq 3 ] && ! grep -q tests/ files; echo $?)"
"$ASSAY" cover export --all-sources res 2>later.err | grep ^SF: >files
verdict "--all-sources has what the run left out" "$(grep -q middle/tests/it.rs files && ! grep -q 'left out' later.err; echo $?)"
"$ASSAY" cover export --prefix-map "$PWD=/elsewhere" res 2>/dev/null | grep ^SF: >files
verdict "with other prefixes too" "$([ "$(grep -c ^SF:/elsewhere/ files)" -eq 3 ] && [ "$(wc -l <files)" -eq 3 ]; echo $?)"
cover --include-tests -- cargo test
verdict "--include-tests" "$(grep -q 'middle/tests/it.rs' out; echo $?)"
cover --all-sources -- cargo test -p middle
verdict "--all-sources of a run" "$(grep -q 'middle/tests/it.rs' out && ! grep -q 'left out' err; echo $?)"
cover -- cargo test --all-features -p middle
verdict "options reach cargo" "$([ $status -eq 0 ] && [ "$(count_of res '// extra')" = 1 ]; echo $?)"
cover -- cargo run -q -- 101
verdict "cargo run: the program's status and words" "$([ $status -eq 9 ] && [ "$(count_of res '// large')" = 1 ]; echo $?)"
cover -- cargo test no_test_has_this_name
verdict "a run in which no line of the crates runs" "$([ $status -eq 0 ] && [ "$(count_of res '// double')" = 0 ]; echo $?)"
sed -i 's/, 9)/, 10)/' middle/src/lib.rs
cover -- cargo test
verdict "a failing test: cargo's status, and a report" "$([ $status -eq 101 ] && grep -q TOTAL out; echo $?)"
echo 'fn broken( {' >>middle/src/lib.rs
cover -- cargo test
verdict "what does not build: cargo's status" "$([ $status -eq 101 ] && ! grep -q TOTAL out; echo $?)"
sed -i -e '$d' -e 's/, 10)/, 9)/' middle/src/lib.rs

# llvm-cov on the same raw profiles.
cover --keep-raw -- cargo test
for tools in "$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-cov llvm-cov-22 llvm-cov-21 llvm-cov-20 llvm-cov-19; do
    command -v "$tools" >/dev/null && break
done
objects=()
while read -r _ path; do
    objects+=(-object "$path")
done <res/assay-objects
sources=("$PWD/base/src/lib.rs" "$PWD/middle/src/lib.rs" "$PWD/app/src/main.rs")
if ! "${tools/llvm-cov/llvm-profdata}" merge -o all.profdata res/raw/*.kept 2>err; then
    skip "equal to llvm-cov" "no LLVM tools that read this rustc's profiles"
else
    flat() { awk '/^SF:/ { file = $0 } /^DA:/ { print file, $0 }' | sort; }
    "$tools" export -format=lcov -instr-profile all.profdata "${objects[@]:1}" "${sources[@]}" 2>err | flat >theirs
    "$ASSAY" cover export --llvm-rules res --include "$PWD/*/src/*" 2>err | flat >ours
    diff ours theirs >out
    verdict "lines are those of $(basename "$tools"): $(grep -c DA theirs) of them" "$([ -s theirs ] && ! [ -s out ]; echo $?)"
fi
cd / && "$ASSAY" cover run -f -o "$SCRATCH/res" -- cargo test --manifest-path "$SCRATCH/ws/Cargo.toml" >"$SCRATCH/out" 2>"$SCRATCH/err"
status=$?
cd "$SCRATCH" || exit 1
verdict "from elsewhere, by --manifest-path" "$([ $status -eq 0 ] && [ "$(count_of res '// sum')" -ge 3 ]; echo $?)"
finish
