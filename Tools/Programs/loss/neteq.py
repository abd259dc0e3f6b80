"""WebRTC's jitter buffer for the same packets, on a simulated clock; see neteq/neteq.cpp."""

import json
import os
import subprocess

# Opus's look-ahead in ms: audio is heard this much later than playout reports.
LOOK_AHEAD = 6.5
# Seconds of playout after the last packet, so that the end of the speech is heard.
TAIL = 2


def one(losslab, program, speech, folder, network, seed):
    """Runs one minute of speech and returns its figures, with PESQ."""
    capture = os.path.join(folder, f"neteq-{os.getpid()}.pcap")
    heard = os.path.join(folder, f"neteq-{os.getpid()}.wav")
    subprocess.run(
        [losslab, "packets", speech.path, "--network", network, "--seed", str(seed), "-o", capture], check=True)
    told = subprocess.run(
        [program, capture, heard, str(60 + TAIL)], capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(told.stderr)
    run = {key: value for key, value in json.loads(told.stdout).items() if isinstance(value, (int, float))}
    run["pesq"] = speech.score(heard, run["delay_ms"] + LOOK_AHEAD)
    return run
