// SPDX-License-Identifier: Apache-2.0
// Names of sockets by the kernel's tables of them (proc(5), "net/tcp", "net/unix").

#include "collect/wait/wait_objects_internal.h"

#include <arpa/inet.h>
#include <string.h>

// "0100007F:1538", in the byte order of this machine by words of 32 bits.
static bool add_address(Str word, StrBuf *out)
{
    enum { WORD_DIGITS = 8, WORDS_MAX = 4 };
    size_t colon = str_find_char(word, ':');
    uint64_t port, value;
    uint32_t words[WORDS_MAX];
    char text[INET6_ADDRSTRLEN];
    if (colon != WORD_DIGITS && colon != WORDS_MAX * (size_t)WORD_DIGITS)
        return false;
    for (size_t i = 0; i < colon / WORD_DIGITS; i++) {
        if (!str_parse_u64(str_slice(word, i * WORD_DIGITS, (i + 1) * WORD_DIGITS), 16, &value))
            return false;
        words[i] = (uint32_t)value;
    }
    if (!str_parse_u64(str_slice(word, colon + 1, word.len), 16, &port) || port > UINT16_MAX)
        return false;
    bool is_4 = colon == WORD_DIGITS;
    if (!inet_ntop(is_4 ? AF_INET : AF_INET6, words, text, sizeof(text)))
        return false;
    strbuf_printf(out, is_4 ? "%s:%u" : "[%s]:%u", text, (unsigned)port);
    return true;
}

static bool has_other_end(Str word)
{
    return !str_ends_with(word, STR(":0000"));
}

static bool add_internet(Str table, Str line, uint64_t inode, StrBuf *out)
{
    enum { LOCAL = 1, REMOTE = 2, INODE = 9 };
    Str word, local = {0}, remote = {0};
    uint64_t number = 0;
    for (size_t i = 0; i <= INODE; i++) {
        if (!str_next_word(&line, &word))
            return false;
        local = i == LOCAL ? word : local;
        remote = i == REMOTE ? word : remote;
        if (i == INODE && !str_parse_u64(word, 10, &number))
            return false;
    }
    if (number != inode || inode == 0)
        return false;
    StrBuf text = {0};
    strbuf_add(&text, table);
    strbuf_add(&text, has_other_end(remote) ? STR(" ") : STR(" on "));
    bool ok = add_address(has_other_end(remote) ? remote : local, &text);
    if (ok)
        strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
    return ok;
}

static bool add_local(Str line, uint64_t inode, StrBuf *out)
{
    enum { INODE = 6 };
    Str word;
    uint64_t number = 0;
    for (size_t i = 0; i <= INODE; i++)
        if (!str_next_word(&line, &word) || (i == INODE && !str_parse_u64(word, 10, &number)))
            return false;
    if (number != inode || !str_next_word(&line, &word)) // without a path there is no name
        return false;
    strbuf_add(out, STR("unix "));
    strbuf_add(out, word);
    return true;
}

bool wait_socket_name(Str table, Str line, uint64_t inode, StrBuf *out)
{
    return str_equal(table, STR("unix")) ? add_local(line, inode, out)
                                         : add_internet(table, line, inode, out);
}
