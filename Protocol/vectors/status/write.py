"""Writes the test vectors of the section "Status" of Protocol/02-rtcp.md into its own folder, from the tables of that section.

usage: python3 Protocol/vectors/status/write.py
"""

import json
import os
import struct

FOLDER = os.path.dirname(os.path.abspath(__file__))
SENDER, SOURCE, OTHER = 0x22222222, 0x11111111, 0x33333333
OUTPUTS = {"playing": 0, "muted": 1, "none": 2}


def report(blocks=()):
    """An RR with report blocks: source, fraction lost, cumulative lost, highest sequence number."""
    body = struct.pack(">I", SENDER)
    for source, fraction, lost, highest in blocks:
        body += struct.pack(">IIIIII", source, fraction << 24 | lost, highest, 0, 0, 0)
    return struct.pack(">BBH", 0x80 | len(blocks), 201, len(body) // 4) + body


def description():
    """An SDES packet with a CNAME alone."""
    name = b"00112233445566778899aabbccddeeff"
    items = struct.pack(">I", SENDER) + bytes([1, len(name)]) + name
    items += bytes(4 - len(items) % 4)
    return struct.pack(">BBH", 0x81, 202, len(items) // 4) + items


def app(data, name=b"STAT", subtype=0):
    return struct.pack(">BBHI", 0x80 | subtype, 204, 2 + len(data) // 4, SENDER) + name + data


def status(transmitting=False, brief=False, output=0, next_report=0, playouts=(), reserved=0, last_sent=None, answers=False):
    flags = transmitting << 7 | brief << 6 | (last_sent is not None) << 5 | answers << 4 | reserved | output
    data = struct.pack(">BBH", flags, next_report, last_sent or 0)
    for source, missing, highest in playouts:
        data += struct.pack(">IBBH", source, missing, 0, highest)
    return data


def write(name, about, datagram, meaning=None, refused=None):
    value = {"about": about}
    value |= {"refused": refused} if refused else {"meaning": meaning}
    with open(os.path.join(FOLDER, name + ".bin"), "wb") as file:
        file.write(datagram)
    with open(os.path.join(FOLDER, name + ".json"), "w") as file:
        file.write(json.dumps(value, indent=2) + "\n")


def meaning(transmitting=False, brief=False, output="playing", next_report=None, playouts=(), last_sent=None, answers=False):
    return {
        "sender": SENDER, "transmitting": transmitting, "brief": brief, "output": output, "nextReport": next_report, "lastSent": last_sent, "answersGoodbye": answers,
        "playouts": [{"source": source, "missing": missing, "highest": highest} for source, missing, highest in playouts],
    }


def whole(name, about, blocks=(), **values):
    output = values.pop("output", "playing")
    data = status(output=OUTPUTS[output], **values)
    values.pop("reserved", None)
    values["next_report"] = values.get("next_report") or None
    write(name, about, report(blocks) + description() + app(data), meaning(output=output, **values))


whole("brief", "A listener that hears one source, and reports again within a second.", [(SOURCE, 0, 0, 500)], brief=True,
      next_report=10, playouts=[(SOURCE, 0, 500)])
whole("brief-missing", "A fifth of the audio of one of two sources is missing.", [(SOURCE, 51, 10, 500), (OTHER, 0, 0, 7)],
      brief=True, next_report=10, playouts=[(SOURCE, 51, 500), (OTHER, 0, 7)])
whole("transmitting", "A talker that receives nothing.", transmitting=True)
whole("silent", "The end of a transmission.", brief=True)
whole("muted", "A listener whose user has muted the output.", [(SOURCE, 0, 0, 500)], output="muted", next_report=10,
      playouts=[(SOURCE, 0, 500)])
whole("no-output", "A listener whose card is gone: all of the audio is missing.", [(SOURCE, 0, 0, 500)], output="none",
      next_report=10, playouts=[(SOURCE, 255, 500)])
whole("last-sent", "A talker has sent the packet 65535.", transmitting=True, last_sent=65535)
whole("last-sent-zero", "A talker has sent the packet 0, and pauses.", brief=True, last_sent=0)
whole("answer", "The answer to the BYE of a source.", [(SOURCE, 0, 3, 500)], answers=True, playouts=[(SOURCE, 0, 500)])
whole("longest", "All bits are set, and every field has its largest value.", transmitting=True, brief=True, output="none", next_report=255,
      last_sent=65535, answers=True, playouts=[(SOURCE + index, 255, 65535) for index in range(7)])
whole("reserved-bits", "The bits that have no meaning yet are passed over.", reserved=0x0C)
write("bad-output", "The output 3 has no meaning.", report() + description() + app(status(output=3)), refused="value")
write("bad-empty", "There is no data.", report() + description() + app(b""), refused="length")
write("bad-half", "The last source has 4 bytes and not 8.", report() + description() + app(status() + bytes(4)), refused="length")
write("bad-long", "Eight sources.", report() + description() + app(status(playouts=[(SOURCE, 0, 500)] * 8)), refused="length")
write("other-name", "An APP packet of another name.", report() + description() + app(status(), b"FLOR"), refused="other")
write("other-subtype", "An APP packet of another subtype.", report() + description() + app(status(), subtype=1), refused="other")
