// SPDX-License-Identifier: Apache-2.0
// Function names at several lengths: a scan that splits a demangled name into
// the components of its path, without a grammar of all of C++ types.

#include "model/name.h"

// One component of a path: `head<generics>(arguments)`, each part may be empty.
typedef struct Component {
    Str head;     // identifier, operator, {lambda…}, (anonymous namespace), Rust's <T as Trait>
    Str generics; // with the brackets, and with the "::" before it that Rust writes
    bool is_qualified_self; // head is Rust's <…>
    bool has_arguments;
} Component;

enum { COMPONENTS_MAX = 64 };

// A parsed name. `prefix` stands before the name and is kept, such as "vtable for "; so is the
// suffix.
typedef struct NameParts {
    Str prefix;
    Str suffix; // "@plt"
    Component at[COMPONENTS_MAX];
    size_t len;
} NameParts;

typedef struct Scan {
    Str text;
    size_t at;
} Scan;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (c & 0x80);
}

static char peek(const Scan *s, size_t ahead)
{
    return s->at + ahead < s->text.len ? s->text.ptr[s->at + ahead] : 0;
}

static bool next_is(const Scan *s, Str word)
{
    return str_starts_with(str_slice(s->text, s->at, s->text.len), word);
}

static bool accept(Scan *s, Str word)
{
    if (!next_is(s, word))
        return false;
    s->at += word.len;
    return true;
}

// Whether "operator" as a whole word stands here.
static bool at_operator(const Scan *s)
{
    return next_is(s, STR("operator")) && !is_word(peek(s, 8)) &&
           (s->at == 0 || !is_word(s->text.ptr[s->at - 1]));
}

// The symbols after "operator", longest first where one begins another.
static bool accept_operator_symbol(Scan *s)
{
    static const Str symbols[] = {
        STR_INIT("()"),  STR_INIT("[]"), STR_INIT("<=>"), STR_INIT("<<="), STR_INIT(">>="),
        STR_INIT("->*"), STR_INIT("->"), STR_INIT("<<"),  STR_INIT(">>"),  STR_INIT("<="),
        STR_INIT(">="),  STR_INIT("=="), STR_INIT("!="),  STR_INIT("&&"),  STR_INIT("||"),
        STR_INIT("++"),  STR_INIT("--"), STR_INIT("+="),  STR_INIT("-="),  STR_INIT("*="),
        STR_INIT("/="),  STR_INIT("%="), STR_INIT("^="),  STR_INIT("&="),  STR_INIT("|="),
        STR_INIT("<"),   STR_INIT(">"),  STR_INIT("+"),   STR_INIT("-"),   STR_INIT("*"),
        STR_INIT("/"),   STR_INIT("%"),  STR_INIT("^"),   STR_INIT("&"),   STR_INIT("|"),
        STR_INIT("~"),   STR_INIT("!"),  STR_INIT("="),   STR_INIT(","),
    };
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        if (accept(s, symbols[i]))
            return true;
    return false;
}

// Moves over one bracketed group, from its opening bracket to behind the closing
// one. A closing round, square or curly bracket also closes angles left open
// inside (a less-than in an expression). False when the group has no end.
static bool skip_group(Scan *s)
{
    enum { DEPTH_MAX = 256 };
    char open[DEPTH_MAX];
    size_t depth = 0;
    // Template arguments may stand behind a function call operator: "operator()<int>". Behind
    // another ")" stands a less-than.
    bool may_open = true;
    do {
        if (at_operator(s)) { // its < or > is not a bracket
            s->at += 8;
            may_open = accept_operator_symbol(s);
            if (may_open)
                continue;
        }
        char c = peek(s, 0);
        if (c == 0)
            return false;
        char before = s->at ? s->text.ptr[s->at - 1] : 0;
        s->at++;
        if (c == '(' || c == '[' || c == '{' || (c == '<' && (may_open || before != ')'))) {
            if (depth == DEPTH_MAX)
                return false;
            open[depth++] = c;
        } else if (c == '>') {
            if (before != '-' && depth && open[depth - 1] == '<')
                depth--;
        } else if (c == ')' || c == ']' || c == '}') {
            char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
            while (depth && open[depth - 1] == '<' && wanted != open[depth - 1])
                depth--;
            if (depth == 0 || open[--depth] != wanted)
                return false;
        }
        may_open = false;
    } while (depth);
    return true;
}

