#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Parquet export: DuckDB reads every table and gets what the JSON export has; the queries of
# docs/formats/parquet.md run over several recordings and give the report's answers.
# beside others: 8 s
set -u
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || { echo "no make_profile: make dev builds it"; exit 77; }
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

"$make_profile" plain plain.assay
# What can be said without a reader.
! "$ASSAY" export plain.assay -f parquet >out 2>err && grep -q 'name the folder with -o' err
verdict "a folder has to be named" $?
"$ASSAY" export plain.assay -f parquet -o twice && cp -r twice first && ! "$ASSAY" export plain.assay -f parquet -o twice 2>err &&
    grep -q -- --force err && diff -r first twice
verdict "existing files are kept" $?
"$ASSAY" export plain.assay -f parquet -o twice --force && diff -r first twice
verdict "the same recording gives the same bytes" $?
(ulimit -f 1 && trap '' XFSZ && "$ASSAY" export plain.assay -f parquet -o small) 2>err && exit 1
[ -z "$(ls -A small)" ]
verdict "a folder that cannot be written stays empty" $?

python=$TOP/build/readers/tables/bin/python # tools/foreign-readers installs DuckDB
if ! [ -x "$python" ]; then
    skip "DuckDB reads the tables" "no DuckDB: tools/foreign-readers"
    finish
    exit
fi
for kind in plain two-metrics nameless hostile bench functions counts counts-over-time intervals events; do
    "$make_profile" "$kind" "$kind.assay" && rm -rf "$kind" && "$ASSAY" export "$kind.assay" -f parquet -o "$kind" &&
        "$ASSAY" export "$kind.assay" -f json -o "$kind.json" --force || exit 1
    check "$kind: DuckDB has what JSON has" "$python" "$TOP/tests/e2e/lib/check_parquet.py" "$kind" "$kind.json"
done
# Names of one length, one call after the other.
python3 -c '
import json, sys
d = json.load(open("events.json"))
for row, name in enumerate(("alpha", "gamma", "delta"), 1):
    d["functions"]["name"][row] = len(d["strings"])
    d["strings"].append(name)
json.dump(d, open("alike.json", "w"))' && "$ASSAY" export alike.json -f parquet -o alike &&
    "$python" -c '
import duckdb, json
d = json.load(open("alike.json"))
names = [d["strings"][d["functions"]["name"][d["frame places"]["function"][f]]] for f in d["calls"]["frame"]]
read = [row[0] for row in duckdb.sql("SELECT function FROM \x27alike/calls.parquet\x27 ORDER BY call").fetchall()]
print(names, read)
assert names == read and len(set(names)) > 1' >out 2>&1
verdict "calls have their own names" $?
"$make_profile" large large.assay && "$ASSAY" export large.assay -f parquet -o lake/large || exit 1
"$python" - lake/large <<'PY' >out 2>&1
import sys
import duckdb
large = sys.argv[1]
names = duckdb.sql("SELECT path_in_schema, encodings, compression FROM parquet_metadata('%s/*.parquet')" % large).fetchall()
encodings = {e for _, es, _ in names for e in es.replace(",", " ").split()}
assert {"DELTA_BINARY_PACKED", "RLE_DICTIONARY", "PLAIN"} <= encodings, encodings
assert {c for _, _, c in names} == {"ZSTD"}, names
least, most = duckdb.sql("SELECT min(stats_min_value), max(stats_max_value) FROM parquet_metadata('%s/samples.parquet') "
                         "WHERE path_in_schema = 'metric'" % large).fetchall()[0]
assert (least, most) == ("1", "1"), (least, most)
# More rows than a page has: all are there, in order.
sums = duckdb.sql("SELECT count(*), sum(value), max(time_ns) FROM '%s/samples.parquet'" % large).fetchall()[0]
assert sums == (1000000, 1001001000000, 125000000000), sums
assert duckdb.sql("SELECT count(*), max(stack), sum(stack) FROM '%s/stacks.parquet'" % large).fetchall()[0] == (
    1999782, 1999782, 1999782 * 1999783 // 2)
PY
verdict "encodings, compression, least and most" $?

# Coverage.
printf 'SF:/a.c\nDA:3,2\nDA:4,0\nend_of_record\nSF:/b.c\nDA:1,9\nend_of_record\n' >one.info
printf 'SF:/a.c\nDA:3,0\nDA:5,0\nend_of_record\n' >two.info
for shard in one two; do
    "$ASSAY" cover merge -o $shard.assay $shard.info && "$ASSAY" export $shard.assay -f parquet -o lake/$shard &&
        "$ASSAY" export $shard.assay -f json -o $shard.json || exit 1
    check "coverage: DuckDB has what JSON has" "$python" "$TOP/tests/e2e/lib/check_parquet.py" lake/$shard $shard.json
done

# Three recordings of two builds.
cp -r plain two-metrics lake/
timeout 60 "$python" "$TOP/tests/e2e/lib/check_parquet.py" --queries "$TOP/docs/formats/parquet.md" lake 8a53f0 '' main >answers 2>err
verdict "all queries of the page run" "$([ "$(cut -f 1 answers | tr '\n' ' ')" = \
    "hottest_lines hottest_functions growth callers over_time never_ran " ]; echo $?)"
verdict "lines that no shard ran" "$([ "$(sed -n 's/^never_ran\t//p' answers)" = "$(printf "('/a.c', 4)\t('/a.c', 5)")" ]; echo $?)"
mkdir alone && cp -r plain alone/
timeout 60 "$python" "$TOP/tests/e2e/lib/check_parquet.py" --queries "$TOP/docs/formats/parquet.md" alone 8a53f0 '' main >answers 2>err
"$ASSAY" report plain.assay --json >report.json
"$ASSAY" report plain.assay --json --by line >lines.json
python3 - answers report.json >out 2>&1 <<'PY'
import ast
import json
import sys

answers = {}
for row in open(sys.argv[1]):
    name, *rows = row.rstrip("\n").split("\t")
    answers[name] = [ast.literal_eval(r) for r in rows]
report = json.load(open(sys.argv[2]))
want = {row["name"]: (row["self"], row["total"]) for row in report["rows"]}
assert answers["hottest_functions"], answers
for name, self, total in answers["hottest_functions"]:
    assert want[name] == (self, total), (name, self, total, want.get(name))
assert answers["hottest_functions"][0][1] == max(s for s, _ in want.values())
PY
verdict "the hottest functions are the report's" $?

# The same queries by other engines, with what the page says to change for them.
mkdir engines && cp -r plain engines/ && cp -r two-metrics engines/ && cp -r lake/one engines/ || exit 1
timeout 60 "$python" "$TOP/tests/e2e/lib/check_parquet.py" --queries "$TOP/docs/formats/parquet.md" engines 8a53f0 '' main >answers 2>err
for engine in clickhouse spark; do
    other=$TOP/build/readers/$engine/bin/python # tools/foreign-readers installs them; Spark with --all
    if [ -x "$other" ]; then
        timeout 600 "$other" "$TOP/tests/e2e/lib/lake_queries.py" $engine "$TOP/docs/formats/parquet.md" "$PWD/engines" 8a53f0 '' main \
            >$engine.answers 2>err && "$TOP/tests/e2e/lib/lake_same.py" answers $engine.answers >out 2>&1
        verdict "$engine has DuckDB's answers to all queries of the page" $?
    else
        skip "$engine" "not installed: tools/foreign-readers --all"
    fi
done
finish
