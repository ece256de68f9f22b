#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Symbolising over what compilers, linkers and packagers make of debug
# information. TAP. The truths stand in tests/programs/inline_chain.*.
# beside others: 18 s
set -u
lookup=$TOOLS/address_lookup
source=$TOP/tests/programs/inline_chain.cc
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
have() { command -v "$1" >/dev/null; }
line_of() { grep -n "// $1\$" "$source" | cut -d: -f1; }

# Every address of a function (of the unstripped program $1) in the file $2.
addresses() {
    nm -S "$1" | awk -v f="$3" '$4 == f { print $1, $2 }' | while read -r start size; do
        for ((a = 0x$start; a < 0x$start + 0x$size; a++)); do printf '%x\n' "$a"; done
    done
}

hot=_ZN5chain3hotEl
hidden=_ZN5chainL6hiddenEl
inner=$(line_of INNER)
calls_inner=$(line_of CALLS_INNER)
calls_middle=$(line_of CALLS_MIDDLE)

# has NAME PATTERN: the last output has such a line.
has() { grep -qE "$1" seen; }

# full NAME PROGRAM FILE [OPTION…]: the inline chain of hot is found in FILE.
full() {
    local name=$1 program=$2 file=$3
    shift 3
    addresses "$program" "$file" "$hot" | "$lookup" "$file" - "$@" >seen 2>&1
    if grep -P "\tchain::inner\(long\)\t.*inline_chain\.cc:$inner \(inlined\)$" seen >inners &&
        has "chain::middle\(long\).*inline_chain\.cc:$calls_inner \(inlined\)$" &&
        has "chain::hot\(long\).$hot.*inline_chain\.cc:$calls_middle$"; then
        ok "$name"
    else
        not_ok "$name" seen
    fi
}

# noted NAME PATTERN: the last output has such a note.
noted() { if has "^note: .*$2"; then ok "$1"; else not_ok "$1" seen; fi; }

# named NAME PROGRAM FILE FUNCTION PATTERN [OPTION…]: one frame at its start.
named() {
    local name=$1 program=$2 file=$3 function=$4 pattern=$5
    shift 5
    "$lookup" "$file" "$@" "$(nm "$program" | awk -v f="$function" '$3 == f { print $1 }')" \
        >seen 2>&1
    if has "$pattern"; then ok "$name"; else not_ok "$name" seen; fi
}

# build OUT COMPILER FLAG…: both halves, each its own object.
build() {
    local out=$1 cc=$2
    shift 2
    "$cc" -c "$@" -o "$out-1.o" "$source" && "$cc" -c "$@" -DSECOND -o "$out-2.o" "$source" &&
        "$cc" "$@" -o "$out" "$out-1.o" "$out-2.o"
}

have g++ || { echo "no g++"; exit 77; }
compilers=g++
for clang in clang++-14 clang++; do
    if have $clang; then compilers="$compilers $clang"; break; fi
done

for cc in $compilers; do
    for version in 4 5; do
        build plain-"$cc"-$version "$cc" -O2 -g -gdwarf-$version || exit 1
        full "$cc -gdwarf-$version" plain-"$cc"-$version plain-"$cc"-$version
    done
    build tables-"$cc" "$cc" -O2 -g1 || exit 1
    named "$cc -g1 names and places a function" tables-"$cc" tables-"$cc" $hot \
        "chain::hot\(long\).*inline_chain.cc:[1-9]"
    for version in 4 5; do
        mkdir -p split-"$cc"-$version
        (cd split-"$cc"-$version && build p "$cc" -O2 -g -gdwarf-$version -gsplit-dwarf) || exit 1
        full "$cc -gdwarf-$version -gsplit-dwarf" split-"$cc"-$version/p split-"$cc"-$version/p
    done
    # Functions without linkage names have the scopes that they stand in.
    for flags in -gdwarf-4 -gdwarf-5 '-gdwarf-5 -gsplit-dwarf' '-gdwarf-5 -fdebug-types-section'; do
        # shellcheck disable=SC2086 # the flags are words
        "$cc" -O2 -g $flags -o scopes "$TOP/tests/programs/scopes.cc" || exit 1
        addresses scopes scopes entry | "$lookup" scopes - >seen 2>&1
        if has '	\(anonymous namespace\)::hidden(\(int, int\))?	.*\(inlined\)$' &&
            has '	shop::\(anonymous namespace\)::Till::Drawer::deep(\(int\) const)?	.*\(inlined\)$' &&
            has '	entry	entry	.*scopes.cc:[0-9]+$' && ! has '	(hidden|deep)	.*\(inlined\)$'; then
            ok "$cc $flags: an inlined function without linkage name has its scopes"
        else
            not_ok "$cc $flags: an inlined function without linkage name has its scopes" seen
        fi
    done
done

p=plain-g++-5
named "the symbol table names the outermost function as linked" $p $p $hidden \
    "chain::hidden\(long\).$hidden"
