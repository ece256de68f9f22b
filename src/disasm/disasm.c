// SPDX-License-Identifier: Apache-2.0
// Disassembles machine code by libraries that are opened at run time.

#include "disasm/disasm.h"

#include <Zydis/Zydis.h>
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdio.h>

#include "disasm/x86_length.h"

typedef struct ZydisLibrary {
    __typeof__(ZydisDecoderInit) *decoder_init;
    __typeof__(ZydisDecoderDecodeFull) *decode;
    __typeof__(ZydisDecoderDecodeInstruction) *decode_only;
    __typeof__(ZydisFormatterInit) *formatter_init;
    __typeof__(ZydisFormatterFormatInstruction) *format;
    __typeof__(ZydisCalcAbsoluteAddress) *absolute_address;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
} ZydisLibrary;

typedef struct CapstoneLibrary {
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_disasm) *disasm;
    __typeof__(cs_free) *free;
    csh handle;
} CapstoneLibrary;

struct Disasm {
    DisasmArch arch;
    void *library;
    ZydisLibrary zydis;
    CapstoneLibrary capstone;
};

// The structs are those of the headers that assay was built with, so that the library must have the
// same version.
static void zydis_version(const char *before, char ret[32])
{
    snprintf(ret, 32, "%s%u.%u", before, (unsigned)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
             (unsigned)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
}

static void capstone_version(const char *before, char ret[32])
{
    snprintf(ret, 32, "%s%u", before, (unsigned)CS_API_MAJOR);
}

// Loads a function of the library; NULL when it has none. POSIX guarantees the conversion from void
// *.
static bool load_symbol(void *library, const char *name, void **ret)
{
    *ret = dlsym(library, name);
    return *ret != NULL;
}

static bool open_zydis(Disasm *d)
{
    ZydisLibrary *z = &d->zydis;
    char name[32];
    zydis_version("libZydis.so.", name);
    d->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!d->library || !load_symbol(d->library, "ZydisDecoderInit", (void **)&z->decoder_init) ||
        !load_symbol(d->library, "ZydisDecoderDecodeFull", (void **)&z->decode) ||
        !load_symbol(d->library, "ZydisDecoderDecodeInstruction", (void **)&z->decode_only) ||
        !load_symbol(d->library, "ZydisFormatterInit", (void **)&z->formatter_init) ||
        !load_symbol(d->library, "ZydisFormatterFormatInstruction", (void **)&z->format) ||
        !load_symbol(d->library, "ZydisCalcAbsoluteAddress", (void **)&z->absolute_address))
        return false;
    return ZYAN_SUCCESS(
               z->decoder_init(&z->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(z->formatter_init(&z->formatter, ZYDIS_FORMATTER_STYLE_INTEL));
}

static bool open_capstone(Disasm *d)
{
    CapstoneLibrary *c = &d->capstone;
    char name[32];
    capstone_version("libcapstone.so.", name);
    d->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!d->library || !load_symbol(d->library, "cs_open", (void **)&c->open) ||
        !load_symbol(d->library, "cs_close", (void **)&c->close) ||
        !load_symbol(d->library, "cs_disasm", (void **)&c->disasm) ||
        !load_symbol(d->library, "cs_free", (void **)&c->free))
        return false;
    return c->open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &c->handle) == CS_ERR_OK;
}

bool disasm_open(Arena *arena, DisasmArch arch, Disasm **ret, Error *err)
{
    Disasm *d = arena_new(arena, Disasm);
    d->arch = arch;
    bool is_x86 = arch == DISASM_X86_64;
    if (is_x86 ? open_zydis(d) : open_capstone(d)) {
        *ret = d;
        return true;
    }
    if (d->library)
        dlclose(d->library);
    char library[32], package[32];
    if (is_x86) {
        zydis_version("libZydis.so.", library);
        zydis_version("libzydis", package);
    } else {
        capstone_version("libcapstone.so.", library);
        capstone_version("libcapstone", package);
    }
    error_set(err, ERROR_UNSUPPORTED, "cannot show instructions: %s is not installed", library);
    return error_hint(err, "run: apt install %s", package);
}

void disasm_close(Disasm *d)
{
    if (!d)
        return;
    if (d->capstone.handle)
        d->capstone.close(&d->capstone.handle);
    dlclose(d->library);
}

static DisasmFlow x86_flow(const ZydisDecodedInstruction *i)
{
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return DISASM_CALL;
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return DISASM_JUMP;
    case ZYDIS_CATEGORY_RET:
        return DISASM_RETURN;
    default:
        return DISASM_PLAIN;
    }
}

