"""Writes the test vectors of Protocol/10-floor.md into its own folder, from the tables of that page, and two sealed records into
vectors/keys (needs python3-cryptography).

usage: python3 Protocol/vectors/floor/write.py
"""
import json
import pathlib
import struct

FOLDER = pathlib.Path(__file__).resolve().parent
KEYS = FOLDER.parent / "keys"

MESSAGES = {
    "request": 0, "granted": 1, "taken": 2, "denied": 3, "release": 4, "idle": 5, "revoke": 6,
    "queuePositionRequest": 8, "queuePosition": 9,
}


def message(name, priority=0, detail=0, number=0, ssrc=0, term=0, state=0, time=0):
    """Returns the 24 bytes of a message, and its meaning."""
    data = struct.pack(">BBBBIIIII", 1, MESSAGES[name], priority, detail, number, ssrc, term, state, time)
    meaning = {"message": name, "priority": priority, "detail": detail, "number": number, "ssrc": ssrc}
    return data, meaning | {"term": term, "state": state, "time": time}


def store(name, data, kind, about, **meaning):
    (FOLDER / f"{name}.bin").write_bytes(data)
    text = {"kind": kind, "about": about, "source": "10-floor.md"} | meaning
    (FOLDER / f"{name}.json").write_text(json.dumps(text, indent=2, ensure_ascii=False) + "\n")


def good():
    """Each message with ordinary and with extreme values."""
    anna, ben = 0x11223344, 0x55667788
    now = {"term": 1, "state": 7}
    for name, about, fields in [
        ("request", "A normal request.", {"number": 1, "ssrc": anna}),
        ("request-waits", "A request that would wait.", {"number": 2, "ssrc": anna, "detail": 1}),
        ("request-sends", "A talker answers GRANTED.", {"number": 2, "ssrc": anna, "detail": 2}),
        ("request-emergency", "An emergency, with all flags and the highest number.",
         {"number": 2**32 - 1, "ssrc": 2**32 - 1, "priority": 1, "detail": 3}),
        ("granted", "Granted for 180 s.", {"number": 1, "ssrc": anna, "time": 180_000} | now),
        ("granted-answer", "The talker must answer. There is no bound.",
         {"number": 1, "ssrc": anna, "priority": 1, "detail": 1, "term": 2**32 - 1, "state": 2**32 - 1}),
        ("taken", "Another talks.", {"ssrc": anna, "time": 179_400} | now),
        ("taken-answer", "The answer to a RELEASE: another talks, who knows no floor control, in a channel that requires the floor.",
         {"number": 3, "ssrc": ben, "detail": 3} | now),
        ("taken-emergency", "An emergency is on the air.", {"ssrc": ben, "priority": 1, "detail": 2, "time": 1} | now),
        ("denied-another-talks", "Another talks.", {"number": 1, "ssrc": anna, "detail": 1} | now),
        ("denied-too-early", "The floor is idle, but the station must pause.", {"number": 1, "detail": 4, "time": 1_500} | now),
        ("denied-listener", "The station may only listen.", {"number": 1, "detail": 5} | now),
        ("denied-queue-full", "An emergency talks, and the queue is full.", {"number": 1, "ssrc": anna, "priority": 1, "detail": 7} | now),
        ("denied-other", "Another reason.", {"number": 1, "detail": 255} | now),
        ("release", "The key is up.", {"number": 1, "ssrc": anna}),
        ("idle", "Nobody talks.", {"term": 1, "state": 8}),
        ("idle-answer", "The answer to a RELEASE in a channel that requires the floor.", {"number": 1, "detail": 2, "term": 1, "state": 8}),
        ("revoke-too-long", "The talk was too long; 2 s of pause.", {"number": 1, "ssrc": anna, "detail": 2, "time": 2_000} | now),
        ("revoke-no-permission", "Another relay arbitrates.", {"number": 1, "ssrc": anna, "detail": 3} | now),
        ("revoke-preempted", "An emergency.", {"number": 1, "ssrc": anna, "detail": 4} | now),
        ("revoke-other", "Another reason.", {"number": 1, "ssrc": anna, "detail": 255} | now),
        ("queue-position-request", "A station asks for its position.", {"number": 4, "ssrc": anna}),
        ("queue-position-request-zero", "A station asks who talks.", {"ssrc": anna}),
        ("queue-position", "The second of three.", {"number": 4, "ssrc": ben, "detail": 2, "time": 3} | now),
        ("queue-position-last", "The highest position; nobody talks.",
         {"number": 4, "priority": 1, "detail": 254, "time": 254} | now),
    ]:
        kind = next(known for known in sorted(MESSAGES, key=len, reverse=True) if camel(name).startswith(known))
        data, meaning = message(kind, **fields)
        store("message-" + name, data, "message", about, meaning=meaning)