"$lookup" $p --length 2 --symbol _ZN5chain5TableIlE5otherEl >seen 2>&1
if has "	chain::Table::other	_ZN5chain5TableIlE5otherEl"; then
    ok "names are shown without templates when asked"
else
    not_ok "names are shown without templates when asked" seen
fi

# The stubs of calls into libraries.
objdump -d --no-show-raw-insn $p | sed -n 's/^0*\([0-9a-f]*\) <printf@plt>:$/\1/p' >stub
"$lookup" $p - <stub >seen 2>&1
if [ -s stub ] && has "	printf@plt	printf@plt	"; then
    ok "the stub of a library call has its name"
elif [ -s stub ]; then
    not_ok "the stub of a library call has its name" seen
else
    skip "the stub of a library call has its name" "this compiler calls it otherwise"
fi

# Compressed sections.
objcopy --compress-debug-sections=zlib $p zlib && full "zlib sections" $p zlib
objcopy --compress-debug-sections=zlib-gnu $p zdebug && full ".zdebug sections" $p zdebug
if objcopy --compress-debug-sections=zstd $p zstd 2>/dev/null; then
    full "zstd sections" $p zstd
else
    skip "zstd sections" "this objcopy cannot write zstd"
fi

# Separate files, by .gnu_debuglink. Without a build-id the checksum decides.
build linked g++ -O2 -g -Wl,--build-id=none || exit 1
mkdir -p link/.debug dirs
objcopy --only-keep-debug linked link/.debug/linked.debug
objcopy --strip-all --add-gnu-debuglink=link/.debug/linked.debug linked link/linked
full ".gnu_debuglink in .debug" linked link/linked
mv link/.debug/linked.debug link/
full ".gnu_debuglink beside the program" linked link/linked
cp link/linked relative
cp link/linked.debug .
full ".gnu_debuglink beside a program named without a folder" linked relative
rm linked.debug
mkdir -p "dirs$PWD/link"
mv link/linked.debug "dirs$PWD/link/"
full ".gnu_debuglink below a debug directory" linked "$PWD/link/linked" --debug-dir dirs
sed 's/GNU C/gnu c/' "dirs$PWD/link/linked.debug" >link/linked.debug
rm "dirs$PWD/link/linked.debug"
"$lookup" link/linked "$(nm linked | awk -v f=$hot '$3 == f { print $1 }')" >seen 2>&1
noted "a debug file with another checksum is not used" "belongs to another build"
if has "	linked\+0x[0-9a-f]+	"; then ok "bounds stand in for names"; else not_ok "bounds stand in for names" seen; fi

# By build-id.
build ids g++ -O2 -g -Wl,--build-id=0x0123456789abcdef || exit 1
mkdir -p store/.build-id/01
objcopy --only-keep-debug ids store/.build-id/01/23456789abcdef.debug
objcopy --strip-all ids ids-stripped
full "build-id directory" ids ids-stripped --debug-dir store
full "the recorded build-id finds it when the program is gone" ids gone \
    --build-id 0123456789abcdef --debug-dir store
noted "the missing program is noted" "is gone or cannot be read"
named "a replaced program is not taken for the recorded one" ids $p $hot \
    "^note: .*replaced since it was recorded" --build-id 0123456789abcdef
mkdir -p wrong/.build-id/01
objcopy --only-keep-debug $p wrong/.build-id/01/23456789abcdef.debug
named "a debug file of another build-id is not mixed in" ids ids-stripped $hot \
    "^note: .*another build-id and is not used" --debug-dir wrong

