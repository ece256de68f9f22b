#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of kilobytes that unpack to gigabytes: each command ends within two seconds of processor
# time and 256 MB, and its words name the limit and the option that lifts it.
#   BOMBS_ALL=1 takes every kind of row of every format, and the exports, which read as report does.
# beside others: 20 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ -x "$TOOLS/make_bomb" ] || skip_all "no $TOOLS/make_bomb: run make dev"
cc=$(compiler gcc)
"$cc" -O1 -o spin "$TOP/tests/programs/spin.c" || exit 1
"$TOP/tests/tools/make_bombs.py" . spin ${BOMBS_ALL:+all} || exit 1
for kind in samples metrics notes again; do "$TOOLS/make_bomb" $kind $kind.assay || exit 1; done
# A sanitizer's own memory and time are not ours.
if grep -q __asan_init "$ASSAY"; then scale=8; else scale=1; fi

cat >within.py <<'PY'
import os, resource, subprocess, sys
scale = int(sys.argv[1])
limit = 3000 * scale * (1 << 20)
run = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, timeout=120,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)) if scale == 1 else None)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
mb, seconds = used.ru_maxrss / 1024, used.ru_utime + used.ru_stime
print(f"{mb:.0f} MB, {seconds:.2f} s, status {run.returncode}", file=sys.stderr)
sys.exit(1 if mb > 256 * scale or seconds > 2 * scale else 0)
PY
within() { python3 within.py $scale "$@"; }
says_limit() { grep -q 'more than the limit of .*--max-decoded' "$1" || { echo 'does not name the limit:'; head -n 20 "$1"; return 1; }; }
# refused COMMAND…: an error
refused() { within "$@" >out 2>err || { cat err; return 1; }; grep -q 'status 1' err || { cat err; return 1; }; says_limit err; }
for file in {samples,metrics,notes,again}.assay {samples,locations,strings,functions}.pb.gz otlp-{rows,profiles}.gz zeros.txt.{gz,bz2,xz}; do
    check "report $file" refused "$ASSAY" report "$file"
    [ -z "${BOMBS_ALL:-}" ] || check "export $file" refused "$ASSAY" export "$file" --format folded -o -
done
check 'export of a bomb' refused "$ASSAY" export samples.pb.gz --format folded -o -
check 'view of a bomb' refused "$ASSAY" view --no-open --html - rows-own-numbers.gz
printf 'main;work 1\n' >small.folded
check 'diff with a bomb' refused "$ASSAY" diff small.folded rows-folded-deep.gz
heap_against() { refused "$ASSAY" heap -q -f -o heap.assay --baseline "$1" -- true; }
check 'heap against a bomb' heap_against notes.assay
# A sanitizer lets no limit of memory be set: there the readers that count by themselves are held.
if [ $scale -eq 1 ]; then
    for file in rows-*.gz; do
        check "report $file" refused "$ASSAY" report "$file"
        [ -z "${BOMBS_ALL:-}" ] || check "export $file" refused "$ASSAY" export "$file" --format json -o -
    done
fi
# survived COMMAND…: what is left out of the program is named.
survived() { within "$@" >out 2>err || { cat err; return 1; }; cat out err | tr -d '\n' | tr -s ' ' >all; says_limit all; }
for file in section zdebug many; do
    check "doctor $file.elf" survived "$ASSAY" doctor ./$file.elf
done
check 'doctor frame.elf' within "$ASSAY" doctor ./frame.elf
check 'cover of a program with a bomb' within "$ASSAY" cover report section.elf
check 'a flight recording of 20 000 chunks' within "$ASSAY" report flight.jfr.gz
# What makes no sense is an error in words.
in_words() { within "$@" >out 2>err; grep -q 'status 1' err && grep -q '^assay: .....' err || { cat err; return 1; }; }
check 'Go blocks of 4 000 million lines' in_words "$ASSAY" cover report blocks.out
for file in nested.a many.a; do
    check "cover of $file" in_words "$ASSAY" cover report $file "$TOP/tests/golden/cover/cover.proftext"
done
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py"); then
    recorded() { rm -f run.assay; within "$ASSAY" record -q -o run.assay -- "./$1" 200 >out 2>err || { cat err; return 1; }
        "$ASSAY" report --notes run.assay >report.log 2>&1 && tr -d '\n' <report.log | tr -s ' ' >flat && says_limit flat; }
    for file in section zdebug many; do check "record $file.elf" recorded $file.elf; done
    check 'record frame.elf' within "$ASSAY" record -q -o frame.assay -- ./frame.elf 200
else
    skip record "$reason"
fi
# The option lifts the limit: the text is read.
lifted() { "$ASSAY" report --max-decoded 1G zeros.txt.gz >out 2>err && grep -q work out || { cat err; return 1; }; }
check '--max-decoded lifts the limit' lifted
check 'and takes a size only' status_is 2 "$ASSAY" report --max-decoded lots zeros.txt.gz
finish
