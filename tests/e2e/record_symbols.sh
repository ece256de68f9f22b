#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What record names beyond plain files: generated code, the vdso, the kernel,
# programs that were removed or replaced while they ran. TAP; truths stand in
# tests/programs.
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
# seen_has TEST PATTERN: the last report has such a line.
seen_has() { if grep -qE "$2" seen; then ok "$1"; else not_ok "$1" seen; fi; }
# profile FILE WORD…: records and reports into "seen".
profile() {
    local file=$1
    shift
    "$ASSAY" record -q -f -o "$file" -- "$@" >output 2>seen &&
        "$ASSAY" report "$file" --wide --limit 100 >seen 2>&1
}

cc=$(command -v gcc || command -v clang) || { echo "no C compiler"; exit 77; }
for program in jit vdso_clock; do
    "$cc" -O2 -g -o $program "$TOP/tests/programs/$program.c" || exit 1
done
if ! profile first.assay ./jit 50000000; then
    sed 's/^/# /' seen
    echo "recording is not possible here: $(head -n 1 seen)"
    exit 77
fi
rm -f "$(cat output)"
profile jit.assay ./jit 300000000
seen_has "generated code has the name its map gives" '^ *(9[0-9]|100)[.0-9]*%.*JS:\*spin /srv/app.js:7'
rm -f "$(cat output)"

"$cc" -O2 -o jit_late "$TOP/tests/programs/jit_late.c" || exit 1
profile late.assay ./jit_late 300000000
seen_has "generated code has the name of a map that the program writes at its end" '^ *(9[0-9]|100)[.0-9]*%.*late_spin'
rm -f "$(cat output)"
if command -v java >/dev/null && command -v javac >/dev/null; then
    cat >Late.java <<'JAVA'
public class Late {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] a) {
        long sum = 0;
        for (int i = 0; i < 150; i++) sum += fib(30);
        System.out.println(sum != 0);
    }
}
JAVA
    javac Late.java 2>seen >&2 &&
        profile java.assay java -XX:+UnlockDiagnosticVMOptions -XX:+PreserveFramePointer -XX:+DumpPerfMapAtExit Late
    seen_has "compiled Java has the names that the JVM writes at its end" '^ *[5-9][0-9][.0-9]*%.*Late.fib'
else
    skip "compiled Java has the names that the JVM writes at its end" "no JDK"
fi

# Trampolines of CPython: no rules state how to leave them.
python=
for candidate in python3.12 python3.13 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[23].*/bin/python3; do
    if [ -z "$python" ] && "$candidate" -X perf -c 'import sys; exit(sys._xoptions != {"perf": True})' 2>/dev/null; then
        python=$candidate
    fi
done
if [ -n "$python" ] && [ "$(uname -m)" = x86_64 ]; then
    cat >deep.py <<'PYTHON'
def inner(n):
    return sum(i * i for i in range(n))
def outer(n):
    return inner(n) + inner(n)
for _ in range(300):
    outer(5000)
PYTHON
    profile python.assay "$python" -X perf deep.py
    "$ASSAY" export -f folded python.assay --force -o folded.txt 2>seen
    awk '{ all += $NF } /;_start;.*py::outer.*py::inner/ { below += $NF } END { print int(100 * below / all) "% below" }' folded.txt >seen
    seen_has "Python's own stacks lead through its trampolines" '^([6-9][0-9]|100)% below'
else
    skip "Python's own stacks lead through its trampolines" "no Python 3.12 or 3.13 with -X perf"
fi

"$cc" -O1 -o jitdump "$TOP/tests/programs/jitdump.c" || exit 1
profile jitdump.assay ./jitdump 300000000
seen_has "generated code has the name its jitdump gives, where it was moved to" '^ *(9[0-9]|100)[.0-9]*%.*dumped_spin'

"$cc" -O1 -o bpf_busy "$TOP/tests/programs/bpf_busy.c" 2>output || rm -f bpf_busy
if [ -x bpf_busy ] && ./bpf_busy && "$ASSAY" record -q -f -a -o bpf.assay -- ./bpf_busy 2>output >&2; then
    "$ASSAY" report bpf.assay --wide --limit 200 >seen 2>&1
    seen_has "a BPF program that is gone has its name" '^ *[0-9.]+%.*bpf_prog_[0-9a-f]+_assay_busy'
else
    skip "a BPF program that is gone has its name" "BPF programs cannot be loaded or whole CPUs not be observed here"
fi

profile vdso.assay ./vdso_clock
seen_has "the vdso's functions have names" '^ *[0-9.]+%.*clock_gettime'
seen_has "the program's function has its place" '^ *[0-9.]+%.*hot.*vdso_clock.c'

