#!/usr/bin/python3
"""A private message bus with a mock of avahi-daemon (python3-dbus), for tests.

usage: avahi.py FOLDER

The socket is in FOLDER. The first line on standard error is the address of the bus; further lines are the calls that matter. Lines on
standard input are commands, each answered with `done` and the command:

    appear | vanish                    takes the daemon's name on the bus, or gives it up
    new NAME ADDRESS PORT              reports a service on interface 2; NAME may have escapes of Python
    remove NAME
    taken NAME                         AddService refuses this name
    forbid                             no service may be announced any more
    collide                            the next group that is committed collides with another host
    server STATE                       the daemon's state: 1 registering, 2 running
    mute                               no resolver finds anything any more
    forge NAME                         another program sends the browser's signal to the client
    junk                               signals of wrong types
    hang                               no call is answered any more
"""
import os, sys, threading, time

import dbus, dbus.lowlevel, dbus.mainloop.glib, dbus.service
from gi.repository import GLib

import privatebus
from privatebus import say

folder = sys.argv[1]
path = f"{folder}/bus"
NAME = "org.freedesktop.Avahi"


class Refusal(dbus.exceptions.DBusException):
    def __init__(self, kind):
        super().__init__("refused by the mock", name=f"{NAME}.{kind}")


class State:
    browsers, resolvers, groups, services = {}, {}, {}, {}
    taken, collides, server, mute, count, client = set(), False, 2, False, 0, ""
    forbids = False

    @classmethod
    def next_path(cls, kind):
        cls.count += 1
        return f"/Client0/{kind}{cls.count}"


class Browser(dbus.service.Object):
    interface = NAME + ".ServiceBrowser"

    @dbus.service.method(interface)
    def Free(self):
        say("free browser")
        State.browsers.pop(self.__dbus_object_path__, None)
        self.remove_from_connection()

    @dbus.service.signal(interface, signature="iisssu")
    def ItemNew(self, interface, protocol, name, type, domain, flags):
        pass

    @dbus.service.signal(interface, signature="iisssu")
    def ItemRemove(self, interface, protocol, name, type, domain, flags):
        pass

    def report(self, name):
        self.ItemNew(2, 0, name, "_tenfour._udp", "local", 0)


class Resolver(dbus.service.Object):
    interface = NAME + ".ServiceResolver"

    @dbus.service.method(interface)
    def Free(self):
        say("free resolver")
        State.resolvers.pop(self.__dbus_object_path__, None)
        self.remove_from_connection()

    @dbus.service.signal(interface, signature="iissssisqaayu")
    def Found(self, interface, protocol, name, type, domain, host, aprotocol, address, port, text, flags):
        pass

    @dbus.service.signal(interface, signature="s")
    def Failure(self, error):
        pass

    def resolve(self, name):
        if State.mute or name not in State.services:
            return self.Failure("org.freedesktop.Avahi.TimeoutError")
        address, port = State.services[name]
        text = dbus.Array([dbus.ByteArray(b"txtvers=1"), dbus.ByteArray(b"version=0.5"), dbus.ByteArray(b"accepts=call,pair,x")], signature="ay")
        self.Found(2, 0, name, "_tenfour._udp", "local", "host.local", 0, address, port, text, 0)


class Group(dbus.service.Object):
    interface = NAME + ".EntryGroup"

    @dbus.service.method(interface, in_signature="iiussssqaay")
    def AddService(self, interface, protocol, flags, name, type, domain, host, port, text):
        if name in State.taken:
            raise Refusal("CollisionError")
        say("add", repr(str(name)), type, int(port), [bytes(entry).decode() for entry in text])

    @dbus.service.method(interface)
    def Commit(self):
        say("commit")
        state, State.collides = (3 if State.collides else 2), False
        GLib.idle_add(lambda: self.StateChanged(1, "") or self.StateChanged(state, "") and False)

    @dbus.service.method(interface)
    def Reset(self):
        say("reset")

    @dbus.service.signal(interface, signature="is")
    def StateChanged(self, state, error):
        pass


