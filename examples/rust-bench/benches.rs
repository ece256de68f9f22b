// SPDX-License-Identifier: Apache-2.0
//! Two ways to sum the squares of a vector, and a sort with fresh input each time:
//!
//!     cc -O2 -Iinclude -c examples/rust-bench/driver.c -o driver.o
//!     rustc -O -C link-arg=driver.o examples/rust-bench/benches.rs -o benches
//!     assay bench ./benches

#[macro_use]
#[path = "../../include/assay/bench.rs"]
mod bench;

use bench::{black_box, Bench};

fn numbers(n: i64) -> Vec<u64> {
    let mut x = 88172645463325252u64;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x >> 40
        })
        .collect()
}

fn sum_indexed(b: &mut Bench) {
    let v = numbers(b.arg());
    b.elements(v.len() as u64);
    b.iter(|| {
        let v = black_box(&v);
        let mut sum = 0u64;
        for i in 0..v.len() {
            sum = sum.wrapping_add(black_box(v[i]) * v[i]);
        }
        sum
    });
}

fn sum_iterated(b: &mut Bench) {
    let v = numbers(b.arg());
    b.elements(v.len() as u64);
    b.iter(|| black_box(&v).iter().map(|x| x * x).fold(0u64, u64::wrapping_add));
}

fn sort(b: &mut Bench) {
    b.iter_batched(16, || numbers(1000), |mut v| {
        v.sort_unstable();
        v
    });
}

benches! { sum_indexed(100, 10000), sum_iterated(100, 10000), sort }
