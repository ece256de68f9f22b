// SPDX-License-Identifier: Apache-2.0
//! library_peer ours|pprof|none ROUNDS DEPTH [FILE]: the same work on two threads, so many calls
//! deep, profiled by the library of assay or by pprof-rs, 250 samples a CPU second.
//! pprof-rs prints how many of its samples reach `main` or the start of the thread.
use std::ffi::{c_char, c_int, c_void, CString};

extern "C" {
    fn assay_profile_start(options: *const c_void) -> c_int;
    fn assay_profile_stop() -> c_int;
    fn assay_profile_dump(path: *const c_char) -> c_int;
}

#[inline(never)]
fn descend(depth: u32, f: &mut dyn FnMut() -> u64) -> u64 {
    if depth == 0 {
        f()
    } else {
        std::hint::black_box(descend(depth - 1, f)) ^ depth as u64
    }
}

#[inline(never)]
fn work(rounds: u64, depth: u32) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        sum ^= descend(depth, &mut || {
            (0..1_000_000u64).fold(round, |a, i| {
                std::hint::black_box((a ^ (a << 13)).wrapping_add(i ^ (a >> 7)))
            })
        });
    }
    sum
}

#[repr(C)]
struct Options {
    size: usize,
    rate_hz: u32,
    buffer_bytes: usize,
}

fn run(rounds: u64, depth: u32) {
    let other = std::thread::spawn(move || work(rounds, depth));
    let own = work(rounds, depth);
    println!("{}", own ^ other.join().unwrap());
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let how = arguments.next().expect("ours, pprof or none");
    let rounds = arguments.next().and_then(|r| r.parse().ok()).unwrap_or(500);
    let depth = arguments.next().and_then(|d| d.parse().ok()).unwrap_or(25);
    let file = arguments.next().unwrap_or_default();
    match how.as_str() {
        "ours" => unsafe {
            let options = Options {
                size: std::mem::size_of::<Options>(),
                rate_hz: 250,
                buffer_bytes: 0,
            };
            assert_eq!(
                assay_profile_start(&options as *const Options as *const c_void),
                0
            );
            run(rounds, depth);
            assert_eq!(assay_profile_stop(), 0);
            let path = CString::new(file).unwrap();
            assert_eq!(assay_profile_dump(path.as_ptr()), 0);
        },
        "pprof" => {
            let guard = pprof::ProfilerGuardBuilder::default()
                .frequency(250)
                .build()
                .unwrap();
            run(rounds, depth);
            let report = guard.report().build().unwrap();
            let (mut all, mut whole) = (0, 0);
            for (stack, count) in &report.data {
                all += count;
                let reaches = |name: &String| name == "main" || name.contains("thread_start");
                if stack.frames.iter().flatten().any(|s| reaches(&s.name())) {
                    whole += count;
                }
            }
            eprintln!("samples {all} whole {whole}");
        }
        _ => run(rounds, depth),
    }
}
