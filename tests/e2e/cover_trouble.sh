#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs, profiles and sources as one finds them: names that are markup, sources that
# were changed, names and records that are elsewhere, many inputs, interrupted merges.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
llvm=""
for candidate in 14 16 19 22; do
    command -v "clang-$candidate" "llvm-profdata-$candidate" >/dev/null && llvm=$candidate
done
[ -n "$llvm" ] || skip_all "no clang with its llvm-profdata"
command -v python3 >/dev/null || skip_all "no python3"
cat >prog.c <<'C'
#include <stdlib.h>
static int pick(int n)
{
    return n > 2 && n < 9 ? 1 : n;
}
int main(int argc, char **argv)
{
    return pick(argc > 1 ? atoi(argv[1]) : 0) == 77;
}
C
build() { # build SOURCE PROGRAM FLAGS...
    local source=$1 program=$2
    shift 2
    "clang-$llvm" -w -O0 -fprofile-instr-generate -fcoverage-mapping "$@" "$source" -o "$program"
}
run() { # run PROGRAM PROFILE
    LLVM_PROFILE_FILE=$2 ./"$1" 5
}
build prog.c prog && run prog prog.profraw || exit 1
"$ASSAY" cover report prog prog.profraw >expected

# ---- Names ---------------------------------------------------------------------

folder=$'d"<&>\' \tx' name=$'a\n]]>--><b>"\'&\\ `*|_\x07\xff.c'
mkdir "$folder" && cp prog.c "$folder/$name" && (cd "$folder" && build "$name" ../named) || exit 1
run named named.profraw
for format in lcov llvm-json json cobertura coveralls codecov sonarqube jacoco clover html markdown; do
    "$ASSAY" cover export --format $format -o named.$format named named.profraw 2>err
    verdict "a name of markup as $format" $?
done
"$ASSAY" cover report --json named named.profraw >named.report
"$ASSAY" cover report --markdown named named.profraw >named.table
python3 - <<'PY' >out 2>&1
import html.parser, json, xml.etree.ElementTree as tree
for name in ("llvm-json", "json", "coveralls", "codecov", "report"):
    document = open(f"named.{name}", encoding="utf-8").read()
    json.loads(document)
    assert "]]>--" in json.dumps(json.loads(document)), name
for name in ("cobertura", "sonarqube", "jacoco", "clover"):
    root = tree.parse(f"named.{name}").getroot()
    assert any("]]>--><b>\"'&" in value for e in root.iter() for value in e.attrib.values()), name
for name in ("markdown", "table"):
    text = open(f"named.{name}", encoding="utf-8").read()
    rows = [row for row in text.splitlines() if "]]>" in row]
    assert rows and all("\\<b>" in row and "\\|" in row for row in rows), rows

class Page(html.parser.HTMLParser):
    text = ""
    def handle_data(self, data):
        self.text += data
page = open("named.html", encoding="utf-8").read()
assert "<b>\"'" not in page
parsed = Page()
parsed.feed(page)
assert "]]>--><b>\"'&\\ `*|_" in parsed.text
PY
verdict "and read by parsers of JSON, XML, HTML and as UTF-8" $?
# The tracefile comes back with its rows, under one name.
"$ASSAY" cover export named.lcov >again.lcov 2>err && diff <(grep -ac ^SF: named.lcov) <(echo 1) &&
    diff <(grep -aE '^(DA|BRDA|FNDA)' named.lcov | LC_ALL=C sort) \
        <(grep -aE '^(DA|BRDA|FNDA)' again.lcov | LC_ALL=C sort) >out
verdict "its tracefile is read back" $?

# ---- Sources --------------------------------------------------------------------

build prog.c moved && run moved moved.profraw
touch -d '+1 hour' prog.c
for command in "show" "export --format html" "export --format coveralls"; do
    # shellcheck disable=SC2086
    "$ASSAY" cover $command moved moved.profraw 2>&1 >/dev/null | grep -q 'changed after the program' || false
    verdict "cover $command: the source was changed since" $?
