#!/usr/bin/python3
"""Writes the vectors trailer-* of the section "The relay's trailer" in Protocol/13-members.md: an implementation of its own,
which shares no code with tenfour. The session is that of second.json.

usage: write-trailer.py      (writes the files beside it)
"""
import hashlib
import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
MASK = 2**64 - 1


def siphash(key, data):
    """SipHash-2-4, from the pseudocode of Aumasson and Bernstein."""
    k0, k1 = struct.unpack("<2Q", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x, count):
        return (x << count | x >> (64 - count)) & MASK

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[2] = (v[2] + v[3]) & MASK
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[1]) & MASK
            v[0] = (v[0] + v[3]) & MASK
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])


# The vector of the paper's appendix A.
assert siphash(bytes(range(16)), bytes(range(15))).hex() == "e545be4961ca29a1"


def trailer(key, packet, counter):
    digest = hashlib.blake2b(packet, digest_size=16).digest()
    number = struct.pack(">I", counter)
    return digest, number + siphash(key, digest + number)


def main():
    key = bytes.fromhex(json.loads((HERE / "second.json").read_text())["relayHop"])
    media = bytes.fromhex("806f0007000013c000000009") + b"".join(
        hashlib.sha256(b"vector: media" + bytes([number])).digest() for number in range(3))
    announcement = (HERE.parent / "keys/session-announcement.bin").read_bytes()
    assert len(announcement) == 56
    datagrams = []
    for name, packet, counter in [
        ("trailer-media", media, 0), ("trailer-announcement", announcement, 1),
        ("trailer-announcement-repeated", announcement, 2**31), ("trailer-media-repeated", media, 2**31 + 1),
    ]:
        digest, end = trailer(key, packet, counter)
        (HERE / f"{name}.bin").write_bytes(packet + end)
        datagrams.append({"file": name, "counter": counter, "packetHash": digest.hex()})
    (HERE / "trailer.json").write_text(json.dumps({
        "kind": "members", "about": "datagrams from the relay in the session of second.json", "source": "13-members.md",
        "relayHop": key.hex(), "datagrams": datagrams,
    }, indent=2) + "\n")


main()
