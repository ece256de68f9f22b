// SPDX-License-Identifier: Apache-2.0
//! With the feature `peer`, dhat-rs keeps account of the program's blocks.

#[cfg(feature = "peer")]
#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Keeps the account until it is dropped, and then writes it to dhat-heap.json.
#[cfg(feature = "peer")]
pub fn account() -> dhat::Profiler {
    dhat::Profiler::new_heap()
}

/// Without the peer there is nothing to keep.
#[cfg(not(feature = "peer"))]
pub fn account() {}
