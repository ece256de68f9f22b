#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Folders with files that cannot be used: what is left out is named, and nothing that is
# left passes for a result.
cd "$SCRATCH" && cp "$TOP"/tests/golden/cover/cover.* . || exit 1
mkdir -p some/deep none gcc
cp cover.proftext some/deep
head -c 40 "$TOP/tests/fuzz/corpus/profraw/llvm19" | tee some/cut.profraw >none/cut.profraw
: >some/empty.profraw
ln -s cut.profraw some/link.profraw
"$ASSAY" cover report cover.covmapping some
echo "status $?"
"$ASSAY" cover report cover.covmapping none
echo "status $?"

# Many of them.
mkdir many && for i in {10..34}; do cp none/cut.profraw many/$i.profraw; done
cp cover.proftext many
"$ASSAY" cover report cover.covmapping many 2>&1 >/dev/null | tail -n 2
"$ASSAY" cover merge -o many.proftext many cover.proftext 2>&1 | tail -n 2

# gcc's: a writer that is not known, and a kind of record.
printf 'oncg*70C\1\0\0\0' >gcc/new.gcno
cp "$TOP/tests/fuzz/corpus/gcno/gcc" gcc/broken.gcno
printf '\2\0\123\1\0\0\0\0' >>gcc/broken.gcno
"$ASSAY" cover report gcc
echo "status $?"

# A folder of folders is merged as a whole.
mkdir -p runs/a runs/b
cp "$TOP/tests/fuzz/corpus/profraw/llvm19" runs/a/1.profraw
cp "$TOP/tests/fuzz/corpus/profraw/llvm19" runs/b/2.profraw
ln -s .. runs/b/up
"$ASSAY" cover merge -o one.proftext runs/a && "$ASSAY" cover merge -o two.proftext runs &&
    paste one.proftext two.proftext | grep -m3 -E '^[0-9]{1,3}[[:space:]]+[0-9]{1,3}$'

# Coverage that others read, by name.
printf '<?xml version="1.0"?><coverage generated="1"><project timestamp="1"/></coverage>' >clover.xml
printf '<report name="x"><package><sourcefile name="a"/></package></report>' >jacoco.xml
printf '<coverage version="1"><file path="a"><lineToCover lineNumber="1"/></file></coverage>' >sonar.xml
printf 'mode: set\na.go:1.2,3.4 1 1\n' >go.out
printf 'SQLite format 3\0' >coverage.db
gzip -c cover.proftext >cover.gz
printf '!<arch>\n' >lib.a
"$ASSAY" cover export --format json cover.covmapping cover.proftext >own.json
"$ASSAY" cover export --format codecov cover.covmapping cover.proftext >codecov.json
printf '\201rforpm\377' >heap.memprof
for file in heap.memprof clover.xml jacoco.xml sonar.xml go.out coverage.db cover.gz lib.a own.json codecov.json; do
    "$ASSAY" cover report "$file"
done

# A gate on nothing.
"$ASSAY" cover report --fail-under 1 --include '*/absent.c' cover.covmapping cover.proftext
echo "status $?"
exit 0
