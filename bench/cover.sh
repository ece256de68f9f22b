#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover against llvm-profdata, llvm-cov and gcov: CPU seconds (user+system,
# least of three) on a generated C program of 20,000 functions (FUNCTIONS=N) and
# 48 profiles (PROFILES=N).
set -u
cd "${SCRATCH:?}" || exit 1
command -v clang-19 llvm-profdata-19 llvm-cov-19 gcc gcov python3 >/dev/null || exit 1
export FUNCTIONS=${FUNCTIONS:-20000} PROFILES=${PROFILES:-48}
python3 - "$ASSAY" <<'PY'
import os, resource, subprocess, sys
assay = sys.argv[1]
functions, profiles = int(os.environ["FUNCTIONS"]), int(os.environ["PROFILES"])
ROW = "| {} | {} | {} | {} | `make bench BENCH=cover` |"


def generate(path, first, count):
    with open(path, "w") as out:
        for i in range(first, first + count):
            out.write(f"""int f{i}(int n)
{{
    int s = 0;
    for (int k = 0; k < n % {i % 7 + 2}; k++) {{
        if (k % 2 == {i % 2} && n > {i % 50})
            s += k;
        else
            s -= {i % 5};
    }}
    switch (n % 4) {{
    case 0: s++; break;
    case 1: s += 2;
    default: s--;
    }}
    return n > {i % 100} ? s : -s;
}}
""")


def sources(parts):
    names = []
    each = functions // parts
    for p in range(parts):
        generate(f"part{p}.c", p * each, each)
        names.append(f"part{p}.c")
    with open("main.c", "w") as out:
        out.write("#include <stdlib.h>\n")
        out.write("".join(f"int f{i}(int);\n" for i in range(each * parts)))
        out.write("int (*all[])(int) = {" + ",".join(f"f{i}" for i in range(each * parts)) + "};\n")
        out.write("int main(int c, char **v) { int n = atoi(v[1]), s = 0; for (unsigned i = 0; "
                  "i < sizeof(all) / sizeof(all[0]); i++) if (i % 3 != n % 3) s += all[i](n + i % 7);"
                  " return s == 12345; }\n")
    return names + ["main.c"]


def cpu(command, out=subprocess.DEVNULL, times=3):
    best, peak = 1e9, 0
    for _ in range(times):
        with open("stderr", "w") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
        if status:
            sys.exit(f"{command[:4]}: status {status}: {open('stderr').read()[-300:]}")
        best = min(best, usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss)
    return best, peak / 1024


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


