#!/usr/bin/env python3
"""Measures a WAV file that should contain a steady tone, as a listener would hear it. Prints JSON.

usage: heard.py FILE.wav HERTZ

A window is 10 ms. It is heard if its level is above -34 dB (RMS 0.02). It is rough if the tone has a step in it: the
difference from a pure tone is larger than a thirtieth of the tone's amplitude.
"""
import array
import json
import math
import statistics
import struct
import sys

AUDIBLE = 0.02


def load(path):
    """The samples of a WAV file, -1 to 1, all channels mixed, and its rate."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise SystemExit(f"{path}: this is no WAV file")
    at, form, sound = 12, None, b""
    while at + 8 <= len(data):
        size = struct.unpack("<I", data[at + 4 : at + 8])[0]
        if data[at : at + 4] == b"fmt ":
            form = struct.unpack("<HHIIHH", data[at + 8 : at + 24])
        if data[at : at + 4] == b"data":
            sound = data[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    _, channels, rate, _, _, bits = form
    if bits != 16:
        raise SystemExit(f"{path}: {bits} bits; only WAV of 16 bits is read")
    samples = array.array("h", sound[: len(sound) // (2 * channels) * 2 * channels])
    if channels == 1:
        return [s / 32768 for s in samples], rate
    return [sum(samples[i : i + channels]) / channels / 32768 for i in range(0, len(samples), channels)], rate


def audible(x, rate):
    """For each window of 10 ms whether it is heard."""
    n = rate // 100
    limit = AUDIBLE * AUDIBLE * n
    return [sum(s * s for s in x[i : i + n]) > limit for i in range(0, len(x) - n + 1, n)]


def heard(x, rate):
    """Heard time in seconds, and where it begins and ends."""
    on = audible(x, rate)
    places = [i for i, v in enumerate(on) if v]
    return (len(places) / 100, places[0] / 100, (places[-1] + 1) / 100) if places else (0.0, 0.0, 0.0)


def gaps(x, rate):
    """Silence between the first and the last heard window: (begin, length) in seconds."""
    on = audible(x, rate)
    found, begin, started = [], None, False
    for i, v in enumerate(on):
        if v and begin is not None:
            found.append((begin / 100, (i - begin) / 100))
        if v:
            started, begin = True, None
        elif started and begin is None:
            begin = i
    return found


def frequency(x, rate):
    """The frequency of a tone by its upward zero crossings in what is heard; 0 if there are fewer than three."""
    n = rate // 100
    x = [s for i, on in enumerate(audible(x, rate)) for s in (x[i * n : i * n + n] if on else [0.0] * n)]
    t = [i + x[i] / (x[i] - x[i + 1]) for i in range(len(x) - 1) if x[i] < 0 <= x[i + 1]]
    periods = [b - a for a, b in zip(t, t[1:])]
    if len(periods) < 2:
        return 0.0
    middle = statistics.median_low(periods)
    return rate / statistics.mean(p for p in periods if abs(p - middle) <= middle / 20)


def rough(x, rate, hz, without=()):
    """The rough windows of a tone, and the number of windows examined. `without`: spans (begin, end) in seconds."""
    total, begin, end = heard(x, rate)
    n = rate // 100
    first, last = int(begin * 100) * n, int(end * 100) * n
    peaks = [max(map(abs, x[i : i + n])) for i in range(first, last, n)]
    if not peaks:
        return [], 0
    limit = statistics.median(peaks) / 30
    k = 2 * math.cos(2 * math.pi * hz / rate)
    places, examined = [], 0
    for i in range(first, last - n, n):
        if any(a <= i / rate < b for a, b in without):
            continue
        examined += 1
        # A pure tone of this frequency fulfils x[j+2] = k x[j+1] - x[j], whatever its amplitude and phase.
        if any(abs(c - k * b + a) > limit for a, b, c in zip(x[i : i + n], x[i + 1 : i + n + 1], x[i + 2 : i + n + 2])):
            places.append(i / rate)
    return places, examined


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    x, rate = load(sys.argv[1])
    print(json.dumps({
        "heard": heard(x, rate)[0],
        "gaps": gaps(x, rate),
        "hertz": frequency(x, rate),
        "rough": rough(x, rate, float(sys.argv[2]))[0],
        "peak": max(map(abs, x), default=0),
    }))


if __name__ == "__main__":
    main()
