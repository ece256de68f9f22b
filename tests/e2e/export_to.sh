#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `assay export --to URL`: a server gets the profile whole, whatever it answers first; a spool keeps
# what no server took; tokens stand in no message and no file. A real collector of OpenTelemetry
# takes it, where tools/foreign-readers could build one.
# beside others: 6 s
set -u
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
[ -x "$make_profile" ] || { echo "no make_profile: make dev builds it"; exit 77; }
cd "$SCRATCH" || exit 1
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
python3 -c '
import ctypes
try:
    ctypes.CDLL("libcurl.so.4")
except OSError:
    ctypes.CDLL("libcurl-gnutls.so.4")' 2>/dev/null || skip_all 'no libcurl is installed'
unset http_proxy HTTP_PROXY https_proxy HTTPS_PROXY ALL_PROXY all_proxy OTEL_SERVICE_NAME \
    OTEL_EXPORTER_OTLP_HEADERS ASSAY_TO_TOKEN ASSAY_TO_HEADERS

"$make_profile" plain plain.assay
server=
end_server() {
    [ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
    server=
}
trap end_server EXIT

# serve ANSWER…: a server with these answers; $url is its address, got/ what it was sent.
serve() {
    end_server
    rm -rf got && mkdir got
    "$TOP/tests/e2e/lib/http_server.py" "${tls[@]}" got "$@" 2>server.err &
    server=$!
    eventually test -s got/port || { cat server.err; exit 1; }
    url=http://127.0.0.1:$(cat got/port)
}
tls=()
requests() { find got -name '[0-9]*.request' | wc -l; }
send() { "$ASSAY" export plain.assay --to "$url" "$@" >out 2>err; }
field() { python3 -c 'import json, sys; r = json.load(open(f"got/{sys.argv[1]}.request")); print(r["path"] if sys.argv[2] == "path" else {k.lower(): v for k, v in r["headers"].items()}.get(sys.argv[2], ""))' "$@"; }

serve 200
send --service shop && [ "$(requests)" = 1 ] && [ "$(field 0 path)" = /v1development/profiles ] &&
    [ "$(field 0 content-type)" = application/x-protobuf ] && [ "$(field 0 content-encoding)" = gzip ] &&
    "$ASSAY" export plain.assay -f otlp --service shop -o plain.otlp && cmp plain.otlp got/0.body && grep -q 'sent .* bytes to http' err
verdict "a collector gets the file of -f otlp, packed" $?

serve 200
send -f pprof --service 'a b{env=x}' && python3 - got/0.body "$(field 0 content-type)" plain.pprof <<'P' >out 2>&1
import email
import sys
body, content_type, to = sys.argv[1:]
whole = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + open(body, "rb").read())
(part,) = whole.get_payload()
assert part.get_param("name", header="Content-Disposition") == "profile", part
open(to, "wb").write(part.get_payload(decode=True))
P
verdict "Pyroscope gets a form" $?
"$ASSAY" export plain.assay -f pprof -o want.pprof && cmp plain.pprof want.pprof &&
    field 0 path | grep -qE '^/ingest\?name=a%20b%7Benv%3Dx%7D&from=[0-9]+&until=[0-9]+&format=pprof&spyName=assay'
verdict "the form holds the profile of -f pprof, the query its name and time" $?

for word in 429 502 503 504 close cut 503:Retry-After=1; do
    serve "$word" 200
    send && [ "$(requests)" = 2 ] && cmp got/0.body got/1.body && grep -q 'trying again in' err
    verdict "a server that answers '$word' first gets it again" $?
done
python3 - <<'P' >out 2>&1
import json
first, second = (json.load(open(f"got/{n}.request"))["at"] for n in (0, 1))
print(second - first)
assert second - first >= 1
P
verdict "Retry-After is waited for" $?

serve delay:2:200
send --retry-for 20s && [ "$(requests)" = 1 ]
verdict "a server may take its time" $?
serve delay:30:200
! send --retry-for 1s && grep -qi 'timeout\|too slow' err
verdict "a server that never answers is left" $?

