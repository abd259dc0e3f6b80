#!/usr/bin/python3
"""A private message bus with a mock of RealtimeKit (python3-dbusmock), for tests.

usage: realtimekit.py grant | pretend | deny | hang | wrong-types | tiny | none | deaf FOLDER

`grant` sets the caller's priority as RealtimeKit does, for which it must be root; `pretend` reports success without effect; `deny`
answers with AccessDenied, `hang` never answers; `wrong-types` has strings as properties, `tiny` allows 1 µs of processor time. With
`none` nobody owns the name; with `deaf` the bus itself accepts connections and sends nothing. The socket is in FOLDER. The first
line on standard error is the address of the bus, each further line a call.
"""
import socket, sys, time

import privatebus
from privatebus import end_with_parent, say

mood, folder = sys.argv[1:]
path = f"{folder}/bus"


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
privatebus.begin(folder)
if mood == "none":
    say("address", f"unix:path={path}")
    time.sleep(600)
serve()
