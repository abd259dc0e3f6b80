"""Reads the audio on a labcard wire, exact to the frame: its file is read after the audio's time."""

import mmap
import os
import pathlib
import struct

RATE = 48_000
FRAMES = 1 << 18  # as in labcard.h: slots of a lap number and two samples; frame n plays n / 48000 s after the clock's start
SLOT = struct.Struct("<Iii")
TONE = 480  # frames over which a tone is recognised by its zero crossings


class Wire:
    def __init__(self, name):
        self.name = name

    def between(self, start, end):
        """Returns the left channel, -1 to 1, between two times of time.monotonic(), which must be past and at most two
        seconds old."""
        first, last = int(start * RATE), int(end * RATE)
        path = pathlib.Path(os.environ["LABCARD_DIR"]) / self.name
        if not path.exists():
            return [0.0] * (last - first)
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as slots:
            return [self.sample(slots, frame) for frame in range(first, last)]

    @staticmethod
    def sample(slots, frame):
        lap, left, _ = SLOT.unpack_from(slots, frame % FRAMES * SLOT.size)
        return left / (1 << 31) if lap == frame // FRAMES + 1 else 0.0

    def first_sound(self, start, end, above=0.01):
        """Returns the first time at which the level exceeds `above`; None if there is none."""
        samples = self.between(start, end)
        return next((start + index / RATE for index, sample in enumerate(samples) if abs(sample) > above), None)

    def first_tone(self, low, high, start, end):
        """Returns the first time from which a tone between two frequencies lasts a hundredth of a second; None if there is
        none."""
        samples = self.between(start, end)
        crossings = [0]
        for before, after in zip(samples, samples[1:]):
            crossings.append(crossings[-1] + ((before < 0) != (after < 0)))
        for end in range(TONE, len(samples), RATE // 1000):
            frequency = (crossings[end] - crossings[end - TONE]) * RATE / TONE / 2
            if low <= frequency <= high and max(samples[end - TONE:end]) > 0.05:
                return start + end / RATE
        return None
