"""The space bar held to talk in a real kitty on a virtual screen, with the events of a keyboard that xdotool makes."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time

from table import Row

SOON = 0.5  # s: the longest time for the microphone to close
LONG = 20  # s: for what may take long on a busy machine


class Screen:
    """An X server without a screen, with a terminal in which `tenfour talk` runs and another window."""

    def __init__(self, programs, folder):
        self.tenfour, self.folder, self.processes = programs / "tenfour", folder, []
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("TENFOUR_")}
        self.environment |= {"HOME": str(folder), "XDG_RUNTIME_DIR": str(runtime), "LIBGL_ALWAYS_SOFTWARE": "1"}

    def __enter__(self):
        # The server chooses a free display and writes its number.
        (reader, writer) = os.pipe()
        self.start("Xvfb", "-displayfd", str(writer), "-screen", "0", "1000x600x24", "+extension", "GLX", "-nolisten", "tcp",
                   "-nolisten", "local", pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as number:
            self.environment["DISPLAY"] = f":{number.readline().strip()}"
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(LONG)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, *command, **options):
        process = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, **options)
        self.processes.append(process)
        return process

    def said(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True).stdout.strip()

    def window(self, name):
        """The number of the window with this name, as soon as it is there; "" if it never is."""
        found = []
        until(lambda: found.extend(self.said("xdotool", "search", "--onlyvisible", "--name", f"^{name}$").splitlines()) or found)
        return found[-1] if found else ""

    def keys(self, *words):
        self.said("xdotool", *words)

    def is_open(self):
        return self.said(self.tenfour, "ptt", "status").startswith("open")

    def is_closed(self):
        return self.said(self.tenfour, "ptt", "status").startswith("closed")


def until(is_true):
    """Waits until `is_true`. Returns the seconds that this took; None if it never was."""
    start = time.monotonic()
    while time.monotonic() < start + LONG:
        if is_true():
            return time.monotonic() - start
        time.sleep(0.01)
    return None


def free_port():
    """Returns an even UDP port that was free a moment ago."""
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        if port % 2 == 0:
            return port


def kitty(programs):
    """Returns one row for each thing that a person does."""
    with tempfile.TemporaryDirectory() as name, Screen(programs, pathlib.Path(name)) as screen:
        talk = [str(screen.tenfour), "talk", "127.0.0.1:9", "-p", str(free_port()), "-D", "null"]
        options = ["--config", "NONE", "-o", "confirm_os_window_close=0"]
        screen.start("kitty", *options, "--title", "elsewhere", "sleep", "1000")
        screen.start("kitty", *options, "--title", "talk", *talk)
        (elsewhere, terminal) = (screen.window("elsewhere"), screen.window("talk"))
        ready = elsewhere and terminal and until(screen.is_closed) is not None

        def step(what, is_there, limit, *keys):
            if ready:
                screen.keys(*keys)
            taken = until(is_there) if ready else None
            figure = "never" if taken is None else f"after {taken * 1000:.0f} ms"
            return Row(f"kitty, {what}", "" if limit is None else f"<= {limit * 1000:.0f} ms", figure,
                       taken is not None and (limit is None or taken <= limit), broken=taken is None)

        yield step("space down: on air", screen.is_open, None, "windowfocus", "--sync", terminal, "keydown", "space")
        yield step("space up: closed", screen.is_closed, SOON, "keyup", "space")
        yield step("space down again: on air", screen.is_open, None, "keydown", "space")
        yield step("another window has the focus: closed", screen.is_closed, SOON, "windowfocus", "--sync", elsewhere)
        # A person returns to the window, and then presses.
        if ready:
            screen.keys("keyup", "space", "windowfocus", "--sync", terminal, "sleep", "0.5")
        yield step("back, space down: on air", screen.is_open, None, "keydown", "space")
        yield step("its window closed: the station ends", lambda: not screen.is_open(), SOON, "windowkill", terminal)
