#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A flame graph is well-formed XML whatever the names are, holds no element,
# attribute or reference but its own, and its frames add up.
# beside others: 2 s
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || { echo "no make_profile: make dev builds it"; exit 77; }
for kind in plain hostile nameless two-metrics; do
    "$make_profile" "$kind" "$folder/$kind.assay"
    for form in "" --icicle --inverted "--group thread" "--by line" "--colour module"; do
        # shellcheck disable=SC2086
        "$ASSAY" flame "$folder/$kind.assay" -o "$folder/a.svg" --force --max-frames 0 $form 2>/dev/null
        python3 "$TOP/tests/tools/check_flame.py" "$folder/a.svg" || { echo "$kind $form"; exit 1; }
    done
done
