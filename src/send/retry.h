// SPDX-License-Identifier: Apache-2.0
// When a request is tried again, and the meaning of a reply. Pure functions.
// Rules: RFC 9110 §10.2.3 (Retry-After) and §15; OpenTelemetry Protocol Specification 1.9,
// "OTLP/HTTP Response" and "OTLP/HTTP Throttling".

#ifndef SEND_RETRY_H
#define SEND_RETRY_H

#include "base/error.h"

// Whether a server that replies with this status may accept the same request later.
bool retry_status(unsigned status);

// The time to wait before attempt number `attempt` + 1; attempts count from 1. It doubles with
// each attempt up to half a minute. `random` moves it by up to a quarter, so that many hosts do not
// return at the same moment.
int64_t retry_delay_ns(unsigned attempt, uint64_t random);

// The value of a Retry-After header, seconds or a date, as a time from `now_ns` (CLOCK_REALTIME)
// on. False for anything else; a date that has passed is 0.
bool retry_after_parse(Str value, int64_t now_ns, int64_t *ret_ns);

// The rejected part, as the ExportProfilesServiceResponse of a collector states it. `why` borrows
// from the body. False when it accepted everything, or when the body is no such message.
bool otlp_reply_rejects(Bytes body, int64_t *rejected, Str *why);

#endif // SEND_RETRY_H
