#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover export --format llvm-json against llvm-cov export: CPU seconds, memory,
# and whether the bytes are the same. On a generated program whose one function uses
# a macro USES times (500), and, with PROGRAM=FILE PROFILES="FILE ...", on that: its
# FN, FNDA, DA and BRDA rows are compared too.
set -u
cd "${SCRATCH:?}" || exit 1
command -v clang-19 llvm-profdata-19 llvm-cov-19 python3 >/dev/null || exit 1
export USES=${USES:-500} PROGRAM=${PROGRAM:-} PROFILES=${PROFILES:-}
python3 - "$ASSAY" <<'PY'
import filecmp, os, subprocess, sys
assay = sys.argv[1]
ROW = "| {} | {} | {} | {} | `{}` |"


def cpu(command, out):
    cost = subprocess.run([os.environ["COST"], "-o", out, *command], stdout=subprocess.PIPE, text=True, check=True)
    got = dict(word.split("=") for word in cost.stdout.split())
    if got["status"] != "0":
        sys.exit(f"{command[:4]}: status {got['status']}")
    return float(got["cpu"]), float(got["rss_kb"]) / 1024


def rows(path):
    with open(path) as text:
        return [l for l in text if l.split(":")[0] in ("FN", "FNDA", "DA", "BRDA")]


def compare(what, program, profiles, how):
    subprocess.run(["llvm-profdata-19", "merge", "-o", "sum.profdata", *profiles], check=True)
    peer, peer_mb = cpu(["llvm-cov-19", "export", program, "-instr-profile", "sum.profdata"], "theirs")
    ours, ours_mb = min(cpu([assay, "cover", "export", "--llvm-rules", "--format", "llvm-json", program,
                             *profiles], "ours") for _ in range(3))
    same = "the same bytes" if filecmp.cmp("ours", "theirs", shallow=False) else "OTHER BYTES"
    size = os.path.getsize("theirs") / 1e6
    print(ROW.format(f"llvm-cov's JSON of {what}, {size:.0f} MB, CPU and memory",
                     f"llvm-cov 19 {peer:.2f} s ({peer_mb:.0f} MB)", "≤ 2.5 s, ≤ 100 MB for a 30 MB test runner",
                     f"{ours:.2f} s ({ours_mb:.0f} MB), {same}", how))
    os.remove("ours")
    os.remove("theirs")
    cpu(["llvm-cov-19", "export", "-format=lcov", program, "-instr-profile", "sum.profdata"], "theirs")
    cpu([assay, "cover", "export", "--llvm-rules", program, *profiles], "ours")
    a, b = rows("theirs"), rows("ours")
    differ = sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))
    print(ROW.format(f"FN, FNDA, DA and BRDA rows of {what} that differ from llvm-cov 19's", f"{len(a)} rows",
                     "0", f"{differ} of {len(a)}", how))


uses = int(os.environ["USES"])
with open("macros.c", "w") as out:
    out.write("#define T(x) ((x) > 3 ? (x) : 1)\n#define U(x) (T(x) + T((x) + 1))\n"
              "int f(int x) { int a = 0;\n")
    out.writelines(f"a += U(x + {i});\n" for i in range(uses))
    out.write("return a; }\nint main(int c, char **v) { (void)v; return f(c) == 7; }\n")
subprocess.run(["clang-19", "-fprofile-instr-generate", "-fcoverage-mapping", "macros.c", "-o", "macros"], check=True)
subprocess.run(["./macros"], env={**os.environ, "LLVM_PROFILE_FILE": "macros.profraw"}, check=True)
compare(f"{uses} uses of a nested macro", "./macros", ["macros.profraw"], "make bench BENCH=cover_export")
if os.environ["PROGRAM"]:
    program = os.environ["PROGRAM"]
    compare(os.path.basename(program), program, os.environ["PROFILES"].split(),
            "PROGRAM=… PROFILES=… make bench BENCH=cover_export")
PY