static Str taken_since(const Scan *s, size_t start)
{
    return str_slice(s->text, start, s->at);
}

// "operator" and its symbol or type: symbols, new and delete, a literal's
// suffix, or the type of a conversion.
static bool scan_operator(Scan *s, Str *head)
{
    size_t start = s->at;
    s->at += 8;
    if (accept_operator_symbol(s)) {
        *head = taken_since(s, start);
        return true;
    }
    accept(s, STR("\"\""));
    accept(s, STR(" "));
    // A type runs up to the argument list; its own brackets are groups.
    for (;;) {
        char c = peek(s, 0);
        if (c == 0 || c == '(')
            break;
        if (c == '<' || c == '[') {
            if (!skip_group(s))
                return false;
        } else {
            s->at++;
        }
    }
    *head = taken_since(s, start);
    return head->len > 8;
}

// Words that may follow an argument list. Drops it; false for anything else.
static bool skip_qualifiers(Scan *s)
{
    static const Str words[] = {STR_INIT("const"),    STR_INIT("volatile"), STR_INIT("restrict"),
                                STR_INIT("noexcept"), STR_INIT("&&"),       STR_INIT("&"),
                                STR_INIT("static"),   STR_INIT("pure"),     STR_INIT("nothrow")};
    while (peek(s, 0) == ' ') {
        s->at++;
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(words) && !known; i++)
            known = accept(s, words[i]);
        if (!known && next_is(s, STR("[clone ")))
            known = skip_group(s);
        if (!known)
            return false;
    }
    return true;
}

static bool scan_head(Scan *s, Component *c)
{
    size_t start = s->at;
    if (at_operator(s))
        return scan_operator(s, &c->head);
    char first = peek(s, 0);
    if (first == '<') {
        c->is_qualified_self = true;
        bool ok = skip_group(s);
        c->head = taken_since(s, start);
        return ok;
    }
    if (first == '(' && !next_is(s, STR("(anonymous namespace)")) &&
        !next_is(s, STR("(anonymous class)")))
        return false;
    if (first == '(' && !skip_group(s))
        return false;
    // Identifiers; D writes its paths with dots. Curly groups may follow a name
    // (call_once{{vtable.shim}}) or be one ({lambda()#1}).
    for (;;) {
        char ch = peek(s, 0);
        if (ch == '{') {
            if (!skip_group(s))
                return false;
        } else if (is_word(ch) || ch == '~' || ch == '.' || ch == '#' || ch == '@' || ch == '\'') {
            s->at++;
        } else {
            break;
        }
    }
    c->head = taken_since(s, start);
    return c->head.len > 0;
}

static bool scan_component(Scan *s, Component *c)
{
    *c = (Component){0};
    if (!scan_head(s, c))
        return false;
    while (next_is(s, STR("[abi:")))
        if (!skip_group(s))
            return false;
    size_t start = s->at;
    bool is_operator = str_starts_with(c->head, STR("operator"));
    if (is_operator && peek(s, 0) == ' ' && peek(s, 1) == '<')
        s->at++; // "operator< <int>"
    else if (next_is(s, STR("::<")) && !next_is(s, STR("::<impl ")))
        s->at += 2; // Rust's "f::<u8>"
    if (peek(s, 0) == '<') {
        if (!skip_group(s))
            return false;
        c->generics = taken_since(s, start);
    } else {
        s->at = start;
    }
    while (next_is(s, STR("[abi:")))
        if (!skip_group(s))
            return false;
    if (peek(s, 0) == '(') {
        c->has_arguments = true;
        if (!skip_group(s) || !skip_qualifiers(s))
            return false;
    }
    return true;
}