static bool next_x86(Disasm *d, Arena *arena, Bytes code, DisasmInstruction *ret)
{
    ZydisLibrary *z = &d->zydis;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(z->decode(&z->decoder, code.ptr, code.len, &i, operands)))
        return false;
    ret->length = i.length;
    ret->flow = x86_flow(&i);
    if ((ret->flow == DISASM_CALL || ret->flow == DISASM_JUMP) &&
        operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        ret->has_target =
            ZYAN_SUCCESS(z->absolute_address(&i, &operands[0], ret->address, &ret->target));
    char text[256];
    if (!ZYAN_SUCCESS(z->format(&z->formatter, &i, operands, i.operand_count_visible, text,
                                sizeof(text), ret->address, NULL)))
        return false;
    ret->text = arena_str(arena, str_from_c(text));
    return true;
}

// The target of a branch is its last operand: "#0x1234".
static void aarch64_flow(DisasmInstruction *ret, Str mnemonic, Str operands)
{
    if (str_equal(mnemonic, STR("bl")) || str_equal(mnemonic, STR("blr")))
        ret->flow = DISASM_CALL;
    else if (str_equal(mnemonic, STR("ret")))
        ret->flow = DISASM_RETURN;
    else if (str_equal(mnemonic, STR("b")) || str_equal(mnemonic, STR("br")) ||
             str_starts_with(mnemonic, STR("b.")) || str_starts_with(mnemonic, STR("cb")) ||
             str_starts_with(mnemonic, STR("tb")))
        ret->flow = DISASM_JUMP;
    size_t hash = str_find_last_char(operands, '#');
    if (ret->flow != DISASM_PLAIN && hash != SIZE_MAX)
        ret->has_target =
            str_parse_u64(str_slice(operands, hash + 1, operands.len), 0, &ret->target);
}

static bool next_aarch64(Disasm *d, Arena *arena, Bytes code, DisasmInstruction *ret)
{
    cs_insn *insn;
    size_t count = d->capstone.disasm(d->capstone.handle, code.ptr, MIN(code.len, (size_t)4),
                                      ret->address, 1, &insn);
    if (count == 0)
        return false;
    Str mnemonic = str_from_c(insn->mnemonic);
    Str operands = str_from_c(insn->op_str);
    ret->length = insn->size;
    ret->text = arena_printf(arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(mnemonic),
                             operands.len ? " " : "", STR_ARG(operands));
    aarch64_flow(ret, mnemonic, operands);
    d->capstone.free(insn, count);
    return true;
}

bool disasm_next(Disasm *d, Arena *arena, Bytes code, uint64_t address, DisasmInstruction *ret)
{
    if (code.len == 0)
        return false;
    *ret = (DisasmInstruction){.address = address};
    bool is_x86 = d->arch == DISASM_X86_64;
    if (is_x86 ? next_x86(d, arena, code, ret) : next_aarch64(d, arena, code, ret))
        return true;
    size_t unit = is_x86 ? 1 : 4;
    *ret = (DisasmInstruction){.address = address, .length = (uint32_t)MIN(unit, code.len)};
    ret->text = STR("(bad)");
    return true;
}

uint32_t disasm_length(Disasm *d, Bytes code)
{
    ZydisDecodedInstruction i;
    if (d->arch != DISASM_X86_64)
        return code.len < 4 ? 0 : 4;
    uint32_t common = x86_length_common(code);
    if (common)
        return common;
    if (!ZYAN_SUCCESS(d->zydis.decode_only(&d->zydis.decoder, NULL, code.ptr, code.len, &i)))
        return 0;
    return i.length;
}

uint32_t disasm_relative(Disasm *d, Bytes code, DisasmRelative *ret)
{
    ZydisDecodedInstruction i;
    *ret = (DisasmRelative){0};
    if (d->arch != DISASM_X86_64 ||
        !ZYAN_SUCCESS(d->zydis.decode_only(&d->zydis.decoder, NULL, code.ptr, code.len, &i)))
        return 0;
    if (!(i.attributes & ZYDIS_ATTRIB_IS_RELATIVE))
        return i.length;
    // Of a jump it is the immediate value, else the displacement of a memory operand.
    for (size_t k = 0; k < ARRAY_LEN(i.raw.imm); k++)
        if (i.raw.imm[k].is_relative)
            *ret = (DisasmRelative){i.raw.imm[k].offset, i.raw.imm[k].size / 8u};
    if (ret->size == 0)
        *ret = (DisasmRelative){i.raw.disp.offset, i.raw.disp.size / 8u};
    return i.length;
}
