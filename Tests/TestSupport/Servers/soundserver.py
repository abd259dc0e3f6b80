#!/usr/bin/env python3
"""A web server for tests, on a free loopback port, which it prints. Serves the files of a folder.

usage: soundserver.py FOLDER [--tls CERTIFICATE KEY]

Parts of the path in front of the file's name, between slashes, select how it is served:

  norange       without support for ranges
  chunked       in chunks, without a length; with `notag` also without ETag and Last-Modified
  close         until the connection closes, without a length
  cut=N         closes the connection after N bytes of the body of each response, `cutonce=N` of the first one only
  stall=N       sends nothing more after N bytes, `stallonce=N` in the first response only
  slow=N        at N bytes a second
  late=S        after S seconds
  claim=N       with a stated length of N bytes
  redirect=N    after N redirections; `redirect=-1` redirects for ever; `leads=X` redirects to the address X, in hexadecimal
  status=N      with this status, `laterstatus=N` for all responses but the first
  later=NAME    the file NAME in all responses but the first
  icy=N         as a station: a metadata block with a rising number after every N bytes
  html          as an HTML page
  packed        compressed with gzip, whatever was requested
  bomb=SIZE     SIZE zeros, compressed with gzip
  encoding=TEXT the file, or the page of `leads`, as it is, with this Content-Encoding
  cookie        redirects and sets a cookie, without which the target answers 403
  refuserange=STATUS   this status for any request with a range, and the file without ranges for others
  changing      with another tag in each response
  type=X        with the content type X, in which `+` stands for a slash

Each request is written to standard error: method, path, Range, the number of the connection, and other headers.
"""
import gzip, os, re, socketserver, ssl, sys, threading, time
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

