"""Chromium, driven by chromedriver (W3C WebDriver)."""

import base64
import json
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Chromium:
    def __init__(self, width, height, dark):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"http://127.0.0.1:{probe.getsockname()[1]}"
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=" + self.address.rsplit(":", 1)[1], "--log-level=SEVERE"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        try:
            self._wait()
            self._begin(width, height, dark)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session:
                self._call("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self.driver.terminate()
        self.driver.wait()

    def _wait(self):
        end = time.monotonic() + 20
        while True:
            try:
                return urllib.request.urlopen(self.address + "/status", timeout=5).close()
            except OSError:
                if time.monotonic() > end or self.driver.poll() is not None:
                    raise
                time.sleep(0.05)

    def _begin(self, width, height, dark):
        # --no-sandbox: root, as a test in a container is, cannot have Chromium's sandbox.
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={width},{height}"]
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"args": arguments}}}}
        for attempt in range(4):
            # On a very busy machine Chromium sometimes ends while it starts.
            try:
                answer = self._post(self.address + "/session", wanted)
                break
            except RuntimeError as error:
                if attempt == 3 or "session not created" not in str(error):
                    raise
                time.sleep(1)
        self.session = self.address + "/session/" + answer["sessionId"]
        if width < 500:
            self._devtools("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 2, "mobile": True})
        if dark:
            self._devtools("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": "dark"}]})

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def click(self, selector):
        found = self._call("POST", "/element", {"using": "css selector", "value": selector})
        self._call("POST", f"/element/{next(iter(found.values()))}/click", {})

    def run(self, script):
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def screenshot(self):
        picture = self._devtools("Page.captureScreenshot", {"captureBeyondViewport": True})
        return base64.b64decode(picture["data"])

    def console(self):
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        found = []
        for entry in self._call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def _devtools(self, command, parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def _call(self, method, path, body=None):
        return self._post(self.session + path, body, method)

    @staticmethod
    def _post(address, body, method="POST"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("chromedriver: " + json.load(error)["value"]["message"].split("\n")[0]) from None
