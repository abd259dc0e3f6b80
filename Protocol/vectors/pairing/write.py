#!/usr/bin/python3
"""Writes the test vectors of Protocol/11-pairing.md: an implementation of its own, which shares no code with tenfour.

usage: write.py      (needs python3-cryptography; writes the files beside it)

The group is ristretto255 as RFC 9496 describes it, in plain Python; it is not constant-time and not for any other use.
"""
import hashlib, hmac, json, pathlib

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
ONE_MINUS_D_SQ = (1 - D * D) % P
D_MINUS_ONE_SQ = (D - 1) ** 2 % P


def odd(x):
    return x % P & 1


def absolute(x):
    return -x % P if odd(x) else x % P


def sqrt_ratio(u, v):
    """RFC 9496 section 4.2."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P) % P, (P - 5) // 8, P) % P
    check = v * r * r % P
    correct, flipped, flipped_i = check == u % P, check == -u % P, check == -u * SQRT_M1 % P
    if flipped or flipped_i:
        r = SQRT_M1 * r % P
    return correct or flipped, absolute(r)


INVSQRT_A_MINUS_D = sqrt_ratio(1, (-1 - D) % P)[1]
SQRT_AD_MINUS_ONE = 25063068953384623474111414158702152701244531502492656460079210482610430750235


def decode(data):
    s = int.from_bytes(data, "little")
    if s >= P or odd(s):
        return None
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    u2s = u2 * u2 % P
    v = (-(D * u1 * u1) - u2s) % P
    square, inverse = sqrt_ratio(1, v * u2s % P)
    x_den, y_den = inverse * u2 % P, inverse * inverse * u2 * v % P
    x, y = absolute(2 * s * x_den), u1 * y_den % P
    t = x * y % P
    if not square or odd(t) or y == 0:
        return None
    return x, y, 1, t


def encode(point):
    x0, y0, z0, t0 = point
    u1, u2 = (z0 + y0) * (z0 - y0) % P, x0 * y0 % P
    _, inverse = sqrt_ratio(1, u1 * u2 * u2 % P)
    den1, den2 = inverse * u1 % P, inverse * u2 % P
    z_inverse = den1 * den2 * t0 % P
    if odd(t0 * z_inverse):
        x, y, den = y0 * SQRT_M1 % P, x0 * SQRT_M1 % P, den1 * INVSQRT_A_MINUS_D % P
    else:
        x, y, den = x0, y0, den2
    if odd(x * z_inverse):
        y = -y % P
    return absolute(den * (z0 - y)).to_bytes(32, "little")


def add(p, q):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = p, q
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = t1 * 2 * D * t2 % P, z1 * 2 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = add(total, point)
        point, number = add(point, point), number >> 1
    return total


def mapped(data):
    """The map of RFC 9496 section 4.3.4."""
    t = int.from_bytes(data, "little") % 2**255 % P
    r = SQRT_M1 * t * t % P
    u, v = (r + 1) * ONE_MINUS_D_SQ % P, (-1 - r * D) * (r + D) % P
    square, s = sqrt_ratio(u, v)
    s_prime = -absolute(s * t) % P
    s, c = (s, P - 1) if square else (s_prime, r)
    n = (c * (r - 1) * D_MINUS_ONE_SQ - v) % P
    w0, w1 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P
    w2, w3 = (1 - s * s) % P, (1 + s * s) % P
    return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P


def from_hash(data):
    return add(mapped(data[:32]), mapped(data[32:]))


def leb128(number):
    out = b""
    while True:
        number, low = number >> 7, number & 127
        out += bytes([low | (128 if number else 0)])
        if not number:
            return out


def with_lengths(*parts):
    return b"".join(leb128(len(part)) + part for part in parts)


NAME = b"CPaceRistretto255"


def generator(password, channel, session):
    padding = max(0, 128 - 1 - len(with_lengths(password)) - len(with_lengths(NAME)))
    return from_hash(hashlib.sha512(with_lengths(NAME, password, bytes(padding), channel, session)).digest())


def scalar(data):
    return int.from_bytes(data, "little") % 2**252


def cpace_key(session, secret, ya, ada, yb, adb):
    return hashlib.sha512(with_lengths(NAME + b"_ISK", session, secret) + with_lengths(ya, ada) + with_lengths(yb, adb)).digest()


def check_draft():
    """The vectors of draft-irtf-cfrg-cpace-21, appendix B.3."""
    h = bytes.fromhex
    password, channel, session = b"Password", b"\x0bA_initiator\x0bB_responder", h("7e4b4791d6a8ef019b936c79fb7f2c57")
    ya, yb = h("da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"), h("d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d")
    g = generator(password, channel, session)
    assert encode(g) == h("222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56")
    a, b = encode(multiply(scalar(ya), g)), encode(multiply(scalar(yb), g))
    assert a == h("d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157")
    assert b == h("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258")
    k = encode(multiply(scalar(ya), decode(b)))
    assert k == encode(multiply(scalar(yb), decode(a))) == h("80b69a8a76457ab6a4d7f887a4bf6b55a2f80ac19c333f917a05fc9887c8b40f")
    assert cpace_key(session, k, a, b"ADa", b, b"ADb").hex().startswith("b69effbf61b51d56401c0f65601abe42")
    assert decode(h("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")) is None


def hkdf_extract(salt, secret):
    return hmac.new(salt, secret, hashlib.sha256).digest()


def hkdf_expand(key, label):
    return hmac.new(key, label + b"\x01", hashlib.sha256).digest()


def message(kind, initiator, responder, body=b""):
    return b"p\x01" + bytes([kind, 0]) + initiator.to_bytes(8, "big") + responder.to_bytes(8, "big") + body


def sealed(key, start, body):
    return start + ChaCha20Poly1305(key).encrypt(bytes(4) + (1).to_bytes(8, "big"), body, start)


def rendezvous(kind, body):
    return b"p\x01" + bytes([kind, 0]) + body


def point(secret):
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def write_rendezvous(folder, initiator):
    """The messages between a station and a relay; the cookie is any 20 bytes."""
    number, nonce = 482913, bytes(range(0x40, 0x50))
    cookie = (29).to_bytes(4, "big") + bytes(range(0x60, 0x70))
    station, relay = (hashlib.sha256(name).digest() for name in (b"station", b"relay"))
    channel, key = bytes(range(0x80, 0x90)), bytes(range(0x90, 0xA0))
    agreed = X25519PrivateKey.from_private_bytes(relay).exchange(X25519PublicKey.from_public_bytes(point(station)))
    root = hkdf_extract(b"tenfour 1 pass" + point(station) + point(relay), agreed)
    a = initiator.to_bytes(8, "big")
    files = {
        "place": rendezvous(9, nonce + cookie + point(station) + bytes(56)),
        "number": rendezvous(10, nonce + number.to_bytes(4, "big") + (300).to_bytes(2, "big") + bytes(2)),
        "number-full": rendezvous(10, nonce + bytes(6) + bytes([1, 0])),
        "number-too-many": rendezvous(10, nonce + bytes(6) + bytes([2, 0])),
        "meet": rendezvous(11, nonce + cookie + number.to_bytes(4, "big") + a + bytes(76)),
        "met": rendezvous(12, nonce + a + bytes([1, 0, 0, 0])),
        "met-wait": rendezvous(12, nonce + a + bytes([3, 0, 0, 0])),
        "leave": rendezvous(14, nonce + cookie + point(station)),
        "pass": sealed(hkdf_expand(root, b"pass"), rendezvous(13, point(relay)), channel + key),
    }
    for name, data in files.items():
        (folder / f"{name}.bin").write_bytes(data)
    inputs = {
        "number": number, "nonce": nonce.hex(), "cookie": cookie.hex(), "initiator": a.hex(),
        "stationSecret": station.hex(), "relaySecret": relay.hex(), "agreement": agreed.hex(),
        "channel": channel.hex(), "passKey": key.hex(),
    }
    (folder / "rendezvous.json").write_text(json.dumps(inputs, indent=2) + "\n")


def main():
    check_draft()
    folder = pathlib.Path(__file__).resolve().parent
    initiator, responder = 0x0123456789ABCDEF, 0xFEDCBA9876543210
    words = "acorn-river-zebra"
    link = "tenfour://192.0.2.7/family#talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj"
    scalars = [hashlib.sha256(b"initiator").digest(), hashlib.sha256(b"responder").digest()]
    channel, session = b"tenfour 1 pairing", initiator.to_bytes(8, "big") + responder.to_bytes(8, "big")
    g = generator(words.encode(), channel, session)
    ya, yb = (encode(multiply(scalar(s), g)) for s in scalars)
    k = encode(multiply(scalar(scalars[0]), decode(yb)))
    key = cpace_key(session, k, ya, b"", yb, b"")
    mac_key = hashlib.sha512(b"CPaceMac" + session + key).digest()
    ta, tb = (hmac.new(mac_key, with_lengths(y, b""), hashlib.sha512).digest()[:32] for y in (ya, yb))
    root = hkdf_extract(channel, key)
    files = {
        "hello": message(1, initiator, 0),
        "challenge": message(2, initiator, responder),
        "share": message(3, initiator, responder, ya),
        "share-reply": message(4, initiator, responder, yb),
        "confirmation": message(5, initiator, responder, ta),
        "link": sealed(hkdf_expand(root, b"link"), message(6, initiator, responder, tb), link.encode()),
        "receipt": sealed(hkdf_expand(root, b"receipt"), message(7, initiator, responder), b""),
        "refusal-wrong-words": message(8, initiator, responder, bytes([1, 2, 0, 0])),
        "refusal-void": message(8, initiator, responder, bytes([2, 0, 0, 0])),
    }
    for name, data in files.items():
        (folder / f"{name}.bin").write_bytes(data)
    inputs = {
        "words": words.replace("-", " "), "link": link, "initiator": f"{initiator:016x}", "responder": f"{responder:016x}",
        "initiatorScalar": scalars[0].hex(), "responderScalar": scalars[1].hex(), "generator": encode(g).hex(),
        "secretPoint": k.hex(), "key": key.hex(),
    }
    (folder / "inputs.json").write_text(json.dumps(inputs, indent=2) + "\n")
    write_rendezvous(folder, initiator)


main()
