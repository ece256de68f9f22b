#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --cargo, --cmake and --meson build a program and record it, not the build tool.
# beside others: 8 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
export CARGO_NET_OFFLINE=true

crate() { # NAME [LINE …]: a package of the workspace
    mkdir -p "ws/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n' "$1" >"ws/$1/Cargo.toml"
    local name=$1
    shift
    if [ $# -gt 0 ]; then printf '%s\n' "$@" >>"ws/$name/Cargo.toml"; fi
}
workspace() {
    mkdir -p ws/app/benches ws/app/tests ws/app/examples
    printf '[workspace]\nmembers = ["app", "burner", "util"]\nresolver = "2"\n[profile.release]\nstrip = true\n' >ws/Cargo.toml
    crate burner
    crate util
    crate app '[dependencies]' 'burner = {path = "../burner"}' 'util = {path = "../util"}' \
        '[[bench]]' 'name = "spin"' 'harness = false'
    mkdir -p ws/app/src/bin
    cat >ws/burner/src/lib.rs <<'RS'
#[inline(never)]
pub fn burn_here(n: u64) -> u64 {
    let mut x = 1u64;
    for i in 0..n { x = x.wrapping_mul(6364136223846793005).wrapping_add(i); }
    x
}
#[cfg(test)]
mod t { #[test] fn unit_burns() { assert!(crate::burn_here(200_000_000) != 0); } }
RS
    echo '#[inline(never)] pub fn twice(n: u64) -> u64 { n * 2 }' >ws/util/src/lib.rs
    cat >ws/app/src/main.rs <<'RS'
fn main() {
    let n: u64 = std::env::args().nth(1).map(|s| s.parse().unwrap()).unwrap_or(100_000_000);
    println!("{}", burner::burn_here(util::twice(n)));
}
RS
    cp ws/app/src/main.rs ws/app/examples/sample.rs
    cp ws/app/src/main.rs ws/app/src/bin/second.rs
    cat >ws/app/benches/spin.rs <<'RS'
fn main() {
    assert!(std::env::args().any(|a| a == "--bench"), "a benchmark must be told to measure");
    assert!(std::path::Path::new("benches/spin.rs").exists(), "cargo starts it in its package");
    println!("{}", burner::burn_here(200_000_000));
}
RS
    echo '#[test] fn burns() { assert!(burner::burn_here(200_000_000) != 0); }' >ws/app/tests/it.rs
}

if command -v cargo >/dev/null; then
    workspace
    (cd ws && find . -name '*.toml' -o -name '*.rs' | sort | xargs sha256sum) >before
    cd ws || exit 1
    names_burner() { grep -q 'burn_here' "$1"; }
    check 'a benchmark is built and drawn' assay flame -o ../b.svg --cargo --bench spin
    check 'it, not cargo, with names in spite of strip = true' names_burner ../b.svg
    check 'its lines are known' assay annotate burn_here -o ../a.txt --cargo --bench spin
    check 'to the source' grep -q 'wrapping_mul' ../a.txt
    check 'a program with arguments' assay report -o ../p.txt --cargo --bin app -- 200000000
    check 'has them' grep -q '^app 200000000' ../p.txt
    check 'an example' assay record -o ../e.assay --cargo --example sample
    check 'a target that is not there is no matter of the order of options' eval '! assay record -o ../n.assay --cargo --bin none 2>../err && ! grep -q "in front of" ../err'
    check 'an option that cargo does not know may be' eval '! assay record -o ../n.assay --cargo --no-such-option 2>../err && grep -q "in front of --cargo" ../err'
    check 'an integration test' assay report --limit 0 -o ../i.txt --cargo --test it
    check 'is recorded in all threads' names_burner ../i.txt
    check 'unit tests of a library' assay report --limit 0 -o ../u.txt --cargo -p burner --lib
    check 'are too' names_burner ../u.txt
    check 'stat counts it' assay stat -e task-clock -o ../s.txt --cargo --bin second -- 100
    check 'and names it' grep -q second ../s.txt
    check 'heap follows its blocks' assay heap -q -o ../h.assay --cargo --bin app -- 1000
    check 'and names it, too' eval 'assay report --limit 0 ../h.assay >../h.txt && grep -q "app 1000" ../h.txt && ! grep -q rustc ../h.txt'
    check 'a sub-command of cargo may stand first' assay report -o ../r.txt --cargo bench
    status_is 2 assay record -o ../n.assay --cargo 2>../err
    verdict 'several programs are an error' $?
    check 'that names them' eval "grep -q -e '--bin app' ../err && grep -q -e '--bin second' ../err"
    check 'no program is one' status_is 1 assay record -o ../n.assay --cargo -p util
    echo 'compile error' >>util/src/lib.rs
    check 'a failed build gives the status of cargo' status_is 101 assay record -o ../n.assay --cargo --bin app
    check 'and no recording' eval '! ls ../n.assay*'
    sed -i '$d' util/src/lib.rs
    cd .. || exit 1
    check 'no file of the user is changed' eval '(cd ws && sha256sum --quiet -c ../before)'
else
    skip 'programs built by cargo' 'no cargo here'
fi

mkdir cm && cp "$TOP/tests/programs/spin.c" cm/ && cd cm || exit 1
if command -v cmake >/dev/null && { command -v make || command -v ninja; } >/dev/null; then
    printf 'cmake_minimum_required(VERSION 3.13)\nproject(x C)\nadd_executable(spin-cmake spin.c)\ntarget_link_libraries(spin-cmake pthread)\nset_target_properties(spin-cmake PROPERTIES OUTPUT_NAME renamed)\n' >CMakeLists.txt
    check 'without a build folder it says so' status_is 1 assay report --cmake spin-cmake
    cmake -B out/release >/dev/null || exit 1
    assay report -o c.txt --cmake spin-cmake -- 100 2>err
    verdict 'a target of cmake is built and recorded' $?
    check 'under the name of its output' grep -q 'renamed 100' c.txt
    check 'a build without line tables is said' grep -q 'RelWithDebInfo' err
    check 'a target that is not there' status_is 1 assay report --cmake nope
    check 'no question is left in the folder' test ! -e out/release/.cmake/api/v1/query/client-assay
    echo '#error broken' >>spin.c
    check 'a failed build is a failure' eval '! assay report -o f.txt --cmake spin-cmake -- 10'
    cp "$TOP/tests/programs/spin.c" .
else
    skip 'programs built by cmake' 'no cmake here'
fi
if command -v meson >/dev/null && command -v ninja >/dev/null; then
    printf "project('x', 'c')\nexecutable('spin-meson', 'spin.c', dependencies: dependency('threads'))\n" >meson.build
    echo 'int spin_library;' >spin_library.c && echo "library('spin-meson', 'spin_library.c')" >>meson.build # the same name
    meson setup bm >/dev/null || exit 1
    check 'a target of meson is built and recorded' assay report -o m.txt --meson spin-meson -- 100
    check 'it, not meson' grep -q ' burn ' m.txt
    check 'in a folder that is named' assay stat -e task-clock -o t.txt --meson spin-meson --build-dir bm -- 10
    check 'heap follows a target of meson' assay heap -q -o m.assay --meson spin-meson -- 10
    check 'and names it' eval 'assay report --limit 0 m.assay | grep -q "spin-meson 10"'
    echo '#error broken' >>spin.c
    status_is 1 assay report --meson spin-meson -- 10 2>err
    verdict 'a failed build is a failure' $?
    check 'with the message of the compiler' grep -q 'error broken' err
else
    skip 'programs built by meson' 'no meson here'
fi
finish
