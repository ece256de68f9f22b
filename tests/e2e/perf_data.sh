#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perf.data of the installed perf, in each of its ways to take stacks: the same frames as
# `perf script` shows for every complete stack, the same shares as `perf report`; files found
# by build-id, --symfs and --sysroot, and none of another build. TAP.
set -u
. "$TOP/tests/e2e/lib/common.sh"
command -v perf >/dev/null || skip_all "no perf here"
command -v g++ >/dev/null || skip_all "no C++ compiler"
export PERF_BUILDID_DIR=$PWD/buildids XDG_CACHE_HOME=$PWD/cache DEBUGINFOD_URLS=
g++ -O2 -g -fomit-frame-pointer -o chain "$TOP/tests/programs/chain.cc" || exit 1
perf record -q -o try.data -e cpu-clock -- true >try.log 2>&1 ||
    skip_all "perf records nothing here: $(head -n 1 try.log)"

# capture NAME OPTION…: NAME.data
capture() {
    local name=$1
    shift
    perf record -q -o "$name.data" -e cpu-clock -F 499 "$@" -- ./chain 1200 >/dev/null 2>"$name.log"
}

# -a sees other programs too, of which some are at exec: there perf shows what was mapped
# before. Our own program is what is compared.
script_of() {
    perf script --comm chain --no-inline --max-stack 4096 -i "$1.data" -F comm,tid,time,event,ip,sym,dso \
        >"$1.script" 2>/dev/null
}

frames() {
    local name=$1
    [ -s "$name.data" ] || { skip "$name" "perf: $(head -n 1 "$name.log")"; return 1; }
    script_of "$name"
    check "$name: opens" "$ASSAY" export "$name.data" --comm chain --format perf-script \
        -o "$name.ours"
    check "$name: perf's frames" python3 "$TOP/tests/tools/compare_perf_script.py" \
        "$name.script" "$name.ours" -v
}

# same NAME: frames and shares.
same() {
    local name=$1
    frames "$name" || return
    perf report --comm chain --percentage relative -i "$name.data" --stdio --no-children -g none --no-inline -s sym \
        >"$name.report" 2>/dev/null
    check "$name: perf's shares" python3 "$TOP/tests/tools/compare_perf_report.py" \
        "$name.report" "$name.ours"
}

capture plain
same plain
capture fp --call-graph fp
same fp
capture dwarf --call-graph dwarf
same dwarf
capture dwarf64k --call-graph dwarf,65528
same dwarf64k
capture compressed -z --call-graph dwarf
same compressed
perf record -q -o - -e cpu-clock -F 499 -g -- ./chain 1200 >pipe.data 2>pipe.log
same pipe
# `perf report --comm` leaves samples out that `perf script --comm` has: frames only.
capture wide -a -g
frames wide

# Several events: a metric each, with perf's counts.
perf record -q -o several.data -e cpu-clock,page-faults,context-switches -F 499 -g -- \
    ./chain 300 >/dev/null 2>several.log
"$ASSAY" report several.data --json -e page-faults >several.json 2>several.log
check "several events: one metric each" grep -q '"page-faults"' several.json
check "several events: perf's sums" python3 - <<'PYTHON'
import json, subprocess
text = subprocess.run(["perf", "report", "-i", "several.data", "--stdio", "--no-children", "-g", "none", "-s", "comm"],
                      capture_output=True, text=True).stdout
sums = [int(line.split(":")[1]) for line in text.splitlines() if line.startswith("# Event count")]
samples = subprocess.run(["perf", "script", "-i", "several.data", "-F", "event,period"], capture_output=True, text=True).stdout
periods = {}
for line in samples.splitlines():
    words = line.split()
    if len(words) == 2 and words[0].isdigit():
        name = words[1].rstrip(":").partition(":")[0]
        periods[name] = periods.get(name, 0) + int(words[0])
assert sums and periods, (sums, periods)
import os
ours = {}
for name in periods:
    metric = "cpu time" if name == "cpu-clock" else name
    out = subprocess.run([os.environ["ASSAY"], "export", "several.data", "--format", "folded", "-e", metric],
                         capture_output=True, text=True, check=True).stdout
    ours[name] = sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines())
