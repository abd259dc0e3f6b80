"""Recorded speech for the benchmarks, from Debian packages, at 48 kHz; and its PESQ-WB score."""

import glob
import os
import subprocess

import numpy
from scipy.io import wavfile
from scipy.signal import resample_poly

PACKAGES = ["asterisk-core-sounds-en-g722", "pocketsphinx-testdata", "alsa-utils", "ffmpeg"]

RATE = 48_000
SEGMENT = 7.5
# Recordings of one speaker and place are joined in a segment; shorter ones are not worth scoring. In seconds.
SHORTEST = 2.0

SOURCES = [
    "/usr/share/asterisk/sounds/en_US_f_Allison/*.g722",
    "/usr/share/pocketsphinx/test/data/librivox/*.wav",
    "/usr/share/pocketsphinx/test/data/cards/*.wav",
    "/usr/share/sounds/alsa/*.wav",
]


class Speech:
    """Segments of 7.5 s, one after another in one file."""

    def __init__(self, folder, seconds=60, skip=0):
        """`skip` segments of each source are left out, which gives other speech."""
        self.path = os.path.join(folder, f"speech-{seconds}-{skip}.wav")
        self.count = int(seconds // SEGMENT)
        if not os.path.exists(self.path):
            self._prepare(skip)
        _, samples = wavfile.read(self.path)
        self.samples = samples / 32768

    def _prepare(self, skip):
        shelves = [list(self._segments(pattern)) for pattern in SOURCES]
        shelves = [shelf[skip % len(shelf):] + shelf[:skip % len(shelf)] for shelf in shelves if shelf]
        chosen = []
        while len(chosen) < self.count:
            for shelf in shelves:
                if shelf and len(chosen) < self.count:
                    chosen.append(shelf.pop(0))
            if not any(shelves):
                raise SystemExit("there is not enough speech in " + ", ".join(SOURCES))
        sound = numpy.concatenate(chosen)
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        wavfile.write(self.path, RATE, (numpy.clip(sound, -1, 1) * 32767).astype(numpy.int16))

    @staticmethod
    def _segments(pattern):
        """Joins recordings, a third of a second apart, until a segment is full."""
        length = int(SEGMENT * RATE)
        begun = []
        for path in sorted(glob.glob(pattern)):
            sound = read(path)
            if "Noise" in path or sound is None or len(sound) < RATE / 2:
                continue
            sound = sound / max(numpy.sqrt(numpy.mean(sound**2)), 1e-6) * 10 ** (-26 / 20)
            begun += [sound[: length], numpy.zeros(RATE // 3)]
            if sum(map(len, begun)) >= length:
                yield numpy.concatenate(begun)[:length]
                begun = []

    def score(self, path, delay_ms, first=0):
        """Returns the mean MOS-LQO of the recording, which is `delay_ms` late, over the segments from `first` on that are
        complete. Returns None if PESQ finds no speech."""
        from pesq import NoUtterancesError, pesq

        heard = to16(read(path))
        own = to16(self.samples)
        shift = round(delay_ms * 16)
        length = int(SEGMENT * 16_000)
        scores = []
        for index in range(first, min(self.count, len(own) // length)):
            begin = index * length
            piece = heard[begin + shift : begin + shift + length]
            if len(piece) < length:
                break
            try:
                scores.append(pesq(16_000, own[begin : begin + length], piece, "wb"))
            except NoUtterancesError:
                continue
        return sum(scores) / len(scores) if scores else None


def to16(samples):
    return resample_poly(samples, 1, 3)


def read(path):
    """Reads any audio file as mono at 48 kHz, full scale at ±1."""
    given = ["-f", "g722"] if path.endswith(".g722") else []
    command = ["ffmpeg", "-v", "error", *given, "-i", path, "-f", "f32le", "-ac", "1", "-ar", str(RATE), "-"]
    run = subprocess.run(command, capture_output=True)
    return numpy.frombuffer(run.stdout, numpy.float32).astype(float) if run.returncode == 0 else None
