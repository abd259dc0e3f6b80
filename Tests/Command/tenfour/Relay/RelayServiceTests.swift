import Glibc
import TestSupport
import Testing

/// A relay that systemd has started: what it tells systemd, and when.
@Suite(.onItsOwnThread) struct RelayServiceTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func relay(_ manager: NotifySocket, watchdog: Int? = nil) throws -> Program {
        let key = try tenfour(["channel", "new", "family", "--relay", "localhost:\(port)"]).output.split(
            separator: "\n")
        folder.write("bind 127.0.0.1:\(port)\n\(key.last ?? "")\n", to: "relay.conf")
        var environment = ["NOTIFY_SOCKET": manager.name]
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog)" }
        return try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder,
            environment: environment)
    }

    @Test(arguments: [false, true]) func itReportsItsStartItsReloadAndItsEnd(isAbstract: Bool) throws {
        let manager = try NotifySocket(isAbstract ? "@tenfour-test-\(port)" : folder("notify.sock"))
        let relay = try relay(manager)
        #expect(manager.next() == "READY=1\nSTATUS=1 channel, 0 members, 0 talkers", "\(relay.errors)")
        // Its port is open when it is ready.
        #expect(UDPPort.isBound(port))
        relay.send(SIGHUP)
        let reloading = try #require(manager.next())
        let time = try #require(reloading.split(separator: "MONOTONIC_USEC=").last.flatMap { Int($0) })
        #expect(reloading.hasPrefix("RELOADING=1\n") && time > 0)
        #expect(manager.next() == "READY=1\nSTATUS=1 channel, 0 members, 0 talkers")
        folder.write("nonsense\n", to: "relay.conf")
        relay.send(SIGHUP)
        #expect(manager.next()?.hasPrefix("RELOADING=1\n") == true)
        #expect(
            manager.next() == "READY=1\nSTATUS=the new configuration has an error, so the relay keeps the old one")
        relay.send(SIGTERM)
        #expect(manager.next() == "STOPPING=1")
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }

    /// The messages come from the relay's loop: a relay whose process is stopped sends none, as if its loop hung.
    @Test func aHangingRelayStopsReportingThatItWorks() throws {
        let manager = try NotifySocket(folder("notify.sock"))
        let relay = try relay(manager, watchdog: 400_000)
        #expect(manager.next()?.hasPrefix("READY=1\n") == true, "\(relay.errors)")
        for _ in 0..<3 { #expect(manager.next() == "WATCHDOG=1\nSTATUS=1 channel, 0 members, 0 talkers") }
        relay.send(SIGSTOP)
        while manager.next(within: 1_000) != nil {}
        relay.send(SIGCONT)
        #expect(manager.next()?.hasPrefix("WATCHDOG=1\n") == true)
        relay.send(SIGTERM)
        #expect(relay.wait() == .code(0), "\(relay.errors)")
    }
}

/// A stand-in for systemd's socket, which the variable NOTIFY_SOCKET names.
final class NotifySocket {
    let name: String
    private let descriptor: Int32

    struct CannotOpen: Error { var code: Int32 }

    init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
            for (index, byte) in name.utf8.enumerated() { unsafe room[index] = byte }
            if name.hasPrefix("@") { unsafe room[0] = 0 }
        }
        let size = name.utf8.count + MemoryLayout<sa_family_t>.size
        let code = unsafe withUnsafeBytes(of: &address) {
            unsafe bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(size))
        }
        if code != 0 { throw CannotOpen(code: errno) }
    }

    deinit { close(descriptor) }

    /// Returns the next message; nil if none arrives in time.
    func next(within milliseconds: Int32 = 20_000) -> String? {
        var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wish, 1, milliseconds) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
