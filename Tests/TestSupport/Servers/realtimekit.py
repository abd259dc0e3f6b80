#!/usr/bin/python3
"""A private message bus with a mock of RealtimeKit (python3-dbusmock), for tests.

usage: realtimekit.py grant | pretend | deny | hang | wrong-types | tiny | none | deaf FOLDER

`grant` sets the caller's priority as RealtimeKit does, for which it must be root; `pretend` reports success without effect; `deny`
answers with AccessDenied, `hang` never answers; `wrong-types` has strings as properties, `tiny` allows 1 µs of processor time. With
`none` nobody owns the name; with `deaf` the bus itself accepts connections and sends nothing. The socket is in FOLDER. The first
line on standard error is the address of the bus, each further line a call.
"""
import ctypes, os, signal, socket, subprocess, sys, time

mood, folder = sys.argv[1:]
path = f"{folder}/bus"
CONFIGURATION = f"""<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>
<allow receive_sender="*"/></policy></busconfig>"""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def begin_bus():
    with open(f"{folder}/conf", "w") as file:
        file.write(CONFIGURATION)
    os.chmod(folder, 0o755)
    subprocess.Popen(
        ["dbus-daemon", f"--config-file={folder}/conf", "--nofork"], stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)
    # The socket file exists before the daemon listens on it.
    while not answers():
        time.sleep(0.01)


def answers():
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def serve():
    import dbus, dbus.mainloop.glib, dbusmock.mockobject
    from gi.repository import GLib

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    connection = dbus.bus.BusConnection(f"unix:path={path}")
    name = dbus.service.BusName("org.freedesktop.RealtimeKit1", connection)
    if mood == "wrong-types":
        properties = {"MaxRealtimePriority": "20", "RTTimeUSecMax": "200000"}
    else:
        allowed = 1 if mood == "tiny" else 200_000
        properties = {"MaxRealtimePriority": dbus.Int32(20), "RTTimeUSecMax": dbus.Int64(allowed)}
    mock = dbusmock.mockobject.DBusMockObject(
        name, "/org/freedesktop/RealtimeKit1", "org.freedesktop.RealtimeKit1", properties, logfile="/dev/null")
    log = "import sys; print('MakeThreadRealtime', int(args[0]), int(args[1]), file=sys.stderr, flush=True)\n"
    code = log + {
        "grant": "import os; os.sched_setscheduler(int(args[0]), os.SCHED_RR | os.SCHED_RESET_ON_FORK,"
        " os.sched_param(int(args[1])))",
        "deny": "raise dbus.exceptions.DBusException('not you', name='org.freedesktop.DBus.Error.AccessDenied')",
        "hang": "import time; time.sleep(600)",
    }.get(mood, "")
    mock.AddMethod("", "MakeThreadRealtime", "tu", "", code)
    say("address", f"unix:path={path}")
    GLib.MainLoop().run()


end_with_parent()
if mood == "deaf":
    deaf = socket.socket(socket.AF_UNIX)
    deaf.bind(path)
    deaf.listen()
    say("address", f"unix:path={path}")
    time.sleep(600)
begin_bus()
if mood == "none":
    say("address", f"unix:path={path}")
    time.sleep(600)
serve()
