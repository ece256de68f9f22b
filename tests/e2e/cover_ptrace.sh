#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover run --engine ptrace: lines that ran, by breakpoints, equal to those
# of compiled-in counters; threads, forks, exec, dlopen, signals.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
if [ "$(uname -m)" != x86_64 ]; then
    echo "breakpoints at lines are for x86-64"
    exit 77
fi
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
trace() { # trace ARGS...: output in out and err, status in $status
    timeout 120 "$ASSAY" cover run --engine ptrace -f -o res "$@" >out 2>err
    status=$?
}
programs=$TOP/tests/programs

gcc -w -g -O0 -o life "$programs/cover_life.c" || exit 1
trace -- ./life status
if grep -q 'cannot trace' err; then
    echo "ptrace is forbidden here"
    exit 77
fi
verdict "the status is the program's" "$([ $status -eq 7 ] && [ "$(count_of res '// work')" = 1 ] && [ "$(count_of res '// child')" = 0 ]; echo $?)"
trace -- "$ASSAY" cover run --engine ptrace -o twice -- ./life status
verdict "a program that is traced already: by whom" "$(grep -q 'hint: process [0-9]* traces it already' err; echo $?)"
trace -- ./life fork
verdict "forked children are followed" "$([ $status -eq 0 ] && [ "$(count_of res '// child')" = 1 ] && grep -q '6 processes' err; echo $?)"
trace -- ./life exec
verdict "exec is followed" "$([ $status -eq 7 ] && [ "$(count_of res 'return 7')" = 1 ]; echo $?)"
trace -- ./life kill
verdict "a killed program's lines are kept" "$([ $status -eq 137 ] && [ "$(count_of res 'raise(')" = 1 ]; echo $?)"
trace -- sh -c './life exit & ./life _exit; s=$?; wait; exit $s'
verdict "below a shell" "$([ $status -eq 3 ] && [ "$(count_of res '_exit(3)')" = 1 ]; echo $?)"
"$ASSAY" cover run --engine ptrace -f -o res -- ./life wait >out 2>err &
pid=$!
eventually grep -q waiting out
kill -TERM $pid
wait $pid
status=$?
verdict "signals reach the program" "$([ $status -eq 55 ] && [ "$(count_of res '// on_signal')" = 1 ]; echo $?)"
trace -- sh -c './life wait >left.out 2>&1 & echo started $!'
verdict "what the command leaves behind is let go" "$([ $status -eq 0 ] && grep -q started out; echo $?)"
left=$(awk '$1 == "started" { print $2 }' out)
eventually grep -q waiting left.out && kill -INT "$left" && eventually gone "$left"
verdict "and goes on as it was" $?
trace -- ./life status
timeout 60 "$ASSAY" cover run --engine ptrace --merge -o res -- ./life fork >out 2>err
verdict "--merge adds" "$([ "$(count_of res 'return 7')" = 1 ] && [ "$(count_of res '// child')" = 1 ] && [ "$(count_of res '// work')" = 2 ]; echo $?)"

gcc -w -g -shared -fPIC -o liblate.so "$programs/cover_late.c"
for flags in "-pie" "-no-pie" "-static" "-O2" "-gdwarf-4"; do
    # shellcheck disable=SC2086 # flags are words
    gcc -w -g -pthread $flags -o threads "$programs/cover_threads.c" || continue
    late=./liblate.so
    [ "$flags" = -static ] && late=
    expected=$(./threads $late)
    trace -- ./threads $late
    verdict "$flags: threads give what they give alone" "$([ $status -eq 0 ] && [ "$(cat out | head -1)" = "$expected" ]; echo $?)"
    verdict "$flags: lines of threads and of a handler" "$([ "$(count_of res '// every thread')" = 1 ] && [ "$(count_of res '// tick')" = 1 ] && { [ "$(count_of res '// not reached')" = 0 ] || [ "$flags" = -O2 ]; }; echo $?)"
    [ -n "$late" ] && verdict "$flags: lines of an object that is loaded late" "$([ "$(count_of res '// late')" = 1 ] && [ "$(count_of res '// constructor')" = 1 ]; echo $?)"
done

