#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 10,000 shards of 1 MB, of profiles and of tracefiles, merged in the memory that 100 take; each sum is that
# of its shards. The sample takes 300.
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
command -v python3 >/dev/null || skip_all 'no python3'
many=10000
[ -z "${NIGHTLY_SAMPLE:-}" ] || many=300

# Ten different shards of about 1 MB; the others are links to them.
python3 - <<'END' || exit 1
for shard in range(10):
    with open(f"{shard}.proftext", "w") as f:
        f.write(":fe\n")
        for n in range(9000):
            f.write(f"function_{n}\n{n}\n8\n" + f"{shard + n % 7}\n" * 8 + "\n")
    with open(f"{shard}.info", "w") as f:
        for n in range(1000):
            f.write(f"SF:/src/{n}.c\n" + "".join(f"DA:{line},{shard + line % 7}\n" for line in range(1, 101)) + "end_of_record\n")
END
for shard in 0 1 2 3 4 5 6 7 8 9; do "$ASSAY" cover merge -o $shard.profdata $shard.proftext || exit 1; done
size=$(stat -c %s 0.profdata)
lines_size=$(stat -c %s 0.info)
mkdir -p few/lines many/lines
for folder in few many; do
    count=100
    [ $folder = few ] || count=$many
    for n in $(seq "$count"); do
        ln "$((n % 10)).profdata" "$folder/$n.profdata" && ln "$((n % 10)).info" "$folder/lines/$n.info" || exit 1
    done
done
peak() { # peak OUTPUT WORD...: KB
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ASSAY" cover "$@"
}
few=$(peak merge -f -j 2 -o few.proftext few/*.profdata 2>err)
all=$(find many -name '*.profdata' >list && peak merge -f -j 2 -o many.proftext --input-files list 2>err)
echo "# profiles of $size bytes: 100 take $few KB, $many $all KB"
check "$many profiles take the memory of 100" test "$all" -le $((few + few / 5 + 4096))
few=$(peak add -f -o few.info few/lines 2>err)
all=$(peak add -f -o many.info many/lines 2>err)
echo "# tracefiles of $lines_size bytes: 100 take $few KB, $many $all KB"
check "$many tracefiles take the memory of 100" test "$all" -le $((few + few / 5 + 4096))
python3 - "$many" <<'END' >out 2>&1
import re, sys
count = int(sys.argv[1]) // 10
rows = open("many.proftext").read().split("\n\n")
seen = 0
for row in rows:
    words = [w for w in row.split("\n") if w and not w.startswith(("#", ":"))]
    if not words:
        continue
    n = int(words[0].split("_")[1])
    want = count * sum(shard + n % 7 for shard in range(10))
    assert words[3:] == [str(want)] * 8, (words, want)
    seen += 1
assert seen == 9000, seen
lines = re.findall(r"^DA:(\d+),(\d+)$", open("many.info").read(), re.M)
assert len(lines) == 100000
for line, n in lines:
    assert int(n) == count * sum(shard + int(line) % 7 for shard in range(10)), (line, n)
END
verdict "each sum is that of its shards" $?
finish
