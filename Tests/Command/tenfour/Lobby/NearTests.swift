import Foundation
import TestSupport
import Testing

/// `tenfour near` with a mock of avahi-daemon.
@Suite(.onItsOwnThread, .inRealTime) struct NearTests {
    private let folder = Folder()

    init() { folder.write(longTone, to: "long.wav") }

    private func near(_ arguments: [String] = [], bus: String) throws
        -> (end: Program.End, output: String, errors: String)
    {
        try tenfour(["near"] + arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(bus)"])
    }

    @Test func stationsAreListedWithWhetherTheyAnswer() throws {
        let avahi = try ScriptedServer("avahi.py", ready: "address ")
        avahi.send("appear")
        let nobody = try near(bus: avahi.path("bus"))
        #expect(nobody.end == .code(0) && nobody.output == "" && nobody.errors == "tenfour: nobody is near\n")
        let bob = try StationInTerminal("Bob", in: folder)
        let port = UDPPort.free()
        avahi.send("new Bob 127.0.0.1 \(bob.port)")
        avahi.send("new Carol\\x1b[31m 127.0.0.1 \(port)")
        let list = try near(bus: avahi.path("bus"))
        #expect(list.end == .code(0) && list.errors == "", "\(list.errors)")
        let lines = list.output.split(separator: "\n")
        try #require(lines.count == 3, "\(list.output)")
        #expect(lines[0].hasPrefix("name "))
        #expect(lines[1].contains(/^Bob +host\.local +127\.0\.0\.1:\d+ +\d+ ms$/), "\(lines[1])")
        #expect(lines[2].hasPrefix("Carol\u{FFFD}[31m") && lines[2].hasSuffix("  no"), "\(lines[2])")
        let json = try near(["--json"], bus: avahi.path("bus"))
        let objects = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        try #require(objects.count == 2)
        #expect(objects[0]["name"] as? String == "Bob" && objects[0]["port"] as? Int == Int(bob.port))
        #expect(objects[0]["address"] as? String == "127.0.0.1" && objects[0]["takes_calls"] as? Bool == true)
        #expect(objects[0]["answers"] as? Bool == true && objects[0]["round_trip_ms"] is NSNumber)
        #expect(objects[1]["answers"] as? Bool == false && objects[1]["round_trip_ms"] is NSNull)
        bob.quits()
    }

    @Test func withoutADaemonTheRemedyIsTold() throws {
        let noBus = try near(bus: "/nonexistent")
        #expect(noBus.end == .code(69) && noBus.output == "")
        #expect(noBus.errors.contains("install and start dbus and avahi-daemon"), "\(noBus.errors)")
        let avahi = try ScriptedServer("avahi.py", ready: "address ")
        let noDaemon = try near(bus: avahi.path("bus"))
        #expect(noDaemon.end == .code(69))
        #expect(noDaemon.errors.contains("avahi-daemon does not run; install and start it"), "\(noDaemon.errors)")
    }
}
