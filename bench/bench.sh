#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay bench against its peers; prints rows for bench/results.md.
# bench/bench.sh [simulation] [families] [spawn] [same] [power] [quick] [memory] [start]
# FAMILIES=N experiments of each family of real programs (200), NAMES='drift step' of these alone. TRIALS=N simulated ones (10000), PARTS='coverage verdicts rules stopping analysis' of the simulation.
# SAME=N experiments (400), LOAD=N busy processes beside them (2 for each CPU), POWER=N (40), QUICK=N (20), SIZES='4 16 …' MiB. HYPERFINE=path of a hyperfine, else the one in PATH.
set -u
cd "$(dirname "$0")/.." || exit 1
assay=${ASSAY:-$PWD/build/release/src/assay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hyperfine=${HYPERFINE:-$(command -v hyperfine || true)}
gcc -O2 -static -o "$work/work" bench/work.c || exit 1
gcc -O2 -static -nostdlib -o "$work/empty" -x c - <<'C' || exit 1
__attribute__((naked)) void _start(void) { __asm__("mov $60,%eax; xor %edi,%edi; syscall"); }
C
gcc -O2 -D_GNU_SOURCE -o "$work/clone" bench/clone_loop.c || exit 1

# shellcheck disable=SC2086 # the parts of PARTS are words
simulation() {
    gcc -O2 -std=gnu17 -D_GNU_SOURCE -Isrc -Itests/unit -o "$work/sim" bench/stats_simulation.c \
        tests/unit/stats/stats_simulate.c src/stats/*.c src/base/*.c -lm -ldeflate &&
        "$work/sim" "${TRIALS:-10000}" ${PARTS:-}
}

families() { # identical real programs with noise of each family, stopped when `--until` says so
    gcc -O2 -D_GNU_SOURCE -static -o "$work/families" bench/families.c -lm &&
        python3 - "$assay" "$work" "${FAMILIES:-200}" ${NAMES:+"$NAMES"} <<'P'
import json, os, subprocess, sys
assay, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
names = ["normal", "log-normal", *(f"modes-{a}-{s}" for a in ("1.2", "2", "6") for s in (5, 20, 50)), "pareto", "drift",
         "ar1", "periodic", "step"]
if len(sys.argv) > 4:
    names = sys.argv[4].split()
wrong, shown = 0, []
for name in names:
    bad = {"until": 0, "fixed": 0}
    for k in range(count):
        for rule, options in (("until", ["--until", "1%", "-M", "60"]), ("fixed", ["-r", "12"])):
            state = work + "/state"
            if os.path.exists(state):
                os.remove(state)
            command = f"{work}/families {name} 200000 {state}"
            subprocess.run([assay, "bench", "-N", "-w", "1", *options, "--seed", str(k), "--style", "none",
                            "--export-json", work + "/o.json", command, command], check=True)
            c = json.load(open(work + "/o.json"))["assay"]["comparisons"][0]
            bad[rule] += c["verdict"] in ("faster", "slower")
    print(name, bad, f"load {os.getloadavg()[0]:.0f}", file=sys.stderr, flush=True)
    shown.append(f"{name} {100*bad['until']/count:.1f} and {100*bad['fixed']/count:.1f}")
    # 4 Monte-Carlo errors of 5 %.
    wrong |= max(bad.values()) / count > 0.05 + 4 * (0.05 * 0.95 / count) ** 0.5
print(f"| wrong verdicts on identical real programs, `--until 1% -M 60` and `-r 12`, {count} experiments each, load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs | - | <= 5 % | {', '.join(shown)} % | `bench/bench.sh families` |")
sys.exit(wrong)
P
}

spawn() { # medians of one rotation: bare clone, ours, hyperfine
    python3 - "$assay" "$work" "$hyperfine" <<'P'
import json, os, statistics, subprocess, sys
assay, work, hyperfine = sys.argv[1:]
bare, ours, theirs, waited, wall, bare_wall = [], [], [], [], [], []
import time
# The bare loop gets what bench gives a command: its environment, and 2 KiB of it on average.
env = dict(os.environ, HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET="X" * 2048, HYPERFINE_ITERATION="0")
for block in range(6):
    t = time.monotonic()
    out = subprocess.run([work + "/clone", work + "/empty", "200"], env=env, capture_output=True, text=True).stdout
    bare_wall.append((time.monotonic() - t) / 200)
    bare += [float(x) for x in out.split()]
    t = time.monotonic()
    subprocess.run([assay, "bench", "-N", "-r", "200", "--style", "none", "--export-json",
                    work + "/o.json", work + "/empty"], check=True)
    wall.append((time.monotonic() - t) / 200)
    runs = json.load(open(work + "/o.json"))["results"][0]
    ours += runs["times"]
    subprocess.run([assay, "bench", "-N", "--wait-clock", "-r", "200", "--style", "none", "--export-json",
                    work + "/o.json", work + "/empty"], check=True)
    waited += json.load(open(work + "/o.json"))["results"][0]["times"]
    if hyperfine:
        subprocess.run([hyperfine, "-N", "-w", "20", "-r", "200", "--style", "none",
                        "--export-json", work + "/h.json", work + "/empty"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        theirs += json.load(open(work + "/h.json"))["results"][0]["times"]
m = statistics.median
b = m(bare)
h = m(theirs) if theirs else float("nan")
print(f"| spawn to exit, empty static program, median: as reported (exec to exit) | bare clone {b*1e6:.0f} µs; hyperfine -N {h*1e6:.0f} µs = {h/b:.2f}x | <= 1.05x clone, <= 0.65x hyperfine | {m(ours)*1e6:.0f} µs = {m(ours)/b:.2f}x clone, {m(ours)/h:.2f}x hyperfine | `bench/bench.sh spawn` |")
print(f"| the same with --wait-clock (start to wait) | bare clone {b*1e6:.0f} µs | <= 1.05x clone, <= 0.65x hyperfine | {m(waited)*1e6:.0f} µs = {m(waited)/b:.2f}x clone, {m(waited)/h:.2f}x hyperfine | `bench/bench.sh spawn` |")
print(f"| wall time of the tool per run | bare clone loop {m(bare_wall)*1e6:.0f} µs | - | {m(wall)*1e6:.0f} µs | `bench/bench.sh spawn` |")
P
}

same() { # identical commands under load: how often are they called different?
    python3 - "$assay" "$work" "${SAME:-400}" "${LOAD:-$((2 * $(nproc)))}" <<'P'
import json, math, os, subprocess, sys
assay, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
load = [subprocess.Popen([work + "/work", "1000000000000"]) for _ in range(int(sys.argv[4]))]
def t95(df):
    return 1.96 + 2.4 / df
def welch(x, y):
    mx, my = sum(x) / len(x), sum(y) / len(y)
    vx = sum((a - mx) ** 2 for a in x) / (len(x) - 1) / len(x)
    vy = sum((a - my) ** 2 for a in y) / (len(y) - 1) / len(y)
    return abs(mx - my) / math.sqrt(vx + vy) > t95(min(len(x), len(y)))
inter = seq = seq_wait = 0
spread, spread_whole, spread_wait = [], [], []
try:
    for k in range(count):
        out = work + "/o.json"
        base = [assay, "bench", "-N", "-r", "30", "--seed", str(k), "--style", "none", "--margin",
                "0.01", "--export-json", out]
        cmd = work + "/work 200000"
        subprocess.run(base + [cmd, cmd], check=True)
        d = json.load(open(out))
        c = d["assay"]["comparisons"][0]
        inter += c["differs"]
        spread.append(math.log(c["ratio"]["point"]))
        spread_whole.append(math.log(c.get("elapsed_ratio", c["ratio"])["point"]))
        a, b = (r["assay"]["runs"]["waited_ns"] for r in d["results"])
        ratios = sorted(math.log(y / x) for x, y in zip(a, b))
        walsh = sorted((ratios[i] + ratios[j]) / 2 for i in range(30) for j in range(i, 30))
        spread_wait.append(walsh[len(walsh) // 2])
        subprocess.run(base[:-1] + [out, "--grouped", cmd, cmd], check=True)
        d = json.load(open(out))
        seq += welch(d["results"][0]["times"], d["results"][1]["times"])
        seq_wait += welch(*(r["assay"]["runs"]["waited_ns"] for r in d["results"]))
finally:
    for p in load:
        p.kill()
sd = lambda x: math.sqrt(sum((v - sum(x) / len(x)) ** 2 for v in x) / (len(x) - 1))
print(f"| identical commands called different, {count} experiments of 30 pairs, load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs, nominal 5 % | sequential Welch, same clock {100*seq/count:.1f} %, wait clock {100*seq_wait/count:.1f} % | 3-7 % | {100*inter/count:.1f} % | `bench/bench.sh same` |")
print(f"| spread of the estimated ratio there | wait clock, same runs {100*sd(spread_wait):.1f} % | <= 1/4 | {100*sd(spread):.2f} % = {sd(spread)/sd(spread_wait):.2f} of it; by whole times {100*sd(spread_whole):.2f} % = {sd(spread_whole)/sd(spread_wait):.2f} | `bench/bench.sh same` |")
P
}

power() { # a real +2 %
    python3 - "$assay" "$work" "${POWER:-40}" <<'P'
import json, os, statistics, subprocess, sys
assay, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
def tried(k, *options):
    out = work + "/o.json"
    subprocess.run([assay, "bench", "-N", *options, "--seed", str(k), "--style", "none", "--export-json", out,
                    work + "/work 500000", work + "/work 510500"], check=True)
    return json.load(open(out))["assay"]["comparisons"][0]
def until_known(what, target, *options):
    pairs, left_out = [], 0
    for k in range(count):
        c = tried(k, "--until", "0.01%", "-M", "600", *options)
        left_out += c["without_waiting"]
        if c["differs"] and c["ratio"]["point"] > 1:
            pairs.append(c["pairs"])
    beside = f"; the wait for a CPU was left out in {100*left_out/count:.0f} %" if not options else ""
    print(f"| {what}; load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs | - | {target} | {100*len(pairs)/count:.0f} % of {count}, median {statistics.median(pairs) if pairs else 0:.0f} pairs{beside} | `bench/bench.sh power` |")
until_known("+2 % more work (2.1 % of the loop) found, stopping when known, at most 600 pairs", ">= 95 %, median <= 250 pairs")
until_known("the same by whole times (--with-waiting)", "-", "--with-waiting")
until_known("the same with --cpu-clock", ">= 95 %, median <= 250 pairs", "--cpu-clock")
usual = whole = cpu = 0
for k in range(count):
    c = tried(k, "-r", "250")
    usual += c["ratio"]["low"] > 1
    whole += c.get("elapsed_ratio", c["ratio"])["low"] > 1
    cpu += c["counters"].get("task-clock", {"low": 0})["low"] > 1
print(f"| the same in 250 pairs: as compared; by whole times; by the task-clock counted beside them; load average {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs | - | >= 95 % | {100*usual/count:.0f} %; {100*whole/count:.0f} %; {100*cpu/count:.0f} % of {count} | `bench/bench.sh power` |")
P
}

quick() { # seconds until a real +2 % of an 18 ms job is found, on the machine as it is
    python3 - "$assay" "$work" "${QUICK:-20}" <<'P'
import json, os, statistics, subprocess, sys, time
assay, work, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
took, pairs, loads = [], [], []
for k in range(count):
    begin = time.monotonic()
    subprocess.run([assay, "bench", "-N", "--until", "0.01%", "--seed", str(k), "--style", "none", "--export-json",
                    work + "/o.json", work + "/work 9000000", work + "/work 9180000"], check=True)
    took.append(time.monotonic() - begin)
    loads.append(os.getloadavg()[0])
    c = json.load(open(work + "/o.json"))["assay"]["comparisons"][0]
    if c["differs"] and c["ratio"]["point"] > 1:
        pairs.append(c["pairs"])
m = statistics.median
print(f"| +2 % of an 18 ms CPU job found, load average {min(loads):.0f} to {max(loads):.0f} on {os.cpu_count()} CPUs | - | >= 95 %, median <= 5 s | {len(pairs)} of {count}; median {m(took):.1f} s, {m(pairs) if pairs else 0:.0f} pairs; from {min(took):.1f} to {max(took):.1f} s | `QUICK={count} bench/bench.sh quick` |")
P
}

memory() {
    python3 - "$assay" "$work" "$hyperfine" "${SIZES:-4 16 64 256 1024 4096}" <<'P'
import json, os, re, subprocess, sys
assay, work, hyperfine, sizes = sys.argv[1:]
big = bytearray(os.urandom(1)) * (1 << 30)  # the caller holds 1 GiB
free = int(re.search(r"MemAvailable:\s+(\d+)", open("/proc/meminfo").read()).group(1)) >> 10
worst, shown, wrong = {"held": 0, "freed": 0, "not weighed": 0}, [], []
for mib in map(int, sizes.split()):
    if mib * 1.3 > free:
        shown.append(f"{mib} MiB not run (memory)")
        continue
    parts = []
    for how, cmd, warmup in (("held", f"{work}/work 0 {mib} hold", "1"), ("freed", f"{work}/work 0 {mib}", "1"),
                             ("not weighed", f"{work}/work 0 {mib} hold", "0")):
        hwm = int(re.search(r"VmHWM:\s+(\d+)", subprocess.run(cmd.split(), capture_output=True, text=True).stderr).group(1)) * 1024
        subprocess.run([assay, "bench", "-N", "-w", warmup, "-r", "3", "--style", "none", "--export-json", work + "/o.json", cmd, work + "/empty"], check=True)
        r = json.load(open(work + "/o.json"))["results"]
        got = sorted(r[0]["memory_usage_byte"])[1]
        worst[how] = max(worst[how], abs(got / hwm - 1))
        parts.append(f"{100*(got/hwm-1):+.2f} %")
    if hyperfine:
        subprocess.run([hyperfine, "-N", "-r", "3", "--style", "none", "--export-json", work + "/h.json", cmd, work + "/empty"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        h = json.load(open(work + "/h.json"))["results"][1].get("memory_usage_byte")
        if h:
            wrong.append(f"{max(h)/2**20:.0f}")
    shown.append(f"{mib} MiB: {', '.join(parts)}; empty after it {max(r[1]['memory_usage_byte'])/1024:.0f} KiB")
print(f"| peak memory of a child against its VmHWM, caller holds 1 GiB: memory held to its end; freed before; without a warm-up run to weigh it | hyperfine says {', '.join(wrong)} MiB for the empty program run after | within 1 % | worst {', '.join(f'{100*w:.2f} %' for w in worst.values())} ({'; '.join(shown)}) | `bench/bench.sh memory` |")
P
}

start() {
    "$assay" bench -N -r 200 --style none --export-json "$work/s.json" "$assay --version"
    python3 - "$work/s.json" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))["results"][0]
print(f"| start of the tool | - | <= 5 ms | {r['median']*1e3:.2f} ms | `bench/bench.sh start` |")
P
}

for part in "${@:-simulation families spawn same power quick memory start}"; do
    for name in $part; do
        case $name in
        simulation | families | spawn | same | power | quick | memory | start) "$name" || failed=1 ;;
        *)
            echo "bench.sh: no part '$name'" >&2
            exit 2
            ;;
        esac
    done
done
exit "${failed:-0}"
