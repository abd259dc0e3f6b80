#!/usr/bin/python3
"""Writes the vectors of Protocol/15-direct.md: an implementation of its own, which shares no code with tenfour.

usage: write.py      (needs python3-cryptography; writes the files beside it)
"""
import hashlib
import hmac
import ipaddress
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

HERE = pathlib.Path(__file__).resolve().parent


def sha256(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def expand(key, label):
    """One block of HKDF-Expand: 32 bytes."""
    return mac(key, label + b"\x01")


def address(text, port):
    parsed = ipaddress.ip_address(text)
    return bytes([parsed.version]) + parsed.packed.ljust(16, b"\0") + struct.pack(">H", port)


seeds = {name: sha256(b"vector " + name.encode()) for name in ["anna", "bob"]}
# The X25519 secret key of an identity (13): X25519 itself clamps it.
anna, bob = (X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32]) for seed in seeds.values())
channel = bytes.fromhex("5a1f0c3be29d47880a6be1c4f27d9035")
ANNA, BOB = 1, 9
salts = {ANNA: sha256(b"vector salt of anna")[:16], BOB: sha256(b"vector salt of bob")[:16]}

pair_salt = b"tenfour 1 pair" + channel + struct.pack(">HH", ANNA, BOB)
pair_root = mac(pair_salt, anna.exchange(bob.public_key()))


def candidate_key(sender):
    return expand(pair_root, b"candidates" + struct.pack(">H", sender) + salts[sender])


def probe_key(sender, receiver):
    return expand(pair_root, b"probe" + struct.pack(">H", sender) + salts[sender] + salts[receiver])


def candidates(sender, receiver, counter, addresses):
    plain = (bytes([len(addresses) - 1]) + b"".join(addresses) if addresses else b"").ljust(172, b"\0")
    nonce = b"\0\0\0\0" + struct.pack(">Q", counter)
    sealed = ChaCha20Poly1305(candidate_key(sender)).encrypt(nonce, plain, None)
    return plain, b"\x17" + struct.pack(">H", receiver) + salts[sender] + struct.pack(">Q", counter) + sealed


def probe(sender, receiver, counter, number, echo):
    head = b"c\x01\x0f\x00" + struct.pack(">HHQ", sender, receiver, counter) + number.to_bytes(7, "big") + bytes([echo])
    return head + mac(probe_key(sender, receiver), head)[:16]


offered = [
    address("203.0.113.9", 40_000),  # the relay's view
    address("192.168.1.20", 5004),
    address("2001:db8::20", 5004),
    address("::ffff:198.51.100.7", 5004),
    address("64:ff9b::198.51.100.8", 5004),
]
plain, sealed = candidates(ANNA, BOB, 3, offered)
withdrawn_plain, withdrawn = candidates(ANNA, BOB, 4, [])
number = 0x0102_0304_0506_07
inputs = {
    "channelID": channel.hex(),
    "seeds": {name: seed.hex() for name, seed in seeds.items()},
    "indexes": {"anna": ANNA, "bob": BOB},
    "salts": {"anna": salts[ANNA].hex(), "bob": salts[BOB].hex()},
    "candidateKeys": {"anna": candidate_key(ANNA).hex(), "bob": candidate_key(BOB).hex()},
    "probeKeys": {"anna": probe_key(ANNA, BOB).hex(), "bob": probe_key(BOB, ANNA).hex()},
    "number": number,
}
files = {
    "candidates-plain": plain,
    "candidates": sealed,
    "candidates-withdrawn": withdrawn,
    "probe": probe(ANNA, BOB, 258, number, 0),
    "echo": probe(BOB, ANNA, 77, number, 1),
    "limited-media": b"\x18" + struct.pack(">IBBHH", 6, 1, 2, 3, BOB),
    "members": b"\x18" + struct.pack(">IB", 3, 3) + struct.pack(">HBHBHB", ANNA, 0, 3, 1, BOB, 0),
}
(HERE / "direct.json").write_text(json.dumps(inputs, indent=4) + "\n")
for name, data in files.items():
    (HERE / f"{name}.bin").write_bytes(data)