def camel(name):
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)


def bad():
    """Messages that are refused, and why."""
    request = message("request", number=1, ssrc=9)[0]

    def changed(data, *changes):
        data = bytearray(data)
        for offset, value in changes:
            data[offset] = value
        return bytes(data)

    def refuse(name, data, reason, about):
        store("bad-" + name, data, "message", about, refused=reason)

    refuse("empty", b"", "length", "No bytes.")
    refuse("short", request[:-1], "length", "A byte is missing.")
    refuse("long", request + b"\0", "length", "A byte too many.")
    refuse("version", changed(request, (0, 2)), "version", "Version 2.")
    for code in [7, 10, 255]:
        refuse(f"message-{code}", changed(request, (1, code)), "message", "There is no such message.")
    refuse("priority", changed(request, (2, 2)), "value", "Priority 2.")
    refuse("request-flag", changed(request, (3, 4)), "value", "A flag that REQUEST does not have.")
    refuse("request-zero", message("request", ssrc=9)[0], "value", "Request number zero.")
    refuse("request-term", message("request", number=1, ssrc=9, term=1)[0], "value", "A term from a participant.")
    refuse("request-state", message("request", number=1, ssrc=9, state=1)[0], "value", "A state from a participant.")
    refuse("request-time", message("request", number=1, ssrc=9, time=1)[0], "value", "A time where zero belongs.")
    refuse("granted-flag", message("granted", number=1, ssrc=9, detail=2)[0], "value", "A flag that GRANTED does not have.")
    refuse("granted-zero", message("granted", ssrc=9)[0], "value", "Request number zero.")
    refuse("taken-flag", message("taken", ssrc=9, detail=4)[0], "value", "A flag that TAKEN does not have.")
    refuse("denied-cause", message("denied", number=1, detail=2)[0], "value", "A cause that DENIED does not have.")
    refuse("denied-zero", message("denied", detail=1)[0], "value", "Request number zero.")
    refuse("release-detail", message("release", number=1, ssrc=9, detail=1)[0], "value", "RELEASE has no flags.")
    refuse("release-priority", message("release", number=1, ssrc=9, priority=1)[0], "value", "RELEASE has no priority.")
    refuse("release-zero", message("release", ssrc=9)[0], "value", "Request number zero.")
    refuse("idle-unaware", message("idle", detail=1)[0], "value", "Nobody talks, so nobody is unaware.")
    refuse("idle-ssrc", message("idle", ssrc=9)[0], "value", "Nobody talks.")
    refuse("idle-time", message("idle", time=1)[0], "value", "A time where zero belongs.")
    refuse("revoke-cause", message("revoke", number=1, ssrc=9, detail=1)[0], "value", "A cause that REVOKE does not have.")
    refuse("revoke-zero", message("revoke", ssrc=9, detail=4)[0], "value", "Request number zero.")
    refuse("queue-position-zero", message("queuePosition", number=1, time=1)[0], "value", "Position zero.")
    refuse("queue-position-255", message("queuePosition", number=1, detail=255, time=255)[0], "value", "Position 255.")
    refuse("queue-position-number", message("queuePosition", detail=1, time=1)[0], "value", "Request number zero.")
    refuse("queue-position-request-detail", message("queuePositionRequest", number=1, detail=1)[0], "value", "It has no flags.")


