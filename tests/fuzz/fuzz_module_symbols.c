// SPDX-License-Identifier: Apache-2.0
// Fuzzes a module from end to end: symbols, debug information, look-ups. Every
// path leads to the same bytes, so that links, dwz and .dwo files are hostile too.

#include "symbolise/module_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same_bytes(void *ctx, Str path, Bytes *ret)
{
    (void)path;
    *ret = *(const Bytes *)ctx;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Bytes bytes = bytes_over(data, size);
    SymboliseFiles access = {.ctx = &bytes, .file_bytes = same_bytes};
    DebugSearch search = {0};
    BuildId any = {0};
    ModuleSymbols m;
    PlaceFrames frames;
    module_symbols_open(&m, &access, &search, STR("/a/b"), &any, (Bytes){0});
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t svma = (m.has_object ? m.elf.entry : 0x1000) + i * 8;
        if (module_symbols_lookup(&m, svma, &frames))
            assert(frames.len > 0 && frames.len <= PLACE_FRAMES_MAX);
    }
    module_symbols_close(&m);
    return 0;
}
