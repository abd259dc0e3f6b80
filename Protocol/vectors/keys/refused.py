#!/usr/bin/env python3
"""Writes session-refused*.bin: records REFUSED of page 06, sealed under the keys in session.json, as the first record of
the relay. Needs the package cryptography."""
import json
import pathlib
import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

folder = pathlib.Path(__file__).parent
inputs = json.loads((folder / "session.json").read_text())


def write(name, about, entries):
    head = b"c" + bytes([1, 6, 0]) + bytes.fromhex(inputs["session"]) + struct.pack(">Q", 1)
    record = bytes([25]) + b"".join(struct.pack(">BI", reason, count) for reason, count in entries)
    key = ChaCha20Poly1305(bytes.fromhex(inputs["relayControl"]))
    sealed = key.encrypt(bytes(4) + struct.pack(">Q", 1), record, head)
    (folder / f"{name}.bin").write_bytes(head + sealed)
    meaning = {"kind": "session", "about": about, "source": "06-control.md"}
    (folder / f"{name}.json").write_text(json.dumps(meaning, indent=2) + "\n")


write("session-refused", "refused: reason 1 three times, reason 3 70 000 times", [(1, 3), (3, 70_000)])
write("session-refused-unknown", "refused: reason 2 once, and reason 200, which nobody knows", [(2, 1), (200, 5)])
