#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AFL++ over the command line: every view and export, each format that it reads.

fuzz_cli.py run BUILD SECONDS [TARGET ...]   fuzzes BUILD/src/assay, made by afl-clang-fast; $FUZZ_CLI_JOBS
                                             targets at once, as many as processors otherwise
fuzz_cli.py replay ASSAY                     runs findings and some seeds through ASSAY (make check)
fuzz_cli.py list                             names and commands of the targets

A run works below BUILD/fuzz-cli. An input that ends the program by a signal, by a sanitizer or
not at all is copied to BUILD/fuzz-cli/findings/TARGET; put it into tests/fuzz/cli/found/TARGET
when the cause is mended. Blocks of .assay files are unpacked for AFL++ and get their checksums
back before each run (assay_blocks.c).
"""
import concurrent.futures
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
FIXED = HERE / "fixed"
COVER = HERE.parent.parent / "golden/cover"
DEBUG_FILE = "debug/.build-id/10/" + bytes(range(0x11, 0x24)).hex() + ".debug"
KINDS_OF_PROFILE = ["plain", "hostile", "empty", "nameless", "two-metrics", "long-paths", "bench", "functions",
                    "intervals", "counts", "counts-over-time"]

# Inputs that a target starts from: folders of tests/fuzz/corpus, or the files named.
RECORDINGS = ["import", "perfdata", "store", "made"]
TRACES = ["tracefile"]
PROFILES = ["profraw", "profdata", "proftext"]
THREADS = [CORPUS / f"import/perf-{name}.data" for name in ("events", "chains", "stacks")]
OBJECTS = ["covmap", "cov_sections", "correlate", "module_symbols", "elf"]

# Files that lie in each working folder, beside the input.
BESIDE = {
    "prog.data": FIXED / "prog.data", "prog-id.data": FIXED / "prog-id.data",
    "root/fuzz/prog": FIXED / "prog", "root/fuzz/prog-id": FIXED / "prog-id", DEBUG_FILE: FIXED / "prog-id.debug",
    "cover.covmapping": COVER / "cover.covmapping", "cover.proftext": COVER / "cover.proftext",
    "lcov": CORPUS / "tracefile/lcov1", "three.assay": CORPUS / "store/three-samples.assay",
    "all.survey/survey.json": FIXED / "survey.json", "all.survey/cpu.assay": CORPUS / "store/three-samples.assay",
    "cover.out": CORPUS / "tracefile/go-cover",
    "gcc.gcno": CORPUS / "gcno/gcc", "gcc.gcda": CORPUS / "gcda/gcc",
    "threads/data": CORPUS / "import/perf-events.data", "threads/data.0": CORPUS / "import/perf-chains.data",
}


class Target:
    def __init__(self, name, corpus, command, at="input"):
        self.name = name
        self.corpus = corpus
        self.command = command.split()
        self.at = at  # where the input lies in the working folder


def targets():
    views = {
        "report": "report input", "lines": "report --by line --wide --notes input", "modules": "report --by module --csv input",
        "tree": "report --tree --by module,function input", "inverted": "report --inverted --json input",
        "prof": "report --prof --never-called input", "report-json": "report --json input",
        "around": "report --around main --focus m --time 10%..90% input", "counts": "report three.assay input",
        "annotate": "annotate --asm input", "instructions": "annotate --by-instruction --json input",
        "flame": "flame -o - input", "icicle": "flame -o - --icicle --by line --group thread input",
        "import": "import -f -o out.assay input", "compare": "bench --compare input input",
        "view": "view --no-open --html - input", "view-anonymous": "view --no-open --anonymise --force --html page.html input",
        "diff-new": "diff three.assay input", "diff-old": "diff --json --by stack input three.assay",
        "diff-line": "diff --by line --wide input input", "heap-report": "report --sort peak --json input",
    }
    for form in ("folded", "perf-script", "pprof", "firefox", "speedscope", "callgrind", "chrome", "otlp", "csv", "json",
                 "dhat", "massif", "heaptrack"):
        views[f"export-{form}"] = f"export -f {form} input"
    views["export-parquet"] = "export -f parquet --force -o out.parquet input"
    views["export-sqlite"] = "export -f sqlite --force -o out.db input"
    views["anonymise"] = "export -f pprof --anonymise --strip-paths --names short input"
    rows = [Target(name, RECORDINGS, command) for name, command in views.items()]

    views = {"report": "cover report --functions --missing input", "report-json": "cover report --json --instantiations input",
             "show": "cover show --show-branches count --show-regions --show-mcdc --show-expansions input",
             "add": "cover add --format json input lcov", "subtract": "cover subtract --format lcov input lcov",
             "baseline": "cover diff --diff-file small.diff --baseline input lcov"}
    for form in ("lcov", "llvm-json", "gcov-json", "html", "cobertura", "coveralls", "codecov", "sonarqube", "jacoco",
                 "clover", "markdown"):
        views[form] = f"cover export --format {form} input"
    rows += [Target(f"cover-{name}", TRACES, command) for name, command in views.items()]
    for kind, corpus, at, inputs in (
            ("profile", PROFILES, "input", "cover.covmapping input"), ("object", OBJECTS, "input", "input cover.proftext"),
            ("gcno", ["gcno"], "gcc.gcno", "gcc.gcno gcc.gcda"), ("gcda", ["gcda"], "gcc.gcda", "gcc.gcno gcc.gcda")):
        rows.append(Target(f"{kind}-show", corpus, f"cover show --explain --show-regions --show-mcdc {inputs}", at))
        rows.append(Target(f"{kind}-html", corpus, f"cover export --format html {inputs}", at))
    rows += [
        Target("archive", ["archives"], "cover report --functions input cover.proftext"),
        Target("go-module", [FIXED / "go.mod"], "cover report --functions cover.out", "go.mod"),
        Target("join", RECORDINGS, "merge -f -o out.assay input three.assay"),
        Target("diff-page", RECORDINGS, "diff --force --html page.html three.assay input"),
        Target("calls", RECORDINGS, "report --calls --json input"),
        Target("slow", RECORDINGS, "report --slow 10% input"),
        Target("critical", RECORDINGS, "report --critical input"),
        Target("locks", RECORDINGS, "report --locks --by waker input"),
        Target("survey", [FIXED / "survey.json"], "report all.survey", "all.survey/survey.json"),
        Target("survey-json", [FIXED / "survey.json"], "view --no-open --html - all.survey", "all.survey/survey.json"),
        Target("survey-samples", RECORDINGS, "report all.survey", "all.survey/cpu.assay"),
        Target("flight", [CORPUS / "import/flight.jfr"], "report --tree --json input"),
        Target("merge", PROFILES, "cover merge -f -o out.profdata input"),
        Target("merge-text", PROFILES, "cover merge --text -f -o out.proftext input input"),
        Target("correlated", OBJECTS, "cover merge -f -o out.assay input cover.proftext"),
        Target("diff", ["unified_diff"], "cover diff --diff-file input --json lcov"),
        Target("doctor", [FIXED / "prog", FIXED / "prog-id.debug", *OBJECTS], "doctor ./input"),
        Target("symfs", [FIXED / "prog"], "report --tree prog.data --symfs root", "root/fuzz/prog"),
        Target("symfs-lines", [FIXED / "prog"], "report --by line --json prog.data --symfs root", "root/fuzz/prog"),
        Target("symfs-asm", [FIXED / "prog"], "annotate --asm prog.data --symfs root", "root/fuzz/prog"),
        Target("stripped", [FIXED / "prog-id"], "report --tree prog-id.data --symfs root --debug-dir debug", "root/fuzz/prog-id"),
        Target("debug-dir", [FIXED / "prog-id.debug"], "report --tree prog-id.data --symfs root --debug-dir debug", DEBUG_FILE),
        Target("debug-lines", [FIXED / "prog-id.debug"], "report --by line prog-id.data --symfs root --debug-dir debug", DEBUG_FILE),
        Target("stacks", [FIXED / "prog.data"], "report --tree input --symfs root"),
        Target("threads-head", THREADS, "report --tree threads", "threads/data"),
        Target("threads-stream", THREADS, "report --by thread --json threads", "threads/data.0"),
    ]
    return rows


def environment(folder, more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY", "DEBUGINFOD", "LC_"))}
    # Names kept in a cache would stand in for the changed program.
    env.update(HOME="/dev/null", XDG_CACHE_HOME="/dev/null/cache", LC_ALL="C.UTF-8", NO_COLOR="1", TMPDIR=str(folder), **more)
    return env


def seeds(target, tools):
    """(name, path) of each input to start from; `tools` has recordings of make_profile's kinds, or is None."""
    for source in target.corpus:
        if isinstance(source, Path):
            yield source.name, source
            continue
        folder = tools if source == "made" else CORPUS / source
        if source == "archives":
            folder = tools and tools.with_name("archives")
        if folder is None:
            continue
        for path in sorted(folder.iterdir()):
            if path.name != "README" and path.stat().st_size > 0:
                yield f"{source}-{path.name}", path


