"""A program that runs for a while beside what measures it. Tools/desktop takes this file along, too."""

import os
import pathlib
import signal
import subprocess
import tempfile


class Program:
    """A process, ended as by Ctrl-C when its `with` is over."""

    def __init__(self, *command, environment=None, stdin=subprocess.DEVNULL):
        self.command = [str(word) for word in command]
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command, env={**os.environ, **(environment or {})}, stdin=stdin, stdout=self.said, stderr=self.said)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    @property
    def runs(self):
        return self.process.poll() is None

    def stop(self, within=5):
        if self.runs:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.process.returncode

    def words(self):
        """What it has printed."""
        self.said.seek(0)
        return self.said.read().decode(errors="replace").strip()

    def threads(self):
        """The processor time of each thread so far, in seconds, by its name and number."""
        times = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*"):
            try:
                name = (task / "comm").read_text().strip()
                times[name, int(task.name)] = processor_time(task)
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has just ended
        return times


def processor_time(task):
    """In seconds. The scheduler's own account is exact; where the kernel keeps none, the clock ticks have to do."""
    try:
        return int((task / "schedstat").read_text().split()[0]) * 1e-9
    except FileNotFoundError:
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