done
mv prog.c elsewhere.c
"$ASSAY" cover export --format html moved moved.profraw 2>&1 >/dev/null | grep -q '1 of 1 sources are not here'
verdict "the source is gone" $?
mv elsewhere.c prog.c

# ---- Names and records that are elsewhere ------------------------------------------

objcopy --remove-section __llvm_prf_names prog nameless 2>/dev/null
"llvm-profdata-$llvm" merge -o prog.profdata prog.profraw
for profile in prog.profraw prog.profdata; do
    { "$ASSAY" cover report nameless $profile && true; } >got 2>err
    diff expected got >out
    verdict "an object without names, with ${profile#*.}: those of the profile" $?
done
if [ "$llvm" -ge 19 ]; then
    for mode in binary debug-info; do
        build prog.c correlated -g -mllvm -profile-correlate=$mode && run correlated correlated.profraw
        "$ASSAY" cover report correlated correlated.profraw >got 2>err && diff expected got >out
        verdict "counts alone, $mode: their functions are the program's" $?
        status_is 1 "$ASSAY" cover merge -o none.profdata correlated.profraw 2>err &&
            id=$(readelf -n correlated | sed -n 's/.*Build ID: //p') && grep -q "build $id" err
        verdict "and without it the build that is wanted is named" $?
        status_is 1 "$ASSAY" cover report prog correlated.profraw 2>err && grep -q "build $id" err
        verdict "as with another program" $?
        objcopy --remove-section '__llvm_cov[dn]*' --strip-debug correlated bare
        status_is 1 "$ASSAY" cover report bare correlated.profraw 2>err && grep -q stripped err
        verdict "nor is one enough that was stripped" $?
        objcopy --only-keep-debug correlated correlated.debug
        "$ASSAY" cover report bare correlated.debug correlated.profraw >got 2>err && diff expected got >out
        verdict "but with its debug file" $?
        objcopy --add-gnu-debuglink=correlated.debug bare linked
        "$ASSAY" cover report linked correlated.profraw >got 2>err && diff expected got >out
        verdict "which is found where it says" $?
        mkdir runs && cp correlated runs/
        printf './correlated 5\ncp correlated gone; ./gone 5; rm gone\n' >runs/script
        (cd runs && "$ASSAY" cover run -- sh script) >got 2>err && sed 's/^in .*//' got >got.run
        sed 's/^in .*//' expected | diff - got.run >out && grep -q '^assay: 2 profiles' err
        verdict "and in a run that starts it, and deletes it" $?
        rm -rf runs
    done
    mkdir nameless.d && build prog.c nameless.d/one -mllvm -profile-correlate=binary -Wl,--build-id=none &&
        run nameless.d/one one.profraw && cp nameless.d/one nameless.d/two
    "$ASSAY" cover report nameless.d/one one.profraw >got 2>err && diff expected got >out
    verdict "a program without a build id: by its number of counters" $?
    status_is 1 "$ASSAY" cover report nameless.d/one nameless.d/two one.profraw 2>err && grep -q both err
    verdict "of which two are one too many" $?
else
    skip "profiles correlated with the program" "needs LLVM 19"
fi

# ---- Many, and none of it half done --------------------------------------------------

mkdir many && python3 - <<'PY'
import os
for i in range(10000):
    os.link("prog.profraw", f"many/{i}.profraw")
PY
(ulimit -n 64 && "$ASSAY" cover export prog many) >many.info 2>err &&
    "$ASSAY" cover merge -f -w 10000 -o weighted.profdata prog.profraw &&
    "$ASSAY" cover export prog weighted.profdata | diff many.info - >out
verdict "10 000 profiles in a folder, 64 descriptors" $?
# Seconds of work; and not by SIGINT, which shells keep from what runs in the background.
many=()
for _ in {1..40}; do many+=(many); done
"$ASSAY" cover merge -o stopped.profdata "${many[@]}" &
merging=$!
sleep 0.1
kill -TERM $merging
wait $merging
status=$?
[ $status -eq 143 ] && [ -z "$(find . -name "*stopped*")" ]
verdict "an interrupted merge leaves nothing" $?
finish
