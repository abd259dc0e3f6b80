import Glibc
import TenfourAudioCore
import TenfourFloor
import TenfourPushToTalk
import TenfourRadio
import TenfourSession
import TenfourSystem
import TestSupport
import Testing

@testable import tenfour

/// How the microphone and the user hear of the floor, with sessions over real sockets.
@Suite(.onItsOwnThread, .inRealTime) struct FloorNoticesTests {
    private let folder = Folder()
    private let input: RadioConfiguration.Input
    /// The sessions that share a microphone, and the other station of each.
    private let own: [RadioSession]
    private let others: [RadioSession]
    private let microphone: SharedMicrophone
    private let lease: MicrophoneLease
    private let notices: FloorNotices
    private let tones = Locked<[SignalTone]>([])
    private let events = Locked<[PushToTalk.Event]>([])

    init() throws {
        folder.write(longTone, to: "long.wav")
        input = .file(folder("long.wav"), raw: nil)
        let ports = (0..<4).map { _ in UDPPort.free() }
        let input = input
        func session(_ local: UInt16, _ remote: UInt16) throws -> RadioSession {
            var configuration = try RadioConfiguration.talking(
                with: StreamAddress(host: "127.0.0.1", port: remote), localPort: local)
            configuration.input = input
            configuration.recording = .closure { _, _ in }
            configuration.floor = .always(waits: true)
            configuration.beginsOpen = false
            return try RadioSession(configuration)
        }
        own = [try session(ports[0], ports[1]), try session(ports[2], ports[3])]
        others = [try session(ports[1], ports[0]), try session(ports[3], ports[2])]
        let microphone = SharedMicrophone(
            own, [.init(name: "home", obstacle: nil), .init(name: "work", obstacle: nil)], isHalfDuplex: true)
        self.microphone = microphone
        lease = try MicrophoneLease { microphone.set(isOpen: $0) }
        let (tones, events) = (tones, events)
        notices = FloorNotices(microphone, lease, ToneChoice(), asksForFloor: true) { tone in
            tones.withLock { $0.append(tone) }
        }
        lease.observe { event in events.withLock { $0.append(event) } }
        for other in others { other.observeFloor { _ in } }
        for session in own + others { try session.start() }
        try #require(waiting { own.allSatisfy { $0.snapshot?.floor?.otherEnd == .arbitrates } })
    }

    /// Waits up to 20 s.
    private func waiting(_ isSo: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            if isSo() { return true }
            usleep(10_000)
        }
        return false
    }

    private func hasFloor(_ session: RadioSession) -> Bool { session.snapshot?.floor?.state == .permission }

    private func end() throws {
        lease.stop()
        for session in own + others { session.stop() }
        for session in own + others { try session.wait() }
    }

    @Test func aGrantOpensTheMicrophoneWithAToneAndAnswersMoveTheFloor() throws {
        lease.press(.keyboard)
        #expect(waiting { hasFloor(own[0]) && own[0].isMicrophoneOpen })
        #expect(tones.withLock { $0 } == [.permit])
        microphone.give(to: 1)
        #expect(waiting { hasFloor(own[1]) && own[1].isMicrophoneOpen })
        #expect(waiting { own[0].snapshot?.floor?.state == .noPermission })
        #expect(!own[0].isMicrophoneOpen && tones.withLock { $0 } == [.permit, .permit])
        #expect(waiting { others[0].snapshot?.floor.map { $0.talker == nil } ?? false }, "its floor is idle")
        microphone.give(to: 0)
        #expect(waiting { hasFloor(own[0]) && own[0].isMicrophoneOpen && !hasFloor(own[1]) })
        lease.release(.keyboard)
        #expect(waiting { own[0].snapshot?.floor?.state == .noPermission && !own[0].isMicrophoneOpen })
        try end()
    }

    @Test func oneThatWaitsIsToldItsPlaceAndHearsTheToneWhenItsTurnComes() throws {
        others[0].requestFloor(at: .start)
        #expect(waiting { hasFloor(others[0]) })
        #expect(waiting { own[0].snapshot?.floor?.talker != nil })
        lease.press(.keyboard)
        var lines: [String] = []
        #expect(
            waiting {
                lines += notices.takeLines()
                return lines.contains(
                    "you are number 1 of 1 who wait: talk when you hear the tone, or let go to give up")
            }, "\(lines)")
        #expect(!own[0].isMicrophoneOpen && tones.withLock { $0 } == [])
        others[0].releaseFloor()
        #expect(waiting { hasFloor(own[0]) && own[0].isMicrophoneOpen })
        #expect(tones.withLock { $0 } == [.permit])
        try end()
    }

    /// The other session's talker does not matter to one that talks here.
    @Test func inAnotherSessionARequestThatWaitsIsTakenBack() throws {
        others[0].requestFloor(at: .start)
        #expect(waiting { hasFloor(others[0]) })
        lease.press(.keyboard)
        #expect(waiting { if case .queued = own[0].snapshot?.floor?.state { true } else { false } })
        microphone.give(to: 1)
        #expect(waiting { hasFloor(own[1]) && own[1].isMicrophoneOpen })
        #expect(waiting { own[0].snapshot?.floor?.state == .noPermission })
        others[0].releaseFloor()
        #expect(waiting { others[0].snapshot?.floor?.state == .noPermission })
        usleep(300_000)
        #expect(!hasFloor(own[0]) && hasFloor(own[1]))
        try end()
    }
}
