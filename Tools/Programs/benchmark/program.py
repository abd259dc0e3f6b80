"""A program that runs beside its measurement. Tools/desktop copies this file, too."""

import os
import pathlib
import signal
import subprocess
import tempfile


class Program:
    """A process that is interrupted as by Ctrl-C at the end of its `with`. `terminal` is the file for all its streams, if it
    runs in a terminal."""

    def __init__(self, *command, environment=None, stdin=subprocess.DEVNULL, terminal=None):
        self.command = [str(word) for word in command]
        self.said = tempfile.TemporaryFile()
        output = self.said if terminal is None else terminal
        self.process = subprocess.Popen(
            self.command, env={**os.environ, **(environment or {})}, stdin=stdin if terminal is None else terminal,
            stdout=output, stderr=output)

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
        """Returns the program's output so far."""
        self.said.seek(0)
        return self.said.read().decode(errors="replace").strip()

    def threads(self):
        """Returns the processor time of each thread so far, in seconds, by its name and number."""
        times = {}
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*"):
            try:
                name = (task / "comm").read_text().strip()
                times[name, int(task.name)] = processor_time(task)
            except (FileNotFoundError, ProcessLookupError):
                pass  # the thread has just ended
        return times


def processor_time(task):
    """Returns seconds. The scheduler's own count is exact; if the kernel keeps none, clock ticks are used."""
    try:
        return int((task / "schedstat").read_text().split()[0]) * 1e-9
    except FileNotFoundError:
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
