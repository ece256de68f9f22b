#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recordings of other profilers: our times of each function are those of the writers' own readers.
# beside others: 8 s
set -u
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
exec 2>err
: >out

# gperftools: google-pprof is its reader.
library=
for candidate in /usr/lib/*/libprofiler.so.0 /usr/lib/libprofiler.so.0 /usr/local/lib/libprofiler.so.0; do
    if [ -e "$candidate" ]; then library=$candidate; fi
done
if [ -n "$library" ] && command -v google-pprof >/dev/null; then
    cat >busy.c <<'C'
#include <time.h>
__attribute__((noinline)) long leaf(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
__attribute__((noinline)) long middle(long n) { long s = 0; for (long i = 0; i < 100; i++) s += leaf(n + i); return s + 1; }
__attribute__((noinline)) long other(long n) { volatile long s = 1; for (long i = 0; i < n; i++) s *= i | n; return s; }
int main(void)
{
    volatile long s = 0;
    while (clock() < CLOCKS_PER_SEC / 2)
        s += middle(3000) + other(100000);
    return s == 7;
}
C
    gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls busy.c -o busy
    CPUPROFILE_FREQUENCY=500 CPUPROFILE=busy.prof LD_PRELOAD=$library ./busy 2>>err
    google-pprof --collapsed ./busy busy.prof >theirs 2>>err
    if [ -s theirs ]; then
        "$ASSAY" export busy.prof --format folded -e samples -o ours &&
            python3 - theirs ours <<'P' >&2
import collections
import re
import sys

counts = []
for path in sys.argv[1:]:
    own, total, samples = collections.Counter(), collections.Counter(), 0
    for line in open(path):
        stack, n = line.rsplit(" ", 1)
        frames = [re.sub(r"<.*|_\[.\]$", "", f) for f in stack.split(";")]
        own[frames[-1]] += int(n)
        samples += int(n)
        for f in set(frames):
            total[f] += int(n)
    names = ("main", "leaf", "middle", "other")
    counts.append((samples, [own[n] for n in names], [total[n] for n in names]))
print(counts)
assert counts[0] == counts[1] and counts[0][0] > 0 and counts[0][2][1] > 0
P
        verdict "gperftools' own reader has the same counts of each function" $?
        "$ASSAY" report busy.prof --json >report.json && grep -q '"file": *"[^"]*busy.c"' report.json
        verdict "a profile of gperftools has lines" $?
    else
        skip "profiles of gperftools" "the program got no samples: no timers here"
    fi
else
    skip "profiles of gperftools" "libprofiler or google-pprof is not installed"
fi

# Heap profiles of gperftools: the same reader.
library=$(printf '%s\n' /usr/lib/*/libtcmalloc.so.4 /usr/local/lib/libtcmalloc.so.4 | while read -r f; do [ -e "$f" ] && echo "$f"; done | head -n 1)
if [ -n "$library" ] && command -v google-pprof >/dev/null; then
    cat >blocks.c <<'C'
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) char *leaf(size_t n) { char *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) char *keep(size_t n) { char *p = leaf(n); p[0] = 2; return p; }
__attribute__((noinline)) void drop(size_t n) { char *p = leaf(n); p[0] = 3; free(p); }
int main(void)
{
    static char *kept[300];
    for (int i = 0; i < 300; i++) { kept[i] = keep(1000 + i); drop(5000); drop(70); }
    return kept[7][0] == 9;
}
C
    gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls blocks.c -o blocks
    HEAPPROFILE=$PWD/blocks LD_PRELOAD=$library ./blocks >>out 2>&1
    for metric in inuse_space:'bytes at end' inuse_objects:'blocks at end' alloc_space:'bytes allocated' alloc_objects:'blocks allocated'; do
        google-pprof --collapsed --"${metric%%:*}" ./blocks blocks.0001.heap 2>>err | python3 -c '
import collections, re, sys
total = collections.Counter()
for line in sys.stdin:
    stack, n = line.rsplit(" ", 1)
    total[";".join(f for f in stack.split(";") if f in ("main", "keep", "drop", "leaf"))] += int(n)
print(*sorted(f"{s} {n}" for s, n in total.items() if n), sep="\n")' >theirs
        "$ASSAY" export blocks.0001.heap -f folded -e "${metric#*:}" | grep -o 'main;.*' | sort >ours
        [ -s ours ] && cmp theirs ours || break
    done
    verdict "gperftools' own reader has the same blocks and bytes of each stack" $?
else
    skip "heap profiles of gperftools" "libtcmalloc or google-pprof is not installed"
fi

# Go's texts (?debug=1) beside its packed form of the same moment.
if command -v go >/dev/null; then
    cat >texts.go <<'G'
package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

var keep [][]byte

