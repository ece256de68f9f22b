#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Merging is associative and commutative: shards split and combined at random, in any tree and order,
# give the same bytes. What it merges, it holds once: memory does not grow with the number of shards.
# beside others: 8 s
set -u
cd "$SCRATCH" || exit 1
# shellcheck source=lib/cover.sh
. "$TOP/tests/e2e/lib/cover.sh"
command -v python3 >/dev/null || skip_all "no python3"
cat >combine.py <<'END'
import os, random, subprocess, sys

assay, kind, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(seed)
LARGE = [0, 0, 1, 2, 7, 1000, 2**32, 2**63, 2**64 - 4, 2**64 - 3]


def text_profile():
    out = []
    for n in rng.sample(range(12), rng.randint(0, 12)):
        for h in rng.sample(range(2), rng.randint(1, 2)):
            counts = [rng.choice(LARGE) for _ in range(1 + (n + h) % 4)]
            out.append(f"f{n}\n{h + 5}\n{len(counts)}\n" + "".join(f"{c}\n" for c in counts))
    return ":fe\n" + "\n".join(out)


def tracefile():
    out = []
    for n in rng.sample(range(5), rng.randint(0, 5)):
        out.append(f"SF:/x/{n}.c")
        for k in rng.sample(range(9), rng.randint(0, 9)):
            out.append(f"DA:{k + 1},{rng.choice(LARGE)}")
        for k in rng.sample(range(4), rng.randint(0, 4)):
            out += [f"FN:{k + 1},g{k}", f"FNDA:{rng.choice(LARGE)},g{k}"]
        for k in rng.sample(range(6), rng.randint(0, 6)):
            out.append(f"BRDA:{k // 2 + 1},{k % 2},{k},{rng.choice(LARGE + ['-'])}")
        out.append("end_of_record")
    return "".join(x + "\n" for x in out)


made = 0


def merge(inputs, form=None):
    """The sum of some files, in a form of its own."""
    global made
    made += 1
    form = form or rng.choice(forms)
    to = f"{kind}{seed}-{made}{form}"
    words = ["merge", "-f", "-o", to] if form != ".info" else ["add", "-f", "-o", to]
    done = subprocess.run([assay, "cover", *words, *inputs], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words} {inputs}: {done.stderr}")
    return to


forms = [".proftext", ".profdata"] if kind == "profiles" else [".info", ".assay"]
last = forms[0]
shards = []
for i in range(rng.randint(3, 9)):
    shards.append(f"{kind}{seed}-shard{i}{last}")
    with open(shards[-1], "w") as f:
        f.write(text_profile() if kind == "profiles" else tracefile())
shards = [s for s in shards if os.path.getsize(s) > 4]
if not shards:
    sys.exit(0)
want = open(merge(shards, last)).read()
for _ in range(4):
    left = shards[:]
    rng.shuffle(left)
    while len(left) > 1:
        some = [left.pop(rng.randrange(len(left))) for _ in range(rng.randint(2, min(3, len(left))))]
        left.append(merge(some))
    got = open(merge(left, last)).read()
    if got != want:
        open("want", "w").write(want)
        open("got", "w").write(got)
        sys.exit(subprocess.run(["diff", "want", "got"]).returncode)
END
for kind in profiles tracefiles; do
    for seed in 1 2 3 4 5 6; do
        check "$kind, split and combined at random ($seed)" python3 combine.py "$ASSAY" $kind $seed
    done
done

# Shards of a few hundred KB: the memory for many is that for few.
python3 - <<'END' >big.proftext
print(":fe")
for n in range(3000):
    print(f"function_{n}\n{n}\n6\n" + "1\n" * 6)
END
"$ASSAY" cover merge -o big.profdata big.proftext || exit 1
mkdir -p few many && for n in $(seq 300); do
    ln big.profdata "many/$n.profdata"
    [ "$n" -gt 10 ] || ln big.profdata "few/$n.profdata"
done
peak() { # peak FOLDER: KB
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ASSAY" cover merge -j 1 -f -o sum.profdata "$1"/*.profdata
}
few=$(peak few)
many=$(peak many)
echo "# 10 shards: $few KB, 300 shards: $many KB"
check "300 shards take the memory of 10" test "$many" -le $((few + few / 5 + 2048))
finish
