"""Tools/desktop check and Tools/benchmark desktop: see their --help."""

import argparse
import json
import pathlib
import subprocess
import tempfile

from attempts import best
from judge import ask_beside, heard, joined, most_of, of_changes, rows_of
from kitty import kitty
from sitting import ROOT, Sitting
from table import Row, Table, print_json

PIPEWIRE, PULSE = "pipewire", "pulseaudio"
PEERS = {"ffmpeg", "gstreamer", "gstreamer-pulse", "trx", "aplay"}
BROWSERS = {"chromium", "firefox"}
BROWSER_DELAY = 1500  # ms
# What is allowed where ffmpeg itself has gaps, by the quantum imposed; ms.
OTHERWISE = {256: 55, 1024: 97, 2048: 160}
EVERY = ["recv", "join", "call", "talk", "open", "listen", "play", "send"]
QUANTA = ["5:quantum=128", "15:quantum=1024", "25:quantum=2048", "35:quantum=256"]
COMINGS = ["5:join", "12:leave", "20:move=far", "27:move=back"]


def check(is_long):
    if not is_long:
        yield Sitting(PIPEWIRE, ["ffmpeg", "call", "join", "talk", "open"], user=True)
        yield Sitting(PULSE, ["gstreamer-pulse", "call", "join", "announced"], user=True)
        yield Sitting(PIPEWIRE, ["talk"])
        yield Sitting(PIPEWIRE, ["talk"], quantum=1024, settle=5)
        yield Sitting(PIPEWIRE, ["call"], changes=["4:quantum=1024"])
        yield Sitting(PIPEWIRE, ["chromium"], settle=8)
        yield Sitting(PULSE, ["chromium", "firefox"], settle=8)
        return
    for user in (False, True):
        yield Sitting(PIPEWIRE, ["ffmpeg", *EVERY], user=user)
        for quantum in OTHERWISE:
            yield Sitting(PIPEWIRE, ["ffmpeg", *EVERY], user=user, quantum=quantum, settle=5)
        yield Sitting(PULSE, ["gstreamer-pulse", *EVERY], user=user)
    for changes in (QUANTA, COMINGS, ["10:restart"]):
        yield Sitting(PIPEWIRE, ["call", "talk"], changes=changes, seconds=50 if changes is QUANTA else 40)
    yield Sitting(PULSE, ["call"], changes=["5:move=far", "15:move=back", "25:restart"], seconds=40)
    yield Sitting(PIPEWIRE, ["ffmpeg", "gstreamer", "call"], user=True, busy=1)
    for server in (PIPEWIRE, PULSE):
        yield Sitting(server, ["chromium", "firefox"], settle=8)


def benchmark(is_long):
    cases = ["ffmpeg", "gstreamer", "call"]
    yield Sitting(PIPEWIRE, cases)
    for quantum in OTHERWISE:
        yield Sitting(PIPEWIRE, cases, quantum=quantum, settle=5)
    yield Sitting(PULSE, ["ffmpeg", "gstreamer-pulse", "call"])
    yield Sitting(PIPEWIRE, cases, user=True, busy=1)


def measured(sitting, seconds, programs, is_short):
    """Returns a function that measures some cases of the sitting and returns the rows of each."""
    peers = {}

    def measure(cases):
        results = {result["case"]: result for result in sitting.run(cases, seconds, programs)}
        # Peers come first, because ours are compared with them.
        peers.update({name: result for name, result in results.items() if name in PEERS})
        return {name: list(rows(sitting, name, results.get(name), peers, is_short)) for name in cases}

    return measure


def rows(sitting, name, result, peers, is_short):
    if result is None:
        must = name not in PEERS
        return [Row(f"{sitting}, {name}", "", "it did not run", False if must else None, broken=must, void=not must)]
    if name in PEERS:
        return rows_of(str(sitting), result, must=False)
    if name == "join" and not sitting.changes:
        # What is heard is judged for recv and call, which play by the same code.
        return list(joined(str(sitting), result))
    if is_short:
        return heard(str(sitting), result, BROWSER_DELAY if name in BROWSERS else None)
    if name in BROWSERS:
        return rows_of(str(sitting), result, BROWSER_DELAY)
    if sitting.changes:
        return of_changes(str(sitting), result)
    ask = 70 if sitting.server == PULSE else ask_beside(peers.get("ffmpeg"), OTHERWISE.get(sitting.quantum))
    # On a busy machine, ordinary threads of all programs miss cycles of the server, so the limit is the number of gaps that
    # other programs have.
    allowed = most_of(peers.values()) if sitting.user and not sitting.quantum else 0
    return rows_of(str(sitting), result, ask, allowed)


def meter():
    """Checks that the meter finds what is there and nothing else: in a tone, in one with 5 ms of silence, and in one with 6
    ms cut out."""
    program = ROOT / ".build-tools/desktop/desktop-meter"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "tone.wav"
        subprocess.run([program, "compose", file, "--seconds", "5"], check=True)
        tone = file.read_bytes()[44:]
    broken = tone[:192_000] + bytes(480) + tone[192_480:288_000] + tone[288_576:]
    found = []
    for sound in (tone, broken):
        said = subprocess.run([program, "examine"], input=sound, check=True, capture_output=True).stdout
        found.append([(gap["kind"], round(gap["at_s"], 1), round(gap["ms"])) for gap in json.loads(said)["paths"][0]["gaps"]])
    met = found == [[], [("silence", 2.0, 5), ("jump", 3.0, 0)]]
    return Row("the meter: a hole of 5 ms and a cut of 6 ms", "both, no more", f"{len(found[0])} and {len(found[1])}", met, str(found),
               broken=not met)


def main():
    parser = argparse.ArgumentParser(prog="Tools/desktop check")
    parser.add_argument("what", choices=["check", "benchmark"])
    parser.add_argument("word", nargs="*", help="only sittings with all of these words in their names")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / ".build/release")
    arguments = parser.parse_intermixed_args()
    seconds = arguments.seconds or (60 if arguments.long else 10)
    table = Table("From microphone to sink, on sound servers", arguments.json)
    table.add(meter())
    for sitting in (check if arguments.what == "check" else benchmark)(arguments.long):
        name = " ".join([str(sitting), *sitting.cases, *sitting.changes]).lower()
        if all(word.lower() in name for word in arguments.word):
            is_short = arguments.what == "check" and not arguments.long
            best(measured(sitting, sitting.seconds or seconds, arguments.programs, is_short), sitting.cases, table)
    if arguments.what == "check" and all(word.lower() in "kitty" for word in arguments.word):
        best(lambda _: {"kitty": list(kitty(arguments.programs))}, ["kitty"], table)
    if arguments.what == "check":
        table.summarize()
    if arguments.json:
        print_json([table])
    return 0 if table.is_met else 1


raise SystemExit(main())
