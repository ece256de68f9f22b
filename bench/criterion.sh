#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Function benchmarks beside Criterion: one Rust function timed by a Criterion crate and, through the C
# ABI of <assay/bench.h>, by assay bench, in turns and with the same time for both. Prints rows for
# bench/results.md. REPEATS=N (20). The crate is kept in build/workloads/criterion.
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
assay=${ASSAY:-$top/build/release/src/assay}
repeats=${REPEATS:-20}
crate=$top/build/workloads/criterion
mkdir -p "$crate/src" "$crate/benches"
cat >"$crate/Cargo.toml" <<'T'
[package]
name = "peer"
version = "0.1.0"
edition = "2021"
[dev-dependencies]
criterion = { version = "0.7", default-features = false, features = ["cargo_bench_support"] }
[[bench]]
name = "peer"
harness = false
[profile.bench]
opt-level = 3
debug = false
T
cat >"$crate/src/lib.rs" <<'R'
pub fn numbers(n: i64) -> Vec<u64> {
    let mut x = 88172645463325252u64;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x >> 40
        })
        .collect()
}
R
cat >"$crate/benches/peer.rs" <<'R'
use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;
fn sum(c: &mut Criterion) {
    let v = peer::numbers(10000);
    c.bench_function("sum", |b| b.iter(|| black_box(&v).iter().map(|x| x * x).fold(0u64, u64::wrapping_add)));
}
criterion_group!(benches, sum);
criterion_main!(benches);
R
cat >"$crate/ours.rs" <<R
#[macro_use]
#[path = "$top/include/assay/bench.rs"]
mod bench;
#[path = "$crate/src/lib.rs"]
mod peer;
use bench::Bench;
use std::hint::black_box;
fn sum(b: &mut Bench) {
    let v = peer::numbers(b.arg());
    b.iter(|| black_box(&v).iter().map(|x| x * x).fold(0u64, u64::wrapping_add));
}
benches! { sum(10000) }
R
if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
    echo "| function benchmark in Rust | Criterion | | not measured: no cargo | \`make bench BENCH=criterion\` |"
    exit 0
fi
start=$EPOCHREALTIME
binary=$(cd "$crate" && cargo bench --no-run --message-format=json 2>cargo.log |
    sed -n 's/.*"executable":"\([^"]*\/peer-[^"]*\)".*/\1/p' | tail -n 1)
if ! [ -x "$binary" ]; then
    tail -n 3 "$crate/cargo.log" >&2
    exit 1
fi
built=$EPOCHREALTIME
gcc -O2 -Iinclude -c examples/rust-bench/driver.c -o "$crate/driver.o" &&
    rustc -C opt-level=3 -C codegen-units=16 -C link-arg="$crate/driver.o" "$crate/ours.rs" -o "$crate/ours" 2>"$crate/rustc.log" || exit 1
done=$EPOCHREALTIME
python3 - "$assay" "$crate" "$binary" "$repeats" "$start" "$built" "$done" <<'P'
import json, math, os, statistics, subprocess, sys, time
assay, crate, binary, repeats = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
start, built, done = map(float, sys.argv[5:])
# Criterion: 0.5 s of warm-up and 1 s; ours: 10 processes of 0.1 s and their warm-up. Each repeat is a
# change against the one before: the same program both times, so that a change is false.
theirs, ours, theirs_s, ours_s, false_theirs, false_ours, widths = [], [], [], [], 0, 0, []
env = dict(os.environ, CRITERION_HOME=crate + "/results", CARGO_TARGET_DIR=crate + "/target")
for k in range(repeats):
    t = time.monotonic()
    out = subprocess.run([binary, "--bench", "--noplot", "--warm-up-time", "0.5", "--measurement-time", "1"], cwd=crate,
                         env=env, capture_output=True, text=True, check=True).stdout
    theirs_s.append(time.monotonic() - t)
    e = json.load(open(crate + "/results/sum/new/estimates.json"))
    theirs.append((e["slope"] or e["mean"])["point_estimate"])
    if k:
        false_theirs += "has regressed" in out or "has improved" in out
    t = time.monotonic()
    subprocess.run([assay, "bench", "--functions", crate + "/ours", "--style", "none", "--export-json", crate + "/o.json"], check=True)
    ours_s.append(time.monotonic() - t)
    ours.append(json.load(open(crate + "/o.json"))["results"][0]["median"] * 1e9)
    subprocess.run([assay, "bench", "--functions", crate + "/ours", "--against", crate + "/ours", "--style", "none",
                    "--export-json", crate + "/a.json"], check=True)
    change = json.load(open(crate + "/a.json"))["results"][0]["assay"]["change"]
    false_ours += change["differs"]
    widths.append(math.log(change["ratio"]["point"]))
m = statistics.median
sd = lambda x: statistics.stdev(math.log(v) for v in x)
load = f"load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs"
cmd = "`make bench BENCH=criterion`"
print(f"| one Rust function (sum of 10000 squares): median estimate of {repeats}; {load} | Criterion 0.7 {m(theirs):.0f} ns | the same | {m(ours):.0f} ns = {m(ours)/m(theirs):.3f}x | {cmd} |")
print(f"| its spread from try to try; time of a try | {100*sd(theirs):.2f} %; {m(theirs_s):.1f} s (0.5 s of warm-up, 1 s) | narrower in no more time | {100*sd(ours):.2f} %; {m(ours_s):.1f} s (10 processes) | {cmd} |")
print(f"| spread of a change, the same program both times; called different | {100*sd([b/a for a, b in zip(theirs, theirs[1:])]):.2f} %; {false_theirs} of {repeats-1} | <= 1/10; 5 % | {100*statistics.stdev(widths):.2f} % (--against, 10 pairs of processes); {false_ours} of {repeats} | {cmd} |")
print(f"| building it from nothing (crates fetched or not as they were) | cargo bench {built-start:.1f} s | <= 2 s | {done-built:.1f} s | {cmd} |")
P
