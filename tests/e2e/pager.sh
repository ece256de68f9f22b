#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Text that is taller than the terminal goes through the user's pager, and nothing else does. Truth: a recording of
# 30 functions makes a table of more than 24 lines, and of fewer than 200.
# beside others: 3 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
for i in $(seq 30); do echo "main;function_$i $i"; done >stacks.folded
mkdir counted && printf 'int main(void)\n{\n' >counted/many.c
for i in $(seq 60); do echo "    volatile int v$i = $i;"; done >>counted/many.c
echo '}' >>counted/many.c
(cd counted && gcc --coverage -O0 -g -o many many.c && ./many) || exit 1
"$ASSAY" import -q stacks.folded -o tall.assay 2>/dev/null || "$ASSAY" import stacks.folded -o tall.assay || exit 1

# on_terminal ROWS COMMAND…: what a terminal of that height shows. Says on its last line whether the terminal's
# settings are as before, and the status.
cat >on_terminal.py <<'E2'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', int(sys.argv[1]), 80, 0, 0))
    before = termios.tcgetattr(1)
    child = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
    same = termios.tcgetattr(1) == before
    termios.tcsetattr(1, termios.TCSANOW, before)
    print(f"settings {'kept' if same else 'changed'}, status {child}", flush=True)
    os._exit(0)
shown = b''
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown.replace(b'\r\n', b'\n'))
E2
on_terminal() { env -u LESS TERM=xterm LC_ALL=C.UTF-8 python3 on_terminal.py "$@" >shown.txt; tail -n 1 shown.txt; }
PAGER='cat >paged.txt; echo PAGED' && export PAGER
report=("$ASSAY" report tall.assay --limit 0 --color never)
fine='settings kept, status 0'
ends_well() { [ "$1" = "$fine" ] || { cat shown.txt; return 1; }; }

paged() { # ROWS COMMAND…
    rm -f paged.txt
    ends_well "$(on_terminal "$@")" && [ -s paged.txt ] && grep -q PAGED shown.txt || { cat shown.txt; return 1; }
}
not_paged() {
    rm -f paged.txt
    ends_well "$(on_terminal "$@")" && [ ! -e paged.txt ] && [ "$(wc -l <shown.txt)" -gt "$least" ] || { cat shown.txt; return 1; }
}
least=24
check 'a tall report is paged' paged 24 "${report[@]}"
same_text() { paged 24 "${report[@]}" && LC_ALL=C.UTF-8 "${report[@]}" | cmp - paged.txt; }
check 'the pager gets the same text as a pipe' same_text
check 'a report that fits is not paged' not_paged 200 "${report[@]}"
check 'nor with --no-pager' not_paged 24 "${report[@]}" --no-pager
empty() { local PAGER=; not_paged 24 "${report[@]}"; }
check 'nor with an empty PAGER' empty
in_pipe() { "${report[@]}" | grep -q function_1 && [ "$("${report[@]}" | grep -c PAGED)" = 0 ]; }
check 'nor in a pipe' in_pipe
cat >busy.c <<'E2'
int main(void)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < 200000000; i++)
        sum += i;
}
E2
gcc -O1 -g -o busy busy.c || exit 1
if "$ASSAY" record -q -o busy.assay -- ./busy 2>/dev/null; then
    check 'annotate is paged' paged 5 "$ASSAY" annotate busy.assay main --color never
else
    skip 'annotate is paged' 'nothing can be recorded here'
fi
check 'list is paged' paged 5 "$ASSAY" list
check 'the functions of a program are paged' paged 5 "$ASSAY" list "$ASSAY"
check 'cover show is paged' paged 24 "$ASSAY" cover show counted
least=60
check 'cover show is not with --no-pager' not_paged 24 "$ASSAY" cover show counted --no-pager
least=24

early() {
    PAGER='head -n 1' on_terminal 5 "$ASSAY" list "$ASSAY" >last.txt
    ends_well "$(cat last.txt)" && [ "$(wc -l <shown.txt)" = 2 ] || { cat shown.txt; return 1; }
}
check 'a pager that ends early is not an error' early
broken() { ends_well "$(PAGER='stty -echo -icanon <&2; cat >/dev/null; kill -9 $$' on_terminal 24 "${report[@]}")"; }
check 'the settings of the terminal come back when the pager is killed' broken
missing() { ends_well "$(PAGER=no-such-pager-here on_terminal 24 "${report[@]}")" && grep -q function_17 shown.txt; }
check 'without the pager the text is written directly' missing
default() {
    # shellcheck disable=SC2016 # expanded by the script
    mkdir -p bin && printf '#!/bin/sh\ncat >/dev/null; echo "less with $LESS"\n' >bin/less && chmod +x bin/less
    ends_well "$(unset PAGER; PATH="$PWD/bin:$PATH" on_terminal 24 "${report[@]}")" &&
        grep -q '^less with FRX' shown.txt
}
check 'less is the pager where none is named' default
finish
