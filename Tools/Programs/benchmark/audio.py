"""Counts the calls of the memory allocator and of locks by audio threads while audio flows, with audiowatch."""

import json
import os
import pathlib
import pty
import tempfile
import time

from program import Program
from rig import AUDIOWATCH, BADLINK, TENFOUR, pause, say, speech
from table import Row

PORT = 6304  # the first of eight, each followed by one for RTCP
RUN_IN = 3   # seconds in which threads, decoders and filters are set up
TEARDOWN = 1


class Extent:
    def __init__(self, seconds):
        self.seconds = seconds


LONG = Extent(600)
ORDINARY = Extent(30)
SHORT = Extent(12)


class Watched(Program):
    """A tenfour whose audio threads are watched for `seconds` after the run-in."""

    def __init__(self, name, *words, seconds, stdin=None):
        self.name, self.report = name, tempfile.NamedTemporaryFile(suffix=".json")
        os.unlink(self.report.name)  # audiowatch does not overwrite a file that another process has written
        environment = {
            "LD_PRELOAD": str(AUDIOWATCH), "AUDIOWATCH_REPORT": self.report.name, "AUDIOWATCH_RUN_IN": str(RUN_IN),
            "AUDIOWATCH_SPAN": str(seconds)}
        super().__init__(TENFOUR, *words, environment=environment, **({"stdin": stdin} if stdin is not None else {}))

    def row(self, thread, way):
        """Returns the row of one thread, which may take only libasound's own locks, and these without contention."""
        name, ask = f"{self.name}: {way}", "none of ours"
        path = pathlib.Path(self.report.name)
        report = json.loads(path.read_text()) if path.exists() else {"threads": []}
        record = next((record for record in report["threads"] if record["thread"] == thread), None)
        if record is None:
            return Row(name, ask, f"no thread {thread} was seen", False, *self.words().splitlines()[-3:], broken=True)
        ours = [place for place in record["places"] if not is_allowed(place)]
        locks = sum(place["locks"] for place in ours)
        others = sum(record[count] for count in ("waits", "futex_calls", "contended", "forgotten"))
        isClean = not (record["allocations"] or record["frees"] or locks or others)
        seconds = min(record["watched_s"], report["span_s"])
        return Row(
            name, ask, f"{record['allocations']} allocations, {record['frees']} frees, {locks} locks", isClean,
            f"in {seconds:.0f} s; libasound took {record['locks'] - locks} locks of its own, {record['contended']} contended",
            *map(describe, ours[:6]), broken=not isClean, record=record)


def is_allowed(place):
    """alsa-lib guards each PCM with a mutex, which only the thread that owns the PCM takes."""
    return place["library"].startswith("libasound.so") and not any(
        place[count] for count in ("allocations", "frees", "waits", "futex_calls", "contended"))


def describe(place):
    counts = ", ".join(
        f"{place[name]} {name}" for name in ("allocations", "frees", "locks", "waits", "futex_calls", "contended") if place[name])
    where = f"{place['symbol']} ({place['library']}+{place['offset']})"
    return f"{counts} in {where}, from {place['first_s']:.1f} s to {place['last_s']:.1f} s"


def run(table, extent):
    say(f"two talkers, and a sender that is started twice, for {extent.seconds} s through a bad network")
    with speech(extent.seconds + 30) as sound:
        feeders = [Program("aplay", "-q", "-D", f"labcard:benchmark-{wire}", sound.name) for wire in ("mic", "alice", "bob")]
        try:
            watched = converse(extent.seconds)
        finally:
            for feeder in feeders:
                feeder.stop()
    names = {"tf-audio-capt": "capture thread", "tf-audio-play": "playback thread"}
    for program, threads in watched:
        for thread in threads:
            table.add(program.row(thread, names[thread]))
    senders = watched[0][0].words().count("hearing ")
    table.add(Row("recv: senders heard", "2", str(senders), senders == 2, broken=senders != 2))


def converse(seconds):
    """Runs send and recv, and talk and talk, at the same time, each pair over its own bad wireless network. The sender is
    restarted half-way with another SSRC; one talker closes its microphone now and then."""
    stream, alice, bob = PORT, PORT + 4, PORT + 6
    both, capture, playback = ("tf-audio-capt", "tf-audio-play"), ("tf-audio-capt",), ("tf-audio-play",)
    half = seconds / 2
    send = ("send", "-q", "-D", "labcard:benchmark-mic", f"rtp://127.0.0.1:{stream + 2}")
    keyboard, terminal = pty.openpty()
    with Program(BADLINK, "--network", "wifi-bad", f":{stream + 2}", f"127.0.0.1:{stream}"), \
            Program(BADLINK, "--network", "wifi-bad", f":{bob + 2}", f"127.0.0.1:{bob}"), \
            Watched("recv", "recv", f"rtp://:{stream}", "-D", "labcard:benchmark-ear", seconds=seconds) as receiver, \
            Watched("talk (bob)", *talk("bob", bob, alice), seconds=seconds) as second, \
            Watched("talk (alice)", *talk("alice", alice, bob + 2), seconds=seconds, stdin=terminal) as first:
        pause(0.5)
        with Watched("send", *send, seconds=half - RUN_IN) as sender:
            wait_and_press(keyboard, half + RUN_IN / 2)
        with Watched("send, again", *send, seconds=half - RUN_IN) as again:
            wait_and_press(keyboard, half + RUN_IN / 2 + TEARDOWN)
    os.close(keyboard), os.close(terminal)
    return [(receiver, playback), (sender, capture), (again, capture), (first, both), (second, both)]


def talk(name, port, partner):
    return [
        "talk", "-q", "--open", "-p", str(port), f"127.0.0.1:{partner}", "--input", f"alsa:labcard:benchmark-{name}", "--output",
        f"alsa:labcard:benchmark-{name}-ear"]


def wait_and_press(keyboard, seconds):
    """Closes the microphone for one second in every four."""
    end, is_open, next_press = time.monotonic() + seconds, True, time.monotonic() + 3
    while (now := time.monotonic()) < end:
        if now >= next_press:
            os.write(keyboard, b" ")
            is_open = not is_open
            next_press = now + (3 if is_open else 1)
        pause(0.1)
    if not is_open:
        os.write(keyboard, b" ")
