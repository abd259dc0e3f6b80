#!/usr/bin/python3
"""A program that means no good: sends a player many calls, right and wrong ones, without waiting for the answers.

usage: mprisflood.py NAME COUNT

The session bus is that of the environment. It then asks for the status, and prints `answered` when the answer is there.
"""
import sys

import dbus, dbus.lowlevel

name, count = sys.argv[1], int(sys.argv[2])
bus = dbus.SessionBus()
PATH, PLAYER, PROPERTIES = "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player", "org.freedesktop.DBus.Properties"


def calls():
    def call(interface, member, signature="", *arguments, path=PATH):
        message = dbus.lowlevel.MethodCallMessage(name, path, interface, member)
        if signature:
            message.append(*arguments, signature=signature)
        return message

    while True:
        yield call(PLAYER, "Seek", "s", "x" * 2000)
        yield call(PLAYER, "Seek", "x", 1)
        yield call(PLAYER, "SetPosition", "ox", "/no/such/track", -5)
        yield call(PLAYER, "SetPosition", "as", ["a"] * 50)
        yield call(PROPERTIES, "Set", "ssv", PLAYER, "Volume", dbus.Double(float("nan")))
        yield call(PROPERTIES, "Set", "ssv", PLAYER, "Volume", dbus.Array([dbus.Array([1], "i")], "ai"))
        yield call(PROPERTIES, "GetAll", "s", PLAYER)
        yield call("org.example.Bomb", "Explode")
        yield call(PLAYER, "Play", path="/")
        yield call(PLAYER, "OpenUri", "s", "gopher://" + "x" * 5000)


stream = calls()
for number in range(count):
    bus.send_message(next(stream))
    # One answer in a thousand is waited for, so that the bus does not throw this program out.
    if number % 1000 == 999:
        bus.call_blocking(name, PATH, PROPERTIES, "Get", "ss", (PLAYER, "Position"), timeout=60)
status = bus.call_blocking(name, PATH, PROPERTIES, "Get", "ss", (PLAYER, "PlaybackStatus"), timeout=60)
print("answered", status, file=sys.stderr, flush=True)
