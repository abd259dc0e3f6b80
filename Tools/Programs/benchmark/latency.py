"""Measures the mouth-to-ear delay: the time of a chirp from the microphone's wire to the loudspeaker's, through send and
recv on loopback."""

import random

import peers
from program import Program
from rig import TENFOUR, Busy, measure, pause, say
from table import Row

PORT = 6104


class Case:
    def __init__(self, name, ask, period, *options, frame="20ms"):
        self.name, self.ask, self.period = name, ask, period  # both in ms; `period` is the playing card's
        self.send = ["--frame", frame, *options]
        self.recv = list(options)


LOWEST = ("--profile", "lowest")
CASES = [
    Case("20 ms frames, as it comes", 45, 5),
    Case("20 ms frames, --profile lowest", 36, 2.5, *LOWEST),
    Case("5 ms frames, as it comes", 25, 5, frame="5ms"),
    Case("5 ms frames, --profile lowest", 25, 2.5, *LOWEST, frame="5ms"),
    Case("2.5 ms frames, --profile lowest", 15, 2.5, *LOWEST, frame="2.5ms"),
]
SPREAD = 3


class Extent:
    """The extent of the measurement: starts of each command, seconds of the first and of each other one, and the rows."""

    def __init__(self, starts, first, others, cases=CASES):
        self.starts, self.first, self.others, self.cases = starts, first, others, cases


LONG = Extent(5, 60, 10)
ORDINARY = Extent(5, 10, 5)
SHORT = Extent(2, 6, 4, [CASES[0], CASES[4]])


def run(table, extent, with_peers):
    say(f"{extent.starts} starts of each command, {extent.first} s and then {extent.others} s")
    for case in extent.cases:
        for row in rows(case, extent):
            table.add(row)
    if with_peers:
        for peer in peers.present():
            table.add(peer_row(peer, extent))


def rows(case, extent):
    busy = Busy()
    results = [once(case, extent.first if start == 0 else extent.others) for start in range(extent.starts)]
    heard = [result["delay_ms"] for result in results if result["delay_ms"]]
    if len(heard) < len(results):
        yield Row(case.name, f"<= {case.ask} ms", f"nothing was heard in {len(results) - len(heard)} starts", False, broken=True)
        return
    medians = [delay["median"] for delay in heard]
    yield Row(
        case.name, f"<= {case.ask} ms", f"{max(medians):.1f} ms, {extent_of(heard)}", max(medians) <= case.ask, str(busy),
        delays_ms=heard)
    spread = max(medians) - min(medians)
    yield Row(f"  {len(medians)} starts lie within", f"<= {SPREAD} ms", f"{spread:.2f} ms", spread <= SPREAD, spread_ms=spread)
    yield dropout_row(results[0])


def once(case, seconds):
    """Measures one start. The two programs start with a random phase to each other, as in real use."""
    with Program(TENFOUR, "recv", "-q", f"rtp://127.0.0.1:{PORT}", "-D", "lab_speaker", *case.recv) as receiver:
        pause(0.5 + random.random() * 0.02)
        with Program(TENFOUR, "send", "-q", "-D", "lab_mic", *case.send, f"rtp://127.0.0.1:{PORT}") as sender:
            pause(1.5 + random.random() * 0.02)
            result = measure(seconds, late=case.period)
            for program in (sender, receiver):
                if not program.runs:
                    say(f"{' '.join(program.command)} ended: {program.words()}")
            return result


def dropout_row(result):
    counted, excused, timer = result["dropouts_counted"], result["dropouts_excused"], result["timer"]
    gaps = [gap for gap in result["dropouts"] if not gap["excused"]]
    priority = f"SCHED_FIFO {timer['fifo_priority']}" if timer["fifo_priority"] else "ordinary priority"
    return Row(
        f"  drop-outs in {result['dropouts_watched_s']:.0f} s", "0", f"{counted}, and {excused} while the timer was late",
        counted == 0, *(f"at {gap['time_s']:.2f} s: {gap['kind']} of {gap['length_ms']:.1f} ms" for gap in gaps[:5]),
        f"bare timer, {priority}: late by {timer['p99_ms']:.2f} ms (99 %), {timer['max_ms']:.1f} ms at the most",
        dropouts=result["dropouts"], timer=timer)


def peer_row(peer, extent):
    with Program(*peer.recv(PORT)) as receiver:
        pause(peer.start)
        with Program(*peer.send(PORT)) as sender:
            pause(2 + peer.start)
            result = measure(extent.others)
            if not result["delay_ms"]:
                words = f"{receiver.words()}\n{sender.words()}".split("\n")
                return Row(peer.name, "", "nothing was heard", None, *filter(None, words[-3:]))
            return Row(
                peer.name, "", f"{result['delay_ms']['median']:.1f} ms, {extent_of([result['delay_ms']])}", None,
                f"{result['dropouts_counted']} drop-outs in {result['dropouts_watched_s']:.0f} s", delays_ms=[result["delay_ms"]])


def extent_of(delays):
    return f"chirps {min(delay['min'] for delay in delays):.1f} to {max(delay['max'] for delay in delays):.1f}"
