#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rust_crate.py MODULES FUNCTIONS: writes src/ of a crate for coverage, FUNCTIONS in
each module, every one with branches, a loop, a match and two closures."""
import os
import sys

MODULES, FUNCTIONS = int(sys.argv[1]), int(sys.argv[2])


def function(number, name):
    return f"""pub fn f{name}(n: u64) -> u64 {{
    let mut s = {number}u64;
    for i in 0..(n % {number % 7 + 2}) {{
        if i % 2 == {number % 2} && n > {number % 50} {{
            s = s.wrapping_add(i);
        }} else {{
            s ^= {number % 5};
        }}
    }}
    let g = |x: u64| if x > {number % 90} {{ x + 1 }} else {{ x * 2 }};
    let h = |x: u64| x.wrapping_mul({number % 13 + 1});
    match n % 4 {{
        0 => s += 1,
        1 => s = h(s),
        _ => s = g(s),
    }}
    if n > {number % 100} {{
        s
    }} else {{
        !s
    }}
}}
"""


os.makedirs("src", exist_ok=True)
for m in range(MODULES):
    with open(f"src/m{m}.rs", "w") as out:
        for f in range(FUNCTIONS):
            out.write(function(m * FUNCTIONS + f, f))
        out.write("pub fn all(n: u64) -> u64 {\n    let mut s = 0u64;\n")
        for f in range(FUNCTIONS):
            out.write(f"    if (n + {f}) % 3 != 0 {{\n        s ^= f{f}(n + {f % 7});\n    }}\n")
        out.write("    s\n}\n")
with open("src/main.rs", "w") as out:
    out.write("".join(f"mod m{m};\n" for m in range(MODULES)))
    out.write("fn main() {\n    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();\n    let mut s = 0u64;\n")
    out.write("".join(f"    s ^= m{m}::all(n + {m});\n" for m in range(MODULES)))
    out.write('    println!("{}", s);\n}\n')
