"""Tools/benchmark: see its --help."""

import argparse

import audio
import cpu
import idle
import latency
import play
import relay
import web
from table import Table, print_json


def main():
    parser = argparse.ArgumentParser(prog="Tools/benchmark")
    parser.add_argument("what", choices=["latency", "cpu", "idle", "audio", "play", "relay", "web", "short", "all"])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    isShort = arguments.short or arguments.what == "short"
    tables = []

    def extent(room):
        return room.SHORT if isShort else room.LONG if arguments.long else room.ORDINARY

    def table(title):
        tables.append(Table(title, arguments.json))
        return tables[-1]

    if arguments.what in ("latency", "short", "all"):
        latency.run(table("Mouth to ear on labcard, over loopback"), extent(latency), arguments.peers)
    if arguments.what in ("cpu", "short", "all"):
        cpu.run(table("Processor time, 48 kHz mono, 20 ms frames, 32 kbit/s"), extent(cpu))
    if arguments.what in ("idle", "all"):
        idle.run(table("An open microphone while nobody talks (--open --dtx), on labcard"), extent(idle))
    if arguments.what in ("audio", "short", "all"):
        audio.run(table("What the audio threads ask of allocator and locks"), extent(audio))
    if arguments.what in ("play", "short", "all"):
        play.run(table("The streamer, over HTTP on loopback to labcard"), extent(play))
    if arguments.what == "relay":
        relay.run(table("A relay on loopback, 112-byte packets, 50 a second and stream"), extent(relay))
    if arguments.what == "web":
        web.run(table("Listeners of a relay over HTTP, speech at 32 kbit/s, over loopback"), extent(web))
    if arguments.json:
        print_json(tables)
    if isShort:
        # The time is too short to judge durations, so only broken rows count.
        return 1 if any(row.broken for table in tables for row in table.rows) else 0
    return 0 if all(table.is_met for table in tables) else 1


raise SystemExit(main())