# ---- What breakpoints must not break
gcc -w -g -O0 -o traps "$programs/cover_traps.c" || exit 1
trace -- ./traps traps
verdict "a program's own traps and its handler for them" "$([ $status -eq 8 ] && grep -qx 'traps 8' out && [ "$(count_of res '// own')" = 1 ] && [ "$(count_of res '// second trap')" = 1 ]; echo $?)"
trace -- ./traps crash
verdict "a trap that nobody handles ends it" "$([ $status -eq 133 ] && [ "$(count_of res '// crash')" = 1 ]; echo $?)"
trace -- ./traps reopen ./liblate.so
verdict "an object that is loaded again" "$([ $status -eq 17 ] && [ "$(count_of res '// later')" = 1 ]; echo $?)"
rm -f daemon.result
trace -- ./traps daemon ./liblate.so
eventually test -s daemon.result
verdict "a daemon loads objects after it was let go" "$([ $status -eq 0 ] && [ "$(cat daemon.result)" = 17 ]; echo $?)"
(
    ulimit -Sn 100 && ulimit -Hn 100 && trace -- ./traps many
    [ $status -eq 0 ] && [ "$(count_of res '// each')" = 1 ]
)
verdict "more processes at once than descriptors" $?
# Without rights: root reaches every process.
mkdir -p open && cp traps open/ && cp -L "$ASSAY" open/assay && chmod -R a+rwX . open 2>/dev/null
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups ./open/assay --version >/dev/null 2>&1; then
    setpriv --reuid 65534 --clear-groups timeout 60 ./open/assay cover run --engine ptrace -q -f -o open/res --include '*/cover_traps.c' -- ./open/traps hidden >out 2>err
    status=$?
    verdict "children of a process that hides its memory" "$([ $status -eq 6 ] && grep -q PR_SET_DUMPABLE err && [ "$(count_of open/res '// hidden')" = 1 ]; echo $?)"
    cp open/traps open/unreadable && chmod 711 open/unreadable
    setpriv --reuid 65534 --clear-groups timeout 60 ./open/assay cover run --engine ptrace -q -f -o open/res2 -- ./open/unreadable traps >out 2>err
    status=$?
    verdict "a program that may be run but not read" "$(grep -q 'run but not read' err && ! grep -q 'no debug information' err && grep -qx 'traps 8' out && [ $status -ne 0 ]; echo $?)"
    mkdir -p closed && chmod 755 closed
    (cd closed && setpriv --reuid 65534 --clear-groups timeout 60 ../open/assay cover run --engine ptrace -- ../open/traps traps >../out 2>../err)
    status=$?
    verdict "a folder that is not ours: which, and what to do" "$([ $status -eq 1 ] && grep -q "cannot make folder '.assay'" err && grep -q 'hint: -o DIR' err; echo $?)"
elif [ "$(id -u)" = 0 ]; then
    for what in "children of a process that hides its memory" "a program that may be run but not read" "a folder that is not ours: which, and what to do"; do
        skip "$what" "no way to become nobody here"
    done
else
    trace -- ./traps hidden
    verdict "children of a process that hides its memory" $((status != 6))
fi
cat >first.c <<'EOF'
int main(void)
{
    return 3; // first
}
EOF
cat >second.c <<'EOF'
static int twice(int n)
{
    return n * 2;
}
int main(int argc, char **argv)
{
    volatile int sum = 0;
    for (int i = 0; i < argc * 5; i++)
        sum += twice(i); // second
    return sum;
}
EOF
gcc -g -O0 -o second second.c
gcc -g -O0 -o rebuilt first.c
trace -- sh -c './rebuilt; cat second >rebuilt; ./rebuilt'
verdict "a program that is written over while it is watched" "$([ $status -eq 20 ] && [ "$(count_of res '// first')" = 1 ] && [ "$(count_of res '// second')" = 1 ]; echo $?)"

# ---- Lines that are entered beside their beginning, and lines that only bracket
cat >branches.c <<'EOF'
static int g;
int main(int argc, char **argv)
{
    if (argc > 3) {
        g = 1; // skipped
    } else if (argc == 1) {
        g = 2; // taken
    } else {
        g = 3;
    }
    return 0;
}
EOF
for compiler in gcc clang-14 clang-19; do
    command -v "$compiler" >/dev/null && "$compiler" -w -g -O0 -o branches branches.c || continue
    trace -- ./branches
    verdict "$compiler: a condition behind a bracket ran" "$([ "$(count_of res 'else if')" = 1 ] && [ "$(count_of res '// taken')" = 1 ] && [ "$(count_of res '// skipped')" = 0 ]; echo $?)"
    verdict "$compiler: brackets are not lines that were missed" "$([ "$(count_of res 'else {')" = '}' ]; echo $?)"
done

for compiler in gcc clang-14 clang-19; do
    command -v "$compiler" >/dev/null && "$compiler" -w -g -O2 -o inlined "$programs/cover_inlined.c" || continue
    trace -- ./inlined
    verdict "$compiler: a line that is all inlined ran" "$([ $status -eq 0 ] && [ "$(count_of res '// passed on')" = 1 ] && [ "$(count_of res '// called')" = 1 ] && [ "$(count_of res '// skipped')" = 0 ]; echo $?)"
done

