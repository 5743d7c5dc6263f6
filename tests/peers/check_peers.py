#!/usr/bin/env python3
"""Tells real receivers of an incident of twelve runs, and looks at what they make of it.

usage: check_peers.py FAILSLOW [PEER...]

Peers: alertmanager, promtool, node_exporter, rsyslog, kafka, slurm; default: those that are installed. Exit code 77 if
none is. Nothing listens elsewhere than on this host.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
RULES = HERE.parent.parent / "packaging" / "monitoring"
RUNS, INTERVAL_S = 12, 600


def free_port():
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


@contextlib.contextmanager
def started(words, **options):
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_until(is_done, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        with contextlib.suppress(OSError, ValueError):
            if is_done():
                return
        time.sleep(0.1)
    raise AssertionError("the peer does not answer")


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


class Job:
    """A job that is slow, then well; its clock ends now: no end lies in the future of a receiver's clock."""

    def __init__(self, failslow, folder, keys):
        self.failslow, self.folder, self.run = failslow, folder, 0
        self.begin = int(time.time()) - (RUNS + 5) * INTERVAL_S
        for name, fault in (("slow", ["fault=compute ranks=5 factor=1.5"]), ("well", [])):
            subprocess.run([failslow, "simulate", folder / name, "tp=4", "dp=2", "steps=60", "ranks_per_host=4",
                            f"start_ns={(self.begin - 120) * 10**9}", *fault], check=True, stdout=subprocess.DEVNULL)
        config = {"root_path": str(folder / "job"), "slow_node_detection_path": str(folder / "out"),
                  "fail_slow_perception_path": str(folder / "out"), "hang_times_mins_thr": 100000,
                  "fail_slow_span_mins": 600, **keys}
        (folder / "model_config.json").write_text(json.dumps(config))
        self.use("slow")

    def use(self, name):
        job = self.folder / "job"
        if job.exists():
            shutil.rmtree(job)
        shutil.copytree(self.folder / name, job)

    def look(self):
        self.run += 1
        now = self.begin + self.run * INTERVAL_S
        done = subprocess.run([self.failslow, "detect", "--config", self.folder / "model_config.json", "--now", str(now),
                               "--quiet"], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return now


def check_alertmanager(failslow, folder):
    """One alert all the while, which ends once."""
    port = free_port()
    (folder / "alertmanager.yml").write_text("route: {receiver: none}\nreceivers: [{name: none}]\n")
    url = f"http://127.0.0.1:{port}"
    words = ["prometheus-alertmanager", f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}/am",
             f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    with started(words):
        wait_until(lambda: get(url + "/-/ready"))
        job = Job(failslow, folder, {"alertmanager_url": url})
        prints = set()
        for i in range(RUNS):
            job.look()
            alerts = json.loads(get(url + "/api/v2/alerts"))
            assert len(alerts) == 1, alerts
            prints.add(alerts[0]["fingerprint"])
            assert alerts[0]["status"]["state"] == "active", alerts
            assert alerts[0]["labels"]["host"] == "10.1.0.2", alerts
        assert len(prints) == 1, prints
        job.use("well")
        n_active = []
        for i in range(4):
            job.look()
            n_active.append(len(json.loads(get(url + "/api/v2/alerts"))))
        assert n_active == [1, 0, 0, 0], n_active


def check_promtool(failslow, folder):
    """Rules are sound and do what they say; the text file is what the collector takes."""
    subprocess.run(["promtool", "check", "rules", RULES / "failslow.rules.yml"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["promtool", "test", "rules", "failslow.rules.test.yml"], check=True, cwd=RULES,
                   stdout=subprocess.DEVNULL)
    (folder / "metrics").mkdir()
    job = Job(failslow, folder, {"textfile_path": str(folder / "metrics")})
    job.look()
    text = (folder / "metrics" / "failslow_job.prom").read_bytes()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def check_node_exporter(failslow, folder):
    """It serves the numbers of the last run, of two jobs in one folder."""
    port = free_port()
    metrics = folder / "metrics"
    metrics.mkdir()
    job = Job(failslow, folder, {"textfile_path": str(metrics)})
    words = ["prometheus-node-exporter", f"--collector.textfile.directory={metrics}", "--collector.disable-defaults",
             "--collector.textfile", f"--web.listen-address=127.0.0.1:{port}"]
    with started(words):
        wait_until(lambda: "node_textfile" in get(f"http://127.0.0.1:{port}/metrics"))
        job.look()
        other = (metrics / "failslow_job.prom").read_text().replace('"job"', '"other"')
        (metrics / "failslow_other.prom").write_text(other)
        text = get(f"http://127.0.0.1:{port}/metrics")
        assert "node_textfile_scrape_error 0" in text, text
        assert 'failslow_culprit{cause="compute",host="10.1.0.2",rank="5",training_job="job"} 1' in text, text
        assert 'failslow_verdict{training_job="other",verdict="slow_rank"} 1' in text, text
        job.use("well")
        for i in range(2):
            job.look()
        text = get(f"http://127.0.0.1:{port}/metrics")
        assert 'host="10.1.0.2",rank="5",training_job="job"' not in text, text


def check_rsyslog(failslow, folder):
    """It reads the structured data: one line for the begin, one for the end."""
    port = free_port()
    (folder / "rsyslog.conf").write_text(f"""
module(load="imudp")
module(load="mmpstrucdata")
input(type="imudp" address="127.0.0.1" port="{port}")
action(type="mmpstrucdata")
template(name="told" type="string" string="%syslogseverity-text% %msgid% %$!rfc5424-sd!failslow@32473!host% %$!rfc5424-sd!failslow@32473!rank%\\n")
action(type="omfile" file="{folder}/told" template="told")
""")
    with started(["rsyslogd", "-n", "-f", folder / "rsyslog.conf", "-i", folder / "rsyslog.pid"]):
        time.sleep(1)
        job = Job(failslow, folder, {"syslog": f"udp://127.0.0.1:{port}"})
        for i in range(RUNS):
            job.look()
        job.use("well")
        for i in range(3):
            job.look()
        wait_until(lambda: len((folder / "told").read_text().splitlines()) == 2)
        assert (folder / "told").read_text() == ("crit incident-open 10.1.0.2 5\nnotice incident-clear 10.1.0.2 5\n"), \
            (folder / "told").read_text()


def check_kafka(failslow, folder):
    """A cluster that librdkafka mocks holds one message for the begin and one for the end, by one key, in both forms."""
    for form in ("failslow", "gala-anteater"):
        (folder / form).mkdir()
        told = tell_kafka(failslow, folder / form, form)
        edges = [json.loads(text) for _, text in told]
        assert len({key for key, _ in told}) == 1, told
        if form == "failslow":
            assert [edge["edge"] for edge in edges] == ["open", "clear"], told
        else:
            assert [(edge["is_anomaly"], edge["Attributes"]["resultCode"]) for edge in edges] == [(True, 201), (False, 200)]
            assert [(d["objectId"], d["serverIp"]) for d in edges[0]["Attributes"]["abnormalDetail"]] == [("1", "10.1.0.2")]


def tell_kafka(failslow, folder, form):
    helper = pathlib.Path(os.environ.get("FAILSLOW_KAFKA_MOCK", ""))
    with subprocess.Popen([helper], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        brokers = cluster.stdout.readline().strip()
        job = Job(failslow, folder, {"kafka_brokers": brokers, "kafka_topic": "alarms", "kafka_form": form})
        for i in range(3):
            job.look()
        job.use("well")
        for i in range(3):
            job.look()
        return [line.split("\t", 1) for line in cluster.communicate("alarms\n", timeout=60)[0].splitlines()]


def check_slurm(failslow, folder):
    """The comment of the node is set and removed; what others wrote or drained stays."""
    node = socket.gethostname().split(".")[0]
    ports = free_port(), free_port()
    state = folder / "slurm"
    state.mkdir()
    (folder / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={node}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={state}
SlurmdSpoolDir={state}/d
SlurmctldPidFile={state}/ctld.pid
SlurmdPidFile={state}/d.pid
SlurmctldLogFile={state}/ctld.log
SlurmdLogFile={state}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
NodeName={node} CPUs=1 State=UNKNOWN
PartitionName=all Nodes={node} Default=YES State=UP
""")
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def show():
        return subprocess.run(["scontrol", "show", "node", node, "-o"], env=environment, capture_output=True,
                              text=True).stdout

    def update(*words):
        subprocess.run(["scontrol", "update", f"nodename={node}", *words], env=environment, check=True)

    os.makedirs("/run/munge", exist_ok=True)
    with contextlib.ExitStack() as stack:
        if subprocess.run("munge -n | unmunge", shell=True, capture_output=True).returncode != 0:
            shutil.chown("/run/munge", "munge", "munge")
            stack.enter_context(started(["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged", "-F"]))
            wait_until(lambda: subprocess.run("munge -n | unmunge", shell=True, capture_output=True).returncode == 0)
        stack.enter_context(started(["slurmctld", "-D"], env=environment))
        stack.enter_context(started(["slurmd", "-D", "-N", node], env=environment))
        wait_until(lambda: "NodeName" in show() and "UNKNOWN" not in show(), 40)
        os.environ["SLURM_CONF"] = environment["SLURM_CONF"]
        job = Job(failslow, folder, {"slurm": "comment"})
        for data in ("slow", "well"):  # its markers call the host by this name
            for path in sorted((folder / data).rglob("*10.1.0.2*")):
                path.rename(path.with_name(path.name.replace("10.1.0.2", node)))
        job.use("slow")
        for i in range(2):
            job.look()
        assert "failslow: SLOW RANK" in show(), show()
        update("state=drain", "reason=by somebody")
        job.use("well")
        for i in range(3):
            job.look()
        assert "failslow:" not in show() and "by somebody" in show() and "DRAIN" in show(), show()
        update("comment=somebody's")
        job.use("slow")
        for i in range(2):
            job.look()
        assert "Comment=somebody's" in show(), show()


PEERS = {
    "alertmanager": (check_alertmanager, "prometheus-alertmanager"),
    "promtool": (check_promtool, "promtool"),
    "node_exporter": (check_node_exporter, "prometheus-node-exporter"),
    "rsyslog": (check_rsyslog, "rsyslogd"),
    "kafka": (check_kafka, os.environ.get("FAILSLOW_KAFKA_MOCK", "no such program")),
    "slurm": (check_slurm, "slurmctld"),
}


def main():
    failslow, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(PEERS)
    n_asked = 0
    for name in wanted:
        check, program = PEERS[name]
        if shutil.which(program) is None:
            print(f"{name}: not installed")
            continue
        with tempfile.TemporaryDirectory(prefix="failslow-peers-") as folder:
            check(failslow, pathlib.Path(folder).resolve())
        n_asked += 1
        print(f"{name}: as it should be", flush=True)
    sys.exit(0 if n_asked > 0 else 77)


main()
