// SPDX-License-Identifier: Apache-2.0
// A Rust program that profiles itself to the file of its argument, by the C ABI.

use std::ffi::{c_char, c_int, c_void, CString};
use std::hint::black_box;
use std::time::Instant;

extern "C" {
fn assay_profile_start(options : *const c_void)->c_int;
fn assay_profile_stop()->c_int;
fn assay_profile_dump(path : *const c_char)->c_int;
}

#[inline(never)]
fn first(rounds
         : u64)
    ->u64{(0..rounds).fold(0, | sum, i | black_box(sum ^ i))}

#[inline(never)]
fn second(rounds
          : u64)
    ->u64{(0..rounds).fold(1, | sum, i | black_box(sum ^ i))}

fn both()
    ->u64
{
    let mut sum = 0;
    let start = Instant::now();
    while
        start.elapsed().as_millis() < 800
        {
            sum ^= first(250_000) ^ second(750_000);
        }
    sum
}

fn main()
{
    let path = CString::new (std::env::args().nth(1).expect("a file")).unwrap();
    unsafe
    {
        assert_eq !(assay_profile_start(std::ptr::null()), 0);
        let other = std::thread::spawn(both);
        black_box(both() ^ other.join().unwrap());
        assert_eq !(assay_profile_stop(), 0);
        assert_eq !(assay_profile_dump(path.as_ptr()), 0);
    }
}
