#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay annotate on a real recording: lines, inlined callees, instructions.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cc=$(compiler gcc) || skip_all "no gcc here"

# In the scratch folder, so that the source is not newer than the recording.
cp "$TOP/tests/programs/chain.c" chain.c
"$cc" -g -O2 -o chain chain.c || exit 1
if ! "$ASSAY" record --force -F 4999 -o run.assay -- ./chain 150 >record.log 2>&1; then
    not_ok "recording" record.log
    finish
fi

# json_check NAME EXPRESSION: over the parsed output as `d`.
json_check() {
    check "$1" python3 -c "
import json, sys
d = json.load(open('out.json'))
sys.exit(0 if ($2) else 'not true: ' + '''$2''')"
}

# Of a function whose only callees are inlined: the lines of the instructions that
# samples stood on are the lines with time, and there are some.
sampled_lines="0 < len({i['line'] for i in d['instructions'] if i['self'][0]}) and \
    {i['line'] for i in d['instructions'] if i['self'][0]} == {l['line'] for l in d['lines'] if l['total'][0]}"

"$ASSAY" annotate run.assay hot --asm --json >out.json 2>err.log || not_ok "annotate hot" err.log
json_check "hot has most of the time" "60 < 100 * d['metrics'][0]['total'] / d['metrics'][0]['all'] <= 100"
json_check "mix is inlined into a line of hot" \
    "any(c['inlined'] and c['function'].startswith('mix') for l in d['lines'] for c in l['callees'])"
json_check "lines have their text" "all('text' in l for l in d['lines'] if l['line'])"
if python3 -c "import ctypes; ctypes.CDLL('libZydis.so.4.0')" 2>/dev/null; then
    json_check "instructions hold the time of the samples that stood on them" \
        "sum(i['total'][0] for i in d['instructions']) >= 0.9 * d['metrics'][0]['total']"
    json_check "instructions are one after the other" \
        "[i['address'] for i in d['instructions']] == sorted(i['address'] for i in d['instructions'])"
    # The same boundaries as the reference disassembler sees.
    objdump -d --no-show-raw-insn chain | sed -n '/<hot>:/,/^$/s/^ *\([0-9a-f]*\):.*/\1/p' >want
    python3 -c "
import json
for i in json.load(open('out.json'))['instructions']: print('%x' % i['address'])" >got
    check "as objdump has them" sh -c 'head -n "$(wc -l <got)" want | diff - got'
    "$ASSAY" annotate run.assay mix --asm --json >out.json 2>err.log || not_ok "annotate mix" err.log
    json_check "instructions of an inlined function stand at its own lines" \
        "$sampled_lines"
else
    skip "instructions" "libZydis is not installed"
fi

"$ASSAY" annotate run.assay chain.c:40 >out.txt 2>err.log || not_ok "a place" err.log
check "a place shows its line" grep -q '40 > ' out.txt
check "a wrong name is an error that says so" sh -c \
    '! "$ASSAY" annotate run.assay no_such_function >out.txt 2>err.log && grep -q no_such_function err.log && [ ! -s out.txt ]'

# Another build in its place must not lend its code to the recording.
"$cc" -g -O0 -o chain chain.c
check "code of another build is refused" sh -c \
    '! "$ASSAY" annotate run.assay hot --asm >out.txt 2>err.log && grep -q "not the file" err.log'
check "and the lines are still there" sh -c '"$ASSAY" annotate run.assay hot >out.txt && grep -q inlined out.txt'

# A source that changed since is not shown as if it were the old one. One with the same text
# and a newer time stamp did not change.
sleep 1.1
touch chain.c
"$ASSAY" annotate run.assay hot >out.txt 2>err.log
check "a touched source is the same" sh -c 'grep -q "chain.c" out.txt && ! grep -q "changed since" out.txt'
sed -i '1i // a new first line' chain.c
"$ASSAY" annotate run.assay hot >out.txt 2>err.log
check "a changed source is said to be one" grep -q 'changed since' out.txt

# Debug information apart from the program: its symbols and lines are found too.
mkdir -p parts && cp "$TOP/tests/programs/chain.c" parts/ && (cd parts && "$cc" -g -O2 -o linked chain.c &&
    objcopy --only-keep-debug linked linked.debug && cp linked stripped && strip linked stripped &&
    mkdir .debug dbg && objcopy --add-gnu-debuglink=linked.debug linked && mv linked.debug .debug/ &&
    id=$(readelf -n stripped | sed -n 's/.*Build ID: //p') && mkdir -p "dbg/.build-id/${id:0:2}" &&
    cp .debug/linked.debug "dbg/.build-id/${id:0:2}/${id:2}.debug")
