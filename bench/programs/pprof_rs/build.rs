// SPDX-License-Identifier: Apache-2.0
//! Links the library of assay, whose folder is in ASSAY_LIBRARY.
fn main() {
    let folder = std::env::var("ASSAY_LIBRARY").expect("ASSAY_LIBRARY: the folder of libassay.so");
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=dylib=assay");
    println!("cargo:rerun-if-env-changed=ASSAY_LIBRARY");
}
