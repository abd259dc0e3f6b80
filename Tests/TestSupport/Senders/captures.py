#!/usr/bin/env python3
"""Writes captures of what the senders of other programs do, each of a steady tone, into a folder.

usage: captures.py FOLDER senders|steps

It needs libopus. All tones have the amplitude 0.3 (-10.5 dB). RTP goes from 127.0.0.1:40000 to 127.0.0.2:6100.
"""
import array
import ctypes
import math
import random
import struct
import sys


def tone(hz, count, rate=48000, start=0):
    """`count` samples of a sine as 16-bit integers; `start` is the number of its first sample."""
    return array.array("h", (round(9830 * math.sin(2 * math.pi * hz * (start + i) / rate)) for i in range(count)))


class Opus:
    """An Opus encoder of libopus, for one mono stream."""

    def __init__(self, bitrate):
        self.lib = ctypes.CDLL("libopus.so.0")
        self.lib.opus_encoder_create.restype = ctypes.c_void_p
        error = ctypes.c_int()
        self.state = ctypes.c_void_p(self.lib.opus_encoder_create(48000, 1, 2048, ctypes.byref(error)))
        assert error.value == 0
        self.lib.opus_encoder_ctl(self.state, ctypes.c_int(4002), ctypes.c_int(bitrate))

    def encode(self, samples):
        packet = ctypes.create_string_buffer(4000)
        pcm = (ctypes.c_int16 * len(samples)).from_buffer(samples)
        size = self.lib.opus_encode(self.state, pcm, len(samples), packet, 4000)
        assert size > 0, size
        return packet.raw[:size]


def opus_tone(seconds, hz=440, ms=20, bitrate=64000):
    """The Opus packets of a tone."""
    encoder, n = Opus(bitrate), 48 * ms
    return [encoder.encode(tone(hz, n, start=i * n)) for i in range(round(seconds * 1000 / ms))]


def mu_law(sample):
    sign, size = (0x80 if sample < 0 else 0), min(abs(sample), 32635) + 132
    exponent = size.bit_length() - 8
    return ~(sign | exponent << 4 | size >> exponent + 3 & 15) & 255


def pcmu_tone(seconds, hz=440, ms=20):
    """The PCMU packets of a tone."""
    n = 8 * ms
    return [bytes(map(mu_law, tone(hz, n, 8000, i * n))) for i in range(round(seconds * 1000 / ms))]


def rtp(type, sequence, timestamp, payload, ssrc=0x1234, marker=False):
    head = struct.pack("!BBHII", 0x80, marker << 7 | type, sequence & 0xFFFF, timestamp & 0xFFFFFFFF, ssrc)
    return head + payload


def stream(payloads, type, ticks, times, offsets=None, ssrc=0x1234, sequence=100, timestamp=5000):
    """A plan [(time, packet)] of a stream whose timestamps advance by `ticks` per packet, plus `offsets`."""
    return [
        (times[i], rtp(type, sequence + i, timestamp + i * ticks + (offsets[i] if offsets else 0), p, ssrc, i == 0))
        for i, p in enumerate(payloads)
    ]


def regular(count, ms=20, steps=(), jitter=0.0, seed=1):
    """Arrival times in seconds: regular, and from each step (at second, by ms) on later by its ms, for good.
    `jitter` is the mean of a random delay in ms; no packet overtakes another."""
    chance, times, last = random.Random(seed), [], 0.0
    for i in range(count):
        time = i * ms / 1000 + sum(by / 1000 for at, by in steps if i * ms >= at * 1000)
        last = max(last, time + (chance.gammavariate(1.5, jitter / 1500) if jitter else 0))
        times.append(last)
    return times


