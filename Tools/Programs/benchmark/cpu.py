"""Compares the processor time of a sender and a receiver with that of a bare C loop in the same session."""

import shutil

import peers
from program import Program
from rig import BARELOOP, TENFOUR, Busy, median, pause, say, speech
from table import Row

PORT = 6204
ASK = 1.15
RUN_IN = 3  # seconds in which clocks are compared and caches are filled


class Extent:
    def __init__(self, turns, seconds, with_trx=True):
        self.turns, self.seconds, self.with_trx = turns, seconds, with_trx


LONG = Extent(5, 60)
ORDINARY = Extent(5, 20)
SHORT = Extent(2, 5, with_trx=False)


class Contender:
    def __init__(self, name, send, recv):
        self.name, self.send, self.recv = name, send, recv


TENFOUR_PAIR = Contender(
    "tenfour",
    [TENFOUR, "send", "-q", "-D", "lab_mic", f"rtp://127.0.0.1:{PORT}"],
    [TENFOUR, "recv", "-q", "-D", "lab_speaker", f"rtp://127.0.0.1:{PORT}"])
BARE = Contender(
    "the bare loop", [BARELOOP, "send", "lab_mic", "127.0.0.1", PORT], [BARELOOP, "recv", "--resampled", "lab_speaker", PORT])
# trx does not resample, so it is compared with this contender at the same settings.
DIRECT = Contender("the bare loop without a resampler", BARE.send, [BARELOOP, "recv", "--direct", "lab_speaker", PORT])


class Cost:
    """The results of one run for each direction: percent of one processor, in total and by thread."""

    def __init__(self, send, recv):
        self.send, self.recv = send, recv

    def of(self, way):
        return sum((self.send if way == "send" else self.recv).values())


def run(table, extent):
    contenders = [TENFOUR_PAIR, BARE, *trx(extent)]
    say(f"{extent.turns} turns of {', '.join(contender.name for contender in contenders)}, {extent.seconds} s each")
    busy = Busy()
    with speech(extent.seconds + RUN_IN + 5) as sound:
        turns = [[once(contender, sound.name, extent.seconds) for contender in contenders] for _ in range(extent.turns)]
    for way, name in (("send", "sender"), ("recv", "receiver")):
        ours, bare, *others = ([turn[index].of(way) for turn in turns] for index in range(len(contenders)))
        isBare = not others or median(others[0]) <= median(others[1])
        ratios = [a / b for a, b in zip(ours, bare)]
        table.add(Row(
            f"{name}: tenfour against the bare loop", f"<= {ASK}",
            f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" + ("" if isBare else ", void"),
            isBare and median(ratios) <= ASK,
            f"{median(ours):.2f} % against {median(bare):.2f} % of a processor; {threads(turns, way)}",
            ratios=ratios, tenfour_percent=ours, bare_percent=bare))
        if others:
            direct, other = others
            table.add(Row(
                f"{name}: {'loop without resampler' if way == 'recv' else BARE.name} against trx", "<= 1",
                f"{median(direct) / median(other):.2f}", isBare, f"{median(direct):.2f} % against {median(other):.2f} %",
                direct_percent=direct, trx_percent=other))
    table.note(str(busy))


def trx(extent):
    """Compares trx, if it is installed, with the bare loop at trx's settings, to show that the bare loop is minimal."""
    if not extent.with_trx:
        return []
    for peer in peers.present():
        if peer.name.startswith("trx, 20 ms"):
            return [DIRECT, Contender(peer.name, peer.send(PORT), peer.recv(PORT))]
    say("trx is not installed, so the cost of the bare loop cannot be checked: run apt-get install trx on Debian 12, the last release with trx")
    return []


def once(contender, sound, seconds):
    with Program(*contender.recv) as receiver:
        pause(0.3)
        with Program(*contender.send) as sender, Program(shutil.which("aplay"), "-q", "-D", "lab_mic_in", sound):
            pause(RUN_IN)
            before = sender.threads(), receiver.threads()
            pause(seconds)
            after = sender.threads(), receiver.threads()
            if not (sender.runs and receiver.runs):
                raise SystemExit(f"benchmark: {contender.name} ended: {sender.words()} {receiver.words()}")
    return Cost(*(share(a, b, seconds) for a, b in zip(before, after)))


def share(before, after, seconds):
    costs = {}
    for (name, number), time in after.items():
        percent = 100 * (time - before.get((name, number), 0)) / seconds
        costs[name] = costs.get(name, 0) + percent
    return costs


def threads(turns, way):
    """Prints the processor time of tenfour by thread."""
    costs = [turn[0].send if way == "send" else turn[0].recv for turn in turns]
    names = sorted({name for cost in costs for name in cost})
    shares = {name: median([cost.get(name, 0) for cost in costs]) for name in names}
    return ", ".join(f"{name} {share:.2f}" for name, share in sorted(shares.items(), key=lambda item: -item[1]) if share >= 0.005)
