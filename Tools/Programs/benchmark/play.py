"""Measures the streamer and the waveform: start time, processor time, memory and seeks of `tenfour play`, and the time of
`tenfour plot`."""

import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import threading
import time

from audio import Watched
from cpu import share
from program import Program
from rig import ROOT, TENFOUR, Busy, median, pause, say, speech
from table import Row
from waveform import waveform
from wire import Wire

CARD, WIRE = "lab_speaker", Wire("speaker")
RUN_IN = 3  # seconds until downloading and decoding are in a steady state
SEEK = 0.8  # seconds between two seeks
RATE = 32   # the highest playback rate
NOISE = "0.3*(random(0)-0.5)*sin(2*PI*t/7)"
LOW, HIGH = 600, 1200  # Hz, in even and in odd minutes of the audio used for seeks


class Extent:
    """The extent of the measurement: starts and seeks; runs for processor time, and seconds of each; megabytes of the large
    file, and seconds of it on the card; plots."""

    def __init__(self, starts, turns, seconds, seeks, megabytes, skimmed, plots):
        self.starts, self.turns, self.seconds, self.seeks = starts, turns, seconds, seeks
        self.megabytes, self.skimmed, self.plots = megabytes, skimmed, plots


LONG = Extent(21, 5, 60, 40, 300, 45, 5)
ORDINARY = Extent(9, 5, 15, 20, 300, 20, 3)
SHORT = Extent(2, 1, 5, 4, 30, 5, 0)


class Folder:
    """Audio files made by ffmpeg, and a test server that serves them on loopback."""

    def __init__(self):
        self.place = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.place.name)
        self.requests = []
        self.server = subprocess.Popen(
            [sys.executable, ROOT / "Tests/TestSupport/Servers/soundserver.py", self.path], stderr=subprocess.PIPE, text=True)
        self.port = int(self.server.stderr.readline().split()[1])
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.terminate()
        self.server.wait()
        self.server.stderr.close()
        self.place.cleanup()

    def listen(self):
        """Records the time of each request, which the server prints before it sends the first byte."""
        for _ in self.server.stderr:
            self.requests.append(time.monotonic())

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{name}"

    def make(self, name, expression, seconds, *options):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", f"aevalsrc={expression}:s=48000:d={seconds}", "-ac", "2",
             *options, self.path / name], check=True)

    def repeat(self, name, piece, count):
        """Joins MP3 data without headers in front of the frames, which may be concatenated in any order."""
        data = (self.path / piece).read_bytes()
        with open(self.path / name, "wb") as file:
            for _ in range(count):
                file.write(data)


def ours(place, *options):
    return [TENFOUR, "play", "-q", "-D", CARD, *options, place]


def mpv(place):
    return ["mpv", "--no-config", "--no-video", "--really-quiet", "--ao=alsa", f"--audio-device=alsa/{CARD}", place]


def decoding(path):
    return ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-f", "null", "-"]


