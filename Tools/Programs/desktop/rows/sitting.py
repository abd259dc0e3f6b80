"""One start of a sound server, and the cases measured in it, one after the other."""

import json
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benchmark"))
from rig import Busy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[4]
EXCUSED = 3  # the most excused gaps in a run that is not void
OTHERS = 0.25  # share of the processors used by other programs above which gaps do not count


def say(text):
    print(f"desktop: {text}", file=sys.stderr, flush=True)


class Sitting:
    """`cases` are those of desktop-measure, `changes` its --change; `user` and `quantum` are options of Tools/desktop."""

    def __init__(self, server, cases, user=False, quantum=None, settle=0.5, changes=(), busy=0, seconds=None):
        self.server, self.cases, self.user, self.quantum = server, cases, user, quantum
        self.settle, self.changes, self.busy, self.seconds = settle, changes, busy, seconds

    def __str__(self):
        words = ["PipeWire" if self.server == "pipewire" else "PulseAudio"]
        words += [f"quantum {self.quantum}"] if self.quantum else ["stock"] if self.server == "pipewire" else []
        words += ["busy core"] * bool(self.busy) + ["user" if self.user else "root"]
        return ", ".join(words)

    def run(self, cases, seconds, programs):
        command = [str(ROOT / "Tools/desktop"), self.server, "--programs", str(programs)]
        command += ["--user"] * self.user + (["--quantum", str(self.quantum)] if self.quantum else []) + ["--", "desktop-measure"]
        command += [*cases, "--json", f"--seconds={seconds}", f"--settle={self.settle}", f"--busy={self.busy}"]
        command += [f"--change={change}" for change in self.changes]
        busy = Busy()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            say(f"{self}: desktop-measure ended with {done.returncode}")
        return [{**json.loads(line), "others": busy.others} for line in done.stdout.splitlines()]


def breaks(path):
    return path["gap_count"] + path["jumps"]


def is_void(result):
    """Whether the machine stalled too often, or there are gaps while other programs kept it busy."""
    return any(path["excused"] > EXCUSED or (breaks(path) and result["others"] > OTHERS) for path in result["paths"])


def worst(result):
    excused = max(path["excused"] for path in result["paths"])
    return (f"{excused} gaps excused, a bare timer was up to {result['witness']['worst_ms']:.0f} ms late, others took "
            f"{100 * result['others']:.0f} % of the processors")
