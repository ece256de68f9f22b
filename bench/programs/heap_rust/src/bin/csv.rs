// SPDX-License-Identifier: Apache-2.0
//! Allocation stress: for each row of a table, in memory, a map from column to value is made and
//! dropped, with 6 million blocks in all.

use std::collections::HashMap;

const ROWS: usize = 300_000;
const LINE: &str = "alpha,12.5,a longer text of a cell,7,2026-11-23,x,yes,no,0.001,end";

#[inline(never)]
fn insert(map: &mut HashMap<String, String>, column: usize, text: &str) {
    map.insert(format!("c{column}"), text.to_string());
}

#[inline(never)]
fn row(line: &str) -> usize {
    let mut map = HashMap::new();
    for (column, text) in line.split(',').enumerate() {
        insert(&mut map, column, text);
    }
    map.get("c2").map_or(0, |value| value.len())
}

#[inline(never)]
fn table(rows: usize) -> usize {
    (0..rows).map(|_| row(LINE)).sum()
}

fn main() {
    let _account = heap_rust::account();
    let rows = std::env::args().nth(1).map_or(ROWS, |text| text.parse().unwrap());
    println!("{}", table(rows));
}
