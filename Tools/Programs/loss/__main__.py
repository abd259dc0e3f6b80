"""Tools/benchmark loss: see Tools/benchmark --help."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(ROOT, "Tools/Programs/benchmark"))

import gstreamer
import neteq
import pitch
import stretch
from rows import AUTO, CONCEALED, DEFENDED, JITTER, LOSS
from speech import SEGMENT, Speech
from table import Row, Table, print_json

LOSSLAB = os.path.join(ROOT, ".build/release/losslab")
NETEQ = os.path.join(ROOT, ".build-tools/neteq/neteq")
# Opus's look-ahead in ms. With half of a call's round trip, it is how much later audio is heard than playout reports.
LOOK_AHEAD = 6.5
# The first segment that must sound as if there had been no loss.
RECOVERED = 6


class Laboratory:
    """Runs the seeds in parallel, one per processor."""

    def __init__(self, speech, first, seeds, folder, pool, decoder=None, library=None):
        self.speech, self.seeds, self.folder, self.pool = speech, range(first, first + seeds), folder, pool
        self.options = ["--decoder", decoder] if decoder else []
        self.library = library
        self.players = concurrent.futures.ThreadPoolExecutor(gstreamer.COUNT)
        self.peers = {}

    def run(self, network, words, *, scored, transit=0, first=0, library=None):
        """Returns the mean of each figure over the seeds, with PESQ if requested. `library` is a folder with the libopus to
        use: that of the laboratory, or "" for the machine's own."""
        library = self.library if library is None else library
        words = [*words, *self.options]
        runs = list(self.pool.map(
            one, *zip(*((self.speech, self.folder, network, words, seed, scored, transit, first, library) for seed in self.seeds))))
        if any(value is None for run in runs for value in run.values()):
            raise SystemExit(f"benchmark: PESQ found no speech in the audio received through {network}: {' '.join(words)}")
        return {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}

    def neteq(self, network):
        """Runs NetEQ on the same packets. Returns the mean of each figure over the seeds."""
        runs = list(self.pool.map(
            neteq.one, *zip(*((LOSSLAB, NETEQ, self.speech, self.folder, network, seed) for seed in self.seeds))))
        return {key: sum(run[key] for run in runs) / len(runs) for key in runs[0]}

    def end(self):
        self.players.shutdown(cancel_futures=True)

    def begin(self, network, words):
        """Runs GStreamer with the same seeds, in real time while other work goes on."""
        key = (network, *words)
        if key not in self.peers:
            self.peers[key] = [self.players.submit(self.peer, network, seed, words) for seed in self.seeds]
        return self.peers[key]

    def peer(self, network, seed, words):
        path = os.path.join(self.folder, f"gstreamer-{network}-{seed}-{''.join(words)}.wav")
        gstreamer.hear(LOSSLAB, self.speech.path, network, seed, words, path)
        score = self.pool.submit(self.speech.score, path, LOOK_AHEAD).result()
        os.unlink(path)
        return score


def one(speech, folder, network, words, seed, scored, transit, first, library):
    path = os.path.join(folder, f"heard-{os.getpid()}.wav")
    command = [LOSSLAB, words[0], speech.path, "--network", network, "--seed", str(seed), *words[1:]]
    environment = {**os.environ, "LD_LIBRARY_PATH": library} if library else None
    told = subprocess.run(
        [*command, "-o", path] if scored else command, capture_output=True, text=True, env=environment)
    if told.returncode:
        raise SystemExit(told.stderr)
    run = {key: value for key, value in json.loads(told.stdout).items() if isinstance(value, (int, float))}
    if scored:
        # After the loss has ended, the playout delay differs.
        delay = run["delay_at_the_end_ms" if first == RECOVERED else "delay_ms"]
        run["pesq"] = speech.score(path, delay + transit + LOOK_AHEAD, first)
    return run


