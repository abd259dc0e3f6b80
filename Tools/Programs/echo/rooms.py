"""Rooms by the image method, clocks that differ, and noise, as audio at 48 kHz."""

import numpy
from scipy.signal import butter, fftconvolve, sosfilt

RATE = 48_000
SOUND = 343.0


def impulse_response(seed, rt60=0.3, length=0.35):
    """Returns the response between a loudspeaker and a microphone in a box-shaped room, by the image method of Allen and Berkley.
    Both stand on a table, 0.3 to 0.6 m from each other. The six walls absorb equally, as much as `rt60` needs (Sabine)."""
    random = numpy.random.default_rng(seed)
    size = numpy.array([4.5, 3.6, 2.6]) * random.uniform(0.85, 1.15, 3)
    source = numpy.array([size[0] * random.uniform(0.3, 0.7), size[1] * random.uniform(0.3, 0.7), 0.8])
    angle, distance = random.uniform(0, 2 * numpy.pi), random.uniform(0.3, 0.6)
    microphone = source + numpy.array([distance * numpy.cos(angle), distance * numpy.sin(angle), random.uniform(0, 0.2)])
    volume = size.prod()
    surface = 2 * (size[0] * size[1] + size[1] * size[2] + size[0] * size[2])
    # Eyring's formula, since Sabine's makes absorbent rooms too dry.
    reflection = numpy.sqrt(numpy.exp(-0.161 * volume / (surface * rt60)))
    reach = numpy.ceil(length * SOUND / (2 * size)).astype(int)
    response = numpy.zeros(int(length * RATE) + 64)
    counts = [numpy.arange(-limit, limit + 1) for limit in reach]
    for p in numpy.ndindex(2, 2, 2):
        axes, orders = [], []
        for axis in range(3):
            axes.append((1 - 2 * p[axis]) * source[axis] + 2 * counts[axis] * size[axis] - microphone[axis])
            orders.append(numpy.abs(counts[axis] - p[axis]) + numpy.abs(counts[axis]))
        far = numpy.sqrt(axes[0][:, None, None] ** 2 + axes[1][None, :, None] ** 2 + axes[2][None, None, :] ** 2).ravel()
        order = (orders[0][:, None, None] + orders[1][None, :, None] + orders[2][None, None, :]).ravel()
        gain = reflection**order / (4 * numpy.pi * far)
        place = far / SOUND * RATE
        kept = place < length * RATE
        place, gain = place[kept], gain[kept]
        whole = place.astype(int)
        part = place - whole
        numpy.add.at(response, whole, gain * (1 - part))
        numpy.add.at(response, whole + 1, gain * part)
    # A small loudspeaker plays little below 150 Hz, and the box has no tone there either.
    response = sosfilt(butter(2, 120, "highpass", fs=RATE, output="sos"), response)
    return response[: int(length * RATE)]


def at_other_clock(samples, parts_per_million):
    """Returns `samples` as a card captures them whose clock is faster by `parts_per_million`: it takes more samples for the same
    sound. Each sample is interpolated by a windowed sinc of 32 taps."""
    if parts_per_million == 0:
        return samples
    count = int(len(samples) * (1 + parts_per_million * 1e-6))
    place = numpy.arange(count) / (1 + parts_per_million * 1e-6)
    whole = place.astype(int)
    part = place - whole
    padded = numpy.concatenate([numpy.zeros(16), samples, numpy.zeros(32)])
    result = numpy.zeros(count)
    for tap in range(-15, 17):
        offset = tap - part
        window = 0.5 + 0.5 * numpy.cos(numpy.pi * offset / 17)
        result += padded[whole + tap + 16] * numpy.sinc(offset) * window
    return result


def scaled(samples, decibels):
    """Returns `samples` with this mean level, in decibels below full scale."""
    return samples * 10 ** (decibels / 20) / max(numpy.sqrt(numpy.mean(samples**2)), 1e-9)


def pink(count, seed):
    spectrum = numpy.fft.rfft(numpy.random.default_rng(seed).standard_normal(count))
    frequency = numpy.maximum(numpy.fft.rfftfreq(count, 1 / RATE), 30)
    return numpy.fft.irfft(spectrum / numpy.sqrt(frequency), count)


def engine(count, seed):
    """A diesel engine at 1 500 rpm that wanders by 2 %: harmonics of its half turns, and the roar of its exhaust."""
    random = numpy.random.default_rng(seed)
    time = numpy.arange(count) / RATE
    speed = 25 * (1 + 0.02 * numpy.sin(2 * numpy.pi * 0.23 * time))
    phase = 2 * numpy.pi * numpy.cumsum(speed) / RATE
    sound = sum(numpy.sin(order / 2 * phase + random.uniform(0, 6.28)) / order**0.7 for order in range(1, 60))
    roar = sosfilt(butter(1, 400, fs=RATE, output="sos"), random.standard_normal(count))
    return scaled(sound, -20) + scaled(roar, -26)


def babble(count, voices):
    """Several recordings at once, each moved in time."""
    mixed = numpy.zeros(count)
    for index, voice in enumerate(voices):
        mixed += numpy.resize(numpy.roll(scaled(voice, -26), 7_919 * index), count)
    return mixed


def echo(far, response, delay_ms):
    delayed = numpy.concatenate([numpy.zeros(int(delay_ms * RATE / 1000)), far])
    return fftconvolve(delayed, response)[: len(far)]
