// SPDX-License-Identifier: Apache-2.0
// The output of 'llvm-cov export' for evaluated functions. It reads the functions themselves: the
// profile does not hold which region expands to which.

#ifndef EXPORT_COVER_LLVM_JSON_H
#define EXPORT_COVER_LLVM_JSON_H

#include "base/strbuf.h"
#include "coverage/llvm/file_totals.h"

// Takes the contents of the buffer and empties it; false stops the writing.
typedef bool CoverFlush(void *ctx, StrBuf *out);

// Writes in pieces, so that only one function's text is held. Mappings up to
// version 6 (LLVM 17) get no MC/DC fields, as their llvm-cov has none. False when
// `flush` said so.
MUST_CHECK bool cover_write_llvm_json(const CoverData *d, const CoverProject *how, StrBuf *out,
                                      CoverFlush *flush, void *flush_ctx);

#endif // EXPORT_COVER_LLVM_JSON_H
