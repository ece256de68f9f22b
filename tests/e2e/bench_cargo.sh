#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay bench --cargo: benchmarks of a workspace under Criterion, divan, libtest and a main function of
# the user's own, and the same of two revisions. What decides is a severalfold difference of work.
# beside others: 60 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
cargo --version >/dev/null 2>&1 || skip_all "no cargo"
command -v git >/dev/null || skip_all "there is no git"
export CARGO_TERM_COLOR=never RUSTC_BOOTSTRAP=1 XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_NOSYSTEM=1
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR
mkdir tmp && export TMPDIR=$PWD/tmp

mkdir -p ws/src ws/benches && cd ws || exit 1
git init -q . && git config user.name a && git config user.email a@b
cat >Cargo.toml <<'T'
[package]
name = "work"
version = "0.1.0"
edition = "2021"
[[bench]]
name = "plain"
[[bench]]
name = "own"
harness = false
[[bench]]
name = "quick"
harness = false
# To build takes longer than to measure.
[profile.bench]
opt-level = 1
[profile.bench.package."*"]
opt-level = 0
T
cat >src/lib.rs <<'R'
#![cfg_attr(test, feature(test))]
#[inline(never)]
pub fn steps(n: u64) -> u64 {
    (0..n * FACTOR).fold(1, |a, i| (a ^ (a << 13)).wrapping_add(i ^ (a >> 7)))
}
pub const FACTOR: u64 = 1;
#[cfg(test)]
mod tests {
    extern crate test;
    #[bench]
    fn inside(b: &mut test::Bencher) {
        b.iter(|| super::steps(test::black_box(200)));
    }
    #[test]
    fn checked() {}
}
R
cat >benches/plain.rs <<'R'
#![feature(test)]
extern crate test;
#[bench]
fn short(b: &mut test::Bencher) {
    b.iter(|| work::steps(test::black_box(200)));
}
#[bench]
fn long(b: &mut test::Bencher) {
    b.iter(|| work::steps(test::black_box(4000)));
}
R
# No harness at all: it prints a line of libtest's, and refuses all arguments but cargo's.
cat >benches/own.rs <<'R'
fn main() {
    let _mark = std::env::var("DIVAN_MAX_TIME");
    assert_eq!(std::env::args().skip(1).collect::<Vec<_>>(), ["--bench"]);
    assert_eq!(std::env::current_dir().unwrap().to_str(), option_env!("CARGO_MANIFEST_DIR"));
    assert_eq!(std::env::var("CARGO_MANIFEST_DIR").ok().as_deref(), option_env!("CARGO_MANIFEST_DIR"));
    println!("test mine ... bench:       {} ns/iter (+/- 1)", 1000 * work::steps(0));
}
R
# It measures nothing: where a comparison of two builds is judged, not their times.
cat >benches/quick.rs <<'R'
fn main() {
    println!("test factor ... bench:       {} ns/iter (+/- 1)", 1000 * work::FACTOR);
}
R
printf 'target\nCargo.lock\n*.json\n*.assay\nout\nerr\ncheck.log\n' >.gitignore
git add -A && git commit -qm "first" && git tag one
sed -i 's/FACTOR: u64 = 1/FACTOR: u64 = 6/' src/lib.rs && git commit -qam "slower" && git tag two

names() { # FILE: the functions of an export
    python3 -c 'import json, sys
print(*sorted(r["command"] for r in json.load(open(sys.argv[1]))["results"]))' "$1"
}
if ! cargo bench --no-run >../build.log 2>&1; then
    cat ../build.log
    skip_all "cargo cannot build benchmarks here"
fi
check "benchmarks of all targets run" assay bench --processes 3 --export-json all.json --recording all.assay --cargo
check "libtest's, of unit tests too, and a main function's own" eval '[ "$(names all.json)" = "own/mine plain/long plain/short quick/factor work/tests::inside" ] || { names all.json; false; }'
check "the times are those of the benchmarks" python3 -c '
import json
r = {r["command"]: r for r in json.load(open("all.json"))["results"]}
assert all(len(x["times"]) == 3 for x in r.values())
assert all(abs(t - 1e-6) < 1e-12 for t in r["own/mine"]["times"]), r["own/mine"]["times"]
assert r["plain/long"]["median"] > 3 * r["plain/short"]["median"], r'
check "a program that refuses the options of its harness is named" eval 'assay bench --processes 1 --cargo --bench own 2>&1 | grep -q "does not accept the options that set its time"'
check "a recording of them is reported" eval 'assay report all.assay | grep -q plain/short'
check "one target needs no name before its functions" eval 'assay bench --processes 1 --export-json one.json --cargo --bench plain >out && [ "$(names one.json)" = "long short" ]'
check "a filter behind --" eval 'assay bench --processes 1 --export-json f.json --cargo --bench plain -- sho >out && [ "$(names f.json)" = short ]'
check "--filter is one too" eval 'assay bench --processes 1 --filter sho --export-json f.json --cargo --bench plain >out && [ "$(names f.json)" = short ]'
check "in the words of libtest" eval 'assay bench --processes 1 --format libtest --cargo --bench own | grep -Eq "^test mine \.\.\. bench: +1,000 ns/iter"'
check "times can be saved and compared" eval 'assay bench --processes 3 --save s --db ../b.db --cargo --bench own >out && assay bench --processes 3 --baseline s --db ../b.db --cargo --bench own | grep -q "the same"'
check "a CPU clock is refused" eval '! assay bench --cpu-clock --processes 1 --cargo --bench plain 2>err >out && grep -q "does not report its CPU time" err'
check "a build that fails is an error" eval '! assay bench --cargo --bench none >out 2>err && grep -q "cargo ended with status" err && grep -q "hint: .*in front of --cargo" err'
check "--against is refused" status_is 2 assay bench --against x --cargo
check "so is an option for commands" status_is 2 assay bench --prepare true --cargo

