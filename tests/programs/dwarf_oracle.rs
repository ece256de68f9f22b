// SPDX-License-Identifier: Apache-2.0
// Iterators, closures, generics and trait objects for tests/e2e/dwarf-oracle.sh.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);
struct Disc(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Disc {
    fn area(&self) -> f64 {
        self.0 * self.0 * std::f64::consts::PI
    }
}

fn apply<F: Fn(usize) -> usize>(f: F, n: usize) -> usize {
    (0..n).map(|i| f(i)).filter(|x| x % 3 != 1).sum()
}

fn main() {
    let n = std::env::args().count() * 100;
    let mut words: HashMap<String, usize> = HashMap::new();
    for i in 0..n {
        *words.entry(format!("w{}", i % 17)).or_default() += apply(|x| x ^ i, i);
    }
    let sorted: BTreeMap<_, _> = words.iter().collect();
    let mut out = String::new();
    for (word, count) in &sorted {
        write!(out, "{word}={count} ").unwrap();
    }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(2.0)), Box::new(Disc(n as f64))];
    println!("{out}{}", shapes.iter().map(|s| s.area()).sum::<f64>());
}
