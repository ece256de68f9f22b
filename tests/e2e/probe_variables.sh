#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Variables by the debug information as arguments of probes: over compilers, optimisation, DWARF
# versions; and why a variable has no value.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
if [ "$(id -u)" != 0 ]; then skip_all 'probes need root'; fi
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip_all 'this kernel has no uprobe events'
source=$TOP/tests/programs/variables.c
N=90
line() { grep -n "// line $1" "$source" | tail -n 1 | cut -d: -f1; }
# values EVENT NAME LEAST MOST [COUNT]: the argument NAME has so many values between these, both of which occur
values() {
    rm -f p.assay
    assay record -q -m 16M -o p.assay -e "$1" -- $PROGRAM $N >/dev/null 2>err || { cat err; return 1; }
    assay report --json p.assay >report.json && python3 -c 'import json, sys
r = json.load(open("report.json"))
a = [a for a in r["arguments"] if a["name"].endswith(" " + sys.argv[1])][0]
got = (a["least"], a["most"], a["count"])
want = tuple(int(x) for x in sys.argv[2:])
sys.exit(0 if got == want else f"{got} are not {want}")' "$2" "$3" "$4" "${5:-$N}"
}
refused() { # EVENT TEXT: is an error that says so, before the program runs
    rm -f ran
    if assay record -f -o x.assay -e "$1" -- $PROGRAM $N >ran 2>err; then return 1; fi
    grep -q -- "$2" err && [ ! -s ran ] || { cat err; return 1; }
}

compilers=(gcc)
command -v clang-14 >/dev/null && compilers+=(clang-14)
for cc in "${compilers[@]}"; do
    all=('-O0 -gdwarf-5' '-O2 -gdwarf-4')
    [ "$cc" = gcc ] || all=('-O0 -gdwarf-4' '-O2 -gdwarf-5')
    for flags in "${all[@]}" '-O1 -gdwarf-5 -fno-omit-frame-pointer'; do
        PROGRAM=./v
        # shellcheck disable=SC2086
        $cc $flags -o v "$source" || exit 1
        check "$cc $flags: a parameter where the function begins" values 'measure len' len 0 $((N - 1))
        check "$cc $flags: one behind a floating-point parameter, with its sign" values 'measure level' level -5 -5
        check "$cc $flags: a local variable at a line" values "variables.c:$(line local) local" local 0 $((3 * N - 3))
        check "$cc $flags: a member of a structure" values "variables.c:$(line local) box.size" box.size 7 $((N + 6))
        check "$cc $flags: an unsigned member" values "variables.c:$(line local) box.kind" box.kind 200 200
        check "$cc $flags: of two of one name the inner one" values "variables.c:$(line deep) inner" inner 1000 $((N + 999))
        check "$cc $flags: in an inlined call" values "variables.c:$(line inlined) same" same 0 $((2 * N - 2))
    done
done
gcc -O0 -g -o v "$source" || exit 1
check 'a name of the user for it' values 'measure size=len' size 0 $((N - 1))
check 'a type of the user for it' values 'measure level:u8' level 251 251
check 'several' values "variables.c:$(line local) local len" len 0 $((N - 1))
check 'no such variable is said with those that there are' refused 'measure nothing' "there are len, ratio, tag, level, head"
each_once() { refused "variables.c:$(line deep) nothing" 'there are ' && [ -z "$(sed -n 's/.*there are //p' err | sed 's/ and more$//' | tr -d ' ' | tr , '\n' | sort | uniq -d)" ]; }
check 'each of them once' each_once
check 'a local variable has no value where the function begins' refused 'measure local' 'has no value yet'
check 'a structure is not a number' refused "variables.c:$(line local) box" 'is a structure'
check 'nor is a floating-point value' refused 'measure ratio' 'floating-point'
check 'a member that is not there' refused "variables.c:$(line local) box.none" "has no member 'none'"
check 'what is behind a pointer is not in samples' refused "variables.c:$(line local) head->size" 'behind a pointer'
cp v stripped && strip stripped
PROGRAM=./stripped
check 'a stripped program has no variables' refused "0x$(nm v | awk '$3 == "measure" { print $1 }' | sed 's/^0*//') len" 'no debug information'
finish
