"""What an open microphone costs while nobody talks (--dtx), beside speech: processor time, and what is sent."""

import array
import math
import random
import shutil
import socket
import tempfile
import threading
import wave

from cpu import Extent, share
from program import Program
from rig import TENFOUR, Busy, median, pause, say, speech
from table import Row

PORT = 6220
ASK_KILOBITS = 3
ASK_SHARE = 0.5
RUN_IN = 6  # seconds: what the canceller learns, and the level of the noise
HEADERS = 28  # bytes of IPv4 and UDP
NOISE = 10 ** (-60 / 20)  # of full scale
# The name, the options, and whether something is asked of the row.
VARIANTS = (
    ("", [], True), (", for headphones", ["--no-echo-cancel"], True), (", --denoise --agc", ["--denoise", "--agc"], False))

LONG = Extent(5, 30)
ORDINARY = Extent(3, 20)


class Sink:
    """A UDP port that counts what arrives, with the headers."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", PORT))
        self.bytes = 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            self.bytes += len(self.socket.recv(2048)) + HEADERS


def run(table, extent):
    say(f"{extent.turns} turns of silence and of speech, {extent.seconds} s each, {len(VARIANTS)} times")
    busy, sink = Busy(), Sink()
    length = extent.seconds + RUN_IN + 5
    with speech(length) as words, noise(length) as quiet:
        for name, options, isAsked in VARIANTS:
            turns = [(once(sink, quiet.name, options, extent), once(sink, words.name, options, extent)) for _ in range(extent.turns)]
            rates = [silent.kilobits for silent, _ in turns]
            ratios = [silent.percent / talking.percent for silent, talking in turns]
            if not options:
                table.add(Row(
                    "sent while nobody talks", f"<= {ASK_KILOBITS} kbit/s", f"{median(rates):.2f} kbit/s",
                    median(rates) <= ASK_KILOBITS, f"{median([talking.kilobits for _, talking in turns]):.1f} kbit/s of speech",
                    kilobits=rates))
            table.add(Row(
                f"silence against speech{name}", f"<= {ASK_SHARE}" if isAsked else "",
                f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                median(ratios) <= ASK_SHARE if isAsked else None,
                f"{median([silent.percent for silent, _ in turns]):.2f} % against "
                f"{median([talking.percent for _, talking in turns]):.2f} % of a processor",
                *(f"{word}: {threads([turn[index] for turn in turns])}" for index, word in enumerate(("silence", "speech"))),
                ratios=ratios))
    table.note(str(busy))


class Cost:
    def __init__(self, kilobits, threads):
        self.kilobits, self.threads = kilobits, threads

    @property
    def percent(self):
        return sum(self.threads.values())


def once(sink, sound, options, extent):
    command = [TENFOUR, "talk", f"127.0.0.1:{PORT}", "-p", PORT + 2, "-q", "--open", "--dtx", *options]
    with Program(*command) as talk, Program(shutil.which("aplay"), "-q", "-D", "lab_mic_in", sound):
        pause(RUN_IN)
        times, count = talk.threads(), sink.bytes
        pause(extent.seconds)
        after, sent = talk.threads(), sink.bytes - count
        if not talk.runs:
            raise SystemExit(f"benchmark: tenfour talk ended: {talk.words()}")
    return Cost(sent * 8 / extent.seconds / 1000, share(times, after, extent.seconds))


def noise(seconds):
    """Returns a WAV file of white noise as quiet as a room."""
    chance = random.Random(1)
    second = array.array("h", (round(32767 * NOISE * math.sqrt(3) * chance.uniform(-1, 1)) for _ in range(48_000)))
    path = tempfile.NamedTemporaryFile(suffix=".wav")
    with wave.open(path.name, "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))
        for _ in range(int(seconds) + 1):
            file.writeframes(second.tobytes())
    return path


def threads(costs):
    names = {name for cost in costs for name in cost.threads}
    shares = {name: median([cost.threads.get(name, 0) for cost in costs]) for name in names}
    return ", ".join(f"{name} {share:.2f}" for name, share in sorted(shares.items(), key=lambda item: -item[1]) if share >= 0.005)
