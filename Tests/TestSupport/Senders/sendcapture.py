#!/usr/bin/env python3
"""Sends the packets of a capture that captures.py wrote, at their times, to a port of this machine.

usage: sendcapture.py CAPTURE PORT

Each source port of the capture becomes a socket of its own. At the end it prints what the receiver reported by RTCP:
the largest fraction of lost packets in a report, and the cumulative number at the end. The last number is the time for which
the machine held packets back.
"""
import select
import socket
import struct
import sys
import time


def packets(path):
    """(time, source port, RTP packet) of each packet; the time counts from the first."""
    with open(path, "rb") as file:
        data = file.read()
    at, first = 24, None
    while at < len(data):
        seconds, us, size, _ = struct.unpack("<IIII", data[at : at + 16])
        ip = data[at + 16 : at + 16 + size]
        moment = seconds + us / 1e6
        first = moment if first is None else first
        yield moment - first, struct.unpack("!H", ip[20:22])[0], ip[28:]
        at += 16 + size


def reports(data):
    """(fraction lost, cumulative number lost) of each report block in an RTCP packet."""
    at = 0
    while at + 8 <= len(data):
        count, kind, words = data[at] & 31, data[at + 1], struct.unpack("!H", data[at + 2 : at + 4])[0]
        begin = at + {200: 28, 201: 8}.get(kind, len(data))
        for block in range(begin, begin + 24 * count, 24):
            if block + 24 <= len(data):
                yield data[block + 4] / 256, int.from_bytes(data[block + 5 : block + 8], "big", signed=True)
        at += 4 * words + 4


def send(path, port, host="127.0.0.1"):
    """Sends the capture, and returns (largest fraction lost, cumulative number lost, number of reports, seconds by which
    packets were held back)."""
    sockets, begin, told = {}, time.monotonic(), []
    late, held = 0.0, 0.0

    def listen(until):
        while True:
            rest = until - time.monotonic()
            ready = select.select(list(sockets.values()), [], [], max(rest, 0))[0]
            for one in ready:
                try:
                    told.extend(reports(one.recv(2000)))
                except OSError:
                    pass
            if rest <= 0:
                return

    for moment, source, data in packets(path):
        if source not in sockets:
            sockets[source] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sockets[source].bind((host, 0))
            sockets[source].connect((host, port))
        listen(begin + moment)
        before, late = late, time.monotonic() - begin - moment
        held += late - before if late - before > 0.005 else 0
        try:
            sockets[source].send(data)
        except OSError:
            pass
    listen(time.monotonic() + 0.5)
    return max((f for f, _ in told), default=0.0), told[-1][1] if told else 0, len(told), held


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    fraction, lost, count, held = send(sys.argv[1], int(sys.argv[2]))
    print(f"{count} reports: largest fraction lost {fraction:.3f}, cumulative {lost}, held back for {held:.3f} s")
