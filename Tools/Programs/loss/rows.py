"""The requirements for bad networks, and the commands that measure them."""


class LossRow:
    """Speech over a lossy network. `ours` are tenfour's arguments; `ideal` is the best that libopus achieves with the same
    scheme, if a scheme is fixed. Required are a minimum PESQ score, and maximum bit rates and playout delays. `peer` is
    GStreamer's configuration: the same bit rate, with in-band FEC."""

    def __init__(self, network, ask, kbit_s, depth_ms, ours, ideal, *, peer):
        self.network, self.ask, self.kbit_s, self.depth_ms, self.peer = network, ask, kbit_s, depth_ms, peer
        self.ours, self.ideal = ours, ideal


def plain(bit_rate, *words):
    """One direction, no feedback, fixed scheme: ours and the ideal receiver on the same packets."""
    scheme = ["--bitrate", str(bit_rate), *words]
    return ["receive", *scheme], ["receive", *scheme, "--receiver", "ideal"]


def call(bit_rate, depth, defence, *ideal):
    """Two stations with a round trip of 40 ms; playout delays above 100 ms use --profile quality. The ideal receiver gets
    the scheme that scores best there."""
    ours = ["call", "--bitrate", str(bit_rate), "--rtt", "40", "--max-latency", str(depth), "--defence", defence]
    if depth > 100:
        ours.append("--quality")
    return ours, ["receive", "--receiver", "ideal", *ideal]


NACK = ["--bitrate", "23000", "--rtt", "40"]
BOTH = ["--bitrate", "16000", "--copy", "1", "--rtt", "40"]

CLEAN = ["--bitrate", "24000"]
FEC = ["--bitrate", "24000", "--expect-loss", "10"]
FEC_32 = ["--bitrate", "32000", "--expect-loss", "10"]
FEC_48 = ["--bitrate", "48000", "--expect-loss", "10"]

LOSS = [
    LossRow("b0", 4.25, 25, 25, *plain(24_000), peer=CLEAN),
    LossRow("b5", 3.6, 26, 30, *plain(24_000, "--expect-loss", "10"), peer=FEC),
    LossRow("b10", 3.4, 26, 30, *plain(24_000, "--expect-loss", "10"), peer=FEC),
    LossRow("b20", 2.6, 26, 30, *plain(24_000, "--expect-loss", "10"), peer=FEC),
    LossRow("g10", 2.4, 26, 30, *plain(24_000, "--expect-loss", "10"), peer=FEC),
    LossRow("b5", 3.6, 26, 30, *plain(12_000, "--copy", "1"), peer=FEC),
    LossRow("b10", 3.4, 26, 30, *plain(12_000, "--copy", "1"), peer=FEC),
    LossRow("b5", 3.8, 34, 30, *plain(16_000, "--copy", "1"), peer=FEC_32),
    LossRow("b10", 3.6, 34, 30, *plain(16_000, "--copy", "1"), peer=FEC_32),
    LossRow("b20", 2.6, 34, 30, *plain(16_000, "--copy", "1"), peer=FEC_32),
    LossRow("b5", 4.1, 50, 30, *plain(24_000, "--copy", "1"), peer=FEC_48),
    LossRow("b10", 3.9, 50, 30, *plain(24_000, "--copy", "1"), peer=FEC_48),
    LossRow("b5", 4.0, 27.6, 100, *call(24_000, 100, "nack", *NACK), peer=FEC),
    LossRow("b10", 3.55, 27.6, 100, *call(24_000, 100, "nack", *NACK), peer=FEC),
    LossRow("g10", 2.95, 27.6, 100, *call(24_000, 100, "nack", *NACK), peer=FEC),
    LossRow("b10", 4.2, 27.6, 200, *call(24_000, 200, "nack", *NACK), peer=FEC),
    LossRow("b20", 3.6, 27.6, 200, *call(24_000, 200, "nack", *NACK), peer=FEC),
    LossRow("g10", 4.0, 27.6, 200, *call(24_000, 200, "nack", *NACK), peer=FEC),
    LossRow("b10", 3.9, 39, 100, *call(34_000, 100, "auto", *BOTH), peer=FEC_32),
    LossRow("b20", 3.3, 39, 100, *call(34_000, 100, "auto", *BOTH), peer=FEC_32),
    LossRow("g10", 2.9, 39, 100, *call(34_000, 100, "auto", *BOTH), peer=FEC_32),
]

# Rows with in-band FEC and concealment only, in which a decoder's neural models make a difference.
CONCEALED = [row for row in LOSS if "--expect-loss" in row.ours]
# These rows, and those with copies or retransmissions.
DEFENDED = [row for row in LOSS if row in CONCEALED or "--copy" in row.ours or "nack" in row.ours]

AUTO = [
    ("b5", 24_000, 100, []),
    ("b10", 24_000, 100, []),
    ("g10", 24_000, 100, []),
    ("b10", 24_000, 200, ["--quality"]),
    ("b20", 24_000, 200, ["--quality"]),
    ("g10", 24_000, 200, ["--quality"]),
    ("b10", 34_000, 100, []),
    ("b20", 34_000, 100, []),
    ("g10", 34_000, 100, []),
]

# Networks that only delay. All of them are compared with NetEQ.
JITTER = ["j10", "j30", "gam", "par", "wifi-lab", "step"]
