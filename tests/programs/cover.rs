// Rust's side of the coverage tests: closures, matches, generics, early returns.
fn classify(n: u64) -> &'static str {
    match n {
        0 => "none",
        1..=9 if n % 2 == 0 => "few, even",
        1..=9 => "few",
        _ => "many",
    }
}

fn parse(text: &str) -> Result<u64, std::num::ParseIntError> {
    let value = text.parse::<u64>()?;
    Ok(value + 1)
}

fn largest<T: PartialOrd + Copy>(items: &[T]) -> Option<T> {
    let mut best = *items.first()?;
    for &item in items {
        if item > best {
            best = item;
        }
    }
    Some(best)
}

fn never() -> u32 {
    unreachable!()
}

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(3);
    let squares: Vec<u64> = (0..n).map(|i| i * i).filter(|s| s % 3 != 0 || *s > 5).collect();
    println!("{} {:?} {:?}", classify(n), largest(&squares), largest(&[1.5, 0.5]));
    println!("{:?} {:?}", parse("41"), parse("x"));
    if n > 1000 {
        never();
    }
}