print(periods, ours)
assert ours == periods
PYTHON

# A complete stack is the program's.
"$ASSAY" report dwarf.data --wide >seen 2>&1
check "its first screen names the program" grep -q 'chain' seen
check "its stacks are complete" grep -qE 'all stacks complete|9[89]\.[0-9]% of stacks complete' seen

# Of stacks that are larger than their copies, the file has no more. The outer calls are those that the
# complete ones before all had, over a marked gap; none is called complete, and none has calls of another turn.
# A copy of 8 KB has 64 levels of 128 bytes at most.
gcc -O2 -g -fomit-frame-pointer -o deep_phases "$TOP/tests/programs/deep_phases.c" || exit 1
outer_calls() {
    perf record -q -o deep.data -e cpu-clock -F 1999 --call-graph dwarf -- ./deep_phases 400 800 >/dev/null 2>deep.log &&
        "$ASSAY" report --wide --notes deep.data >seen || { cat deep.log; return 1; }
    grep -q 'complete, .* more reach their outermost call over a marked gap' seen &&
        grep -q 'perf record --call-graph dwarf,65528 copies more' seen &&
        grep -q 'lack calls in the middle' seen || { cat seen; return 1; }
    "$ASSAY" export -f folded deep.data --force -o deep.folded && awk '
        /middle not copied/ { gaps += $NF; start += /;_start;/ * $NF }
        !/stack cut/ { calls = gsub(/;down/, ";down"); deep += (calls > 64) * $NF }
        { all += $NF; mixed += (/;left;.*;work_right/ || /;right;.*;work_left/) * $NF }
        END { print gaps + 0, "gaps of", all, "stacks,", start + 0, "with the start;", deep + 0, "complete with more levels than a copy has;", mixed + 0, "of another turn"
            exit !(gaps > all / 2 && start == gaps && deep == 0 && mixed <= all * 0.01) }' deep.folded
}
check "outer calls over a gap, and what would help" outer_calls

# The program elsewhere, gone, rebuilt.
mkdir -p "root$PWD" && cp chain "root$PWD/chain" && mv chain chain.kept
rm -rf "$PERF_BUILDID_DIR"
"$ASSAY" report dwarf.data --wide --notes >gone 2>&1
check "a program that is gone is said" grep -q 'not on this machine' gone
for option in --symfs --sysroot; do
    "$ASSAY" report dwarf.data --wide $option root >seen 2>&1
    check "$option has the program" grep -q 'shop::hot' seen
done
g++ -O1 -g -o chain "$TOP/tests/programs/chain.cc"
XDG_CACHE_HOME=$PWD/empty "$ASSAY" report dwarf.data --wide --notes >rebuilt 2>&1
check "a rebuilt program is said" grep -q "another build.*chain" rebuilt
check "a rebuilt program gives no names" bash -c '! grep -q "shop::hot" rebuilt'
id=$(readelf -n chain.kept | sed -n 's/.*Build ID: //p')
mkdir -p "ids/.build-id/${id:0:2}" && cp chain.kept "ids/.build-id/${id:0:2}/${id:2}"
"$ASSAY" report dwarf.data --wide --debug-dir ids >seen 2>&1
check "a build-id folder has the program" grep -q 'shop::hot' seen

# Kept as a recording it needs none of them.
mv chain.kept chain
# The kept one has the text of source lines besides.
report_of() { "$ASSAY" report "$1" --json | grep -vE '"(path|text)"' | sed 's/,$//'; }
report_of dwarf.data >before
check "import keeps it" "$ASSAY" import dwarf.data -o kept.assay
rm chain
report_of kept.assay >after
check "the kept one gives the same report" diff before after

# Cut and broken files.
head -c 20000 dwarf.data >cut.data
"$ASSAY" report cut.data --notes >seen 2>&1
check "a cut file gives its whole part" grep -qE 'the part before is read|perf.data' seen
head -c 60 dwarf.data >stump.data
if "$ASSAY" import stump.data -o stump.assay 2>stump.log; then not_ok "a stump is an error"; else
    check "a stump is an error" test -s stump.log
fi
check "nothing is written on an error" test ! -e stump.assay
finish
