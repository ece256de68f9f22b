#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# assay record --repeat and assay diff of sets of recordings.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
cat >shares.c <<'EOF'
#include <stdlib.h>
#define WORK(name, turns)                                                                          \
    __attribute__((noinline)) static unsigned name(unsigned x)                                     \
    {                                                                                              \
        for (unsigned i = 0; i < (turns); i++)                                                     \
            x = x * 1664525u + i;                                                                  \
        return x;                                                                                  \
    }
WORK(parse, PARSE)
WORK(sort_rows, 200000)
WORK(print_rows, 100000)
int main(int argc, char **argv)
{
    unsigned x = (unsigned)argc;
    for (int i = 0; i < atoi(argv[1]); i++)
        x = print_rows(sort_rows(parse(x)));
    return x == 7;
}
EOF
gcc -g -O1 -DPARSE=200000 -o old shares.c && gcc -g -O1 -DPARSE=400000 -o new shares.c || exit 1

"$ASSAY" record -F 4000 --repeat 4 -o cmp.assay --against './old 150' -- ./new 150 >out 2>err
check 'record --repeat --against: four recordings of each' test -s cmp.old.4.assay -a -s cmp.new.4.assay -a ! -e cmp.new.5.assay
check '… and the next command' grep -q 'next: assay diff -a cmp.old.\*.assay -b cmp.new.\*.assay' err
repeated() { "$ASSAY" record -q --repeat 2 -o one -- ./old 20 && test -s one.1.assay && test -s one.2.assay; }
check "record --repeat without --against" repeated
check 'the status of the command is kept' status_is 1 "$ASSAY" record -q -f --repeat 2 -o fails -- sh -c 'exit 1'
check '--against without --repeat' fails 'repeat N' "$ASSAY" record --against ./old -- ./new 1
check 'an open quote' fails 'quote is not closed' "$ASSAY" record --repeat 2 --against "./old '1" -- ./new 1
check 'no command' fails 'records a command' "$ASSAY" record --repeat 2 -p $$

"$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay --json >diff.json 2>err || cat err
judged() {
    python3 - <<'EOF'
import json
d = json.load(open("diff.json"))
rows = {r["name"]: r for r in d["rows"]}
assert d["old"]["recordings"] == d["new"]["recordings"] == 4 and d["judged"]["repeated"]
parse = rows["parse"]["change"]
assert parse["verdict"] == "slower" and parse["p"] < 0.05, parse
assert 1.5 < parse["ratio"] < 2.7 and parse["low"] > 1.2, parse
assert d["judged"]["change"]["verdict"] == "slower", d["judged"]
EOF
}
check 'the function that does twice the work is slower' judged
"$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay >text 2>err
check '… on the screen, with its place' grep -qE '%.* slower  parse shares.c:' text
fits() { [ "$(wc -l <text)" -le 24 ] && [ "$(wc -L <text)" -le 80 ]; }
check 'the screen has 24 lines of 80 columns' fits
"$ASSAY" diff cmp.old.1.assay cmp.new.1.assay >single 2>err
check 'single recordings: it says that noise is assumed' grep -q 'differs from run to run is assumed' single
check '… and gives the sum no verdict' grep -qE 'unsure  all cpu time' single
same() { "$ASSAY" diff -a cmp.old.*.assay -b cmp.old.*.assay >out 2>err && ! grep -qE 'slower|faster' out; }
check 'recordings beside themselves: nothing is faster or slower' same
check '--fail-if that is missed: status 3' status_is 3 "$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay --fail-if 'parse > +20%'
"$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay --fail-if 'parse > +20%' >out 2>err
check '… with its values' grep -q "'parse > +20%' is missed: parse: .* before " err
check '--fail-if that holds' status_is 0 "$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay --fail-if 'total > +900%' --fail-if 'parse > +100s'
check '--fail-if of a total of single recordings is undecided: status 4' status_is 4 "$ASSAY" diff cmp.old.1.assay cmp.new.1.assay --fail-if 'total > +1%'
check '--fail-if: a name that no row has' fails "no.* row 'nothing'\|has a row 'nothing'" "$ASSAY" diff cmp.old.1.assay cmp.new.1.assay --fail-if 'nothing > +1%'
check '--fail-if: a limit that cannot be read' fails 'takes a limit' "$ASSAY" diff cmp.old.1.assay cmp.new.1.assay --fail-if 'total'
check '--fail-if: a unit that the metric has not' fails 'takes a limit' "$ASSAY" diff cmp.old.1.assay cmp.new.1.assay --fail-if 'total > +5M'
"$ASSAY" diff -a cmp.old.*.assay -b cmp.new.*.assay --markdown >table.md 2>err
check '--markdown' grep -qE '^\| parse \(shares.c:[0-9]+\) \| .* \| slower \|$' table.md
"$ASSAY" diff cmp.old.1.assay cmp.new.1.assay --by module >out 2>err
check '--by module' grep -qE '  new$' out

