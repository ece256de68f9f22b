#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay heap of programs in trouble: the program ends as without it, and the recording says what it lacks.
# beside others: 5 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
gcc -g -O1 -fno-builtin -pthread -o truth "$TOP/tests/programs/heap_truth.c" 2>gcc.log || { cat gcc.log; exit 1; }
gcc -g -O0 -fno-builtin -pthread -Wno-all -o trouble "$TOP/tests/programs/heap_trouble.c" -ldl 2>gcc.log || { cat gcc.log; exit 1; }
gcc -g -O1 -fno-builtin -shared -fPIC -DPLUGIN -o plugin.so "$TOP/tests/programs/heap_trouble.c" 2>gcc.log || { cat gcc.log; exit 1; }

# same COMMAND…: its status and what it prints are as without assay.
same() {
    local status plain
    "$@" >plain.out 2>plain.err </dev/null
    plain=$?
    "$ASSAY" heap -q -f -o heap.assay -- "$@" >out 2>err </dev/null
    status=$?
    # glibc's messages have addresses in them.
    [ $status -eq $plain ] && cmp plain.out out && cmp <(sed 's/0x[0-9a-f]*//g' plain.err) <(sed 's/0x[0-9a-f]*//g' err) || { echo "status $status, not $plain"; cat err; return 1; }
    "$ASSAY" export -f json --force -o heap.json heap.assay
}
is() { # VALUE METRIC FUNCTION
    local got
    got=$("$TOP/tests/e2e/lib/heap_values.py" "$2" "$3" <heap.json)
    [ "$got" = "$1" ] || { echo "$2 of $3 is $got, not $1"; return 1; }
}
notes() { "$ASSAY" report --notes heap.assay | tr -s ' \n' ' ' | grep -q -- "$1"; }

# What happens, and the blocks of 100 bytes of `before` that are there by then: 20, of which 5 stay.
for how in double foreign corrupt overflow abort segv kill; do
    stay=500
    [ $how != corrupt ] || stay=400 # glibc finds it while it frees one
    ends() { same ./trouble $how && is 20 'blocks allocated' before && is $stay 'bytes at end' before; }
    check "the program's own crash, and the recording up to it: $how" ends
done
early() { same ./trouble life && is 3 'blocks allocated' in_constructor && is 2 'blocks allocated' in_destructor && is 1 'blocks allocated' at_exit && is 4 'blocks allocated' at_thread_end; }
check 'blocks of constructors, destructors, atexit and the end of threads' early
plugins() { same ./trouble plugins ./plugin.so && is 40 'blocks allocated' plugin_allocates && is 10 'blocks at end' plugin_allocates; }
check 'libraries that are loaded and unloaded twenty times' plugins
forks() { same ./trouble forks && is 200 'blocks allocated' in_child && is 0 'blocks at end' in_child; }
check 'forks while other threads are in malloc' forks
closes() { same ./trouble closes && is 20 'blocks allocated' before && is 7 'blocks allocated' after; }
check 'a program that closes every descriptor' closes
if [ "$(id -u)" -eq 0 ]; then
    roots() { same ./trouble chroot && is 7 'blocks allocated' after; }
    check 'a program that changes its root' roots
    drops() { same ./trouble setuid && is 7 'blocks allocated' after; }
    check 'a program that gives up its rights' drops
fi
sandbox() { same ./trouble seccomp && is 20 'blocks allocated' before && is 7 'blocks allocated' after; }
check 'a program in a sandbox of seccomp' sandbox
many() { same ./trouble threads && is 1000 'blocks allocated' in_thread && is 1000 'blocks freed by another thread' in_thread; }
check '1,000 threads' many
exits() { same ./trouble exec ./trouble && is 40 'blocks allocated' before; }
check 'a thread that runs another program while others allocate' exits

limited() { # KIBIBYTES NOTE
    same timeout 20 sh -c "ulimit -v $1; exec ./truth" && is 5000 'blocks allocated' churns && notes "$2"
}
check 'little address space: a smaller map, which is said' limited 700000 'little address space'
at_peak() { is 10000000 'bytes at peak' peaks && is 700 'bytes at end' leaks && ! notes 'count as freed at once'; }
check '… and the account is exact' at_peak
check 'less address space' limited 300000 'little address space'
too_little() { # KIBIBYTES
    same timeout 20 sh -c "ulimit -v $1; exec ./truth" && notes 'less than 256 MiB of addresses'
}
check 'too little: the program runs as it does alone, and the note says that it is left out' too_little 120000
check '… with half of that, too' too_little 60000
for_itself() {
    (ulimit -v 500000 && exec "$ASSAY" heap -f -o no.assay -- touch started) 2>err
    [ $? -eq 1 ] && grep -q 'may have only 488 MiB of addresses' err && [ ! -e started ] || { cat err; return 1; }
}
check 'a limit on assay itself is refused before the program starts' for_itself
refused() { # WHAT PROGRAM
    "$ASSAY" heap -f -o no.assay -- "$2" >out 2>err
    [ $? -eq 1 ] && grep -q -- "$1" err || { cat out err; return 1; }
}
gcc -fsanitize=address -o asan "$TOP/tests/programs/heap_truth.c" -pthread 2>gcc.log &&
    check 'address sanitizer is refused with the reason' refused 'address sanitizer' ./asan
gcc -fsanitize=thread -o tsan "$TOP/tests/programs/heap_truth.c" -pthread 2>gcc.log &&
    check 'thread sanitizer, too' refused 'thread sanitizer' ./tsan
if command -v valgrind >/dev/null; then
    check 'valgrind, too' refused 'without valgrind' "$(command -v valgrind)"
fi
setuid_program() {
    cp truth setuid && chmod 4755 setuid
    "$ASSAY" heap -f -o no.assay -- ./setuid >out 2>err
    [ $? -eq 1 ] && grep -q 'set-uid' err || { cat err; return 1; }
}
[ "$(id -u)" -ne 0 ] && check 'a set-uid program is refused with the reason' setuid_program
# A constructor of a library of the program runs before the agent's.
cat >early.c <<'C'
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
__attribute__((constructor)) static void begin(void)
{
    char *words[] = {"sh", "-c", "echo executed", NULL};
    pid_t child;
    int status = -1, rc = posix_spawnp(&child, "true", NULL, NULL, words, environ);
    if (rc == 0)
        waitpid(child, &status, 0);
    printf("%d %d\n", rc, status);
    fflush(stdout);
    if ((child = fork()) == 0) {
        execv("/bin/sh", words);
        _exit(1);
    }
    waitpid(child, &status, 0);
}
int answer(void) { return 0; }
C
echo 'int answer(void); int main(void) { return answer(); }' >starts_late.c
gcc -shared -fPIC -o libearly.so early.c && gcc -o starts_late starts_late.c ./libearly.so || exit 1
check 'a constructor that starts programs before the agent is there is not disturbed' \
    test "$("$ASSAY" heap -q -f -o early.assay -- ./starts_late 2>&1)" = $'0 0\nexecuted'
finish