for status in 400 401 404 413 302:Location=http://127.0.0.1:1/; do
    serve "$status" 200
    ! send && [ "$(requests)" = 1 ] && grep -q "status ${status%%:*}: not today\\\\x1b\\[31m$" err && ! grep -q more err
    verdict "status ${status%%:*} is not tried again, and its words are shown" $?
done
serve reject
! send && [ "$(requests)" = 1 ] && grep -q 'rejected 2 of the profiles: no profiles here' err
verdict "a partial success fails" $?
serve 503:Retry-After=3600
! send --retry-for 2s && [ "$(requests)" = 1 ] && grep -q 'asks to wait for 3600 s' err
verdict "a server that asks for an hour is not waited for" $?
serve 503
! send --retry-for 0 && [ "$(requests)" = 1 ]
verdict "--retry-for 0 tries once" $?

# Nothing listens there.
serve 200
end_server
! send --retry-for 0 && grep -q "cannot send to '$url/v1development/profiles'" err
verdict "a refused connection fails, with the address" $?

# ---- Secrets
serve 401
! ASSAY_TO_TOKEN=geheim ASSAY_TO_HEADERS='X-Scope-OrgID=me%20too' send --spool kept &&
    [ "$(field 0 authorization)" = 'Bearer geheim' ] && [ "$(field 0 x-scope-orgid)" = 'me too' ] && ! grep -rq geheim err out kept
verdict "tokens come from the environment and are shown nowhere" $?
serve 200
OTEL_EXPORTER_OTLP_HEADERS='a=1,b=2' OTEL_SERVICE_NAME=shop send && [ "$(field 0 a)$(field 0 b)" = 12 ] && cmp got/0.body plain.otlp
verdict "OpenTelemetry's variables are known" $?
! ASSAY_TO_TOKEN=$'geheim\nX: y' send && grep -q 'ASSAY_TO_TOKEN holds no valid header' err && ! grep -q geheim err
verdict "a token of two lines is refused" $?
url=http://me:geheim@127.0.0.1:1
! send && ! grep -q geheim err && grep -q ASSAY_TO_TOKEN err
verdict "a password in the URL is refused" $?
for url in ftp://a file:///etc/passwd http:// 'http://a b'; do
    ! "$ASSAY" export plain.assay --to "$url" >out 2>err </dev/null
    verdict "'$url' is not an address" $?
done
url=http://127.0.0.1:1
status_is 2 "$ASSAY" export plain.assay --to "$url" -f folded >out 2>err && status_is 2 "$ASSAY" export plain.assay --to "$url" -o x >out 2>err
verdict "what cannot be sent is refused" $?

# ---- The spool
rm -rf kept
serve 503
send --spool kept --retry-for 0 --service one && send --spool kept --retry-for 0 --service two && [ "$(find kept -name '*.message' | wc -l)" = 2 ] && grep -q 'kept 2 recordings' err
verdict "what a server does not take stays in the spool" $?
[ "$(stat -c %a kept)" = 700 ] && [ "$(find kept -name '*.message' -perm 600 | wc -l)" = 2 ]
verdict "the spool is its owner's alone" $?
port=$(cat got/port)
end_server
rm -rf got && mkdir got
sed "s/(\"127.0.0.1\", 0)/(\"127.0.0.1\", $port)/; s/class Handler/http.server.HTTPServer.allow_reuse_address = True\nclass Handler/" "$TOP/tests/e2e/lib/http_server.py" >again.py
python3 again.py got 200 2>server.err &
server=$!
eventually test -s got/port
url=http://127.0.0.1:$port
send --spool kept --service three && [ "$(requests)" = 3 ] && [ -z "$(ls -A kept)" ] && grep -q 'sent 3 recordings' err
verdict "the next command sends it first" $?
order=1
for n in 0:one 1:two 2:three; do
    "$ASSAY" export plain.assay -f otlp --service "${n#*:}" -o o.otlp --force && cmp o.otlp "got/${n%%:*}.body" || order=0
