#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is installed: man pages that list what commands take, completions that
# shells accept and that complete, a binary that needs only libc.
# beside others: 3 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"

check 'man pages list exactly the options of the tables' "$TOP/tools/man-pages" --check "$ASSAY"
check 'man pages and completions are installed' "$TOP/tools/install-files" "$ASSAY" "$PWD/dest"

unit=dest/lib/systemd/system/assay-flight.service
mkdir -p dest/bin && ln -s "$ASSAY" dest/bin/assay
check 'the unit of systemd names the installed program' grep -qx "ExecStart=$PWD/dest/bin/assay record --flight .*" $unit
if command -v systemd-analyze >/dev/null; then
    check 'systemd finds no fault in the unit' test -z "$(systemd-analyze verify --man=no "$PWD/$unit" 2>&1)"
else
    skip 'systemd finds no fault in the unit' 'no systemd-analyze here'
fi

mkdir -p gone/include gone/share/man/man1 && touch gone/share/man/man1/other.1
uninstalls() {
    "$TOP/tools/install-files" "$ASSAY" "$PWD/gone" && [ "$(find gone ! -type d | wc -l)" -gt 20 ] && "$TOP/tools/uninstall-files" "$ASSAY" "$PWD/gone" &&
        [ "$(find gone ! -type d)" = gone/share/man/man1/other.1 ] && [ -d gone/include ] && [ -z "$(find gone -name '*assay*')" ]
}
check 'what is installed is removed again, nothing else' uninstalls

needs_only_libc() {
    local others
    others=$(ldd "$ASSAY" | grep -vE 'linux-vdso|lib(c|m)\.so|ld-linux|statically|not a dynamic')
    [ -z "$others" ] || { echo "also needs: $others"; return 1; }
}
case $BUILD in
*/release) check 'the executable needs libc and libm only' needs_only_libc ;;
*) skip 'the executable needs libc and libm only' 'not the release build' ;;
esac

completion=dest/share/bash-completion/completions/assay
# complete_words WORD…: what bash offers for the last word.
complete_words() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _assay
        printf "%s\n" "${COMPREPLY[@]}"' bash "$PWD/$completion" "$@"
}
check 'bash completes a command' grep -qx report <(complete_words assay rep)
check 'bash completes an option' grep -qx -- --inverted <(complete_words assay report --inv)
check 'bash completes an option value' grep -qx module <(complete_words assay report --by mod)
check 'bash accepts its completion' bash -n $completion
zsh_completes() { # LINE WORD
    python3 "$TOP/tests/e2e/lib/complete_zsh.py" "$PWD/dest/share/zsh/site-functions" "$@"
}
fish_completes() { # LINE WORD
    fish --no-config -c 'source dest/share/fish/vendor_completions.d/assay.fish; complete -C $argv[1]' \
        "$1" | cut -f 1 | grep -qx -- "$2"
}
for shell in zsh fish; do
    script=dest/share/zsh/site-functions/_assay
    [ $shell = fish ] && script=dest/share/fish/vendor_completions.d/assay.fish
    if command -v $shell >/dev/null; then
        check "$shell accepts its completion" $shell -n "$script"
        check "$shell completes a command" ${shell}_completes 'assay rep' report
        check "$shell completes an option" ${shell}_completes 'assay report --inv' --inverted
        check "$shell completes an option value" ${shell}_completes 'assay report --by mod' module
    else
        skip "$shell accepts its completion" "no $shell here"
    fi
done

no_roff_warnings() {
    local page warnings
    for page in dest/share/man/man1/*.1; do
        warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
        [ -z "$warnings" ] || { echo "$page: $warnings"; return 1; }
    done
}
if command -v groff >/dev/null && [ -e /usr/share/groff/current/tmac/an-old.tmac ] ||
    [ -e /usr/share/groff/1.22.4/tmac/an-old.tmac ]; then
    check 'man pages format without a warning' no_roff_warnings
else
    skip 'man pages format without a warning' 'no groff with man macros here'
fi
finish
