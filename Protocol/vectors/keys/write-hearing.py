"""Writes the test vectors session-hearing* of Protocol/06-control.md, "Who hears the talker", into its own folder, from that page
(needs python3-cryptography). The records follow those of session.json in its session.

usage: python3 Protocol/vectors/keys/write-hearing.py
"""
import json
import pathlib
import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

FOLDER = pathlib.Path(__file__).resolve().parent
SESSION = json.loads((FOLDER / "session.json").read_text())
# The last counters of the records before: session-floor-request and session-floor-granted.
COUNTERS = {"member": 8, "relay": 9}


def store(name, side, about, body):
    COUNTERS[side] += 1
    counter = COUNTERS[side]
    head = bytes([0x63, 1, 6, 0]) + bytes.fromhex(SESSION["session"]) + struct.pack(">Q", counter)
    key = ChaCha20Poly1305(bytes.fromhex(SESSION[side + "Control"]))
    sealed = key.encrypt(bytes(4) + struct.pack(">Q", counter), body, head)
    (FOLDER / f"session-{name}.bin").write_bytes(head + sealed)
    meaning = {"kind": "session", "about": about, "source": "06-control.md"}
    (FOLDER / f"session-{name}.json").write_text(json.dumps(meaning, indent=2) + "\n")


def playout(ssrc, missing, highest):
    return struct.pack(">IBBH", ssrc, missing, 0, highest)


def entry(member, output, age, missing=0, highest=0):
    return struct.pack(">IBBH", member, output << 6 | age, missing, highest)


def main():
    ssrc = SESSION["ssrc"]
    store("hearing-request", "relay", "two talkers transmit", bytes([23, 10, 10]) + struct.pack(">II", ssrc, 0xFFFFFFFF))
    store("hearing-end", "relay", "nobody transmits any more", bytes([23, 10, 10]))
    store("hearing", "member", "urgent: a tenth of one talker is missing, and another has just passed the wrap",
          bytes([24, 0x80]) + playout(ssrc, 26, 65_535) + playout(0xFFFFFFFF, 0, 3))
    store("hearing-muted", "member", "muted, and nothing has come", bytes([24, 1]))
    store("hearing-list", "relay", "of 40 members four were asked: one hears, one is muted, to one nothing came, one never answered",
          bytes([26]) + struct.pack(">II", ssrc, 40) + entry(5, 0, 3, 26, 65_535) + entry(6, 1, 62, 0, 65_530)
          + entry(7, 3, 0) + entry(8, 0, 63))


main()
