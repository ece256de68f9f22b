#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs whose debug information, symbols or unwind tables are damaged, and maps of
# generated code that hold anything: the recording is made all the same, its report is
# whole, and the program notices nothing.
# beside others: 15 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
gcc -g -O2 -pthread -o spin "$TOP/tests/programs/spin.c" || exit 1

# recorded COMMAND…: as it should be with a whole program, but for names.
recorded() {
    "$ASSAY" record -q --force -F 999 -o run.assay -- "$@" >out.log 2>err.log || { echo "status $?"; cat err.log; return 1; }
    "$ASSAY" report --json run.assay >report.json 2>>err.log || { cat err.log; return 1; }
    ! grep -qE 'Sanitizer|runtime error|Assertion' err.log || { cat err.log; return 1; }
    python3 -c 'import json; n = json.load(open("report.json"))["truth"]["samples"]; exit(0 if n >= 10 else f"{n} samples")'
}
# damage SECTION SEED FILE: 1 byte in 16 of the section is another one.
damage() {
    python3 - "$@" <<'PY'
import random, re, subprocess, sys
name, seed, path = sys.argv[1:]
table = subprocess.run(["readelf", "-SW", "spin"], capture_output=True, text=True, check=True).stdout
row = re.search(r"\] " + re.escape(name) + r"\s+\S+\s+\S+ (\S+) (\S+)", table)
if not row:
    sys.exit(f"no {name}")
start, size = (int(text, 16) for text in row.groups())
data = bytearray(open("spin", "rb").read())
random.seed(int(seed))
for _ in range(max(1, size // 16)):
    data[start + random.randrange(size)] = random.randrange(256)
open(path, "wb").write(data)
PY
    chmod +x "$3"
}
# The loader itself reads .dynsym and .gnu.hash: those stay as they are.
for section in .debug_info .debug_abbrev .debug_line .debug_str .debug_aranges .symtab .strtab .eh_frame_hdr .eh_frame .note.gnu.build-id; do
    damaged() {
        local seed
        for seed in 1 2 3; do
            damage $section $seed ./damaged && recorded ./damaged 60 || { echo "$section, seed $seed"; return 1; }
        done
    }
    check "a program with a damaged $section" damaged
done
headers() {
    # Section headers are not needed to run: anything may stand there.
    python3 - <<'PY' || return 1
import random, struct
data = bytearray(open("spin", "rb").read())
table, = struct.unpack_from("<Q", data, 0x28)
random.seed(4)
for at in range(table, len(data)):
    data[at] = random.randrange(256)
open("headless", "wb").write(data)
PY
    chmod +x headless && recorded ./headless 60
}
check 'a program with random section headers' headers

cat >mapped.py <<'PY'
import os, random, sys, time
random.seed(int(sys.argv[1]))
kinds = [lambda: os.urandom(2000), lambda: b"7f0000000000 ffffffffffffffff whole\n" * 50,
         lambda: b"zz 10 x\n1 2\n\n 1 1 \x1b[31m\n" * 50, lambda: b"1000 10 " + b"a" * 100000]
path = f"/tmp/perf-{os.getpid()}.map"
with open(path, "wb") as f:
    f.write(kinds[int(sys.argv[1]) % len(kinds)]())
end = time.process_time() + 0.05
while time.process_time() < end:
    pass
print(path)
PY
hostile_map() {
    local kind
    for kind in 0 1 2 3; do
        recorded python3 mapped.py $kind || { echo "kind $kind"; return 1; }
        rm -f "$(cat out.log)"
    done
}
check 'a map of generated code that holds anything' hostile_map
finish
