#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where perf events and ptrace are refused, the programs preload a library from a folder that we make
# in /dev/shm or /tmp: its name is new in each run, and no other user can look into it or write to it.
# beside others: 7 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'only root can be other users'
gcc -O1 -o no_perf "$TOP/tests/programs/no_perf.c" && gcc -g -O2 -o spin "$TOP/tests/programs/spin.c" || exit 1
./no_perf true || skip_all 'no seccomp filters here'
chmod 755 . && mkdir -m 777 work && cp "$ASSAY" work/assay && cp no_perf spin work/ || exit 1
as() { # UID COMMAND…
    local uid=$1
    shift
    setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/dev/null XDG_CACHE_HOME= "$@" </dev/null
}
folder_of() { # UID: of a session that runs
    find /dev/shm /tmp /var/tmp "${TMPDIR:-/tmp}" -maxdepth 1 -name 'assay-agent-*' -user "$1" -newer work/started 2>/dev/null | head -n 1
}
found() { folder=$(folder_of "$1") && [ -n "$folder" ] && [ -s "$folder/session" ]; }
is_private() { # UID
    local recorder folder status=0 file
    touch work/started && sleep 0.02
    (cd work && as "$1" timeout -k 5 60 ./no_perf --ptrace ./assay record -q -f -o run.assay -- ./spin 2000 >out 2>err) &
    recorder=$!
    eventually found "$1" || { echo 'no folder'; cat work/err; return 1; }
    [ "$(stat -c '%a %u' "$folder")" = "700 $1" ] || { stat "$folder"; status=1; }
    ! as 65533 ls "$folder" 2>/dev/null || status=1
    for file in session libassay.so planted; do
        # shellcheck disable=SC2016 # the other user's shell expands it
        ! as 65533 sh -c ': >>"$1"' sh "$folder/$file" 2>/dev/null || { echo "$file can be written"; status=1; }
    done
    ! as 65533 mv "$folder" "$folder-moved" 2>/dev/null || { echo 'the folder can be moved'; status=1; }
    wait $recorder || { cat work/err; status=1; }
    [ ! -e "$folder" ] || { echo 'the folder stays'; status=1; }
    echo "$folder" >>names
    return $status
}
for who in 0 65534; do
    check "as $who: no other user has rights there" is_private $who
done
check 'as 0: again' is_private 0
# The agent that root puts into another user's process has that user's rights: so has the folder.
attached() {
    local target status=0
    (cd work && as 65534 timeout -k 5 60 ./spin 1000000 >out 2>err) &
    eventually eval 'target=$(pgrep -u 65534 -x spin | head -n 1); [ -n "$target" ]' || return 1
    touch work/started && sleep 0.02
    "$ASSAY" heap -q -f -o attached.assay -p "$target" >attached.out 2>&1 &
    eventually found 65534 || { echo 'no folder of the user'; cat attached.out; status=1; }
    [ $status -ne 0 ] || [ "$(stat -c '%a %u' "$folder")" = '700 65534' ] || { stat "$folder"; status=1; }
    kill -INT $!
    wait $! || { cat attached.out; status=1; }
    kill "$target"
    wait
    [ ! -e "$folder" ] || { echo 'the folder stays'; status=1; }
    return $status
}
if [ "$(uname -m)" = x86_64 ]; then
    check 'root attaches to a process of another user' attached
else
    skip 'root attaches to a process of another user' 'attaching is for x86-64 only'
fi
# What a killed collector and its guard leave goes when the next one begins; nothing else does.
abandoned() { # UID
    local old=/dev/shm/assay-agent-abandoned$1 young=/dev/shm/assay-agent-justmade$1 theirs=/dev/shm/assay-agent-theirs$1 status=0 locked=/dev/shm/assay-agent-locked$1
    rm -rf "$old" "$young" "$theirs" "$locked"
    as "$1" mkdir -m 700 "$old" "$young" "$locked" && as 65533 mkdir -m 777 "$theirs" && as "$1" touch "$old/session" "$old/libassay.so" || return 1
    touch -d '2 minutes ago' "$old" "$theirs" "$locked"
    exec 9<"$locked" && flock 9
    (cd work && as "$1" ./assay heap -q -f -o heap.assay -- ./spin 1 >out 2>err) || { cat work/err; status=1; }
    [ ! -e "$old" ] || { echo 'the abandoned folder stays'; status=1; }
    [ -e "$young" ] && [ -e "$theirs" ] && [ -e "$locked" ] || { echo 'another folder is gone'; status=1; }
    exec 9<&-
    rm -rf "$old" "$young" "$theirs" "$locked"
    return $status
}
for who in 0 65534; do
    check "as $who: an abandoned folder is removed" abandoned $who
done
check 'the names differ' eval '[ "$(sort -u names | wc -l)" = 3 ] && ! grep -qE "assay-agent-.{0,11}$" names'
finish
