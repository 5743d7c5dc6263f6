#!/usr/bin/env python3
"""Checks `failslow watch` as a service manager sees it: what it sends, and how it ends.

Arguments: the program, the folder of the data sets. Nothing is measured: each step waits for what has to come.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile

SECONDS = 60  # a message that takes longer does not come
PROGRAM, DATASETS = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
faults = []


def check(claim, is_true, facts=""):
    if not is_true:
        faults.append(f"{claim}: {facts}")


def write_config(folder, **keys):
    config = {"root_path": str(DATASETS / "faults" / "slow_rank"), "fail_slow_perception_path": "results",
              "slow_node_detection_path": "results", "fail_slow_span_mins": 0.001, **keys}
    path = folder / "model_config.json"
    path.with_suffix(".new").write_text(json.dumps(config))
    path.with_suffix(".new").rename(path)
    return path


class Watch:
    """A watch with somebody who listens to it."""

    def __init__(self, folder, *words, address=None, environment=()):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(SECONDS)
        address = address or str(folder / "notify")
        self.socket.bind(address.replace("@", "\0", 1))
        self.seen = []
        self.process = subprocess.Popen(
            [PROGRAM, "watch", "--config", str(folder / "model_config.json"), *words], cwd=folder,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "NOTIFY_SOCKET": address, "XDG_STATE_HOME": str(folder), **dict(environment)})

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.communicate()
        self.socket.close()

    def wait_for(self, text):
        """The next message that holds the text; None if it does not come."""
        try:
            while True:
                message = self.socket.recv(4096).decode()
                self.seen.append(message)
                if text in message:
                    return message
        except TimeoutError:
            faults.append(f"{text} does not come: {self.seen[-5:]}")
            return None

    def look(self):
        """Process id of the look that goes on."""
        task = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return int((task.read_text().split() or ["0"])[0])

    def end(self, number):
        self.process.send_signal(number)
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, stdout, stderr


@contextlib.contextmanager
def long_look(folder, **more):
    """A watch whose look waits for the lock of the job."""
    write_config(folder, lock_wait_s=3600)
    (folder / "results").mkdir()
    with open(folder / "results" / "failslow_state.lock", "w", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        with Watch(folder, **more) as watch:
            watch.wait_for("READY=1")
            watch.wait_for("STATUS=looking")
            yield watch


def one_look_has_the_exit_code_of_the_look(folder):
    write_config(folder)
    with Watch(folder, "--once") as watch:
        watch.wait_for("READY=1")
        watch.wait_for("SLOW RANK: rank 5")
        stdout, stderr = watch.process.communicate(timeout=SECONDS)
        check("one look", (watch.process.returncode, len(stdout.splitlines()), stderr) == (0, 1, ""),
              (watch.process.returncode, stdout, stderr))
    check("one look writes", len(list((folder / "results").glob("slow_node_result_*"))) == 1)


def a_look_without_input_fails(folder):
    write_config(folder, root_path=str(folder / "absent"))
    with Watch(folder, "--once") as watch:
        watch.wait_for("exit code 3")
        watch.process.communicate(timeout=SECONDS)
        check("no input", watch.process.returncode == 3, watch.process.returncode)


def looks_are_repeated_until_the_end(folder):
    write_config(folder)
    with Watch(folder, address="@failslow-watch-%d" % os.getpid()) as watch:
        for _ in range(3):
            watch.wait_for("SLOW RANK: rank 5")
        code, stdout, stderr = watch.end(signal.SIGTERM)
        check("end", code == 0 and stderr == "", (code, stderr))
        check("a line for each look", len(stdout.splitlines()) >= 3, stdout)
        watch.wait_for("STOPPING=1")


def a_configuration_is_read_anew(folder):
    write_config(folder, fail_slow_span_mins=600)
    with Watch(folder, "--quiet") as watch:
        watch.wait_for("SLOW RANK: rank 5")
        write_config(folder, fail_slow_span_mins=600, root_path=str(DATASETS / "faults" / "slow_link"))
        watch.process.send_signal(signal.SIGHUP)
        message = watch.wait_for("RELOADING=1") or ""
        check("time of reloading", "MONOTONIC_USEC=" in message, message)
        watch.wait_for("READY=1")
        watch.wait_for("SLOW LINK")
        (folder / "model_config.json").write_text("{")
        watch.process.send_signal(signal.SIGHUP)
        watch.wait_for("the configuration cannot be used")
        code, stdout, stderr = watch.end(signal.SIGINT)
        check("end after reloading", code == 0 and stdout == "", (code, stdout))
        check("wrong configuration", "the configuration cannot be used" in stderr, stderr)


def a_wrong_configuration_starts_nothing(folder):
    write_config(folder, k_sigma="much")
    with Watch(folder) as watch:
        watch.process.communicate(timeout=SECONDS)
        check("wrong configuration", watch.process.returncode == 2, watch.process.returncode)


def a_look_that_goes_on_is_ended(folder):
    with long_look(folder, environment={"WATCHDOG_USEC": "100000"}) as watch:
        watch.wait_for("WATCHDOG=1")
        watch.wait_for("WATCHDOG=1")
        look = watch.look()
        code, stdout, stderr = watch.end(signal.SIGTERM)
        check("end during a look", (code, stdout, stderr) == (0, "", ""), (code, stdout, stderr))
        check("the look has ended", look > 0 and not pathlib.Path(f"/proc/{look}").exists(), look)


def a_killed_watch_leaves_no_look(folder):
    with long_look(folder) as watch:
        look = watch.look()
        ended = os.pidfd_open(look)
        watch.end(signal.SIGKILL)
        check("look of a killed watch", select.select([ended], [], [], SECONDS)[0] == [ended], look)
        os.close(ended)


def a_killed_look_is_told(folder):
    with long_look(folder) as watch:
        os.kill(watch.look(), signal.SIGKILL)
        watch.wait_for("exit code 4")
        watch.wait_for("STATUS=looking")
        code, _, stderr = watch.end(signal.SIGTERM)
        check("killed look", code == 0 and "ended by a signal: signal=9" in stderr, (code, stderr))


def main():
    os.umask(0o022)
    for case in (one_look_has_the_exit_code_of_the_look, a_look_without_input_fails,
                 looks_are_repeated_until_the_end, a_configuration_is_read_anew,
                 a_wrong_configuration_starts_nothing, a_look_that_goes_on_is_ended, a_killed_watch_leaves_no_look,
                 a_killed_look_is_told):
        n_before = len(faults)
        with tempfile.TemporaryDirectory(prefix="failslow-watch-") as folder:
            case(pathlib.Path(folder).resolve())
        print("failed" if len(faults) > n_before else "ok", case.__name__)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
