"""GStreamer's receiver for the same packets: rtpjitterbuffer, and opusdec with all its recovery features."""

import os
import subprocess

# The latency in milliseconds that it needs to play without a gap if nothing is lost.
LATENCY = 60
# This number of pipelines at the same time is only a light load.
COUNT = 24


def hear(losslab, speech, network, seed, words, path):
    """Plays the packets that arrive of the speech into the WAV file `path`, in real time."""
    capture = path + ".pcap"
    subprocess.run(
        [losslab, "packets", speech, "--network", network, "--seed", str(seed), *words, "-o", capture], check=True)
    caps = "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=111"
    run = subprocess.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={capture}", "!", "pcapparse", "!", caps, "!", "clocksync", "!",
         "rtpjitterbuffer", f"latency={LATENCY}", "do-lost=true", "!", "rtpopusdepay", "!",
         "opusdec", "plc=true", "use-inband-fec=true", "!", "audioconvert", "!",
         "audio/x-raw,format=S16LE,rate=48000,channels=1", "!", "wavenc", "!", "filesink", f"location={path}"],
        capture_output=True, text=True, timeout=300)
    os.unlink(capture)
    if run.returncode:
        raise RuntimeError(f"GStreamer failed: {run.stderr[:2000]}")
