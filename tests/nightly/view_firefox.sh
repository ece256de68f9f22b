#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pages of assay view in Firefox: every tab of an ordinary recording, of hostile names, of one with a preview.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || skip_all 'no make_profile: make dev builds it'
firefox=$(command -v firefox-esr || command -v firefox) || skip_all 'no Firefox here'
command -v node >/dev/null || skip_all 'no Node here'
modules=$TOP/viewer/node_modules
[ -d "$modules/puppeteer-core" ] || skip_all 'no packages of viewer/package-lock.json here: npm ci in viewer/'
ln -s "$modules" node_modules
cp "$TOP/tests/tools/view_in_firefox.mjs" .
for kind in plain hostile busy; do
    "$make_profile" "$kind" "$kind.assay"
    check "a page of the kind $kind" "$ASSAY" view "$kind.assay" --no-open --html "$kind.html"
done
check 'all tabs of them in Firefox' env HOME="$PWD" timeout 120 node view_in_firefox.mjs "$firefox" plain.html hostile.html busy.html
sed 's/"use strict";/"use strict";throw 1;/' plain.html >broken.html
check 'a page whose script does not run is found' eval '! LIMIT_MS=5000 HOME="$PWD" timeout 120 node view_in_firefox.mjs "$firefox" broken.html'
finish
