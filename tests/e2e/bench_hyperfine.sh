#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hyperfine's documented command lines (README and manual of 1.20; tests of 1.21), unchanged but
# for shorter times and fewer runs, under `alias hyperfine='assay bench'`; and the
# order its own tests ask for.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

hyperfine() { "$ASSAY" bench "$@"; }
fails_with() { # STATUS TEXT COMMAND…
    local want=$1 text=$2 got
    shift 2
    "$@" >failed 2>&1
    got=$?
    [ "$got" = "$want" ] && grep -qF -- "$text" failed || { echo "status $got"; cat failed; return 1; }
}
shows() { # TEXT COMMAND…
    local text=$1
    shift
    "$@" >shown 2>&1 && grep -qF -- "$text" shown || { cat shown; return 1; }
}
quick=(--runs 2)
echo 'NEEDLE find me' >file
printf '%s\n' 'int main(void) { return 0; }' >main.c
printf 'num_threads = 1\nall:\n\t@:\nclean:\n\t@:\n' >Makefile

# ---- README -------------------------------------------------------------------
check 'a command' hyperfine "${quick[@]}" 'sleep 0.003'
check 'exactly so many runs' shows '5 runs' hyperfine --runs 5 'sleep 0.003'
check 'two commands' shows 'Compared with' hyperfine "${quick[@]}" 'od file' 'wc file'
check 'warm-up' hyperfine "${quick[@]}" --warmup 3 'grep -R NEEDLE *'
check 'preparation' hyperfine "${quick[@]}" --prepare 'sync; echo 3 | tee drop_caches' 'grep -R NEEDLE *'
check 'a scan' shows 'Benchmark 3: make -j 3' \
    hyperfine --details "${quick[@]}" --prepare 'make clean' --parameter-scan num_threads 1 3 'make -j {num_threads}'
check 'a scan over decimals' shows 'Benchmark 3: sleep 0.007' \
    hyperfine --details "${quick[@]}" --parameter-scan delay 0.003 0.007 -D 0.002 'sleep {delay}'
check 'a list' shows 'Benchmark 2: cc -O2 main.c' hyperfine --details "${quick[@]}" -L compiler gcc,cc '{compiler} -O2 main.c'
check 'another shell' hyperfine "${quick[@]}" --shell bash 'for i in {1..100}; do echo test; done'
check 'no shell' hyperfine "${quick[@]}" -N 'grep NEEDLE file'
my_function() { sleep 0.001; }
export -f my_function
check "bash's functions" hyperfine "${quick[@]}" --shell=bash my_function
check 'functions in the command' hyperfine "${quick[@]}" 'my_function() { sleep 0.001; }; my_function'
echo 'alias my_alias="sleep 0.001"' >my_alias.sh
check 'a sourced file' hyperfine "${quick[@]}" '. ./my_alias.sh; :'

# ---- Manual ---------------------------------------------------------------------
check 'at least so many runs' shows 'Benchmark 2' hyperfine --details --min-runs 2 --max-runs 3 'sleep 0.002' 'sleep 0.003'
check 'shell arithmetic' shows 'sleep 0.00$((2*2))' \
    hyperfine "${quick[@]}" -P size 0 2 'sleep 0.00$((2*{size}))'
check 'a scan to a table' hyperfine "${quick[@]}" --export-markdown output.md --parameter-scan time 1 3 'sleep 0.00{time}'
check 'with a row for each' test "$(grep -c '^| `sleep' output.md)" = 3
hyperfine -L n 1,2 -r 2 --show-output --setup 'echo setup n={n}' --prepare 'echo prepare={n}' \
    --conclude 'echo conclude={n}' --cleanup 'echo cleanup n={n}' 'echo command n={n}' >order 2>&1
check 'setup, prepare, conclude and cleanup run when they should' diff <(grep -E '^(setup|prepare|conclude|cleanup|command)' order) <(
    for n in 1 2; do
        echo "setup n=$n"
        for _ in 1 2; do printf '%s\n' "prepare=$n" "command n=$n" "conclude=$n"; done
        echo "cleanup n=$n"
    done)
for shell in sh 'bash --norc' default none; do
    check "--shell $shell" hyperfine "${quick[@]}" --shell "$shell" 'sleep 0.001'
done
check 'the words of a shell' shows 'custom_shell --shell-arg -c echo benchmark' \
    hyperfine --runs=1 --show-output --shell "echo 'custom_shell' '--shell-arg'" 'echo benchmark'
for style in basic full nocolor color none auto; do
    check "--style $style" hyperfine "${quick[@]}" --style $style 'sleep 0.001'
