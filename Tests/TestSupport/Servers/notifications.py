#!/usr/bin/python3
"""A private message bus with a mock of a desktop's notification daemon (python3-dbus), for tests.

usage: notifications.py daemon | deny | none FOLDER

`daemon` shows notifications, `deny` refuses them, and with `none` there is no daemon until a line comes on standard input. The
socket is in FOLDER. The first line on standard error is the address of the bus; further lines are the calls.
"""
import sys, threading

import dbus, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

import privatebus
from privatebus import say

mood, folder = sys.argv[1:]
NOTIFICATIONS = "org.freedesktop.Notifications"


class Daemon(dbus.service.Object):
    count = 0

    @dbus.service.method(NOTIFICATIONS, out_signature="ssss")
    def GetServerInformation(self):
        return "mock", "tenfour", "1", "1.2"

    @dbus.service.method(NOTIFICATIONS, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, program, replaced, icon, summary, body, actions, hints, expiry):
        say(f"Notify {program}: {summary}: {body}; {hints['category']}, {expiry} ms")
        if mood == "deny":
            raise dbus.exceptions.DBusException("not now", name="org.freedesktop.DBus.Error.Failed")
        self.count += 1
        return self.count

    @dbus.service.method(NOTIFICATIONS, in_signature="u")
    def CloseNotification(self, number):
        say("CloseNotification", int(number))


privatebus.end_with_parent()
path = privatebus.begin(folder)
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
kept = []


def start():
    connection = dbus.bus.BusConnection(f"unix:path={path}")
    kept.append((dbus.service.BusName(NOTIFICATIONS, connection), Daemon(connection, "/org/freedesktop/Notifications")))


def obey(line):
    start()
    say("done", line.strip())


def read_commands():
    for line in sys.stdin:
        GLib.idle_add(obey, line)


if mood != "none":
    start()
say("address", f"unix:path={path}")
threading.Thread(target=read_commands, daemon=True).start()
GLib.MainLoop().run()
