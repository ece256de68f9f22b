#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A tracefile, or a program's debug information, names files that are not the project's: no output
# holds a line of them, and each is named. What lies in the project is there, and so are public
# sources that a program of the user's own names.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
mkdir project && cd project || exit 1
chmod 755 .. .
for line in 1 2 3 4 5 6 7 8; do echo "long inside_$line;"; done >inside.c
for line in 1 2 3 4 5 6 7 8; do echo "root:secret_$line:19000"; done >../secret
cp ../secret ../secret.c && chmod 600 ../secret.c
for line in 1 2 3 4 5 6 7 8; do echo "long public_$line;"; done >../public.c
chmod 644 ../secret ../public.c
ln -s ../secret link.c
for file in inside.c "$PWD/inside.c" ../secret "${PWD%/*}/secret" ../../../../../../../../etc/passwd "$PWD/link.c" /etc/passwd; do
    printf 'SF:%s\nDA:2,1\nDA:3,0\nend_of_record\n' "$file"
done >all.info
cat >unpack.py <<'PY'
import base64, re, sys, zlib
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
for packed in re.findall(r"[A-Za-z0-9+/]{40,}={0,2}", text):
    for bits in (-15, 15, 31):
        try:
            text += zlib.decompressobj(bits).decompress(base64.b64decode(packed + "==")).decode("utf-8", "replace")
        except Exception:
            pass
print(text)
PY
# holds_no_secret FILE: and it does hold the project's own text
clean() { ! grep -qE 'secret_[0-9]|root:x:' "$1" || { grep -E 'secret_[0-9]|root:x:' "$1" | head -n 3; return 1; }; }
page() {
    "$ASSAY" cover export all.info --format html --force -o page.html 2>err || { cat err; return 1; }
    python3 unpack.py page.html >unpacked
    grep -q inside_2 unpacked || { echo 'the own source is not in it'; return 1; }
    clean unpacked && grep -q '[0-9] of [0-9] sources lie outside the project' err || { cat err; return 1; }
}
check 'a page' page
show() {
    "$ASSAY" cover show "$@" all.info >out 2>err || { cat err; return 1; }
    grep -q inside_2 out && clean out && [ "$(grep -c 'outside the project' out)" -ge 2 ] || { cat out; return 1; }
}
check 'cover show' show
check 'cover show --missing' show --missing
others() {
    local format status=0
    for format in lcov json cobertura coveralls codecov sonarqube markdown; do
        "$ASSAY" cover export all.info --format $format --force -o out.$format 2>err && clean out.$format || { echo "$format"; status=1; }
    done
    return $status
}
check 'every other format' others
named() {
    "$ASSAY" cover show -I .. all.info >out 2>err && grep -q secret_2 out || { cat out; return 1; }
    (cd .. && "$ASSAY" cover show project/all.info >out 2>err && grep -q secret_2 out) || { cat ../out; return 1; }
}
check 'what the user names may be read: -I, and a folder above' named
from_root() { (cd / && "$ASSAY" cover show "$OLDPWD/all.info") >out 2>err; clean out; }
check 'the working folder / is not a project' from_root

# Debug information: a line directive names what it wants.
if reason=$("$TOP/tests/e2e/lib/perf_allowed.py") && [ "$(id -u)" -eq 0 ]; then
    cc=$(compiler gcc)
    program() { # NAME FILE
        printf 'volatile long sum;\nint main(void)\n{\n    for (long i = 0; i < 400000000; i++)\n# 3 "%s"\n        sum += i;\n# 9 "%s"\n    return 0;\n}\n' "$2" "$2" |
            "$cc" -g -O1 -x c - -o "$1"
    }
    # kept OWNER FILE: whether a recording, annotate and its export hold lines of FILE
    recorded() {
        program prog "$2" && chown "$1" prog && rm -f run.assay &&
            "$ASSAY" record -q -F 1999 -o run.assay -- ./prog >out 2>err || { cat err; return 1; }
        "$ASSAY" export run.assay --format json --force -o out.json 2>>err && "$ASSAY" annotate run.assay main >out 2>>err &&
            COLUMNS=400 "$ASSAY" report --notes run.assay >notes 2>>err || { cat err; return 1; }
        cat out.json out >both
    }
    absent() { recorded "$@" && clean both && ! grep -q public_3 both && grep -q 'lie outside the project' notes || { cat notes; return 1; }; }
    present() { recorded "$1" "$2" && grep -q "$3" both || { cat notes out; return 1; }; }
    check 'recording: the own source is kept' present 0 "$PWD/inside.c" inside_3
    check 'recording: a file that is not a source is not read' absent 0 "${PWD%/*}/secret"
    check 'recording: nor one that others may not read' absent 0 "${PWD%/*}/secret.c"
    check 'recording: nor what a link leads to' absent 0 /etc/passwd
    check 'recording: a public source of an own program is kept' present 0 "${PWD%/*}/public.c" public_3
    check "recording: not when the program is another user's" absent 65533 "${PWD%/*}/public.c"
else
    skip recording "${reason:-only root can be other users}"
fi
finish