# Split DWARF in packages, and .dwo files that moved or are missing.
for cc in $compilers; do
    for version in 4 5; do
        d=split-$cc-$version
        tool=llvm-dwp # which spins on what gcc 12 makes of DWARF 5
        [ "$cc" = g++ ] && tool=dwp
        if ! have $tool; then
            skip "$cc -gdwarf-$version package" "no $tool"
        elif (cd "$d" && timeout 20 $tool -e p -o p.dwp >/dev/null 2>&1 && mkdir -p away && mv ./*.dwo away); then
            full "$cc -gdwarf-$version package (.dwp)" "$d"/p "$d"/p
        else
            skip "$cc -gdwarf-$version package" "$tool cannot make one"
        fi
        rm -f "$d"/p.dwp
        [ -d "$d"/away ] || { mkdir "$d"/away; mv "$d"/*.dwo "$d"/away; }
        named "$cc -gdwarf-$version without its .dwo files still has names" "$d"/p "$d"/p $hot \
            "chain::hot\(long\).*inline_chain.cc:[1-9]"
        noted "$cc -gdwarf-$version says that .dwo files are missing" "\.dwo files are missing"
        mkdir -p moved-"$cc"-$version
        cp "$d"/p "$d"/away/*.dwo moved-"$cc"-$version
        full "$cc -gdwarf-$version with .dwo files beside the moved program" "$d"/p moved-"$cc"-$version/p
    done
done

# dwz: one file, and two that share a third.
if have dwz; then
    cp plain-g++-4 dwz1
    dwz dwz1 2>/dev/null
    full "dwz" plain-g++-4 dwz1
    build second g++ -O2 -g -gdwarf-4 -DEXTRA || exit 1
    cp plain-g++-4 dwz2
    cp second dwz3
    if dwz -m "$PWD/common.dwz" dwz2 dwz3 2>/dev/null && [ -s common.dwz ] &&
        readelf -S dwz2 | grep -q gnu_debugaltlink; then
        full "dwz -m with its common file" plain-g++-4 dwz2
        mv common.dwz elsewhere
        "$lookup" dwz2 --symbol $hot >seen 2>&1
        noted "a missing common file is noted" "dwz file '.*common.dwz' is missing"
    else
        skip "dwz -m" "dwz found nothing to share"
    fi
else
    skip "dwz" "dwz is not installed"
fi

# Symbols only, a small xz-compressed table, and nothing at all.
build symbols g++ -O2 || exit 1
named "without debug information the symbol table is used" symbols symbols $hot \
    "chain::hot\(long\).$hot.:0$"
noted "lacking debug information is noted with the remedy" "no debug information.*build it with -g"
if have xz; then
    nm symbols | awk '$2 ~ /[tT]/ { print $3 }' | sort -u >keep
    objcopy --keep-symbols=keep --strip-debug --remove-section=.comment symbols mini
    xz -k mini
    objcopy --strip-all --add-section .gnu_debugdata=mini.xz symbols minidebug
    named ".gnu_debugdata names a local function" symbols minidebug $hidden "chain::hidden\(long\)"
else
    skip ".gnu_debugdata" "xz is not installed"
fi
objcopy --strip-all symbols bare
named "a stripped program has functions by their bounds" symbols bare $hot "	bare\+0x"
noted "being stripped is noted" "stripped"

# The cache: the same answer without opening the debug information.
addresses $p $p $hot >list
"$lookup" $p - --cache "$PWD/cache" <list >cold 2>&1
"$lookup" $p - --cache "$PWD/cache" --time <list >warm 2>&1
grep -v '^time:' warm >warm-frames
grep '^time:' warm >seen
if cmp -s cold warm-frames && has "[1-9][0-9]* from the cache"; then
    ok "a second look-up comes from the cache and says the same"
else
    diff cold warm-frames | head >>seen
    not_ok "a second look-up comes from the cache and says the same" seen
fi
printf 'x' | dd of="$(ls cache/*.sym)" bs=1 seek=100 conv=notrunc 2>/dev/null
"$lookup" $p - --cache "$PWD/cache" <list >seen 2>&1
if cmp -s cold seen; then ok "a damaged cache is not believed"; else not_ok "a damaged cache is not believed" seen; fi
for i in 1 2 3 4 5 6; do
    "$lookup" $p - --cache "$PWD/cache2" <list >parallel-$i 2>&1 &
done
wait
same=yes
for i in 1 2 3 4 5 6; do cmp -s cold parallel-$i || same=no; done
if [ $same = yes ]; then ok "six writers at once do no harm"; else not_ok "six writers at once do no harm" seen; fi
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    timeout -s KILL "0.00$((i * 7 % 10))" "$lookup" $p - --cache "$PWD/cache3" <list >/dev/null 2>&1
    "$TOOLS/fault" write=EIO 1 fired "$lookup" $p - --cache "$PWD/cache3" <list >/dev/null 2>&1
done
"$lookup" $p - --cache "$PWD/cache3" <list >seen 2>&1
if cmp -s cold seen; then ok "killed and failed writers do no harm"; else not_ok "killed and failed writers do no harm" seen; fi

# Source text.
"$lookup" $p --sources --symbol $hot >seen 2>&1
if has "^source: .*inline_chain.cc:[0-9]+: .*middle\(i\);"; then
    ok "touched source lines are kept"
else
    not_ok "touched source lines are kept" seen
fi

# Rust, both ways of mangling.
if have rustc && rustc --version >/dev/null 2>&1; then
    for mangling in legacy v0; do
        flags=(-C "symbol-mangling-version=$mangling")
        [ $mangling = legacy ] && flags+=(-Z unstable-options)
        if ! RUSTC_BOOTSTRAP=1 rustc -O -g "${flags[@]}" -o rust-$mangling \
            "$TOP/tests/programs/inline_chain.rs" >seen 2>&1; then
            skip "rust, $mangling mangling" "rustc cannot build it"
            continue
        fi
        f=$(nm rust-$mangling | awk '/shapes.*visit/ { print $3; exit }')
        named "rust, $mangling: a generic function" rust-$mangling rust-$mangling "$f" \
            "	inline_chain::shapes::visit.*inline_chain.rs:[1-9]"
        f=$(nm rust-$mangling | awk '/Square.*area/ { print $3; exit }')
        named "rust, $mangling: a trait's method" rust-$mangling rust-$mangling "$f" \
            "	<inline_chain::shapes::Square as inline_chain::shapes::Area>::area	" --length 2
    done
else
    skip "rust" "no rustc"
fi
finish
