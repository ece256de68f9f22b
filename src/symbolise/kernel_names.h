// SPDX-License-Identifier: Apache-2.0
// The functions that the running kernel was linked with, in a file of the symbol cache. The kernel
// takes 50 ms to print its 100,000 symbols, and nearly every recording meets an address in it that
// no recording has met before. Format: docs/formats/symbol-cache.md.

#ifndef SYMBOLISE_KERNEL_NAMES_H
#define SYMBOLISE_KERNEL_NAMES_H

#include "base/error.h"
#include "base/strbuf.h"
#include "symbolise/text_maps.h"

enum { KERNEL_NAMES_VERSION = 1 }; // of the file

// An opened file; borrows its bytes.
typedef struct KernelNames {
    AddressRange core;
    Bytes rows; // `count` of them
    Bytes names;
    uint32_t count;
} KernelNames;

// Appends the file for the symbols of `index` inside `core`. False, with nothing appended, when
// there are none or the range is too large for the file.
bool kernel_names_encode(const SymbolIndex *index, AddressRange core, StrBuf *out);

// Checks head and checksum. On false `err` names the damage.
MUST_CHECK bool kernel_names_open(Bytes file, KernelNames *ret, Error *err);

// The function at an address inside `core`; "" when there is none. False for other addresses.
bool kernel_names_find(const KernelNames *k, uint64_t address, Str *ret);

#endif // SYMBOLISE_KERNEL_NAMES_H
