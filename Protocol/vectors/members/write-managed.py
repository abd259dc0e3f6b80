#!/usr/bin/python3
"""Writes the vectors managed-* of Protocol/13-members.md and 14-group-secrets.md: an implementation of its own, which shares
no code with tenfour.

usage: write-managed.py      (needs python3-cryptography 45 or later, for Argon2id; writes the files beside it)
"""
import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = pathlib.Path(__file__).resolve().parent
WORDS = (HERE.parents[2] / "Sources/Channel/ChannelKeys/SecretWords.swift").read_text()
WORDS = WORDS.split('private static let text = """')[1].split('"""')[0].split()
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
P = 2**255 - 19


def sha256(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def extract(salt, secret):
    return mac(salt, secret)


def expand(key, label, count):
    output, block = b"", b""
    for number in range(1, 255):
        block = mac(key, block + label + bytes([number]))
        output += block
        if len(output) >= count:
            return output[:count]


def raw(key):
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


class Identity:
    def __init__(self, seed):
        self.seed = seed
        self.signer = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = raw(self.signer.public_key())
        # The birational map of RFC 7748 section 4.1.
        y = int.from_bytes(self.public, "little") & (2**255 - 1)
        self.agreement = ((1 + y) * pow(1 - y, -1, P) % P).to_bytes(32, "little")
        self.secret = X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32])
        assert raw(self.secret.public_key()) == self.agreement

    def bits(self):
        check = sha256(b"tenfour 1 id" + self.public)
        return "".join(f"{byte:08b}" for byte in self.public + check)[:270]

    def letters(self):
        text = "".join(ALPHABET[int(self.bits()[i : i + 5], 2)] for i in range(0, 270, 5))
        return "id-" + "-".join(text[i : i + 4] for i in range(0, 54, 4))

    def words(self):
        return "id-" + "-".join(WORDS[int(self.bits()[i : i + 10], 2)] for i in range(0, 270, 10))

    def compared(self):
        salt = sha256(b"tenfour 1 verify")[:16]
        hashed = Argon2id(salt=salt, length=32, iterations=3, lanes=1, memory_cost=65536).derive(self.public)
        bits = "".join(f"{byte:08b}" for byte in hashed[:5])
        return " ".join(WORDS[int(bits[i : i + 10], 2)] for i in range(0, 40, 10))

    def sign(self, data):
        return self.signer.sign(data)

    def agree(self, public):
        return self.secret.exchange(X25519PublicKey.from_public_bytes(public))


def base32(data):
    bits = "".join(f"{byte:08b}" for byte in data)
    bits += "0" * (-len(bits) % 5)
    return "".join(ALPHABET[int(bits[i : i + 5], 2)] for i in range(0, len(bits), 5))


seeds = {name: sha256(b"vector " + name.encode()) for name in ["owner", "anna", "bob", "delegate"]}
people = {name: Identity(seed) for name, seed in seeds.items()}
owner, anna, bob, delegate = people.values()
channel = bytes.fromhex("5a1f0c3be29d47880a6be1c4f27d9035")
media_root = sha256(b"vector media root")
ADDED = 1_795_000_000


def entry(index, role, priority, key, name):
    name = name.encode()
    return struct.pack(">HBBI", index, role, priority, ADDED + index) + key.public + bytes([len(name)]) + name


def contents(version, time, flags, entries):
    return struct.pack(">IIBBH", version, time, flags, 0, len(entries)) + b"".join(entries)


def admission(version, members):
    hashed = [
        struct.pack(">HB", index, role) + sha256(b"tenfour 1 member" + channel + key.agreement)[:16]
        for index, role, key in members
    ]
    return struct.pack(">IH", version, len(hashed)) + b"".join(hashed)


def signature(roster, listed):
    return owner.sign(b"tenfour 1 roster" + channel + roster[:8] + sha256(roster) + sha256(listed))