files = sources(20)
run(["clang-19", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", *files, "-o", "prog"])
raws = []
for i in range(profiles):
    raws.append(f"p{i}.profraw")
    subprocess.run(["./prog", str(i)], env={**os.environ, "LLVM_PROFILE_FILE": raws[-1]}, check=True)
size = sum(os.path.getsize(r) for r in raws) / 1e6
what = f"{functions} C functions, {profiles} profiles of {size:.0f} MB"
cat, _ = cpu(["cat", *raws])
merge, merge_mb = cpu(["llvm-profdata-19", "merge", "-sparse", "-j=1", "-o", "p.profdata", *raws])
ours, ours_mb = cpu([assay, "cover", "merge", "-f", "--profdata-version", "12", "-o", "o.profdata", *raws])
print(ROW.format(f"merge to .profdata, {what}, CPU", f"cat {cat:.3f} s, llvm-profdata -j1 {merge:.2f} s ({merge_mb:.0f} MB)",
                 "<= 1.6x cat, >= 30x less than llvm-profdata",
                 f"{ours:.3f} s ({ours_mb:.0f} MB) = {ours / cat:.1f}x cat, {merge / ours:.0f}x less"))
report, _ = cpu(["llvm-cov-19", "report", "prog", "-instr-profile", "p.profdata"])
one, one_mb = cpu([assay, "cover", "report", "prog", *raws])
print(ROW.format(f"profraws to report in one pass, {what}, CPU", f"llvm-profdata + llvm-cov report {merge + report:.2f} s",
                 ">= 16x less", f"{one:.3f} s ({one_mb:.0f} MB) = {(merge + report) / one:.0f}x less"))
lcov, _ = cpu(["llvm-cov-19", "export", "-format=lcov", "prog", "-instr-profile", "p.profdata"])
mine, _ = cpu([assay, "cover", "export", "prog", "p.profdata"])
print(ROW.format("lcov export from .profdata, the same program, CPU", f"llvm-cov export {lcov:.2f} s", ">= 8x less",
                 f"{mine:.3f} s = {lcov / mine:.1f}x less"))
with open("theirs", "w") as t, open("ours", "w") as o:
    subprocess.run(["llvm-cov-19", "export", "-format=lcov", "prog", "-instr-profile", "p.profdata"], stdout=t, check=True)
    subprocess.run([assay, "cover", "export", "prog", *raws], stdout=o, check=True)
rows = [[line for line in open(name) if line.startswith(("FN", "DA:", "BRDA:")) and line[:4] not in ("FNF:", "FNH:")]
        for name in ("ours", "theirs")]
differing = sum(a != b for a, b in zip(*rows)) + abs(len(rows[0]) - len(rows[1]))
print(ROW.format("FN, FNDA, DA and BRDA rows that differ from llvm-cov 19's, the same program", f"{len(rows[1])} rows", "0",
                 str(differing)))
html, html_mb = cpu([assay, "cover", "export", "--format", "html", "-f", "-o", "o.html", "prog", *raws])
run(["llvm-cov-19", "show", "-format=html", "-output-dir=html", "prog", "-instr-profile", "p.profdata"])
theirs = [os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk("html") for f in fs]
mb = os.path.getsize("o.html") / 1e6
print(ROW.format("HTML with sources, the same program", f"llvm-cov {len(theirs)} files, {sum(theirs) / 1e6:.1f} MB",
                 "1 file, <= 1/8 of the size, <= 0.25 s",
                 f"1 file, {mb:.1f} MB = 1/{sum(theirs) / 1e6 / mb:.0f}, {html:.2f} s from the profraws"))


def macros(n):
    with open(f"m{n}.c", "w") as out:
        out.write("#define T(x) ((x) > 3 ? (x) : 1)\n#define U(x) (T(x) + 1)\nint main(void) {\nint a = 0, x = 1;\n")
        out.write("".join(f"a += U(x + {i});\n" for i in range(n)) + "return a == 3; }\n")
    run(["clang-19", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", f"m{n}.c", "-o", f"m{n}"])
    subprocess.run([f"./m{n}"], env={**os.environ, "LLVM_PROFILE_FILE": f"m{n}.profraw"}, check=True)
    run(["llvm-profdata-19", "merge", "-o", f"m{n}.profdata", f"m{n}.profraw"])
    return cpu([assay, "cover", "report", f"m{n}", f"m{n}.profraw"])[0]


small, large = macros(1000), macros(8000)
theirs = cpu(["llvm-cov-19", "report", "m8000", "-instr-profile", "m8000.profdata"], times=1)[0]
print(ROW.format("macros: 8,000 uses of a nested macro in one function against 1,000, CPU of the report",
                 f"llvm-cov 8,000: {theirs:.2f} s", "<= 20x for 16 times as many",
                 f"{small:.3f} s and {large:.3f} s = {large / small:.1f}x for 8 times as many"))
os.makedirs("g", exist_ok=True)
os.chdir("g")
for f in files:
    run(["gcc", "-O0", "--coverage", "-c", "../" + f, "-o", f[:-2] + ".o"])
run(["gcc", "--coverage", *(f[:-2] + ".o" for f in files), "-o", "prog"])
for i in range(3):
    subprocess.run(["./prog", str(i)], check=True)
units = [f[:-2] + ".gcda" for f in files]
peer, peer_mb = cpu(["gcov", "-j", "-b", "-t", *units], times=1)
own, own_mb = cpu([assay, "cover", "report", *units])
size = sum(os.path.getsize(f) for f in os.listdir(".") if f.endswith((".gcno", ".gcda"))) / 1e6
print(ROW.format(f"gcno + gcda ({size:.0f} MB) to report, CPU", f"gcov -j {peer:.2f} s ({peer_mb:.0f} MB)", ">= 10x less",
                 f"{own:.3f} s ({own_mb:.0f} MB) = {peer / own:.1f}x less"))
PY
