"""The requirements for a measured case."""

from sitting import OTHERS, breaks, is_void, worst
from table import Row

BESIDE_FFMPEG = 10  # ms that a jitter buffer may add
MOST_MISSING = 6  # % of a run of the short form; two blocks of PulseAudio are 4
WHOLE = f"<= {MOST_MISSING} % missing"


def rows_of(title, result, delay_ask=None, allowed=0, must=True):
    """Adds a row for each path. `allowed` is the number of gaps. `must` is False for other programs, which have no
    requirements."""
    for number, path in enumerate(result["paths"]):
        way = f" {number + 1}" if len(result["paths"]) > 1 else ""
        yield row(f"{title}, {result['case']}{way}", result, path, delay_ask, allowed, must)


def heard(title, result, delay_ask=None):
    """Adds a row for each path of a 10 s run, which is too short to judge single gaps: there must be audio, it must be nearly
    complete, and its delay at most `delay_ask` ms."""
    ask = WHOLE + (f", <= {delay_ask} ms" if delay_ask else "")
    for number, path in enumerate(result["paths"]):
        way = f" {number + 1}" if len(result["paths"]) > 1 else ""
        name = f"{title}, {result['case']}{way}"
        if path["first_sound_s"] < 0:
            yield Row(name, ask, "silence", False, broken=True)
            continue
        share = 100 * path["missing_s"] / max(path["watched_s"], 1)
        delay = f", {path['delay_ms']['median']:.0f} ms" if path["delay_ms"] else ""
        figure = f"{share:.1f} % missing, {breaks(path)} gaps{delay}"
        if share > MOST_MISSING and (is_void(result) or result["others"] > OTHERS):
            yield Row(name, ask, f"{figure} (void)", None, worst(result), void=True)
        else:
            is_late = delay_ask and path["delay_ms"] and path["delay_ms"]["median"] > delay_ask
            yield Row(name, ask, figure, share <= MOST_MISSING and not is_late)


def joined(title, result):
    """Adds a row for a receiver that began while somebody talked. Seconds are counted from the start of the session; the server may
    begin to play late."""
    seconds = [second for second in result["seconds"] if second["delay_ms"]]
    if len(seconds) < 3:
        yield Row(f"{title}, join, the start", "audio", "silence", False, broken=True)
        return
    share = 100 * max(sum(second[name] or 0 for name in ("concealed_share", "missing_share")) for second in result["seconds"][:2])
    delay = seconds[2]["delay_ms"]["mean"]
    yield Row(f"{title}, join, the start", "<= 2 % concealed, <= 80 ms", f"{share:.1f} % concealed, {delay:.0f} ms after 2 s",
              share <= 2 and delay <= 80)


def row(name, result, path, delay_ask, allowed, must):
    notes = [f"at {gap['at_s']:.2f} s: {gap['kind']} of {gap['ms']:.1f} ms{why(gap)}" for gap in path["gaps"][:8]]
    values = {"path": path, "witness": result["witness"], "changes": result["changes"]}
    delay = path["delay_ms"]
    if path["first_sound_s"] < 0:
        return Row(name, asked(delay_ask, allowed) if must else "", "silence", False if must else None, broken=must, **values)
    figure = f"{path['gap_count']} gaps" + (f", {path['jumps']} jumps" if path["jumps"] else "")
    figure += f", {delay['median']:.0f} ms" if delay else ""
    if not must:
        return Row(name, "", figure + (" (void)" if is_void(result) else ""), None, *notes[:2], void=is_void(result), **values)
    if is_void(result):
        return Row(name, asked(delay_ask, allowed), f"{figure} (void)", None, worst(result), void=True, **values)
    met = breaks(path) <= allowed and (not delay or not delay_ask or delay["median"] <= delay_ask)
    if not met and result["others"] > OTHERS:
        return Row(name, asked(delay_ask, allowed), f"{figure} (void)", None, worst(result), void=True, **values)
    return Row(name, asked(delay_ask, allowed), figure, met, *notes, **values)


def asked(delay, allowed):
    return f"{'<= ' if allowed else ''}{allowed} gaps" + (f", <= {delay:.0f} ms" if delay else "")


def most_of(peers):
    """Returns the number of gaps of the other program that had most of them."""
    return max((breaks(peer["paths"][0]) for peer in peers if peer["paths"][0]["first_sound_s"] >= 0), default=0)


def why(gap):
    if gap["timer_late_ms"]:
        return f", excused: a bare timer was {gap['timer_late_ms']:.0f} ms late"
    return ", excused: the meter was not served" if gap["meter"] else ""


def of_changes(title, result):
    """Adds a row for each change: at most one gap, and audio again within a second (5 s after a restart)."""
    for path in result["paths"]:
        if path["first_sound_s"] < 0:
            yield Row(f"{title}, {result['case']}", "sound", "silence", False, broken=True)
            return
    for change in result["changes"]:
        within = 5 if change["what"] == "restart" else 1
        figure = f"{change['gaps']} gaps, sound after {change['sound_again_s']:.2f} s"
        if change["delay_after_ms"] is not None and change["delay_before_ms"] is not None:
            figure += f", {change['delay_before_ms']:.0f} to {change['delay_after_ms']:.0f} ms"
        met = change["gaps"] <= 1 and change["sound_again_s"] <= within
        yield Row(f"{title}, {result['case']}, {change['what']}", f"1 gap, {within} s", figure, None if is_void(result) and not met else met,
                  *(["void: " + worst(result)] if is_void(result) else []), void=is_void(result) and not met)


def ask_beside(peer, otherwise=None):
    """Returns the delay that ours may have, relative to ffmpeg's if ffmpeg had no gaps."""
    if peer is None or is_void(peer):
        return otherwise
    path = peer["paths"][0]
    if not path["delay_ms"] or path["gap_count"]:
        return otherwise
    return path["delay_ms"]["median"] + BESIDE_FFMPEG
