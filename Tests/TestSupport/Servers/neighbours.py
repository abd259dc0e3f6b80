#!/usr/bin/python3
"""Hosts on one network, each with its own network and mount namespace, message bus and avahi-daemon, for tests. Needs root.

usage: neighbours.py COUNT FOLDER

The first line on standard error is `ready`. The bus of host N, counted from 1, is the socket FOLDER/bus-N; its address is 10.77.0.N.
FOLDER/process-N holds the number of a process in whose namespaces other programs run on the host (nsenter).
Lines on standard input are commands, and each is answered with `done` and the command:

    cut N | join N              disconnects the host from the network, or connects it again
    kill N | start N            kills the host's avahi-daemon, or starts it
    flood N COUNT               announces COUNT services of _tenfour._udp with hostile names on host N

All ends with the end of standard input, or with this process.
"""
import ctypes, os, subprocess, sys

import privatebus
from privatebus import end_with_parent, say

count, folder = int(sys.argv[1]), sys.argv[2]
library = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000

AVAHI = """[server]
host-name=host-{number}
use-ipv4=yes
use-ipv6=no
objects-per-client-max=4096
entries-per-entry-group-max=2048
[publish]
publish-hinfo=no
publish-workstation=no
"""


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Host:
    def __init__(self, number):
        self.number, self.bus, self.avahi, self.flooder = number, f"{folder}/bus-{number}", None, None
        with open(f"{folder}/avahi-{number}.conf", "w") as file:
            file.write(AVAHI.format(number=number))
        # The first process of the host, whose namespaces the others enter.
        self.first = subprocess.Popen(
            ["unshare", "--net", "--mount", "--", "sh", "-c",
             "mount -t tmpfs none /run && mkdir /run/avahi-daemon && ip link set lo up && echo made && exec sleep 100000"],
            stdout=subprocess.PIPE, preexec_fn=end_with_parent)
        if self.first.stdout.readline() != b"made\n":
            say("namespaces cannot be made; root is needed")
            sys.exit(1)
        place = str(self.first.pid)
        with open(f"{folder}/process-{number}", "w") as file:
            file.write(place)
        run("ip", "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", place)
        run("ip", "link", "set", f"port{number}", "master", "lan")
        run("ip", "link", "set", f"port{number}", "up")
        self.run("ip", "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        privatebus.begin(folder, f"bus-{number}", self.inside([]))
        self.start()

    def inside(self, command):
        # --root: the mount namespace of a chroot has another root than the chroot.
        return ["nsenter", "--net", "--mount", "--root", "--target", str(self.first.pid), "--"] + command

    def run(self, *command):
        run(*self.inside(list(command)))

    def open(self, command):
        environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.bus}"}
        return subprocess.Popen(
            self.inside(command), env=environment, stdout=subprocess.DEVNULL,
            stderr=open(f"{folder}/log-{self.number}", "ab"), preexec_fn=end_with_parent)

    def start(self):
        # With its own /run and as root: a chroot and another user need files that only the package's scripts make.
        self.avahi = self.open(
            ["avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", f"--file={folder}/avahi-{self.number}.conf"])

    def kill(self):
        self.avahi.kill()
        self.avahi.wait()

    def flood(self, number):
        import dbus

        bus = dbus.bus.BusConnection(f"unix:path={self.bus}")
        self.flooder = bus
        name, interface = "org.freedesktop.Avahi", "org.freedesktop.Avahi.EntryGroup"
        server = dbus.Interface(bus.get_object(name, "/"), "org.freedesktop.Avahi.Server")
        for start in range(0, number, 25):
            group = dbus.Interface(bus.get_object(name, server.EntryGroupNew()), interface)
            for index in range(start, min(start + 25, number)):
                group.AddService(
                    dbus.Int32(-1), dbus.Int32(-1), dbus.UInt32(0), f"\x1b[31m\u202e{index}\x07\n", "_tenfour._udp", "", "",
                    dbus.UInt16(5004), dbus.Array([dbus.ByteArray(b"v=\x1b[2J\x00")], signature="ay"))
            group.Commit()


if library.unshare(CLONE_NEWNET) != 0:
    say("namespaces cannot be made; root is needed")
    sys.exit(1)
end_with_parent()
run("ip", "link", "add", "lan", "type", "bridge", "forward_delay", "0", "stp_state", "0", "mcast_snooping", "0")
run("ip", "link", "set", "lan", "up")
hosts = {number: Host(number) for number in range(1, count + 1)}
say("ready")
for line in sys.stdin:
    words = line.split()
    host = hosts[int(words[1])]
    if words[0] == "cut":
        run("ip", "link", "set", f"port{host.number}", "down")
    elif words[0] == "join":
        run("ip", "link", "set", f"port{host.number}", "up")
    elif words[0] == "kill":
        host.kill()
    elif words[0] == "start":
        host.start()
    elif words[0] == "flood":
        host.flood(int(words[2]))
    say("done", *words)
