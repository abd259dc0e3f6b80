"""Measures the waveform that `tenfour play` shows in a terminal: when it begins, its processor time and its memory."""

import fcntl
import os
import pty
import struct
import tempfile
import termios
import threading
import time

from cpu import share
from program import Program
from rig import TENFOUR, median, pause, say
from table import Row
from wire import Wire

CARD, WIRE = "lab_speaker", Wire("speaker")
HOUR = 3600
RUN_IN = 3        # seconds until downloading and decoding are in a steady state
MOST = 120        # seconds for reading an hour of MP3
READER = "tf-audio-wave"  # the thread that reads for the waveform


class Screen:
    """A terminal of 80 columns and 24 lines. Notes when the first bars are drawn in it."""

    def __init__(self):
        self.keyboard, self.terminal = pty.openpty()
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.first_bars = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.keyboard, 65536)
            except OSError:
                return
            # Braille characters begin with these bytes in UTF-8; U+2800 is blank.
            if self.first_bars is None and any(sign in data for sign in (b"\xe2\xa1", b"\xe2\xa2", b"\xe2\xa3")):
                self.first_bars = time.monotonic()

    def close(self):
        os.close(self.terminal)


class Player:
    """A player of a file in a terminal, whose cache is empty."""

    def __init__(self, path, *options):
        self.screen, self.cache = Screen(), tempfile.TemporaryDirectory()
        environment = {"XDG_CACHE_HOME": self.cache.name, "TERM": "xterm-256color", "NO_COLOR": ""}
        self.program = Program(
            TENFOUR, "play", "--no-mpris", "-D", CARD, *options, path, environment=environment, terminal=self.screen.terminal)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.program.stop()
        self.screen.close()
        self.cache.cleanup()

    @property
    def is_read(self):
        """Whether the waveform is complete, and so is in the cache."""
        return any(files for _, _, files in os.walk(self.cache.name))


def waveform(table, folder, extent):
    bare = ("-write_xing", "0", "-id3v2_version", "0")
    folder.make("loud.mp3", "0.5*sin(2*PI*600*t)", 60, "-b:a", "128k", *bare)
    folder.repeat("loud-hour.mp3", "loud.mp3", 60)
    hour = folder.path / "loud-hour.mp3"
    first_bars(table, hour, min(extent.starts, 5))
    costs(table, hour, extent)


def first_bars(table, path, count):
    say(f"{count} starts with a waveform")
    delays = []
    for _ in range(count):
        begun = time.monotonic()
        with Player(path) as player:
            pause(3)
            heard, drawn = WIRE.first_sound(begun, time.monotonic()), player.screen.first_bars
        if heard is None or drawn is None:
            table.add(Row("waveform: first bars", "<= 200 ms", "no sound or no bars in 3 s", False, broken=True))
            return
        delays.append(1000 * (drawn - heard))
    middle = median(delays)
    table.add(Row(
        "waveform: first bars after the first sound", "<= 200 ms", f"{middle:.0f} ms ({min(delays):.0f} to {max(delays):.0f})",
        middle <= 200, "of an hour of MP3 from a file", delays_ms=delays))


def costs(table, path, extent):
    """The processor time of an hour: that of reading, and as often as an hour has seconds that of a second of playback."""
    say("processor time and memory with and without a waveform")
    seconds = min(extent.seconds, 20)
    plain, shown, reading, sizes = [], [], [], {True: 0, False: 0}
    for _ in range(min(extent.turns, 3)):
        for has_waveform in (False, True):
            with Player(path, *([] if has_waveform else ["--no-waveform"])) as player:
                pause(RUN_IN)
                limit = time.monotonic() + MOST
                while has_waveform and not player.is_read and time.monotonic() < limit:
                    sizes[True] = max(sizes[True], resident(player.program))
                    pause(0.1)
                before = player.program.threads()
                pause(seconds)
                after = player.program.threads()
                sizes[has_waveform] = max(sizes[has_waveform], resident(player.program))
                if has_waveform and not player.is_read:
                    table.add(Row("waveform of an hour", "", f"not complete in {MOST} s", False, broken=True))
                    return
            (shown if has_waveform else plain).append(sum(share(before, after, seconds).values()) / 100)
            if has_waveform:
                reading.append(sum(spent for (name, _), spent in after.items() if name == READER))
    ratios = [(HOUR * with_it + once) / (HOUR * without) for with_it, without, once in zip(shown, plain, reading)]
    table.add(Row(
        "waveform: processor time of an hour, against none", "<= 1.3",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", median(ratios) <= 1.3,
        f"{median(reading):.1f} s to read it; playing takes {100 * median(shown):.2f} % of a processor against "
        f"{100 * median(plain):.2f} %", ratios=ratios, reading_s=reading))
    growth = sizes[True] - sizes[False]
    table.add(Row(
        "waveform: memory for an hour, against none", "<= 4 MB", f"{growth:+.1f} MB", growth <= 4,
        f"{sizes[True]:.1f} MB against {sizes[False]:.1f} MB", growth_mb=growth))


def resident(program):
    """Returns the resident memory in MB."""
    lines = dict(line.split(":", 1) for line in open(f"/proc/{program.process.pid}/status"))
    return int(lines["VmRSS"].split()[0]) / 1024 if "VmRSS" in lines else 0
