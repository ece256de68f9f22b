#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The words that an option takes come from a table: the help, the message about another word and
# the completions all list what the table has.
lists() { sed -n '/^formats/,/^$/p'; }
echo "-- help"
"$ASSAY" export --help | lists
"$ASSAY" import --help | lists
"$ASSAY" cover export --help | lists
"$ASSAY" help flame | grep -A 1 -e --group
echo "-- another word"
"$ASSAY" export -f nope 2>&1
"$ASSAY" report --by nope 2>&1
"$ASSAY" flame --colour=nope 2>&1
"$ASSAY" cover subtract --format llvm-json 2>&1
echo x | "$ASSAY" report - 2>&1
echo "-- completions"
for shell in bash zsh fish; do
    "$TOP/tools/completions" "$shell" "$ASSAY" >"$shell.completion"
    grep -q 'folded perf-script pprof' "$shell.completion" && echo "$shell: export formats"
    grep -q 'lcov llvm-json' "$shell.completion" && echo "$shell: cover export formats"
done
bash -n bash.completion
. ./bash.completion
COMP_WORDS=(assay export --format s) COMP_CWORD=3
_assay
echo "${COMPREPLY[@]}"
COMP_WORDS=(assay cover f) COMP_CWORD=2
_assay
echo "${COMPREPLY[@]}"
COMP_WORDS=(assay cover add --format co) COMP_CWORD=4
_assay
echo "${COMPREPLY[@]}"
echo "-- commands"
"$ASSAY" repport 2>&1
"$ASSAY" cover repor 2>&1
"$ASSAY" cover 2>&1 | head -n 2
