#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C while 'assay cover run -- cargo test' builds, before any test has ended, and later: the run says
# that it was interrupted and counts the programs that had ended; build scripts have no rows.
set -u
cd "$SCRATCH" || exit 1
if ! command -v cargo >/dev/null || ! cargo --version >/dev/null 2>&1; then
    echo "no cargo"
    exit 77
fi
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
export CARGO_TERM_COLOR=never CARGO_NET_OFFLINE=true
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR
mkdir src tests
printf '[package]\nname = "slow"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n' >Cargo.toml
# cargo runs the script once for the build and once for the tests, as the variable has another value.
cat >build.rs <<'RS'
fn wait(file: &str) {
    std::fs::write("at", file).unwrap();
    while std::path::Path::new(file).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_PROFILE_FILE");
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    std::env::set_current_dir(root).unwrap();
    wait("stop-build");
}
RS
cat >src/lib.rs <<'RS'
pub fn add(a: i64, b: i64) -> i64 {
    a + b // first
}
pub fn sub(a: i64, b: i64) -> i64 {
    a - b // second
}
#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        wait("stop-first");
        assert_eq!(super::add(1, 2), 3);
    }
    pub fn wait(file: &str) {
        std::fs::write("at", file).unwrap();
        while std::path::Path::new(file).exists() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
RS
cat >tests/second.rs <<'RS'
#[test]
fn subtracts() {
    assert_eq!(slow::sub(3, 2), 1);
    std::fs::write("at", "stop-second").unwrap();
    while std::path::Path::new("stop-second").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
RS
if ! cargo build -q 2>err; then
    echo "cargo cannot build here: $(head -1 err)"
    exit 77
fi
# interrupt FILE ARGS...: runs until a program waits for FILE to go, then presses Ctrl-C.
interrupt() {
    rm -f stop-* at
    touch "$1"
    python3 - "$@" >out 2>err <<'PY'
import os
import signal
import subprocess
import sys
import time

stop, *command = sys.argv[1:]
run = subprocess.Popen(command, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def reached():
    try:
        with open("at") as at:
            return at.read() == stop
    except OSError:
        return False


while run.poll() is None and not reached():
    time.sleep(0.01)
os.killpg(run.pid, signal.SIGINT)
sys.exit(run.wait() % 256)
PY
    status=$?
    rm -f stop-*
}
interrupt stop-build "$ASSAY" cover run -f -o res -- cargo test
verdict "in the build" "$([ $status -eq 130 ] && grep -q 'interrupted while cargo built' err && ! grep -q TOTAL out; echo $?)"
interrupt stop-first "$ASSAY" cover run -f -o res -- cargo test
verdict "before the first program has ended" \
    "$([ $status -eq 130 ] && grep -q 'the run was interrupted.*--continuous' err && ! grep -q 'built to count' err &&
        ! grep -q build.rs out; echo $?)"
verdict "both programs are named" "$(grep "without counts: .*interrupted, or not started" err | grep "'slow-" | grep -q "'second-"; echo $?)"
interrupt stop-second "$ASSAY" cover run -f -o res -- cargo test
verdict "later: says so" "$([ $status -eq 130 ] && grep -q 'the run was interrupted: .*--continuous' err; echo $?)"
verdict "and names the program that had not" \
    "$(grep "without counts: 'second-[0-9a-f]*'; interrupted, or not started" err | grep -vq "'slow-"; echo $?)"
"$ASSAY" cover export -f -o res.info res 2>err
verdict "and counts the programs that had ended" "$(grep -qx DA:2,1 res.info && grep -qx DA:5,0 res.info; echo $?)"
verdict "a build script has no row" "$(! grep -q build.rs out && ! grep -q build.rs res.info; echo $?)"
interrupt stop-second "$ASSAY" cover run -f -o res --continuous -- cargo test
"$ASSAY" cover export -f -o res.info res 2>>err
verdict "--continuous counts the interrupted one too" "$(grep -qx DA:2,1 res.info && grep -qx DA:5,1 res.info; echo $?)"
"$ASSAY" cover run -f -o res -- cargo test no_such_test >out 2>err
verdict "a run that builds in its second part has no build script" "$(! grep -q build.rs out && grep -q TOTAL out; echo $?)"
"$ASSAY" cover run -f -o res --all-sources -- cargo test no_such_test >out 2>err
verdict "--all-sources has it" "$(grep -q build.rs out; echo $?)"
finish
