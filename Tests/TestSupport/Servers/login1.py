#!/usr/bin/python3
"""A private message bus with a mock of login1 and of a desktop's screen saver (python3-dbus), for tests.

usage: login1.py login1 | deny | hang | screensaver | none FOLDER

`login1` gives inhibitor locks; `deny` refuses them and `hang` never answers; with `deny` and `screensaver` there is a screen saver,
and with `none` neither. The socket is in FOLDER. The first line on standard error is the address of the bus; further lines
are the calls, and `released` when a lock is given back.
"""
import os, sys, threading, time

import dbus, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

import privatebus
from privatebus import say

mood, folder = sys.argv[1:]
MANAGER, SAVER = "org.freedesktop.login1.Manager", "org.freedesktop.ScreenSaver"


class Login1(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        say("Inhibit", what, who, mode)
        if mood == "hang":
            time.sleep(600)
        if mood == "deny":
            raise dbus.exceptions.DBusException("not you", name="org.freedesktop.DBus.Error.AccessDenied")
        reading, writing = os.pipe()
        threading.Thread(target=self.watch, args=[reading], daemon=True).start()
        lock = dbus.types.UnixFd(writing)
        os.close(writing)
        return lock

    def watch(self, reading):
        os.read(reading, 1)  # returns when the last copy of the writing end is closed
        os.close(reading)
        say("released")


class ScreenSaver(dbus.service.Object):
    @dbus.service.method(SAVER, in_signature="ss", out_signature="u")
    def Inhibit(self, who, why):
        say("Inhibit", who)
        return 7

    @dbus.service.method(SAVER, in_signature="u")
    def UnInhibit(self, cookie):
        say("released", int(cookie))


privatebus.end_with_parent()
path = privatebus.begin(folder)
dbus.mainloop.glib.threads_init()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
names = []


def serve(kind, name, object_path):
    connection = dbus.bus.BusConnection(f"unix:path={path}")
    names.append(dbus.service.BusName(name, connection))
    names.append(kind(connection, object_path))


if mood in ("login1", "deny", "hang"):
    serve(Login1, "org.freedesktop.login1", "/org/freedesktop/login1")
if mood in ("deny", "screensaver"):
    serve(ScreenSaver, SAVER, "/org/freedesktop/ScreenSaver")
say("address", f"unix:path={path}")
GLib.MainLoop().run()
