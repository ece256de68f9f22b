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
if ! "$ASSAY" record --force -o run.assay -- ./chain 150 >record.log 2>&1; then
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
        "{l['line'] for l in d['lines'] if l['self'][0]} & {i['line'] for i in d['instructions'] if i['self'][0]}"
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

# A source that changed since is not shown as if it were the old one.
sleep 1.1
sed -i '1i // a new first line' chain.c
"$ASSAY" annotate run.assay hot >out.txt 2>err.log
check "a changed source is said to be one" grep -q 'changed since' out.txt
finish
