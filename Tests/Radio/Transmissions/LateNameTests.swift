import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourTransmissions

/// Recordings of talkers who are named after they have begun to talk.
@Suite(.onItsOwnThread) struct LateNameTests {
    private var alice = SimulatedSpeaker(1)

    /// The talker of a plain stream is named by its first report, which may come after a short transmission.
    @Test mutating func aTransmissionThatIsOverWaitsForTheNameOfItsTalker() throws {
        let scene = try RecorderScene(nameWait: .seconds(10))
        let watch = try RecordingWatch(scene.folder.path)
        scene.setName(nil, of: 1)
        scene.setPlace("10.0.0.7:5004", of: 1)
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.seconds(3))
        #expect(scene.names == ["2026-11-22T10-03-17Z_family_10.0.0.7-5004.opus"])
        #expect(try scene.log().map(\.isComplete) == [false])
        let name = "Al " + String(repeating: "é", count: 50)
        scene.setName(name, of: 1)
        scene.pass(.milliseconds(100))
        let file = try #require(scene.names.first)
        #expect(scene.names.count == 1 && file.hasPrefix("2026-11-22T10-03-17Z_family_Al-é"))
        let entry = try #require(try scene.log().first)
        #expect(entry.isComplete && entry.transmission.talker == name)
        #expect(watch.next(within: 10_000) == .completed([file]), "one recording is news once")
        #expect(watch.next(within: 0) == nil)
        let ended = scene.takeEvents().compactMap { if case .ended(_, let path) = $0 { path } else { nil } }
        #expect(ended == [scene.folder(file)])
    }

    @Test mutating func aTalkerWithoutANameIsRecordedAfterTenSeconds() throws {
        let scene = try RecorderScene(nameWait: .seconds(10))
        scene.setName(nil, of: 1)
        scene.setPlace("station 17", of: 1)
        scene.talk(&alice, for: .seconds(1))
        scene.pass(.milliseconds(8_900))
        #expect(try scene.log().map(\.isComplete) == [false])
        scene.talk(&alice, for: .seconds(1))
        #expect(try scene.log().map(\.isComplete) == [true, false])
        scene.finish()
        #expect(try scene.log().map(\.isComplete) == [true, true])
        #expect(try scene.log().map(\.transmission.talker) == ["station 17", "station 17"])
    }

    @Test mutating func aNameThatIsKnownLateReplacesNoFile() throws {
        let scene = try RecorderScene()
        scene.folder.write("kept", to: "2026-11-22T10-03-17Z_family_alice.opus")
        scene.setName(nil, of: 1)
        scene.talk(&alice, for: .seconds(1))
        scene.setName("alice", of: 1)
        scene.pass(.seconds(1))
        #expect(
            scene.names == ["2026-11-22T10-03-17Z_family_alice-2.opus", "2026-11-22T10-03-17Z_family_alice.opus"])
        #expect(Folder.text(of: scene.folder("2026-11-22T10-03-17Z_family_alice.opus")) == "kept")
    }
}
