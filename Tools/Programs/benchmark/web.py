"""Compares listeners over HTTP with those of Icecast: the same pages, the same reader, in turns in one session."""

import base64
import json
import os
import pathlib
import shutil
import socket
import tempfile
import threading
import time

from program import Program
from relay import BINARIES, JOINED, Talking, load, processor_time, resident, sink
from rig import TENFOUR, Busy, at_priority, median, pause, say, speech
from table import Row

PLAIN, HTTP, ICECAST = 6316, 6318, 6320
LISTENERS = 1000
MEMBERS = 400


class Extent:
    def __init__(self, turns, seconds):
        self.turns, self.seconds = turns, seconds


LONG = Extent(9, 15)
ORDINARY = Extent(5, 6)
SHORT = Extent(2, 3)

CONFIGURATION = """<icecast>
<limits><clients>4000</clients><sources>2</sources><source-timeout>30</source-timeout></limits>
<authentication><source-password>bench</source-password><admin-user>admin</admin-user><admin-password>bench</admin-password></authentication>
<hostname>localhost</hostname>
<listen-socket><port>{port}</port><bind-address>127.0.0.1</bind-address></listen-socket>
<paths><basedir>/usr/share/icecast2</basedir><logdir>{folder}</logdir><webroot>/usr/share/icecast2/web</webroot>
<adminroot>/usr/share/icecast2/admin</adminroot></paths>
<logging><accesslog>access.log</accesslog><errorlog>error.log</errorlog><loglevel>1</loglevel></logging>
<security><chroot>0</chroot>{owner}</security>
</icecast>
"""


def icecast(folder):
    """Returns Icecast with its default buffers and bursts. It refuses to run as root."""
    owner = "<changeowner><user>nobody</user><group>nogroup</group></changeowner>" if os.getuid() == 0 else ""
    folder.chmod(0o777)
    file = folder / "icecast.xml"
    file.write_text(CONFIGURATION.format(port=ICECAST, folder=folder, owner=owner))
    return Program("icecast2", "-c", file)


def connected(port, within=10):
    deadline = time.monotonic() + within
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            if time.monotonic() > deadline:
                raise SystemExit(f"benchmark: nothing listens at port {port}")
            time.sleep(0.1)


