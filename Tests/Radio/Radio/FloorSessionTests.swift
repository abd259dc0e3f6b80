import TenfourAudioCore
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourRadio
import TenfourSession
import TenfourSystem
import TestSupport
import Testing

extension RealTimeTests {
    /// Sessions that request the floor, over real sockets.
    @Suite(.serialized) struct FloorSessionTests {
        private let folder = Folder()
        /// Written once: a session reads it while the next one begins.
        private let input: RadioConfiguration.Input

        init() throws { input = .file(try folder.sound("tone.wav", tone(440, seconds: 60)), raw: nil) }

        /// A session, and what it has been told about the floor.
        private final class Station {
            let session: RadioSession
            private let notices: Notices

            init(_ configuration: RadioConfiguration) throws {
                session = try RadioSession(configuration)
                let notices = Notices()
                session.observeFloor { notices.append($0) }
                self.notices = notices
                try session.start()
            }

            var events: [FloorEvent] {
                notices.all.compactMap { if case .event(let event) = $0 { event } else { nil } }
            }

            var isGranted: Bool { events.contains { if case .granted = $0 { true } else { false } } }
            var isDenied: Bool { events.contains { if case .denied = $0 { true } else { false } } }
            var isDone: Bool { notices.all.contains(.unanswered) }
            var sentCount: Int { session.snapshot?.sendStream.packetCount ?? 0 }

            func press(isEmergency: Bool = false) { session.requestFloor(isEmergency: isEmergency, at: .start) }

            func end() throws {
                session.stop()
                try session.wait()
            }
        }

        private func member(_ link: ChannelLink, _ use: FloorUse = .always(waits: false)) throws -> Station {
            var configuration = try RadioConfiguration.joining(link, as: .talk)
            // A station that talks without the floor would be given it as soon as it is idle.
            configuration.input = use == .ifRequired ? nil : input
            configuration.recording = .closure { _, _ in }
            configuration.floor = use
            return try Station(configuration)
        }

        @Test func membersOfAChannelTakeTurns() throws {
            let port = UDPPort.free()
            var randomness = CSPRNG()
            let secret = Secret(.talk, using: &randomness)
            func link(_ host: String?) throws -> ChannelLink {
                try ChannelLink(host: host, port: port, name: "test", opening: .secret(secret))
            }
            let answering = try member(link(nil), .ifRequired)
            let (one, two) = (try member(link("127.0.0.1")), try member(link("127.0.0.1")))
            #expect(waiting { one.session.snapshot?.floor?.otherEnd == .arbitrates })
            #expect(waiting { two.session.snapshot?.floor?.otherEnd == .arbitrates })
            #expect(one.sentCount == 0, "nothing is sent without the floor")
            one.press()
            #expect(waiting { one.isGranted && one.sentCount > 10 })
            two.press()
            #expect(waiting { two.isDenied })
            #expect(two.sentCount == 0)
            two.press(isEmergency: true)
            #expect(waiting { two.isGranted && two.sentCount > 10 })
            #expect(waiting { one.events.contains { if case .revoked = $0 { true } else { false } } })
            #expect(waiting { one.session.snapshot?.floor?.state == .noPermission })
            two.session.releaseFloor()
            #expect(waiting { one.session.snapshot?.floor.map { $0.talker == nil } ?? false })
            for station in [one, two, answering] { try station.end() }
        }

        @Test func aTalkerWhoseRelayIsGoneSendsNothingAndIsToldSo() throws {
            let port = UDPPort.free()
            var randomness = CSPRNG()
            let secret = Secret(.talk, using: &randomness)
            let answering = try member(
                ChannelLink(host: nil, port: port, name: "test", opening: .secret(secret)), .ifRequired)
            let one = try member(ChannelLink(host: "127.0.0.1", port: port, name: "test", opening: .secret(secret)))
            #expect(waiting { one.session.snapshot?.floor?.otherEnd == .arbitrates })
            one.press()
            #expect(waiting { one.isGranted && one.sentCount > 10 })
            try answering.end()
            #expect(waiting { one.events.contains(.interrupted) })
            one.session.releaseFloor()
            #expect(waiting { one.session.snapshot?.floor?.state == .noPermission })
            one.press()
            #expect(waiting { one.isDone }, "a request without an answer is reported")
            try one.end()
        }

        @Test func whereNobodyCouldGrantTheFloorTheSessionIsRefused() throws {
            var configuration = RadioConfiguration(
                local: Endpoint(.anyV4, port: UDPPort.free()), rtpSession: RTPSessionConfiguration())
            configuration.input = input
            configuration.floor = .always(waits: false)
            for remotes in [[], [Endpoint(.loopbackV4, port: 9), Endpoint(.loopbackV4, port: 11)]] {
                configuration.rtpSession.remotes = remotes
                #expect {
                    _ = try RadioSession(configuration)
                } throws: {
                    "\($0)".contains("without a relay: leave --floor out, or talk in a channel")
                }
            }
        }

        @Test func twoPlainStationsTakeTurns() throws {
            let ports = (UDPPort.free(), UDPPort.free())
            func station(_ own: UInt16, _ other: UInt16, _ use: FloorUse) throws -> Station {
                var configuration = try RadioConfiguration.talking(
                    with: StreamAddress(host: "127.0.0.1", port: other), localPort: own)
                configuration.input = input
                configuration.recording = .closure { _, _ in }
                configuration.floor = use
                return try Station(configuration)
            }
            let one = try station(ports.0, ports.1, .always(waits: false))
            let two = try station(ports.1, ports.0, .always(waits: false))
            #expect(waiting { one.session.snapshot?.floor?.otherEnd == .arbitrates })
            #expect(waiting { two.session.snapshot?.floor?.otherEnd == .arbitrates })
            #expect(one.sentCount == 0 && two.sentCount == 0)
            one.press()
            #expect(
                waiting { one.isGranted && one.sentCount > 10 })
            two.press()
            #expect(waiting { two.isDenied })
            #expect(two.sentCount == 0)
            one.session.releaseFloor()
            #expect(waiting { two.session.snapshot?.floor.map { $0.talker == nil } ?? false })
            two.press()
            #expect(waiting { two.isGranted && two.sentCount > 10 })
            for station in [one, two] { try station.end() }
        }

        /// Before the other station is heard, only the one that has answered the call can know that it arbitrates.
        @Test(arguments: [CallFloor.Role.answered, .called, .bothCalled]) func whoAnswersTheCallArbitrates(
            role: CallFloor.Role
        ) throws {
            let partner = Endpoint(.v4(0x7F00_0001), port: UDPPort.free())
            var configuration = RadioConfiguration.calling(partner, as: role, localPort: UDPPort.free())
            configuration.input = input
            configuration.recording = .closure { _, _ in }
            configuration.floor = .always(waits: false)
            let station = try Station(configuration)
            #expect(waiting { station.session.snapshot?.floor != nil })
            if role == .answered { #expect(waiting { station.session.snapshot?.floor?.otherEnd == .arbitrates }) }
            #expect((station.session.snapshot?.floor?.otherEnd == .arbitrates) == (role == .answered))
            try station.end()
        }
    }
}

/// Notices of the network thread, read by the test's.
private final class Notices: Sendable {
    private let notices = Locked<[FloorNotice]>([])
    func append(_ notice: FloorNotice) { notices.withLock { $0.append(notice) } }
    var all: [FloorNotice] { notices.withLock { $0 } }
}