class Server(dbus.service.Object):
    interface = NAME + ".Server"

    @dbus.service.method(interface, out_signature="i")
    def GetState(self):
        return State.server

    @dbus.service.method(interface, in_signature="s", out_signature="s")
    def GetAlternativeServiceName(self, name):
        front, hash, number = name.rpartition(" #")
        return f"{front} #{int(number) + 1}" if hash else f"{name} #2"

    @dbus.service.method(interface, in_signature="iissu", out_signature="o", sender_keyword="client")
    def ServiceBrowserNew(self, interface, protocol, type, domain, flags, client):
        State.client = client
        path = State.next_path("ServiceBrowser")
        State.browsers[path] = browser = Browser(self.connection, path)
        GLib.idle_add(lambda: [browser.report(name) for name in State.services] and False)
        return path

    @dbus.service.method(interface, in_signature="iisssiu", out_signature="o")
    def ServiceResolverNew(self, interface, protocol, name, type, domain, aprotocol, flags):
        if name.startswith("refused"):
            raise Refusal("InvalidServiceNameError")
        path = State.next_path("ServiceResolver")
        State.resolvers[path] = resolver = Resolver(self.connection, path)
        GLib.idle_add(lambda: resolver.resolve(name) and False)
        return path

    @dbus.service.method(interface, out_signature="o")
    def EntryGroupNew(self):
        if State.forbids:
            raise Refusal("NotPermittedError")
        path = State.next_path("EntryGroup")
        State.groups[path] = Group(self.connection, path)
        return path

    @dbus.service.signal(interface, signature="is")
    def StateChanged(self, state, error):
        pass


def command(words):
    global owned
    verb = words[0]
    if verb == "appear":
        owned = dbus.service.BusName(NAME, connection, do_not_queue=True)
    elif verb == "vanish":
        for table in (State.browsers, State.resolvers, State.groups):
            for item in table.values():
                item.remove_from_connection()
            table.clear()
        owned = None
        connection.release_name(NAME)
    elif verb == "new":
        name = words[1].encode().decode("unicode_escape")
        State.services[name] = (words[2], int(words[3]))
        for browser in State.browsers.values():
            browser.report(name)
    elif verb == "remove":
        name = words[1].encode().decode("unicode_escape")
        State.services.pop(name, None)
        for browser in State.browsers.values():
            browser.ItemRemove(2, 0, name, "_tenfour._udp", "local", 0)
    elif verb == "taken":
        State.taken.add(" ".join(words[1:]))
    elif verb == "forbid":
        State.forbids = True
    elif verb == "collide":
        State.collides = True
    elif verb == "server":
        State.server = int(words[1])
        server.StateChanged(State.server, "")
    elif verb == "mute":
        State.mute = True
    elif verb in ("forge", "junk"):
        other = dbus.bus.BusConnection(f"unix:path={path}")
        for place in State.browsers:
            message = dbus.lowlevel.SignalMessage(place, Browser.interface, "ItemNew")
            if verb == "forge":
                # A browser that believes it finds an address.
                State.services[words[1]] = ("192.0.2.66", 5004)
                message.append(2, 0, words[1], "_tenfour._udp", "local", 0, signature="iisssu")
                # The bus delivers it without a match rule.
                message.set_destination(State.client)
                other.send_message(message)
            else:
                message.append({"a": 1}, "x", signature="a{si}s")
                connection.send_message(message)
                short = dbus.lowlevel.SignalMessage(place, Browser.interface, "ItemNew")
                short.append("x", signature="s")
                connection.send_message(short)
        other.flush()
        connection.flush()
    elif verb == "hang":
        say("done", *words)
        time.sleep(600)
    say("done", *words)
    return False


def read_commands():
    for line in sys.stdin:
        GLib.idle_add(command, line.split())
    os._exit(0)


privatebus.end_with_parent()
privatebus.begin(folder)
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
connection = dbus.bus.BusConnection(f"unix:path={path}")
server = Server(connection, "/")
connection.add_signal_receiver(
    lambda name, old, new: say("a client has gone") if name.startswith(":") and not new else None, "NameOwnerChanged",
    "org.freedesktop.DBus")
say("address", f"unix:path={path}")
threading.Thread(target=read_commands, daemon=True).start()
GLib.MainLoop().run()
