#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover against llvm-profdata, llvm-cov, gcov, gcovr and lcov: CPU seconds
# (user + system, the least of seven runs; of peers that take more than two
# seconds one run) on the programs that 'bench/workloads cover_cc cover_gc
# cover_rs cover_zs cover_vp cover_gcc' builds. A program that is not there leaves its rows out.
set -u
cd "${SCRATCH:?}" || exit 1
command -v clang-19 llvm-profdata-19 llvm-cov-19 gcc gcov python3 >/dev/null || exit 1
[ -n "${BENCH_NO_BUILD:-}" ] || "$TOP/bench/workloads" cover_cc cover_gc cover_rs cover_zs cover_vp cover_gcc >&2
python3 - "$ASSAY" "$TOP/build/workloads/cover" "$TOP/tests/e2e/lib/compare_gcov.py" <<'PY'
import glob, os, re, subprocess, sys
assay, programs, compare_gcov = sys.argv[1:]
COMMAND = "`make bench BENCH=cover`"


def row(what, peer, target, measured):
    print(f"| {what} | {peer} | {target} | {measured} | {COMMAND} |", flush=True)


# CPU seconds and megabytes at the peak.
def cpu(command, cwd=None):
    def cost(times):
        out = subprocess.run([os.environ["COST"], "-n", str(times), *command], capture_output=True, text=True, cwd=cwd, check=True)
        got = dict(word.split("=") for word in out.stdout.split())
        if got["status"] != "0":
            sys.exit(f"{command[:4]}: status {got['status']}")
        return float(got["least"]), float(got["rss_kb"]) / 1024
    first = cost(1)
    return first if first[0] > 2 else cost(7)


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def megabytes(paths):
    return sum(os.path.getsize(p) for p in paths) / 1e6


# ---- clang and rustc

# Rows of a tracefile that both have; llvm-cov sums none of what we leave out.
def counted_rows(path):
    kinds = ("SF:", "FN:", "FNDA:", "DA:", "BRDA:")
    return [line for line in open(path, errors="replace") if line.startswith(kinds)]


def compare(name, program, profile):
    with open("theirs", "w") as theirs, open("ours", "w") as ours:
        subprocess.run(["llvm-cov-19", "export", "-format=lcov", program, "-instr-profile", profile],
                       stdout=theirs, stderr=subprocess.DEVNULL, check=True)
        subprocess.run([assay, "cover", "export", "--llvm-rules", program, profile], stdout=ours,
                       stderr=subprocess.DEVNULL, check=True)
    a, b = counted_rows("ours"), counted_rows("theirs")
    return len(b), sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


# The sums of every function, as text.
def sums_differ(raws):
    run(["llvm-profdata-19", "merge", "-j=1", "-text", "-o", "theirs.proftext", *raws])
    run([assay, "cover", "merge", "-f", "-o", "ours.proftext", *raws])
    return open("theirs.proftext", "rb").read() != open("ours.proftext", "rb").read()


def measure_llvm(name, program, raws, report_target):
    what = f"{name}, {len(raws)} profiles of {megabytes(raws):.0f} MB, CPU"
    cat, _ = cpu(["cat", *raws])
    merge, merge_mb = cpu(["llvm-profdata-19", "merge", "-sparse", "-j=1", "-o", "p.profdata", *raws])
    ours, mb = cpu([assay, "cover", "merge", "-j", "1", "--sparse", "-f", "--profdata-version", "12", "-o",
                    "o.profdata", *raws])
    row(f"merge to .profdata, {what}", f"cat {cat:.3f} s, llvm-profdata -j1 {merge:.2f} s ({merge_mb:.0f} MB)",
        "≤ 1.6× cat, ≥ 30× less than llvm-profdata",
        f"{ours:.3f} s ({mb:.0f} MB) = {ours / cat:.2f}× cat, {merge / ours:.0f}× less")
    row(f"merged sums against llvm-profdata merge -text, {name}", f"{len(raws)} profiles", "equal for every function",
        "differ" if sums_differ(raws) else "equal")
    report, _ = cpu(["llvm-cov-19", "report", program, "-instr-profile", "p.profdata"])
    one, mb = cpu([assay, "cover", "report", program, *raws])
    row(f"profraws → report in one pass, {what}", f"llvm-profdata + llvm-cov report {merge + report:.2f} s", report_target,
        f"{one:.3f} s ({mb:.0f} MB) = {(merge + report) / one:.1f}× less")
    lcov, _ = cpu(["llvm-cov-19", "export", "-format=lcov", program, "-instr-profile", "p.profdata"])
    mine, _ = cpu([assay, "cover", "export", program, "p.profdata"])
    row(f"lcov export from .profdata, {name}, CPU", f"llvm-cov export {lcov:.2f} s", "≥ 8× less",
        f"{mine:.3f} s = {lcov / mine:.1f}× less")
    os.replace("p.profdata", f"{name.split()[0]}.profdata")


