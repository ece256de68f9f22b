// SPDX-License-Identifier: Apache-2.0
// Sends messages and tries again while a server is away or overloaded. A server may get a message
// twice: if the connection ends before the reply, it is unknown whether it was accepted.

#ifndef SEND_DELIVERY_H
#define SEND_DELIVERY_H

#include "send/http.h"
#include "send/spool.h"

typedef struct Delivery {
    Http http;
    StrVec headers;       // the user's own, "Name: value"; never shown
    const char *ca_file;  // as HttpRequest has it
    int64_t retry_for_ns; // how long all deliveries together try again; 0: not at all
    int64_t deadline_ns;  // CLOCK_MONOTONIC; 0: no attempt has failed yet
    // Called before each wait (may be NULL), with the reason and the time.
    void (*on_wait)(const Error *why, int64_t wait_ns);
    // Called for a reply that accepts the message and rejects parts of it (may be NULL).
    bool (*is_rejected)(Bytes reply, int64_t *count, Str *why);
} Delivery;

typedef enum DeliveryResult {
    DELIVERY_SENT,
    DELIVERY_LATER,   // the server may accept it at another time: `err` states the last failure
    DELIVERY_REFUSED, // it never will: `err` has its words
} DeliveryResult;

// Sends one message. `err` is untouched when it is sent. The URL is shown without its query.
DeliveryResult delivery_send(Delivery *d, const Message *message, Error *err);

// Sends the messages of the spool that go to the same endpoint, a URL without its query, oldest
// first, and removes each that is sent. One that is refused is removed, too: `on_refused` gets the
// reason. Ends at the first that must wait. `sent` and `left` become numbers of messages.
DeliveryResult delivery_send_spool(Delivery *d, const Spool *s, Str endpoint,
                                   void (*on_refused)(const Error *why), unsigned *sent,
                                   unsigned *left, Error *err);

// The URL without its query.
Str delivery_endpoint(Str url);

#endif // SEND_DELIVERY_H
