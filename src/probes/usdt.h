// SPDX-License-Identifier: Apache-2.0
// Markers that programs carry for probes (USDT, SystemTap's sys/sdt.h).
// Format: SystemTap wiki, "UserSpaceProbeImplementation": notes of type 3 and name "stapsdt" in
// section .note.stapsdt.

#ifndef PROBES_USDT_H
#define PROBES_USDT_H

#include "base/vec.h"
#include "elf/elf.h"

typedef struct UsdtMarker {
    Str provider, name; // borrowed from the file
    Str args;           // "8@%rdi -4@$5": size, sign and place of each
    uint64_t svma;      // of the instruction
    uint64_t semaphore; // stated address of the counter of those who listen; 0: none
} UsdtMarker;
typedef Vec(UsdtMarker) UsdtMarkers;

// Appends the markers of an object, in the order of the file. A broken note ends the list.
void usdt_read(Arena *arena, const Elf *elf, UsdtMarkers *ret);

#endif // PROBES_USDT_H