# ---- Revisions --------------------------------------------------------------------
check "two revisions, in turns, and the gate" eval 'status_is 3 assay bench --processes 5 --fail-if-slower 5% --export-json r.json --cargo --bench plain --revisions one two -- long >out'
check "the slower one is found" python3 -c '
import json, subprocess
r, = json.load(open("r.json"))["results"]
digits = subprocess.check_output(["git", "rev-parse", "two"], text=True)[:10]
assert r["command"] == "two (%s): long" % digits, r["command"]
c = r["assay"]["change"]
assert c["verdict"] == "slower" and c["ratio"]["low"] > 1, c'
check "the verdict is the first line" eval 'head -n 2 out | grep -q "^1 function: 1 slower, 0 faster" && sed -n 2p out | grep -Eq "^  slower  long +\+[0-9.]+ % \["'
check "nothing is built again" eval '! assay bench --processes 1 --revisions one two --cargo --bench plain -- short 2>&1 >out | grep building'
check "a shared target folder does not mix them" eval 'CARGO_TARGET_DIR=$PWD/../shared assay bench --processes 5 --export-json s.json --revisions two one --cargo --bench quick >out && grep -q "\"faster\"" s.json && [ ! -e ../shared ]'
check "the work tree against HEAD" eval 'sed -i "s/FACTOR: u64 = 6/FACTOR: u64 = 1/" src/lib.rs; assay bench --processes 5 --dirty --cargo --bench quick >out; s=$?; git checkout -q src; [ $s = 0 ] && head -n 1 out | grep -q "1 faster"'
check "three are refused" eval '! assay bench --revisions one two HEAD --cargo --bench plain 2>err >out && grep -q "between two revisions" err'
check "the user's tree is as it was" eval '[ -z "$(git status --short)" ]'

# ---- Criterion and divan, which need a registry --------------------------------------
cat >>Cargo.toml <<'T'
[dev-dependencies]
criterion = { version = "0.5", default-features = false }
divan = "0.1"
[[bench]]
name = "crit"
harness = false
[[bench]]
name = "table"
harness = false
T
cat >benches/crit.rs <<'R'
use criterion::{black_box, criterion_group, criterion_main, BenchmarkId, Criterion, Throughput};
fn all(c: &mut Criterion) {
    c.bench_function("plain", |b| b.iter(|| work::steps(black_box(50))));
    let mut g = c.benchmark_group("group");
    g.throughput(Throughput::Elements(500));
    g.bench_with_input(BenchmarkId::new("steps", 500), &500, |b, &n| b.iter(|| work::steps(black_box(n))));
}
criterion_group!(benches, all);
criterion_main!(benches);
R
cat >benches/table.rs <<'R'
fn main() {
    divan::main();
}
#[divan::bench(args = [50, 500, 5000])]
fn steps(n: u64) -> u64 {
    work::steps(divan::black_box(n))
}
mod inner {
    #[divan::bench]
    fn deep() -> u64 {
        work::steps(divan::black_box(100))
    }
}
R
if ! timeout 300 cargo bench --no-run --bench crit --bench table >../build.log 2>&1; then
    tail -n 3 ../build.log
    skip 'Criterion and divan' 'cargo cannot fetch or build them here'
    finish
fi
check "Criterion and divan" assay bench --processes 4 --function-time 0.02 --export-json c.json --cargo --bench crit --bench table
check "all their benchmarks" eval '[ "$(names c.json)" = "crit/group/steps/500 crit/plain table/inner::deep table/steps::50 table/steps::500 table/steps::5000" ] || { names c.json; false; }'
check "the same work takes the same under both, within a factor of 3; 100 times the work takes longer" python3 -c '
import json
r = {r["command"]: r for r in json.load(open("c.json"))["results"]}
least = {k: min(v["times"]) for k, v in r.items()}
assert 1 / 3 < least["crit/group/steps/500"] / least["table/steps::500"] < 3, least
assert least["table/steps::5000"] > 3 * least["table/steps::50"], least
assert r["crit/group/steps/500"]["assay"]["elements"] == 500'
check "Criterion's folder of the user is not touched" test ! -e target/criterion
check "nothing is left behind" eval '[ -z "$(ls "$TMPDIR")" ]'
finish
