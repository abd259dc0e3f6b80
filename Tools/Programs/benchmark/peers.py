"""Other programs that send Opus over RTP from card to card, with settings as close to ours as possible."""

import shutil
import tempfile

from rig import at_priority


class Peer:
    def __init__(self, name, send, recv, start=0.5):
        self.name, self.start = name, start  # seconds that it takes to start
        self.send = lambda port: at_priority(*send(port))
        self.recv = lambda port: at_priority(*recv(port))


def present():
    """Returns the peers that are installed."""
    peers = []
    tx, rx = shutil.which("trx-tx") or shutil.which("tx"), shutil.which("trx-rx") or shutil.which("rx")
    if tx and rx:
        peers.append(trx(tx, rx, 16, 16))
        peers.append(trx(tx, rx, 16, 8, 240, 5))
    if gst := shutil.which("gst-launch-1.0"):
        peers.append(gstreamer(gst, 20, jitter=10, buffer=20_000, period=5_000))
        peers.append(gstreamer(gst, 5, jitter=5, buffer=10_000, period=2_500))
    if ffmpeg_path := shutil.which("ffmpeg"):
        peers.append(ffmpeg(ffmpeg_path))
    return peers


def trx(tx, rx, buffer, jitter, frame=960, frame_ms=20):
    """Returns trx in mono at 32 kbit/s; `buffer` and `jitter` are in milliseconds."""
    return Peer(
        f"trx, {frame_ms} ms frames, -m {buffer} -j {jitter}",
        lambda port: [tx, "-d", "lab_mic", "-h", "127.0.0.1", "-p", port, "-c", "1", "-b", "32", "-f", frame, "-m", buffer, "-v", "0"],
        lambda port: [rx, "-d", "lab_speaker", "-h", "127.0.0.1", "-p", port, "-c", "1", "-m", buffer, "-j", jitter, "-v", "0"])


def gstreamer(launch, frame_ms, jitter, buffer, period):
    """Returns GStreamer; `jitter` is in milliseconds, the other two in microseconds."""
    times = [f"buffer-time={buffer}", f"latency-time={period}"]
    caps = "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96"
    return Peer(
        f"GStreamer, {frame_ms} ms frames, jitter buffer {jitter} ms",
        lambda port: [
            launch, "-q", "alsasrc", "device=lab_mic", *times, "!", "audio/x-raw,rate=48000,channels=1", "!", "opusenc",
            "bitrate=32000", f"frame-size={frame_ms}", "audio-type=voice", "!", "rtpopuspay", "!", "udpsink", "host=127.0.0.1",
            f"port={port}", "sync=false"],
        lambda port: [
            launch, "-q", "udpsrc", f"port={port}", f"caps={caps}", "!", "rtpjitterbuffer", f"latency={jitter}", "!",
            "rtpopusdepay", "!", "opusdec", "!", "audio/x-raw,rate=48000,channels=1", "!", "alsasink", "device=lab_speaker", *times,
            "processing-deadline=0"],
        start=1)


def ffmpeg(program):
    def send(port):
        return [
            program, "-loglevel", "error", "-nostdin", "-f", "alsa", "-channels", "1", "-sample_rate", "48000", "-i", "lab_mic",
            "-c:a", "libopus", "-b:a", "32k", "-application", "voip", "-frame_duration", "20", "-f", "rtp",
            "-payload_type", "111", f"rtp://127.0.0.1:{port}"]

    def recv(port):
        sdp = tempfile.NamedTemporaryFile("w", suffix=".sdp", delete=False)
        sdp.write(f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\n"
                  f"m=audio {port} RTP/AVP 111\na=rtpmap:111 opus/48000/2\n")
        sdp.close()
        return [
            program, "-loglevel", "error", "-nostdin", "-protocol_whitelist", "file,udp,rtp", "-fflags", "nobuffer",
            "-flags", "low_delay", "-probesize", "32", "-analyzeduration", "0", "-i", sdp.name, "-ac", "1", "-f", "alsa",
            "lab_speaker"]

    return Peer("ffmpeg, 20 ms frames, no jitter buffer", send, recv, start=1.5)
