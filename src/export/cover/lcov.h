// SPDX-License-Identifier: Apache-2.0
// Coverage as an lcov tracefile (.info).
// Document: lcov, man/geninfo, "FILES".

#ifndef EXPORT_COVER_LCOV_H
#define EXPORT_COVER_LCOV_H

#include "analyse/cover/file_rows.h"
#include "base/strbuf.h"

// Appends one file's record. FN, FNDA, DA and BRDA rows are those of
// 'llvm-cov export -format=lcov'; the totals count the rows above them.
void cover_lcov_file(const Profile *p, const CoverFiles *c, const CoverFileRows *f, StrBuf *out);

#endif // EXPORT_COVER_LCOV_H
