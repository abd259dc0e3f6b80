"""A private message bus for the servers beside this file."""
import ctypes, os, signal, socket, subprocess, sys, time

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow receive_sender="*"/></policy></busconfig>"""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def answers(path):
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def begin(folder, name="bus", prefix=[]):
    """Starts a bus whose socket is FOLDER/NAME, by a command behind `prefix`, and waits until it answers."""
    path = f"{folder}/{name}"
    with open(f"{path}.conf", "w") as file:
        file.write(CONFIGURATION.format(path=path))
    os.chmod(folder, 0o755)
    daemon = subprocess.Popen(
        [*prefix, "dbus-daemon", f"--config-file={path}.conf", "--nofork"], stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)
    # The socket file exists before the daemon listens on it.
    while not answers(path):
        if daemon.poll() is not None:
            say("dbus-daemon has ended")
            sys.exit(1)
        time.sleep(0.01)
    return path
