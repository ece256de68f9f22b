// SPDX-License-Identifier: Apache-2.0
// Reads coverage mapping: it gives each region of a source file its count, as a counter or
// as a sum or difference of counters. Versions 1 to 7.
// Document: llvm/docs/CoverageMappingFormat.rst.

#ifndef LLVMCOV_COVMAP_H
#define LLVMCOV_COVMAP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/format_versions.h"
#include "base/table.h"
#include "base/vec.h"
#include "llvmcov/names.h"

// The numbers are those of the mapping; there a bit of the column marks gap regions.
typedef enum CovRegionKind {
    COV_CODE = 0,
    COV_EXPANSION = 1,
    COV_SKIPPED = 2,
    COV_GAP = 3,
    COV_BRANCH = 4,
    COV_MCDC_DECISION = 5,
    COV_MCDC_BRANCH = 6
} CovRegionKind;

// A reference to a count: the low 2 bits say what kind, the others are its number.
typedef uint32_t CovCounter;
enum { COV_ZERO = 0, COV_COUNTER = 1, COV_SUBTRACT = 2, COV_ADD = 3 };
// COV_ZERO, COV_COUNTER, COV_SUBTRACT or COV_ADD.
static inline unsigned cov_counter_tag(CovCounter c)
{
    return c & 3;
}
// The number of the counter (COV_COUNTER) or of the expression (COV_SUBTRACT, COV_ADD).
static inline uint32_t cov_counter_index(CovCounter c)
{
    return c >> 2;
}

// A sum or a difference: the tag of the word that refers to it says which.
typedef struct CovExpression {
    CovCounter lhs, rhs;
} CovExpression;

typedef struct CovMapRegion {
    CovCounter count;
    CovCounter false_count; // of branches
    uint32_t file;          // file id of the function
    uint32_t expanded_file; // for an expansion: the file id of the macro's text
    uint32_t line, column, end_line, end_column;
    CovRegionKind kind;
    // MC/DC. For a decision: index in the bitmap and number of conditions. For a branch: its
    // condition, and the next ones on true and on false; -1 for none.
    uint32_t bitmap_index;
    uint16_t condition_count;
    int16_t condition, true_next, false_next;
} CovMapRegion;

// The entry of one function in the object file.
typedef struct CovMapFunction {
    uint64_t name_ref;
    Str name; // "" when the names section does not have it
    uint64_t hash;
    Bytes mapping;
    uint32_t files_first, files_count; // range in CovMap.files: the list of its translation unit
} CovMapFunction;

typedef Vec(CovMapFunction) CovMapFunctionVec;

typedef struct CovMap {
    unsigned version; // 1 to 7; 0: none
    StrVec files;     // absolute where the compilation directory is known
    CovMapFunctionVec functions;
    ProfNames names;
} CovMap;

// A path without ".", ".." and doubled slashes. Only the text is changed: after a link to a folder,
// ".." would lead elsewhere. In `arena`, or `path` itself when it has none of them.
Str covmap_path_without_dots(Arena *arena, Str path);

// The sections of one object, in the bytes of its file.
typedef struct CovMapSections {
    Bytes covmap;           // __llvm_covmap
    Bytes covfun;           // __llvm_covfun, from version 4 on
    Bytes names;            // __llvm_prf_names
    uint64_t names_address; // address at which the names are loaded; version 1 refers to it
    uint8_t pointer_size;
    bool big_endian;
} CovMapSections;

// Reads the list of functions. A name is kept once; as in LLVM, a real record is preferred to the
// dummy record of a translation unit that did not use the function. Texts and tables lie in the
// arena; mappings borrow the sections.
MUST_CHECK bool covmap_parse(Arena *arena, CovMapSections s, CovMap *ret, Error *err);
void covmap_deinit(CovMap *m);

extern const FormatVersions covmap_versions;

// LLVM's test form, "llvmcovm" (.covmapping): recognises it, and splits it into its sections.
bool covmap_is_test_form(Bytes file);
MUST_CHECK bool covmap_open_test_form(Bytes file, CovMapSections *ret, Error *err);

// A position in the bytes of the expressions, to start searching from.
typedef struct CovExpressionMark {
    uint32_t at;     // a multiple of 8
    uint32_t before; // count of numbers that end before it
} CovExpressionMark;

// The decoded regions of a function. Reused from function to function; heap memory.
typedef struct CovFunctionMap {
    U32Vec files; // [file id]: row of CovMap.files
    U32Vec first; // [file id]: its first region; one more entry than `files`
    // Expressions are decoded when they are needed: no region uses 24 of 25 that clang writes.
    Bytes expressions; // borrowed from the mapping
    uint32_t expression_count;
    Vec(CovExpressionMark) marks;
    Vec(CovMapRegion) regions; // ordered by file id
} CovFunctionMap;

// Decodes the mapping of function `f`. An expansion gets the counter of the first region in the
// macro's text. On false the map must not be used.
MUST_CHECK bool covmap_decode(const CovMapFunction *f, CovFunctionMap *into, Error *err);
// Decodes expression `index` < expression_count. The indices in the result are below that, too.
// False when it is broken.
MUST_CHECK bool covmap_expression(const CovFunctionMap *m, uint32_t index, CovExpression *ret);
void covmap_function_deinit(CovFunctionMap *m);

#endif // LLVMCOV_COVMAP_H
