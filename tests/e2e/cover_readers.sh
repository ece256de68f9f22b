#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Coverage that we export, read by what we did not write: pycobertura, gcovr and
# diff-cover (Cobertura), diff-cover (lcov), coveralls' own merging of its form; and the
# published rules of the forms of Cobertura, SonarQube, Codecov, JaCoCo and Clover.
# beside others: 8 s
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
for format in cobertura coveralls sonarqube codecov jacoco clover; do
    "$ASSAY" cover export --format $format . >../cover.$format || exit 1
done
mv ../cover.* .

"$readers/python" - cover.cobertura "$lines" "$ran" <<'PY' >out 2>&1
import sys
from pycobertura import Cobertura
cover = Cobertura(sys.argv[1])
lines, ran = int(sys.argv[2]), int(sys.argv[3])
assert cover.total_statements() == lines, (cover.total_statements(), lines)
assert cover.files() == ["prog.c"], cover.files()
hits = sum(status != "miss" for f in cover.files() for _, status in cover.line_statuses(f))
assert hits in range(ran, lines + 1) or hits == ran, (hits, ran)
assert round(cover.line_rate(), 3) == round(ran / lines, 3), (cover.line_rate(), ran / lines)
PY
verdict "pycobertura counts $lines lines, $ran that ran" $?
for input in cover.cobertura cover.info; do
    cp "$input" diff.${input##*.}
    [ "$input" = cover.cobertura ] && mv diff.cobertura diff.xml
done
cp prog.c prog.covered
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
import hashlib
assert [f["name"] for f in document["source_files"]] == ["prog.c"], document
assert document["source_files"][0]["source_digest"] == hashlib.md5(open("prog.covered", "rb").read()).hexdigest()
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
"$readers/python" - "$TOP/tests/e2e/lib" cover.cobertura cover.sonarqube cover.jacoco cover.clover <<'PY' >out 2>&1
import sys
from lxml import etree
for document in sys.argv[2:]:
    rules = etree.RelaxNG(etree.parse(f"{sys.argv[1]}/{document.split('.')[1]}.rng"))
    assert rules.validate(etree.parse(document)), rules.error_log
PY
verdict "the published rules of the forms of Cobertura, SonarQube, JaCoCo and Clover" $?
# docs.codecov.com, "Codecov Custom Coverage Format": counts, "1/2" where branches are missing.
"$readers/python" - cover.codecov cover.info <<'PY' >out 2>&1
import json, re, sys
document = json.load(open(sys.argv[1]))
assert list(document) == ["coverage"] and list(document["coverage"]) == ["prog.c"], document
counts, branches = {}, {}
for row in open(sys.argv[2]):
    if row.startswith("DA:"):
        line, count = row[3:].split(",")[:2]
        counts[line] = int(count)
    elif row.startswith("BRDA:"):
        line, _, _, taken = row[5:].strip().split(",")
        branches.setdefault(line, []).append(taken not in "0-")
expected = {line: f"{sum(branches[line])}/{len(branches[line])}"
            if count and not all(branches.get(line, [])) else count for line, count in counts.items()}
assert document["coverage"]["prog.c"] == expected, (document, expected)
assert any(re.fullmatch("[0-9]+/[0-9]+", str(v)) for v in expected.values()), expected
PY
verdict "Codecov's form, as its documentation has it" $?
# Paths are the repository's, wherever we stand, or those of --root.
mkdir -p sub && cd sub || exit 1
"$ASSAY" cover export --format codecov .. >../root.codecov 2>/dev/null &&
    "$ASSAY" cover export --format sonarqube --root "${PWD%/*/*}" .. >../root.sonarqube 2>/dev/null &&
    "$ASSAY" cover export --format cobertura --root . ../cover.info >../root.cobertura 2>/dev/null
cd .. || exit 1
verdict "paths are relative to the repository, or to --root" "$(
    grep -q '"coverage":{"prog.c":' root.codecov && grep -q '<file path="work/prog.c">' root.sonarqube &&
        grep -q "<source>$PWD/sub</source>" root.cobertura && grep -q "filename=\"$PWD/prog.c\"" root.cobertura
    echo $?
)"
# A folder is one package, its files and those of the folders below kept apart.
for file in lib/a.c lib/b/c.c lib/d.c; do
    printf 'SF:%s/%s\nDA:1,1\nDA:2,0\nend_of_record\n' "$PWD" "$file"
done >folders.info
"$ASSAY" cover export --format cobertura folders.info >folders.xml 2>/dev/null
"$readers/gcovr" --cobertura-add-tracefile folders.xml --json-summary folders.json >out 2>&1
"$readers/python" - folders.xml folders.json <<'PY' >>out 2>&1
import json, sys
import xml.etree.ElementTree as tree
found = {p.get("name"): ([c.get("filename") for c in p.iter("class")], p.get("line-rate"))
         for p in tree.parse(sys.argv[1]).iter("package")}
assert found == {"lib": (["lib/a.c", "lib/d.c"], "0.5000"), "lib/b": (["lib/b/c.c"], "0.5000")}, found
summary = json.load(open(sys.argv[2]))
assert (summary["line_covered"], summary["line_total"], len(summary["files"])) == (3, 6, 3), summary
PY
verdict "gcovr reads Cobertura; a folder is one package" $?
finish