done
[ $order = 1 ]
verdict "in the order in which it was recorded" $?
serve 503
for n in 1 2 3 4 5; do send --spool kept --retry-for 0 --service "s$n" --spool-size 4k || break; done
[ "$(find kept -type f -printf '%s\n' | awk '{s += $1} END {print s}')" -le 4096 ] && grep -q 'the spool is full' err && grep -aq "" kept/*.message
verdict "a full spool loses its oldest" $?
! send --spool kept --spool-size 100 --retry-for 0 && grep -q 'larger than the spool' err
verdict "a recording that no spool holds is an error" $?
rm -rf kept && mkdir -m 700 kept
printf 'assay message 1\nurl: %s/v1development/profiles\ntype: a\nencoding: \nbytes: 9\n\nshort' "$url" >kept/00000000000000000001-00000000.message
printf 'assay message 1\nurl: http://127.0.0.1:1/x\ntype: a\nencoding: \nbytes: 5\n\nother' >kept/00000000000000000002-00000000.message
mkfifo kept/00000000000000000003-00000000.message
serve 400 200
! send --spool kept && [ "$(requests)" = 1 ] && grep -q 'not a whole message' err && [ -e kept/00000000000000000002-00000000.message ] && [ "$(find kept -type f | wc -l)" = 2 ]
verdict "broken messages are named, those for others stay, refused ones go" $?
if [ "$(id -u)" = 0 ]; then
    rm -rf /tmp/assay-spool-test.$$ && mkdir /tmp/assay-spool-test.$$ && chown nobody /tmp/assay-spool-test.$$
    ! send --spool /tmp/assay-spool-test.$$ && [ -z "$(ls -A /tmp/assay-spool-test.$$)" ]
    verdict "another user's folder is not a spool" $?
    rm -rf /tmp/assay-spool-test.$$
else
    skip "another user's folder is not a spool" "only root can make one"
fi

# ---- HTTPS
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null; then
    tls=(--tls cert.pem key.pem)
    serve 200
    url=https://127.0.0.1:$(cat got/port)
    ! send --retry-for 2s && [ "$(requests)" = 0 ] && grep -q -- --cacert err
    verdict "a certificate that nobody signed is refused" $?
    send --cacert cert.pem --service shop && cmp got/0.body plain.otlp
    verdict "--cacert trusts it" $?
else
    skip "HTTPS" "no openssl makes a certificate"
fi
end_server

# ---- A real collector
collector=$TOP/build/readers/bin/collector # tools/foreign-readers builds it
if ! [ -x "$collector" ]; then
    skip "a collector of OpenTelemetry takes it" "no collector: tools/foreign-readers"
    finish
    exit
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >collector.yaml <<Y
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:$port
exporters:
  debug:
    verbosity: detailed
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    profiles:
      receivers: [otlp]
      exporters: [debug]
Y
"$collector" --config collector.yaml --feature-gates=service.profilesSupport >collector.log 2>&1 &
server=$!
eventually grep -q 'Everything is ready' collector.log || { cat collector.log; exit 1; }
url=http://127.0.0.1:$port
send --service shop
verdict "a collector of OpenTelemetry accepts it" $?
eventually grep -q 'service.name: Str(shop)' collector.log
verdict "the collector has the service's name" $?
"$ASSAY" export plain.assay -f json -o plain.json && python3 - plain.json collector.log <<'P' >out 2>&1
import json
import re
import sys
profile, log = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
values = [int(v) for line in re.findall(r"Values: \[([\d ]*)\]", log) for v in line.split()]
print(values)
table = profile["samples"]
names = [k for k in table if k.startswith("value")]
print(names or list(table))
want = sum(sum(x for x in column if x > 0) for column in (table["values"] if "values" in table else [table[n] for n in names]))
print(sum(values), want)
assert values and sum(values) == want
P
verdict "its samples have the recording's sum" $?
finish
