"""A receiver for the webhook's case: hangs, answers 500, then takes documents and prints them.

usage: webhook.py PORT_FILE LOG KEY
"""
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

port_file, log, key = sys.argv[1:]
asked = 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global asked
        body = self.rfile.read(int(self.headers["Content-Length"]))
        asked += 1
        if asked == 1:
            time.sleep(4)
            return
        self.send_response(500 if asked == 2 else 204)
        self.end_headers()
        if asked > 2:
            edge = json.loads(body)
            right = "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
            is_signed = self.headers["X-Failslow-Signature"] == right
            once = self.headers["Idempotency-Key"] == edge["incident"] + "-" + edge["edge"]
            with open(log, "a") as out:
                print(edge["edge"], edge["job"], edge["ranks"], edge["severity"], "signed" if is_signed else "unsigned",
                      "once" if once else "again", file=out)

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
with open(port_file + ".part", "w") as out:
    print(server.server_address[1], file=out)
os.rename(port_file + ".part", port_file)
server.serve_forever()
