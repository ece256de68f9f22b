#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cache: what record, report and bench --revisions keep is shown and removed, and nothing else is.
# beside others: 2 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_NOSYSTEM=1
shows() { assay cache >out && grep -Eq "$1" out || { cat out; return 1; }; }
files_of() { assay cache --json | python3 -c 'import json, sys
print(*(p["files"] for p in json.load(sys.stdin)["parts"]))'; }
check 'a cache that is not there has nothing' shows '^symbols +0 bytes in 0 files'
check 'and a look does not make it' eval '[ ! -e cache ]'
check 'clearing it is not an error' assay cache --clear
check 'no folder for a cache is an error' eval '! env -u XDG_CACHE_HOME -u HOME assay cache 2>err && grep -q "set XDG_CACHE_HOME or HOME" err'

cat >work.c <<'C'
#include <time.h>
static volatile unsigned sink;
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 10)
        for (unsigned i = 0; i < 1000000; i++)
            sink += i;
    return 0;
}
C
cc -g -O1 -o work work.c && assay record -q --engine timer -o work.assay -- ./work 2>err && assay report work.assay >out 2>&1
verdict 'a program is recorded' $?
has_symbols() { [ "$(files_of | cut -d ' ' -f 1)" -gt 0 ]; }
check 'its symbols are kept' has_symbols

git init -q repo && cd repo && git config user.name a && git config user.email a@b &&
    printf '#!/bin/sh\nexit 0\n' >job && chmod +x job && git add job && git commit -qm one && git commit -q --allow-empty -m two &&
    assay bench -N -r 2 --revisions HEAD~1 HEAD --build 'echo built >built' -- ./job >out 2>&1 || { cat out; exit 1; }
cd ..
has_revisions() { [ "$(files_of | cut -d ' ' -f 2)" -ge 8 ] || { assay cache; return 1; }; }
check 'builds of revisions are kept' has_revisions
echo mine >cache/assay/mine.txt
ln -s "$PWD/repo" cache/assay/revisions/link
locked() {
    exec 8<"$(ls cache/assay/revisions/repo-*/*.lock | head -n 1)" && flock 8
    ! assay cache --clear=revisions 2>err && grep -q 'being built now' err && has_revisions
    local result=$?
    exec 8<&-
    return $result
}
check 'while one is being built they stay' locked
check 'symbols alone are removed' eval 'assay cache --clear=symbols 2>err && [ "$(files_of | cut -d " " -f 1)" = 0 ] && has_revisions'
check 'all is removed' eval 'assay cache --clear 2>err && grep -q "removed revisions" err && [ "$(files_of)" = "0 0" ]'
check 'but no file that is not of the cache' eval '[ -e cache/assay/mine.txt ]'
check 'and nothing behind a link' eval '[ -e repo/job ]'
check 'revisions are built again' eval 'cd repo && assay bench -N -r 2 --revisions HEAD~1 HEAD --build "echo built >built" -- ./job >out 2>&1 && has_revisions'
cd "$SCRATCH" || exit 1
check 'an operand is refused with the right spelling' eval '! assay cache symbols 2>err && grep -q -- "--clear=symbols" err'
if [ "$(id -u)" = 0 ]; then
    mkdir -p theirs/assay && chown -R 65534:65534 theirs
    check "another user's folder is refused" eval '! XDG_CACHE_HOME=$PWD/theirs assay cache 2>err && [ -s err ]'
else
    skip "another user's folder is refused" 'not root'
fi
finish