done
check 'no style is silent' test -z "$(hyperfine "${quick[@]}" --style none 'sleep 0.001' 2>&1)"
check 'full has colours anywhere' grep -q "$(printf '\033')" <(NO_COLOR='' hyperfine -r 1 --style full true)
check 'NO_COLOR has none' test "$(NO_COLOR=1 hyperfine -r 1 true | grep -c "$(printf '\033')")" = 0
for sort in auto command mean-time; do
    check "--sort $sort" hyperfine "${quick[@]}" --sort $sort 'sleep 0.004' 'sleep 0.001'
done
hyperfine -r 3 -N --style none --sort mean-time --export-markdown sorted.md 'sleep 0.05' 'sleep 0.001'
check 'tables sort by mean time' grep -q 'sleep 0.001' <(sed -n 3p sorted.md)
hyperfine -r 3 -N --style none --export-markdown given.md 'sleep 0.05' 'sleep 0.001'
check 'or stay in the order given' grep -q 'sleep 0.05' <(sed -n 3p given.md)
check 'microseconds' shows ' µs' hyperfine "${quick[@]}" -u microsecond 'sleep 0.01'
check 'seconds' shows 'Mean [s]' hyperfine "${quick[@]}" --time-unit second --export-markdown - 'sleep 0.01'
for format in asciidoc csv json markdown orgmode; do
    check "--export-$format" hyperfine "${quick[@]}" --export-$format out.$format 'sleep 0.001'
    check "  is written" test -s out.$format
done
check 'output to null' hyperfine "${quick[@]}" --output null 'echo text'
check 'output to a pipe' hyperfine "${quick[@]}" --output=pipe 'head -c 1000000 /dev/zero'
check 'output inherited' shows 'a text of mine' hyperfine "${quick[@]}" --output inherit 'echo a text of mine'
check 'output to a file each' hyperfine "${quick[@]}" --output ./one --output ./two 'echo 1' 'echo 2'
check '  is in each' test "$(cat one two | tr -d '\n')" = 12
check 'output of each iteration' hyperfine "${quick[@]}" 'echo x > output-${HYPERFINE_ITERATION}.log'
check '  is there' test -s output-0.log -a -s output-1.log
check 'input from a file' hyperfine "${quick[@]}" --input=file 'grep -q NEEDLE'
check 'input from null' hyperfine "${quick[@]}" --input null 'cat'
check 'names' shows 'Benchmark 2: second' hyperfine --details "${quick[@]}" -n first -n second 'sleep 0.001' 'sleep 0.002'
check 'names with variables' shows 'Benchmark 2: take 2' hyperfine --details "${quick[@]}" -L x 1,2 -n 'take {x}' 'echo {x}'
check 'ignored failures' hyperfine -r 1 --ignore-failure false
check 'one kind of them' hyperfine -r 1 --ignore-failure=1,2 'exit 2'
check 'all of them by name' hyperfine -r 1 --ignore-failure=all-non-zero 'exit 5'
check 'the short form' hyperfine -i -r 1 false
check 'joined short options' shows '2 runs' hyperfine -Nr2 'sleep 0.001'
check 'the version' hyperfine --version

# ---- What must fail ---------------------------------------------------------------
check 'too many names' fails_with 2 'names' hyperfine --command-name=a --command-name=b 'echo a'
check 'too few preparations' fails_with 2 '--prepare' hyperfine -r 1 --prepare=a --prepare=b 'echo a' 'echo b' 'echo c'
check 'too few with a reference' fails_with 2 '--conclude' \
    hyperfine -r 1 --conclude=a --conclude=b --reference='echo ref' 'echo a' 'echo b'
check 'one for each with a reference is right' \
    hyperfine -r 1 --prepare='echo r' --prepare='echo a' --prepare='echo b' --reference='echo ref' 'echo a' 'echo b'
check 'a parameter given twice' fails_with 2 "'x' is given twice" hyperfine -L x 1,2 -L x a,b 'echo test'
check 'a scan with a list' fails_with 2 'excludes' hyperfine -P x 1 2 -L y a,b 'echo test'
check 'a scan of words' fails_with 2 'needs numbers' hyperfine -P x a b 'echo test'
check 'an unknown program' fails_with 1 'status 127' hyperfine -r 1 some-nonexisting-program
check 'without a shell' fails_with 1 'some-nonexisting-program' hyperfine -N -r 1 some-nonexisting-program
check 'a failing command' fails_with 1 'status 1' hyperfine -r 1 false
for step in setup prepare conclude cleanup; do
    check "a failing $step command" fails_with 1 "the $step command" hyperfine -r 1 --$step=some-nonexisting-program 'echo a'