entries = {
    "owner": entry(0, 1, 0, owner, "Grandmother"),
    "anna": entry(1, 1, 0, anna, "Anna"),
    "delegate": entry(7, 2 + 128, 0, delegate, ""),
    "bob": entry(9, 2, 1, bob, "Bøb"),
}
first = contents(4, ADDED + 100, 1, [entries[name] for name in ["owner", "anna", "delegate", "bob"]])
first_list = admission(4, [(0, 1, owner), (1, 1, anna), (7, 130, delegate), (9, 2, bob)])
second = contents(5, ADDED + 200, 0, [entries[name] for name in ["owner", "delegate", "bob"]])
second_list = admission(5, [(0, 1, owner), (7, 130, delegate), (9, 2, bob)])
change = bytes([0, 1, 0]) + struct.pack(">H", 1)


def sealed(key, number, plain):
    return ChaCha20Poly1305(key).encrypt(b"\0\0\0\0" + struct.pack(">Q", number), plain, None)


second_signature = signature(second, second_list)
roster_key = expand(media_root, b"roster" + second_signature, 32)

secret_id = struct.pack(">IIH", 5, 3, 7)
group_secret = sha256(b"vector group secret")
group_root = extract(b"tenfour 1 group" + channel + secret_id, media_root + group_secret)

prekey_secret = sha256(b"vector prekey")
prekey_pair = X25519PrivateKey.from_private_bytes(prekey_secret)
prekey_point = raw(prekey_pair.public_key())
prekey_id = struct.pack(">I", 1_795_000_321)
prekey = prekey_id + prekey_point
prekey += bob.sign(b"tenfour 1 prekey" + channel + struct.pack(">H", 9) + prekey)

ephemeral_secret = sha256(b"vector ephemeral")
ephemeral = X25519PrivateKey.from_private_bytes(ephemeral_secret)
e = raw(ephemeral.public_key())
k = extract(
    b"tenfour 1 seal" + channel + secret_id + struct.pack(">H", 9) + prekey_id + e + prekey_point,
    ephemeral.exchange(X25519PublicKey.from_public_bytes(prekey_point)) + delegate.agree(bob.agreement),
)
blob = prekey_id + e + sealed(expand(k, b"group secret", 32), 0, group_secret)

announced = bytes([1, 0]) + struct.pack(">HIIQ", 65_534, 0xA0B0C0D0, 2, ADDED + 300) + bytes(range(16))
announced += struct.pack(">IHH", 4, 1, 0)
announced += anna.sign(b"tenfour 1 announcement" + channel + announced[:42])
announced += mac(expand(group_root, b"announcement", 32), announced)[:16]

inputs = {
    "channelID": channel.hex(),
    "mediaRoot": media_root.hex(),
    "seeds": {name: seed.hex() for name, seed in seeds.items()},
    "publicKeys": {name: person.public.hex() for name, person in people.items()},
    "agreementKeys": {name: person.agreement.hex() for name, person in people.items()},
    "letters": {name: person.letters() for name, person in people.items()},
    "words": {name: person.words() for name, person in people.items()},
    "comparisonWords": {name: person.compared() for name, person in people.items()},
    "ownerHash": sha256(b"tenfour 1 owner" + owner.public).hex(),
    "groupSecret": group_secret.hex(),
    "prekeySecret": prekey_secret.hex(),
    "ephemeralSecret": ephemeral_secret.hex(),
    "announcementKey": expand(group_root, b"announcement", 32).hex(),
    "added": ADDED,
}
files = {
    "identity": f"tenfour identity 1\n{base32(seeds['anna'])}\n".encode(),
    "roster": first,
    "roster-signature": signature(first, first_list),
    "admission": first_list,
    "next-roster": second,
    "next-roster-signature": second_signature,
    "change": change,
    "sealed-change": sealed(roster_key, 2**63 + 4, change),
    "sealed-page": sealed(roster_key, 0, second),
    "prekey": prekey,
    "blob": blob,
    "announcement": b"c\x01\x0d\x00" + announced,
}
(HERE / "managed.json").write_text(json.dumps(inputs, indent=4, ensure_ascii=False) + "\n")
for name, data in files.items():
    (HERE / f"managed-{name}.bin").write_bytes(data)
