"""The common parts of all measurements: programs that run on the card's wires, their processor time, and the load of the
machine."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import wave

ROOT = pathlib.Path(__file__).resolve().parents[3]
TENFOUR = ROOT / ".build/release/tenfour"
BADLINK = ROOT / ".build/release/badlink"
BARELOOP = ROOT / ".build-tools/benchmark/bareloop"
AUDIOWATCH = ROOT / ".build-tools/audiowatch/audiowatch.so"

# The priority of tenfour's audio threads; peers, the bare loop, the meter and its timer thread get the same.
PRIORITY = 50


def say(text):
    """Prints a message for the user on stderr. Tables are data and go to stdout."""
    print(f"benchmark: {text}", file=sys.stderr, flush=True)


def at_priority(*command, priority=PRIORITY):
    """Prefixes a command that does not request a real-time priority itself; unchanged if none is granted."""
    granted = subprocess.run(["chrt", "-f", str(priority), "true"], stderr=subprocess.DEVNULL).returncode == 0
    return ["chrt", "-f", str(priority), *command] if granted else list(command)


def measure(duration, late=2.5):
    """Runs the chirpmeter from lab_mic to lab_speaker for `duration` seconds. Returns its JSON, with `delay_ms` None if no
    chirp was found. A drop-out is excused if a bare timer thread of the same priority was more than `late` ms late, too."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        meter = subprocess.run(
            ["chirpmeter", "-d", str(duration), "--priority", str(PRIORITY), "--late", str(late), "--json", file.name],
            capture_output=True, text=True)
        if not pathlib.Path(file.name).stat().st_size:
            raise SystemExit(f"benchmark: the chirpmeter failed: {meter.stderr.strip()}")
        return json.load(open(file.name))


class Busy:
    """The load of the whole machine between `begin` and `end`, since figures from a busy machine cannot be trusted."""

    def __init__(self):
        self.first, self.own = self.read(), own_time()

    @staticmethod
    def read():
        return [int(field) for field in open("/proc/stat").readline().split()[1:9]]

    @property
    def others(self):
        """Returns the share of the processors used neither by this process nor by the processes that it has started and
        ended since."""
        ticks = [b - a for a, b in zip(self.first, self.read())]
        busy = sum(ticks) - ticks[3] - ticks[4] - (own_time() - self.own) * os.sysconf("SC_CLK_TCK")
        return max(busy / max(sum(ticks), 1), 0)

    def __str__(self):
        user, nice, system, idle, wait, hard, soft, stolen = (b - a for a, b in zip(self.first, self.read()))
        total = max(user + nice + system + idle + wait + hard + soft + stolen, 1)
        share = 100 * (total - idle - wait) / total
        load = open("/proc/loadavg").read().split()[0]
        rivals = f", {count} real-time threads of others" if (count := real_time_threads()) else ""
        return f"load {load}, processors {share:.0f} % busy, {100 * stolen / total:.1f} % taken by the host{rivals}"


def own_time():
    """Returns the processor time of this process and of its finished child processes, in seconds."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def real_time_threads():
    """Returns the number of threads of other programs that may delay ours. All child processes have ended when it is called."""
    count = 0
    for task in pathlib.Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            fields = task.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parent, policy = int(fields[1]), int(fields[38])
        count += parent > 2 and policy in (os.SCHED_FIFO, os.SCHED_RR)
    return count


def speech(seconds):
    """Returns a WAV file of recorded speech of the given length, mono at 48 kHz, made of alsa-utils' loudspeaker test
    recordings."""
    said = b""
    for path in sorted(pathlib.Path("/usr/share/sounds/alsa").glob("*_*.wav")):
        with wave.open(str(path)) as file:
            if (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (48_000, 1, 2):
                said += file.readframes(file.getnframes())
    if not said:
        raise SystemExit("benchmark: there is no speech in /usr/share/sounds/alsa: run apt-get install alsa-utils")
    path = tempfile.NamedTemporaryFile(suffix=".wav")
    with wave.open(path.name, "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))
        for _ in range(int(seconds * 96_000 / len(said)) + 1):
            file.writeframes(said)
    return path


def pause(seconds):
    time.sleep(seconds)


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
