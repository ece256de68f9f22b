// SPDX-License-Identifier: Apache-2.0
//! Allocation from deep stacks by several threads: each calls down 24 frames by one of many ways,
//! keeps blocks in a table that all threads share, and replaces, grows and drops what is there,
//! also blocks of other threads. Arguments: threads, rounds of each.

use std::sync::Mutex;

const SLOTS: usize = 40_000;
const DEPTH: u32 = 24;
const WAYS: u64 = 1560;
const ROUNDS: usize = 1_060_000;

type Table = Vec<Mutex<Vec<u8>>>;

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[inline(never)]
fn work(table: &Table, state: &mut u64, kind: u64) {
    let size = 16 + (next(state) % 200) as usize;
    let taken = next(state) as usize % SLOTS;
    let mut block = if kind % 4 == 0 {
        std::mem::take(&mut *table[taken].lock().unwrap())
    } else {
        Vec::new()
    };
    block.reserve_exact(size.saturating_sub(block.len()).max(1));
    block.push(kind as u8);
    let old = std::mem::replace(&mut *table[next(state) as usize % SLOTS].lock().unwrap(), block);
    drop(old);
}

#[inline(never)]
fn left(table: &Table, state: &mut u64, way: u64, depth: u32) -> u64 {
    let below = if depth == 0 {
        work(table, state, way);
        0
    } else if way & 1 == 1 {
        left(table, state, way >> 1, depth - 1)
    } else {
        right(table, state, way >> 1, depth - 1)
    };
    std::hint::black_box(below) + 1
}

#[inline(never)]
fn right(table: &Table, state: &mut u64, way: u64, depth: u32) -> u64 {
    let below = if depth == 0 {
        work(table, state, way + 1);
        0
    } else if way & 1 == 1 {
        right(table, state, way >> 1, depth - 1)
    } else {
        left(table, state, way >> 1, depth - 1)
    };
    std::hint::black_box(below) + 2
}

fn main() {
    let _account = heap_rust::account();
    let number = |n, default| std::env::args().nth(n).map_or(default, |text| text.parse().unwrap());
    let (threads, rounds) = (number(1, 2), number(2, ROUNDS));
    let table: Table = (0..SLOTS).map(|_| Mutex::new(Vec::new())).collect();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let table = &table;
            scope.spawn(move || {
                let mut state = (thread as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
                for _ in 0..rounds {
                    let way = next(&mut state) % WAYS;
                    std::hint::black_box(left(table, &mut state, way, DEPTH));
                }
            });
        }
    });
    println!("done");
}