def lay_out(folder):
    for name, source in BESIDE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)
    shutil.copyfile(CORPUS / "unified_diff/small.diff", folder / "small.diff")


def make_archives(folder):
    """Objects with coverage maps in an archive of Unix and in a universal binary of Apple."""
    folder.mkdir(exist_ok=True)
    objects = [(path.name, path.read_bytes()) for path in sorted((CORPUS / "correlate").iterdir()) if path.name != "README"]
    objects.append(("prog", (FIXED / "prog").read_bytes()))
    archive = b"!<arch>\n"
    for name, content in objects[-3:]:
        archive += f"{name[:15] + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
        archive += content + b"\n" * (len(content) % 2)
    (folder / "unix.a").write_bytes(archive)
    fat, at = struct.pack(">II", 0xCAFEBABE, 2), 4096
    for cpu in (0x01000007, 0x0100000C):
        fat += struct.pack(">IIIII", cpu, 3, at, len(archive), 12)
        at += (len(archive) + 4095) // 4096 * 4096
    fat = fat.ljust(4096, b"\0") + archive
    (folder / "universal").write_bytes(fat.ljust(at - (len(archive) + 4095) // 4096 * 4096, b"\0") + archive)


def make_profiles(tools, folder):
    """Recordings of every kind that tests/tools/make_profile knows."""
    if not (tools / "make_profile").exists():
        return None
    folder.mkdir(parents=True, exist_ok=True)
    make_archives(folder.with_name("archives"))
    for kind in KINDS_OF_PROFILE:
        subprocess.run([tools / "make_profile", kind, folder / f"{kind}.assay"], check=True)
    return folder


def limits():
    # Processor time, so that a busy machine makes no finding.
    resource.setrlimit(resource.RLIMIT_CPU, (20, 25))


def trouble(assay, target, content, folder):
    """What is wrong with a run of one input, or ''."""
    path = folder / target.at
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    more = {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:hard_rss_limit_mb=2048",
            "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1"}
    done = subprocess.run([assay, *target.command], cwd=folder, env=environment(folder, more), preexec_fn=limits,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode in (0, 1, 2, 3) and "Sanitizer" not in said and "runtime error" not in said:
        return ""
    return f"status {done.returncode}\n" + "\n".join(said.splitlines()[-40:])


def replay(assay):
    """Every finding, and an eighth of all pairs of a target and a seed."""
    assay = Path(assay).resolve()
    tools = Path(os.environ.get("TOOLS", assay.parent.parent / "tests/tools"))
    bad = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        made = make_profiles(tools, Path(scratch) / "made")
        for number, target in enumerate(targets()):
            found = HERE / "found" / target.name
            inputs = [(path.name, path) for path in sorted(found.iterdir())] if found.is_dir() else []
            inputs += [pair for i, pair in enumerate(seeds(target, made)) if (i + number) % 8 == 0]
            folder = Path(scratch) / target.name
            folder.mkdir()
            lay_out(folder)
            for name, path in inputs:
                count += 1
                what = trouble(assay, target, path.read_bytes(), folder)
                if what:
                    bad += 1
                    print(f"{target.name}, {name}: assay {' '.join(target.command)}: {what}", file=sys.stderr)
    print(f"{count} inputs, {bad} with trouble")
    return 1 if bad or not count else 0


def compile_blocks(work):
    flags = ["cc", "-O2", str(HERE / "assay_blocks.c")]
    subprocess.run([*flags, "-shared", "-fPIC", "-o", work / "assay_blocks.so", "-lzstd"], check=True)
    subprocess.run([*flags, "-o", work / "assay_blocks", "-lzstd"], check=True)


def fuzz(target, assay, seconds, work, made):
    """Runs AFL++ for one target: (executions, crashes, hangs, what was found)."""
    folder, start, out = work / "runs" / target.name, work / "seeds" / target.name, work / "afl" / target.name
    for path in (folder, start, out):
        shutil.rmtree(path, ignore_errors=True)
    for path in (folder, start, out):
        path.mkdir(parents=True)
    lay_out(folder)
    kept = list(seeds(target, made))
    found = HERE / "found" / target.name
    if found.is_dir():
        kept += [(f"found-{path.name}", path) for path in found.iterdir()]
    for name, path in kept:
        subprocess.run([work / "assay_blocks", "unpack", path, start / name], check=True)
    env = environment(folder, {
        "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1",
        "AFL_SKIP_CRASHES": "1", "AFL_FAST_CAL": "1", "AFL_HANG_TMOUT": "10000",
        "AFL_CUSTOM_MUTATOR_LIBRARY": str(work / "assay_blocks.so"),
        "ASAN_OPTIONS": "abort_on_error=1:symbolize=0:detect_leaks=0:hard_rss_limit_mb=2048",
        "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:symbolize=0"})
    with open(work / f"{target.name}.log", "wb") as log:
        status = subprocess.run(
            ["afl-fuzz", "-i", start, "-o", out, "-f", folder / target.at, "-m", "none", "-t", "3000+", "-V", str(seconds),
             "--", assay.with_name("assay-afl"), *target.command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, check=False).returncode
    stats = {}
    if (out / "default/fuzzer_stats").exists():
        for line in (out / "default/fuzzer_stats").read_text().splitlines():
            key, _, value = line.partition(":")
            stats[key.strip()] = value.strip()
    # A target of which nothing ran found nothing, and is no success.
    if status or int(stats.get("execs_done", 0)) == 0:
        return 0, 0, 0, [f"afl-fuzz ended with status {status}, see {work / target.name}.log"]
    again = folder / "again"
    again.mkdir()
    lay_out(again)
    reports, counts = [], {"crashes": 0, "hangs": 0}
    suspects = [("crashes", p) for name in ("crashes", "hangs") for p in (out / "default" / name).glob("id*")]
    suspects = [("hangs" if p.parent.name == "hangs" else "crashes", p) for _, p in suspects]
    suspects += [("crashes", p) for p in sorted(start.iterdir())]
    for kind, path in suspects:
        subprocess.run([work / "assay_blocks", "repair", path, folder / "repaired"], check=True)
        content = (folder / "repaired").read_bytes()
        what = trouble(assay, target, content, again)
        if not what:
            continue
        counts[kind] += 1
        kept_at = work / "findings" / target.name
        kept_at.mkdir(parents=True, exist_ok=True)
        name = path.name.replace(":", "-").replace(",", "-")[:60]
        (kept_at / name).write_bytes(content)
        (kept_at / (name + ".report")).write_text(what)
        reports.append(f"{kept_at / name}: " + next((x for x in what.splitlines() if "rror" in x), what.splitlines()[0]))
    return int(stats["execs_done"]), counts["crashes"], counts["hangs"], reports


def run(build, seconds, names):
    build = Path(build).resolve()
    work = build / "fuzz-cli"
    shutil.rmtree(work / "findings", ignore_errors=True)
    work.mkdir(exist_ok=True)
    compile_blocks(work)
    made = make_profiles(Path(os.environ.get("TOOLS", HERE.parents[2] / "build/dev/tests/tools")), work / "made")
    chosen = [t for t in targets() if not names or t.name in names]
    total = [0, 0, 0]
    failed = 0
    at_once = int(os.environ.get("FUZZ_CLI_JOBS") or os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(max_workers=at_once) as pool:
        jobs = {pool.submit(fuzz, t, build / "src/assay", seconds, work, made): t for t in chosen}
        for job in concurrent.futures.as_completed(jobs):
            executions, crashes, hangs, reports = job.result()
            total = [a + b for a, b in zip(total, (executions, crashes, hangs))]
            failed += bool(reports)
            print(f"{jobs[job].name}: {executions} executions, {crashes} crashes, {hangs} hangs", flush=True)
            for line in reports:
                print(f"  {line}", flush=True)
    print(f"{len(chosen)} targets, {seconds} s each: {total[0]} executions, {total[1]} crashes, {total[2]} hangs")
    return 1 if failed or not chosen else 0


def main():
    words = sys.argv[1:]
    if len(words) >= 3 and words[0] == "run":
        return run(words[1], int(words[2]), words[3:])
    if len(words) == 2 and words[0] == "replay":
        return replay(words[1])
    if words == ["list"]:
        for target in targets():
            print(f"{target.name}: assay {' '.join(target.command)}")
        return 0
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main())
