# SPDX-License-Identifier: Apache-2.0
# Sourced by benchmarks. bench/run gives TOP, ASSAY, WORKLOADS and a scratch folder.
# shellcheck shell=bash

# row WHAT PEER TARGET MEASURED COMMAND
row() { printf '| %s | %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" "\`$5\`"; }

# cost [-n TIMES] COMMAND…: sets cpu, wall (seconds), rss_kb, status.
# shellcheck disable=SC2034 # the caller reads them
cost() {
    local line word
    line=$("$COST" "$@") || return
    for word in $line; do
        case $word in
        cpu=*) cpu=${word#*=} ;;
        wall=*) wall=${word#*=} ;;
        rss_kb=*) rss_kb=${word#*=} ;;
        status=*) status=${word#*=} ;;
        esac
    done
}

# calc EXPRESSION [FORMAT]
calc() { python3 -c 'import sys; print(("%" + sys.argv[2]) % eval(sys.argv[1]))' "$1" "${2:-.2f}"; }
