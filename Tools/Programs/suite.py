"""Runs `swift test` and reports on its tests, for suite.sh.

usage: suite.py [--real-time NAMES] [--attempts COUNT] --begin SECONDS COMMAND…

COMMAND ends with `swift test` and its options.

With --real-time the tests of these names, a regular expression, run in a process of their own beside the others: they mostly wait, and
the others mostly compute. The others have less priority, and their output comes at the end. The minutes in the last line are those since
--begin, in seconds since 1970.

With --attempts, where all tests have ended and some have failed, those run again, until they pass or have run COUNT times. COMMAND then
ends with `--filter` and names.

It reads Swift Testing's stream of events beside the output. At the end it prints the failed, the repeated and the skipped tests, and
the counts. It ends a run in which a test hangs, and names the test. The exit code is that of COMMAND, or 1 where a run was ended or no
test ran. A signal that ends it ends COMMAND, and the report is of what has run until then.
"""

import glob
import json
import math
import os
import re
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
    """The tests and issues that the events of a run name."""

    def __init__(self):
        self.names = {}  # of the functions, by identifier
        self.running = set()
        self.ended = set()
        self.failures = []  # pairs of identifier and text
        self.warnings = []
        self.skipped = []
        self.repeated = set()

    def take(self, line):
        """Takes a line of the stream, and returns the kind of its event; None if it is none."""
        record = json.loads(line)
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                self.names[payload["id"]] = payload.get("displayName") or payload["name"]
            return None
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

    def warned(self, text):
        return {test for test, warning in self.warnings if text in warning}

    def forget_failures(self, attempt):
        """Shows the failures, and returns their tests; none where a test has not ended, or an issue is of no test."""
        failed = {test for test, _ in self.failures}
        if self.running or None in failed:
            return set()
        for test, text in self.failures:
            say(f"attempt {attempt} failed: {self.name(test)}: {text}"[:1000])
        self.failures = []
        self.ended -= failed
        self.repeated |= failed
        return failed

    def report(self, seconds):
        if self.running:
            say(f"not ended: {'; '.join(self.name(test) for test in sorted(self.running))}")
        for word, lines in ("failed", self.failures), ("warning", self.warnings), ("skipped", self.skipped):
            for test, text in lines:
                say(f"{word}: {self.name(test)}: {text}"[:1000])
        failed = {test for test, _ in self.failures}
        # What InRealTime reports.
        excused = self.warned("Attempt 3 of 3 failed") - failed
        counts = {
            "passed": len(self.ended - failed - excused), "failed": len(failed),
            "repeated": len(self.warned("Passed at attempt") | self.repeated - failed),
            "failed while the machine stood still": len(excused), "not ended": len(self.running), "skipped": len(self.skipped),
        }
        always = ("passed", "failed", "repeated", "skipped")
        shown = ", ".join(f"{count} {word}" for word, count in counts.items() if count or word in always)
        say(f"{shown}; {seconds / 60:.1f} minutes")


def children(process):
    """The processes that a process has started and that have not ended."""
    found = []
    for path in glob.glob(f"/proc/{process}/task/*/children"):
        try:
            with open(path) as file:
                found += [int(word) for word in file.read().split()]
        except OSError:
            pass  # The thread or process has ended.
    return found


def kill_tree(process):
    """Kills a process and all that it has started."""
    try:
        os.kill(process, signal.SIGSTOP)
        for child in children(process):
            kill_tree(child)
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Part:
    """A process that runs tests, and its events."""

    def __init__(self, command, output=None):
        self.events = tempfile.NamedTemporaryFile(prefix="tenfour-events-")
        self.output = output
        self.rest = b""
        self.has_built = "--skip-build" in command
        self.last_event = time.monotonic()
        self.end = None
        # Without a version: a stream of an old version has no warnings.
        stream = ["--event-stream-output-path", self.events.name]
        self.process = subprocess.Popen([*command, *stream], stdout=output, stderr=output)

    def read(self, results):
        *lines, self.rest = (self.rest + self.events.read()).split(b"\n")
        for line in filter(None, lines):
            kind = results.take(line)
            if kind:
                self.has_built = True
                self.last_event = time.monotonic()
            if kind == "runEnded":
                self.end = self.last_event

    def trouble(self):
        """Why it must be ended; None if it runs as it should, or has ended."""
        if self.process.poll() is not None:
            return None
        silence = time.monotonic() - self.last_event
        if self.end is not None:
            return f"the run did not end within {longest_end} s after its last test" if silence > longest_end else None
        # Before its first event it may build.
        return f"nothing has happened for {longest_silence} s" if self.has_built and silence > longest_silence else None

    def kill(self):
        """Ends what COMMAND has started, and COMMAND itself if it then does not end."""
        for child in children(self.process.pid):
            kill_tree(child)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            kill_tree(self.process.pid)
            self.process.wait()

    def finish(self):
        """Waits for its end, and shows the output that was kept. Returns the exit code."""
        status = self.process.wait()
        if self.output:
            self.output.seek(0)
            shutil.copyfileobj(self.output, sys.stdout.buffer)
            sys.stdout.flush()
        return status if status >= 0 else 128 - status


def run_parts(parts_of, results, received):
    """Runs parts side by side until they or the signals received end them. Returns the exit code; None where one had to be ended."""
    failed = False
    parts = []
    try:
        for command, output in parts_of:
            parts.append(Part(command, output))
        while not received and any(part.process.poll() is None for part in parts):
            time.sleep(1)
            for part in parts:
                part.read(results)
                trouble = part.trouble()
                if trouble:
                    say(trouble)
                    part.kill()
                    failed = True
    finally:
        for part in parts:
            if part.process.poll() is None:
                part.kill()
    codes = [part.finish() for part in parts]
    for part in parts:
        part.read(results)
    return None if failed else max(codes)


def run(command, real_time, attempts, begin):
    received = []
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, lambda number, _: received.append(number))
    results = Results()
    if real_time:
        # Everything is built, so both may use the folder at once.
        command.append("--ignore-lock")
        others = ["nice", *command, "--skip", real_time]
        code = run_parts([([*command, "--filter", real_time], None), (others, tempfile.TemporaryFile())], results, received)
    else:
        code = run_parts([(command, None)], results, received)
    for attempt in range(1, attempts):
        tests = set() if received or code is None else results.forget_failures(attempt)
        if not tests:
            break
        # The last part of an identifier is the place in the source.
        names = "|".join(sorted(re.escape(test.rsplit("/", 1)[0]) for test in tests))
        code = run_parts([([*command[:-1], f"^({names})", "--skip-build"], None)], results, received)
        lost = tests - results.ended
        if lost:
            say(f"did not run again: {'; '.join(results.name(test) for test in sorted(lost))}")
            code = None
    results.report(time.time() - begin)
    if received:
        # Who has started this sees by which signal it has ended.
        signal.signal(received[0], signal.SIG_DFL)
        os.kill(os.getpid(), received[0])
    if not results.ended:
        say("no test ran")
        return 1
    return 1 if code is None else code


if __name__ == "__main__":
    arguments = sys.argv[1:]
    options = {"--real-time": None, "--attempts": "1", "--begin": None}
    while arguments[0] in options:
        options[arguments[0]], arguments = arguments[1], arguments[2:]
    sys.exit(run(arguments, options["--real-time"], int(options["--attempts"]), float(options["--begin"])))
