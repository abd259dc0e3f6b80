import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// The queue is edited while it plays.
@Suite(.onItsOwnThread, .inRealTime) struct QueueEditTests {
    private func streamer(
        _ opener: CodedOpener = CodedOpener(.mono), _ configure: (inout StreamerConfiguration) -> Void = { _ in }
    ) throws -> Streamer {
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.channelCount = 1
        configure(&configuration)
        return try Streamer(configuration, opener: opener)
    }

    private func names(_ streamer: Streamer) -> [String] { streamer.queue.map(\.name) }

    @Test func itemsAreInsertedMovedAndRemovedWithoutAnInterruption() async throws {
        let opener = CodedOpener(.mono)
        let streamer = try streamer(opener)
        let events = streamer.events
        streamer.open(["40", "50", "0.3"])
        streamer.play()
        #expect(waiting { streamer.state == .playing && streamer.progress.position.value > .milliseconds(50) })
        let played = streamer.progress.position.value
        streamer.insert(["60"], at: 1)
        streamer.insert(["70"], at: 99)
        streamer.move(from: 3, to: 0)
        #expect(names(streamer) == ["0.3", "40", "60", "50", "70"] && streamer.progress.item == 1)
        streamer.remove(at: 2)
        streamer.remove(at: 99)
        streamer.move(from: 99, to: 0)
        #expect(names(streamer) == ["0.3", "40", "50", "70"] && streamer.progress.item == 1)
        #expect(streamer.state == .playing && streamer.progress.position.value >= played)
        #expect(opener.opened.count <= 2, "the item that plays was opened once")
        streamer.next()
        #expect(waiting { streamer.progress.item == 2 && streamer.progress.duration?.value == .seconds(50) })
        streamer.select(0)
        #expect(waiting { streamer.progress.item == 0 && streamer.progress.duration?.value == .milliseconds(300) })
        streamer.close()
        var changes = 0
        for await event in events { if event == .queue { changes += 1 } }
        #expect(changes == 5, "one for the opened queue, and one for each edit that changed it")
    }

    @Test func removingWhatIsHeardPlaysTheNextAndAtTheEndNothing() throws {
        let streamer = try streamer()
        streamer.open(["40", "50"])
        streamer.play()
        #expect(waiting { streamer.progress.position.value > .milliseconds(50) })
        streamer.remove(at: 0)
        #expect(waiting { streamer.state == .playing && streamer.progress.duration?.value == .seconds(50) })
        #expect(names(streamer) == ["50"] && streamer.progress.item == 0)
        streamer.remove(at: 0)
        #expect(streamer.state == .ended(.finished) && streamer.queue.isEmpty)
        streamer.insert(["0.2"], at: 0)
        streamer.play()
        try streamer.wait()
        #expect(streamer.progress.position.value == .milliseconds(200))
        streamer.close()
    }

    @Test func aShuffledQueueIsPlayedOnceAndTheSeedDecidesTheOrder() async throws {
        func order(seed: UInt64) async throws -> [Int] {
            let streamer = try streamer {
                $0.isShuffled = true
                $0.shuffleSeed = seed
            }
            let events = streamer.events
            streamer.open(["0.11", "0.12", "0.13", "0.14", "0.15"])
            streamer.play()
            try streamer.wait()
            streamer.close()
            var items: [Int] = []
            for await case .item(let item, _) in events { items.append(item) }
            return items
        }
        let first = try await order(seed: 4)
        #expect(first.sorted() == [0, 1, 2, 3, 4])
        let again = try await order(seed: 4)
        #expect(first == again)
    }

    @Test func oneItemIsRepeatedUntilRepetitionEnds() throws {
        let streamer = try streamer { $0.repeats = .one }
        streamer.open(["0.2", "0.3"])
        streamer.play()
        #expect(waiting { streamer.progress.played > .milliseconds(700) })
        #expect(streamer.progress.item == 0 && streamer.repeats == .one)
        streamer.repeats = .none
        try streamer.wait()
        #expect(streamer.progress.item == 1 && streamer.state == .ended(.finished))
        streamer.close()
    }

    @Test func anItemStartsWhereItWasLeft() throws {
        let folder = Folder()
        var file = try AudioFileWriter(path: folder("long.wav"), format: .mono)
        try file.write([Float](repeating: 0.5, count: 48_000 * 3).span)
        try file.close()
        let asked = Asked()
        var configuration = StreamerConfiguration()
        configuration.output = .clock
        configuration.channelCount = 1
        configuration.startPosition = { identity, duration in
            asked.record(identity, duration)
            return .milliseconds(2_500)
        }
        let streamer = try Streamer(configuration)
        streamer.open(folder("long.wav"))
        #expect(waiting { streamer.progress.position.value == .milliseconds(2_500) })
        #expect(streamer.heardPlace?.position == .milliseconds(2_500) && streamer.heardPlace?.duration == .seconds(3))
        #expect(streamer.heardPlace?.identity == asked.identity)
        #expect(
            asked.identity?.byteCount == Folder.bytes(of: folder("long.wav")).count && asked.duration == .seconds(3))
        streamer.open(folder("long.wav"), at: .seconds(1))
        #expect(waiting { streamer.progress.position.value == .seconds(1) }, "a position that was asked for counts")
        streamer.close()
    }
}

/// What the player asked for.
private final class Asked: @unchecked Sendable {
    private(set) var identity: MediaIdentity?
    private(set) var duration: Duration?

    func record(_ identity: MediaIdentity, _ duration: Duration?) {
        (self.identity, self.duration) = (identity, duration)
    }
}
