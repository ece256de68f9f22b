# SPDX-License-Identifier: Apache-2.0
# Sourced by the e2e tests of assay cover: common.sh, and looks at what was counted.
# shellcheck shell=bash
# shellcheck source=common.sh
. "$TOP/tests/e2e/lib/common.sh"

# count_of RESULT TEXT: the count that the listing has beside the first line with TEXT.
count_of() {
    "$ASSAY" cover show -I "$TOP" -I . "$1" 2>/dev/null | awk -v text="$2" 'index($0, text) { print $1; exit }'
}
