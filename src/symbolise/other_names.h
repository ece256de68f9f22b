// SPDX-License-Identifier: Apache-2.0
// Linkage names of languages that libiberty does not read: OCaml, Fortran modules, Haskell and
// Free Pascal. A name is taken for one of them only where names of C do not look like that.

#ifndef SYMBOLISE_OTHER_NAMES_H
#define SYMBOLISE_OTHER_NAMES_H

#include "base/strbuf.h"

// Appends the name as the programmer wrote it:
//   camlStdlib__List__map_154      Stdlib.List.map_154    (OCaml; with the compiler's number)
//   __solver_MOD_step              solver::step           (gfortran)
//   base_DataziMap_zdwgo_info      base:Data.Map.$wgo     (GHC, Z-encoded)
//   P$CALC_$_TREE_$__$$_ADD$REAL   CALC.TREE.ADD(REAL)    (Free Pascal)
// False, with nothing appended, when it is none of these.
bool other_name(Str linkage_name, StrBuf *out);

#endif // SYMBOLISE_OTHER_NAMES_H
