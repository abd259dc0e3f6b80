"""What sounds on a wire of labcard, to the frame: its file is read after the time of what is in it."""

import mmap
import os
import pathlib
import struct

RATE = 48_000
FRAMES = 1 << 18  # as in labcard.h: slots of a lap number and two samples, and frame n sounds n / 48000 s after the clock's start
SLOT = struct.Struct("<Iii")
TONE = 480  # frames in which a tone is told by how often it crosses zero


class Wire:
    def __init__(self, name):
        self.name = name

    def between(self, start, end):
        """The left channel, -1 to 1, between two moments of time.monotonic(): not of the future, nor older than two seconds."""
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
        """When it first is louder than that; None where it is not."""
        samples = self.between(start, end)
        return next((start + index / RATE for index, sample in enumerate(samples) if abs(sample) > above), None)

    def first_tone(self, low, high, start, end):
        """When a hundredth of a second first is filled by a tone between two frequencies; None where none is."""
        samples = self.between(start, end)
        crossings = [0]
        for before, after in zip(samples, samples[1:]):
            crossings.append(crossings[-1] + ((before < 0) != (after < 0)))
        for end in range(TONE, len(samples), RATE // 1000):
            frequency = (crossings[end] - crossings[end - TONE]) * RATE / TONE / 2
            if low <= frequency <= high and max(samples[end - TONE:end]) > 0.05:
                return start + end / RATE
        return None
