"""Compares a relay's processor time, delay and memory with a bare loop of sendmmsg and with GStreamer in the same session."""

import json
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

from program import Program
from rig import ROOT, TENFOUR, Busy, at_priority, median, pause, say
from table import Row

BINARIES = ROOT / ".build-tools/benchmark"
LOAD = ROOT / ".build/release/relayload"
PORT, PLAIN, SINK = 6304, 6306, 6310
ASK = 1.15
TRAILER_ASK = 1.10
JOIN_ASK = 400_000  # nanoseconds
FLOOD = 200_000  # random packets per second
FLOOR_ASK = 1.5
TALKERS = 60  # the real-time priority of talkers, so that a busy relay does not delay them


KEPT = tempfile.TemporaryDirectory()
FILES = pathlib.Path(KEPT.name)


class Extent:
    def __init__(self, pairs, delay_pairs, seconds, flood):
        self.pairs, self.delay_pairs, self.packets, self.flood = pairs, delay_pairs, 50 * seconds, flood


LONG = Extent(5, 9, 15, 30)
ORDINARY = Extent(3, 7, 3, 8)


class Relay:
    """A contender: the command for a number of streams with a number of listeners each, and the port on which it receives
    RTP."""

    def __init__(self, name, command, port, joins=False, ready="ready"):
        self.name, self.command, self.port, self.joins, self.ready = name, command, port, joins, ready


def ours(name, joins, *options):
    def command(streams, listeners):
        places = ["--port", PORT, "--streams", streams, "--listeners", listeners, "--sink-port", SINK]
        words = [LOAD, "configuration", *places, *options, *([] if joins else ["--rtp-in", PLAIN])]
        # The file contains keys, so only its owner may read it.
        file = FILES / f"{streams}x{listeners}{''.join(options)}{'' if joins else '-plain'}.conf"
        file.touch(mode=0o600)
        file.write_bytes(subprocess.run([str(word) for word in words], check=True, capture_output=True).stdout)
        return [TENFOUR, "relay", "--config", file, "--status-socket", FILES / "status"]
    return Relay(name, command, PORT if joins else PLAIN, joins, ready="tenfour: relaying")


JOINED = ours("tenfour, members", True)
OPEN = ours("tenfour, plain", False)
FLOOR = ours("tenfour, with a channel that has floor control", True, "--floor")
BARE = Relay("the bare loop", lambda streams, listeners: [BINARIES / "barerelay", PORT, streams, listeners, SINK], PORT)
TRAILED = Relay("the bare loop with trailers", lambda *sizes: [*BARE.command(*sizes), "trailers"], PORT)


def gstreamer():
    launch = shutil.which("gst-launch-1.0")
    def command(streams, listeners):
        clients = ",".join(f"127.1.{number >> 8}.{number & 255}:{SINK}" for number in range(streams * listeners))
        return [launch, "-q", "udpsrc", "address=127.0.0.1", f"port={PORT}", "!", "multiudpsink", f"clients={clients}", "sync=false",
                "async=false"]
    return [Relay("multiudpsink", command, PORT, ready=None)] if launch else []


class Figures:
    """The results of one run."""

    def __init__(self, seconds, heard, duration):
        self.heard = heard
        # The share of one processor.
        self.share = seconds / duration
        # Nanoseconds of processor time per delivered packet.
        self.cost = 1e9 * seconds / max(heard["received"] + heard["announcements"], 1)
        self.p99 = heard["p99"]

    @property
    def faults(self):
        heard = self.heard
        counts = {"lost": heard["expected"] - heard["received"], **{key: heard[key] for key in ("doubled", "reordered", "strange")}}
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


class Talking(Program):
    """A program that prints one line for each step that it has completed."""

    def __init__(self, *command):
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
        self.unread = b""

    def expect(self, word, within=60):
        deadline = time.monotonic() + within
        while True:
            while b"\n" in self.unread:
                line, self.unread = self.unread.split(b"\n", 1)
                if line.decode().startswith(word):
                    return line.decode()
            if not select.select([self.process.stdout], [], [], max(deadline - time.monotonic(), 0))[0]:
                break
            some = self.process.stdout.read(65536)
            if not some:
                break
            self.unread += some
        raise SystemExit(f"benchmark: {' '.join(self.command)[:200]} did not say {word}")

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")

    def __exit__(self, *error):
        super().__exit__(*error)
        self.process.stdin.close()
        self.process.stdout.close()


def started(contender, streams, listeners):
    relay = Talking(*at_priority(*contender.command(streams, listeners)))
    if contender.ready:
        relay.expect(contender.ready)
    else:
        pause(1)
    return relay


def sink(streams, listeners, packets):
    program = Talking(*at_priority(BINARIES / "relaysink", SINK, streams, listeners, packets))
    program.expect("ready")
    return program


