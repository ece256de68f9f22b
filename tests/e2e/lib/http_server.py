#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that takes profiles over HTTP and misbehaves as told.

http_server.py FOLDER ANSWER…: listens on the loopback, writes its port to FOLDER/port and each
request to FOLDER/N.request (JSON, the body unpacked in FOLDER/N.body). Request N gets answer N, the
last answer also all that follow: a status, "STATUS:Name=value" with a header, "close" (the
connection ends without a reply), "delay:S:STATUS", "reject" (a partial success), "cut" (half a
reply). With --tls CERTIFICATE KEY it speaks HTTPS.
"""
import gzip
import http.server
import json
import os
import pathlib
import socket
import ssl
import sys
import time

args = sys.argv[1:]
tls = None
if args[0] == "--tls":
    tls, args = args[1:3], args[3:]
folder, answers = pathlib.Path(args[0]), args[1:]
count = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        number, count = count, count + 1
        (folder / f"{number}.body").write_bytes(body)
        request = {"path": self.path, "headers": dict(self.headers.items()), "at": time.monotonic()}
        partial = folder / f".{number}.request"
        partial.write_text(json.dumps(request))
        partial.rename(folder / f"{number}.request")
        self.answer(answers[min(number, len(answers) - 1)])

    def answer(self, word):
        word, _, header = word.partition(":")
        reply = b""
        if word == "delay":
            seconds, _, word = header.partition(":")
            time.sleep(float(seconds))
            header = ""
        if word == "close":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        if word == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            self.close_connection = True
            return
        if word == "reject":
            text = b"no profiles here"
            inner = b"\x08\x02\x12" + bytes([len(text)]) + text
            word, reply = "200", b"\x0a" + bytes([len(inner)]) + inner
        elif not word.startswith("2"):
            reply = b"not today\x1b[31m\nmore"
        self.send_response(int(word))
        if header:
            self.send_header(*header.split("=", 1))
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
if tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    server.socket = context.wrap_socket(server.socket, server_side=True)
(folder / "port.new").write_text(str(server.server_address[1]))
os.rename(folder / "port.new", folder / "port")
server.serve_forever()
