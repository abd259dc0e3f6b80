"""The programs measured on the desktop: tenfour's commands, and other programs with the same purpose. Each case is a
function of a port and of further options for tenfour; it yields the commands to start one after the other."""

import pathlib
import subprocess

from rig import FAR_FEED, FAR_SINK, FEED, FOLDER, SINK, at_priority, pause

TONE = FOLDER / "tone.wav"
HEARD = FOLDER / "heard.wav"
WEBPAGE = pathlib.Path(__file__).resolve().parent.parent / "webpage"


class Case:
    """`paths` are the meter's. Programs start `pause` seconds apart. `tone`: they play a file with the meter's tone.
    `output`: they write the audio to be examined to this file. The first command is the playing one."""

    def __init__(self, name, paths, start, pause=0.5, output=None, tone=False):
        self.name, self.paths, self.start, self.pause, self.output, self.tone = name, paths, start, pause, output, tone


def compose(seconds):
    subprocess.run(["desktop-meter", "compose", TONE, "--seconds", str(seconds)], check=True)


def report(case):
    return FOLDER / f"{case}.json"


def recv(port, options):
    yield ["tenfour", "recv", f"rtp://127.0.0.1:{port}", "-D", "default", "-q", "--report", report("recv"), *options]
    yield ["tenfour", "send", "--input", TONE, f"rtp://127.0.0.1:{port}", "-q"]


def join(port, options):
    """recv begins while send is talking. The report is judged, and the second program is the playing one."""
    yield ["tenfour", "send", "--input", TONE, f"rtp://127.0.0.1:{port}", "-q"]
    yield ["tenfour", "recv", f"rtp://127.0.0.1:{port}", "-D", "default", "-q", "--report", report("join"), *options]


def call(port, options):
    yield ["tenfour", "recv", f"rtp://127.0.0.1:{port}", "-D", "default", "-q", "--report", report("call"), *options]
    yield ["tenfour", "send", "-D", "default", f"rtp://127.0.0.1:{port}", "-q"]


def send(port, options):
    yield ["tenfour", "recv", f"rtp://127.0.0.1:{port}", "-o", HEARD, "-q", "--report", report("send")]
    yield ["tenfour", "send", "-D", "default", f"rtp://127.0.0.1:{port}", "-q", *options]


def stations(port, options):
    """Starts two stations with open microphones, which cancel the echo of their loudspeakers."""
    near, far = port, port + 2
    for device, own, other in (("default", near, far), ("far", far, near)):
        yield ["tenfour", "talk", f"127.0.0.1:{other}", "-p", own, "-D", device, "--open", "-q", "--report", report(f"talk-{device}"),
               *options]


def talk(port, options):
    # Both ends say the same tone, which each would take for the echo of its loudspeaker.
    return stations(port, ["--no-echo-cancel", *options])


def channel_and_relay(port, web=None):
    """Creates a channel and starts its relay on loopback, which also serves the channel's page at the TCP port `web`."""
    new = ["tenfour", "channel", "new", "desktop", "--relay", f"127.0.0.1:{port}"]
    lines = subprocess.run(new, check=True, capture_output=True, text=True).stdout.splitlines()
    for kind in ("talk", "listen"):
        link = FOLDER / f"{kind}-{port}.link"
        link.write_text(next(line for line in lines if f"#{kind}-" in line).strip() + "\n")
        link.chmod(0o600)
    configuration = FOLDER / f"relay-{port}.conf"
    keys = next(line for line in lines if line.strip().startswith("channel desktop ")).strip()
    page = f"http 127.0.0.1:{web}\nweb desktop link={FOLDER}/listen-{port}.link\n" if web else ""
    configuration.write_text(f"bind 127.0.0.1:{port}\nname 127.0.0.1:{port}\n{keys}\n{page}")
    configuration.chmod(0o600)
    return ["tenfour", "relay", "--config", configuration]


def listen(port, options):
    """A relay on loopback serves a channel; its talker sends the microphone's audio."""
    yield channel_and_relay(port)
    yield ["tenfour", "listen", "--link-file", FOLDER / f"listen-{port}.link", "-D", "default", "-q", "--report", report("listen"),
           *options]
    yield ["tenfour", "send", "--link-file", FOLDER / f"talk-{port}.link", "-D", "default", "-q"]


def browser(name):
    """The same, heard by a browser that has the relay's page open."""
    def start(port, options):
        yield channel_and_relay(port, web=port + 1)
        yield ["tenfour", "send", "--link-file", FOLDER / f"talk-{port}.link", "-D", "default", "-q"]
        yield ["python3", "-B", WEBPAGE, "--browser", name, "--seconds", 100_000, "--every", 5, f"http://127.0.0.1:{port + 1}/"]

    return start


