#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names that drive terminals, turn text around, are formulas or markup, or are not UTF-8, through every
# text, table, page and export. A strict reader of each format takes the result, and nothing in it
# commands a terminal.
# beside others: 15 s
. "$TOP/tests/e2e/lib/common.sh"

python3 - <<'PY'
names = [
    b"esc\x1b\x1b]0;pwned\x07\x1b[31mred", b"c1\xc2\x9b31m", b"bidi\xe2\x80\xae\xe2\x81\xa6evil", b"line\xe2\x80\xa8two",
    b"\xff\xfe\xc3", b"=cmd()", b"+1+1", b"-2+3", b"@SUM(1)", b"</script><script>pwned()</script>",
    b"<img src=x onerror=pwned()>", b'quote"\'&|`', b"tab\tcr\r", b"back\\slash|pipe", b"long" * 3000, b"%3B%1B",
]
# A line of folded stacks cannot hold ';' and line ends; the rest is as another writer might leave it.
with open("names.folded", "wb") as out:
    for i, name in enumerate(names):
        out.write(b"main;" + name + b";leaf %d\n" % (i + 3))
with open("names.info", "wb") as out:
    for i, name in enumerate(names):
        name = name.replace(b"\r", b"")
        out.write(b"TN:\nSF:/src/" + name + b".c\nFN:1," + name + b"\nFNDA:3," + name +
                  b"\nDA:1,3\nDA:2,0\nBRDA:1,0,0,2\nBRDA:1,0,1,0\nend_of_record\n")
with open("name.txt", "wb") as out:
    out.write(b"=1+1\x1b[31m\xe2\x80\xae|x")
PY

# holds NAME KIND COMMAND…: the command's output is whole and harmless.
holds() {
    local name=$1 kind=$2
    shift 2
    if "$@" >out.text 2>err.log && "$TOP/tests/tools/check_outputs.py" "$kind" out.text 2>why.log; then
        ok "$name"
    else
        not_ok "$name" <(cat err.log why.log)
    fi
}

# A screen and tables of samples.
holds "report" text "$ASSAY" report -w --limit 0 names.folded
holds "report by line" text "$ASSAY" report -w --by line names.folded
holds "report, the tree" text "$ASSAY" report -w --tree names.folded
holds "report, csv" csv "$ASSAY" report --csv names.folded
holds "report, json" json "$ASSAY" report --json names.folded
holds "report, notes" text "$ASSAY" report --notes names.folded
printf 'main;other 5\n' >other.folded
holds "diff" text "$ASSAY" diff --force -w --limit 0 other.folded names.folded
holds "diff, by stack" text "$ASSAY" diff --force -w --by stack names.folded other.folded
holds "diff, json" json "$ASSAY" diff --force --json --limit 0 names.folded other.folded
holds "view" html "$ASSAY" view --no-open --html - names.folded
holds "flame" xml "$ASSAY" flame -o - names.folded
for format in folded perf-script callgrind; do
    holds "export as $format" text "$ASSAY" export -f "$format" names.folded
    "$ASSAY" export -f "$format" names.folded >again.text &&
        holds "export as $format, read again" csv "$ASSAY" report --csv again.text
done
for format in speedscope chrome; do
    holds "export as $format" json "$ASSAY" export -f "$format" names.folded
done
holds "export as csv" csv "$ASSAY" export -f csv names.folded
holds "export as firefox" json "$ASSAY" export -f firefox names.folded

# Joined and compared on a page.
holds "diff, page" html sh -c '"$ASSAY" diff --force --html diff.html other.folded names.folded >/dev/null && cat diff.html'
check "names are joined" eval '"$ASSAY" import -f -o names.assay names.folded && "$ASSAY" import -f -o other.assay other.folded && "$ASSAY" merge -f -o joined.assay names.assay other.assay'
holds "what is joined" text "$ASSAY" report -w --limit 0 joined.assay
holds "what is joined, json" json "$ASSAY" report --json joined.assay
# A survey that a stranger made.
python3 - <<'PY'
import json, os
evil = "fi\x1b]0;pwned\x07\u009b31m\u202e<img src=x onerror=pwned()>=1+1"
os.mkdir("names.survey")
parts = [{"step": s, "side": side, "why": evil, "cure": evil} for s in ("time", "waits", "heap", "counts") for side in ("new", "old")]
parts += [{"step": "cpu", "side": side, "file": "names.assay"} for side in ("new", "old")]
json.dump({"schema": "assay-survey-folder", "version": 1, "command": evil, "against": evil, "page": evil, "seconds": 1, "status": 3,
           "interrupted": False, "built_to_count": [], "steps": parts}, open("names.survey/survey.json", "w"))
