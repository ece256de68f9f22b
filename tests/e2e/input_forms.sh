#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is packed is looked into, what is not read is named, and an input without an end is refused
# at its beginning.
# beside others: 8 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
"$TOOLS/make_profile" plain plain.assay && "$ASSAY" export plain.assay --format folded -o plain.folded &&
    "$ASSAY" export plain.assay --format pprof -o plain.pprof && gunzip <plain.pprof >plain.proto || exit 1
rows() { "$ASSAY" report "$@" --json 2>err | python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"])'; }
rows plain.folded >want.folded
rows plain.proto >want.proto
for kind in folded proto; do
    gzip -k plain.$kind
    xz -k plain.$kind
    methods="gz xz"
    # Two streams in one file, as pbzip2 writes them.
    if command -v bzip2 >/dev/null; then
        { head -n 1 plain.$kind | bzip2; tail -n +2 plain.$kind | bzip2; } >plain.$kind.bz2 && methods+=" bz2"
    fi
    if command -v zstd >/dev/null; then zstd -q plain.$kind && methods+=" zst"; fi
    for method in $methods; do
        rows plain.$kind.$method >got && cmp want.$kind got
        verdict "$kind packed as $method is read" $?
        rows - <plain.$kind.$method >got && cmp want.$kind got
        verdict "$kind packed as $method is read from standard input" $?
    done
done
head -c 3000 /proc/self/exe | gzip >program.gz
check "a program in gzip is named" fails "this is a program" "$ASSAY" report program.gz
printf 'hello\nworld\n' | gzip >text.gz
check "text in gzip is not read as pprof" fails "not a recording of a known format" "$ASSAY" report text.gz
head -c 200 plain.folded.xz >cut.xz
check "xz that is cut is refused" fails "xz: damaged data" "$ASSAY" report cut.xz
if [ -e plain.folded.bz2 ]; then
    head -c -20 plain.folded.bz2 >cut.bz2
    check "bzip2 that is cut is refused" fails "bzip2: damaged data" "$ASSAY" report cut.bz2
    (printf 'a;b 1\n' | bzip2; echo behind) >behind.bz2
    check "bytes behind bzip2 are left out" "$ASSAY" report behind.bz2
    head -c 200000000 /dev/zero | bzip2 >zeros.bz2
    check "bzip2 of zeros is refused by its size" fails "more than" "$ASSAY" report zeros.bz2
else
    skip "bzip2" "it is not installed"
fi
cat /proc/cpuinfo >cpuinfo
check "a copy of /proc/cpuinfo is not read as folded stacks" fails "not a recording" "$ASSAY" report cpuinfo

# endless COMMAND…: what it writes without an end is refused, in little memory.
endless() {
    "$@" 2>/dev/null | (ulimit -v 2000000; timeout 60 "$ASSAY" report - >out 2>err)
    [ "${PIPESTATUS[1]}" = 1 ] && grep -q 'standard input.*not a recording' err
}
endless yes
verdict "an endless text is refused" $?
endless cat /dev/zero
verdict "endless zeros are refused" $?
endless yes '{"a":'
verdict "endless JSON is refused" $?
for _ in {1..200}; do cat plain.folded; done >long.folded
rows long.folded >want && rows - <long.folded >got && cmp want got && cat long.folded | rows - >got && cmp want got
verdict "a long input from a pipe is read whole" $?
finish
