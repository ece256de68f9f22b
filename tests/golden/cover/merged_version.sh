#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Without an option, merges have the oldest version that holds everything.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
version() { od -A n -t u1 -j 8 -N 1 "$1" | tr -d ' '; }
printf 'f\n1\n1\n5\n' >plain.proftext
printf "f\n1\n1\n5\n\$1\n0x3\n" >mcdc.proftext
for kind in plain mcdc; do
    "$ASSAY" cover merge $kind.proftext -o $kind.profdata && echo "$kind $(version $kind.profdata)"
done
"$ASSAY" cover merge plain.proftext --profdata-version 9 -o asked.profdata && echo "asked $(version asked.profdata)"
