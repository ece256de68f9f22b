#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay bench --revisions, --dirty and --bisect on small repositories. What decides is a count of page
# faults, or times that differ severalfold.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v git >/dev/null || skip_all "there is no git"
SAID=$PWD/said
export XDG_CACHE_HOME=$PWD/cache GIT_CONFIG_NOSYSTEM=1 HOME=$PWD
git config --global user.name a && git config --global user.email a@b
git config --global init.defaultBranch main
says() { # TEXT COMMAND…
    local text=$1
    shift
    "$@" >"$SAID" 2>&1
    grep -qF -- "$text" "$SAID" || { cat "$SAID"; false; }
}
# repository NAME COMMITS SLOW: `pages` is a program that touches 200 pages, 240 from commit SLOW on
repository() {
    git init -q "$1" && cd "$1" || exit 1
    for ((i = 0; i <= $2; i++)); do
        printf '#!/bin/sh\nexec head -c %d /dev/zero | tail -c 4000000 >/dev/null\n' $((i < $3 ? 2000000 : 2600000)) >pages
        chmod +x pages
        echo "$i" >version
        git add -A && git commit -q -m "change $i" && git tag "c$i" || exit 1
    done
}

# ---- Revisions ------------------------------------------------------------------
repository plain 3 2
mkdir sub && echo below >sub/here && git add -A && git commit -qm "add a folder" && git tag c4
build="echo built >>$PWD/../builds; cp version made"
cat >print <<'S'
#!/bin/sh
cat made >>"$OUT"
S
chmod +x print && git add -A && git commit -qm "add print" && git tag c5
echo 6 >version && git commit -qam "six" && git tag c6
export OUT=$PWD/../out
check "two revisions are built and run" assay bench -N -r 4 --revisions c5 c6 --build "$build" --export-json r.json -- ./print
check "each from its own sources" eval '[ "$(sort "$OUT" | uniq -c | tr -s " \n" " ")" = " 5 3 5 6 " ] || [ "$(sort -u "$OUT" | tr "\n" " ")" = "3 6 " ]'
check "the commits stand in the names" python3 -c '
import json, subprocess
names = [r["command"] for r in json.load(open("r.json"))["results"]]
want = ["%s (%s)" % (n, subprocess.check_output(["git", "rev-parse", n], text=True)[:10]) for n in ("c5", "c6")]
assert names == want, names'
check "in turns" python3 -c '
import json
a, b = [r["assay"]["runs"]["start_ns"] for r in json.load(open("r.json"))["results"]]
assert min(b) < max(a) and min(a) < max(b)'
check "once" test "$(wc -l <../builds)" = 2
check "and not again" eval 'assay bench -N -r 2 --revisions c5 c6 --build "$build" -- ./print >/dev/null && [ "$(wc -l <../builds)" = 2 ]'
check "another command builds anew" eval 'assay bench -N -r 2 --revisions c5 c6 --build "$build; true" -- ./print >/dev/null && [ "$(wc -l <../builds)" = 4 ]'
check "two at once build once" eval 'for i in 1 2; do assay bench -N -r 2 --revisions c4 c3 --build "$build" -- true >/dev/null & done; wait; [ "$(wc -l <../builds)" = 6 ]'
check "three revisions, a branch among them" says 'Compared with c4' assay bench -r 2 --revisions c4 c5 main --build "$build" -- 'cat made'
check "the user's tree is as it was" eval '[ -z "$(git status --short | grep -vE "r.json|check.log")" ] && [ "$(git branch --show-current)" = main ]'
check "a recording knows each revision" eval 'assay bench -N -r 2 --revisions c5 c6 --build "$build" --recording v.assay -- ./print >/dev/null &&
    assay export --format json v.assay | grep -q "$(git rev-parse c5)" && assay export --format json v.assay | grep -q "$(git rev-parse c6)"'
check "the work tree is compared with HEAD" eval 'rm -f "$OUT"; echo dirty >version; assay bench -N -r 3 --dirty --build "$build" -- ./print | grep -q "work tree" &&
    [ "$(sort -u "$OUT" | tr "\n" " ")" = "6 dirty " ]; s=$?; git checkout -q version; rm -f made; [ $s = 0 ]'
check "from a folder below" eval '(cd sub && assay bench -N -r 2 --revisions c4 c6 -- "cat here" >/dev/null)'
check "a hook of the repository does not run" eval 'printf "#!/bin/sh\ntouch %s/hooked\n" "$PWD" >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
    assay bench -N -r 2 --revisions c1 c6 --build "$build" -- true >/dev/null && [ ! -e hooked ]'
