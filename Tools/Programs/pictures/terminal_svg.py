#!/usr/bin/env python3
"""Draws a terminal's screen as SVG.

Reads the output of `tmux capture-pane -e -p` from standard input: lines of text with SGR escape sequences (ECMA-48 section 8.3.117).
The title of the window is the first argument.
"""
import html
import re
import sys

CELL_WIDTH, CELL_HEIGHT, MARGIN, TITLE_HEIGHT = 8.43, 18, 14, 30
BACKGROUND, FOREGROUND = "#16181d", "#d7dae0"
PALETTE = ["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"]
BRIGHT = ["#7f848e", "#ff7a85", "#b1e18b", "#ffd68a", "#7cc3ff", "#d99bf0", "#6fd3df", "#ffffff"]


def color_256(index):
    """The color of the palette of 256 colors."""
    if index < 16:
        return (PALETTE + BRIGHT)[index]
    if index < 232:
        levels = [0, 95, 135, 175, 215, 255]
        index -= 16
        return "#%02x%02x%02x" % (levels[index // 36], levels[index // 6 % 6], levels[index % 6])
    return "#%02x%02x%02x" % ((8 + 10 * (index - 232),) * 3)


class Style:
    """The attributes that SGR sequences set."""

    def __init__(self):
        self.bold = self.dim = self.inverse = False
        self.foreground = self.background = None

    def apply(self, codes):
        codes = list(codes) or [0]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code == 1:
                self.bold = True
            elif code == 2:
                self.dim = True
            elif code == 7:
                self.inverse = True
            elif code == 22:
                self.bold = self.dim = False
            elif code == 27:
                self.inverse = False
            elif code in (38, 48):
                color = self.extended(codes)
                if code == 38:
                    self.foreground = color
                else:
                    self.background = color
            elif code == 39:
                self.foreground = None
            elif code == 49:
                self.background = None
            elif 30 <= code <= 37:
                self.foreground = PALETTE[code - 30]
            elif 90 <= code <= 97:
                self.foreground = BRIGHT[code - 90]
            elif 40 <= code <= 47:
                self.background = PALETTE[code - 40]
            elif 100 <= code <= 107:
                self.background = BRIGHT[code - 100]

    @staticmethod
    def extended(codes):
        """Takes the rest of a color of 256 or of 16 million colors from `codes`."""
        if codes.pop(0) == 5:
            return color_256(codes.pop(0))
        return "#%02x%02x%02x" % (codes.pop(0), codes.pop(0), codes.pop(0))

    def colors(self):
        foreground, background = self.foreground or FOREGROUND, self.background
        if self.inverse:
            foreground, background = background or BACKGROUND, foreground
        return foreground, background


def runs(line, style):
    """The parts of a line that have one style, each with its column."""
    column = 0
    for escape, text in re.findall(r"\x1b\[([0-9;]*)m|([^\x1b]+)", line):
        if text:
            yield column, text, style
            column += len(text)
        else:
            style.apply(int(code or 0) for code in escape.split(";"))


def picture(lines, title):
    columns = max([80] + [len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines])
    width = columns * CELL_WIDTH + 2 * MARGIN
    height = len(lines) * CELL_HEIGHT + TITLE_HEIGHT + 2 * MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
    yield f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    for number, color in enumerate(["#ff5f57", "#febc2e", "#28c840"]):
        yield f'<circle cx="{20 + 18 * number}" cy="18" r="6" fill="{color}"/>'
    text = 'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"'
    yield f'<text x="{width / 2:.0f}" y="23" text-anchor="middle" fill="#8b919c" {text}>{html.escape(title)}</text>'
    yield f"<g {text}>"
    style = Style()
    for row, line in enumerate(lines):
        top = TITLE_HEIGHT + MARGIN + row * CELL_HEIGHT
        for column, content, current in runs(line, style):
            x, length = MARGIN + column * CELL_WIDTH, len(content) * CELL_WIDTH
            foreground, background = current.colors()
            if background:
                yield f'<rect x="{x:.1f}" y="{top}" width="{length:.1f}" height="{CELL_HEIGHT}" fill="{background}"/>'
            if content.strip():
                weight = ' font-weight="bold"' if current.bold else ""
                weight += ' opacity="0.6"' if current.dim else ""
                yield (
                    f'<text x="{x:.1f}" y="{top + 14}" textLength="{length:.1f}" fill="{foreground}"{weight}>'
                    # Viewers join spaces that may break.
                    + html.escape(content).replace(" ", "\u00a0") + "</text>"
                )
    yield "</g>\n</svg>"


if __name__ == "__main__":
    screen = sys.stdin.read().rstrip("\n").split("\n")
    print("\n".join(picture(screen, sys.argv[1])))
