#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every version of profiles of Firefox, and every kind of export, against its own command line.
ALL=1 exec "$TOP/tests/e2e/firefox_cli.sh"