def app():
    """RTCP: APP packets with a message, alone."""
    data, meaning = message("request", number=1, ssrc=0x11223344)
    head = struct.pack(">BBHI4s", 0x80, 204, 8, 0x11223344, b"FLOR")
    store("app-request", head + data, "app", "A request between two stations.", sender=0x11223344, meaning=meaning)
    data, meaning = message("taken", ssrc=0x55667788, term=1, state=3)
    head = struct.pack(">BBHI4s", 0x80, 204, 8, 0x55667788, b"FLOR")
    store("app-taken", head + data, "app", "The arbiter talks itself.", sender=0x55667788, meaning=meaning)
    store("app-bad-short", struct.pack(">BBHI4s", 0x80, 204, 2, 9, b"FLOR"), "app", "Without a message.", refused="length")
    other = "not ours"
    store("app-other-name", struct.pack(">BBHI4s", 0x80, 204, 8, 9, b"MCPT") + data, "app", "Another application's packet.", refused=other)
    store("app-other-subtype", struct.pack(">BBHI4s", 0x81, 204, 8, 9, b"FLOR") + data, "app", "Another subtype.", refused=other)
    store("app-other-type", struct.pack(">BBHI4s", 0x80, 205, 8, 9, b"FLOR") + data, "app", "Not APP.", refused=other)
    store("app-other-empty", struct.pack(">BBHI", 0x80, 204, 1, 9), "app", "APP without a name.", refused=other)


def relay():
    """The bodies between two relays."""
    tag = 0xEE9BF26E4AAD0C4A

    def body(kind, term, member, data=b"", zeros=0):
        return struct.pack(">B3sIQI", kind, bytes([0, 0, zeros]), term, tag, member) + data

    def keep(name, about, kind, term, member, data=b"", meaning=None):
        store("relay-" + name, body(kind, term, member, data), "relay", about, type=kind, term=term, channel=f"{tag:016x}",
              member=member, meaning=meaning)

    request, meaning_of_request = message("request", number=1, ssrc=9)
    granted, meaning_of_granted = message("granted", number=1, ssrc=9, term=3, state=2)
    idle, meaning_of_idle = message("idle", term=3, state=3)
    keep("claim", "The sender leads the channel.", 0, 3, 0)
    keep("from-member", "A member of the sender requests the floor.", 1, 3, 17, request, meaning_of_request)
    keep("to-member", "It is granted.", 2, 3, 17, granted, meaning_of_granted)
    keep("to-all", "Nobody talks.", 3, 3, 0, idle, meaning_of_idle)

    def refuse(name, data, reason, about):
        store("relay-bad-" + name, data, "relay", about, refused=reason)

    refuse("empty", b"", "length", "No bytes.")
    refuse("claim-long", body(0, 3, 0, idle), "length", "A claim with a message.")
    refuse("claim-member", body(0, 3, 1), "value", "A claim of a member.")
    refuse("claim-term-zero", body(0, 0, 0), "value", "Term zero.")
    refuse("short", body(3, 3, 0), "length", "The message is missing.")
    refuse("type", body(4, 3, 0, idle), "message", "There is no type 4.")
    refuse("zeros", body(3, 3, 0, idle, zeros=1), "value", "A byte that must be zero.")
    refuse("from-member-zero", body(1, 3, 0, request), "value", "Members are numbered from 1.")
    refuse("from-member-granted", body(1, 3, 17, granted), "value", "A member grants nothing.")
    refuse("to-member-request", body(2, 3, 17, request), "value", "The leader requests nothing.")
    refuse("to-all-member", body(3, 3, 17, idle), "value", "A member's number in a message to all.")
    refuse("to-all-request", body(3, 3, 0, request), "value", "The leader requests nothing.")
    refuse("message", body(3, 3, 0, b"\2" + idle[1:]), "version", "The message is refused.")


def records():
    """FLOOR in the conversation of vectors/keys/session.json: the last record of each side."""
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    inputs = json.loads((KEYS / "session.json").read_text())
    for name, key, counter, body in [
        ("floor-request", inputs["memberControl"], 8, message("request", number=1, ssrc=inputs["ssrc"])[0]),
        ("floor-granted", inputs["relayControl"], 9, message("granted", number=1, ssrc=inputs["ssrc"], term=1, state=1, time=180_000)[0]),
    ]:
        head = bytes([99, 1, 6, 0]) + bytes.fromhex(inputs["session"]) + struct.pack(">Q", counter)
        sealed = ChaCha20Poly1305(bytes.fromhex(key)).encrypt(bytes(4) + head[12:], b"\x0e" + body, head)
        (KEYS / f"session-{name}.bin").write_bytes(head + sealed)
        text = {"kind": "session", "about": name, "source": "10-floor.md"}
        (KEYS / f"session-{name}.json").write_text(json.dumps(text, indent=2) + "\n")


if __name__ == "__main__":
    for old in [*FOLDER.glob("*.bin"), *FOLDER.glob("*.json")]:
        old.unlink()
    good()
    bad()
    app()
    relay()
    records()
