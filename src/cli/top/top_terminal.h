// SPDX-License-Identifier: Apache-2.0
// The terminal while a screen is drawn on it: keys one by one, a screen of its own. The earlier
// contents come back when the program ends, also by a signal, and while it is stopped.

#ifndef CLI_TOP_TOP_TERMINAL_H
#define CLI_TOP_TOP_TERMINAL_H

#include "base/error.h"
#include "base/str.h"

// Opens the controlling terminal; -1 when there is none, or when it cannot move its cursor. Close
// on exec.
int top_terminal_open(void);

// Takes the screen and the keys of the terminal `fd`, and puts handlers behind the signals that end
// or stop the program. One terminal at a time.
MUST_CHECK bool top_terminal_enter(int fd, Error *err);
// Gives both back. Nothing happens when they were not taken.
void top_terminal_leave(void);

// Whether the program was stopped and goes on since the last call: the screen is to be drawn again.
bool top_terminal_was_stopped(void);

// Replaces the contents of the screen. Lines end in '\n'.
void top_terminal_draw(int fd, Str text);

// Columns and rows of the terminal; untouched when they are not known.
void top_terminal_size(int fd, size_t *columns, size_t *rows);

#endif // CLI_TOP_TOP_TERMINAL_H