def loss(lab, table):
    for row in LOSS:
        lab.begin(row.network, row.peer)
    for row in LOSS:
        transit = 20 if row.ours[0] == "call" else 0
        ours = lab.run(row.network, row.ours + (["--depth", str(row.depth_ms)] if not transit else []), scored=True, transit=transit)
        ideal = lab.run(row.network, [*row.ideal, "--depth", str(max(ours["delay_ms"], 0.1))], scored=True)
        peers = [run.result() for run in lab.begin(row.network, row.peer)]
        peer = sum(peers) / len(peers)
        within = ours["kbit_s"] <= row.kbit_s + 0.5 and ours["delay_ms"] <= row.depth_ms + 0.5
        # If the requirement and the ideal receiver's score differ, the ideal receiver decides.
        met = within and ours["pesq"] >= ideal["pesq"] - 0.1
        table.add(Row(
            f"{row.network}, {row.kbit_s:g} kbit/s, {row.depth_ms} ms{', way back' if transit else ''}",
            f"≥ {row.ask:g}{' (less)' if ours['pesq'] < row.ask else ''}",
            f"{ours['pesq']:.2f} (ideal {ideal['pesq']:.2f}, GStreamer {peer:.2f})", met,
            f"{ours['kbit_s']:.1f} kbit/s, {ours['delay_ms']:.0f} ms, {ours['recovered_percent']:.2f} % recovered, "
            f"{ours['concealed_percent']:.2f} % concealed; GStreamer at {gstreamer.LATENCY} ms: {' '.join(row.peer)}",
            ours=ours, ideal=ideal, gstreamer=peer))


def models(lab, table):
    """Measures the benefit of the neural models in the laboratory's libopus, against its own ideal receiver and against the
    machine's own libopus."""
    for row in DEFENDED:
        transit = 20 if row.ours[0] == "call" else 0
        words = row.ours + (["--depth", str(row.depth_ms)] if not transit else [])
        ours = lab.run(row.network, words, scored=True, transit=transit)
        depth = ["--depth", str(max(ours["delay_ms"], 0.1))]
        ideal = lab.run(row.network, [*row.ideal, *depth], scored=True)
        before = lab.run(row.network, words, scored=True, transit=transit, library="")
        ask, met = "ideal - 0.05", ours["pesq"] >= ideal["pesq"] - 0.05
        if row in CONCEALED:
            ask, met = f"{ask}, own + 0.1", met and ours["pesq"] >= before["pesq"] + 0.1
        scheme = "in-band FEC" if row in CONCEALED else "copies" if "--copy" in row.ours else "NACK"
        table.add(Row(
            f"{row.network}, {scheme}, {row.kbit_s:g} kbit/s, {row.depth_ms} ms", ask,
            f"{ours['pesq']:.2f} (ideal {ideal['pesq']:.2f}, own libopus {before['pesq']:.2f})", met,
            f"{ours['kbit_s']:.1f} kbit/s, {ours['delay_ms']:.0f} ms, {ours['concealed_percent']:.2f} % concealed, "
            f"{ours['deep_percent']:.0f} % of that by deep PLC",
            ours=ours, ideal=ideal, own=before))


def jitter(lab, table):
    """Both figures of NetEQ must be beaten at the same time."""
    for network in JITTER:
        ours, peer = lab.run(network, ["receive"], scored=True), lab.neteq(network)
        met = ours["pesq"] > peer["pesq"] and ours["delay_ms"] <= peer["delay_ms"]
        table.add(Row(
            network, f"> {peer['pesq']:.2f}, <= {peer['delay_ms']:.0f} ms", f"PESQ {ours['pesq']:.2f}, {ours['delay_ms']:.0f} ms", met,
            f"{ours['concealed_percent']:.2f} % concealed, {ours['stretched_percent']:.2f} % time-scaled; NetEQ "
            f"{peer['concealed_percent']:.2f} and {peer['stretched_percent']:.2f} %",
            ours=ours, neteq=peer))


def tempo(lab, table):
    rows = stretch.run(lab.speech, LOSSLAB, lab.folder)
    others = rows[1:]
    for row in rows:
        own = row["maker"] == "tenfour"
        met = row["seam_db"] <= stretch.CLICK_DB and all(
            row["pesq"] >= other["pesq"] and row["cents"] <= other["cents"] for other in others) if own else None
        table.add(Row(
            row["maker"], "no worse" if own else "",
            f"PESQ {row['pesq']:.2f}, pitch {row['cents']:.1f} cents (p95 {row['cents_p95']:.0f})", met,
            *([f"the sharpest seam is {row['seam_db']:.1f} dB above the sound it is made of; {stretch.CLICK_DB} would be a click"]
              if own else []), **row))


