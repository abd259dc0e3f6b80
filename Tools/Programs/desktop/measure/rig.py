"""Programs that run inside Tools/desktop, and the meter beside them."""

import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

from program import Program  # in Programs/benchmark

SERVER = os.environ["DESKTOP_SERVER"]
SINK, FEED = os.environ["DESKTOP_SINK"], os.environ["DESKTOP_FEED"]
FAR_SINK, FAR_FEED = os.environ["DESKTOP_FAR_SINK"], os.environ["DESKTOP_FAR_FEED"]
# The priority of tenfour's audio threads, if it is granted; 0: ordinary.
PRIORITY = int(os.environ["DESKTOP_PRIORITY"])
FOLDER = pathlib.Path(tempfile.mkdtemp(dir=os.environ["XDG_RUNTIME_DIR"]))


def say(text):
    print(f"desktop-measure: {text}", file=sys.stderr, flush=True)


class Meter:
    """Runs desktop-meter on some paths. `result` waits for its end."""

    def __init__(self, paths, seconds, settle, wav=None, chirps=True):
        command = ["desktop-meter", "measure", "--seconds", seconds, "--settle", settle, "--priority", PRIORITY]
        for path in paths:
            command += ["--path", path]
        if wav:
            command += ["--wav", wav]
        if not chirps:
            command += ["--no-chirps"]
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def result(self):
        out, _ = self.process.communicate()
        if self.process.returncode:
            raise SystemExit("desktop-measure: the meter failed")
        return json.loads(out)


class Busy:
    """Loops that keep a number of processors busy, at ordinary priority."""

    def __init__(self, count):
        self.loops = [Program("sh", "-c", "while :; do :; done") for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for loop in self.loops:
            loop.process.kill()
            loop.process.wait()


def free_ports():
    """Returns the first of eight free UDP ports, since other measurements may run on this machine."""
    while True:
        first = random.randrange(10_000, 20_000, 10)  # the tests have those from 20 000 on
        try:
            for port in range(first, first + 8):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
                    taken.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass


def at_priority(*command):
    """Prefixes a command that does not request a real-time priority itself."""
    return ["chrt", "-f", str(PRIORITY), *map(str, command)] if PRIORITY else list(map(str, command))


def pause(seconds):
    time.sleep(max(seconds, 0))
