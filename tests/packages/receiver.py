#!/usr/bin/env python3
"""Receives webhooks on a free port of 127.0.0.1: receiver.py PORT_FILE BODIES. Each body becomes a line of BODIES."""
import http.server
import os
import sys


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[2], "ab") as bodies:
            bodies.write(body.replace(b"\n", b" ") + b"\n")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
with open(sys.argv[1] + ".new", "w", encoding="ascii") as port:
    port.write(str(server.server_port))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
