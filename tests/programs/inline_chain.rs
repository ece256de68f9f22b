// SPDX-License-Identifier: Apache-2.0
// Truths: `hot` calls the generic `shapes::visit::<…>`, not inlined, whose
// closure is; `<shapes::Square as shapes::Area>::area` is a function of its own.

mod shapes {
    pub trait Area {
        fn area(&self) -> u64;
    }
    pub struct Square(pub u64);
    impl Area for Square {
        #[inline(never)]
        fn area(&self) -> u64 {
            std::hint::black_box(self.0) * self.0
        }
    }
    #[inline(never)]
    pub fn visit<T: Area, F: Fn(u64) -> u64>(shape: &T, f: F) -> u64 {
        f(shape.area()) // VISIT
    }
}

#[inline(never)]
fn hot(n: u64) -> u64 {
    (0..n).map(|i| shapes::visit(&shapes::Square(i), |a| a.wrapping_mul(3))).fold(0, u64::wrapping_add)
}

fn main() {
    let n = std::env::args().count() as u64 * 1000;
    println!("{}", hot(n));
}
