"""Firefox, driven by its own protocol Marionette, because Debian has no geckodriver."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PREFERENCES = """
user_pref("marionette.port", {port});
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("layout.css.prefers-color-scheme.content-override", {scheme});
"""


class Firefox:
    def __init__(self, width, height, dark):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.profile = tempfile.mkdtemp()
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            file.write(PREFERENCES.format(port=self.port, scheme=0 if dark else 1))
        self.program = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", self.profile,
             "--width", str(width), "--height", str(height)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.count = 0
        try:
            self._connect()
            self._call("WebDriver:NewSession", {})
            self._call("WebDriver:SetWindowRect", {"width": width, "height": height})
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.program.pid, signal.SIGTERM)
        self.program.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _connect(self):
        end = time.monotonic() + 40
        while True:
            try:
                self.link = socket.create_connection(("127.0.0.1", self.port), timeout=60)
                self.file = self.link.makefile("rb")
                return self._read()
            except OSError:
                if time.monotonic() > end or self.program.poll() is not None:
                    raise
                time.sleep(0.1)

    def open(self, url):
        self._call("WebDriver:Navigate", {"url": url})

    def click(self, selector):
        found = self._call("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        self._call("WebDriver:ElementClick", {"id": next(iter(found.values()))})

    def run(self, script):
        return self._call("WebDriver:ExecuteScript", {"script": script, "args": [], "sandbox": None})["value"]

    def screenshot(self):
        return base64.b64decode(self._call("WebDriver:TakeScreenshot", {"full": True})["value"])

    def console(self):
        """Marionette does not tell what is in the console."""
        return []

    def requests(self):
        return self.run("return performance.getEntries().map((entry) => entry.name).filter((name) => name.includes(':'))")

    def _call(self, name, parameters):
        self.count += 1
        text = json.dumps([0, self.count, name, parameters])
        self.link.sendall(f"{len(text)}:{text}".encode())
        _, _, error, value = self._read()
        if error:
            raise RuntimeError(f"Firefox: {error['message']}")
        return value

    def _read(self):
        count = b""
        while not count.endswith(b":"):
            byte = self.file.read(1)
            if not byte:
                raise OSError("Firefox closed the connection")
            count += byte
        return json.loads(self.file.read(int(count[:-1])))