//go:noinline
func alloc(n int) []byte { return make([]byte, n) }

func main() {
	runtime.MemProfileRate = 4096
	runtime.SetMutexProfileFraction(1)
	for i := 0; i < 1000; i++ {
		keep = append(keep, alloc(4000))
		alloc(90000)[0] = 1
	}
	var m sync.Mutex
	var wg sync.WaitGroup
	for i := 0; i < 4; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := 0; k < 20; k++ {
				m.Lock()
				time.Sleep(200 * time.Microsecond)
				m.Unlock()
			}
		}()
	}
	wg.Wait()
	runtime.GC()
	runtime.MemProfileRate = 0
	// The runtime makes threads and waits for its own locks while it writes, the more the busier
	// the machine is: the two forms are of one moment when the text before is the text after.
	for _, name := range []string{"heap", "mutex", "threadcreate"} {
		for try := 0; try < 1000; try++ {
			var packed bytes.Buffer
			before := text(name)
			pprof.Lookup(name).WriteTo(&packed, 0)
			after := text(name)
			if rows(before) == rows(after) {
				os.WriteFile(name+".pb.gz", packed.Bytes(), 0o644)
				os.WriteFile(name+".txt", []byte(after), 0o644)
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func text(name string) string {
	var b bytes.Buffer
	pprof.Lookup(name).WriteTo(&b, 1)
	return b.String()
}

// rows is the part of a text that holds values: without the clock's rate and the heap's figures.
func rows(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, " @ ") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
G
    if GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -o texts texts.go 2>>err && ./texts; then
        sums() { # sums FILE METRIC: the values of main.alloc and sync.(*Mutex).Unlock, and of all
            "$ASSAY" export "$1" -f folded -e "$2" | awk '{ n = $NF; all += n; if (/main.alloc( |;)|Unlock/) named += n } END { print named + 0, (all > 1000 ? "" : all) }'
        }
        same=0
        for row in 'heap:inuse_space:bytes at end' 'heap:alloc_objects:blocks allocated' 'mutex:contentions:contentions' 'threadcreate:threadcreate:threads'; do
            IFS=: read -r file packed text <<<"$row"
            [ "$(sums "$file.pb.gz" "$packed")" = "$(sums "$file.txt" "$text")" ] || { same=1 && echo "$row: $(sums "$file.pb.gz" "$packed") $(sums "$file.txt" "$text")" >&2; }
        done
        verdict "texts of Go have the values of its packed profiles" $same
    else
        skip "texts of Go" "go does not build here"
    fi
else
    skip "texts of Go" "no go"
fi

# stackprof, from the Ruby program that it profiled.
if ruby -rstackprof -rjson -e '
def leaf(n) = n < 2 ? n : leaf(n - 1) + leaf(n - 2)
def top = 3.times { leaf(20) }
seen = StackProf.run(mode: :cpu, interval: 1000, raw: true) { t = Process.clock_gettime(2); top while Process.clock_gettime(2) - t < 0.3 }
File.binwrite("stackprof.dump", Marshal.dump(seen))
File.write("stackprof.json", JSON.generate(seen))
leaf = seen[:frames].values.find { |f| f[:name] == "Object#leaf" }
File.write("stackprof.want", "#{leaf[:samples]} #{leaf[:total_samples]} ms\n")' 2>>err; then
    "$ASSAY" export stackprof.json -f folded >ours && awk '{ n = $NF / 1e6; if (/leaf/) total += n; if (/leaf [0-9.]+$/) self += n } END { print self, total, "ms" }' ours |
        cmp - stackprof.want
    verdict "stackprof has the same samples of a function" $?
    "$ASSAY" export stackprof.dump -f folded | cmp - ours
    verdict "its dump has the same stacks as its JSON" $?
else
    skip "stackprof by its Ruby library" "no ruby-stackprof"
fi

# Stacks of named functions: inferno's collapsers and speedscope's importer read the same files.
corpus=$TOP/tests/fuzz/corpus/import
readers=$TOP/build/readers # tools/foreign-readers installs them

# same_self OURS THEIRS SCALE: the self value of each function, theirs times SCALE; theirs are
# folded stacks, or JSON of speedscope_import.mjs.
same_self() {
    python3 - "$@" <<'P' >&2
import collections
import json
import sys

ours_path, theirs_path, scale = sys.argv[1], sys.argv[2], float(sys.argv[3])


def folded(path, strip):
    own = collections.Counter()
    for line in open(path):
        stack, n = line.rstrip("\n").rsplit(" ", 1)
        leaf = stack.split(";")[-1]
        own[leaf.rsplit("`", 1)[-1] if strip else leaf] += float(n)
    return own


ours = folded(ours_path, False)
if theirs_path.endswith(".json"):
    theirs = collections.Counter()
    for profile in json.load(open(theirs_path)):
        for name, value in profile.items():
            theirs["(anonymous)" if name.startswith("(anonymous ") else name] += value
else:
    theirs = folded(theirs_path, True)
theirs = {name: round(value * scale, 3) for name, value in theirs.items() if value}
print(dict(ours), theirs)
assert theirs and ours == theirs
P
}
for one in dtrace:txt:1 vtune:csv:1000000; do
    IFS=: read -r name ending scale <<<"$one"
    if [ -x "$readers/bin/inferno-collapse-$name" ]; then
        "$readers/bin/inferno-collapse-$name" "$corpus/$name.$ending" >"$name.theirs" 2>>err &&
            "$ASSAY" export "$corpus/$name.$ending" -o "$name.ours" && same_self "$name.ours" "$name.theirs" "$scale"
        verdict "inferno has the same self values of $name" $?
    else
        skip "inferno's values of $name" "no inferno: tools/foreign-readers --all"
    fi
done
speedscope=$readers/node_modules/speedscope
for one in instruments.txt:1000000 instruments-old.txt:1000000 instruments-allocations.txt:1 safari.json:1000000000; do
    file=${one%:*}
    if command -v node >/dev/null && [ -d "$speedscope" ]; then
        node "$TOP/tests/tools/speedscope_import.mjs" "$speedscope" "$corpus/$file" >"$file.theirs.json" &&
            "$ASSAY" export "$corpus/$file" -o "$file.ours" && same_self "$file.ours" "$file.theirs.json" "${one#*:}"
        verdict "speedscope has the same self values of $file" $?
    else
        skip "speedscope's values of $file" "no speedscope: tools/foreign-readers"
    fi
done

# Java Flight Recordings: the JDK's own listing has the same stacks.
if command -v java >/dev/null && command -v jfr >/dev/null; then
    cat >Busy.java <<'J'
public class Busy {
    static long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; return s; }
    static long middle(long n) { long s = 0; for (int i = 0; i < 100; i++) s += leaf(n + i); return s; }
    static long deep(int n) { return n == 0 ? middle(3000) : 1 + deep(n - 1); }
    public static void main(String[] a) {
        long end = System.nanoTime() + 2_000_000_000L, s = 0;
        while (System.nanoTime() < end) s += middle(30000) + deep(100);
        System.out.println(s);
    }
}
J
    java -XX:StartFlightRecording=filename=busy.jfr,settings=profile Busy.java >>out 2>&1
    jfr print --events jdk.ExecutionSample --stack-depth 2048 busy.jfr >listing 2>>err
    if grep -q 'jdk.ExecutionSample {' listing; then
        "$ASSAY" export busy.jfr -o jfr.folded &&
            "$TOP/tests/tools/jfr_samples.py" listing jfr.folded >&2
        verdict "the JDK lists the same stacks of a flight recording" $?
        gzip -k busy.jfr && "$ASSAY" export busy.jfr.gz | cmp - jfr.folded
        verdict "a packed one is the same" $?
    else
        skip "flight recordings" "this JVM recorded no samples"
    fi
else
    skip "flight recordings" "no java with jfr"
fi

# Our own exports: JSON holds the whole recording, OTLP its samples.
make_profile="$(dirname "$ASSAY")/../tests/tools/make_profile"
[ -x "$make_profile" ] || make_profile="$TOP/build/dev/tests/tools/make_profile"
if [ -x "$make_profile" ]; then
    for kind in plain two-metrics nameless hostile bench functions counts counts-over-time intervals; do
        "$make_profile" $kind own.assay && "$ASSAY" export own.assay -f json -o own.json --force && "$ASSAY" export own.json -f json | cmp - own.json &&
            cmp <("$ASSAY" report own.assay | sed 's/own\.assay/own.json/') <("$ASSAY" report own.json)
        verdict "our own JSON is a recording: $kind" $?
    done
    # same_values A B: stacks, and the values of each thread and line.
    values_of() { "$ASSAY" report "$1" --json --by line | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["threads"], *[(r["name"], r["self"], r["total"]) for r in d["rows"]], sep="\n")'; }
    same_values() { cmp <("$ASSAY" export "$1" -f folded) <("$ASSAY" export "$2" -f folded) && cmp <(values_of "$1") <(values_of "$2"); }
    for kind in plain two-metrics nameless intervals; do
        "$make_profile" $kind own.assay && "$ASSAY" export own.assay -f otlp -o own.otlp --force && same_values own.assay own.otlp
        verdict "our own OTLP has the recording's stacks, threads and lines: $kind" $?
    done
    "$make_profile" two-metrics own.assay && "$ASSAY" export own.assay -f otlp -o own.otlp --force
    python=$TOP/build/readers/python/bin/python # tools/foreign-readers installs the published schemas
    if [ -x "$python" ]; then
        "$python" - own.otlp <<'P' >&2
import sys
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service
from opentelemetry.proto.profiles.v1development import profiles_pb2 as pb

# What a collector is sent, by the schema's own writer, has the same messages.
data = pb.ProfilesData.FromString(open("own.otlp", "rb").read())
request = service.ExportProfilesServiceRequest(resource_profiles=data.resource_profiles, dictionary=data.dictionary)
open("request.otlp", "wb").write(request.SerializeToString())

# Two services; values without times, times without values, a stack of nothing, numbers without a row.
made = pb.ProfilesData()
d = made.dictionary
d.string_table.extend(["", "cpu", "nanoseconds", "main", "leaf", "samples", "count", "/bin/x", "a.c", "process.pid"])
d.mapping_table.extend([pb.Mapping(), pb.Mapping(filename_strindex=7)])
d.function_table.extend([pb.Function(), pb.Function(name_strindex=3, filename_strindex=8), pb.Function(name_strindex=4)])
d.location_table.extend([pb.Location(), pb.Location(mapping_index=1, lines=[pb.Line(function_index=1, line=7)]),
                         pb.Location(mapping_index=1, address=16, lines=[pb.Line(function_index=2)])])
d.stack_table.extend([pb.Stack(), pb.Stack(location_indices=[2, 1])])
d.attribute_table.extend([pb.KeyValueAndUnit(), pb.KeyValueAndUnit(key_strindex=9)])
d.attribute_table[1].value.int_value = 4711
for name in ("shop", "till"):
    resource = made.resource_profiles.add()
    pair = resource.resource.attributes.add(key="service.name")
    pair.value.string_value = name
    scope = resource.scope_profiles.add()
    profile = scope.profiles.add(time_unix_nano=10**18, sample_type=pb.ValueType(type_strindex=1, unit_strindex=2))
    profile.samples.add(stack_index=1, values=[30], attribute_indices=[1, 99])
    profile.samples.add(stack_index=99, values=[7])
    profile = scope.profiles.add(time_unix_nano=10**18, sample_type=pb.ValueType(type_strindex=5, unit_strindex=6))
    profile.samples.add(stack_index=1, timestamps_unix_nano=[10**18 + 5, 10**18 + 9], attribute_indices=[1])
open("made.otlp", "wb").write(made.SerializeToString())
P
        same_values own.assay request.otlp
        verdict "what a collector is sent is read, written by the published schema" $?
        [ "$("$ASSAY" export made.otlp -f folded)" = "$(printf 'main;leaf 60\n[unknown] 14')" ] &&
            [ "$("$ASSAY" export made.otlp -f folded -e samples)" = 'main;leaf 4' ]
        verdict "profiles of two services, with and without times" $?
    else
        skip "OTLP by the published schema" "no opentelemetry-proto: tools/foreign-readers"
    fi
else
    skip "our own exports" "no make_profile: make dev builds it"
fi

# perf record --threads: a folder with a file for each of perf's threads.
if command -v perf >/dev/null && perf record -q -e cpu-clock -g --threads -o threads.data -- \
    bash -c 'for i in 1 2 3; do (for ((j=0;j<30000;j++)); do :; done) & done; wait' >>out 2>&1 && [ -e threads.data/data.0 ]; then
    count=$(perf script -i threads.data -F event 2>>err | grep -c cpu-clock)
    kept=$("$ASSAY" report threads.data --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["truth"]["samples"])')
    [ "$count" -gt 0 ] && [ "$count" = "$kept" ]
    verdict "perf record --threads: perf script lists as many samples ($count)" $?
    perf script -i threads.data -F comm,tid,ip 2>>err | awk '/^[^ \t]/ {print $2}' | sort | uniq -c | awk '{print $2, $1}' | sort >theirs
    "$ASSAY" export threads.data -f csv | python3 -c '
import collections, csv, sys
own = collections.Counter()
for row in csv.DictReader(sys.stdin):
    own[row["tid"]] += int(row["samples"])
print(*sorted(f"{tid} {n}" for tid, n in own.items()), sep="\n")' | sort | cmp - theirs
    verdict "perf record --threads: as many of each thread" $?
    # Within the last record of the largest file: records are multiples of 8 bytes, and a busy machine may leave a file with a few of them or none.
    largest=$(find threads.data -name 'data.*' -printf '%s %f\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
    cp -r threads.data cut.data && truncate -s -5 "cut.data/$largest" && "$ASSAY" report cut.data >cut.out && grep -q 'ends early\|cut' cut.out
    verdict "a file of the folder that is cut is named, the others are read" $?
else
    skip "perf record --threads" "perf does not record here by threads"
fi
finish