def load(contender, streams, listeners, packets):
    places = ["--port", contender.port, "--streams", streams, "--packets", packets]
    if not contender.joins:
        return Talking(*at_priority(LOAD, "send", *places, priority=TALKERS))
    talking = Talking(
        *at_priority(LOAD, "join", *places, "--listeners", listeners, "--sink-port", SINK, priority=TALKERS))
    talking.expect("joined")
    return talking


def once(contender, streams, listeners, packets, beside=lambda: None, before=lambda: None):
    with sink(streams, listeners, packets) as heard, started(contender, streams, listeners) as relay:
        begun = processor_time(relay)
        with load(contender, streams, listeners, packets) as talking:
            if contender.joins:
                # Thousands have just joined: on a virtual machine, the host may take back the processor time that this used.
                pause(2)
                before()
                begun = processor_time(relay)
                talking.say("")
            beside()
            talking.expect("sent", within=60 + packets / 50)
            pause(0.5)
            spent = processor_time(relay) - begun
            heard.process.send_signal(2)
            return Figures(spent, json.loads(heard.expect("{")), packets / 50)


def processor_time(program):
    return sum(program.threads().values())


def resident(program):
    """Returns the resident memory in kilobytes."""
    for line in open(f"/proc/{program.process.pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


def run(table, extent):
    peer = gstreamer()
    if not peer:
        say("gst-launch-1.0 is not installed, so the cost of the bare loop cannot be checked")
    say(f"{extent.pairs} turns of {', '.join(relay.name for relay in [BARE, OPEN, JOINED, *peer])}, {extent.packets // 50} s each")
    busy = Busy()
    turns = [[once(relay, 1, 1000, extent.packets) for relay in [BARE, OPEN, JOINED, *peer]] for _ in range(extent.pairs)]
    bare, plain, joined, *others = zip(*turns)
    isBare = not others or median([figures.cost for figures in bare]) <= median([figures.cost for figures in others[0]])
    cost(table, "1 x 1000, plain RTP", plain, bare, isBare)
    cost(table, "1 x 1000, members", joined, bare, isBare)
    if others:
        ratio = median([figures.cost for figures in bare]) / median([figures.cost for figures in others[0]])
        table.add(Row("1 x 1000, the bare loop against multiudpsink", "<= 1", f"{ratio:.2f}", isBare, figures_of(bare, others[0])))
    trailers(table, extent)
    many = [[once(relay, 100, 50, extent.packets) for relay in (BARE, JOINED)] for _ in range(extent.delay_pairs)]
    bare, joined = zip(*many)
    cost(table, "100 x 50, members", joined, bare, isBare)
    delay(table, "100 x 50, members", joined, bare)
    for streams, listeners in ((100, 25), (1, 400)):
        pairs = [[once(relay, streams, listeners, extent.packets) for relay in (BARE, JOINED)] for _ in range(extent.delay_pairs)]
        bare, joined = zip(*pairs)
        delay(table, f"{streams} x {listeners}, members", joined, bare)
    memory(table)
    flood(table, extent.flood)
    floor(table, extent)
    strangers(table)
    joins(table)
    table.note(str(busy))


def figures_of(ours, bare):
    return f"{median([run.cost for run in ours]):.0f} ns against {median([run.cost for run in bare]):.0f} ns a delivered packet"


def cost(table, name, ours, bare, isBare):
    ratios = [a.cost / b.cost for a, b in zip(ours, bare)]
    table.add(Row(
        f"{name}: processor time a packet", f"<= {ASK}",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" + ("" if isBare else ", void"),
        isBare and median(ratios) <= ASK, figures_of(ours, bare), *faults(ours), broken=not any(run.heard["received"] for run in ours),
        ratios=ratios, nanoseconds=[run.cost for run in ours], bare_nanoseconds=[run.cost for run in bare]))


def trailers(table, extent):
    """Compares the bare loop with and without a trailer for each listener, in turns."""
    pairs = [[once(relay, 1, 1000, extent.packets).cost for relay in (TRAILED, BARE)] for _ in range(extent.delay_pairs)]
    ratios = [trailed / bare for trailed, bare in pairs]
    trailed, bare = (median(costs) for costs in zip(*pairs))
    table.add(Row(
        "1 x 1000, trailers: processor time a packet", f"<= {TRAILER_ASK}",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", median(ratios) <= TRAILER_ASK,
        f"{trailed:.0f} ns against {bare:.0f} ns a delivered packet", ratios=ratios))


def delay(table, name, ours, bare):
    """If the machine stalls for a moment, a run is ten or a hundred times as slow, so the quietest run of each is printed,
    too. If the bare loop uses nearly a whole processor, packets queue, and slightly more work multiplies the delay."""
    ratio = median([mine.p99 / max(other.p99, 1) for mine, other in zip(ours, bare)])
    mine, other = (min(run.p99 for run in runs) for runs in (ours, bare))
    share = median([run.share for run in bare])
    isIdle = share <= 0.75
    wrong = faults(ours)
    table.add(Row(
        f"{name}: p99 of delay", f"<= {ASK}", f"{ratio:.2f}" + ("" if isIdle else ", void"), isIdle and ratio <= ASK and not wrong,
        f"in the quietest of {len(ours)} turns {mine:.0f} us against {other:.0f} us; median delay "
        f"{median([run.heard['p50'] for run in ours]):.0f} and {median([run.heard['p50'] for run in bare]):.0f} us; "
        f"the bare loop takes {100 * share:.0f} % of a processor",
        *(wrong or ["none lost, reordered or doubled"]), microseconds=[run.p99 for run in ours],
        bare_microseconds=[run.p99 for run in bare]))


def faults(runs):
    return [run.faults for run in runs if run.faults]


def memory(table):
    """Reports the growth between one thousand and five thousand members, after the first allocations."""
    sizes = []
    with started(JOINED, 10, 0) as relay:
        places = ["--port", PORT, "--streams", 10, "--sink-port", SINK]
        for listeners, base in ((100, 0), (400, 1000)):
            with Talking(LOAD, "join", *places, "--listeners", listeners, "--first-listener", base) as members:
                members.expect("joined", within=120)
            sizes.append(resident(relay))
    growth = (sizes[1] - sizes[0]) / 4000
    table.add(Row("memory a listener, from 1000 to 5000", "<= 0.5 KB", f"{growth:.2f} KB", growth <= 0.5))
    table.add(Row("memory with 5000 listeners", "<= 20 MB", f"{sizes[1] / 1024:.1f} MB", sizes[1] <= 20 * 1024))


def flood(table, seconds):
    """Floods from another address while one talker sends to ten listeners."""
    floods = []
    heard = once(JOINED, 1, 10, 50 * (seconds - 1), lambda: floods.append(
        Talking(*at_priority(LOAD, "flood", "--port", PORT, "--rate", FLOOD, "--seconds", seconds)))).heard
    with floods[0] as junk:
        sent = json.loads(junk.expect("{"))
    lost = 100 * (1 - heard["received"] / heard["expected"])
    rate = sent["sent"] / sent["seconds"]
    isFlood = rate >= 0.95 * FLOOD
    table.add(Row(
        f"a talker loses, in {seconds} s of junk", "< 0.1 %", f"{lost:.3f} %" + ("" if isFlood else ", void"), isFlood and lost < 0.1,
        f"{rate / 1000:.0f} thousand packets of junk a second; p99 of delay {heard['p99']} us"))


def floor(table, extent):
    """Floods another channel with messages about its floor: 40 members send 30 a second each, and 740 take part."""
    def once_beside(isFlooded):
        seconds = extent.packets // 50
        attacks = []
        def begin():
            if not isFlooded:
                return
            attacks.append(Talking(*at_priority(LOAD, "floor", "--port", PORT, "--streams", 1, "--seconds", seconds + 2)))
            attacks[0].expect("joined", within=120)
            attacks[0].say("")
        run = once(FLOOR, 1, 10, extent.packets, lambda: None, before=begin)
        for attack in attacks:
            with attack:
                attack.expect("sent")
        return run
    pairs = [[once_beside(isFlooded) for isFlooded in (True, False)] for _ in range(extent.pairs)]
    ratios = [flooded.p99 / max(quiet.p99, 1) for flooded, quiet in pairs]
    flooded, quiet = zip(*pairs)
    table.add(Row(
        "p99 of delay while another channel's floor is flooded", f"<= {FLOOR_ASK}",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", median(ratios) <= FLOOR_ASK and not faults(flooded),
        f"{median([run.p99 for run in flooded]):.0f} us against {median([run.p99 for run in quiet]):.0f} us; the relay takes "
        f"{100 * median([run.share for run in flooded]):.1f} % of a processor", *faults(flooded), ratios=ratios))


def strangers(table):
    """Excludes system calls. A HELLO is answered with a cookie, which costs a MAC; other packets of strangers are not
    answered."""
    costs = json.loads(subprocess.run([str(LOAD), "strangers"], check=True, capture_output=True).stdout)
    worst = max(costs.values())
    table.add(Row("a stranger's packet", "<= 1 us", f"{worst / 1000:.2f} us", worst <= 1000,
                  ", ".join(f"{kind} {cost:.0f} ns" for kind, cost in costs.items())))


def joins(table):
    """Excludes system calls, and the member's side."""
    costs = json.loads(subprocess.run([str(LOAD), "joins"], check=True, capture_output=True).stdout)
    table.add(Row("a member's join, JOIN2", f"<= {JOIN_ASK // 1000} us", f"{costs['join2'] / 1000:.0f} us", costs["join2"] <= JOIN_ASK,
                  f"JOIN {costs['join'] / 1000:.0f} us"))