def announced(port, options):
    """PulseAudio itself plays a multicast group that a relay announces."""
    group = f"239.1.{port >> 8}.{port & 255}:{port + 2}"
    yield ["pactl", "load-module", "module-rtp-recv"]
    yield ["tenfour", "relay", "--bind", f"0.0.0.0:{port + 4}", "--rtp-in", f"desktop=127.0.0.1:{port}", "--rtp-out",
           f"desktop={group},sap"]
    yield ["tenfour", "send", "--input", TONE, "--payload-type", "127", f"rtp://127.0.0.1:{port}", "-q", *options]


def play(port, options):
    yield ["tenfour", "play", TONE, "-D", "default", "-q", *options]


def aplay(port, options):
    yield at_priority("aplay", "-q", "-D", "default", TONE)


def sdp(port):
    path = FOLDER / f"{port}.sdp"
    path.write_text(f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\n"
                    f"m=audio {port} RTP/AVP 111\na=rtpmap:111 opus/48000/2\n")
    return path


def ffmpeg(port, options):
    yield at_priority(
        "ffmpeg", "-loglevel", "error", "-nostdin", "-protocol_whitelist", "file,udp,rtp", "-fflags", "nobuffer", "-flags",
        "low_delay", "-probesize", "32", "-analyzeduration", "0", "-i", sdp(port), "-ac", "1", "-f", "alsa", "default")
    yield at_priority(
        "ffmpeg", "-loglevel", "error", "-nostdin", "-f", "alsa", "-channels", "1", "-sample_rate", "48000", "-i", "default", "-c:a",
        "libopus", "-b:a", "32k", "-application", "voip", "-frame_duration", "20", "-f", "rtp", "-payload_type", "111",
        f"rtp://127.0.0.1:{port}")


def gstreamer(kind, jitter=20, buffer=40):
    times = [f"buffer-time={buffer * 1000}", f"latency-time={buffer * 250}"]
    source = {"alsa": ["alsasrc", "device=default"], "pulse": ["pulsesrc"]}[kind]
    sink = {"alsa": ["alsasink", "device=default"], "pulse": ["pulsesink"]}[kind]
    caps = "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96"

    def start(port, options):
        yield at_priority(
            "gst-launch-1.0", "-q", "udpsrc", f"port={port}", f"caps={caps}", "!", "rtpjitterbuffer", f"latency={jitter}", "!",
            "rtpopusdepay", "!", "opusdec", "!", "audio/x-raw,rate=48000,channels=1", "!", *sink, *times, "processing-deadline=0")
        yield at_priority(
            "gst-launch-1.0", "-q", *source, *times, "!", "audio/x-raw,rate=48000,channels=1", "!", "opusenc", "bitrate=32000",
            "frame-size=20", "audio-type=voice", "!", "rtpopuspay", "!", "udpsink", "host=127.0.0.1", f"port={port}", "sync=false")

    return start


def trx(port, options):
    yield at_priority("rx", "-d", "default", "-h", "127.0.0.1", "-p", port, "-c", "1", "-m", "40", "-j", "40", "-v", "0")
    yield at_priority("tx", "-d", "default", "-h", "127.0.0.1", "-p", port, "-c", "1", "-b", "32", "-m", "40", "-v", "0")


CALL = [f"{FEED}:{SINK}"]
CASES = {case.name: case for case in [
    Case("recv", [f":{SINK}"], recv, tone=True),
    Case("join", [f":{SINK}"], join, pause=1, tone=True),
    Case("call", CALL, call),
    Case("send", [f"{FEED}:{SINK}"], send, output=HEARD),
    Case("talk", [f"{FEED}:{FAR_SINK}", f"{FAR_FEED}:{SINK}"], talk),
    Case("open", [f"{FEED}:{FAR_SINK}"], stations),
    Case("listen", CALL, listen),
    Case("chromium", CALL, browser("chromium"), pause=1),
    Case("firefox", CALL, browser("firefox"), pause=1),
    Case("announced", [f":{SINK}"], announced, tone=True),
    Case("play", [f":{SINK}"], play, tone=True),
    Case("aplay", [f":{SINK}"], aplay, tone=True),
    Case("ffmpeg", CALL, ffmpeg, pause=1.5),
    Case("gstreamer", CALL, gstreamer("alsa"), pause=1),
    Case("gstreamer-pulse", CALL, gstreamer("pulse"), pause=1),
    Case("trx", CALL, trx),
]}
