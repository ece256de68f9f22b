// SPDX-License-Identifier: Apache-2.0
// assay export --to URL: sends a recording to an OpenTelemetry Collector or to Pyroscope.
// References: OpenTelemetry Protocol Specification 1.9, "OTLP/HTTP"; OpenTelemetry Protocol
// Exporter, "Specifying headers via environment variables"; Pyroscope, "Server HTTP API".

#include "cli/move/export_to.h"

#include <inttypes.h>

#include "base/gzip_pack.h"
#include "cli/cli.h"
#include "model/facts.h"
#include "os/clock.h"
#include "send/delivery.h"
#include "send/retry.h"

#define NS_OF_S  UINT64_C(1000000000)
#define BOUNDARY "assay-profile-7d41c0b9e6f2"

typedef struct Sending {
    const SendOptions *o;
    const ExportFormat *format;
    const Profile *p;
    const ExportRequest *request;
    Arena arena;
    StrVec headers;
    Message message;
} Sending;

static bool is_otlp(const ExportFormat *format)
{
    return strcmp(format->name, "otlp") == 0;
}

const ExportFormat *send_default_format(void)
{
    for (size_t i = 0; i < export_format_count; i++)
        if (is_otlp(&export_formats[i]))
            return &export_formats[i];
    return &export_formats[0];
}

// ---- Where to ------------------------------------------------------------------------

static bool check_url(Str url, Error *err)
{
    bool is_secure = str_starts_with(url, STR("https://"));
    Str rest = str_slice(url, is_secure ? 8 : 7, url.len);
    Str host = str_slice(rest, 0, MIN(rest.len, str_find_char(rest, '/')));
    if (!is_secure && !str_starts_with(url, STR("http://")))
        return error_set(err, ERROR_USAGE, "the URL of --to must begin with http:// or https://");
    if (host.len == 0)
        return error_set(err, ERROR_USAGE, "the URL of --to has no host");
    for (size_t i = 0; i < url.len; i++)
        if ((uint8_t)url.ptr[i] <= ' ' || url.ptr[i] == 0x7f || url.ptr[i] == '#')
            return error_set(err, ERROR_USAGE,
                             "the URL of --to has a character that URLs may not have");
    if (str_find_char(host, '@') != SIZE_MAX) {
        error_set(err, ERROR_USAGE, "the URL of --to holds a user or a password");
        error_hint(err, "others see it in the list of processes: set ASSAY_TO_TOKEN, or "
                        "ASSAY_TO_HEADERS='Authorization=Basic ...'");
        return false;
    }
    return true;
}

// Whether the user named no path below the host.
static bool has_no_path(Str url)
{
    Str rest = str_slice(url, str_find(url, STR("://")) + 3, url.len);
    size_t slash = str_find_char(rest, '/');
    return slash == SIZE_MAX || slash + 1 == rest.len;
}

static void add_url_encoded(StrBuf *out, Str text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] && strchr(plain, text.ptr[i]))
            strbuf_add_char(out, text.ptr[i]);
        else
            strbuf_printf(out, "%%%02X", (uint8_t)text.ptr[i]);
}

// The query of Pyroscope's /ingest: the application, and the time in seconds.
static void add_ingest_query(const Sending *s, StrBuf *url)
{
    uint64_t start_ns, wall_ns = 0;
    double hz;
    if (!profile_fact_u64(s->p, STR(FACT_START_REALTIME), &start_ns))
        start_ns = (uint64_t)os_realtime_ns();
    (void)!profile_fact_u64(s->p, STR(FACT_WALL_NS), &wall_ns);
    uint64_t from_s = start_ns / NS_OF_S, seconds = (wall_ns + NS_OF_S - 1) / NS_OF_S;
    Str so_far = strbuf_str(url);
    strbuf_add(url, str_find_char(so_far, '?') == SIZE_MAX ? STR("?name=") : STR("&name="));
    add_url_encoded(url, export_service_name(s->p, s->request));
    uint64_t until_s = from_s + MAX(seconds, UINT64_C(1));
    strbuf_printf(url, "&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=assay", from_s,
                  until_s);
    if (str_parse_double(profile_fact(s->p, STR(FACT_RATE_ASKED)), &hz) && hz >= 1 && hz < 1e9)
        strbuf_printf(url, "&sampleRate=%.0f", hz);
}

