#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay view: one page with the recording's numbers, that needs nothing else and holds no more than it says.
# beside others: 28 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || skip_all 'no make_profile: make dev builds it'
cat >work.c <<'SOURCE'
#include <stdlib.h>
static volatile unsigned sink;
static void hot_secret_line(void)
{
    for (unsigned i = 0; i < 300000000; i++) /* long enough that starting the program is little beside it */
        sink += i * i;
}
int main(void)
{
    char *volatile block = malloc(1000);
    block[0] = 1;
    hot_secret_line();
    return 0;
}
SOURCE
cc -g -O1 -o work work.c && "$ASSAY" record -o work.assay -- ./work 2>/dev/null
verdict 'a program is recorded' $?
view() { "$ASSAY" view --no-open "$@" 2>said; }
check 'the page is written' view work.assay --html a.html
check 'the same recording gives the same page' eval 'view work.assay --html b.html && cmp a.html b.html'
refuses() { ! view work.assay --html a.html && grep -q 'exists' said; }
check 'an existing page is not replaced without --force' refuses
check 'a page on standard output' eval 'view work.assay --html - >c.html && cmp a.html c.html'
check 'a page named after the recording' eval 'view work.assay && [ -s work.html ]'
blocks() { python3 - "$@" <<'PY'
import base64, gzip, re, sys
kind = "assay" + "".join("-" + a for a in sys.argv[2:])
for block in re.findall(r'<template class="' + kind + r'">([^<]*)</template>', open(sys.argv[1], encoding="utf-8").read()):
    sys.stdout.buffer.write(gzip.decompress(base64.b64decode(block)))
PY
}
holds() { { cat "$1"; blocks "$1"; } | grep -qa "$2"; }
lacks() { ! holds "$@"; }
check 'the source text is in the page' holds a.html 'sink += i \* i'
view work.assay --html d.html --no-source --strip-paths
check 'with --no-source it is not' lacks d.html 'sink += i'
check 'with --strip-paths no folder is' lacks d.html "$(dirname "$PWD/work.c")"
view work.assay --html e.html --anonymise
check 'with --anonymise no name is' lacks e.html hot_secret_line
check 'nothing in the page is asked of a server' eval '! grep -Eqi "(src|href)=|url\(|@import" <(sed -E "s/<(script|template)[^>]*>[^<]*//g" a.html)'
for kind in hostile nameless two-metrics; do
    "$make_profile" "$kind" "$kind.assay"
    check "a recording of the kind $kind" view "$kind.assay" --html "$kind.html"
done
# ---- Runs ----------------------------------------------------------------------------
"$ASSAY" bench -N -r 12 -n slow -n fast 'sleep 0.006' 'sleep 0.001' --recording runs.assay --html bench.html --export-json runs.json >out 2>&1 &&
    "$ASSAY" stat -r 4 -e page-faults,task-clock --html stat.html --recording stat.assay true >out 2>&1
verdict 'pages of runs are written' $?
check 'a recording of runs is a page, too' eval 'view runs.assay --html runs.html && grep -q "<code>fast</code>" runs.html'
check 'and one of counted events beside samples' eval 'view work.assay stat.assay --html counts.html && grep -q "<code>page-faults</code>" counts.html && holds counts.html "\"kind\":\"runs\",\"recording\":1"'
check 'runs have no pseudonyms' eval '! view runs.assay --anonymise --html f.html && grep -q "cannot be left out" said && ! view runs.assay --strip-paths --html f.html'
# ---- Several recordings in one page --------------------------------------------------
printf 'SF:%s/work.c\nDA:5,30000001\nDA:6,30000000\nBRDA:5,0,0,1\nBRDA:5,0,1,0\nDA:10,1\nend_of_record\n' "$PWD" >work.info
check 'a recording and coverage in one page' eval 'view work.assay work.info --html two.html &&
    holds two.html "\"kind\":\"overview\",\"recording\":0" && holds two.html "\"kind\":\"coverage\",\"recording\":1"'
