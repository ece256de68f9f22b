#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of the heap in the formats of other tools, read by those tools, and their files read back.
# beside others: 5 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" 2>gcc.log || { cat gcc.log; exit 1; }
"$ASSAY" heap -q -f -o heap.assay -- ./truth >out 2>&1

# sums FILE: blocks, bytes, peak, end of any recording of the heap.
sums() {
    "$ASSAY" report --json "$1" | python3 -c '
import json, sys
t = json.load(sys.stdin)["totals"]
print(*(t.get(k, "-") for k in ("blocks", "bytes", "peak_bytes", "peak_blocks", "end_bytes", "end_blocks")))'
}
ours=$(sums heap.assay)

dhat_is_valid() {
    "$ASSAY" export -f dhat --force -o heap.dhat.json heap.assay && python3 - <<'PY'
import json
d = json.load(open("heap.dhat.json"))
assert d["dhatFileVersion"] == 2 and d["bklt"] and d["ftbl"][0] == "[root]"
seen = set()
for p in d["pps"]:
    assert all(k in p for k in ("tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "fs")), p
    assert p["mb"] >= p["gb"] and p["mb"] >= p["eb"] and p["tb"] >= p["mb"]
    assert tuple(p["fs"]) not in seen
    seen.add(tuple(p["fs"]))
PY
}
check "dhat: what dh_view asks for, no stack twice" dhat_is_valid
back() { [ "$(sums heap.dhat.json)" = "$ours" ] || { sums heap.dhat.json; echo "$ours"; false; }; }
check '… read back: the same sums' back
if command -v valgrind >/dev/null; then
    valgrind --tool=dhat --dhat-out-file=v.json ./truth >v.out 2>v.err
    valgrinds() {
        sums v.json | tee got
        python3 -c '
import json
p = json.load(open("v.json"))["pps"]
print(*(sum(x[k] for x in p) for k in ("tbk", "tb", "gb", "gbk", "eb", "ebk")))' >want && cmp got want
    }
    check "dhat: valgrind's own file has the sums that are in it" valgrinds
    valgrind --tool=massif --massif-out-file=v.massif ./truth >v.out 2>v.err
    massif() {
        want=$(grep -B3 'heap_tree=peak' v.massif | sed -n 's/^mem_heap_B=//p')
        "$ASSAY" report v.massif | tee report | grep -q 'peaks heap_truth.c' && "$ASSAY" report --json v.massif | grep -q "\"largest_peak_bytes\": $want,"
    }
    check "massif: valgrind's own file has its peak" massif
fi
if command -v ms_print >/dev/null; then
    ms() {
        "$ASSAY" export -f massif --force -o heap.massif heap.assay && ms_print heap.massif >ms.out 2>&1 && grep -q 'peaks (heap_truth.c:' ms.out &&
            [ "$(sums heap.massif | cut -d ' ' -f 3)" = "$(echo "$ours" | cut -d ' ' -f 3)" ]
    }
    check 'massif: ms_print reads it, and the peak is the same' ms
fi
heaptrack_back() { "$ASSAY" export -f heaptrack --force -o heap.heaptrack heap.assay && [ "$(sums heap.heaptrack)" = "$ours" ]; }
check 'heaptrack: read back, the same sums' heaptrack_back
if command -v heaptrack_print >/dev/null; then
    printed() {
        gzip -c heap.heaptrack >heap.heaptrack.gz && heaptrack_print -f heap.heaptrack.gz >ht.out 2>ht.err && cat ht.out ht.err | tail -n 12
        grep -q "calls to allocation functions: $(echo "$ours" | cut -d ' ' -f 1) " ht.out && grep -q 'peak heap memory consumption: 10.00M' ht.out && grep -q leaks ht.out
    }
    check 'heaptrack: heaptrack_print finds the same calls and peak' printed
fi
types() { "$ASSAY" export -f pprof --force -o heap.pb.gz heap.assay && "$ASSAY" report --json -e inuse_space heap.pb.gz | python3 -c '
import json, sys
names = [m["name"] for m in json.load(sys.stdin)["metrics"]]
assert {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"} <= set(names), names'; }
check "pprof: the sample types of heap profiles" types
check 'folded: a stack a line' grep -q 'main;peaks 10000000' <("$ASSAY" export -f folded -e 'bytes at peak' heap.assay)
check 'a recording without a heap is refused with the reason' fails 'recordings of the heap' "$ASSAY" export -f dhat "$TOP/tests/fuzz/corpus/import/folded"
finish