static Str url_of(Sending *s)
{
    StrBuf url = {0};
    Str path = is_otlp(s->format) ? STR("/v1development/profiles") : STR("/ingest");
    strbuf_add(&url, s->o->url);
    if (has_no_path(s->o->url)) {
        if (str_ends_with(s->o->url, STR("/")))
            url.len--;
        strbuf_add(&url, path);
    }
    if (!is_otlp(s->format))
        add_ingest_query(s, &url);
    Str ret = arena_str(&s->arena, strbuf_str(&url));
    strbuf_deinit(&url);
    return ret;
}

// ---- Headers of the environment ------------------------------------------------------

static Str percent_decoded(Arena *arena, Str text)
{
    char *out = arena_alloc(arena, text.len + 1, 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t code;
        if (text.ptr[i] == '%' && i + 2 < text.len &&
            str_parse_u64(str_slice(text, i + 1, i + 3), 16, &code)) {
            out[len++] = (char)code;
            i += 2;
        } else {
            out[len++] = text.ptr[i];
        }
    }
    return str_over(out, len);
}

static bool is_header_text(Str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (((uint8_t)text.ptr[i] < ' ' && text.ptr[i] != '\t') || text.ptr[i] == 0x7f)
            return false;
    return true;
}

// The value may be a secret: no message shows it.
static bool add_header(Sending *s, const char *variable, Str name, Str value, Error *err)
{
    name = str_trim(name);
    value = str_trim(value);
    if (name.len == 0 || !is_header_text(name) || !is_header_text(value) ||
        str_find_char(name, ':') != SIZE_MAX || str_find_char(name, ' ') != SIZE_MAX)
        return error_set(err, ERROR_USAGE, "the environment variable %s holds no valid header",
                         variable);
    vec_push(&s->arena, &s->headers,
             arena_printf(&s->arena, "%" STR_FMT ": %" STR_FMT, STR_ARG(name), STR_ARG(value)));
    return true;
}

// A list "name=value,name=value" with values in percent-encoding, as OpenTelemetry has it.
static bool add_headers(Sending *s, const char *variable, Error *err)
{
    Str rest = cli_env(variable), part, name, value;
    while (str_next_part(&rest, ',', &part)) {
        if (str_trim(part).len == 0)
            continue;
        if (!str_split(part, '=', &name, &value))
            return error_set(err, ERROR_USAGE,
                             "the environment variable %s is not a list of NAME=VALUE", variable);
        if (!add_header(s, variable, name, percent_decoded(&s->arena, str_trim(value)), err))
            return false;
    }
    return true;
}

static bool is_loopback(Str url)
{
    return str_starts_with(url, STR("http://127.")) || str_starts_with(url, STR("http://[::1]")) ||
           str_starts_with(url, STR("http://localhost:")) ||
           str_starts_with(url, STR("http://localhost/")) ||
           str_equal(url, STR("http://localhost"));
}

static bool find_headers(Sending *s, Error *err)
{
    Str token = str_trim(cli_env("ASSAY_TO_TOKEN"));
    if (token.len) {
        Str value = arena_printf(&s->arena, "Bearer %" STR_FMT, STR_ARG(token));
        if (!add_header(s, "ASSAY_TO_TOKEN", STR("Authorization"), value, err))
            return false;
    }
    if (!add_headers(s, "ASSAY_TO_HEADERS", err) ||
        (is_otlp(s->format) && !add_headers(s, "OTEL_EXPORTER_OTLP_HEADERS", err)))
        return false;
    if (s->headers.len && str_starts_with(s->o->url, STR("http://")) && !is_loopback(s->o->url))
        cli_say("http:// shows the token to everyone on the way: https:// hides it");
    return true;
}

// ---- The message ---------------------------------------------------------------------

static bool collect(void *ctx, Str text)
{
    strbuf_add(ctx, text);
    return true;
}

