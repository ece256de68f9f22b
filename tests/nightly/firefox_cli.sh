#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every version of profiles of Firefox, and every kind of export, against its own command line.
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
nightly_only # tests/e2e has a part of it
ALL=1 exec "$TOP/tests/e2e/firefox_cli.sh"
