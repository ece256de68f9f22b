#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The man pages list what the tables have; an option, a format or a command without a line is found.
"$TOP/tools/man-pages" --check "$ASSAY"
"$ASSAY" __options >options.json
# changed PYTHON: the check of a program whose tables the statement has changed.
changed() {
    python3 - "$1" <<'PY'
import json, sys
dump = json.load(open("options.json"))
commands = {c["name"]: c for c in dump["commands"]}
option = {"letter": "", "name": "brand-new", "arg": "N", "takes_argument": True, "choices": [], "help": "what is new"}
exec(sys.argv[1])
json.dump(dump, open("changed.json", "w"))
PY
    printf '#!/bin/sh\ncat changed.json\n' >program
    chmod +x program
    "$TOP/tools/man-pages" --check ./program 2>&1
    echo "status $?"
}
changed 'commands["report"]["options"].append(option)'
changed 'commands["cover"]["commands"][3]["options"].insert(0, option)'
changed 'commands["flame"]["options"] = [o for o in commands["flame"]["options"] if o["name"] != "icicle"]'
changed 'for rows in (commands["export"]["list"]["choices"], commands["export"]["options"][0]["choices"]):
    rows.append({"name": "brand-new", "help": "nobody reads it"})'
changed 'dump["commands"].append(dict(commands["list"], name="brand-new", summary="do what is new"))'
changed 'commands["list"]["options"].reverse()'