def auto(lab, table):
    """Starts cold. After the first segment, which has some seconds of loss, the score must be no worse than the best fixed
    choice; in the segments that begin 10 s or more after the loss has ended, it must be the clean score again."""
    for network, bit_rate, depth, words in AUTO:
        way = ["call", "--bitrate", str(bit_rate), "--rtt", "40", "--max-latency", str(depth), *words]

        def scored(network, first, *more):
            return lab.run(network, [*way, *more], scored=True, transit=20, first=first)["pesq"]

        own = scored(network, 1, "--defence", "auto")
        fixed = {defence: scored(network, 1, "--defence", defence) for defence in ("nack", "copy")}
        end = RECOVERED * SEGMENT - 10
        after = scored(network, RECOVERED, "--defence", "auto", "--loss-end", str(end))
        clean = scored("b0", RECOVERED, "--defence", "auto")
        best = max(fixed.values())
        table.add(Row(
            f"auto, {network}, {bit_rate // 1000} kbit/s, {depth} ms", "best - 0.1", f"{own:.2f}", own >= best - 0.1,
            ", ".join(f"{name} {score:.2f}" for name, score in fixed.items()),
            auto=own, **fixed))
        table.add(Row("  when the loss has ended", "clean - 0.1", f"{after:.2f}", after >= clean - 0.1, f"clean {clean:.2f}",
                      after=after, clean=clean))


def cost(lab, table):
    told = json.loads(subprocess.run([LOSSLAB, "cost", lab.speech.path], capture_output=True, check=True).stdout)
    for part, ask in (("playout", 1.25), ("resampler", None), ("stretch", None)):
        figure = told[part]
        table.add(Row(
            "playout with its decoder" if part == "playout" else f"{part} alone", f"<= {ask}" if ask else "",
            f"{figure:.2f}", figure <= ask if ask else None, **{part: figure}))



def rates(lab, table):
    for rate in pitch.RATES:
        rows = pitch.run(lab.speech, LOSSLAB, lab.folder, rate)
        peer = next(row for row in rows if row["maker"] == "scaletempo2")
        for row in rows:
            met = None
            if row["maker"] == "tenfour":
                met = row["pesq"] >= peer["pesq"] and row["distance_db"] <= peer["distance_db"] and abs(row["tempo_error"]) < 0.005
            table.add(Row(
                f"{row['maker']} at {rate:g}", "as scaletempo2" if met is not None else "",
                f"{row['pesq']:.2f}, {row['distance_db']:.2f} dB, length {row['tempo_error'] * 100:+.2f} %", met, **row))


def main():
    parser = argparse.ArgumentParser(prog="Tools/benchmark loss")
    parser.add_argument("what", nargs="*", choices=["loss", "jitter", "stretch", "pitch", "cost", "auto", "models", []], default=[])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speech", type=int, default=0)
    parser.add_argument("--decoder", choices=["auto", "plain", "plc", "full"])
    parser.add_argument("--libopus", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    speech = Speech(os.path.join(ROOT, ".build-tools/speech"), 60, arguments.speech)
    wanted = arguments.what or ["loss", "auto", "jitter", "stretch", "pitch", "cost", *(["models"] if arguments.libopus else [])]
    if "models" in wanted and not (arguments.libopus and arguments.libopus.is_file()):
        parser.error("models compares two versions of libopus: write --libopus and the other one's libopus.so.0")
    tables = []

    def table(title):
        tables.append(Table(title, arguments.json))
        return tables[-1]

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(
            initializer=os.nice, initargs=(10,)) as pool:
        # Starts the pool's processes before any threads, whose locks they would otherwise inherit in a locked state.
        pool.submit(os.getpid).result()
        library = None
        if arguments.libopus:
            library = os.path.join(folder, "library")
            os.mkdir(library)
            os.symlink(arguments.libopus.resolve(), os.path.join(library, "libopus.so.0"))
        lab = Laboratory(speech, arguments.seed, arguments.seeds, folder, pool, arguments.decoder, library)
        try:
            if "loss" in wanted:
                loss(lab, table(f"Loss: PESQ-WB, mean of {arguments.seeds} seeds of 60 s"))
            if "auto" in wanted:
                auto(lab, table(f"Automatic loss protection: PESQ-WB, mean of {arguments.seeds} seeds of 60 s"))
            if "jitter" in wanted:
                jitter(lab, table(f"Jitter: PESQ-WB and mean delay beside NetEQ, mean of {arguments.seeds} seeds of 60 s"))
            if "models" in wanted:
                models(lab, table(f"Neural models of {arguments.libopus}: PESQ-WB, mean of {arguments.seeds} seeds of 60 s"))
            if "stretch" in wanted:
                tempo(lab, table(f"Tempo {stretch.PERCENT} % up and back"))
            if "pitch" in wanted:
                rates(lab, table("Other rates: PESQ-WB there and back, spectral distance there"))
            if "cost" in wanted:
                cost(lab, table("Processor time on a clean network, as a multiple of bare opus_decode"))
        finally:
            lab.end()
    if arguments.json:
        print_json(tables)
    return 0 if all(each.is_met for each in tables) else 1


raise SystemExit(main())
