#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap --copies: calls of memcpy, strcpy and the related functions by stack, as DHAT counts them.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -pthread -o copies "$TOP/tests/programs/heap_copies.c" 2>gcc.log || { cat gcc.log; exit 1; }
values() { "$TOP/tests/e2e/lib/heap_values.py" "$@"; }
"$ASSAY" heap -q -f --copies -o c.assay -- ./copies || { echo "status $?"; exit 1; }
"$ASSAY" export -f json c.assay -o c.json
is() { # FUNCTION COPIES BYTES
    local got
    got="$1 $(values copies "$1" <c.json) $(values 'bytes copied' "$1" <c.json)"
    [ "$got" = "$*" ] || { echo "$got, not $*"; return 1; }
}
check 'memcpy, memmove, mempcpy' is moves 4 310
check 'strcpy, stpcpy, memccpy, bcopy' is strings 6 66
check 'strncpy, stpncpy' is padded 2 22
check 'strcat, strncat' is joined 4 21
check 'the forms of _FORTIFY_SOURCE' is fortified 3 32
check 'wide characters' is wide 4 60
check 'four threads at once' is in_thread 4000 64000
check 'a child process' is in_child 1 10
check "libc's own copies are none of the program's" is pieces 1 6
no_blocks() { [ "$(values 'blocks allocated' moves <c.json)" = 0 ] && [ "$("$ASSAY" report --json c.assay | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["totals"]["copies"], any(p["function"] == "moves" for p in d["places"]))')" = '4025 False' ]; }
check 'a copy is no block, and no row of the first screen' no_blocks
screen() { "$ASSAY" report c.assay >out && grep -q "^copied .* by 4 025 calls: assay report c.assay -e 'bytes copied'" out && "$ASSAY" report --by line -e 'bytes copied' c.assay >lines && grep -q 'heap_copies.c:[0-9]' lines || { cat out lines; return 1; }; }
check '… which has their sum; lines have the bytes' screen
signals() { "$ASSAY" heap -q -f --copies -o s.assay -- ./copies signals >out && grep -qx '1000 signals' out && "$ASSAY" export -f json s.assay -o - >s.json && [ "$(values copies handler <s.json)" = 1000 ]; }
check 'copies in signal handlers' signals
overflow() {
    "$ASSAY" heap -q -f --copies -o o.assay -- ./copies overflow >out 2>&1
    [ $? = 134 ] && grep -q 'buffer overflow detected' out
}
check 'a checked copy that does not fit ends the program as without' overflow
mode() {
    "$ASSAY" export -f dhat -e 'bytes copied' -o ours.dhat c.assay && python3 -c '
import json
d = json.load(open("ours.dhat"))
assert (d["mode"], d["verb"], d["bklt"]) == ("copy", "Copied", False), d["mode"]
assert sum(p["tbk"] for p in d["pps"]) == 4025 and all(p["tbk"] for p in d["pps"])'
}
check "export: DHAT's mode copy" mode
back() { cp ours.dhat back.json && "$ASSAY" export -f dhat -o again.dhat back.json && python3 -c '
import json
a, b = (json.load(open(f)) for f in ("ours.dhat", "again.dhat"))
points = lambda d: sorted((p["tb"], p["tbk"], [d["ftbl"][f].split(": ")[-1] for f in p["fs"]]) for p in d["pps"])
assert a["mode"] == b["mode"] and points(a) == points(b)'; }
check '… read back: copies again' back
if command -v valgrind >/dev/null; then
    valgrind --tool=dhat --mode=copy --dhat-out-file=v.dhat ./copies >v.out 2>&1
    # DHAT counts no strcat, and writes a file for the parent alone.
    as_dhat() {
        python3 - <<'PY'
import json
def sums(path):
    d, found = json.load(open(path)), {}
    for p in d["pps"]:
        for f in p["fs"]:
            name = d["ftbl"][f].split(": ", 1)[-1].split(" (")[0]
            if name in ("moves", "strings", "padded", "fortified", "wide", "in_thread", "pieces"):
                c = found.setdefault(name, [0, 0])
                c[0] += p["tbk"]
                c[1] += p["tb"]
    return found
ours, theirs = sums("ours.dhat"), sums("v.dhat")
theirs["pieces"] = ours["pieces"]  # DHAT sees copies inside libc, too
print(ours, theirs)
assert ours == theirs and len(ours) == 7
PY
    }
    check 'DHAT counts the same copies and bytes in each function' as_dhat
fi
if command -v g++ >/dev/null; then
    printf '#include <string>\nvolatile int n = 300;\n__attribute__((noinline)) static size_t join(const std::string &a) { std::string b(a); b += a; return b.size(); }\nint main() { std::string a(n, 120); size_t sum = 0; for (int i = 0; i < 1000; i++) sum += join(a); return sum != 600000; }\n' >s.cc
    g++ -g -O2 -o strings_cc s.cc 2>gcc.log || cat gcc.log
    cplusplus() { "$ASSAY" heap -q -f --copies -o cc.assay -- ./strings_cc && "$ASSAY" export -f json cc.assay -o cc.json && [ "$(values 'bytes copied' main <cc.json)" -ge 600000 ] && [ "$(values 'blocks allocated' main <cc.json)" -ge 2000 ]; }
    check "C++: std::string's copies, beside its blocks" cplusplus
fi
if command -v rustc >/dev/null; then
    printf 'use std::hint::black_box;\n#[inline(never)]\nfn twice(v: &[u8]) -> Vec<u8> { let mut w = v.to_vec(); w.extend_from_slice(black_box(v)); w }\nfn main() { let v = vec![1u8; 500]; for _ in 0..1000 { assert_eq!(black_box(twice(black_box(&v))).len(), 1000); } }\n' >v.rs
    rustc -g -O -o vec_rs v.rs 2>rustc.log || cat rustc.log
    rust() { "$ASSAY" heap -q -f --copies -o rs.assay -- ./vec_rs && "$ASSAY" export -f json rs.assay -o rs.json && [ "$(values 'bytes copied' v::twice <rs.json)" -ge 1000000 ]; }
    check 'Rust: Vec' rust
fi
without() { "$ASSAY" heap -q -f -o none.assay -- ./copies && ! "$ASSAY" export -f json none.assay -o - | grep -q 'bytes copied"'; }
check 'without --copies there are no such metrics' without
check '-p is refused with the reason' fails '-p cannot be combined with --copies' "$ASSAY" heap --copies -p 1
finish
