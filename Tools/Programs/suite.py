"""Runs `swift test` and reports on its tests, for suite.sh.

usage: suite.py [--real-time NAMES] COMMAND…        COMMAND ends with `swift test` and its options

With --real-time the suites of these names, a regular expression, run in a process of their own beside the others: they mostly wait, and
the others mostly compute. The others have less priority, and their output comes at the end.

It reads Swift Testing's stream of events beside the output. At the end it prints the failed, the repeated and the skipped tests, and
the counts. It ends a run in which a test hangs, and names the test. The exit code is that of COMMAND, or 1 if the run was ended.
"""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# A test hangs if it has not ended and nothing has happened for this many seconds: three times what was seen on two quiet cores. (When
# a test's own body begins cannot be seen: all tests start at once, and wait for a thread.) Tests are slower under a sanitizer, and long
# ones have no limit.
longest_silence = math.inf if "TENFOUR_LONG" in os.environ else 1500 if "TENFOUR_SANITIZED" in os.environ else 150
# The time that COMMAND has to end after its last test.
longest_end = 60


def say(text):
    print(f"{os.environ['TENFOUR_TOOL']}: {text}", file=sys.stderr, flush=True)


class Results:
    """What the events have told so far."""

    def __init__(self):
        self.names = {}  # of the functions, by identifier
        self.running = set()
        self.ended = set()
        self.failures = []  # pairs of identifier and text
        self.warnings = []
        self.skipped = []
        self.last_event = None

    def take(self, line):
        """Takes a line of the stream, and returns the kind of its event."""
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                self.names[payload["id"]] = payload.get("displayName") or payload["name"]
            return None
        self.last_event = time.monotonic()
        kind, test = payload["kind"], payload.get("testID")
        if kind == "issueRecorded":
            symbol = payload["messages"][0]["symbol"] if payload["messages"] else "fail"
            # The issues of an expected failure have another symbol.
            if symbol in ("fail", "warning"):
                (self.failures if symbol == "fail" else self.warnings).append((test, self.text(payload)))
        elif test in self.names:
            if kind == "testStarted":
                self.running.add(test)
            elif kind == "testEnded":
                self.running.discard(test)
                self.ended.add(test)
            elif kind == "testSkipped":
                self.skipped.append((test, self.text(payload)))
        return kind

    def text(self, payload):
        # Swift 6.3 has it in the issue, 6.2 beside it.
        place = payload.get("issue", {}).get("sourceLocation") or payload.get("_sourceLocation")
        texts = [f"{place['fileID']}:{place['line']}"] if place else []
        return ": ".join(texts + [message["text"] for message in payload["messages"] if message["text"] != "Issue recorded"])

    def name(self, test):
        return f"{test.split('.')[0]}: {self.names.get(test, test)}" if test else "no test"

    def list(self, tests, most=40):
        return "; ".join([self.name(test) for test in sorted(tests)[:most]] + (["…"] if len(tests) > most else []))

    def report(self, seconds):
        if self.running:
            say(f"not ended: {self.list(self.running)}")
        for word, lines in ("failed", self.failures), ("warning", self.warnings), ("skipped", self.skipped):
            for test, text in lines:
                say(f"{word}: {self.name(test)}: {text}"[:1000])
        failed = {test for test, _ in self.failures}
        repeated = {test for test, text in self.warnings if "Passed at attempt" in text}
        say(
            f"{len(self.ended - failed)} passed, {len(failed)} failed, {len(repeated)} repeated, {len(self.skipped)} skipped;"
            f" {seconds / 60:.1f} minutes"
        )


def kill_tree(process):
    """Kills a process and all that it has started."""
    try:
        os.kill(process, signal.SIGSTOP)
        for child in subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True).stdout.split():
            kill_tree(int(child))
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Part:
    """A process that runs tests, and its events."""

    def __init__(self, command, output=None):
        self.events = tempfile.NamedTemporaryFile(prefix="tenfour-events-")
        self.output = output
        self.position = 0
        self.rest = b""
        self.end = None
        # Without a version: a stream of an old version has no warnings.
        stream = ["--event-stream-output-path", self.events.name]
        self.process = subprocess.Popen([*command, *stream], stdout=output, stderr=output)

    def read(self, results):
        with open(self.events.name, "rb") as file:
            file.seek(self.position)
            data = file.read()
        self.position += len(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in filter(None, lines):
            if results.take(line) == "runEnded":
                self.end = time.monotonic()

    def trouble(self, results):
        """Why it must be ended; None if it runs as it should, or has ended."""
        now = time.monotonic()
        if self.process.poll() is not None:
            return None
        if self.end is not None:
            return f"the run did not end within {longest_end} s after its last test" if now - self.end > longest_end else None
        if results.last_event is not None and now - results.last_event > longest_silence:
            return f"nothing has happened for {longest_silence} s"
        return None

    def finish(self):
        """The exit code, after the output that was kept."""
        if self.output:
            self.output.seek(0)
            shutil.copyfileobj(self.output, sys.stdout.buffer)
            sys.stdout.flush()
        status = self.process.wait()
        return status if status >= 0 else 128 - status


def run(command, real_time):
    begin = time.monotonic()
    parts = []

    def stop(number, _):
        for part in parts:
            kill_tree(part.process.pid)
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
    # Ctrl-C ends COMMAND, too. What it has done until then is reported.
    signal.signal(signal.SIGINT, lambda *_: None)
    if real_time:
        # Everything is built, so both may use the folder at once.
        command.append("--ignore-lock")
        parts.append(Part([*command, "--filter", real_time]))
        parts.append(Part(["nice", *command, "--skip", real_time], tempfile.TemporaryFile()))
    else:
        parts.append(Part(command))
    results = Results()
    failed = False
    while any(part.process.poll() is None for part in parts):
        time.sleep(1)
        for part in parts:
            part.read(results)
            trouble = part.trouble(results)
            if trouble:
                say(trouble)
                kill_tree(part.process.pid)
                failed = True
    codes = [part.finish() for part in parts]
    for part in parts:
        part.read(results)
    results.report(time.monotonic() - begin)
    if not results.ended:
        say("no test ran")
        failed = True
    return max(codes) or int(failed)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    real_time = None
    if arguments[0] == "--real-time":
        real_time, arguments = arguments[1], arguments[2:]
    sys.exit(run(arguments, real_time))
