"""desktop-measure: see its --help."""

import argparse
import array
import json
import subprocess
import time
import wave

import cases
import changes
from cases import CASES
from changes import Change, Changes, told
from program import Program
from rig import FAR_SINK, Busy, Meter, free_ports, pause, say

HELP = """Runs tenfour, or another program, on the current desktop, and prints delay and gaps at the sink.

  recv               recv plays a tone that send reads from a file
  join               the same, and recv begins later than send
  call               send captures the microphone, recv plays
  send               send captures the microphone, recv writes a file
  talk               two stations, both ways; the second on the PCM "far"
  open               the same, one way, with echo cancellation
  listen             talk in a channel of a relay, listen plays
  chromium, firefox  the same, the relay's page plays
  announced          a relay announces a group, PulseAudio plays it
  play, aplay        a file
  ffmpeg, gstreamer, gstreamer-pulse, trx
                     as call, by other programs

A gap is excused if a bare timer thread of the same priority was late by 10 ms or more within 50 ms of it, or if the meter
itself was not served. A run with more than three excused is void."""


def measure(case, arguments, port):
    # The meter starts first, and the programs need time to start.
    seconds = arguments.seconds + arguments.settle + 2 + 2 * case.pause
    if case.tone:
        cases.compose(seconds + 5)
    sinks = case.paths
    if any(change.name == "move" for change in arguments.change):
        sinks = [f"{path}+{FAR_SINK}" for path in case.paths]
    meter = Meter(sinks, seconds, arguments.settle, arguments.wav, chirps=not case.output)
    programs = []
    try:
        pause(0.7)
        for command in case.start(port, arguments.option):
            programs.append(Program(*command))
            pause(case.pause)
        with Changes(arguments.change, lambda: programs[0].process.pid):
            result = meter.result()
        for program in programs:
            if not program.runs and program.process.returncode:
                say(f"{' '.join(program.command)} ended with {program.process.returncode}: {program.words()}")
    finally:
        for program in reversed(programs):
            program.stop()
    result["case"] = case.name
    if case.name == "join":
        result["seconds"] = json.loads(cases.report(case.name).read_text())["seconds"]
    if case.output:
        examine(case.output, result, arguments)
    changes = arguments.change
    result["changes"] = [
        told(change, following, path, result["origin_ns"])
        for path in result["paths"] for change, following in zip(changes, [*changes[1:], None]) if change.at]
    return result


def examine(output, result, arguments):
    """Replaces the sink's recording by the content of a file that the program has written."""
    with wave.open(str(output)) as file:
        frames, channels = file.readframes(file.getnframes()), file.getnchannels()
    mono = array.array("h", frames)[::channels].tobytes()
    said = subprocess.run(["desktop-meter", "examine", "--settle", str(arguments.settle)], input=mono, check=True, capture_output=True)
    path = json.loads(said.stdout)["paths"][0]
    # The start time of the file is not known exactly, so a late witness in a wider range excuses a gap.
    begin = time_of_file(result, len(mono) / 96_000)
    for gap in path["gaps"]:
        gap["timer_late_ms"] = max(
            (late for at, late in result["witness"]["at"] if abs(at - begin - gap["at_s"]) < 0.3), default=0.0)
    path["excused"] = sum(gap["timer_late_ms"] > 0 for gap in path["gaps"])
    for kind, name in ((True, "jumps"), (False, "gap_count")):
        path[name] = sum((gap["kind"] == "jump") == kind and not gap["timer_late_ms"] for gap in path["gaps"])
    path["feed_holes"] = result["paths"][0]["feed_holes"]
    result["paths"] = [path]


def time_of_file(result, length):
    """Returns the file's start on the meter's time line: the file ended when its program was stopped, a moment ago."""
    return (time.monotonic_ns() - result["origin_ns"]) / 1e9 - length


def show(result):
    for path in result["paths"]:
        delay = path["delay_ms"]
        said = f"{delay['median']:.1f} ms ({delay['min']:.1f} to {delay['max']:.1f})" if delay else "" if not path["feed"] else "silence"
        if path["first_sound_s"] < 0:
            said = "silence"
        gaps = f"{path['gap_count']} gaps, {path['jumps']} jumps in {path['watched_s']:.1f} s"
        if path["gap_count"]:
            gaps += f", {path['missing_s'] * 1000:.0f} ms missing, longest {path['longest_ms']:.1f} ms"
        if path["excused"]:
            gaps += f"; {path['excused']} excused{' (void)' if path['excused'] > 3 else ''}"
        if path["feed"] and path["chirps_heard"] < path["chirps_sent"]:
            gaps += f"; {path['chirps_heard']} of {path['chirps_sent']} chirps"
        print(f"{result['case']:<16} {said:<34} {gaps}", flush=True)
    for change in result["changes"]:
        print(f"  {change['what']:<14} at {change['at_s']:.1f} s: {change['gaps']} gaps, {change['missing_ms']:.0f} ms missing, sound again "
              f"after {change['sound_again_s']:.2f} s; delay {change['delay_before_ms']}, at most {change['worst_delay_ms']}, "
              f"{change['delay_after_ms']} ms in the end", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="desktop-measure", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="+", choices=sorted(CASES), metavar="CASE")
    parser.add_argument("--seconds", type=float, default=10, help="seconds to measure (default: 10)")
    parser.add_argument("--settle", type=float, default=0.5, help="seconds after the first sound from which on gaps count (default: 0.5)")
    parser.add_argument("--times", type=int, default=1, help="number of starts of each program (default: 1)")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N processors busy during the measurement (default: 0)")
    parser.add_argument("--change", action="append", default=[], type=Change, metavar="S:WHAT", help=changes.HELP)
    parser.add_argument("--option", action="append", default=[], metavar="WORD", help="add this word to tenfour's command line; may be repeated")
    parser.add_argument("--wav", metavar="PREFIX", help="write what was heard to PREFIX-SINK.wav")
    parser.add_argument("--json", action="store_true", help="print all results as JSON, one line for each run")
    arguments = parser.parse_args()
    arguments.change.sort(key=lambda change: change.seconds)
    for turn in range(arguments.times):
        for name in arguments.case:
            with Busy(arguments.busy):
                try:
                    result = measure(CASES[name], arguments, free_ports())
                except FileNotFoundError as error:
                    say(f"{name}: there is no program {error.filename} here; install it, or leave {name} out")
                    return 1
            if arguments.json:
                print(json.dumps(result), flush=True)
            else:
                show(result)
    return 0


raise SystemExit(main())