def capture(path, *plans, ports=(40000, 40002, 40004), port=6100):
    """Writes the plans, each from a port of its own, as a pcap file of raw IP packets."""
    packets = sorted((time, ports[k], data) for k, plan in enumerate(plans) for time, data in plan)
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for time, source, data in packets:
            udp = struct.pack("!HHHH", source, port, 8 + len(data), 0) + data
            ends = bytes([127, 0, 0, 1, 127, 0, 0, 2])
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + ends + udp
            us = round((1000 + time) * 1e6)
            file.write(struct.pack("<IIII", us // 1000000, us % 1000000, len(ip), len(ip)) + ip)


def event(digit, elapsed, ended=False):
    """A telephone event of RFC 4733, at 10 dB below full scale."""
    return struct.pack("!BBH", digit, ended << 7 | 10, elapsed)


def phone(count, digits=(), pauses=(), every=10, stopped=False, event_type=101):
    """A plan of PCMU packets of 20 ms. `digits`: (first, last + 1, digit) in packets; the digit replaces the sound.
    `pauses`: (first, last + 1); a packet of comfort noise (type 13) opens each, and follows each `every` packets.
    With `stopped`, the timestamps stand still during a digit."""
    sound, plan, sequence, clock = pcmu_tone(count / 50), [], 100, 5000
    for i in range(count):
        digit = next((d for d in digits if d[0] <= i < d[1]), None)
        pause = next((p for p in pauses if p[0] <= i < p[1]), None)
        first = i == 0 or any(i == d[1] for d in (*digits, *pauses))
        packet = None
        if digit:
            k, ended = i - digit[0], i >= digit[1] - 3
            start = clock if stopped else clock - k * 160
            elapsed = (min(k, digit[1] - digit[0] - 3) + 1) * 160
            packet = rtp(event_type, sequence, start, event(digit[2], elapsed, ended), marker=k == 0)
        elif pause:
            if (i - pause[0]) % every == 0:
                packet = rtp(13, sequence, clock, bytes([60]))
        else:
            packet = rtp(0, sequence, clock, sound[i], marker=first)
        if packet:
            plan.append((i * 0.02, packet))
            sequence += 1
        if not (digit and stopped):
            clock += 160
    return plan


def write_senders(folder):
    opus, pcmu = opus_tone(8), pcmu_tone(8)
    even = regular(400)
    capture(folder + "/clean-opus.pcap", stream(opus, 111, 960, even))
    capture(folder + "/clean-pcmu.pcap", stream(pcmu, 0, 160, even))
    chance = random.Random(1)
    for n in (1, 9):
        offsets = [chance.randint(-n, n) for _ in opus]
        capture(f"{folder}/timestamps-off-by-{n}-opus.pcap", stream(opus, 111, 960, even, offsets))
    offsets = [chance.choice((-8, 0, 0, 0, 8)) for _ in pcmu]
    capture(folder + "/timestamps-off-by-8-pcmu.pcap", stream(pcmu, 0, 160, even, offsets))
    capture(folder + "/clock-8000.pcap", stream(opus, 111, 160, even))
    capture(folder + "/clock-24000.pcap", stream(opus, 111, 480, even))

    capture(folder + "/digits.pcap", phone(400, digits=[(150, 160, 5), (250, 262, 9)]))
    dialled = [(at, at + 10, digit) for at, digit in zip(range(50, 350, 25), (0, 6, 2, 1, 8, 8, 3, 4, 7, 10, 9, 11))]
    capture(folder + "/dialled.pcap", phone(400, digits=dialled))
    capture(folder + "/comfort-noise.pcap", phone(500, pauses=[(k + 50, k + 100) for k in range(0, 500, 100)]))
    digits = [(at, at + 15, 5) for at in (100, 200, 300)]
    capture(folder + "/digits-stopped-clock.pcap", phone(500, digits=digits, stopped=True))

    low = stream(opus_tone(6), 111, 960, regular(300), ssrc=0xAAAA)
    high = stream(
        opus_tone(6, 880), 111, 960, [2 + t for t in regular(300)], ssrc=0xAAAA, sequence=500, timestamp=77777
    )
    capture(folder + "/one-ssrc-two-senders.pcap", low, high)
    burst = opus_tone(12)
    capture(folder + "/burst.pcap", stream(burst, 111, 960, [i * 0.0005 for i in range(len(burst))]))


def write_steps(folder):
    """Regular streams whose packets come later by a step from a moment on, for good, as after a change of the route. The
    tone decides where the receiver joins the audio after it, so there are several."""
    for name, payloads, type, ticks in (
        ("pcmu-500", pcmu_tone(30, 500), 0, 160),
        ("opus-440", opus_tone(30, 440), 111, 960),
        ("opus-620", opus_tone(30, 620), 111, 960),
    ):
        for step in (5, 20, 60, 150):
            for jitter in (0, 0.05, 0.1):
                times = regular(1000, steps=[(8, step)], jitter=jitter)
                path = f"{folder}/step-{step}ms-jitter-{jitter * 1000:.0f}us-{name}.pcap"
                capture(path, stream(payloads[:1000], type, ticks, times, timestamp=0))
        for count, places in (("two", (8, 10)), ("five", (2, 4, 6, 8, 10))):
            times = regular(1500, steps=[(at, 60) for at in places])
            capture(f"{folder}/{count}-steps-60ms-{name}.pcap", stream(payloads, type, ticks, times, timestamp=0))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in ("senders", "steps"):
        raise SystemExit(__doc__)
    (write_steps if sys.argv[2] == "steps" else write_senders)(sys.argv[1])
