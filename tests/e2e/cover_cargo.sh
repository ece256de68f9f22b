#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run -- cargo …: a workspace of several crates from one command, equal
# to llvm-cov; the user's own build is not touched.
# beside others: 15 s
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
printf '[workspace]\nmembers = ["base", "middle", "app", "macros"]\nresolver = "2"\n' >Cargo.toml
# The user's own flags, without which nothing compiles.
mkdir .cargo
printf '[build]\nrustflags = ["--cfg", "special"]\nrustdocflags = ["--cfg", "special"]\n' >.cargo/config.toml
crate base ""
crate middle base
crate app middle
crate macros ""
printf '[lib]\nproc-macro = true\n' >>macros/Cargo.toml
printf 'macros = { path = "../macros" }\n' >>middle/Cargo.toml
cat >macros/src/lib.rs <<'RS'
#[proc_macro]
pub fn seven(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    if item.is_empty() {
        return "7".parse().unwrap(); // macro
    }
    item // another
}
RS
cat >base/src/lib.rs <<'RS'
/// ```
/// assert_eq!(base::only_doctest(2), 5); // comment
/// assert_eq!(base::generic_doctest(2u8), 2);
/// ```
pub fn only_doctest(n: i64) -> i64 {
    n + 3 // doctest
}
pub fn generic_doctest<T: Into<i64>>(n: T) -> i64 {
    n.into() // instance
}
#[cfg(not(special))]
compile_error!("the flags of .cargo/config.toml are gone");
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
    fn macros() {
        assert_eq!(macros::seven!(), 7);
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
printf '#![allow(dead_code)]\npub fn shared() -> i64 {\n    6 // shared\n}\n' >middle/src/shared.rs
sed -i '1i mod shared;' middle/src/lib.rs
printf '#[test]\nfn more() {\n    assert_eq!(crate::sum(1), 0);\n}\n' >middle/src/more_tests.rs
mkdir middle/tests
cat >middle/tests/it.rs <<'RS'
#[path = "../src/shared.rs"]
mod shared;
#[test]
fn integration() {
    assert_eq!(middle::sum(2), 1); // integration
    assert_eq!(shared::shared(), 6);
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
verdict "tests of a workspace" "$([ $status -eq 0 ] && [ "$(count_of res '// sum')" -ge 3 ]; echo $?)"
verdict "a source that a test includes by another way to it" "$([ "$(count_of res '// shared')" = 1 ]; echo $?)"
verdict "what only doctests call counts" "$([ "$(count_of res '// doctest')" -ge 1 ]; echo $?)"
verdict "so do instances that only doctests have" "$([ "$(count_of res '// instance')" -ge 1 ]; echo $?)"
verdict "doctests themselves have no lines" "$([ "$(count_of res '// comment')" = '///' ]; echo $?)"
verdict "a macro counts where it expands, in the compiler" "$([ "$(count_of res '// macro')" = 1 ] && [ "$(count_of res '// another')" = 0 ]; echo $?)"
verdict "programs that are gone leave their mapping, and no more" "$([ "$(find res -name '*.covmapping' | wc -l)" -eq 1 ] && [ "$(du -sk res | cut -f 1)" -lt 200 ]; echo $?)"
"$ASSAY" cover export res 2>/dev/null | sort >first
cover -- cargo test
"$ASSAY" cover export res 2>/dev/null | sort >second
verdict "a run that compiles nothing counts the same" "$(cmp -s first second; echo $?)"
verdict "what nothing calls has zeros" "$([ "$(count_of res '// never')" = 0 ]; echo $?)"
verdict "only the workspace's sources, without tests" "$(grep -q 'app/src/main.rs' out && ! grep -q -E 'registry|rustc|_tests.rs|tests/it.rs|build.rs' out; echo $?)"
verdict "the user's build is left as it was" "$([ "$before" = "$(find target -path target/assay-cover -prune -o -type f -exec stat -c '%n %Y' {} + | sort | md5sum)" ]; echo $?)"
sed -n '/^in /,$p' out >table
"$ASSAY" cover report res >later 2>later.err
verdict "a later report has the same sources, and says that others were left out" "$(cmp -s table later && grep -q 'left out.*--all-sources' later.err; echo $?)"
"$ASSAY" cover export res 2>/dev/null | grep ^SF: >files
verdict "so has an export" "$([ "$(wc -l <files)" -eq 5 ] && ! grep -q tests/ files; echo $?)"
"$ASSAY" cover export --all-sources res 2>later.err | grep ^SF: >files
verdict "--all-sources has what the run left out" "$(grep -q middle/tests/it.rs files && ! grep -q 'left out' later.err; echo $?)"
"$ASSAY" cover export --prefix-map "$PWD=/elsewhere" res 2>/dev/null | grep ^SF: >files
verdict "with other prefixes too" "$([ "$(grep -c ^SF:/elsewhere/ files)" -eq 5 ] && [ "$(wc -l <files)" -eq 5 ]; echo $?)"
cover --include-tests -- cargo test
verdict "--include-tests" "$(grep -q 'middle/tests/it.rs' out; echo $?)"
cover --all-sources -- cargo test -p middle
verdict "--all-sources of a run" "$(grep -q 'middle/tests/it.rs' out && ! grep -q 'left out' err; echo $?)"
cover -- cargo test --all-features -p middle
verdict "options reach cargo" "$([ $status -eq 0 ] && [ "$(count_of res '// extra')" = 1 ]; echo $?)"
cover --all-features --packages middle -- cargo test
verdict "so do tarpaulin's" "$([ $status -eq 0 ] && [ "$(count_of res '// extra')" = 1 ] && ! grep -q app/src out; echo $?)"
cover -- cargo run -q -- 101
verdict "cargo run: the program's status and words" "$([ $status -eq 9 ] && [ "$(count_of res '// large')" = 1 ]; echo $?)"
cover -- cargo test no_test_has_this_name
verdict "a run in which no line of the crates runs" "$([ $status -eq 0 ] && [ "$(count_of res '// double')" = 0 ]; echo $?)"
sed -i 's/, 9)/, 10)/' middle/src/lib.rs
cover -- cargo test
verdict "a failing test: cargo's status, and a report" "$([ $status -eq 101 ] && grep -q TOTAL out; echo $?)"
verdict "programs that did not run after it are said" "$(grep -q 'wrote no counts' err; echo $?)"
mv middle/src/lib.rs lib.rs
sed 's/assert_eq!(super::sum(4), 10)/assert_eq!(super::sum(4), 9); std::process::abort()/' lib.rs >middle/src/lib.rs
cover -- cargo test -p middle --lib -- --test-threads 1 sums
verdict "a test that aborts: what would keep its counts" "$([ "$(count_of res '// sum')" = 0 ] && grep -q -e 'wrote no counts.*--continuous keeps' err; echo $?)"
cover --continuous -- cargo test -p middle --lib -- --test-threads 1 sums
verdict "--continuous keeps them" "$([ "$(count_of res '// sum')" -ge 2 ]; echo $?)"
mv lib.rs middle/src/lib.rs
echo 'fn broken( {' >>middle/src/lib.rs
cover -- cargo test
verdict "what does not build: cargo's status" "$([ $status -eq 101 ] && ! grep -q TOTAL out; echo $?)"
sed -i -e '$d' -e 's/, 10)/, 9)/' middle/src/lib.rs

# Ways to sources: a shorter one that leads to the same file, and one through a link that does not.
mkdir -p ways/near ways/real/deep
ln -s "$PWD/ways/real/deep" ways/near/link
echo 'pub fn near() -> i32 { 1 }' >ways/near/one.rs
echo 'pub fn far() -> i32 { 2 }' >ways/real/one.rs
cat >ways/main.rs <<RS
#[path = "$PWD/ways/near/../near/one.rs"] mod near;
#[path = "$PWD/ways/near/link/../one.rs"] mod far;
fn main() { std::process::exit(near::near() + far::far() - 3) }
RS
rustc -C instrument-coverage -o ways/prog ways/main.rs && LLVM_PROFILE_FILE=ways/profraw ways/prog
"$ASSAY" cover export ways/prog ways/profraw | grep '/one.rs$' | sort >files
verdict "a name is shortened where it leads to the same file, else it is the real path" "$(printf 'SF:%s\n' "$PWD/ways/near/one.rs" "$PWD/ways/real/one.rs" | diff - files; echo $?)"

# llvm-cov on the same raw profiles, of this build alone.
rm -rf target/assay-cover
cover --keep-raw -- cargo test
for tools in "$(rustc --print sysroot)"/lib/rustlib/*/bin/llvm-cov llvm-cov-22 llvm-cov-21 llvm-cov-20 llvm-cov-19; do
    command -v "$tools" >/dev/null && break
done
objects=()
while read -r _ path; do
    objects+=(-object "$path")
done <res/assay-objects
sources=("$PWD/base/src/lib.rs" "$PWD/middle/src/lib.rs" "$PWD/middle/src/shared.rs" "$PWD/app/src/main.rs" "$PWD/macros/src/lib.rs")
if ! "${tools/llvm-cov/llvm-profdata}" merge -o all.profdata res/raw/*.kept target/assay-cover/assay-build/*.profraw 2>err; then
    skip "equal to llvm-cov" "no LLVM tools that read this rustc's profiles"
else
    flat() { awk '/^SF:/ { file = $0 } /^DA:/ { print file, $0 }' | sort; }
    "$tools" export -format=lcov -instr-profile all.profdata "${objects[@]:1}" "${sources[@]}" 2>err | flat >theirs
    "$ASSAY" cover export --llvm-rules res --include "$PWD/*/src/*" 2>err | flat >ours
    diff ours theirs >out
    verdict "lines are those of $(basename "$tools"): $(grep -c DA theirs) of them" "$([ -s theirs ] && ! [ -s out ]; echo $?)"
fi
# The configuration is found from where cargo starts: here the environment has the flags.
cd / && RUSTFLAGS='--cfg special' RUSTDOCFLAGS='--cfg special' "$ASSAY" cover run -f -o "$SCRATCH/res" -- cargo test --manifest-path "$SCRATCH/ws/Cargo.toml" >"$SCRATCH/out" 2>"$SCRATCH/err"
status=$?
cd "$SCRATCH" || exit 1
verdict "from elsewhere, by --manifest-path, and with RUSTFLAGS" "$([ $status -eq 0 ] && [ "$(count_of res '// sum')" -ge 3 ]; echo $?)"
# members = ["*"] would take .assay for a member: cargo fails then.
mkdir -p all/one/src && cd all || exit 1
printf '[workspace]\nmembers = ["*"]\nexclude = ["target"]\nresolver = "2"\n' >Cargo.toml
printf '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n' >one/Cargo.toml
echo 'pub fn one() -> i32 { 1 }' >one/src/lib.rs
echo 'int main(void) { return 0; }' >one/main.c
gcc --coverage -o one/main one/main.c && "$ASSAY" cover run -- one/main >out 2>&1 && "$ASSAY" cover report >shown 2>&1 && grep -q 'main.c' shown &&
    cargo metadata --offline --no-deps --format-version 1 >members 2>&1 && [ ! -e .assay ] && [ -d target/assay/cover ]
status=$?
[ $status -eq 0 ] || cat out shown members
verdict "a workspace of all folders keeps its results in target" $status
cd ..
finish