# A line table that is wrong: a row inside an instruction, whose bytes must stay.
printf 'one\ntwo\nthree\nfour\n' >wrong.c
cat >wrong.s <<'EOF'
    .file 1 "wrong.c"
    .text
    .globl main
main:
    .loc 1 1
    xorl %eax, %eax
    .byte 0xb8
    .loc 1 2
    .loc 1 3
    .byte 7, 0, 0, 0
    nop
    .loc 1 4
    ret
    .section .note.GNU-stack,"",@progbits
EOF
gcc -g -no-pie -o wrong wrong.s && ./wrong
if [ $? -eq 7 ]; then
    trace -- ./wrong
    if grep -q 'libZydis is not installed' err; then
        skip 'a line table with a row inside an instruction' 'no libZydis'
    else
        verdict 'a line table with a row inside an instruction' "$([ $status -eq 7 ] && grep -q 'lie inside an instruction' err; echo $?)"
    fi
fi

# ---- Debug information that is elsewhere
whole() { [ $status -eq 7 ] && [ "$(count_of res '// work')" = 1 ] && [ "$(count_of res '// child')" = 0 ] && "$ASSAY" cover export res 2>/dev/null | grep -q '^FNDA:1,work'; }
mkdir -p debug apart
objcopy --only-keep-debug life apart/life.debug
strip -o apart/life life
objcopy --add-gnu-debuglink=apart/life.debug apart/life
trace -- apart/life status
verdict "debug information by link" "$(whole; echo $?)"
id=$(readelf -n life | sed -n 's/.*Build ID: //p')
if [ -n "$id" ]; then
    mkdir -p "debug/.build-id/${id:0:2}"
    mv apart/life.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
    trace --debug-dir debug -- apart/life status
    verdict "debug information by build-id" "$(whole; echo $?)"
fi
for flags in "-gdwarf-4" "-gdwarf-5"; do
    for compiler in gcc clang-14 clang-19; do
        command -v "$compiler" >/dev/null || continue
        rm -rf split && mkdir split
        (cd split && "$compiler" -w -g -gsplit-dwarf "$flags" -c "$programs/cover_life.c" -o life.o && "$compiler" -o life life.o)
        trace -- split/life status
        verdict "$compiler $flags: debug information in .dwo files" "$(whole; echo $?)"
    done
done

# Against counters that the same compiler builds in.
compare() { # compare LABEL
    "$ASSAY" cover export res 2>/dev/null | grep -E '^(SF|DA):' >traced
    "$ASSAY" cover export counted 2>/dev/null | grep -E '^(SF|DA):' >counted.da
    python3 - <<'PY' >out 2>err
def rows(name):
    file, lines = None, {}
    for row in open(name):
        kind, _, rest = row.strip().partition(":")
        if kind == "SF":
            file = rest
        else:
            line, count = rest.split(",")[:2]
            lines[file, int(line)] = int(count) > 0
    return lines
traced, counted = rows("traced"), rows("counted.da")
both = traced.keys() & counted.keys()
wrong = [key for key in both if traced[key] != counted[key]]
print(len(traced), len(counted), len(both), wrong)
# A catch or a match that only one of them counts is not an error of ours.
raise SystemExit(not (len(both) >= 20 and len(wrong) <= -(-len(both) // 25)))
PY
    verdict "$1: lines are those of built-in counters" $?
}
for pair in "clang++-14 -fprofile-instr-generate -fcoverage-mapping" "clang++-19 -fprofile-instr-generate -fcoverage-mapping" "g++ --coverage"; do
    # shellcheck disable=SC2086 # flags are words
    set -- $pair
    compiler=$1
    shift
    command -v "$compiler" >/dev/null && "$compiler" -w -g -O0 "$@" -o counting "$programs/cover.cc" 2>/dev/null || continue
    "$compiler" -w -g -O0 -o plain "$programs/cover.cc"
    "$ASSAY" cover run -q -f -o counted -- ./counting 5 >/dev/null 2>&1
    trace -q -- ./plain 5
    compare "$compiler"
done
if command -v rustc >/dev/null && rustc -g "$programs/cover.rs" -o rust_plain 2>/dev/null &&
    rustc -g -C instrument-coverage "$programs/cover.rs" -o rust_counting 2>/dev/null; then
    "$ASSAY" cover run -q -f -o counted -- ./rust_counting 20 >/dev/null 2>&1
    trace -q -- ./rust_plain 20
    compare rustc
fi

strip -o stripped life
trace -- ./stripped status
verdict "a stripped program: why, and its status" "$([ $status -eq 7 ] && grep -q 'no debug information' err; echo $?)"
trace -- ./no-such-program
verdict "no such program" $((status != 127))
finish