def feed_icecast():
    """Feeds Icecast with the relay's pages, until either ends."""
    with connected(HTTP) as source, connected(ICECAST) as mount:
        mount.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        password = base64.b64encode(b"source:bench").decode()
        mount.sendall(f"PUT /bench.ogg HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {password}\r\n"
                      "Content-Type: audio/ogg\r\nExpect: 100-continue\r\n\r\n".encode())
        mount.recv(4096)
        source.sendall(b"GET /bench.ogg HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = b""
        while b"\r\n\r\n" not in head:
            head += source.recv(65536)
        pages = head.split(b"\r\n\r\n", 1)[1]
        try:
            mount.sendall(pages)
            while pages := source.recv(65536):
                mount.sendall(pages)
        except OSError:
            pass  # Icecast has ended.


def tcp_memory():
    """Returns the kernel's memory of all TCP sockets, in kilobytes: the buffers, but not the sockets themselves."""
    for line in open("/proc/net/sockstat"):
        if line.startswith("TCP:"):
            return int(line.split()[-1]) * os.sysconf("SC_PAGESIZE") / 1024


class Turn:
    def __init__(self, server, port, seconds):
        before, kernel = resident(server), tcp_memory()
        with Talking(BINARIES / "webreader", port, "/bench.ogg", LISTENERS) as reader:
            reader.expect("joined")
            pause(2)  # what came on connecting is read
            self.resident, self.kernel = resident(server) - before, tcp_memory() - kernel
            reader.say("")
            start, spent = time.monotonic(), processor_time(server)
            pause(seconds)
            self.seconds, self.spent = time.monotonic() - start, processor_time(server) - spent
            reader.say("")
            self.heard = json.loads(reader.expect("{"))

    @property
    def cost(self):
        """Microseconds of processor time for each listener and second."""
        return 1e6 * self.spent / self.seconds / LISTENERS

    @property
    def reads(self):
        return self.heard["reads"] / self.seconds / LISTENERS


def run(table, extent):
    if not shutil.which("icecast2"):
        table.note("icecast2 is not installed, so there is nothing to compare with: run apt-get install icecast2")
        return
    busy = Busy()
    say(f"{extent.turns} turns of {LISTENERS} listeners of a relay and of Icecast, {extent.seconds} s each")
    with tempfile.TemporaryDirectory() as folder:
        compare(table, extent, pathlib.Path(folder))
    members(table, extent)
    table.note(str(busy))


def relay_command(status):
    return [TENFOUR, "relay", "--rtp-in", f"bench=127.0.0.1:{PLAIN}", "--web", "bench", "--http", f"127.0.0.1:{HTTP}",
            "--web-proxy", "127.0.0.1", "--bind", f"127.0.0.1:{PLAIN + 10}", "--status-socket", status]


def compare(table, extent, folder):
    with speech(600) as said, Talking(*relay_command(folder / "status")) as relay, icecast(folder) as other, \
            Program(TENFOUR, "send", f"127.0.0.1:{PLAIN}", "--input", said.name) as talker:
        relay.expect("tenfour: relaying")
        threading.Thread(target=feed_icecast, daemon=True).start()
        pause(3)
        pairs = [(Turn(relay, HTTP, extent.seconds), Turn(other, ICECAST, extent.seconds)) for _ in range(extent.turns)]
        if not (talker.runs and other.runs):
            raise SystemExit(f"benchmark: {(other if talker.runs else talker).words()}")
    ours, theirs = zip(*pairs)
    ratios = [a.cost / b.cost for a, b in pairs]
    isWhole = all(turn.heard["open"] == LISTENERS and turn.heard["least"] > 0 for turn in ours)
    table.add(Row(
        f"{LISTENERS} listeners: processor time against Icecast", "<= 0.5",
        f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})", isWhole and median(ratios) <= 0.5,
        f"{median([turn.cost for turn in ours]):.1f} us against {median([turn.cost for turn in theirs]):.1f} us for a listener and second, "
        f"which reads {median([turn.reads for turn in ours]):.1f} and {median([turn.reads for turn in theirs]):.1f} times in it",
        broken=not isWhole, ratios=ratios))
    # The first turn shows the growth of the process. Kernel memory is that of both ends.
    kilobytes = ours[0].resident / LISTENERS + max(turn.kernel for turn in ours) / LISTENERS + SOCKET
    table.add(Row(
        "memory a listener, with the kernel's", "<= 64 KB", f"{kilobytes:.1f} KB", kilobytes <= 64,
        f"{ours[0].resident / LISTENERS:.1f} KB of the process, at most {max(turn.kernel for turn in ours) / LISTENERS:.1f} KB of buffers, "
        f"{SOCKET} KB a socket"))


# The kernel's structures of a TCP socket and its descriptor: a line of /proc/slabinfo each, rounded up.
SOCKET = 4


def members(table, extent):
    """Measures the delay of members with and without listeners over HTTP. Load and relay share the processors."""
    packets = 50 * extent.seconds
    command = JOINED.command(1, MEMBERS)
    file = pathlib.Path(command[command.index("--config") + 1])
    file.write_text(file.read_text() + f"\nrtp-in bench=127.0.0.1:{PLAIN}\nweb bench\nhttp 127.0.0.1:{HTTP}\nweb-proxy 127.0.0.1\n")
    with speech(600) as said:
        pairs = [(delay(command, said.name, 0, packets), delay(command, said.name, LISTENERS, packets)) for _ in range(extent.turns)]
    quiet, loaded = zip(*pairs)
    ratios = [b["p99"] / max(a["p99"], 1) for a, b in pairs]
    lost = sum(run["expected"] - run["received"] for run in quiet + loaded)
    table.add(Row(
        f"{MEMBERS} members beside them: p99 of delay", "<= 1.5", f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        median(ratios) <= 1.5 and not lost,
        f"{median([run['p99'] for run in loaded]):.0f} us against {median([run['p99'] for run in quiet]):.0f} us; {lost} lost",
        broken=not all(run["received"] for run in loaded), ratios=ratios))


def delay(command, said, listeners, packets):
    with sink(1, MEMBERS, packets) as heard, Talking(*at_priority(*command)) as relay:
        relay.expect("tenfour: relaying")
        with Program(TENFOUR, "send", f"127.0.0.1:{PLAIN}", "--input", said), \
                Talking(BINARIES / "webreader", HTTP, "/bench.ogg", listeners) as reader:
            if listeners:
                reader.expect("joined")
            with load(JOINED, 1, MEMBERS, packets) as talking:
                pause(2)
                talking.say("")
                talking.expect("sent", within=60 + packets / 50)
                pause(0.5)
                heard.process.send_signal(2)
                return json.loads(heard.expect("{"))
