#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each command of the table of docs/ci.md, on a program with one change in git.
# beside others: 3 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v git >/dev/null || skip_all 'no git'
mkdir bin project && ln -s "$ASSAY" bin/assay && cd project || exit 1
PATH=$PWD/../bin:$PATH
cat >prog.c <<'C'
int twice(int n)
{
    return n * 2;
}
int main(void)
{
    volatile int s = 0;
    for (int i = 0; i < 20000000; i++)
        s += i;
    return twice(2) != 4;
}
C
printf '#!/bin/sh\nexec ./prog\n' >test.sh && chmod +x test.sh
git() { command git -c user.name=a -c user.email=a@b -c commit.gpgsign=false "$@"; }
{
    git init -q && git add prog.c test.sh && git commit -qm one && gcc -O1 -o old prog.c
    sed -i 's/return n \* 2;/return n + n;/' prog.c && git commit -qam two && gcc -O1 -o new prog.c
    gcc --coverage -O0 -o prog prog.c
} >../built 2>&1 || { cat ../built; exit 1; }
# shellcheck disable=SC2016 # the signs around a command
sed -n 's/^| [^`]* | `\(.*\)` |$/\1/p' "$TOP/docs/ci.md" >../table
commands=0
while IFS= read -r line; do
    commands=$((commands + 1))
    case $line in *flame*)
        if ! "$TOP/tests/e2e/lib/perf_allowed.py" >/dev/null; then
            skip "$line" 'perf events are not allowed'
            continue
        fi ;;
    esac
    bash -c "$line" >../out 2>&1 </dev/null
    verdict "$line" $?
done <../table
[ $commands = 9 ] && [ -s cobertura.xml ] && [ -s lcov.info ] && [ -s coverage.html ] && [ -s bench.xml ]
verdict 'the files are there' $?
printf 'SF:prog.c\nDA:1,0\nend_of_record\n' >missed.info
check 'a missed threshold is status 3' status_is 3 assay cover report --fail-under 80 missed.info
finish