done
check 'input that is not there' fails_with 1 'input' hyperfine -r 1 --input=nonexistent cat
check 'output without a slash' fails_with 2 "a '/'" hyperfine -r 1 --output=out.txt cat
check 'runs with minimum' fails_with 2 'excludes' hyperfine -r 2 -m 3 true
check 'a step without a scan' fails_with 2 'needs --parameter-scan' hyperfine -D 2 true
for option in --runs --min-runs --max-runs; do
    check "$option 0" fails_with 2 '1 or more' hyperfine $option 0 'echo a'
done
for step in -1 -1.0; do
    check "a step of $step" fails_with 2 'range is empty' hyperfine -P n 0 1 --parameter-step-size=$step 'echo {n}'
done
check 'a reference that parameters make twice' fails_with 2 'names 2 commands' \
    hyperfine -L x 1,2 --command-name case --command-name case --reference case 'sleep 0.00{x}'
for option in prepare conclude output; do
    echo '{"results":[]}' >previous.json
    rm -f new.csv
    check "two times --$option leave the files alone" fails_with 2 "$option is given 2 times for 1 command" hyperfine -r 1 \
        --export-json previous.json --export-csv new.csv --$option null --$option pipe 'echo a'
    check '  the old one as it was, no new one' eval '[ "$(cat previous.json)" = "{\"results\":[]}" ] && [ ! -e new.csv ]'
done
check 'a name of no reference' fails_with 2 'needs --reference' hyperfine --reference-name x true
check 'a shell with none' fails_with 2 'excludes' hyperfine -N -S bash true
check 'exports of a failure hold what was measured' bash -c \
    '"$ASSAY" bench --grouped -r 1 --export-markdown part.md true false >part.out 2>&1; [ $? = 1 ] && grep -q "true" part.md'

# ---- What the tests of 1.21 ask for -------------------------------------------------
check '--reference selects one of the commands that parameters make' hyperfine -N -r 2 -L d 0.001,0.04 \
    --reference 'echo a (d = 0.04)' --prepare 'sleep {d}' --export-json ref.json --export-markdown ref.md 'echo a'
check '  which is not run twice' python3 -c '
import json
d = json.load(open("ref.json"))
assert [r["parameters"]["d"] for r in d["results"]] == ["0.001", "0.04"], d["results"]
assert [c["reference"] for c in d["assay"]["comparisons"]] == ["echo a (d = 0.04)"], d["assay"]["comparisons"]'
check '  by its text, too' hyperfine -N -r 2 -P d 1 3 --reference 'sleep 0.002' --export-markdown ref.md 'sleep 0.00{d}'
check '  and tables are relative to it' eval '[ "$(grep -c "^| .sleep" ref.md)" = 3 ] && grep -Eq "sleep 0.002. \|.*\| 1.00 \|$" ref.md'
check 'a reference of its own beside parameters' shows 'Benchmark 1: sleep 0.004' \
    hyperfine --details -N -r 2 -P d 1 2 --reference 'sleep 0.004' 'sleep 0.00{d}'
check 'backticks in a name' eval "hyperfine -r 1 --style none -n 'echo \`uname\` | cat' --export-markdown - true | grep -qF '| \`\` echo \`uname\` \\| cat \`\` |'"
check 'no number that is none' eval '! hyperfine -r 1 --style none --export-markdown - true "exit 0" | grep -qi nan'
check 'a closed stdout is quiet' python3 -c '
import os, subprocess, sys
for more in ([], ["--export-json=-"], ["echo second"]):
    r, w = os.pipe()
    os.close(r)
    p = subprocess.run([sys.argv[1], "bench", "--runs=1", *more, "echo first"], stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    assert p.returncode == -13 and not p.stderr, p' "$ASSAY"

# ---- What hyperfine's scripts read ------------------------------------------------
hyperfine -N -r 6 --style none -L s 0.001,0.002 'sleep {s}' --export-json scripts.json
check 'scripts find every field' python3 - <<'P'
import json

for r in json.load(open("scripts.json"))["results"]:
    assert len(r["times"]) == len(r["exit_codes"]) == len(r["memory_usage_byte"]) == 6
    assert r["min"] <= r["median"] <= r["max"] and r["min"] <= r["mean"] <= r["max"]
    assert r["stddev"] >= 0 and r["user"] >= 0 and r["system"] >= 0
    assert r["parameters"]["s"] in r["command"]
    assert all(isinstance(t, float) and t > 0 for t in r["times"])
P
finish