cp vdso_clock gone
profile gone.assay ./gone remove
seen_has "a program that removes itself is named" '^ *[0-9.]+%.*hot.*vdso_clock.c'

cp vdso_clock old
"$cc" -O0 -DOTHER -o new "$TOP/tests/programs/jit.c" || exit 1
profile replaced.assay ./old new
seen_has "a program that was replaced is named as it was" '^ *[0-9.]+%.*hot.*vdso_clock.c'

# Two functions of one name, private to their files, without debug information.
"$cc" -O1 -c -o same_a.o "$TOP/tests/programs/same_name.c" &&
    "$cc" -O1 -DOTHER -c -o same_b.o "$TOP/tests/programs/same_name.c" &&
    "$cc" -o same same_a.o same_b.o || exit 1
profile same.assay ./same
for where in $(nm same | awk '$3 == "work" { sub("^0*", "", $1); print $1 }'); do
    seen_has "a function whose name another has is told apart at $where" "^ *[0-9]+[.][0-9]+% .*work@0x$where"
done
"$ASSAY" report same.assay --sort dso,sym --wide >seen 2>&1
seen_has "a row can be a function of a module" '^ *[0-9]{2}[.0-9]*% .*  same work@0x'

# Kernel names where the kernel shows them, else a note that says why.
if [ "$(awk 'NR == 1 { print $1 }' /proc/kallsyms)" = 0000000000000000 ]; then
    skip "the kernel's functions have names" "kallsyms hides addresses here"
else
    "$ASSAY" record -q -f -o kernel.assay -- dd if=/dev/zero of=/dev/null bs=64k count=60000 \
        2>/dev/null >output
    "$ASSAY" report kernel.assay --wide --limit 100 >seen 2>&1
    if grep -q 'not allowed\|user only\|paranoid' seen; then
        skip "the kernel's functions have names" "the kernel may not be sampled here"
    else
        seen_has "the kernel's functions have names" '(read_zero|clear_user|rep_stos|iov_iter_zero|vfs_read|ksys_read|do_syscall)'
    fi
fi

# A stripped copy has the build-id of its program, and so its entry in the cache of symbols.
"$cc" -g -O2 -Wl,--build-id=sha1 -o whole "$TOP/tests/programs/two_parts.c" && strip -o stripped whole || exit 1
XDG_CACHE_HOME=$PWD/copies profile whole.assay ./whole 100
XDG_CACHE_HOME=$PWD/copies profile stripped.assay ./stripped 100 second
cp seen copy
seen_has "a stripped copy has the names of the program that was recorded before" '%  first_part .*two_parts.c:'
seen_has "and of what that one had not run" '%  second_part .*two_parts.c:'
check "and no note says that it has none" eval '! grep -q "stripped: " copy'
XDG_CACHE_HOME=$PWD/copies2 profile stripped.assay ./stripped 100 second
XDG_CACHE_HOME=$PWD/copies2 profile whole.assay ./whole 100
seen_has "a program has its names when its stripped copy was recorded before" '%  first_part .*two_parts.c:'
strip -g -o table whole
XDG_CACHE_HOME=$PWD/copies3 profile table.assay ./table 100
XDG_CACHE_HOME=$PWD/copies3 profile stripped.assay ./stripped 100 second
seen_has "names that only the cache has are told to be a part" 'named earlier keep their names|%  second_part'
XDG_CACHE_HOME=$PWD/copies3 profile table.assay ./table 100 second
seen_has "and the copy's missing ones are not kept" '%  second_part'
# Code that a program has written into a file in memory is generated code, not a replaced file.
if [ "$(uname -m)" = x86_64 ]; then
    cat >memfd.c <<'C'
#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    static const unsigned char code[] = {0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3}; /* counts down from 2^20 */
    int fd = memfd_create("code", 0);
    if (write(fd, code, sizeof(code)) != sizeof(code) || ftruncate(fd, 4096) != 0)
        return 1;
    void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return 1;
    while (clock() < CLOCKS_PER_SEC / 5)
        ((void (*)(void))at)();
    return 0;
}
C
    gcc -O1 -w -o memfd memfd.c || exit 1
    in_memory() {
        "$ASSAY" record -q -f -o memfd.assay -- ./memfd && "$ASSAY" report --notes memfd.assay >notes.txt &&
            ! grep -q replaced notes.txt && grep -q 'unknown' notes.txt || { cat notes.txt; return 1; }
    }
    check 'code in a file in memory is no replaced file' in_memory
fi
finish
