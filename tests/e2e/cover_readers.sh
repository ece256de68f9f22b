#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Coverage that we export, read by what we did not write: pycobertura and diff-cover
# (Cobertura), diff-cover (lcov), coveralls' own merging of its form.
set -u
readers=$TOP/build/readers/cover/bin # tools/foreign-readers installs them
if ! [ -x "$readers/pycobertura" ]; then
    echo "no pycobertura and diff-cover: tools/foreign-readers"
    exit 77
fi
if ! command -v gcc git >/dev/null; then
    echo "no gcc or git"
    exit 77
fi
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
mkdir work && cd work && git init -q . || exit 1
git config user.email t@example.org && git config user.name t
cat >prog.c <<'C'
#include <stdlib.h>
static int pick(int n)
{
    if (n > 2 && n < 9)
        return 1;
    return n;
}
int main(int argc, char **argv)
{
    return pick(argc > 1 ? atoi(argv[1]) : 0) == 77;
}
C
git add prog.c && git commit -q -m one
printf 'int added(int x)\n{\n    return x;\n}\n' >>prog.c
gcc -w -O0 --coverage -o prog prog.c && ./prog 5 || exit 1
# The lines that ran and those that did not, by our own tracefile.
"$ASSAY" cover export . >../cover.info
lines=$(grep -c '^DA:' ../cover.info)
ran=$(grep -c '^DA:[0-9]*,[1-9]' ../cover.info)
for format in cobertura coveralls sonarqube codecov; do
    "$ASSAY" cover export --format $format . >../cover.$format || exit 1
done
mv ../cover.* .

"$readers/python" - cover.cobertura "$lines" "$ran" <<'PY' >out 2>&1
import sys
from pycobertura import Cobertura
cover = Cobertura(sys.argv[1])
lines, ran = int(sys.argv[2]), int(sys.argv[3])
assert cover.total_statements() == lines, (cover.total_statements(), lines)
hits = sum(status != "miss" for f in cover.files() for _, status in cover.line_statuses(f))
assert hits in range(ran, lines + 1) or hits == ran, (hits, ran)
assert round(cover.line_rate(), 3) == round(ran / lines, 3), (cover.line_rate(), ran / lines)
PY
verdict "pycobertura counts $lines lines, $ran that ran" $?
for input in cover.cobertura cover.info; do
    cp "$input" diff.${input##*.}
    [ "$input" = cover.cobertura ] && mv diff.cobertura diff.xml
done
git add prog.c && git commit -q -m two
for input in diff.xml diff.info; do
    "$readers/diff-cover" "$input" --compare-branch HEAD~1 --format json:diff.json >out 2>&1
    "$readers/python" - diff.json <<'PY' >>out 2>&1
import json, sys
found = json.load(open(sys.argv[1]))
assert found["total_num_lines"] == found["total_num_violations"] == 2, found
PY
    verdict "diff-cover reads $input: the function that was added and not called" $?
done
"$readers/python" - cover.coveralls cover.info <<'PY' >out 2>&1
import json, sys
document = json.load(open(sys.argv[1]))
ours = {}
name = ""
for row in open(sys.argv[2]):
    if row.startswith("SF:"):
        name = row[3:].strip()
    elif row.startswith("DA:"):
        line, count = row[3:].split(",")[:2]
        ours[name.rsplit("/", 1)[1], int(line)] = int(count)
theirs = {(f["name"].rsplit("/", 1)[-1], i + 1): n for f in document["source_files"]
          for i, n in enumerate(f["coverage"]) if n is not None}
assert theirs == ours and ours, (len(theirs), len(ours))
assert all(len(f["branches"]) % 4 == 0 for f in document["source_files"] if "branches" in f)
from coveralls import Coveralls
service = Coveralls(repo_token="x", service_name="test")
service.get_coverage = lambda: []
service.merge(sys.argv[1])
assert service._data["source_files"] == document["source_files"], service._data
PY
verdict "coveralls' client takes its form, line by line what the tracefile says" $?
"$readers/python" - cover.sonarqube "$lines" "$ran" <<'PY' >out 2>&1
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == "coverage" and root.get("version") == "1"
rows = [row for file in root for row in file]
assert all(row.tag == "lineToCover" and row.get("covered") in ("true", "false") for row in rows)
assert len(rows) == int(sys.argv[2]) and sum(row.get("covered") == "true" for row in rows) == int(sys.argv[3])
for row in rows:
    if row.get("branchesToCover"):
        assert 0 <= int(row.get("coveredBranches", 0)) <= int(row.get("branchesToCover"))
PY
verdict "SonarQube's generic form: its elements, as many lines" $?
finish