def measure_html(name, program):
    profile = f"{name.split()[0]}.profdata"
    html, _ = cpu([assay, "cover", "export", "--format", "html", "-f", "-o", "o.html", program, profile])
    run(["llvm-cov-19", "show", "-format=html", "-output-dir=html", program, "-instr-profile", profile])
    theirs = [os.path.join(d, f) for d, _, files in os.walk("html") for f in files]
    mb = megabytes(["o.html"])
    row(f"HTML with sources, {name}", f"llvm-cov {len(theirs)} files, {megabytes(theirs):.0f} MB",
        "1 file, ≤ 1/8 of the size, ≤ 0.25 s",
        f"1 file, {mb:.1f} MB = 1/{megabytes(theirs) / mb:.0f}, {html:.2f} s from the .profdata")


# Sums, and what value profiles add to them.
def measure_values(name, raws):
    cat, _ = cpu(["cat", *raws])
    merge, merge_mb = cpu(["llvm-profdata-19", "merge", "-j=1", "-o", "p.profdata", *raws])
    ours, mb = cpu([assay, "cover", "merge", "-j", "1", "-f", "--profdata-version", "12", "-o", "o.profdata", *raws])
    row(f"merge with value profiles, {name}, {len(raws)} profiles of {megabytes(raws):.0f} MB, CPU",
        f"cat {cat:.3f} s, llvm-profdata -j1 {merge:.3f} s ({merge_mb:.0f} MB)",
        "≤ 1.6× cat; equal for every function",
        f"{ours:.3f} s ({mb:.0f} MB) = {ours / cat:.2f}× cat, {merge / ours:.0f}× less, "
        + ("differ" if sums_differ(raws) else "equal"))


llvm = [("cppcheck's test runner (C++)", "cc/testrunner", "ccp/*.profraw", "≥ 16× less"),
        ("gen20k (20,000 Rust functions)", "rs/gen20k", "rs/p*.profraw", "≥ 23× less"),
        ("zstd (C)", "zs/programs/zstd", "zs/*.profraw", "≥ 16× less")]
lines = differing = 0
compared = []
for name, program, raws, target in llvm:
    program = os.path.join(programs, program)
    raws = sorted(p for p in glob.glob(os.path.join(programs, raws)) if os.path.getsize(p))
    if not os.path.exists(program) or not raws:
        print(f"cover: no {name}", file=sys.stderr)
        continue
    measure_llvm(name, program, raws, target)
    if program.endswith("testrunner"):
        measure_html(name, program)
    n, bad = compare(name, program, f"{name.split()[0]}.profdata")
    lines, differing = lines + n, differing + bad
    compared.append(name.split()[0])
row(f"SF, FN, FNDA, DA and BRDA rows that differ from llvm-cov 19's: {', '.join(compared)}", f"{lines} rows", "0 of > 500,000",
    str(differing))


raws = sorted(glob.glob(os.path.join(programs, "vp/*.profraw")))
if raws:
    measure_values("zstd (C)", raws)

# ---- Shapes that are quadratic elsewhere

