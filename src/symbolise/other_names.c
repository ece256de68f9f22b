// SPDX-License-Identifier: Apache-2.0
// Linkage names of OCaml (asmcomp/compilenv.ml), gfortran (trans-decl.c), GHC (Z-encoding:
// compiler commentary, "Symbol Names") and Free Pascal (programmer's guide, appendix "mangled
// names").

#include "symbolise/other_names.h"

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// From a place to the end.
static Str rest_of(Str s, size_t from)
{
    return str_slice(s, MIN(from, s.len), s.len);
}

// Where `part` first stands in `s` from `from` on; SIZE_MAX: nowhere.
static size_t find_from(Str s, Str part, size_t from)
{
    size_t at = str_find(rest_of(s, from), part);
    return at == SIZE_MAX ? SIZE_MAX : at + from;
}

// ---- OCaml ---------------------------------------------------------------------

// "__" separates modules; "$2b" is the character with that number.
static bool ocaml_name(Str name, StrBuf *out)
{
    Str prefix = STR("caml");
    if (!str_starts_with(name, prefix) || name.len <= prefix.len || !is_upper(name.ptr[prefix.len]))
        return false;
    for (size_t i = prefix.len; i < name.len; i++) {
        char c = name.ptr[i];
        int high = i + 2 < name.len ? hex_value(name.ptr[i + 1]) : -1;
        int low = i + 2 < name.len ? hex_value(name.ptr[i + 2]) : -1;
        if (c == '_' && i + 1 < name.len && name.ptr[i + 1] == '_') {
            strbuf_add(out, STR("."));
            i++;
        } else if (c == '$' && high >= 2 && high < 8 && low >= 0) {
            char decoded = (char)(16 * high + low);
            strbuf_add(out, str_over(&decoded, 1));
            i += 2;
        } else {
            strbuf_add(out, str_over(&c, 1));
        }
    }
    return true;
}

// ---- Fortran -------------------------------------------------------------------

static bool fortran_name(Str name, StrBuf *out)
{
    Str mark = STR("_MOD_");
    size_t at = find_from(name, mark, 2);
    if (!str_starts_with(name, STR("__")) || at == SIZE_MAX || at == 2 || at + mark.len == name.len)
        return false;
    strbuf_add(out, str_slice(name, 2, at));
    strbuf_add(out, STR("::"));
    strbuf_add(out, rest_of(name, at + mark.len));
    return true;
}

// ---- Haskell -------------------------------------------------------------------

// The character of an escape "zX" or "ZX"; 0: there is none.
static char z_character(char first, char second)
{
    static const char small[] = "a&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%zz";
    static const char large[] = "L(R)M[N]C:ZZ";
    const char *pairs = first == 'z' ? small : large;
    for (size_t i = 0; pairs[i]; i += 2)
        if (pairs[i] == second)
            return pairs[i + 1];
    return 0;
}

// Decodes a part of a name. False when an escape is not known; `*found` becomes true at the first.
static bool z_decode(Str part, StrBuf *out, bool *found)
{
    for (size_t i = 0; i < part.len; i++) {
        char c = part.ptr[i];
        if (c == 'z' || c == 'Z') {
            c = i + 1 < part.len ? z_character(c, part.ptr[i + 1]) : 0;
            if (c == 0)
                return false;
            *found = true;
            i++;
        }
        strbuf_add(out, str_over(&c, 1));
    }
    return part.len > 0;
}

// The name without what GHC appends for the kinds of code and data of one function.
static Str haskell_base(Str name)
{
    static const Str kinds[] = {STR_INIT("_con_info"), STR_INIT("_info"), STR_INIT("_entry"),
                                STR_INIT("_slow"),     STR_INIT("_fast"), STR_INIT("_closure")};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_ends_with(name, kinds[i]))
            return str_slice(name, 0, name.len - kinds[i].len);
    return (Str){0};
}

// [package_]Module_name: "_" only separates them.
static bool haskell_name(Str name, StrBuf *out)
{
    Str base = haskell_base(name);
    size_t first = str_find_char(base, '_'), last = str_find_last_char(base, '_');
    if (base.len == 0 || first == SIZE_MAX)
        return false;
    Str package = first < last ? str_slice(base, 0, first) : (Str){0};
    Str module = first < last ? str_slice(base, first + 1, last) : str_slice(base, 0, last);
    if (module.len == 0 || !is_upper(module.ptr[0]) || str_find_char(module, '_') != SIZE_MAX)
        return false;
    size_t start = out->len;
    bool found = false, ok = true;
    if (package.len > 0) {
        ok = z_decode(package, out, &found);
        strbuf_add(out, STR(":"));
    }
    ok = ok && z_decode(module, out, &found);
    strbuf_add(out, STR("."));
    ok = ok && z_decode(rest_of(base, last + 1), out, &found);
    if (!ok || !found)
        out->len = start;
    return ok && found;
}

// ---- Free Pascal ---------------------------------------------------------------

// The parts of "UNIT_$_CLASS" or "UNIT$_$CLASS", with dots between them.
static void add_pascal_owner(Str owner, StrBuf *out)
{
    if (str_starts_with(owner, STR("P$")))
        owner = rest_of(owner, 2);
    while (str_ends_with(owner, STR("_$_")))
        owner = str_slice(owner, 0, owner.len - 3);
    for (size_t i = 0; i < owner.len;) {
        Str left = rest_of(owner, i);
        if (str_starts_with(left, STR("_$_")) || str_starts_with(left, STR("$_$"))) {
            strbuf_add(out, STR("."));
            i += 3;
        } else {
            strbuf_add(out, str_slice(left, 0, 1));
            i++;
        }
    }
}

// OWNER_$$_NAME$TYPE$TYPE$$RESULT. Long lists of types are a checksum.
static bool pascal_name(Str name, StrBuf *out)
{
    Str mark = STR("_$$_");
    size_t at = find_from(name, mark, 1);
    if (at == SIZE_MAX || at + mark.len == name.len)
        return false;
    add_pascal_owner(str_slice(name, 0, at), out);
    strbuf_add(out, STR("."));
    Str function = rest_of(name, at + mark.len);
    size_t result = find_from(function, STR("$$"), 1);
    function = str_slice(function, 0, MIN(result, function.len));
    size_t types = str_find_char(function, '$');
    strbuf_add(out, str_slice(function, 0, MIN(types, function.len)));
    strbuf_add(out, STR("("));
    for (size_t i = types == SIZE_MAX ? function.len : types + 1; i < function.len; i++) {
        if (function.ptr[i] == '$')
            strbuf_add(out, STR(", "));
        else
            strbuf_add(out, str_slice(function, i, i + 1));
    }
    strbuf_add(out, STR(")"));
    return true;
}

bool other_name(Str name, StrBuf *out)
{
    return ocaml_name(name, out) || fortran_name(name, out) || haskell_name(name, out) ||
           pascal_name(name, out);
}
