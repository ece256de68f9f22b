// SPDX-License-Identifier: Apache-2.0
// main -> a -> b -> hot, which inlines mix. Also: main -> other.
//
// Truths: those of chain.c.

// std::hint's is stable only since Rust 1.66; Debian 12 has 1.63.
#[inline(never)]
fn black_box<T: Copy>(x: T) -> T {
    unsafe { std::ptr::read_volatile(&x) }
}

// HOT BEGIN
#[inline(always)]
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 29;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 32)
}

#[inline(never)]
fn hot(rounds: u64) -> u64 {
    let mut x = rounds;
    let mut i = 0;
    while i < rounds {
        x = mix(x.wrapping_add(i));
        i += 1;
    }
    x
}
// HOT END

#[inline(never)]
fn other(rounds: u64) -> u64 {
    let mut x = rounds;
    let mut i = 0;
    while i < rounds {
        x = mix(x.wrapping_add(i));
        i += 1;
    }
    x ^ 1
}

#[inline(never)]
fn b(rounds: u64) -> u64 {
    black_box(hot(rounds)).wrapping_add(black_box(1))
}

#[inline(never)]
fn a(rounds: u64) -> u64 {
    black_box(b(rounds)).wrapping_add(black_box(1))
}

fn main() {
    let slices: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(100);
    let mut sum = 0u64;
    for _ in 0..slices {
        sum ^= black_box(a(black_box(400_000))) ^ black_box(other(black_box(100_000)));
    }
    black_box(sum);
    println!("done");
}