"$ASSAY" heap -o heap.assay -- ./work >out 2>&1 && mkdir -p other && sed "s|$PWD|/elsewhere/${PWD##*/}|" work.info >other/moved.info && printf 'SF:/nowhere/none.c\nDA:1,1\nend_of_record\n' >none.info
check 'CPU, heap and coverage in one page' view work.assay heap.assay work.info --html three.html
check 'source that two recordings share stands in it once' eval '[ "$(blocks three.html | grep -ac "^static volatile unsigned sink")" = 1 ]'
check 'and with coverage of other paths' view work.assay heap.assay other/moved.info --html moved.html
check 'and with coverage of another program' view heap.assay work.assay none.info --html none.html
check 'coverage alone has its source' eval 'view work.info --html alone.html && blocks alone.html later | grep -q "sink += "'
check 'and not when it is left out' eval 'view work.info --no-source --html bare.html && blocks bare.html later | grep -q file && ! blocks bare.html later | grep -q "sink += "'
check 'without folders when asked' eval 'view work.info --strip-paths --html g.html && lacks g.html "$PWD" && holds g.html work.c'
check 'coverage has no pseudonyms' eval '! view work.assay work.info --anonymise --html f.html && grep -q "cannot be anonymised" said'
check 'a file that is neither says why' eval '! view work.c --html f.html && grep -q "not a recording of a known format" said'
"$make_profile" busy busy.assay
check 'a large recording has a preview, whose values are all there' eval 'view busy.assay --html busy.html &&
    [ "$(blocks busy.html | grep -ao "\"preview\":[a-z]*" | tr "\n" " ")" = "\"preview\":true \"preview\":false " ]'
# ---- Served ----------------------------------------------------------------------------
check 'a served page is for those alone who know its address' "$TOP/tests/tools/served_page.py" "$ASSAY" work.assay a.html
check '--port is for --serve' eval '! view work.assay --port 8000 && grep -q "are for --serve" said'
# ---- What changed ----------------------------------------------------------------------
printf '%s\n' 'main;hot 1000' 'main;warm 500' 'main;gone 400' >old.folded && printf '%s\n' 'main;hot 1010' 'main;warm 1300' 'main;fresh 300' >new.folded
check 'a page of what changed' eval '"$ASSAY" diff old.folded new.folded --html diff.html >out 2>said && "$ASSAY" diff old.folded new.folded --json >diff.json &&
    holds diff.html "\"kind\":\"diff\"" && grep -q "<code>fresh</code>" diff.html'
check 'is not replaced without --force' eval '! "$ASSAY" diff old.folded new.folded --html diff.html >out 2>said && grep -q exists said'
flame_has() { "$ASSAY" diff "$1" "$2" --flame "$3" >out 2>said && "$TOP/tests/tools/check_flame_change.py" "${@:3}"; }
check 'a differential flame graph as a picture' flame_has old.folded new.folded more.svg fresh=u7,0 hot=g0,1000 warm=u,500 gone=
check 'and the other way round' flame_has new.folded old.folded less.svg gone=u7,0 hot=g0,1010 warm=i,1300 fresh=
# ---- What changed between sets of recordings -------------------------------------------
set_of() { # set_of NAME HOT WARM THIRD VALUE: recordings of which each value differs by what stands in `by`
    local n=0 d
    for d in "${by[@]}"; do
        n=$((n + 1))
        printf '%s\n' "main;hot $(($2 + d))" "main;warm $(($3 - d))" "main;$4 $(($5 + d))" >"$1.$n.folded"
    done
}
by=(3 -3 0) && set_of was 1000 500 gone 400 && by=(-2 2 0 0) && set_of now 1000 1300 fresh 300
printf 'main;[stack cut: middle not copied];inner 10\n' >gap.folded
check 'a page of sets has all of their recordings' eval '"$ASSAY" diff -a was.*.folded -b now.*.folded --html sets.html >sets.text 2>said && "$ASSAY" diff -a was.*.folded -b now.*.folded --json >sets.json &&
    holds sets.html "\"runs\":3" && holds sets.html "\"runs\":4" && holds sets.html "\"total\":10400" && holds sets.html "\"total\":5700" && grep -q "means of 4 recordings" sets.html'
check '… also those of the heap' eval '"$ASSAY" diff -a heap.assay heap.assay heap.assay -b heap.assay heap.assay --html heap-sets.html >out 2>&1 && holds heap-sets.html "\"runs\":3" && holds heap-sets.html "\"runs\":2"'
check '… and so has the picture' eval '"$ASSAY" diff -a was.*.folded -b now.*.folded --flame sets.svg >out 2>said && "$TOP/tests/tools/check_flame_change.py" sets.svg fresh=u7,0 hot=g0,4000 warm=u,2000 gone='
# Code of shop.c only calls: all values are of code without lines. Another recording alone knows of a.c.
printf 'int main(void) { void burn(void); burn(); return 0; }\n' >shop.c && printf 'static volatile unsigned s; void burn(void) { for (unsigned i = 0; i < 400000000; i++) s += i; }\n' >burn.c &&
    printf '#include <stdlib.h>\nint main(void) { char *volatile a = malloc(9); return a == 0; }\n' >a.c && gcc -O1 -c burn.c && gcc -O1 -g -o shop shop.c burn.o && gcc -g -o a a.c &&
    "$ASSAY" record -q -o shop.assay -- ./shop 2>err && "$ASSAY" heap -q -o a.assay -- ./a 2>err && "$ASSAY" bench -N -r 1 -n "$(printf 'x%.0s' {1..60})" true --html one-run.html >out 2>&1