def run(table, extent):
    bare = ("-write_xing", "0", "-id3v2_version", "0")
    with Folder() as folder:
        say("making sounds")
        folder.make("tone.mp3", f"0.5*sin(2*PI*{LOW}*t)", RUN_IN + extent.seconds + 10, "-b:a", "128k")
        tones = f"0.5*sin(2*PI*t*if(mod(floor(t/60)\\,2)\\,{HIGH}\\,{LOW}))"
        folder.make("minutes.mp3", tones, 60 * (extent.seeks // 2 + 2), "-b:a", "128k")
        folder.make("slow.mp3", NOISE, 60, "-b:a", "128k", *bare)
        folder.make("fast.mp3", NOISE, 60, "-b:a", "320k", *bare)
        folder.repeat("hour.mp3", "slow.mp3", 60)
        folder.repeat("large.mp3", "fast.mp3", extent.megabytes * 8 // (320 * 60 // 1000) + 1)
        first_sound(table, folder, extent)
        processor(table, folder, extent)
        seeks(table, folder, extent)
        memory(table, folder, extent)
        waveform(table, folder, extent)
        if extent.plots:
            plot(table, folder, extent)


def first_sound(table, folder, extent):
    url, busy = folder.url("tone.mp3"), Busy()
    say(f"{extent.starts} starts of tenfour and mpv")
    turns = [[start(folder, player(url)) for player in (ours, mpv)] for _ in range(extent.starts)]
    if any(first is None for turn in turns for first in turn):
        table.add(Row("first sound", "", "nothing was heard in 10 s", False, broken=True))
        return
    after = [1000 * turn[0].after_byte for turn in turns]
    add_time(table, "MP3 over HTTP: from the first byte to sound", 150, after, busy)
    ratios = [mine.after_start / other.after_start for mine, other in turns]
    mine, other = ([1000 * turn[index].after_start for turn in turns] for index in range(2))
    table.add(Row(
        "from the start to sound, against mpv", "<= 1.2", spread(ratios), median(ratios) <= 1.2,
        f"{median(mine):.0f} ms against {median(other):.0f} ms", ratios=ratios, tenfour_ms=mine, mpv_ms=other))


class Start:
    """The seconds to the first audible frame, from the start of the process and from the server's first byte."""

    def __init__(self, begun, sent, heard):
        self.after_start, self.after_byte = heard - begun, heard - sent


def start(folder, command):
    """Analyses the wire only afterwards, so that the analysis does not slow down the start."""
    folder.requests.clear()
    begun = looked = time.monotonic()
    with Program(*command) as program:
        for _ in range(10):
            pause(1)
            now = time.monotonic()
            if heard := WIRE.first_sound(looked, now):
                return Start(begun, folder.requests[0], heard)
            looked = now
        say(f"nothing is heard of {command[0]}: {program.words()}")


def processor(table, folder, extent):
    url = folder.url("tone.mp3")
    say(f"{extent.turns} turns of tenfour and mpv, {extent.seconds} s each")
    turns = [[cost(player(url), extent.seconds) for player in (ours, mpv)] for _ in range(extent.turns)]
    mine, other = ([sum(turn[index].values()) for turn in turns] for index in range(2))
    ratios = [a / b for a, b in zip(mine, other)]
    names = sorted(turns[0][0], key=turns[0][0].get, reverse=True)
    shares = ", ".join(f"{name} {median([turn[0].get(name, 0) for turn in turns]):.2f}" for name in names)
    table.add(Row(
        "MP3 at rate 1: processor time against mpv", "<= 0.75", spread(ratios), median(ratios) <= 0.75,
        f"{median(mine):.2f} % against {median(other):.2f} % of a processor; {shares}", ratios=ratios, tenfour_percent=mine,
        mpv_percent=other))


def cost(command, seconds):
    """Returns the percent of a processor by thread name."""
    with Program(*command) as player:
        pause(RUN_IN)
        before = player.threads()
        pause(seconds)
        after = player.threads()
        if not player.runs:
            raise SystemExit(f"benchmark: {command[0]} ended: {player.words()}")
    return share(before, after, seconds)


def seeks(table, folder, extent):
    """Seeks forward by a minute and back, so that each seek leads to the other tone; within a minute the tone stays the
    same."""
    say(f"{extent.seeks} seeks")
    keyboard, terminal = pty.openpty()
    delays, busy = [], Busy()
    _, *words = ours(folder.url("minutes.mp3"))
    with Watched("play, meanwhile", *words, seconds=SEEK * extent.seeks, stdin=terminal) as player:
        pause(RUN_IN)
        for number in range(extent.seeks):
            tone = LOW if number % 2 else HIGH
            pressed = time.monotonic()
            os.write(keyboard, b"\x1b[A" if number < extent.seeks / 2 else b"\x1b[B")
            pause(SEEK)
            if heard := WIRE.first_tone(0.9 * tone, 1.1 * tone, pressed, time.monotonic()):
                delays.append(1000 * (heard - pressed))
    os.close(keyboard), os.close(terminal)
    if len(delays) < extent.seeks:
        table.add(Row("seek over HTTP", "<= 200 ms", f"{extent.seeks - len(delays)} led nowhere", False, broken=True))
    else:
        add_time(table, "seek over HTTP: from the key to the sound", 200, delays, busy)
    table.add(player.row("tf-audio-play", "playback thread"))


def memory(table, folder, extent):
    say(f"memory with {extent.megabytes} MB")
    with speech(extent.megabytes * 1e6 / 96_000) as sound:
        os.link(sound.name, folder.path / "large.wav")
    away = ["-o", "/dev/null"]
    with Program(*decoding(folder.path / "large.mp3")) as plain:
        own = max(watch(plain, 3)[0])
    table.note(f"ffmpeg -f null of the MP3: {own}")
    for name, command in (
            ("MP3 over HTTP, all decoded", ours(folder.url("large.mp3"), *away)),
            ("MP3 from a file, all decoded", ours(folder.path / "large.mp3", *away)),
            ("WAV over HTTP, all decoded", ours(folder.url("large.wav"), *away)),
            (f"MP3 over HTTP, {extent.skimmed} s at rate {RATE}", ours(folder.url("large.mp3"), "--rate", RATE))):
        with Program(*command) as player:
            sizes, seconds = watch(player, extent.skimmed if "--rate" in command else 300)
            ended = player.process.returncode
        isWhole = ended == 0 or "--rate" in command and ended is None
        if not isWhole:
            table.add(Row(f"memory, {name}", "<= ffmpeg's", "it broke off", False, player.words()[-200:], broken=True))
            continue
        half = len(sizes) // 2
        growth = max(sizes[half:]) - max(sizes[:half])
        table.add(Row(
            f"memory, {name}", f"<= {own.all:.1f} MB", str(max(sizes)), max(sizes).all <= own.all,
            f"in {seconds:.0f} s; the bound is the memory of ffmpeg for the MP3", megabytes=[size.all for size in sizes]))
        table.add(Row("  the second half over the first", "<= 1 MB", f"{growth:+.1f} MB", growth <= 1))


class Size:
    """The resident memory in MB, and the part that is not code and constants of the program and its libraries."""

    def __init__(self, everything, data):
        self.all, self.data = everything, data

    def __lt__(self, other):
        return self.all < other.all

    def __sub__(self, other):
        return self.all - other.all

    def __str__(self):
        return f"{self.all:.1f} MB, {self.data:.1f} of them data"

    @classmethod
    def of(cls, program):
        """Returns None if the program has just ended."""
        lines = dict(line.split(":", 1) for line in open(f"/proc/{program.process.pid}/status"))
        sizes = [int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon") if name in lines]
        return cls(*sizes) if sizes else None


def watch(program, atMost):
    """Samples the program's size ten times a second until it ends or the time is up. Also returns the duration in seconds."""
    begun, sizes = time.monotonic(), []
    while program.runs and time.monotonic() < begun + atMost:
        if size := Size.of(program):
            sizes.append(size)
        pause(0.1)
    return sizes, time.monotonic() - begun


def plot(table, folder, extent):
    say(f"{extent.plots} plots of an hour")
    hour = folder.path / "hour.mp3"
    turns = [[timed(command) for command in ([TENFOUR, "plot", "-q", hour], decoding(hour))] for _ in range(extent.plots)]
    mine, other = ([turn[index][0] for turn in turns] for index in range(2))
    ratios = [a / b for a, b in zip(mine, other)]
    table.add(Row(
        "plot of an hour of MP3, against decoding it", "< 1.5", spread(ratios), median(ratios) < 1.5,
        f"{median(mine):.1f} s against {median(other):.1f} s of ffmpeg -f null", ratios=ratios, tenfour_s=mine, ffmpeg_s=other))
    peak = max(turn[0][1] for turn in turns)
    table.add(Row("  memory of that", "< 40 MB", str(peak), peak.all < 40))


def timed(command):
    with Program(*command) as program:
        sizes, seconds = watch(program, 600)
        if program.process.returncode:
            raise SystemExit(f"benchmark: {command[0]} failed: {program.words()}")
    return seconds, max(sizes)


def add_time(table, name, ask, delays, busy):
    """The required value applies to an otherwise idle machine."""
    middle = median(delays)
    isVoid = middle > ask and busy.others > 0.25
    table.add(Row(
        name, f"<= {ask} ms", f"{middle:.0f} ms ({min(delays):.0f} to {max(delays):.0f})" + (", void" if isVoid else ""),
        middle <= ask, str(busy), delays_ms=delays))


def spread(ratios):
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
