#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""served_page.py ASSAY RECORDING PAGE

Runs `assay view --serve` and asks for the page by raw requests. PAGE is what --html writes of the recording. Status 1 with
the reason when somebody gets it who must not, when an answer tells the token or lets another site read it, when the server
listens elsewhere than on the loopback, stays when nobody asks, or hangs on what is no request.
"""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

assay, recording, page = sys.argv[1:]
wanted = pathlib.Path(page).read_bytes()


def own_addresses():
    """The address from which this machine reaches others, if it has one. Its own name may have none."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.7", 9)) # nothing is sent
        return {probe.getsockname()[0]}
    return set()


def start(*options, env=None):
    process = subprocess.Popen([assay, "view", recording, "--serve", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, **(env or {})},
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) # it may be ignored here
    line = process.stdout.readline()
    found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n", line)
    if not found:
        sys.exit(f"no address: {line!r} {process.stderr.read() if process.poll() is not None else ''}")
    return process, int(found.group(1)), found.group(2)


def raw(port, data, host="127.0.0.1"):
    with socket.create_connection((host, port), timeout=20) as s:
        s.sendall(data)
        parts = []
        while True:
            part = s.recv(1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)


def ask(port, path, *fields, method="GET", host=None):
    head = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *fields]
    return raw(port, ("\r\n".join(head) + "\r\n\r\n").encode())


def must(true, why):
    if not true:
        sys.exit(why)


def status(answer):
    return int(answer.split(b" ", 2)[1])


server, port, token = start(env={"SSH_CONNECTION": "192.0.2.1 5000 192.0.2.7 22"})
other = None
try:
    good = ask(port, f"/{token}/")
    head, body = good.split(b"\r\n\r\n", 1)
    must(status(good) == 200 and body == wanted, f"the page is not what --html writes: {head!r}")
    must(b"no-store" in head and b"nosniff" in head and b"no-referrer" in head, f"fields are missing: {head!r}")
    answers = {
        "without the token": (404, ask(port, "/")),
        "an index": (404, ask(port, "/index.html")),
        "with half of it": (404, ask(port, f"/{token[:16]}/")),
        "with another": (404, ask(port, f"/{'0' * 32}/")),
        "another host": (403, ask(port, f"/{token}/", host=f"evil.example:{port}")),
        "without a port": (403, ask(port, f"/{token}/", host="127.0.0.1")),
        "two hosts": (400, ask(port, f"/{token}/", f"Host: 127.0.0.1:{port}")),
        "from another site": (403, ask(port, f"/{token}/", "Origin: http://evil.example")),
        "from a file": (403, ask(port, f"/{token}/", "Origin: null")),
        "a preflight": (403, ask(port, f"/{token}/", "Origin: http://evil.example", method="OPTIONS")),
        "writing": (405, ask(port, f"/{token}/", "Content-Length: 0", method="POST")),
        "no request": (400, raw(port, b"\x16\x03\x01\x02\r\n\r\n")),
        "a head without an end": (400, raw(port, b"GET / HTTP/1.1\r\nA: " + b"x" * 20000)),
    }
    for what, (code, answer) in answers.items():
        must(status(answer) == code, f"{what}: {answer[:200]!r}, not {code}")
        must(token.encode() not in answer and answer.endswith(b"\r\n\r\n"), f"{what}: the answer says too much: {answer[:300]!r}")
    for answer in [good] + [a for _, a in answers.values()]:
        must(b"access-control-" not in answer.split(b"\r\n\r\n", 1)[0].lower(), f"another site may read: {answer[:300]!r}")
    must(status(ask(port, f"/{token}/", host=f"localhost:{port}")) == 200, "localhost is refused")
    with_head = ask(port, f"/{token}/", method="HEAD")
    must(status(with_head) == 200 and with_head.endswith(b"\r\n\r\n"), "HEAD has a body")
    # It listens on the loopback alone: the machine's other addresses refuse.
    for address in own_addresses() - {"127.0.0.1"}:
        try:
            raw(port, b"GET / HTTP/1.1\r\n\r\n", address)
        except OSError:
            continue
        must(address.startswith("127."), f"it answers at {address}")
    listening = [line.split() for line in open("/proc/net/tcp", encoding="ascii") if f":{port:04X} " in line.split("rem")[0]]
    must(any(row[1] == f"0100007F:{port:04X}" and row[3] == "0A" for row in listening), f"it does not listen at 127.0.0.1: {listening}")
    # Connections that say nothing keep nobody out.
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    must(status(ask(port, f"/{token}/")) == 200, "silent connections keep others out")
    for s in silent:
        s.close()
    # A second server: the port is taken; another token.
    taken = subprocess.run([assay, "view", recording, "--serve", "--port", str(port)], capture_output=True, text=True, check=False, timeout=60)
    must(taken.returncode == 1 and f"port {port} is taken" in taken.stderr and "--port" in taken.stderr, f"a taken port: {taken}")
    other, port2, token2 = start("--idle", "1s")
    must(token2 != token and port2 != port, "the same token twice")
    must(status(ask(port2, f"/{token}/")) == 404, "the token of another server")
    end = time.monotonic() + 30
    while other.poll() is None and time.monotonic() < end:
        try:  # requests without the token do not keep it up
            ask(port2, "/")
        except OSError:
            pass
        time.sleep(0.1)
    must(other.poll() == 0 and "stopped" in other.stderr.read(), "it stays when nobody asks")
    server.send_signal(signal.SIGINT)
    must(server.wait(20) == 0, "Ctrl-C does not end it well")
    said = server.stderr.read()
    must(f"ssh -N -L {port}:127.0.0.1:{port} 192.0.2.7" in said and token not in said, f"how to look over SSH: {said}")
finally:
    for process in (server, other):
        if process and process.poll() is None:
            process.kill()
