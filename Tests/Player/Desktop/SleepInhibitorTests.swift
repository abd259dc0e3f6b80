import Glibc
import TenfourDesktop
import TestSupport
import Testing

/// The inhibitor with a mock of login1 and of a screen saver (Tests/TestSupport/Servers/login1.py).
@Suite(.onItsOwnThread) struct SleepInhibitorTests {
    /// Starts the mock, and an inhibitor for its bus.
    private func begin(_ mood: String) throws -> (ScriptedServer, SleepInhibitor) {
        let server = try ScriptedServer("login1.py", [mood], ready: "address ")
        let address = String(try #require(server.lines.first { $0.hasPrefix("address ") }).dropFirst("address ".count))
        let inhibitor = try #require(
            SleepInhibitor(systemBus: address, sessionBus: address, callLimit: .seconds(mood == "hang" ? 1 : 30)))
        return (server, inhibitor)
    }

    @Test func theLockIsHeldWhileItIsWanted() throws {
        let (server, inhibitor) = try begin("login1")
        #expect(!inhibitor.isWanted && inhibitor.holder == .none)
        for round in 1...3 {
            inhibitor.isWanted = true
            inhibitor.isWanted = true
            #expect(server.wait { inhibitor.holder == .login1 })
            #expect(server.lines.count { $0 == "Inhibit sleep:idle tenfour block" } == round)
            inhibitor.isWanted = false
            #expect(server.wait { server.lines.count { $0 == "released" } == round })
            #expect(inhibitor.holder == .none)
        }
    }

    @Test func theLockEndsWithTheInhibitor() throws {
        let (server, inhibitor) = try begin("login1")
        inhibitor.isWanted = true
        #expect(server.wait { inhibitor.holder == .login1 })
        inhibitor.stop()
        #expect(server.wait { server.lines.contains("released") })
    }

    @Test(arguments: ["deny", "screensaver"]) func theScreenSaverIsAskedWhereLogin1DoesNotHelp(mood: String) throws {
        let (server, inhibitor) = try begin(mood)
        inhibitor.isWanted = true
        #expect(server.wait { inhibitor.holder == .screenSaver })
        inhibitor.isWanted = false
        #expect(server.wait { server.lines.contains("released 7") })
    }

    @Test func withoutBothNothingHappens() throws {
        let (server, inhibitor) = try begin("none")
        inhibitor.isWanted = true
        usleep(300_000)
        #expect(inhibitor.holder == .none && !server.lines.contains { $0.hasPrefix("Inhibit") })
        inhibitor.isWanted = false
    }

    @Test func aServiceThatHangsBlocksNobody() throws {
        let (server, inhibitor) = try begin("hang")
        let start = ContinuousClock.now
        inhibitor.isWanted = true
        // The service would be waited for until the time-out of the bus.
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(server.wait { server.lines.contains { $0.hasPrefix("Inhibit") } })
        let end = ContinuousClock.now
        inhibitor.isWanted = false
        #expect(ContinuousClock.now - end < .seconds(10))
        #expect(inhibitor.holder == .none)
    }

    /// `tenfour play` holds the lock while it plays, and gives it back in a pause and at the end.
    @Test func theCommandLetsTheMachineSleepInAPause() throws {
        let server = try ScriptedServer("login1.py", ["login1"], ready: "address ")
        let address = String(try #require(server.lines.first { $0.hasPrefix("address ") }).dropFirst("address ".count))
        let (folder, session) = (Folder(), try SessionBus())
        folder.write(Recording(rate: 8_000, channels: [[Float](repeating: 0, count: 960_000)]).wav(), to: "long.wav")
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let variables = ["ALSA_CONFIG_PATH": folder("asound.conf"), "DBUS_SYSTEM_BUS_ADDRESS": address]
        let player = try Program(
            "tenfour", ["play", folder("long.wav")], environment: session.environment.merging(variables) { $1 })
        func count(_ start: String) -> Int { server.lines.count { $0.hasPrefix(start) } }
        #expect(server.wait { count("Inhibit sleep:idle") == 1 })
        #expect(try session.playerctl("pause") { _ in true })
        #expect(server.wait { count("released") == 1 })
        #expect(try session.playerctl("play") == "")
        #expect(server.wait { count("Inhibit sleep:idle") == 2 })
        player.send(SIGINT)
        #expect(player.wait(.seconds(30)) == .code(0))
        #expect(server.wait { count("released") == 2 })
    }

    @Test func withoutABusNothingHappens() throws {
        let folder = Folder()
        let inhibitor = try #require(SleepInhibitor(systemBus: "unix:path=\(folder("bus"))", sessionBus: nil))
        inhibitor.isWanted = true
        usleep(100_000)
        #expect(inhibitor.holder == .none)
    }
}