# The same source with lines above: lines match by their text.
mkdir -p there && sed '1i //\n//\n//' shares.c >there/shares.c || exit 1
gcc -g -O1 -DPARSE=200000 -o later there/shares.c || exit 1
"$ASSAY" record -q -f -F 4000 -o later.assay -- ./later 150
lines() { "$ASSAY" diff cmp.old.1.assay later.assay --by line --limit 0 --json >out 2>err && python3 - <<'EOF'
import json
row = [r for r in json.load(open("out"))["rows"] if r["name"] == "shares.c: WORK(parse, PARSE)"][0]
assert all(row["values"]["cpu time"].values()), row
assert row["new_place"]["line"] == row["old_place"]["line"] + 3, row
EOF
}
check 'lines that moved are the same lines' lines

cat >other.c <<'EOF'
int main(void) { volatile unsigned x = 1; for (unsigned i = 0; i < 200000000; i++) x = x * 3 + i; return 0; }
EOF
gcc -g -O1 -o other other.c && "$ASSAY" record -q -f --all-user -o other.assay -- ./other
"$ASSAY" record -q -f --all-user -o mine.assay -- ./old 100
check 'recordings of different programs are refused' fails 'in common' "$ASSAY" diff mine.assay other.assay --by stack
# They spend their time alike in libc, which says nothing of them.
printf '#include <stdlib.h>\n#include <string.h>\nint main(void) { char *a = malloc(1 << 20), *b = malloc(1 << 20); memset(a, 1, 1 << 20); for (int i = 0; i < TURNS; i++) { memcpy(b, a, 1 << 20); NAME(i); } return b[5]; }\n' >libc_user.c
for name in ours theirs; do
    sed "s/NAME/$name/; s/^int main/static volatile unsigned s; __attribute__((noinline)) static void $name(int x) { for (unsigned i = 0; i < 200000; i++) s += i * x; }\n&/" libc_user.c >"$name.c"
    gcc -O1 -g -DTURNS=600 -o "$name" "$name.c" && "$ASSAY" record -q -f -F 2000 -o "$name.assay" -- "./$name"
done
check '… also where both use the same libraries' fails 'in common' "$ASSAY" diff ours.assay theirs.assay
mv ours renamed && "$ASSAY" record -q -f -F 2000 -o renamed.assay -- ./renamed
check '… but not a program of another name' status_is 0 "$ASSAY" diff ours.assay renamed.assay
check '… but not with --force' status_is 0 "$ASSAY" diff mine.assay other.assay --by stack --force
# Sets of counted runs: a value is the mean of the set's runs, and the page has the sums of the rows.
printf '%s\n' 'int main(int argc, char **argv) {' '    volatile int turns = 0;' '    for (int i = 1; i < argc; i++)' '        turns += argv[i][0] == 0;' '    return turns; }' >counted.c
"$ASSAY" cover flags gcc | xargs gcc -g -o counted counted.c
counts() { "$ASSAY" survey -q -f --no-html --steps counts -o counts.survey -- ./counted "${@:2}" && mv counts.survey/counts.assay "$1"; }
counts none.assay && counts six.assay a b c d e f && counts nine.assay a b c d e f g h i
sums() { # the rows of the old runs 0, 6 and 9 times, of the new ones 9, 9 and 6
    "$ASSAY" diff --by line -a none.assay six.assay nine.assay -b nine.assay nine.assay six.assay --json >sets.json &&
        "$ASSAY" diff -a none.assay six.assay nine.assay -b nine.assay nine.assay six.assay --force --html sets.html &&
        python3 - <<'EOF'
import base64, gzip, json, re, struct
told = json.load(open("sets.json"))
rows = {r["name"]: r["values"]["executions"] for r in told["rows"]}
(inside,) = [v for name, v in rows.items() if "turns +=" in name]
assert (inside["old"], inside["new"]) == (5, 8), rows
assert [told[side]["recordings"] for side in ("old", "new")] == [3, 3], told
data = gzip.decompress(base64.b64decode(re.search(r'<template class="assay">([^<]*)</template>', open("sets.html").read()).group(1)))
about = json.loads(data[4:4 + struct.unpack("<I", data[:4])[0]])["about"]
(lines,) = [t for t in about["tables"] if t["by"] == "line"]
assert (lines["before"], lines["after"]) == tuple(sum(v[side] for v in rows.values()) for side in ("old", "new")), (lines, rows)
assert [s["total"] for s in about["sides"]] == [1, 1], about  # of functions: main
EOF
}
check 'sets of counted runs: means, and the sums of the page' sums
more_runs() { "$ASSAY" diff --by line -a none.assay six.assay nine.assay -b nine.assay nine.assay six.assay >out && ! grep -q -- '-F' out; }
check '… for which no rate of samples is advised' more_runs
check 'sets need both sides' fails 'sets of' "$ASSAY" diff -a mine.assay
finish
