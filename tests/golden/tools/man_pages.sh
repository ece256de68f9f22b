#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tools/man-pages passes for the program, and names the page and the option when the
# program takes one that its page does not list, or no longer takes one that it lists.
check() { python3 "$TOP/tools/man-pages" --check "$1" 2>&1 | sed 's/^[0-9]* man/N man/'; }
check "$ASSAY"
change() {
    "$ASSAY" __options | python3 -c "
import json, sys
commands = json.load(sys.stdin)
options = next(c for c in commands if c['name'] == 'report')['options']
$1
json.dump(commands, sys.stdout)" >options.json
    printf '#!/bin/sh\ncat options.json\n' >program
    chmod +x program
    check ./program
}
change "options.append(dict(options[0], name='new-option', letter=''))"
change "options[:] = [o for o in options if o['name'] != 'limit']"