PY
cp names.assay names.survey
holds "a survey" text "$ASSAY" report names.survey
holds "a survey's page" html "$ASSAY" view --no-open --html - names.survey
# Other users' paths in the name of a step's file, and files that nobody writes to.
outside() {
    local name
    for name in ../other.assay .. /etc/passwd sub/other.assay; do
        sed "s|\"names.assay\"|\"$name\"|" names.survey/survey.json >evil.json
        mkdir -p evil.survey && mv evil.json evil.survey/survey.json
        fails . timeout 20 "$ASSAY" report evil.survey || { echo "$name"; return 1; }
    done
}
nobody_writes() {
    mkdir -p fifo.survey && cp names.survey/survey.json fifo.survey && mkfifo fifo.survey/names.assay && fails 'names.assay' timeout 10 "$ASSAY" report fifo.survey
}
check "a survey does not wait for a FIFO" nobody_writes
check "a survey names no file outside of its folder" outside

# Coverage.
for view in report show; do
    holds "cover $view" text "$ASSAY" cover "$view" names.info
done
holds "cover report, json" json "$ASSAY" cover report --json names.info
while read -r format kind; do
    holds "cover export as $format" "$kind" "$ASSAY" cover export --format "$format" names.info
done <<'FORMATS'
gcov-json json
json json
html html
cobertura xml
coveralls json
codecov json
sonarqube xml
jacoco xml
clover xml
markdown text
FORMATS

# lcov's names are bytes, by which other tools find the files: a pipe gets them, a terminal does not.
"$ASSAY" cover export --format lcov names.info >names.lcov
check "lcov's file has the names as they are" grep -aqF "$(printf 'SF:/src/\377\376\303.c')" names.lcov
cat >on_terminal.py <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
with open("out.tty", "wb") as out:
    try:
        while piece := os.read(fd, 65536):
            out.write(piece.replace(b"\r\n", b"\n"))
    except OSError:
        pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
holds "lcov on a terminal" text sh -c 'python3 on_terminal.py "$ASSAY" cover export --format lcov names.info && cat out.tty'

# Tables of runs.
command_name=$(cat name.txt)
check "bench of a hostile name" "$ASSAY" bench -N -r 3 -n "$command_name" true --export-csv b.csv --export-markdown b.md \
    --export-asciidoc b.adoc --export-orgmode b.org --export-json b.json --export-junit b.xml --html b.html --svg b.svg
holds "bench on the screen" text "$ASSAY" bench -N -r 3 -n "$command_name" true
while read -r file kind; do
    holds "bench, $file" "$kind" cat "$file"
done <<'FILES'
b.csv csv
b.md text
b.adoc text
b.org text
b.json json
b.xml xml
b.html html
b.svg xml
FILES

# The name of a survey's command and of a call's function are the program's.
command_file=$(printf 'pr\033]0;pwned\007\302\23331m<b>')
printf 'int sink; int main(int argc, char **argv) { (void)argv; for (int i = 0; i < 3000000; i++) sink += argc; return 0; }\n' >work.c
if gcc -g -o "$command_file" work.c; then
    holds "survey on the screen" text "$ASSAY" survey -f --steps time,heap --max-time 0.05 -o screen.survey -- "./$command_file"
    holds "survey, json" json "$ASSAY" survey -f --json --no-html --steps time,heap --max-time 0.05 -o screen.survey -- "./$command_file"
    holds "loop on the screen" text "$ASSAY" loop --no-build --rounds 1 --steps time --max-time 0.05 -o screen.loop -- "./$command_file"
    if [ "$(id -u)" = 0 ] && "$ASSAY" record -q -f --calls "./$command_file:main" -o calls.assay -- "./$command_file" 2>err.log; then
        holds "report of calls" text "$ASSAY" report -w --calls calls.assay
        holds "report of calls, json" json "$ASSAY" report --calls --json calls.assay
        holds "view of calls" html "$ASSAY" view --no-open --html - calls.assay
    else
        skip 'names in calls' "$(head -n 1 err.log)"
    fi
fi

# What a thread waits for has a name of the recorded program's choice.
name=$(printf 'fi\033]0;pwned\007\302\23331m<img src=x onerror=pwned()>')
if mkfifo "$name" && "$ASSAY" record --wait -o waits.assay -- sh -c '(sleep 0.1; echo x >"$1") & read -r x <"$1"' sh "$name" 2>err.log && ! grep -q 'waits were not recorded' err.log; then
    for view in "" --locks "--by file" "--by waker" "--by class"; do
        # shellcheck disable=SC2086 # options
        holds "report of waits $view" text "$ASSAY" report -w $view waits.assay
    done
    check 'and the name is there' eval '"$ASSAY" report -w --by file waits.assay | grep -q pwned'
    holds "report of waits, json" json "$ASSAY" report --json waits.assay
    holds "view of waits" html "$ASSAY" view --no-open --html - waits.assay
else
    skip 'names in waits' "$(grep -m 1 waits err.log || head -n 1 err.log)"
fi
finish
