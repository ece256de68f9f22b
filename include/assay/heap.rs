// SPDX-License-Identifier: Apache-2.0
//! What a program that runs under `assay heap` allocates, asked by the program
//! itself (<assay/heap.h>, which says what each value means). Take this file in
//! as module `heap`; nothing is linked. Rust 1.56 or later.
//!
//!     #[test]
//!     fn parsing_allocates_nothing() {
//!         let scope = heap::Scope::begin();
//!         parse("a,b");
//!         if let Some(stats) = scope.end() { // None: nobody records this process
//!             assert_eq!(stats.blocks, 0);
//!         }
//!     }
//!
//! Then: assay heap --cargo --test NAME

#![allow(dead_code)]

use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Counts of blocks; see AssayHeapStats.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub blocks: u64,
    pub bytes: u64,
    pub live_blocks: i64,
    pub live_bytes: i64,
    pub max_blocks: i64,
    pub max_bytes: i64,
}

#[repr(C)]
struct RawScope {
    own: [u64; 8],
}

#[repr(C)]
struct Functions {
    size: usize,
    stats: Option<extern "C" fn(*mut Stats) -> c_int>,
    thread_stats: extern "C" fn(*mut Stats) -> c_int,
    scope_begin: extern "C" fn(*mut RawScope) -> c_int,
    scope_stats: extern "C" fn(*const RawScope, *mut Stats) -> c_int,
    scope_end: extern "C" fn(*mut RawScope, *mut Stats) -> c_int,
    mark: extern "C" fn(u64) -> c_int,
}

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

// 0: not asked yet; 1: nobody records this process; else the functions.
static FOUND: AtomicPtr<Functions> = AtomicPtr::new(std::ptr::null_mut());

fn functions() -> Option<&'static Functions> {
    let none = 1 as *mut Functions;
    let mut found = FOUND.load(Ordering::Acquire);
    if found.is_null() {
        found = unsafe {
            let symbol = dlsym(
                std::ptr::null_mut(),
                b"assay_heap_functions\0".as_ptr() as *const c_char,
            );
            if symbol.is_null() {
                none
            } else {
                let get: extern "C" fn() -> *mut Functions = std::mem::transmute(symbol);
                let table = get();
                if table.is_null() { none } else { table }
            }
        };
        FOUND.store(found, Ordering::Release);
    }
    if found == none {
        None
    } else {
        Some(unsafe { &*found })
    }
}

fn ask(call: impl FnOnce(&Functions, *mut Stats) -> c_int) -> Option<Stats> {
    let mut stats = Stats::default();
    let status = call(functions()?, &mut stats);
    if status == 0 { Some(stats) } else { None }
}

/// The whole process. None: its heap is not recorded, or by samples.
pub fn stats() -> Option<Stats> {
    ask(|f, ret| f.stats.map_or(-3, |stats| stats(ret)))
}

/// The calling thread.
pub fn thread_stats() -> Option<Stats> {
    ask(|f, ret| (f.thread_stats)(ret))
}

/// Counts an event of the program's own, with a weight, at the calling stack.
#[inline(always)]
pub fn mark(weight: u64) {
    if let Some(f) = functions() {
        (f.mark)(weight);
    }
}

/// What the thread allocates from here on. Scopes that are nested end in the order that Rust drops
/// them.
pub struct Scope {
    raw: Box<RawScope>,
    _stays_on_its_thread: PhantomData<*mut ()>,
}

impl Scope {
    pub fn begin() -> Scope {
        let mut raw = Box::new(RawScope { own: [0; 8] });
        if let Some(f) = functions() {
            (f.scope_begin)(&mut *raw);
        }
        Scope { raw, _stays_on_its_thread: PhantomData }
    }

    /// So far.
    pub fn stats(&self) -> Option<Stats> {
        ask(|f, ret| (f.scope_stats)(&*self.raw, ret))
    }

    pub fn end(self) -> Option<Stats> {
        self.stats()
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(f) = functions() {
            (f.scope_end)(&mut *self.raw, std::ptr::null_mut());
        }
    }
}