verdict 'recordings for a first look' $?
check '… in a page' view shop.assay a.assay --html shop.html
check 'a page of a gap in a stack' view gap.folded --html gap.html
mkdir -p before after && printf 'volatile unsigned sink;\nint main(void) { for (unsigned i = 0; i < 20000000; i++) sink += i; return 0; }\n' >before/moved.c &&
    { printf '\n\n\n' && cat before/moved.c; } >after/moved.c && gcc -g -O1 -o before/moved before/moved.c && gcc -g -O1 -o after/moved after/moved.c &&
    "$ASSAY" record -o before.assay -- before/moved >out 2>&1 && "$ASSAY" record -o after.assay -- after/moved >out 2>&1 && "$ASSAY" diff before.assay after.assay --html moved-diff.html >out 2>&1
verdict 'and one of two builds' $?
check 'two recordings of one kind in a page' view before.assay after.assay --html pair.html
printf '%s\n' 'int main(int argc, char **argv) {' '    (void)argv;' '    if (argc > 1)' '        return 0; // with a word' '    argc++;' '    return argc - 2; }' >counted.c
"$ASSAY" cover flags gcc | xargs gcc -g -o counted counted.c && "$ASSAY" survey -q --no-html --steps counts -o first.survey -- ./counted && "$ASSAY" survey -q --no-html --steps counts -o then.survey -- ./counted word
check 'what changed in the coverage has the lines, too' eval '"$ASSAY" diff first.survey/counts.assay then.survey/counts.assay --html lines-diff.html >out 2>&1 &&
    holds lines-diff.html "\"kind\":\"coverage\"" && holds lines-diff.html "\"beside\":true" && blocks lines-diff.html later | grep -q "// with a word"'
mv counted.c gone.c
check 'with the text that the recording keeps, where the file is gone' eval '"$ASSAY" diff first.survey/counts.assay then.survey/counts.assay --force --html kept-diff.html >out 2>&1 &&
    blocks kept-diff.html later | grep -q "// with a word"'
check 'that of the heap has the totals of four metrics' eval '"$ASSAY" diff heap.assay heap.assay --html heap-diff.html >out 2>&1 && holds heap-diff.html "\"others\":\[\[\"bytes allocated\""'
check 'that of a large recording has all of it behind the preview' eval '"$ASSAY" diff busy.assay busy.assay --html busy-diff.html >out 2>&1 &&
    [ "$(blocks busy-diff.html | grep -ao "\"preview\":[a-z]*" | sort | uniq -c | tr -d "\n ")" = "2\"preview\":false2\"preview\":true" ]'
"$TOP/tools/build-viewer" --check 2>why
case $? in
0) verdict 'the built viewer is that of the sources' 0 ;;
77) skip 'the built viewer is that of the sources' "$(tail -n 1 why)" ;;
*) verdict 'the built viewer is that of the sources' 1 ;;
esac
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
driver=$(command -v chromedriver || true)
if [ -n "$browser" ] && [ -n "$driver" ]; then
    "$ASSAY" report work.assay --json --kernel >report.json
    check 'in a browser: the report'\''s numbers, every view by keys, wrong sums are marked' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" a.html report.json
    check 'CPU, heap and coverage stand on the same line, and what is not joined is said' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --joined three.html moved.html none.html
    view busy.assay --time 5..20 --html most.html
    view busy.assay --time 15..18 --html few.html
    check 'a selection of time has the values of that time' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --large busy.html most.html 5 20 few.html 15 18
    check 'benchmarks and counts: the figures, the pictures, the keys, wrong sums are marked' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --runs bench.html runs.html runs.json stat.html
    check 'what changed between sets: means, and the verdicts of the text' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --sets sets.html sets.json
    check 'a first look shows what matters' "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --first-look one-run.html shop.html
    check 'a gap is called a gap' "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --gap gap.html
    check 'what changed: the report'\''s values and verdicts, colours, lines that moved or ran no more; names of recordings' \
        "$TOP/tests/tools/view_in_browser.py" "$driver" "$browser" --diff diff.html diff.json moved-diff.html lines-diff.html pair.html
else
    skip 'in a browser' 'no Chromium with its driver here (tools/install-deps --dev)'
fi
finish
