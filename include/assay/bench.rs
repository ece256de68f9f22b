// SPDX-License-Identifier: Apache-2.0
//! Function benchmarks in Rust, through the C ABI of <assay/bench.h>. Take this
//! file in as module `bench` and link one C file that holds the driver:
//!
//!     // driver.c
//!     #define ASSAY_BENCH_IMPLEMENTATION
//!     #include <assay/bench.h>
//!
//! examples/rust-bench shows both, built with rustc alone. Rust 1.59 or later.

#![allow(dead_code)]

use std::arch::asm;
use std::ffi::CString;
use std::os::raw::{c_char, c_int};

/// A benchmark while it runs; what is in it is the driver's.
#[repr(C)]
pub struct Raw {
    private: [u8; 0],
}

extern "C" {
    fn assay_bench_register(
        name: *const c_char,
        function: extern "C" fn(*mut Raw),
        args: *const i64,
        arg_count: usize,
    );
    fn assay_bench_main(argc: c_int, argv: *const *const c_char) -> c_int;
    fn assay_bench_begin(bench: *mut Raw) -> u64;
    fn assay_bench_end(bench: *mut Raw);
    fn assay_bench_batch(bench: *mut Raw, most: usize) -> usize;
    fn assay_bench_batch_start(bench: *mut Raw);
    fn assay_bench_batch_stop(bench: *mut Raw);
    fn assay_bench_get_arg(bench: *const Raw) -> i64;
    fn assay_bench_set_bytes(bench: *mut Raw, bytes: u64);
    fn assay_bench_set_elements(bench: *mut Raw, elements: u64);
}

/// The compiler must make the value, and must take what it points to for read and
/// changed. As std::hint::black_box, which is of Rust 1.66.
#[inline(always)]
pub fn black_box<T>(value: T) -> T {
    unsafe { asm!("/* {0} */", in(reg) &value, options(nostack, preserves_flags)) };
    value
}

/// What a benchmark function is given.
pub struct Bench(*mut Raw);

impl Bench {
    /// For the `benches!` macro.
    pub fn from_raw(raw: *mut Raw) -> Bench {
        Bench(raw)
    }

    /// The argument of `name(values) = function` in `benches!`; 0 without values.
    pub fn arg(&self) -> i64 {
        unsafe { assay_bench_get_arg(self.0) }
    }

    /// What one iteration works through, for throughput.
    pub fn bytes(&mut self, bytes: u64) {
        unsafe { assay_bench_set_bytes(self.0, bytes) }
    }

    pub fn elements(&mut self, elements: u64) {
        unsafe { assay_bench_set_elements(self.0, elements) }
    }

    /// Times `work`. Its result is kept from being optimised away.
    #[inline(always)]
    pub fn iter<T>(&mut self, mut work: impl FnMut() -> T) {
        let mut left = unsafe { assay_bench_begin(self.0) };
        while left != 0 {
            black_box(work());
            left -= 1;
        }
        unsafe { assay_bench_end(self.0) }
    }

    /// Times `work` on fresh inputs; making and dropping them is not timed.
    pub fn iter_batched<I, T>(&mut self, most: usize, mut make: impl FnMut() -> I, mut work: impl FnMut(I) -> T) {
        loop {
            let n = unsafe { assay_bench_batch(self.0, most) };
            if n == 0 {
                return;
            }
            let inputs: Vec<I> = (0..n).map(|_| make()).collect();
            let mut results = Vec::with_capacity(n);
            unsafe { assay_bench_batch_start(self.0) };
            for input in inputs {
                results.push(black_box(work(input)));
            }
            unsafe { assay_bench_batch_stop(self.0) };
        }
    }
}

/// Registers one benchmark. `name` and `args` stay for the life of the program.
pub fn register(name: &str, function: extern "C" fn(*mut Raw), args: &'static [i64]) {
    let name = CString::new(name).expect("a benchmark's name holds a zero byte").into_raw();
    let first = if args.is_empty() { std::ptr::null() } else { args.as_ptr() };
    unsafe { assay_bench_register(name, function, first, args.len()) }
}

/// Runs what the command line asks for. Returns the exit status.
pub fn run() -> i32 {
    let words: Vec<CString> =
        std::env::args().map(|a| CString::new(a).expect("an argument holds a zero byte")).collect();
    let mut argv: Vec<*const c_char> = words.iter().map(|w| w.as_ptr()).collect();
    argv.push(std::ptr::null());
    unsafe { assay_bench_main(words.len() as c_int, argv.as_ptr()) }
}

/// Defines `main` of a program of benchmarks:
///
///     benches! { parse, sort(10, 1000), }
///
/// where `parse` and `sort` are `fn(&mut Bench)`.
#[macro_export]
macro_rules! benches {
    ($($name:ident $(($($value:expr),+ $(,)?))?),+ $(,)?) => {
        fn main() {
            $({
                extern "C" fn call(raw: *mut $crate::bench::Raw) {
                    $name(&mut $crate::bench::Bench::from_raw(raw));
                }
                $crate::bench::register(stringify!($name), call, &[$($($value),+)?]);
            })+
            std::process::exit($crate::bench::run());
        }
    };
}