// A path from here to the end of the text. False when it is none.
static bool scan_path(Scan *s, NameParts *parts)
{
    parts->len = 0;
    for (;;) {
        if (parts->len == COMPONENTS_MAX || !scan_component(s, &parts->at[parts->len++]))
            return false;
        if (s->at == s->text.len)
            return true;
        if (!accept(s, STR("::")))
            return false;
    }
}

// A return type ends at a space outside brackets. Moves behind the next one that
// comes before any argument list; false when there is none.
static bool skip_to_space(Scan *s)
{
    while (s->at < s->text.len) {
        char c = peek(s, 0);
        if (c == ' ') {
            s->at++;
            return true;
        }
        if (at_operator(s))
            return false;
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            if (!skip_group(s))
                return false;
        } else {
            s->at++;
        }
    }
    return false;
}

// "void (*name(arguments))(arguments)": the name inside. Gives the part between
// the star and the closing bracket.
static bool function_pointer_inner(const Scan *s, Str *inner)
{
    Scan group = *s;
    if (peek(&group, 0) != '(' || !skip_group(&group))
        return false;
    if (peek(&group, 0) != '(' && peek(&group, 0) != '[')
        return false;
    Str text = str_slice(s->text, s->at + 1, group.at - 1);
    // "(*", "(&", "(&&", or "(Class::*" for members
    Scan in = {text, 0};
    while (in.at < text.len && (is_word(text.ptr[in.at]) || text.ptr[in.at] == ':'))
        in.at++;
    size_t star = in.at;
    while (in.at < text.len && (text.ptr[in.at] == '*' || text.ptr[in.at] == '&'))
        in.at++;
    if (in.at == star)
        return false;
    *inner = str_slice(text, in.at, text.len);
    return inner->len > 0;
}

static size_t special_prefix(Str name)
{
    static const Str prefixes[] = {
        STR_INIT("vtable for "),
        STR_INIT("VTT for "),
        STR_INIT("typeinfo for "),
        STR_INIT("typeinfo name for "),
        STR_INIT("guard variable for "),
        STR_INIT("non-virtual thunk to "),
        STR_INIT("virtual thunk to "),
        STR_INIT("covariant return thunk to "),
        STR_INIT("TLS init function for "),
        STR_INIT("TLS wrapper function for "),
        STR_INIT("transaction clone for "),
        STR_INIT("non-transaction clone for "),
    };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (str_starts_with(name, prefixes[i]))
            return prefixes[i].len;
    return 0;
}

// Splits a name. A return type is only believed when what follows is a path
// that ends in an argument list.
static bool name_parse(Str name, NameParts *parts)
{
    size_t prefix = special_prefix(name);
    parts->prefix = str_slice(name, 0, prefix);
    Str rest = str_slice(name, prefix, name.len);
    size_t stub = str_ends_with(rest, STR("@plt")) ? rest.len - 4 : rest.len;
    parts->suffix = str_slice(rest, stub, rest.len);
    rest = str_slice(rest, 0, stub);
    Scan start = {rest, 0};
    // Each try is linear; return types of more words than this do not occur.
    for (int tries = 0; tries < 24; tries++) {
        Str inner;
        if (function_pointer_inner(&start, &inner)) {
            Scan in = {inner, 0};
            if (scan_path(&in, parts))
                return true;
        }
        Scan s = start;
        if (scan_path(&s, parts) && (start.at == 0 || parts->at[parts->len - 1].has_arguments))
            return true;
        if (!skip_to_space(&start))
            return false;
    }
    return false;
}

// Text of types without the contents of their angle brackets.
static void add_without_generics(Str text, StrBuf *out)
{
    Scan s = {text, 0};
    while (s.at < text.len) {
        char before = s.at ? text.ptr[s.at - 1] : 0;
        Scan group = s;
        bool turbofish = next_is(&s, STR("::<")) && !next_is(&s, STR("::<impl "));
        if (turbofish)
            group.at += 2;
        if ((turbofish || (peek(&s, 0) == '<' && is_word(before))) && skip_group(&group)) {
            s.at = group.at;
            continue;
        }
        strbuf_add_char(out, text.ptr[s.at++]);
    }
}

