// SPDX-License-Identifier: Apache-2.0
// How much a reader may make out of an input: compressed bytes unpacked, and rows decoded
// from a few bytes. A file of 8 KB could otherwise fill the memory of the machine.

#ifndef BASE_DECODED_H
#define BASE_DECODED_H

#include "base/error.h"

// An input may become this many times its size, and DECODED_FLOOR_BYTES in any case, but not
// more than half of the memory that is available now. Recordings and debug information reach 10
// to 30, text of `perf script` 56.
enum { DECODED_RATIO = 64, DECODED_FLOOR_BYTES = 64 << 20 };

// The option that lifts the limit, for messages.
#define DECODED_OPTION "--max-decoded"

// Sets the limit for every input of the process; 0: by the input's size again.
void decoded_limit_set(uint64_t bytes);

// How many bytes an input of `input_bytes` may become.
uint64_t decoded_limit(uint64_t input_bytes);

// The bytes of memory that a reader may take for an input of `input_bytes`: three times
// decoded_limit, for the text and the tables, but at most half of the memory that is available now.
uint64_t decoded_memory_limit(uint64_t input_bytes);

// False with ERROR_LIMIT when `bytes` are over the limit. The text names the limit and the option
// that lifts it: "unpacks to 9 bytes, more than 4 (give --max-decoded SIZE to allow it)".
MUST_CHECK bool decoded_check(uint64_t bytes, uint64_t input_bytes, Error *err);

// The memory that /proc/meminfo calls available, in bytes; UINT64_MAX when it does not say.
uint64_t decoded_available_bytes(const char *meminfo);

// What a control group may still take: the contents of its memory.max and memory.current.
// UINT64_MAX when it has no limit, or either is "".
uint64_t decoded_left_of_limit(const char *max, const char *current);

#endif // BASE_DECODED_H
