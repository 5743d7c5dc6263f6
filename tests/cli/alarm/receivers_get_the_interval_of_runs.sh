# Alertmanager is told an end three intervals ahead, node_exporter the interval: that of the option, of the watch, or of the
# configuration.
if "$FAILSLOW" version | grep -q 'libcurl *no'; then exit 77; fi
"$FAILSLOW" simulate job tp=4 dp=2 steps=60 fault="compute ranks=5 factor=1.5" >/dev/null
mkdir metrics
python3 - << 'END'
import datetime, http.server, json, os, re, subprocess, threading
ends = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        alert = json.loads(self.rfile.read(int(self.headers["Content-Length"])))[0]
        ends.append(datetime.datetime.fromisoformat(alert["endsAt"].replace("Z", "+00:00")).timestamp())
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open("model_config.json", "w") as out:
    json.dump({"root_path": "job", "slow_node_detection_path": "out", "fail_slow_perception_path": "out",
               "hang_times_mins_thr": 500000, "hang_forget_hours": 87600, "fail_slow_span_mins": 20, "textfile_path": "metrics",
               "alertmanager_url": f"http://127.0.0.1:{server.server_port}"}, out)
now = 1750000100
for words in (["detect"], ["detect", "--every", "5"], ["detect", "--every", "90"], ["watch", "--once", "--every", "7"],
              ["watch", "--once"]):
    now += 60
    is_watch = words[0] == "watch"
    subprocess.run([os.environ["FAILSLOW"], *words, "--config", "model_config.json", "--quiet",
                    *([] if is_watch else ["--now", str(now)])], check=True)
    text = open("metrics/failslow_job.prom").read()
    ran = int(float(re.search(r"failslow_last_run_timestamp_seconds{\S* (\S+)", text)[1]))
    print(" ".join(words), re.search(r"failslow_interval_seconds{\S* (\S+)", text)[1], "ends in", int(ends[-1]) - ran)
END