check "a revision that is not there" says "there is no revision 'nothing'" assay bench -r 2 --revisions c1 nothing -- true
check "one is too few" status_is 2 assay bench -r 2 --revisions c1 -- true
check "a name that is an option of git is none" eval '! assay bench -r 2 --dirty --revisions "c1" -- "false" >/dev/null 2>&1'
check "a failing build shows its end" eval '! assay bench -r 2 --revisions c1 c2 --build "echo some reason; exit 3" -- true 2>b && grep -q "status 3: some reason" b && grep -q "hint.*log" b'
check "and is tried again" eval '! assay bench -r 2 --revisions c1 c2 --build "echo some reason; exit 3" -- true 2>b'
check "two commands are refused" status_is 2 assay bench -r 2 --revisions c1 c2 -- true false
check "--build alone is refused" status_is 2 assay bench -r 2 --build true true
cd .. || exit 1
check "outside of a repository" eval '(mkdir -p /tmp/none.$$ && cd /tmp/none.$$ && says "in no git work tree" assay bench -r 2 --revisions a b -- true); s=$?; rm -rf /tmp/none.$$; [ $s = 0 ]'
check "a cache that was removed is made again" eval 'rm -rf cache && (cd plain && assay bench -N -r 2 --revisions c5 c6 --build "$build" -- ./print >/dev/null)'

# ---- Bisect ---------------------------------------------------------------------
quick=(--judge page-faults:u -N)
repository line 30 17
cat >count.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    FILE *f = fopen("pages", "r");
    char text[256] = {0};
    size_t n = fread(text, 1, sizeof(text) - 1, f), bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] >= '0' && text[i] <= '9')
            bytes = strtoul(text + i, NULL, 10), i = n;
    char *p = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    return p[0] != 1;
}
C
gcc -O1 count.c -o ../count || exit 1
build="echo built >>$PWD/../steps; [ \"\$(cat version)\" != 15 ]"
: >../steps
check "the commit is found" says "change 17" assay bench "${quick[@]}" --bisect c0..c30 --build "$build" --fail-if-slower 3% -- "$PWD/../count"
check "with the probability of being right" grep -Eq "first slow commit, at least (9[5-9]|100)" "$SAID"
check "its size and the one before it" eval 'grep -q "against the good end: +2[0-9]" "$SAID" && grep -q "the commit before it" "$SAID"'
check "in few builds" eval '[ "$(wc -l <../steps)" -le 9 ]'
check "a commit that does not build is left out" says "one of" assay bench "${quick[@]}" --bisect c13..c17 \
    --build "[ \"\$(cat version)\" -lt 14 ] || [ \"\$(cat version)\" = 17 ]" -- "$PWD/../count"
check "one that is not slower is an error" status_is 1 assay bench "${quick[@]}" --bisect c0..c10 -- "$PWD/../count"
check "less than asked for is told too" says "is not slower than 'c0' by so much" assay bench "${quick[@]}" --fail-if-slower 60% --bisect c0..c30 -- "$PWD/../count"
check "memory is judged" says "change 17" assay bench -N --judge memory --bisect c0..c30 -- "$PWD/../count"
check "times are judged" says "change 17" assay bench --bisect c0..c30 -- 'case "$(cat version)" in 1[7-9]|2*|30) sleep 0.03 ;; *) sleep 0.005 ;; esac'
cat >slow <<S
#!/bin/sh
sleep 0.02
echo run >>$PWD/../runs
exec $PWD/../count
S
chmod +x slow
: >../runs
(
    assay bench "${quick[@]}" --bisect c0..c30 -- "$PWD/slow" >first 2>&1 &
    pid=$!
    for _ in {1..400}; do
        grep -q "change 30: slow" first && break
        sleep 0.05
    done
    sleep 0.2
    kill -INT $pid
    wait $pid
    echo $? >status
)
check "an interrupted search" eval '[ "$(cat status)" = 130 ] && grep -q "goes on from here" first'
check "goes on where it was" says "going on after" assay bench "${quick[@]}" --bisect c0..c30 -- "$PWD/slow"
check "and finds the same" eval 'grep -q "change 17" "$SAID" && ! grep -q "change 30: slow" "$SAID"'
check "nonsense is a usage error" status_is 2 assay bench --bisect c0 -- true
check "no commit between" status_is 2 assay bench --bisect c3..c3 -- true
check "exports are refused" status_is 2 assay bench --bisect c0..c3 --export-json x.json -- true
check "an event that cannot be counted is told" eval '! assay bench -N --judge LLC-prefetch-misses --bisect c0..c30 -- true 2>e && [ -s e ]'

# A history with merges: the slow change came from a branch.
git checkout -q -b side c5 && sed -i "s/2000000/2600000/" pages && git commit -qam "slow on a side" && echo x >other && git add -A && git commit -qm "more on the side"
git checkout -q -b joined c8 && git merge -q -s ours -m "merge" side && git checkout -q side -- pages && git commit -q --amend --no-edit && echo y >last && git add last && git commit -qm "after the merge"
check "through merges" says "slow on a side" assay bench "${quick[@]}" --bisect c5..joined -- "$PWD/../count"
finish
