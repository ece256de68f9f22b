#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A bench is a recording: report, export and --compare of the file give what bench printed.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
json() { # FILE EXPRESSION over d
    python3 -c "import json,math,sys; d=json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1"
}

run() { # OPTION … -- COMMAND …: a bench with a recording and with each file
    rm -f x.assay
    assay bench --recording x.assay --export-json x.json --export-csv x.csv "$@" >x.txt
}
same() { # what report makes of the recording is what bench printed and wrote
    assay report x.assay >y.txt && cmp x.txt y.txt &&
        assay report x.assay --json -o y.json --force && cmp x.json y.json &&
        assay report x.assay --csv -o y.csv --force && cmp x.csv y.csv
}
check "two commands, one through a shell" run -r 12 -w 2 -N true 'sleep 0.001'
check "the report is what was printed" same
check "a scan through a shell" run -r 6 -w 1 -L n 1,2 'test {n} -lt 3 | cat' true
check "has the same report" same
check "one command after the other" run -r 6 --grouped 'echo a | cat' true
check "has the same report, too" same
check "stopped when decided" run --until 50% -N true 'sleep 0.01'
check "has it as well" same
check "CPU time, failing runs, perhaps missing events" \
    run -r 5 -i --cpu-clock -e task-clock,cache-misses 'exit 3' true
check "has it, too" same
check "one name twice" run -r 6 -N true true
check "stays two commands" json x.json 'len(d["results"])==2 and len(d["results"][1]["times"])==6'
check "with the same report" same

run -r 10 -w 3 -N true 'sleep 0.002' >/dev/null
check "the tables are exported" assay export --format json x.assay -o tables.json
check "with measured runs, warm-ups and values" json tables.json \
    'sum(f&7==0 for f in d["runs"]["flags"])==20 and sum(f&1 for f in d["runs"]["flags"])>=4 and len(d["run values"]["run"])>100'
check "an existing recording stays" status_is 1 assay bench -r 2 true --recording x.assay
check "a folder that is not there is said before anything runs" status_is 1 \
    assay bench -r 2 "touch ran" --recording no/x.assay
check "so that nothing ran" test ! -e ran
check "a bench without a run leaves no file" status_is 1 assay bench -r 2 'exit 3' --recording n.assay
check "not a part either" eval '! ls n.assay* 2>/dev/null'
check "unless it may go" assay bench -r 2 true --recording x.assay --force
check "it can be compared" status_is 0 assay bench --compare x.assay x.json
check "a recording without runs cannot" status_is 1 assay bench --compare "$TOP/tests/e2e/bench.sh" x.assay

git init -q repo && cd repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
revision=$(git rev-parse HEAD)
mkdir -p sub && cd sub || exit 1
has_revision() { assay export --format json "$1" | grep -qF "$revision"; }
check "a bench in a checkout" assay bench -r 2 -N true --recording r.assay
check "knows the commit" has_revision r.assay
git -C .. pack-refs --all
check "also when references are packed" assay bench -r 2 -N true --recording p.assay
check "as before" has_revision p.assay
git worktree add -q ../tree HEAD --detach && cd ../tree || exit 1
check "in a worktree" assay bench -r 2 -N true --recording w.assay
check "as well" has_revision w.assay
cd ../.. || exit 1
if [ "$(id -u)" = 0 ]; then
    chown -R nobody repo
    cd repo/sub || exit 1
    no_revision() { ! assay export --format json "$1" | grep -qF "$revision"; }
    check "root in another user's checkout" assay bench -r 2 -N true --recording o.assay
    check "reads nothing from it" no_revision o.assay
    cd ../.. || exit 1
fi

if gcc -O2 -I"$TOP/include" "$TOP/tests/programs/benches.c" -o fb; then
    rm -f f.assay
    check "functions are recorded" eval \
        'assay bench ./fb --against ./fb --processes 6 --function-time 0.01 --filter scan --recording f.assay --export-json f.json >f.txt'
    check "their report is what was printed" eval 'assay report f.assay | cmp - f.txt'
    check "and so is their JSON" eval 'assay report f.assay --json | cmp - f.json'
fi
finish
