#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every document that an option --json writes says what it is, as docs/formats/json.md has it, and
# that page lists every such option.
recordings=$TOP/tests/fixtures/recordings
cat >check.py <<'PY'
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
rows = re.findall(r"^\| `assay ([^`]*)` \| `([^`]*)` \| (\d+) in `(\w+)` \| (top object|the object `(\w+)`)|"
                  r"^\| `assay ([^`]*)` \| `([^`]*)` \| (\d+) behind", page, re.MULTILINE)
documents = {}
for name, schema, number, member, _, inside, name2, schema2, number2 in rows:
    documents[name or name2] = (schema or schema2, number or number2, member, inside)
if sys.argv[2] == "--covers":
    def walk(command, path=()):
        path += (command["name"],)
        for option in command["options"]:
            if option["name"] == "json":
                name = f"{' '.join(path)} --json"
                print("page names" if name in documents else "PAGE LACKS", name)
        for sub in command["commands"]:
            walk(sub, path)
    for command in json.load(sys.stdin)["commands"]:
        walk(command)
    sys.exit()
schema, number, member, inside = documents[sys.argv[2]]
head = json.load(sys.stdin)
head = head[inside] if inside else head
if json.dumps(head["schema"]) != schema or (member and head[member] != int(number)):
    print("WRONG:", head)
elif inside is None or inside == "":
    print(sys.argv[2], list(head.items())[0])
else:
    print(sys.argv[2], inside, list(head.items())[0])
PY
holds() { python3 check.py "$TOP/docs/formats/json.md" "$1"; }
"$ASSAY" __options | holds --covers
echo "-- documents"
"$ASSAY" report --json "$recordings/sampled.assay" | holds 'report --json'
"$ASSAY" report --prof --json "$recordings/sampled.assay" | holds 'report --prof --json'
"$ASSAY" annotate --json "$recordings/sampled.assay" burn | holds 'annotate --json'
"$ASSAY" export -f json "$recordings/sampled.assay" | holds 'export -f json'
"$ASSAY" list --json cpu-clock | holds 'list --json'
"$ASSAY" doctor --json | holds 'doctor --json'
"$ASSAY" bench -r 2 -N --export-json - --style none true 2>/dev/null | holds 'bench --export-json'
"$ASSAY" cover report --json "$recordings/counted.assay" | holds 'cover report --json'
printf -- '--- a/src/cover.h\n+++ b/src/cover.h\n@@ -3,0 +4 @@\n+    x\n' >change.diff
"$ASSAY" cover diff --diff-file change.diff --json "$recordings/counted.assay" | holds 'cover diff --json'
"$ASSAY" cover formats --json | holds 'cover formats --json'
"$ASSAY" cover export --format json "$recordings/counted.assay" | holds 'cover export --format json'
"$ASSAY" __options | holds __options
mkdir tests && cp "$TOP/tests/fuzz/corpus/cover_tests/two" tests/tests.assay-cover
"$ASSAY" cover tests -d tests --list --json | holds 'cover tests --json'
