"""Writes the test vectors of the second handshake in Protocol/13-members.md into its own folder, from that page and the Noise
specification (needs python3-cryptography). The conversation has the link and cookie secret of vectors/keys/session.json.

usage: python3 Protocol/vectors/members/write.py
"""
import base64
import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FOLDER = pathlib.Path(__file__).resolve().parent
KEYS = FOLDER.parent / "keys"
SESSION = json.loads((KEYS / "session.json").read_text())


def hmac256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def expand(key, label, count=32):
    out, block = b"", b""
    for number in range(1, (count + 31) // 32 + 1):
        block = hmac256(key, block + label + bytes([number]))
        out += block
    return out[:count]


def sha256(data):
    return hashlib.sha256(data).digest()


class Pair:
    def __init__(self, secret):
        self.secret = X25519PrivateKey.from_private_bytes(secret)
        self.point = self.secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def agree(self, point):
        return self.secret.exchange(X25519PublicKey.from_public_bytes(point))


class Noise:
    """The symmetric state of Noise, section 5.2."""

    def __init__(self, prologue, responder):
        self.h = sha256(b"Noise_IKpsk2_25519_ChaChaPoly_SHA256")
        self.ck, self.k = self.h, None
        self.mix_hash(prologue)
        self.mix_hash(responder)

    def mix_hash(self, data):
        self.h = sha256(self.h + data)

    def outputs(self, data, count):
        return expand(hmac256(self.ck, data), b"", 32 * count)

    def mix_key(self, data):
        out = self.outputs(data, 2)
        self.ck, self.k = out[:32], out[32:]

    def mix_psk(self, psk):
        out = self.outputs(psk, 3)
        self.ck = out[:32]
        self.mix_hash(out[32:64])
        self.k = out[64:]

    def seal(self, data):
        sealed = ChaCha20Poly1305(self.k).encrypt(bytes(12), data, self.h)
        self.mix_hash(sealed)
        return sealed

    def split(self):
        out = self.outputs(b"", 2)
        return out[:32], out[32:]


def letters(data):
    return base64.b32encode(data).decode().rstrip("=").lower()


def grouped(text):
    return "-".join(text[start:start + 4] for start in range(0, len(text), 4))


def main():
    # The channel of the link in session.json: its keys by Protocol/05-channel-keys.md.
    place, secret = SESSION["link"].split("#")
    name = place.rsplit("/", 1)[1]
    digits = secret.removeprefix("talk-").replace("-", "").upper()
    talk_secret = base64.b32decode(digits + "=" * (-len(digits) % 8))[:16]
    salt = b"tenfour 1 channel " + name.encode()
    talk_key = hmac256(salt, talk_secret)
    listen_key = hmac256(salt, expand(talk_key, b"listen secret", 16))
    talk_join, listen_join = expand(talk_key, b"talk join"), expand(listen_key, b"listen join")
    channel_id = expand(talk_join, b"channel id", 16)
    host = place.removeprefix("tenfour://").split("/")[0]
    relay_id = sha256(b"tenfour 1 relay " + (host if ":" in host else host + ":5004").encode())[:16]

    inputs = {
        "kind": "members", "about": "the inputs of the conversation second-*", "source": "13-members.md",
        "relayKey": letters(sha256(b"vector: relay key")),
        "seed": sha256(b"vector: seed of the attempt").hex(),
        "relayEphemeral": sha256(b"vector: relay ephemeral").hex(),
    }
    relay = Pair(sha256(b"vector: relay key"))
    seed = sha256(b"vector: seed of the attempt")
    # tenfour's way to draw its pairs; every other random pair is as good.
    member, ephemeral = Pair(expand(seed, b"static")), Pair(expand(seed, b"ephemeral\0"))
    relay_ephemeral = Pair(sha256(b"vector: relay ephemeral"))

    owner = expand(listen_join, b"no owner")
    fingerprint = sha256(b"tenfour 1 fingerprint" + relay.point + owner)[:16]
    inputs["relayPublicKey"] = letters(relay.point)
    inputs["fingerprint"] = grouped(letters(fingerprint))
    inputs["link"] = f"{place}#relay-{inputs['fingerprint']}.{secret}"

    nonce = bytes.fromhex(SESSION["nonce"])
    cookie = (KEYS / "session-cookie.bin").read_bytes()[20:40]

    def header(kind):
        return bytes([0x63, 1, kind, 0])

    def store(file, data):
        (FOLDER / f"{file}.bin").write_bytes(data)

    store("second-hello", header(9) + nonce + channel_id + bytes(92))
    store("second-cookie", header(10) + nonce + cookie + relay.point + owner)

    head = header(11) + nonce + cookie + channel_id + relay_id + bytes([1]) + bytes(7)
    noise = Noise(b"tenfour 1 join" + head, relay.point)
    message = ephemeral.point
    noise.mix_hash(ephemeral.point)
    noise.mix_key(ephemeral.point)
    noise.mix_key(ephemeral.agree(relay.point))
    message += noise.seal(member.point)
    noise.mix_key(member.agree(relay.point))
    message += noise.seal(b"")
    join = head + message
    join += hmac256(expand(talk_join, b"join 2"), join)[:16]
    store("second-join", join)

    member_address = bytes([4, 192, 0, 2, 7]) + bytes(12) + struct.pack(">H", 40_000)
    session = bytes.fromhex(SESSION["session"])
    terms = struct.pack(">HQ", SESSION["lease"], SESSION["milliseconds"]) + member_address
    noise.mix_hash(relay_ephemeral.point)
    noise.mix_key(relay_ephemeral.point)
    noise.mix_key(relay_ephemeral.agree(ephemeral.point))
    noise.mix_key(relay_ephemeral.agree(member.point))
    noise.mix_psk(talk_join)
    welcome = header(12) + nonce + relay_ephemeral.point + noise.seal(session + terms)
    store("second-welcome", welcome)

    first, second = noise.split()
    member_root, relay_root = hmac256(noise.h, first), hmac256(noise.h, second)
    inputs["memberControl"] = expand(member_root, b"member control").hex()
    inputs["relayControl"] = expand(relay_root, b"relay control").hex()
    inputs["memberHop"] = expand(member_root, b"member hop", 16).hex()
    inputs["relayHop"] = expand(relay_root, b"relay hop", 16).hex()

    refusal = header(5) + nonce + bytes([1, 0, 0, 0])
    refusal += hmac256(expand(talk_join, b"refusal"), join + refusal)[:16]
    store("second-refusal-full", refusal)
    (FOLDER / "second.json").write_text(json.dumps(inputs, indent=2) + "\n")


main()