def macros(n):
    with open(f"m{n}.c", "w") as out:
        out.write("#define T(x) ((x) > 3 ? (x) : 1)\n#define U(x) (T(x) + 1)\nint main(void) {\nint a = 0, x = 1;\n")
        out.write("".join(f"a += U(x + {i});\n" for i in range(n)) + "return a == 3; }\n")
    run(["clang-19", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", f"m{n}.c", "-o", f"m{n}"])
    subprocess.run([f"./m{n}"], env={**os.environ, "LLVM_PROFILE_FILE": f"m{n}.profraw"}, check=True)
    run(["llvm-profdata-19", "merge", "-o", f"m{n}.profdata", f"m{n}.profraw"])
    return cpu([assay, "cover", "report", f"m{n}", f"m{n}.profraw"])[0]


def both_orders(n):
    record = "f{0}\n{0}\n1\n{0}\n\n".format
    with open("up.proftext", "w") as out:
        out.writelines(record(i) for i in range(n))
    with open("down.proftext", "w") as out:
        out.writelines(record(i) for i in reversed(range(n)))
    return cpu([assay, "cover", "merge", "-f", "-o", "x.profdata", "up.proftext", "down.proftext"])[0]


small, large = macros(1000), macros(16000)
theirs = [cpu(["llvm-cov-19", "report", f"m{n}", "-instr-profile", f"m{n}.profdata"])[0] for n in (1000, 16000)]
row("macros: 16,000 uses of a nested macro in one function against 1,000, CPU of the report",
    f"llvm-cov {theirs[0]:.2f} s and {theirs[1]:.2f} s = {theirs[1] / theirs[0]:.0f}×", "≤ 20×",
    f"{small:.4f} s and {large:.4f} s = {large / small:.1f}×")
sizes = (1000, 10000, 100000, 1000000)
times = [both_orders(n) for n in sizes]
row("merge of two files with the same n functions in opposite order, CPU", "lprof O(n²)", "linear to 10⁶",
    ", ".join(f"n = {n:,}: {t:.3f} s ({t / n * 1e6:.1f} µs each)" for n, t in zip(sizes, times)))


# ---- Tracefiles and gcc

# 20 tracefiles of 1 MB, each with other counts.
def tracefiles(source):
    records, text = open(source).read().split("end_of_record\n"), ""
    for record in records:
        if len(text) > 1e6:
            break
        text += record + "end_of_record\n"
    names = []
    for i in range(20):
        names.append(f"t{i}.info")
        with open(names[-1], "w") as out:
            out.write("TN:\n" + re.sub(r"^(DA:\d+),(\d+)", lambda m: f"{m[1]},{int(m[2]) * (i + 1)}", text, flags=re.M))
    return names


# Every line, branch and function of three C programs against gcov's JSON.
for name in ("lua", "sqlite", "zstd"):
    folder = os.path.join(programs, "gcc", name)
    units = [p[:-5] for p in glob.glob("**/*.gcda", root_dir=folder, recursive=True)]
    if not units:
        continue
    out = subprocess.run(["python3", compare_gcov, assay, "gcov", *units], cwd=folder, capture_output=True, text=True)
    last = out.stdout.strip().split("\n")[-1]
    differing = 0 if out.returncode == 0 else len(out.stdout.splitlines())
    row(f"counts of {name} (gcc -O0 --coverage) that differ from gcov's JSON", last, "0", str(differing))

gcc = os.path.join(programs, "gc")
if os.path.isdir(gcc):
    notes = sorted(glob.glob(gcc + "/**/*.gcno", recursive=True))
    counts = sorted(glob.glob(gcc + "/**/*.gcda", recursive=True))
    own, mb = cpu([assay, "cover", "report", gcc])
    what = f"gcno + gcda → report, cppcheck's test runner, {megabytes(notes + counts):.0f} MB, CPU"
    peer, peer_mb = cpu(["gcov", "-j", "-b", "-t", *counts], cwd=gcc)
    row(what, f"gcov -j {peer:.2f} s ({peer_mb:.0f} MB)", "≥ 10× less", f"{own:.3f} s ({mb:.0f} MB) = {peer / own:.1f}× less")
    for tool, command, target in (("gcovr", ["gcovr", "-r", gcc, gcc], "≥ 37× less"),
                                  ("lcov", ["lcov", "-q", "-c", "--rc", "lcov_branch_coverage=1", "-d", gcc, "-o",
                                            os.path.abspath("l.info")], "≥ 145× less")):
        if subprocess.run(["which", tool], stdout=subprocess.DEVNULL).returncode == 0:
            peer, _ = cpu(command, cwd=gcc)
            row(what, f"{tool} {peer:.1f} s", target, f"{own:.3f} s = {peer / own:.0f}× less")
    run([assay, "cover", "export", "-f", "-o", "g.info", gcc])
    names = tracefiles("g.info")
    own, _ = cpu([assay, "cover", "add", *names])
    if subprocess.run(["which", "lcov"], stdout=subprocess.DEVNULL).returncode == 0:
        command = ["lcov", "-q", "--rc", "lcov_branch_coverage=1", "-o", "sum.info"]
        peer, _ = cpu(command + [word for name in names for word in ("-a", name)])
        row(f"adding 20 tracefiles of {megabytes(names) / 20:.1f} MB, CPU", f"lcov -a {peer:.1f} s", "≥ 100× less",
            f"{own:.3f} s = {peer / own:.0f}× less")
PY
