import TenfourAudioCore
import TenfourJSON
import TenfourPushToTalk
import TenfourTransmissions
import Testing

@testable import TenfourRadio
@testable import tenfour

/// The microphone that several sessions share.
struct SharedMicrophoneTests {
    private let sessions: [RadioSession]
    private let channels = (0..<3).map { SharedMicrophone.Channel(name: "\($0)", obstacle: nil) }

    init() throws {
        sessions = try (0..<3).map { _ in
            try RadioSession(.talking(with: StreamAddress(host: "127.0.0.1", port: 9), localPort: 0))
        }
    }

    /// Any thread may open it: nothing waits for the terminal's thread.
    @Test func theOtherSessionsAreSilentFromTheMomentItOpens() {
        let microphone = SharedMicrophone(sessions, channels, isHalfDuplex: true)
        #expect(sessions.map(\.isMutedByOtherSession) == [false, false, false])
        microphone.set(isOpen: true)
        #expect(sessions.map(\.isMutedByOtherSession) == [false, true, true])
        #expect(sessions.map(\.isMicrophoneOpen) == [true, false, false])
        microphone.give(to: 2)
        #expect(sessions.map(\.isMutedByOtherSession) == [true, true, false])
        #expect(sessions.map(\.isMicrophoneOpen) == [false, false, true])
        microphone.set(isOpen: false)
        #expect(sessions.map(\.isMutedByOtherSession) == [false, false, false])
    }

    @Test func inFullDuplexAllAreHeard() {
        let microphone = SharedMicrophone(sessions, channels, isHalfDuplex: false)
        microphone.set(isOpen: true)
        #expect(sessions.map(\.isMutedByOtherSession) == [false, false, false])
    }

    @Test func onlyTheSessionThatHasItCaptures() {
        let microphone = SharedMicrophone(sessions, channels, isHalfDuplex: true)
        #expect(sessions.map(\.needsCapture) == [true, false, false])
        microphone.give(to: 1)
        #expect(sessions.map(\.needsCapture) == [false, true, false])
        microphone.give(to: 0)
        #expect(sessions.map(\.needsCapture) == [true, false, false])
    }

    @Test func aTransmissionInOneSessionEndsTheReplayOfAnother() throws {
        var configuration = try RadioConfiguration.talking(
            with: StreamAddress(host: "127.0.0.1", port: 9), localPort: 0)
        configuration.output = .card("null")
        configuration.keepsHistory = true
        let sessions = try (0..<2).map { _ in try RadioSession(configuration) }
        let microphone = SharedMicrophone(sessions, Array(channels.prefix(2)), isHalfDuplex: true)
        let replays = try #require(sessions[0].controls.replays)
        replays.request(.lastMinute)
        replays.deliver(TransmissionHistory(), try #require(replays.takeRequest()), at: .start)
        guard let order = replays.nextOrder() else { return #expect(Bool(false), "nothing was delivered") }
        replays.begin(order.number)
        #expect(microphone.sessions.map(\.isReplaying) == [true, false])
        sessions[1].controls.replays?.interrupt()
        #expect(microphone.sessions.map(\.isReplaying) == [false, false])
    }
}

/// The control socket's commands about all sessions that share the microphone.
struct SessionPanelTests {
    private let microphone: SharedMicrophone
    private let panel: SessionPanel

    init() throws {
        microphone = SharedMicrophone(
            try (0..<2).map { _ in
                try RadioSession(.talking(with: StreamAddress(host: "127.0.0.1", port: 9), localPort: 0))
            }, ["home", "other"].map { .init(name: $0, obstacle: nil) }, isHalfDuplex: true)
        panel = SessionPanel(microphone, VolumeControl(microphone.sessions))
    }

    private func ask(_ line: String) throws -> String? {
        panel.answer(try #require(ControlRequest(parsing: Array(line.utf8))))?.line
    }

    @Test func muteMutesAllSessions() throws {
        #expect(try ask(#"{ "command": "mute", "muted": true }"#) == #"{ "muted": true }"#)
        #expect(microphone.sessions.map(\.isSpeakerMuted) == [true, true])
        #expect(try ask(#"{ "command": "mute", "muted": false }"#) == #"{ "muted": false }"#)
        #expect(microphone.sessions.map(\.isSpeakerMuted) == [false, false])
    }

    @Test func theSessionThatWasHeardLastIsReplayed() {
        #expect(microphone.heard === microphone.sessions[0])
        microphone.setHeard(1)
        #expect(microphone.heard === microphone.sessions[1])
    }
}
