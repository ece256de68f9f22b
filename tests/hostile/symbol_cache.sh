#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user owns HOME, or plants links and FIFOs where the symbol cache is: no file behind
# them changes, no command waits, and a note says that the cache is not used.
# beside others: 8 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
cc=$(compiler gcc)
chmod 755 .
"$cc" -g -O1 -o spin "$TOP/tests/programs/spin.c" || exit 1
as() { # UID COMMAND…
    local uid=$1
    shift
    timeout -k 5 30 setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@" </dev/null
}
# recorded WHO HOME: the names are there.
recorded() {
    rm -rf work && mkdir -m 777 work && cp "$ASSAY" work/assay && cp spin work/spin
    (cd work && as "$1" env -u XDG_CACHE_HOME HOME="$2" COLUMNS=400 ./assay record -o run.assay -- ./spin 200 >out 2>err) || { cat work/err; return 1; }
    (cd work && as "$1" env HOME=/dev/null COLUMNS=400 ./assay report --notes run.assay >report.log 2>&1) && grep -q main work/report.log || { cat work/report.log; return 1; }
}
not_used() { # WHO HOME WORDS
    # A note of a long path has several lines.
    recorded "$1" "$2" && tr -s '\n ' ' ' <work/report.log | grep -q "the symbol cache '$2/.cache/assay' is not used: .*$3" || { cat work/report.log; return 1; }
}
home_of() { rm -rf home && mkdir -m 755 home && chown "$1:$1" home; }
homes() { # WHO OTHER
    local who=$1 other=$2 name
    name=$([ "$who" = 0 ] && echo root || echo "a user")
    home_of "$other"
    check "$name: the HOME of another user is not used" not_used "$who" "$PWD/home" "belongs to user id $other"
    check "$name: and stays as it was" eval '[ -z "$(ls -A home)" ]'
    home_of "$who"
    mkdir elsewhere && chmod 777 elsewhere
    as "$who" mkdir home/.cache && ln -s "$PWD/elsewhere" home/.cache/assay && chown -h "$other" home/.cache/assay
    check "$name: a planted link to a folder is not followed" not_used "$who" "$PWD/home" "is a link of user id $other"
    check "$name: the folder behind it stays empty" eval '[ -z "$(ls -A elsewhere)" ]'
    rm -rf elsewhere
    home_of "$who"
    check "$name: the own cache is made" recorded "$who" "$PWD/home"
    check "$name: for its owner alone" eval '[ "$(stat -c %a home/.cache/assay)" = 700 ] && ls home/.cache/assay/*.sym >/dev/null'
}
homes 0 65533
homes 65534 65533

# The cache of debuginfod lies in HOME, too, and is read only.
debuginfod_fifo() { # WHO OWNER
    local id
    home_of "$2"
    id=$(readelf -n spin | sed -n 's/.*Build ID: //p')
    as "$2" sh -c 'mkdir -p "$1" && mkfifo -m 666 "$1/debuginfo"' sh "$PWD/home/.cache/debuginfod_client/$id" && recorded "$1" "$PWD/home"
}
check 'root: does not wait for a FIFO in the cache of debuginfod' debuginfod_fifo 0 65533
check 'a user: does not wait for a FIFO in the cache of debuginfod' debuginfod_fifo 65534 65534

# annotate and view search the caches of programs in HOME for instructions; make_profile's modules have these build-ids.
"$TOOLS/make_profile" plain in.assay || exit 1
looked_at() { # WHO OWNER OF THE HOME
    local at plant
    for at in .cache/debuginfod_client/8a53f0/{executable,debuginfo} .debug/.build-id/8a/53f0{,/elf}; do
        for plant in 'mkfifo -m 666' 'ln -s /dev/zero'; do
            home_of "$2"
            rm -rf work && mkdir -m 777 work && cp "$ASSAY" in.assay work && chmod 644 work/in.assay
            # shellcheck disable=SC2016
            as "$2" sh -c 'mkdir -p "$(dirname "$1")" && $2 "$1"' sh "$PWD/home/$at" "$plant" || return 1
            (cd work && as "$1" env -u XDG_CACHE_HOME HOME="$OLDPWD/home" ./assay view --no-open --html page.html in.assay >out 2>err &&
                as "$1" env -u XDG_CACHE_HOME HOME="$OLDPWD/home" ./assay annotate in.assay hot >out 2>err; [ $? -le 1 ]) && [ -s work/page.html ] ||
                { echo "$plant at $at"; cat work/err; return 1; }
        done
    done
}
check 'root: view and annotate wait for nothing planted in caches of programs' looked_at 0 65533
check 'a user: view and annotate wait for nothing planted in caches of programs' looked_at 65534 65534

# Whoever could write to the folder once may have left these.
links_and_fifos() { # WHO
    local file names own
    home_of "$1"
    recorded "$1" "$PWD/home" || return 1
    names=$(ls home/.cache/assay) && [ -n "$names" ] || return 1
    own=$(readelf -n spin | sed -n 's/.*Build ID: //p').sym
    [ -e "home/.cache/assay/$own" ] || { ls -la home/.cache/assay; return 1; }
    echo precious >victim && chown "$1" victim
    for how in 'ln -sf $PWD/victim' 'mkfifo'; do
        for file in $names; do rm -f "home/.cache/assay/$file" && eval "$how home/.cache/assay/$file" || return 1; done
        recorded "$1" "$PWD/home" && [ "$(cat victim)" = precious ] || return 1
        # The program is in every recording; other files only where a sample hit them.
        for file in $own; do [ -f "home/.cache/assay/$file" ] && [ ! -L "home/.cache/assay/$file" ] || { ls -la home/.cache/assay; return 1; }; done
    done
}
check 'root: links and FIFOs in the cache are replaced' links_and_fifos 0
check 'a user: links and FIFOs in the cache are replaced' links_and_fifos 65534
finish
