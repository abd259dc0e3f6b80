#!/usr/bin/env python3
"""A SOCKS 5 and HTTP proxy for tests, on a free loopback port, which it prints.

usage: proxy.py [refuse | silent]

It resolves every name to 127.0.0.1, so a name that exists nowhere else shows that the proxy was used. With `refuse` it connects to
nothing; with `silent` it accepts connections and sends nothing. Each request is written to standard error.
"""
import re, select, socket, socketserver, sys, time

mood = sys.argv[1] if len(sys.argv) > 1 else ""


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        if mood == "silent":
            time.sleep(600)
        first = self.request.recv(1, socket.MSG_PEEK)
        try:
            self.socks() if first == b"\x05" else self.http()
        except OSError:
            pass

    def exactly(self, count):
        got = b""
        while len(got) < count:
            more = self.request.recv(count - len(got))
            if not more:
                raise OSError
            got += more
        return got

    def socks(self):
        self.exactly(self.exactly(2)[1])
        self.request.sendall(b"\x05\x00")
        _, _, _, kind = self.exactly(4)
        if kind == 3:
            name = self.exactly(self.exactly(1)[0]).decode()
        else:
            name = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, self.exactly(4 if kind == 1 else 16))
        port = int.from_bytes(self.exactly(2), "big")
        self.tell("socks5 %s" % name)
        if mood == "refuse":
            return self.request.sendall(b"\x05\x02\x00\x01" + bytes(6))
        with socket.create_connection(("127.0.0.1", port)) as server:
            self.request.sendall(b"\x05\x00\x00\x01" + bytes(6))
            self.carry(server)

    def http(self):
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.request.recv(4096)
            if not more:
                return
            head += more
        line = head.split(b"\r\n")[0].decode()
        self.tell("http %s" % line)
        if mood == "refuse":
            return self.request.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        connect = line.startswith("CONNECT")
        port = int(re.search(r":(\d+)", line.replace("http://", "", 1))[1])
        with socket.create_connection(("127.0.0.1", port)) as server:
            if connect:
                self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                server.sendall(head)
            self.carry(server)

    def carry(self, server):
        while True:
            for ready in select.select([self.request, server], [], [])[0]:
                bytes = ready.recv(65536)
                if not bytes:
                    return
                (server if ready is self.request else self.request).sendall(bytes)

    def tell(self, text):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


with Server(("127.0.0.1", 0), Handler) as server:
    sys.stderr.write("port %d\n" % server.server_address[1])
    sys.stderr.flush()
    server.serve_forever()
