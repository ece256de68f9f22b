#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record asks a server of debuginfod for the debug file of a stripped program: also as root, when the
# recorder has given up sockets and writing, and its keeper does both. The server is on this machine.
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
need_perf
command -v python3 objcopy >/dev/null || skip_all 'no python3 or objcopy'
python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null || skip_all 'no libdebuginfod'
gcc -g -O1 -pthread -Wl,--build-id -o spin "$TOP/tests/programs/spin.c" || exit 1
id=$(readelf -n spin | sed -n 's/.*Build ID: //p')
mkdir -p "served/buildid/$id" && objcopy --only-keep-debug spin "served/buildid/$id/debuginfo" && strip spin || exit 1
cat >server.py <<'PY'
import http.server, os
os.chdir("served")
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
with open("../port.new", "w") as f:
    f.write(str(server.server_port))
os.rename("../port.new", "../port")
server.serve_forever()
PY
python3 server.py >server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
eventually test -s port || exit 1
chmod 755 . && cp "$ASSAY" assay
# recorded UID FOLDER: with caches of its own. Later commands have no server.
recorded() {
    local uid=$1 folder=$2
    mkdir -m 700 "$folder" && chown "$uid:$uid" "$folder" && : >server.log || return 1
    local as=(env -u http_proxy -u HTTP_PROXY -u DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME="$PWD/$folder/cache" HOME="$PWD/$folder")
    [ "$uid" = "$(id -u)" ] || as=(setpriv --reuid "$uid" --regid "$uid" --clear-groups "${as[@]}")
    "${as[@]}" DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)" ./assay record -q -o "$folder/run.assay" -- ./spin 300 2>err.log </dev/null || { cat err.log; return 1; }
    "${as[@]}" ./assay report "$folder/run.assay" --by line >report.log 2>&1
}
named() { grep -q 'spin\.c' report.log || { cat report.log; return 1; }; }
asked() { grep -q "GET /buildid/$id/debuginfo .* 200 " server.log || { cat server.log; return 1; }; }
cached() { [ -s "$1/cache/assay/$id.sym" ] && [ "$(stat -c '%u' "$1/cache/assay/$id.sym")" = "$2" ] && [ -z "$(find "$1/cache/assay" -name '*.tmp')" ] || { find "$1"; return 1; }; }
not_asked_again() {
    local before
    before=$(wc -l <server.log)
    env XDG_CACHE_HOME="$PWD/$1/cache" HOME="$PWD/$1" DEBUGINFOD_URLS="http://127.0.0.1:$(cat port)" ./assay record -q -f -o "$1/run.assay" -- ./spin 100 2>err.log </dev/null &&
        ! tail -n +$((before + 1)) server.log | grep "$id" && ./assay report "$1/run.assay" --by line | grep -q 'spin\.c'
}
users=("$(id -u)")
[ "$(id -u)" -ne 0 ] || users+=(65534)
for uid in "${users[@]}"; do
    name="as user id $uid"
    check "$name: a stripped program is recorded" recorded "$uid" "of-$uid"
    check "$name: the server was asked for its debug file" asked
    check "$name: its lines are named" named
    check "$name: the symbol cache has them, and is the user's" cached "of-$uid" "$uid"
done
check 'a second recording takes them from the cache' not_asked_again "of-$(id -u)"
finish
