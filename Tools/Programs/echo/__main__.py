"""Tools/benchmark echo: see Tools/benchmark --help."""

import argparse
import os
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path += [os.path.join(ROOT, "Tools/Programs/benchmark"), os.path.join(ROOT, "Tools/Programs/loss")]

import numpy
from rooms import RATE, babble, engine, pink, scaled
from scenes import DOUBLE, JITTER, Cancellers, Scene, return_loss, score
from speech import Speech
from table import Row, Table, print_json

LAB = os.path.join(ROOT, ".build/release/voicelab")
PEERS = os.path.join(ROOT, ".build-tools/echo/peers")
DELAYS, DRIFTS = (20, 80, 200), (0, 100, -100)


def best(results):
    """Returns the largest ERLE and the largest PESQ, each with its name."""
    loss = max(results, key=lambda name: results[name][0])
    quality = max(results, key=lambda name: results[name][1])
    return (loss, results[loss][0]), (quality, results[quality][1])


def measure(scene, cancellers):
    """Returns ERLE and double-talk PESQ of each canceller."""
    alone = scene.echo + scene.noise
    both = alone + scene.near
    results = {}

    def judge(name, run):
        left, _ = run(alone)
        heard, time = run(both)
        results[name] = (return_loss(alone, left), score(scene.near, heard, DOUBLE), time / (len(both) / RATE) / 10)

    options = [
        "--echo-cancel", "--delay", str(scene.delay), f"--drift={scene.drift}", "--jitter", str(JITTER), "--seed", str(scene.seed)]
    judge("tenfour", lambda microphone: cancellers.tenfour(microphone, scene.played, *options))
    judge("speexdsp", lambda microphone: cancellers.speex(microphone, scene.played))
    judge("PipeWire", lambda microphone: cancellers.pipewire(microphone, scene.played))
    if scene.delay > 0:
        judge("speexdsp, aligned", lambda microphone: cancellers.speex(microphone, scene.aligned))
        judge("PipeWire, aligned", lambda microphone: cancellers.pipewire(microphone, scene.aligned))
    return results, score(scene.near, both, DOUBLE)


def rooms(table, far, near, cancellers, count):
    for delay in DELAYS:
        for drift in DRIFTS:
            runs = [measure(Scene(far, near, seed, delay, drift), cancellers) for seed in range(1, count + 1)]
            mean = {
                name: [sum(run[0][name][index] for run in runs) / count for index in range(3)] for name in runs[0][0]}
            plain = sum(run[1] for run in runs) / count
            ours = mean.pop("tenfour")
            (loudest, loss), (clearest, quality) = best(mean)
            name = f"delay {delay} ms, drift {drift:+d} ppm"
            ask = max(20, loss - 2)
            table.add(Row(
                f"{name}: ERLE", f">= {ask:.1f} dB", f"{ours[0]:.1f} dB", ours[0] >= ask,
                f"the best of the others is {loudest}: {loss:.1f} dB"))
            table.add(Row(
                f"{name}: PESQ", f">= {quality - 0.1:.2f}", f"{ours[1]:.2f}", ours[1] >= quality - 0.1,
                f"unprocessed {plain:.2f}; the best of the others is {clearest}: {quality:.2f}; "
                + "; ".join(f"{name} {value[0]:.1f} dB, {value[1]:.2f}" for name, value in mean.items()),
                processor=ours[2]))


def noises(table, speech, cancellers, voices):
    clean = scaled(speech, -26)
    count = len(clean)
    for name, noise in (("pink", pink(count, 1)), ("engine", engine(count, 1)), ("babble", babble(count, voices))):
        for ratio in (5, 15):
            noisy = clean + scaled(noise, -26 - ratio)
            heard, _ = cancellers.tenfour(noisy, noisy, "--denoise")
            library, _ = cancellers.denoise(noisy)
            plain, ours, theirs = (score(clean, one, 0) for one in (noisy, heard, library))
            table.add(Row(
                f"{name}, {ratio} dB: PESQ", f">= {max(plain, theirs):.2f}", f"{ours:.2f}", ours >= max(plain, theirs),
                f"unprocessed {plain:.2f}; speexdsp alone {theirs:.2f}"))


def main():
    parser = argparse.ArgumentParser(prog="Tools/benchmark echo")
    parser.add_argument("what", nargs="?", choices=["rooms", "noise", "all"], default="all")
    parser.add_argument("--rooms", type=int, default=2, help="the number of rooms")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        first, second = Speech(folder, 30, 0).samples, Speech(folder, 30, 7).samples
        length = int(22.5 * RATE)
        cancellers = Cancellers(LAB, PEERS, folder)
        if arguments.what in ("rooms", "all"):
            tables.append(Table("Echo of a loudspeaker, rooms with RT60 300 ms", arguments.json))
            rooms(tables[-1], first[:length], second[:length], cancellers, arguments.rooms)
        if arguments.what in ("noise", "all"):
            tables.append(Table("Noise at the microphone", arguments.json))
            voices = numpy.split(numpy.concatenate([first, second])[: 8 * 7 * RATE], 8)
            noises(tables[-1], first[:length], cancellers, voices)
    if arguments.json:
        print_json(tables)
    return 0 if all(table.is_met for table in tables) else 1


raise SystemExit(main())
