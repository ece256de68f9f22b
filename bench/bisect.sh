#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The search for one planted slow commit among 64, by `assay bench --bisect` and by `git bisect run` with
# hyperfine: how often each names the right commit, with how many builds, in what time; a row for
# bench/results.md. TRIES=N (4; 40 by make nightly), PERCENT=N (3), HYPERFINE=path, else the one in PATH.
# Each try has a history of its own. The program computes for about 18 ms; only its number of steps
# changes.
set -u
TOP=$(cd "$(dirname "$0")/.." && pwd)
ASSAY=${ASSAY:-$TOP/build/assay}
TRIES=${TRIES:-4} PERCENT=${PERCENT:-3} COMMITS=64 STEPS=${STEPS:-9000000}
hyperfine=${HYPERFINE:-$(command -v hyperfine || true)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache HOME=$folder GIT_CONFIG_NOSYSTEM=1 LC_ALL=C
git config --global user.name a
git config --global user.email a@b
RANDOM=${SEED:-1}

# history SLOW: 64 commits behind "good", the one of number SLOW makes the program slower.
history() {
    rm -rf "$folder/repo" "$folder/cache"
    git init -q "$folder/repo"
    cd "$folder/repo" || exit 1
    for ((i = 0; i <= COMMITS; i++)); do
        local steps=$STEPS
        [ "$i" -ge "$1" ] && steps=$((STEPS * (100 + PERCENT) / 100))
        cat >prog.c <<C
/* commit $i */
int main(void)
{
    unsigned long x = 1;
    for (long i = 0; i < ${steps}L; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x == 0;
}
C
        git add prog.c && git commit -q -m "commit $i" && [ "$i" = 0 ] && git tag good
    done
}

cat >"$folder/step" <<S
#!/bin/bash
echo >>"$folder/builds"
gcc -O1 prog.c -o prog || exit 125
"$hyperfine" -N --style none --export-json "$folder/step.json" ./prog >"$folder/step.log" 2>&1 || exit 125
python3 -c '
import json, sys
mean = json.load(open(sys.argv[1]))["results"][0]["mean"]
sys.exit(mean > float(open(sys.argv[2]).read()))' "$folder/step.json" "$folder/limit"
S
chmod +x "$folder/step"

by_hyperfine() {
    : >"$folder/builds"
    git checkout -q good && gcc -O1 prog.c -o prog && echo >>"$folder/builds"
    "$hyperfine" -N --style none --export-json "$folder/good.json" ./prog >"$folder/good.log" 2>&1 || return 1
    python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["results"][0]["mean"] * (1 + float(sys.argv[2]) / 200))' \
        "$folder/good.json" "$PERCENT" >"$folder/limit"
    git bisect start main good >"$folder/log" 2>&1
    git bisect run "$folder/step" >"$folder/found" 2>&1
    git bisect reset -q >"$folder/log" 2>&1
    grep -q "is the first bad commit" "$folder/found" || return 1
    found=$(sed -n 's/ is the first bad commit//p' "$folder/found")
    found=$(git log -1 --format=%s "$found")
}

by_assay() {
    "$ASSAY" bench -N --bisect good..main --fail-if-slower 1% --build 'gcc -O1 prog.c -o prog' -- ./prog \
        >"$folder/found" 2>"$folder/log"
    grep "assay: building" "$folder/log" >"$folder/builds"
    head -n 1 "$folder/found" >"$folder/first"
    grep -q "at least" "$folder/found" || return 1
    found=$(cut -d ' ' -f 2- "$folder/first")
}

git config --global init.defaultBranch main
declare -A right builds most seconds none
tools=(assay)
[ -n "$hyperfine" ] && tools+=(hyperfine)
for tool in "${tools[@]}"; do right[$tool]=0 builds[$tool]=0 most[$tool]=0 seconds[$tool]=0 none[$tool]=0; done
for ((try = 1; try <= TRIES; try++)); do
    slow=$((1 + RANDOM % COMMITS))
    history $slow
    for tool in "${tools[@]}"; do
        begin=$SECONDS found=
        "by_$tool" || none[$tool]=$((none[$tool] + 1))
        [ "$found" = "commit $slow" ] && right[$tool]=$((right[$tool] + 1))
        n=$(wc -l <"$folder/builds")
        builds[$tool]=$((builds[$tool] + n))
        [ "$n" -gt "${most[$tool]}" ] && most[$tool]=$n
        seconds[$tool]=$((seconds[$tool] + SECONDS - begin))
        echo "try $try: commit $slow, $tool says '${found:-nothing}', $n builds, $((SECONDS - begin)) s, load $(cut -d ' ' -f 1 /proc/loadavg)" >&2
    done
done
told() { echo "${right[$1]} of $TRIES right (${none[$1]} without an answer), at most ${most[$1]} builds, $((seconds[$1] / TRIES)) s each"; }
peer="no hyperfine here"
[ -n "$hyperfine" ] && peer="git bisect run with $("$hyperfine" --version) -N: $(told hyperfine)"
echo "| commit of 64 that makes an 18 ms program $PERCENT % slower, found by --bisect | $peer | right in >= 95 %, <= 9 builds | $(told assay) | \`TRIES=$TRIES bench/bisect.sh\` |"
