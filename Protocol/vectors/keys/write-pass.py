#!/usr/bin/env python3
"""Writes link-pass and link-bad-pass-*: links with the pass of a relay, as page 05 describes them; an implementation of its
own, which shares no code with tenfour. The secret is that of link-talk. Needs only Python."""
import base64
import hashlib
import hmac
import json
import pathlib

folder = pathlib.Path(__file__).parent
talk = json.loads((folder / "link-talk.json").read_text())


def extract(salt, secret):
    return hmac.new(salt, secret, hashlib.sha256).digest()


def expand(key, label, count):
    return hmac.new(key, label + b"\x01", hashlib.sha256).digest()[:count]


def digits(data):
    return base64.b32encode(data).decode().rstrip("=").lower()


def write(name, text, meaning):
    (folder / f"{name}.bin").write_text(text)
    meaning |= {"source": "05-channel-keys.md, The pass"}
    (folder / f"{name}.json").write_text(json.dumps(meaning, indent=2) + "\n")


relay_key = bytes(range(64, 96))
channel_id = bytes(range(160, 176))
pair_secret = expand(extract(b"tenfour 1 pair", relay_key), b"pair secret", 32)
passed = channel_id + expand(pair_secret, b"pass" + channel_id, 16)
root = extract(b"tenfour 1 pass", passed[16:])
secret = talk["text"].split("#")[1]
text = f"tenfour://radio.example.org/family#pass-{digits(passed)}.{secret}"
write("link-pass", text, talk | {
    "about": "a link with a pass, and the relay's secret key as in its file, from which the pass follows",
    "text": text,
    "relayKey": digits(relay_key),
    "talkJoin": digits(expand(root, b"talk join", 32)),
    "listenJoin": digits(expand(root, b"listen join", 32)),
    "talkChannelID": channel_id.hex(),
    "listenChannelID": channel_id.hex(),
})

front, back = text.split("#pass-")
good = back.split(".")[0]
listen = json.loads((folder / "link-listen.json").read_text())["text"].split("#")[1]
phrase = json.loads((folder / "link-passphrase.json").read_text())["text"].split("#")[1]
refused = {
    "short": ("pass", "51 digits", f"{front}#pass-{good[:-1]}.{secret}"),
    "long": ("pass", "53 digits", f"{front}#pass-{good}a.{secret}"),
    "bits": ("pass", "the last four bits are not zero", f"{front}#pass-{good[:-1]}b.{secret}"),
    "digit": ("pass", "a character that is no digit", f"{front}#pass-9{good[1:]}.{secret}"),
    "end": ("pass", "no full stop behind it", f"{front}#pass-{good}-{secret}"),
    "relays": ("passParts", "two relays", f"tenfour://a,b/family#pass-{good}.{secret}"),
    "no-host": ("passParts", "no relay", f"tenfour:///family#pass-{good}.{secret}"),
    "listen": ("passParts", "the secret of listeners", f"{front}#pass-{good}.{listen}"),
    "phrase": ("passParts", "a passphrase", f"{front}#pass-{good}.{phrase}"),
    "fingerprint": ("passParts", "a relay's fingerprint before it", f"{front}#relay-{'a' * 26}.pass-{good}.{secret}"),
    "order": ("marker", "a relay's fingerprint behind it", f"{front}#pass-{good}.relay-{'a' * 26}.{secret}"),
    "twice": ("marker", "two passes", f"{front}#pass-{good}.pass-{good}.{secret}"),
    "alone": ("noSecret", "no secret behind it", f"{front}#pass-{good}."),
}
for name, (reason, about, text) in refused.items():
    write(f"link-bad-pass-{name}", text, {"kind": "link", "about": f"refused: {about}", "source": "", "refused": reason})