if python3 -c "import ctypes; ctypes.CDLL('libZydis.so.4.0')" 2>/dev/null; then
    "$ASSAY" record --force -o linked.assay -- parts/linked 60 >record.log 2>&1
    "$ASSAY" annotate linked.assay hot --asm --json >out.json 2>err.log || not_ok "linked debug file" err.log
    json_check "a debug file by .gnu_debuglink gives the instructions their lines" \
        "$sampled_lines"
    "$ASSAY" record --force --debug-dir parts/dbg -o apart.assay -- parts/stripped 60 >record.log 2>&1
    "$ASSAY" annotate apart.assay hot --asm --json --debug-dir parts/dbg >out.json 2>err.log ||
        not_ok "debug file by build-id" err.log
    json_check "a debug file by build-id in --debug-dir does" \
        "$sampled_lines"
    # The program moved to another place: below a --sysroot it is still the one recorded.
    mkdir -p root"$PWD/parts" && mv parts/linked root"$PWD/parts/" && mv parts/.debug root"$PWD/parts/"
    check "a program that is gone is said" sh -c \
        '! "$ASSAY" annotate linked.assay hot --asm >out.txt 2>err.log && grep -q "not the file" err.log'
    check "below --sysroot it is found" sh -c \
        '"$ASSAY" annotate linked.assay hot --asm --sysroot root >out.txt && grep -q inlined out.txt'
else
    skip "separate debug files" "libZydis is not installed"
fi

# Sources that moved.
mkdir -p elsewhere/deep && mv parts/chain.c elsewhere/deep/
"$ASSAY" annotate linked.assay chain.c:40 --json --context 1000 --source-path "$PWD/parts=$PWD/elsewhere/deep" >out.json 2>err.log
json_check "--source-path finds sources that moved" "d['lines'] and all('text' in l for l in d['lines'])"

# Rust's library stands at /rustc/HASH/library in debug information, wherever it is installed.
if command -v rustc >/dev/null; then
    library=$PWD/rustup/toolchains/test/lib/rustlib/src/rust/library
    mkdir -p "$library/core/src" && echo "// core" >"$library/core/src/lib.rs"
    cat >sum.rs <<'RS'
fn main() {
    let n: u64 = std::env::args().count() as u64 * 30000;
    let v: Vec<u64> = (0..n).collect();
    let mut total = 0u64;
    for i in 0..6000u64 {
        total = total.wrapping_add(v.iter().map(|x| x ^ i).fold(1, |a, b| a.rotate_left(3) ^ b));
    }
    println!("{total}");
}
RS
    if rustc -g -O -o sum sum.rs >rustc.log 2>&1 && "$ASSAY" record --force -o rust.assay -- ./sum >record.log 2>&1; then
        "$ASSAY" export rust.assay -f json >rust.json
        # The file of the library with most of the frames, with a text for each line.
        file=$(python3 -c "
import collections, json
d = json.load(open('rust.json'))
s = d['strings']
c = collections.Counter(s[f] for f in d['frame places']['file'] if s[f].startswith('/rustc/') and '/library/' in s[f])
print(c.most_common(1)[0][0] if c else '')")
        if [ -n "$file" ]; then
            path=$library/${file#*/library/}
            mkdir -p "$(dirname "$path")" && for i in $(seq 1 5000); do echo "// text of line $i"; done >"$path"
            touch -d '2001-01-01' "$path"
            RUSTUP_HOME=$PWD/rustup "$ASSAY" annotate rust.assay "${file##*/library/}" >out.txt 2>err.log
            check "Rust's /rustc/HASH/library is read from the installed rust-src" grep -q 'text of line' out.txt
        else
            skip "rust-src" "no line of the library was sampled"
        fi
    else
        skip "rust-src" "the Rust program was not built or recorded"
    fi
else
    skip "rust-src" "no rustc here"
fi

# Without debug information there are no lines: instructions are shown, with the reason.
mkdir -p bare && "$cc" -O2 -o bare/bare "$TOP/tests/programs/chain.c" &&
    "$ASSAY" record --force -q -F 4999 -o bare.assay -- bare/bare 100 2>err.log &&
    "$ASSAY" annotate bare.assay hot >out.txt 2>err.log
check "without debug information instructions are shown" grep -qE '^ *[0-9.]+% +[0-9.]+% +[0-9a-f]+  [a-z]+ ' out.txt
check "and the reason" grep -q 'no debug information, so these are its instructions' out.txt
check "and no empty lines of a source" sh -c '! grep -qE "^ +[0-9]+ \| *$" out.txt'
finish
