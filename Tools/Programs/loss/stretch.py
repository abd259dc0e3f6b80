"""Changes the tempo by 5 % and back, by our time-stretch, SoundTouch and sonic, on the same speech."""

import json
import os
import subprocess

import numpy
from scipy.io import wavfile

from speech import RATE, read, to16

PACKAGES = ["soundstretch", "sonic"]
PERCENT = 5
# A seam whose second differences exceed those of the surrounding audio by this much is a click.
CLICK_DB = 6

MAKERS = ["tenfour", "SoundTouch", "sonic"]


def run(speech, losslab, folder):
    """Returns one row per program: PESQ, the pitch error in cents (median and 95th percentile), and our worst seam."""
    return [_row(maker, speech, losslab, folder) for maker in MAKERS]


def _row(maker, speech, losslab, folder):
    path = os.path.join(folder, f"stretch-{maker}.wav")
    seam = None
    if maker == "tenfour":
        told = subprocess.run(
            [losslab, "stretch", speech.path, path, "--percent", str(PERCENT)], capture_output=True, check=True)
        seam = json.loads(told.stdout)["worst_seam_db"]
    else:
        between = os.path.join(folder, "stretch-between.wav")
        _other(maker, speech.path, between, 1 + PERCENT / 100)
        _other(maker, between, path, 1 / (1 + PERCENT / 100))
    sound = read(path)
    align(speech, sound, path)
    error = pitch_error(to16(speech.samples), to16(read(path)))
    return {"maker": maker, "pesq": speech.score(path, 0), "cents": error[0], "cents_p95": error[1], "seam_db": seam}


def _other(maker, source, target, tempo):
    if maker == "sonic":
        command = ["sonic", "-s", f"{tempo:.6f}", source, target]
    else:
        command = ["soundstretch", source, target, f"-tempo={(tempo - 1) * 100:.4f}", "-speech"]
    subprocess.run(command, capture_output=True, check=True)


def align(speech, sound, path):
    """Shifts all of `sound` to the best match with the speech, so that no program's own delay counts."""
    own = numpy.abs(to16(speech.samples))[::16]
    other = numpy.abs(to16(sound))[::16]
    length = max(len(own), len(other))
    size = 1 << (2 * length).bit_length()
    likeness = numpy.fft.irfft(numpy.fft.rfft(other, size) * numpy.conj(numpy.fft.rfft(own, size)))
    shift = int(numpy.argmax(likeness))
    shift = (shift - size if shift > size // 2 else shift) * RATE // 1_000
    sound = sound[shift:] if shift > 0 else numpy.concatenate([numpy.zeros(-shift), sound])
    sound = numpy.concatenate([sound, numpy.zeros(RATE // 5)])
    wavfile.write(path, RATE, (numpy.clip(sound, -1, 1) * 32767).astype(numpy.int16))


def pitch_error(own, other):
    """Returns the median and the 95th percentile of the pitch error of voiced speech, in cents. Both inputs are at 16 kHz."""
    one, two = pitches(own), pitches(other)
    length = min(len(one), len(two))
    errors = []
    for index in range(2, length - 2):
        if one[index] == 0:
            continue
        # The same position may be slightly earlier or later.
        near = [pitch for pitch in two[index - 2 : index + 3] if pitch > 0]
        if near:
            cents = min(abs(1200 * numpy.log2(pitch / one[index])) for pitch in near)
            if cents < 300:
                errors.append(cents)
    return float(numpy.median(errors)), float(numpy.percentile(errors, 95))


def pitches(sound, step=160, length=640):
    """Returns the pitch every 10 ms, from the best lag of the autocorrelation, interpolated between samples; 0 if unvoiced."""
    found = []
    for start in range(0, len(sound) - 2 * length, step):
        piece = sound[start : start + length]
        energy = float(piece @ piece)
        if energy < length * 1e-5:
            found.append(0)
            continue
        likeness = numpy.array([
            float(piece @ sound[start + lag : start + lag + length])
            / numpy.sqrt(energy * float(sound[start + lag : start + lag + length] @ sound[start + lag : start + lag + length]) + 1e-12)
            for lag in range(40, 267)])
        best = int(numpy.argmax(likeness))
        # The shortest lag with nearly the same correlation is one period; longer ones are multiples.
        for lag in range(1, best):
            if likeness[lag] > 0.9 * likeness[best] and likeness[lag - 1] <= likeness[lag] >= likeness[lag + 1]:
                best = lag
                break
        if likeness[best] < 0.8 or not 0 < best < len(likeness) - 1:
            found.append(0)
            continue
        left, middle, right = likeness[best - 1 : best + 2]
        bend = left - 2 * middle + right
        found.append(16_000 / (40 + best + (0.5 * (left - right) / bend if bend else 0)))
    return found
