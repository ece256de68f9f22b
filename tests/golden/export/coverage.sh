#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tables have the lines of coverage, SQLite the calls of functions too; what they leave out is said.
cd "$SCRATCH" || exit 1
folder=$(mktemp -d) && cd "$folder" || exit 1
trap 'rm -rf "$folder"' EXIT
cp "$TOP"/tests/golden/cover/cover.{covmapping,proftext} . || exit 1
"$ASSAY" cover merge cover.covmapping cover.proftext -o c.assay
for format in json sqlite parquet; do
    echo "-- $format"
    "$ASSAY" export c.assay -f $format -o "c.$format" 2>&1
done
python3 -c '
import sqlite3
db = sqlite3.connect("c.sqlite")
print(*(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("line_counts", "function_counts")))'
