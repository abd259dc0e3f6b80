"""Speech at other rates, by our time-pitch, mpv's scaletempo2, SoundTouch and sonic."""

import os
import subprocess

import numpy

from speech import read
from stretch import align

PACKAGES = ["mpv", "soundstretch", "sonic"]
RATES = [0.75, 1.5]

COMMANDS = {
    "tenfour": lambda losslab, source, target, rate: [losslab, "pitch", source, target, "--rate", f"{rate:.6f}"],
    "scaletempo2": lambda losslab, source, target, rate: [
        "mpv", "--no-config", "--no-video", "--af=scaletempo2", f"--speed={rate:.6f}", "--ao=pcm", f"--ao-pcm-file={target}",
        "--audio-format=s16", source],
    "SoundTouch": lambda losslab, source, target, rate: [
        "soundstretch", source, target, f"-tempo={(rate - 1) * 100:.4f}", "-speech"],
    "sonic": lambda losslab, source, target, rate: ["sonic", "-s", f"{rate:.6f}", source, target],
}


def run(speech, losslab, folder, rate):
    """Returns one row per program: PESQ after both conversions; the spectral distance and the error in length after the
    first only."""
    rows = []
    for maker, command in COMMANDS.items():
        there, back = (os.path.join(folder, f"pitch-{maker}-{name}.wav") for name in ("there", "back"))
        for source, target, tempo in ((speech.path, there, rate), (there, back, 1 / rate)):
            subprocess.run(command(losslab, source, target, tempo), capture_output=True, check=True)
        scaled = read(there)
        align(speech, read(back), back)
        rows.append({
            "maker": maker, "pesq": speech.score(back, 0), "distance_db": distance(speech.samples, scaled, rate),
            "tempo_error": len(scaled) * rate / len(speech.samples) - 1})
    return rows


def distance(source, scaled, rate, window=1024, step=480, search=1440):
    """Returns the mean spectral distance, over windows, to the most similar window within 30 ms of the expected position, in
    dB."""
    centres = numpy.arange(step * 20, len(scaled) - step * 20, step)
    spectra = _spectra(scaled, window, centres)
    best = numpy.full(len(centres), numpy.inf)
    loudest = numpy.zeros(len(centres))
    for offset in range(-search, search + 1, 240):
        other = _spectra(source, window, centres * rate + offset)
        top = other.max(axis=1)
        floor = numpy.maximum(top * 1e-2, 1e-3)[:, None]
        apart = 20 * numpy.log10(numpy.maximum(spectra, floor) / numpy.maximum(other, floor))
        best = numpy.minimum(best, numpy.sqrt((apart[:, :340] ** 2).mean(axis=1)))
        loudest = numpy.maximum(loudest, top)
    return float(best[loudest > 1].mean())


def _spectra(sound, window, centres):
    padded = numpy.concatenate([numpy.zeros(window), sound, numpy.zeros(window)])
    starts = numpy.clip(numpy.round(centres).astype(int) + window // 2, 0, len(padded) - window)
    return numpy.abs(numpy.fft.rfft(numpy.stack([padded[start : start + window] for start in starts]) * numpy.hanning(window), axis=1))
