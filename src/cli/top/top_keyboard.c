// SPDX-License-Identifier: Apache-2.0
// The effect of keys on the screen.

#include "cli/top/top_keyboard.h"

#include "cli/top/top_screen.h"

enum { FILTER_MAX = 200, KEY_ESCAPE = 0x1b, KEY_DELETE = 0x7f, KEY_BACKSPACE = 8 };

typedef enum Move {
    MOVE_NONE,
    MOVE_UP,
    MOVE_DOWN,
    MOVE_PAGE_UP,
    MOVE_PAGE_DOWN,
    MOVE_TOP,
    MOVE_BOTTOM,
    MOVE_IN,
    MOVE_OUT
} Move;

// What terminals send for keys without a character, after ESC.
static const struct {
    Str bytes;
    Move move;
} sequences[] = {
    {STR_INIT("[A"), MOVE_UP},       {STR_INIT("OA"), MOVE_UP},
    {STR_INIT("[B"), MOVE_DOWN},     {STR_INIT("OB"), MOVE_DOWN},
    {STR_INIT("[5~"), MOVE_PAGE_UP}, {STR_INIT("[6~"), MOVE_PAGE_DOWN},
    {STR_INIT("[H"), MOVE_TOP},      {STR_INIT("[1~"), MOVE_TOP},
    {STR_INIT("[F"), MOVE_BOTTOM},   {STR_INIT("[4~"), MOVE_BOTTOM},
    {STR_INIT("[C"), MOVE_IN},       {STR_INIT("OC"), MOVE_IN},
    {STR_INIT("[D"), MOVE_OUT},      {STR_INIT("OD"), MOVE_OUT},
};

void top_keys_settle(TopKeys *k, const TopView *view, size_t table_rows)
{
    size_t count = top_screen_matches(view, strbuf_str(&k->filter));
    k->chosen = count ? MIN(k->chosen, count - 1) : 0;
    if (k->chosen < k->first)
        k->first = k->chosen;
    if (table_rows && k->chosen >= k->first + table_rows)
        k->first = k->chosen - table_rows + 1;
    if (k->first + table_rows > count)
        k->first = count > table_rows ? count - table_rows : 0;
}

static bool enter(TopKeys *k, const TopView *view)
{
    const TopRow *row =
        k->has_chosen ? top_screen_row(view, strbuf_str(&k->filter), k->chosen) : NULL;
    if (!row || !view->has_total || k->around.len)
        return false;
    strbuf_add(&k->around, row->name);
    return true;
}

static bool leave(TopKeys *k)
{
    bool was_around = k->around.len != 0;
    strbuf_clear(&k->around);
    return was_around;
}

static bool move(TopKeys *k, const TopView *view, size_t page, Move to)
{
    bool was_chosen = k->has_chosen;
    switch (to) {
    case MOVE_IN:
        return enter(k, view);
    case MOVE_OUT:
        return leave(k);
    case MOVE_NONE:
        return false;
    case MOVE_UP:
        k->chosen -= k->chosen > 0;
        break;
    case MOVE_DOWN: // the first one marks the first row
        k->chosen += was_chosen;
        break;
    case MOVE_PAGE_UP:
        k->chosen -= MIN(k->chosen, page);
        break;
    case MOVE_PAGE_DOWN:
        k->chosen += page;
        break;
    case MOVE_TOP:
        k->chosen = 0;
        break;
    case MOVE_BOTTOM:
        k->chosen = SIZE_MAX - 1;
        break;
    }
    k->has_chosen = true;
    return false;
}

static void type(TopKeys *k, char c)
{
    if (c == '\r' || c == '\n') {
        k->is_typing = false;
    } else if (c == KEY_DELETE || c == KEY_BACKSPACE) {
        while (k->filter.len && ((unsigned char)k->filter.ptr[k->filter.len - 1] & 0xc0) == 0x80)
            k->filter.len--; // the end of a character of several bytes
        k->filter.len -= k->filter.len > 0;
    } else if ((unsigned char)c >= 0x20 && k->filter.len < FILTER_MAX) {
        strbuf_add_char(&k->filter, c);
    }
    k->first = k->chosen = 0;
}

// A key that is a character.
static bool press(TopKeys *k, const TopView *view, size_t page, char c)
{
    if (k->is_typing) {
        type(k, c);
        return false;
    }
    switch (c) {
    case 'q':
        k->quit = true;
        return false;
    case '/':
        k->is_typing = true;
        strbuf_clear(&k->filter);
        k->first = k->chosen = 0;
        return leave(k);
    case 'k':
        return move(k, view, page, MOVE_UP);
    case 'j':
        return move(k, view, page, MOVE_DOWN);
    case ' ':
        return move(k, view, page, MOVE_PAGE_DOWN);
    case '\r':
    case '\n':
        return move(k, view, page, MOVE_IN);
    default:
        return false;
    }
}

// ESC alone ends what is open: the typing, the callers, the filter, the mark.
static bool escape(TopKeys *k)
{
    if (k->around.len)
        return leave(k);
    k->is_typing = false;
    if (k->filter.len)
        strbuf_clear(&k->filter);
    else
        k->has_chosen = false;
    k->first = k->chosen = 0;
    return false;
}

// The length of a sequence of the table at the start of `bytes`; 0: there is none.
static size_t find_sequence(Str bytes, Move *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(sequences); i++)
        if (str_starts_with(bytes, sequences[i].bytes)) {
            *ret = sequences[i].move;
            return sequences[i].bytes.len;
        }
    return 0;
}

// The length of a sequence that is not in the table: ESC, '[', parameters, a letter.
static size_t skip_sequence(Str bytes)
{
    if (bytes.len < 2 || (bytes.ptr[0] != '[' && bytes.ptr[0] != 'O'))
        return 0;
    size_t i = 1;
    while (i < bytes.len && (unsigned char)bytes.ptr[i] < 0x40)
        i++;
    return MIN(i + 1, bytes.len);
}

bool top_keys_apply(TopKeys *k, const TopView *view, size_t table_rows, Str bytes)
{
    bool is_changed = false;
    while (bytes.len) {
        char c = bytes.ptr[0];
        bytes = str_slice(bytes, 1, bytes.len);
        if (c != KEY_ESCAPE) {
            is_changed |= press(k, view, table_rows, c);
            continue;
        }
        Move to = MOVE_NONE;
        size_t len = find_sequence(bytes, &to);
        if (len == 0)
            len = skip_sequence(bytes);
        is_changed |= len ? move(k, view, table_rows, to) : escape(k);
        bytes = str_slice(bytes, len, bytes.len);
    }
    top_keys_settle(k, view, table_rows);
    return is_changed;
}

void top_keys_deinit(TopKeys *k)
{
    strbuf_deinit(&k->filter);
    strbuf_deinit(&k->around);
}
