"""What a microphone hears in a room with a loudspeaker, and how well the echo is removed from it."""

import os
import subprocess

import numpy
from rooms import RATE, at_other_clock, echo, impulse_response, scaled
from scipy.signal import resample_poly

# The part of the delay that the cards do not know of, in ms: their converters, and the way through the air.
UNKNOWN = 10
# The other end is silent at first, while the cards' clocks become known. In seconds.
BEGIN = 5
# The near end talks from here on, after the other end has talked alone.
DOUBLE = BEGIN + 7.5
# ERLE is measured from 3 s after the first echo on.
JUDGED = BEGIN + 3
# Times of cards are this wrong, in ms.
JITTER = 0.2


class Scene:
    """Speech of the far end through a room, with a delay and a drift between the cards, and a talker at the near end."""

    def __init__(self, far, near, seed, delay, drift):
        self.delay, self.drift, self.seed = delay, drift, seed
        silence = numpy.zeros(BEGIN * RATE)
        self.played = numpy.concatenate([silence, far])
        room = impulse_response(seed)
        heard = scaled(echo(self.played, room, delay + UNKNOWN), -30)
        heard = at_other_clock(heard, drift)[: len(self.played)]
        self.echo = numpy.pad(heard, (0, len(self.played) - len(heard)))
        # The noise of a good microphone.
        self.noise = numpy.random.default_rng(seed).standard_normal(len(self.played)) * 10 ** (-85 / 20)
        near = scaled(near, -30)
        self.near = numpy.concatenate([silence, near[: len(far)]])
        self.near[: int(DOUBLE * RATE)] = 0
        # What the peers get as reference, if they knew what the cards know.
        self.aligned = numpy.concatenate([numpy.zeros(int(delay * RATE / 1000)), self.played])[: len(self.played)]


class Cancellers:
    """The programs under test. Each returns what is left of a microphone's audio."""

    def __init__(self, lab, peers, folder):
        self.lab, self.peers, self.folder = lab, peers, folder

    def _run(self, command, microphone, reference):
        paths = [os.path.join(self.folder, f"{name}-{os.getpid()}.f32") for name in ("microphone", "reference", "out")]
        microphone.astype("f4").tofile(paths[0])
        reference.astype("f4").tofile(paths[1])
        run = subprocess.run(command(*paths), capture_output=True, text=True)
        if run.returncode:
            raise SystemExit(f"benchmark: {run.stderr}")
        out = numpy.fromfile(paths[2], "f4").astype(float)
        return numpy.pad(out, (0, max(0, len(microphone) - len(out)))), float(run.stdout.split()[0])

    def tenfour(self, microphone, reference, *options):
        return self._run(lambda a, b, c: [self.lab, a, b, c, *options], microphone, reference)

    def speex(self, microphone, reference):
        return self._run(lambda a, b, c: [self.peers, "speex", "200", a, b, c], microphone, reference)

    def pipewire(self, microphone, reference):
        return self._run(lambda a, b, c: [self.peers, "pipewire", "0", a, b, c], microphone, reference)

    def denoise(self, microphone):
        return self._run(lambda a, b, c: [self.peers, "denoise", "0", a, b, c], microphone, microphone)


def decibels(samples):
    return 10 * numpy.log10(numpy.mean(samples**2) + 1e-12)


def return_loss(before, after):
    """Returns the echo return loss enhancement (ERLE): by how many decibels the echo is weaker afterwards."""
    part = slice(int(JUDGED * RATE), len(before) - RATE // 2)
    return decibels(before[part]) - decibels(after[part])


def lag(clean, heard):
    """Returns by how many samples `heard` is late, up to 100 ms."""
    size = 1 << (len(clean) * 2 - 1).bit_length()
    spectrum = numpy.fft.rfft(heard, size) * numpy.conj(numpy.fft.rfft(clean, size))
    return int(numpy.argmax(numpy.fft.irfft(spectrum, size)[: RATE // 10]))


def score(clean, heard, begin, segment=7.5):
    """Returns the mean PESQ-WB of `heard`, in segments of 7.5 s from `begin` (in seconds) on."""
    from pesq import NoUtterancesError, pesq

    first, late = int(begin * RATE), lag(clean[int(begin * RATE):], heard[int(begin * RATE):])
    length, scores = int(segment * RATE), []
    while first + length <= len(clean):
        stop = min(first + length, len(heard) - late)
        own, other = clean[first:stop], heard[first + late : stop + late]
        try:
            scores.append(pesq(16_000, resample_poly(own, 1, 3), resample_poly(other, 1, 3), "wb"))
        except NoUtterancesError:
            pass
        first += length
    return sum(scores) / len(scores)
