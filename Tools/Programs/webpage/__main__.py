"""Opens a relay's page in a headless browser, presses Listen, and prints what the page plays and shows.

usage: webpage [OPTION...] URL

  --browser NAME      chromium (default) or firefox
  --seconds N         how long it looks after the page was opened, in seconds (8)
  --every N           the pause between two lines, in seconds (0.25)
  --no-listen         does not press Listen
  --screenshot FILE   writes a PNG of the whole page at the end
  --size WIDTHxHEIGHT the window (1000x800); below 500 wide it is a phone's
  --dark              the user prefers dark colours

Prints a line of JSON for each look: seconds since Listen was pressed, the media element's time, the frequency (Hz) and
level (dBFS) that the analyser measures, and the texts that the page shows. The last line has the console's messages and
the addresses that the page asked for. Ends with 1 if the browser could not be driven.
"""

import argparse
import json
import sys
import time

from chromium import Chromium
from firefox import Firefox

LOOK = """
const view = window.tenfour, player = view && view.player, text = (id) => document.getElementById(id).textContent;
let frequency = null;
if (player && player.analyser) {
  const { analyser, context } = player, bins = new Float32Array(analyser.frequencyBinCount);
  analyser.getFloatFrequencyData(bins);
  let top = 1;
  for (let bin = 1; bin < bins.length - 1; bin += 1) if (bins[bin] > bins[top]) top = bin;
  if (bins[top] > -80) {
    const [left, middle, right] = [bins[top - 1], bins[top], bins[top + 1]];
    const shift = 0.5 * (left - right) / (left - 2 * middle + right);
    frequency = (top + shift) * context.sampleRate / analyser.fftSize;
  }
}
return {
  time: player ? player.audio.currentTime : null, ahead: player ? player.ahead : null,
  rate: player ? player.audio.playbackRate : null, paused: player ? player.audio.paused : null,
  frequency, level: player ? player.level().rms : null,
  meter: document.getElementById("meter").getAttribute("aria-valuenow"),
  title: text("title"), talker: text("talker"), also: text("also"), listeners: text("listeners"), state: text("state"),
  button: text("play"), list: text("channels"), warning: text("warning"), channels: document.querySelectorAll("#channels a").length,
  elements: document.querySelectorAll("#talker *").length,
};
"""


def options():
    parser = argparse.ArgumentParser(prog="webpage")
    parser.add_argument("url")
    parser.add_argument("--browser", choices=["chromium", "firefox"], default="chromium")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--every", type=float, default=0.25)
    parser.add_argument("--no-listen", action="store_true")
    parser.add_argument("--screenshot")
    parser.add_argument("--size", default="1000x800")
    parser.add_argument("--dark", action="store_true")
    return parser.parse_args()


def look(browser, begin):
    seen = browser.run(LOOK)
    print(json.dumps({"at": round(time.monotonic() - begin, 3), **seen}), flush=True)


def main():
    wanted = options()
    width, height = (int(word) for word in wanted.size.split("x"))
    kind = {"chromium": Chromium, "firefox": Firefox}[wanted.browser]
    with kind(width, height, wanted.dark) as browser:
        browser.open(wanted.url)
        while not browser.run("return !!window.tenfour || document.querySelectorAll('#channels a').length > 0"):
            time.sleep(0.05)
        begin = time.monotonic()
        if not wanted.no_listen:
            browser.click("#play")
        while time.monotonic() - begin < wanted.seconds:
            look(browser, begin)
            time.sleep(wanted.every)
        if wanted.screenshot:
            with open(wanted.screenshot, "wb") as file:
                file.write(browser.screenshot())
        print(json.dumps({"console": browser.console(), "requests": browser.requests()}), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError) as error:
        sys.exit(f"webpage: {error}")
