#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay cover diff: the twelve classes, of a change in which every one occurs, from
# git and from a file; the gate; renamed and odd names.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
mkdir repo && cd repo || exit 1
# A tracefile out of a source whose lines say what they are: the number after '@'.
trace() { # trace NAME SOURCE...
    local name=$1 source
    shift
    for source in "$@"; do
        echo "SF:$PWD/$source"
        awk 'match($0, /@[0-9]+/) { print "DA:" NR "," substr($0, RSTART + 1, RLENGTH - 1) }' "../$name/$source"
        echo end_of_record
    done
}
mkdir ../before ../after
printf '%s\n' 'keep 1' 'cbc' 'lbc' 'gbc' 'ubc' 'gic' 'uic' 'eub' 'ecb' 'dub' 'dcb' 'end' >a.c
printf '%s\n' 'keep' 'cbc @1' 'lbc @4' 'gbc @0' 'ubc @0' 'gic' 'uic' 'eub @0' 'ecb @2' 'dub @0' 'dcb @3' 'end @1' >../before/a.c
printf '%s\n' 'moved' 'tail' >'old name.c'
printf '%s\n' 'moved @1' 'tail @1' >'../before/old name.c'
printf '%s\n' 'gone @1' >../before/gone.c
printf '%s\n' 'gone' >gone.c
trace before a.c 'old name.c' gone.c >../before.info
printf '%s\n' 'new' 'gnc' 'unc' 'keep 1' 'cbc' 'lbc' 'gbc' 'ubc' 'gic' 'uic' 'eub' 'ecb' 'end' >../new_a.c
printf '%s\n' 'new' 'gnc @2' 'unc @0' 'keep' 'cbc @1' 'lbc @0' 'gbc @7' 'ubc @0' 'gic @1' 'uic @0' 'eub' 'ecb' 'end @1' >../after/a.c
cat >../expected <<'TXT'
a.c: UNC 3
a.c: LBC 6
a.c: UIC 10
a.c: UBC 8
a.c: GBC 7
a.c: GIC 9
a.c: GNC 2
a.c: CBC 5, 13
a.c: EUB 8
a.c: ECB 9
a.c: DUB 10
a.c: DCB 11
TXT
diff -u a.c ../new_a.c | sed '1s,a.c,a/a.c,; 2s,\.\./new_a.c,b/a.c,' >../change.diff
diff -U 0 a.c ../new_a.c | sed '1s,a.c,a/a.c,; 2s,\.\./new_a.c,b/a.c,' >../change0.diff
trace after a.c >../after.info
for form in change change0; do
    "$ASSAY" cover diff --diff-file ../$form.diff --baseline ../before.info --all ../after.info >out 2>err
    grep '^a.c\|/a.c: ' out | sed "s,^$PWD/,," >got
    diff ../expected got >>err
    verdict "every class, from $form.diff" $?
done
verdict "a file that is gone from the coverage" "$(grep -q 'gone.c: ECB 1' out; echo $?)"
"$ASSAY" cover diff --diff-file ../change.diff ../after.info >out 2>err
verdict "without a baseline only new lines" "$(grep -q '1 UNC' out && grep -q '1 GNC' out && ! grep -q CBC out && grep -q '50.00% of 2 new' out; echo $?)"
"$ASSAY" cover diff --diff-file ../change.diff --fail-under 60 ../after.info >out 2>err
verdict "--fail-under" $(($? != 3))
"$ASSAY" cover diff --diff-file ../change.diff --fail-under 50 ../after.info >out 2>err
verdict "--fail-under, met" $?
"$ASSAY" cover diff --diff-file ../change.diff --baseline ../before.info --fail-on LBC ../after.info >out 2>err
verdict "--fail-on" $(($? != 3))
"$ASSAY" cover diff --diff-file ../change.diff --fail-on NONE ../after.info >out 2>err
verdict "--fail-on with a class that is none" $(($? != 2))
"$ASSAY" cover diff --diff-file ../change.diff --baseline ../before.info --markdown ../after.info >out 2>err
verdict "Markdown" "$(grep -q '^| UNC | 1 | uncovered new code |' out && grep -q 'UNC 3' out; echo $?)"
"$ASSAY" cover diff --diff-file ../change.diff --baseline ../before.info --json ../after.info >out 2>err
verdict "JSON" "$(python3 -c 'import json,sys; d = json.load(open("out")); sys.exit(not (d["classes"]["LBC"] == 1 and d["files"][0]["lines"]["UNC"] == [3]))'; echo $?)"
printf 'not a diff\n@@ -1 +1 @@\n' >../bad.diff
"$ASSAY" cover diff --diff-file ../bad.diff ../after.info >out 2>err
verdict "a broken diff" "$([ $? -eq 1 ] && grep -q 'hunk 1' err; echo $?)"

if command -v git >/dev/null; then
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_GLOBAL=/dev/null
    git init -q -b main . && git add . && git commit -q -m one
    cp ../new_a.c a.c && git mv 'old name.c' 'nèw "name".c' && echo more >>'nèw "name".c' && git rm -q gone.c
    printf '%s\n' 'moved @1' 'tail @0' 'more @0' >'../after/nèw "name".c'
    git add . && git commit -q -m two
    trace after a.c 'nèw "name".c' >../after.info
    "$ASSAY" cover diff HEAD~1..HEAD --baseline ../before.info --all ../after.info >out 2>err
    grep '^a.c: ' out >got
    diff ../expected got >>err
    verdict "from git" $?
    verdict "a renamed file keeps its baseline" "$(grep -q 'name.*: LBC 2' out && grep -q 'name.*: UNC 3' out && grep -q 'name.*: CBC 1' out; echo $?)"
    verdict "a deleted file" "$(grep -q 'gone.c: DCB 1' out; echo $?)"
    "$ASSAY" cover diff no-such-revision ../after.info >out 2>err
    verdict "a revision that is not there" $(($? == 0))
fi
# Marks of the source as it is now say nothing of the lines before the change: the mark on
# line 3 left line 3 of the baseline out as well, which is line 4 now.
printf 'one\ntwo\nthree\n' >marked.c
printf 'SF:%s\nDA:1,1\nDA:2,1\nDA:3,1\nend_of_record\n' "$PWD/marked.c" >../marked_before.info
printf 'new\none\ntwo // LCOV_EXCL_LINE\nthree\n' >marked_new.c
diff -u marked.c marked_new.c | sed '1s,marked.c,a/marked.c,; 2s,marked_new.c,b/marked.c,' >../marked.diff
mv marked_new.c marked.c
printf 'SF:%s\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,1\nend_of_record\n' "$PWD/marked.c" >../marked_after.info
"$ASSAY" cover diff --diff-file ../marked.diff --baseline ../marked_before.info --all ../marked_after.info >out 2>err
verdict "marks of changed sources are not the baseline's" "$(grep -q 'marked.c: CBC 2-4$' out && grep -q 'marked.c: DCB 2$' out; echo $?)"
mkdir outside && (cd outside && GIT_CEILING_DIRECTORIES=$PWD/.. "$ASSAY" cover diff HEAD .. >../out 2>../err)
verdict "outside of a repository: how to do without" "$([ $? -ne 0 ] && grep -q -e '--diff-file' err && ! grep -q 'usage: git' err; echo $?)"

finish
