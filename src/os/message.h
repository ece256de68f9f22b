// SPDX-License-Identifier: Apache-2.0
// Messages between two processes of this program: 4 bytes of length, then the bytes, over a stream
// socket.

#ifndef OS_MESSAGE_H
#define OS_MESSAGE_H

#include "base/str.h"
#include "base/strbuf.h"

// Sends a message of at most `max_bytes`. False when the message is longer or the other end is
// closed; no signal is raised.
MUST_CHECK bool message_send(int fd, Str message, uint32_t max_bytes);
// Waits for a message and stores it in `ret`, whose old text is dropped. False when the other end
// is closed or announces more than `max_bytes`.
MUST_CHECK bool message_receive(int fd, StrBuf *ret, uint32_t max_bytes);

#endif // OS_MESSAGE_H