// OTLP goes packed by gzip; pprof, which is packed already, as the part of a form.
static bool make_message(Sending *s, StrBuf *body, Error *err)
{
    StrBuf out = {0};
    ExportSink sink = {.write = collect, .ctx = &out};
    bool ok = s->format->write(s->p, s->request, &sink, err);
    s->message.url = url_of(s);
    if (is_otlp(s->format)) {
        ok = ok && gzip_pack(strbuf_str(&out), body, err);
        s->message.type = STR("application/x-protobuf");
        s->message.encoding = STR("gzip");
    } else {
        strbuf_add(body, STR("--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"profile\"; "
                             "filename=\"profile.pb.gz\"\r\n"
                             "Content-Type: application/octet-stream\r\n\r\n"));
        strbuf_add(body, strbuf_str(&out));
        strbuf_add(body, STR("\r\n--" BOUNDARY "--\r\n"));
        s->message.type = STR("multipart/form-data; boundary=" BOUNDARY);
    }
    s->message.body = bytes_from_str(strbuf_str(body));
    strbuf_deinit(&out);
    return ok;
}

// ---- Sending -------------------------------------------------------------------------

static void say_wait(const Error *why, int64_t wait_ns)
{
    cli_say("%s; trying again in %.1f s", why->text, (double)wait_ns / 1e9);
}

static void say_refused(const Error *why)
{
    cli_say("removed from the spool: %s", why->text);
    if (why->hint[0])
        cli_say_hint(str_from_c(why->hint));
}

static int send_once(Sending *s, Delivery *d)
{
    Error err;
    Str endpoint = delivery_endpoint(s->message.url);
    if (delivery_send(d, &s->message, &err) != DELIVERY_SENT)
        return cli_fail(&err);
    cli_say("sent %zu bytes to %" STR_FMT, s->message.body.len, STR_ARG(endpoint));
    return STATUS_OK;
}

// The message is in the spool before the first attempt, so that nothing loses it.
static int send_by_spool(Sending *s, Delivery *d)
{
    Error err;
    Spool spool;
    unsigned removed = 0, sent = 0, left = 0;
    Str endpoint = delivery_endpoint(s->message.url);
    if (!spool_open(s->o->spool, s->o->spool_bytes, &spool, &err))
        return cli_fail(&err);
    bool added = spool_add(&spool, &s->message, &removed, &err);
    if (removed)
        cli_say("the spool is full: removed %u of the oldest recordings", removed);
    if (!added) {
        spool_close(&spool);
        return cli_fail(&err);
    }
    DeliveryResult result =
        delivery_send_spool(d, &spool, endpoint, say_refused, &sent, &left, &err);
    if (sent)
        cli_say("sent %u recording%s to %" STR_FMT, sent, sent == 1 ? "" : "s", STR_ARG(endpoint));
    if (result == DELIVERY_LATER) {
        cli_say("%s", err.text);
        cli_say("kept %u recording%s in '%" STR_FMT "' for the next --to with this spool", left,
                left == 1 ? "" : "s", STR_ARG(s->o->spool));
    }
    spool_close(&spool);
    return result == DELIVERY_REFUSED ? STATUS_FAILED : STATUS_OK;
}

static int send_message(Sending *s)
{
    Error err;
    StrBuf body = {0};
    Delivery d = {
        .retry_for_ns = s->o->retry_for_ns,
        .on_wait = say_wait,
        .is_rejected = is_otlp(s->format) ? otlp_reply_rejects : NULL,
    };
    if (s->o->ca_file.len)
        d.ca_file = arena_c_str(&s->arena, s->o->ca_file);
    bool ok = check_url(s->o->url, &err) && find_headers(s, &err) && make_message(s, &body, &err);
    // The library is missing: with a spool the message would wait for nothing.
    ok = ok && http_open(&s->arena, &d.http, &err);
    d.headers = s->headers;
    int status = !ok ? cli_fail(&err) : s->o->spool.len ? send_by_spool(s, &d) : send_once(s, &d);
    if (ok)
        http_close(&d.http);
    strbuf_deinit(&body);
    return status;
}

int export_send(const SendOptions *o, const ExportFormat *format, const Profile *p,
                const ExportRequest *request)
{
    Error err;
    if (!is_otlp(format) && strcmp(format->name, "pprof") != 0) {
        error_set(&err, ERROR_USAGE, "--to sends otlp or pprof, not %s", format->name);
        error_hint(&err, "leave out --format, or write a file with -o");
        return cli_fail(&err);
    }
    ExportRequest named = *request;
    if (named.service.len == 0)
        named.service = str_trim(cli_env("OTEL_SERVICE_NAME"));
    Sending s = {.o = o, .format = format, .p = p, .request = &named};
    int status = send_message(&s);
    arena_deinit(&s.arena);
    return status;
}
