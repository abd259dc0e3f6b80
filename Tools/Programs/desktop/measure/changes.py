"""Changes on a desktop during a call: each is given as SECONDS:WHAT, counted from the start of the programs."""

import json
import os
import subprocess
import threading
import time

from program import Program
from rig import FAR_SINK, SERVER, SINK, say

HELP = """quantum=N (0: none) imposes one; join starts another stream and leave ends it; move=far and move=back move what is played to
another sink; restart kills the server and starts it again"""


class Change:
    def __init__(self, text):
        seconds, _, self.what = text.partition(":")
        self.seconds = float(seconds)
        self.name, _, self.value = self.what.partition("=")
        if self.name not in ("quantum", "join", "leave", "move", "restart"):
            raise ValueError(f"there is no change {self.what!r}")
        self.at = None  # CLOCK_MONOTONIC, ns


class Changes:
    """Makes each change at its time, on a thread of its own."""

    def __init__(self, changes, player):
        self.changes, self.player, self.stream = sorted(changes, key=lambda change: change.seconds), player, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.begin = time.monotonic()
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()
        self.leave()
        if any(change.name == "quantum" for change in self.changes):
            quantum(os.environ.get("DESKTOP_QUANTUM") or 0)

    def run(self):
        for change in self.changes:
            if self.over.wait(max(self.begin + change.seconds - time.monotonic(), 0)):
                return
            change.at = time.monotonic_ns()
            try:
                self.make(change)
            except (subprocess.CalledProcessError, StopIteration) as error:
                say(f"{change.what} failed: {error}")

    def make(self, change):
        if change.name == "quantum":
            quantum(change.value)
        elif change.name == "join":
            self.join()
        elif change.name == "leave":
            self.leave()
        elif change.name == "move":
            move(self.player(), FAR_SINK if change.value == "far" else SINK)
        else:
            subprocess.run(["desktop-server", "restart"], check=True)

    def join(self):
        """Starts a stream that plays silence and requests a low latency."""
        self.stream = Program("aplay", "-q", "-D", "default", "-f", "S16_LE", "-r", "48000", "-c", "2", "--period-size=256",
                              "--buffer-size=1024", "/dev/zero")

    def leave(self):
        if self.stream:
            self.stream.stop()
            self.stream = None


def quantum(frames):
    command = ["pw-metadata", "-n", "settings", "0", "clock.force-quantum", str(frames)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def move(process, sink):
    """Moves the streams that a process plays to another sink."""
    if SERVER == "pulseaudio":
        streams = json.loads(subprocess.run(["pactl", "-f", "json", "list", "sink-inputs"], check=True, capture_output=True).stdout)
        stream = next(stream for stream in streams if stream["properties"].get("application.process.id") == str(process))
        subprocess.run(["pactl", "move-sink-input", str(stream["index"]), sink], check=True)
        return
    everything = json.loads(subprocess.run(["pw-dump"], check=True, capture_output=True).stdout)
    nodes = {one["id"]: one["info"]["props"] for one in everything if one["type"] == "PipeWire:Interface:Node"}
    clients = {one["id"]: one["info"]["props"] for one in everything if one["type"] == "PipeWire:Interface:Client"}

    def owner(properties):
        client = clients.get(properties.get("client.id"), {})
        return str(properties.get("application.process.id") or client.get("application.process.id") or "")

    node = next(number for number, properties in nodes.items()
                if properties.get("media.class") == "Stream/Output/Audio" and owner(properties) == str(process))
    subprocess.run(["pw-metadata", str(node), "target.object", sink], check=True, stdout=subprocess.DEVNULL)


def told(change, following, path, origin):
    """Returns the effect of a change on a path: gaps until the next change, the longest silence, the delay before and after."""
    at = (change.at - origin) / 1e9
    end = (following.at - origin) / 1e9 if following and following.at else float("inf")
    gaps = [gap for gap in path["gaps"] if at < gap["at_s"] + gap["ms"] / 1000 and gap["at_s"] < end and gap["kind"] != "jump"
            and not excused(gap, change)]
    before = [delay for time, delay in path["delays"] if time < at]
    after = [delay for time, delay in path["delays"] if at < time < end]
    breaks = merged(gaps)
    return {
        "what": change.what, "at_s": round(at, 3), "gaps": len(breaks), "missing_ms": round(sum(gap["ms"] for gap in gaps), 1),
        "sound_again_s": round(max((last - at for first, last in breaks if first < at + 1), default=0), 3),
        "delay_before_ms": before[-1] if before else None, "delay_after_ms": after[-1] if after else None,
        "worst_delay_ms": max(after, default=None),
    }


def excused(gap, change):
    """Whether a gap is excused. While the server restarts, the meter always misses audio, which excuses nothing then."""
    return gap["timer_late_ms"] > 0 or (gap["meter"] and change.name != "restart")


def merged(gaps):
    """Merges gaps less than 200 ms apart, which sound like one."""
    kept = []
    for gap in gaps:
        if kept and gap["at_s"] - kept[-1][1] < 0.2:
            kept[-1][1] = gap["at_s"] + gap["ms"] / 1000
        else:
            kept.append([gap["at_s"], gap["at_s"] + gap["ms"] / 1000])
    return kept