// "{lambda(int)#1}" without its arguments: "{lambda#1}".
static void add_curly(Str text, StrBuf *out)
{
    Scan s = {text, 0};
    while (s.at < text.len) {
        Scan group = s;
        if (peek(&s, 0) == '(' && skip_group(&group)) {
            s.at = group.at;
            continue;
        }
        strbuf_add_char(out, text.ptr[s.at++]);
    }
}

static void add_component(const Component *c, NameLength length, StrBuf *out)
{
    if (length == NAME_NO_ARGUMENTS) {
        strbuf_add(out, c->head);
        strbuf_add(out, c->generics);
    } else if (c->is_qualified_self) {
        add_without_generics(c->head, out);
    } else if (str_starts_with(c->head, STR("operator "))) {
        add_without_generics(c->head, out);
    } else if (str_starts_with(c->head, STR("{"))) {
        add_curly(c->head, out);
    } else {
        strbuf_add(out, c->head);
    }
}

// Means nothing without the function around it.
static bool needs_its_parent(const Component *c)
{
    return str_starts_with(c->head, STR("{")) || str_equal(c->head, STR("operator()"));
}

void name_shorten(Str name, NameLength length, StrBuf *out)
{
    NameParts parts;
    if (length == NAME_FULL || !name_parse(name, &parts)) {
        strbuf_add(out, name);
        return;
    }
    size_t first = 0;
    if (length == NAME_LAST) {
        first = parts.len - 1;
        while (first > 0 && needs_its_parent(&parts.at[first]))
            first--;
    }
    strbuf_add(out, parts.prefix);
    for (size_t i = first; i < parts.len; i++) {
        if (i > first)
            strbuf_add(out, STR("::"));
        add_component(&parts.at[i], length, out);
    }
    strbuf_add(out, parts.suffix);
}

// The type of Rust's "<T as Trait>", and with `with_trait` also the trait, each without the path
// before its name: "<Vec as Drop>", or "Vec".
static void add_self_type(Str head, bool with_trait, StrBuf *out)
{
    StrBuf bare = {0};
    add_without_generics(head, &bare);
    Str text = strbuf_str(&bare);
    size_t as = str_find(text, STR(" as "));
    if (!with_trait && as != SIZE_MAX)
        text = str_slice(text, 1, as);
    size_t word = out->len; // where the word begins that a "::" behind it makes a path
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == ':' && i + 1 < text.len && text.ptr[i + 1] == ':' && word < out->len) {
            out->len = word;
            i++;
            continue;
        }
        strbuf_add_char(out, c);
        if (!is_word(c))
            word = out->len;
    }
    strbuf_deinit(&bare);
}

bool name_add_method(Str name, bool with_trait, StrBuf *out)
{
    NameParts parts;
    if (!name_parse(name, &parts))
        return false;
    size_t last = parts.len - 1;
    while (last > 0 && needs_its_parent(&parts.at[last]))
        last--;
    if (last == 0 || !parts.at[last - 1].is_qualified_self ||
        str_starts_with(parts.at[last - 1].head, STR("<impl ")))
        return false;
    strbuf_add(out, parts.prefix);
    add_self_type(parts.at[last - 1].head, with_trait, out);
    for (size_t i = last; i < parts.len; i++) {
        strbuf_add(out, STR("::"));
        add_component(&parts.at[i], NAME_LAST, out);
    }
    strbuf_add(out, parts.suffix);
    return true;
}

bool name_ends_in(Str full, Str wanted)
{
    if (wanted.len == 0 || !str_ends_with(full, wanted))
        return false;
    Str before = str_slice(full, 0, full.len - wanted.len);
    return before.len == 0 || str_ends_with(before, STR("::"));
}
