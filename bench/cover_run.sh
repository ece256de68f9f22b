#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run: what per-test data costs beyond running the tests, and how the
# breakpoint engine's lines and times compare with counters that are compiled in.
# TESTS=FILE, a shell command a line, measures a program of your own (in its folder
# RUN_IN) in place of the generated one. RUST_WORKSPACE=DIR adds a row: lines of
# cargo test there that differ from llvm-cov's.
set -u
cd "${SCRATCH:?}" || exit 1
command -v clang-19 python3 >/dev/null || exit 1
python3 - "$ASSAY" <<'PY'
import os, resource, subprocess, sys, time
assay = sys.argv[1]
ROW = "| {} | {} | {} | {} | `make bench BENCH=cover_run` |"
FUNCTIONS, TESTS = 6000, 68


def cpu(command, cwd=None, env=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            time.monotonic() - start)


with open("gen.c", "w") as out:
    out.write("#include <stdlib.h>\n")
    for i in range(FUNCTIONS):
        out.write(f"""static int f{i}(int n)
{{
    int s = 0;
    for (int k = 0; k < n % {i % 7 + 2}; k++) {{
        if (k % 2 == {i % 2} && n > {i % 50})
            s += k;
        else
            s -= {i % 5};
    }}
    if (n % 4 == 3)
        s++;
    return n > {i % 100} ? s : -s;
}}
""")
    out.write("static int (*all[])(int) = {" + ",".join(f"f{i}" for i in range(FUNCTIONS)) + "};\n")
    out.write(f"""int main(int c, char **v)
{{
    int n = atoi(v[1]), times = c > 2 ? atoi(v[2]) : 1, s = 0;
    for (int t = 0; t < times; t++)
        for (int i = n * 37 % 11; i < {FUNCTIONS}; i += n % 5 + 2)
            s += all[i](n + i % 7);
    return s == 12345;
}}
""")
FLAGS = ["-g", "-O0", "-w", "gen.c"]
subprocess.check_call(["clang-19", *FLAGS, "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "counting"])
subprocess.check_call(["clang-19", *FLAGS, "-o", "plain"])

# ---- Per-test data: both sides run the same tests; least of three.
tests, where = os.environ.get("TESTS", "tests"), os.environ.get("RUN_IN", ".")
if tests == "tests":
    open("tests", "w").write("".join(f"./counting {n}\n" for n in range(TESTS)))
tests = os.path.abspath(tests)
names = open(tests).read().splitlines()
result = os.path.abspath("result")
alone, ours = 1e9, 1e9
for _ in range(3):
    env = dict(os.environ, LLVM_PROFILE_FILE=os.path.abspath("one.profraw"))
    alone = min(alone, sum(cpu(["sh", "-c", name], where, env)[0] for name in names))
    ours = min(ours, cpu([assay, "cover", "run", "--tests-from", tests, "-q", "-f", "-o", result], where)[0])
size = os.path.getsize(f"{result}/tests.assay-cover")
print(ROW.format(f"store which lines each of {len(names)} tests runs, CPU beyond running them",
                 "55 s with llvm-profdata and llvm-cov on a 30 MB test runner", "<= 1.5 s",
                 f"{ours - alone:.2f} s ({alone:.2f} s for the tests alone; {size / 1e3:.0f} KB)"))


# Least CPU and least time by the clock; on a busy machine the second is the wait for a CPU.
def least(command):
    runs = [cpu(command) for _ in range(20)]
    return "{:.1f} ms of CPU, {:.1f} ms by the clock".format(*(1e3 * min(way) for way in zip(*runs)))


query = least([assay, "cover", "tests", "-d", result, os.environ.get("PLACE", "gen.c:10")])
smallest = least([assay, "cover", "tests", "-d", result, "--smallest-set"])
print(ROW.format("which tests run a line, start of the program included", f"/bin/true: {least(['/bin/true'])}", "<= 10 ms", query))
print(ROW.format("smallest set of tests with the same lines", "-", "<= 1 s", smallest))


# ---- A Rust workspace: the same raw profiles read by llvm-cov.
def rows(command):
    text = subprocess.run(command, capture_output=True, text=True).stdout
    name, found = "", set()
    for row in text.splitlines():
        if row.startswith("SF:"):
            name = row
        elif row.startswith("DA:") and "/src/" in name and "/.cargo/" not in name and "/rustc/" not in name:
            found.add((name, row))
    return found


workspace = os.environ.get("RUST_WORKSPACE")
if workspace:
    folder = os.path.abspath("rust")
    subprocess.run([assay, "cover", "run", "-q", "--keep-raw", "-f", "-o", folder, "--", "cargo", "test"],
                   cwd=workspace, capture_output=True)
    raw = [os.path.join(folder, "raw", name) for name in os.listdir(f"{folder}/raw")]
    subprocess.check_call(["llvm-profdata-19", "merge", "-o", "all.profdata", *raw])
    objects = [row.split(" ", 1)[1] for row in open(f"{folder}/assay-objects").read().splitlines()]
    named = [objects[0]] + [word for name in objects[1:] for word in ("-object", name)]
    theirs = rows(["llvm-cov-19", "export", "-format=lcov", "-instr-profile", "all.profdata", *named])
    mine = rows([assay, "cover", "export", "--llvm-rules", folder])
    print(ROW.format(f"cargo test of a workspace from one command, {len(objects)} programs with doctests: "
                     f"lines unlike llvm-cov's, of {len(theirs)}", "-", "0", len(mine ^ theirs)))


# ---- Breakpoints
def lines(folder):
    text = subprocess.run([assay, "cover", "export", folder], capture_output=True, text=True).stdout
    return {int(row[3:].split(",")[0]): int(row.split(",")[1]) > 0
            for row in text.splitlines() if row.startswith("DA:")}


subprocess.run([assay, "cover", "run", "-q", "-f", "-o", "counted", "--", "./counting", "0"], capture_output=True)
def traced_run(*words):
    return cpu([assay, "cover", "run", "--engine", "ptrace", "-q", "-f", "-o", "traced", "--", "./plain", "0", *words])


took, wall = min(traced_run() for _ in range(3))
traced, counted = lines("traced"), lines("counted")
both = traced.keys() & counted.keys()
hit = sum(traced[k] and counted[k] for k in both)
wrong = sum(traced[k] != counted[k] for k in both)
print(ROW.format(f"breakpoint engine: lines that ran, {len(both)} lines", "compiled-in counters (clang 19)",
                 "F >= 99.5 %", f"{200 * hit / (2 * hit + wrong):.2f} %"))
plain = min(cpu(["./plain", "0", "1"])[0] for _ in range(5))
print(ROW.format(f"breakpoint engine: set up, run, every statement hit once ({sum(traced.values())} lines), CPU",
                 f"{plain:.3f} s alone", "-", f"{took:.2f} s ({wall:.2f} s by the clock)"))
many = "12000"
plain = min(cpu(["./plain", "0", many])[0] for _ in range(3))
slow = min(traced_run(many) for _ in range(3))[0]
print(ROW.format("breakpoint engine: the same work many times, CPU beyond the above", f"{plain:.2f} s alone",
                 "<= 5 %", f"{100 * (slow - took) / plain - 100:.1f} %"))
PY