folder = sys.argv[1]
seen = {}
connections = 0
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        global connections
        super().setup()
        with lock:
            connections += 1
            self.number = connections

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.close_connection = False
        sys.stderr.write("%s %s %s %d %s\n" % (
            self.command, self.path, self.headers.get("Range", "-"), self.number,
            " ".join("%s=%s" % (k, v) for k, v in self.headers.items() if k not in ("Range", "Host", "Accept"))))
        sys.stderr.flush()
        try:
            self.serve()
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def serve(self):
        path = re.sub(r"^https?://[^/]*", "", self.path).split("?")[0]
        *parts, name = path.lstrip("/").split("/")
        how = dict((p.split("=", 1) + [""])[:2] for p in parts)
        with lock:
            round = seen[path] = seen.get(path, -1) + 1
        if "late" in how:
            time.sleep(float(how["late"]))
        if "leads" in how:
            return self.lead(bytes.fromhex(how["leads"]).decode(), how)
        if "redirect" in how:
            left = int(how["redirect"])
            if left != 0:
                rest = "/".join(p for p in parts if not p.startswith("redirect"))
                return self.lead("/redirect=%d/%s%s" % (left - 1, rest + "/" if rest else "", name))
        if "cookie" in how:
            self.send_response(302)
            self.send_header("Location", "/guarded/" + name)
            self.send_header("Set-Cookie", "sid=abc; Path=/")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if "guarded" in how and "sid=abc" not in self.headers.get("Cookie", ""):
            return self.whole(403, b"no", "text/plain")
        if "refuserange" in how:
            if "Range" in self.headers:
                return self.whole(int(how["refuserange"]), b"no", "text/plain")
            how["norange"] = ""
        status = how.get("status") or (how.get("laterstatus") if round else None)
        if status:
            return self.whole(int(status), b"no", "text/plain")
        if "html" in how:
            return self.whole(200, b"<!DOCTYPE html><html><body>Log in first</body></html>", "text/html")
        if round:
            name = how.get("later", name)
        try:
            if "packed" in how:
                with open(os.path.join(folder, name), "rb") as file:
                    return self.whole(200, gzip.compress(file.read(), 1), "audio/mpeg", ("Content-Encoding", "gzip"))
            if "bomb" in how:
                body = gzip.compress(bytes(int(how["bomb"])), 9)
                return self.whole(200, body, "audio/mpeg", ("Content-Encoding", "gzip"))
            if "encoding" in how:
                with open(os.path.join(folder, name), "rb") as file:
                    return self.whole(200, file.read(), "audio/mpeg", ("Content-Encoding", unquote(how["encoding"])))
            with open(os.path.join(folder, name), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                self.file(file, size, how, round)
        except FileNotFoundError:
            self.whole(404, b"not here", "text/plain")

    def lead(self, to, how={}):
        page = b"It is elsewhere." if "encoding" in how else b""
        self.send_response(302)
        self.send_header("Location", to)
        if page:
            self.send_header("Content-Encoding", unquote(how["encoding"]))
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def whole(self, status, body, kind, *headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for header in headers:
            self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def file(self, file, size, how, round):
        start, end, status = 0, size, 200
        told = int(how.get("claim", size))
        tag = '"%d-%s"' % (size, round if "changing" in how else 0)
        wants = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range", ""))
        lengthless = "chunked" in how or "close" in how or "icy" in how
        if wants and not lengthless and "norange" not in how and self.headers.get("If-Range", tag) == tag:
            start = int(wants[1])
            end = min(int(wants[2]) + 1, size) if wants[2] else size
            if start >= size:
                self.send_response(416)
                self.send_header("Content-Range", "bytes */%d" % told)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            status = 206
        self.send_response(status, None)
        self.send_header("Content-Type", how.get("type", "audio/mpeg").replace("+", "/"))
        if "notag" not in how and "icy" not in how:
            self.send_header("ETag", tag)
        interval = int(how["icy"]) if "icy" in how else None
        if interval:
            self.send_header("icy-name", "Test \x07Radio")
            self.send_header("icy-metaint", str(interval))
            self.close_connection = True
        elif "chunked" in how:
            self.send_header("Transfer-Encoding", "chunked")
        elif "close" in how:
            self.close_connection = True
        else:
            if status == 206:
                self.send_header("Content-Range", "bytes %d-%d/%d" % (start, end - 1, told))
            self.send_header("Content-Length", str(told - start if "claim" in how else end - start))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        file.seek(start)
        self.body(file, end - start, how, round, interval)

    def body(self, file, left, how, round, interval):
        cut = int(how["cut"]) if "cut" in how else int(how["cutonce"]) if "cutonce" in how and round == 0 else None
        stall = int(how["stall"]) if "stall" in how else int(how["stallonce"]) if "stallonce" in how and round == 0 else None
        rate = int(how.get("slow", 0))
        done, titles, since = 0, 0, 0
        while left > 0:
            count = min(left, 16384, rate // 10 or left)
            if cut is not None:
                count = min(count, cut - done)
            if stall is not None:
                count = min(count, stall - done)
            if interval:
                count = min(count, interval - since)
            if cut == done:
                self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(2)
                return
            if stall == done:
                self.wfile.flush()
                time.sleep(600)
            piece = file.read(count)
            if not piece:
                break
            if "chunked" in how:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            else:
                self.wfile.write(piece)
            done += len(piece)
            left -= len(piece)
            since += len(piece)
            if interval and since == interval:
                title = ("StreamTitle='%d-%d';" % (round, titles)).encode()
                title += b"\0" * (-len(title) % 16)
                self.wfile.write(bytes([len(title) // 16]) + title)
                titles, since = titles + 1, 0
            if rate:
                time.sleep(len(piece) / rate)
        if "chunked" in how:
            self.wfile.write(b"0\r\n\r\n")
        if "claim" in how:
            self.close_connection = True


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass


with Server(("127.0.0.1", 0), Handler) as server:
    if "--tls" in sys.argv:
        at = sys.argv.index("--tls")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[at + 1], sys.argv[at + 2])
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    sys.stderr.write("port %d\n" % server.server_address[1])
    sys.stderr.flush()
    server.serve_forever()
