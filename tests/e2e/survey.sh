#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay survey: the planted line is named first, steps that cannot run are named, the results open.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
programs=$TOP/tests/programs
gcc -g -O1 -fno-builtin -o plant "$programs/survey_plant.c" || exit 1
gcc -g -O1 -fno-builtin --coverage -o counted "$programs/survey_plant.c" || exit 1
gcc -O1 -o no_perf "$programs/no_perf.c" || exit 1
line() { grep -n "/\\* $1 \\*/" "$programs/survey_plant.c" | tail -n 1 | cut -d : -f 1; }
field() { python3 -c 'import json, sys; s = json.load(open("s.json")); print(eval(sys.argv[1]))' "$1"; }
is() { [ "$(field "$1")" = "$2" ] || { field "$1"; echo "not $2"; cat s.json err; return 1; }; }
survey() { "$ASSAY" survey -f --json --max-time 1 "$@" >s.json 2>err </dev/null; }

survey --counted './counted hot' -- ./plant hot
verdict 'a survey of a hot line' $?
check 'the hot line comes first' is 's["first"]["line"]["line"]' "$(line hot)"
check '… for its CPU time' is 's["first"]["reason"], s["first"]["stands_out"]' "('cpu', True)"
check '… with its executions' is 's["first"]["line"]["executions"] >= 30000000' True
check 'every step has a result, or says why not' is 'all(("file" in x) or x["why"] for x in s["steps"])' True
check 'time, samples, heap and counts' is '[x["step"] for x in s["steps"] if "file" in x and x["step"] != "waits"]' \
    "['time', 'cpu', 'heap', 'counts']"
check 'the time has runs' is 's["time"][0]["runs"] >= 1 and s["time"][0]["user_s"] > 0' True
check 'the page holds the line' grep -q 'survey_plant.c' plant.html
check 'timed and recorded runs leave no counts' eval '! ls *.gcda 2>/dev/null'
check 'report opens the folder' eval '"$ASSAY" report plant.survey >screen && grep -q "^first .*survey_plant.c:$(line hot)$" screen'
check '… on one screen' eval '[ "$(wc -l <screen)" -le 26 ] && [ "$(wc -L <screen)" -le 80 ]'
check 'report --json gives the same' eval '"$ASSAY" report --json plant.survey | cmp - s.json'
check 'view opens the folder' eval '"$ASSAY" view --no-open --html v.html plant.survey && grep -q survey_plant v.html'
check 'other commands open its parts' eval '"$ASSAY" annotate -e "cpu time" plant.survey/cpu.assay hot_loop | grep -q 1664525'

survey --steps cpu,heap -- ./plant allocate
check 'the allocator comes first' is 's["first"]["reason"], s["first"]["line"]["function"]' "('allocator', 'one_turn')"
check '… and is named by the heap' is 's["heap"]["places"][0]["line"]' "$(line turn)"
check 'steps that are left out are not missed' is '[x["step"] for x in s["steps"] if not x["skipped"] and "file" not in x]' '[]'
kept() { [ -d plant.survey ] && "$ASSAY" survey --steps heap --no-html -- ./plant hot >/dev/null 2>&1 && [ -d plant.survey.old ]; }
check 'an older survey is kept' kept

survey --steps cpu,waits -- ./plant sleep
if field 's["waits"]["sleep"]' >/dev/null 2>&1; then
    check 'a nap comes first where waits are seen' is 's["first"]["reason"], s["first"]["line"]["line"]' "('wait', $(line nap))"
else
    check 'without waits, the step says why' is '[x["why"] != "" for x in s["steps"] if x["step"] == "waits"]' '[True]'
fi

# Standard input: each run gets all of it, and the command keeps its status.
printf '%1000s' x | "$ASSAY" survey -f --steps cpu --show-output -o in -- ./plant read >out 2>err
status=$?
check 'the status is that of the command' [ $status -eq 3 ]
check 'a pipe is kept for each run' grep -q 'read 1000 bytes' err
printf '%1000s' x >input
"$ASSAY" survey -f --steps cpu,heap --show-output -o in -- ./plant read <input >out 2>err
check 'a file is read from its start' grep -q 'read 1000 bytes' err
check 'the screen has the status' grep -q 'ends with status 3' out

# Ended in the second step: what there is by then is kept and shown.
cat >twice.sh <<'SH'
#!/bin/sh
[ -e ran ] && exec sleep 60
: >ran
exec ./plant hot
SH
chmod +x twice.sh
"$ASSAY" survey --steps cpu,heap -o ended -- ./twice.sh >out 2>err </dev/null &
survey=$!
second_step() { ls ended.*/cpu.assay >/dev/null 2>&1 && pgrep -P "$(pgrep -P $survey | head -n 1)" sleep >/dev/null; }
eventually second_step
kill -TERM $survey
wait $survey
status=$?
check 'a survey that is ended has status 130' [ $status -eq 130 ]
check '… shows what there is' grep -q '^first .*survey_plant.c' out
check '… and says that it was' grep -q ', interrupted$' out
check '… and leaves no other folder' eval '[ "$(ls -d ended*)" = "$(printf "ended\nended.html")" ]'

# What is refused is named.
"$ASSAY" survey -f --steps counts,cpu -- ./plant hot >out 2>err
check 'a build that does not count is named, with the cure' grep -q "no counts: './plant' is not built to count" out
check 'no program' fails 'cannot run' "$ASSAY" survey -- ./nothing
check 'no command' fails 'no command' "$ASSAY" survey
check 'an unknown step' fails "not 'speed'" "$ASSAY" survey --steps speed -- ./plant
mkdir other && touch other/mine
check 'a folder of another kind is left alone' fails 'is not a survey' "$ASSAY" survey -f -o other -- ./plant
check 'a damaged manifest' eval 'mkdir bad && echo "{" >bad/survey.json && fails "survey.json" "$ASSAY" report bad'
check 'a manifest that leads out of its folder' eval '
    echo "{\"schema\":\"assay-survey-folder\",\"version\":1,\"steps\":[{\"step\":\"cpu\",\"side\":\"new\",\"file\":\"../x\"}]}" >bad/survey.json
    fails outside "$ASSAY" report bad'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && mkdir free && cp plant free && chown -R 65534 free &&
    chmod 755 . && setpriv --reuid 65534 --clear-groups test -r free/plant; then
    (cd free && setpriv --reuid 65534 --regid 65534 --clear-groups "$ASSAY" survey --steps cpu,waits -- ./plant hot >../out 2>../err)
    check 'another user gets samples' grep -q '^first .*survey_plant.c' out
    check '… and waits, which need no rights' grep -q '^waits  .*running' out
else
    skip 'another user gets samples' 'no way to become nobody here'
fi
if ./no_perf true; then
    ./no_perf "$ASSAY" survey -f --steps cpu,waits,heap -- ./plant hot >out 2>err
    verdict 'where perf events are refused' $?
    check '… the hot line still comes first' grep -q "^first .*survey_plant.c:$(line hot)$" out
    check '… what sampled, and why' grep -q '^! cpu: .*' out
fi

"$ASSAY" survey -f --json --steps time,cpu --max-time 1 --against './plant hot 3' -- ./plant hot >s.json 2>err
check 'two commands: the ratio is on the side of truth' is 's["time"][1]["ratio"]["point"] < 0.6' True
"$ASSAY" report plant.survey >out
check '… and what changed, line by line' grep -q '% .*hot \*/' out
"$ASSAY" survey -f -q --no-html --steps cpu,heap -o later.survey -- ./plant hot 2>err
check 'two surveys are compared step by step' eval '"$ASSAY" diff plant.survey later.survey --by line >out 2>err && grep -qx "CPU time" out && grep -q "hot \*/" out && ! grep -qx heap out'
check '… which --json is not for' eval '! "$ASSAY" diff plant.survey later.survey --json >out 2>err && grep -q "hint: name recordings of the surveys: plant.survey/cpu.assay" err'
check '… nor one survey alone' eval '! "$ASSAY" diff plant.survey later.survey/cpu.assay >out 2>err && grep -q "is not: they cannot be compared" err'
finish
