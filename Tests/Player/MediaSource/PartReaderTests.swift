import TenfourAudioCore
import TenfourMediaSource
import TestSupport
import Testing

struct PartReaderTests {
    private static let sound = CodedAudio(seconds: 3)
    private static let format = LPCMFormat(rate: SampleRate(hertz: CodedAudio.rate), channelCount: 2)
    /// The sample at which the second track begins, which is frame 100 of a CD.
    private static let joint = 100 * 588

    private func reader() throws(ReaderError) -> any MediaReader {
        try openReader(StoredBytes(Self.sound.wav), format: Self.format)
    }

    private let first = MediaPart(number: 1, start: .zero, end: Duration.seconds(100) / 75, title: "One")
    private let second = MediaPart(number: 2, start: Duration.seconds(100) / 75, artist: "Somebody")

    @Test func partsJoinWithoutALostOrRepeatedSample() throws {
        let whole = try reader().readAll()
        let one = try PartReader(reader(), part: first)
        #expect(one.demuxer.duration == Estimate(Duration.seconds(100) / 75, isExact: true))
        let head = try one.readAll()
        #expect(head.count == Self.joint * 2)
        #expect(try one.readAll().isEmpty, "the end is the end")
        let two = try #require(one.continued(with: second))
        #expect(two.position == Estimate(.zero, isExact: true))
        #expect(try head + two.readAll() == whole)
        #expect(try PartReader(reader(), part: second).readAll() == Array(whole[(Self.joint * 2)...]))
    }

    @Test func onlyThePartThatFollowsIsContinued() throws {
        let one = try PartReader(reader(), part: first)
        #expect(one.continued(with: MediaPart(number: 3, start: .seconds(2))) == nil)
        #expect(try PartReader(reader(), part: second).continued(with: first) == nil)
    }

    @Test func seeksStayWithinThePart() throws {
        let part = MediaPart(number: 2, start: .seconds(1), end: .seconds(2))
        let reader = try PartReader(reader(), part: part)
        let all = try reader.readAll()
        #expect(all.count == CodedAudio.rate * 2)
        #expect(try reader.seek(to: .milliseconds(500)) == Estimate(.milliseconds(500), isExact: true))
        #expect(reader.position.value == .milliseconds(500))
        #expect(try reader.readAll() == Array(all[CodedAudio.rate...]))
        _ = try reader.seek(to: .seconds(9))
        #expect(try reader.readAll().isEmpty)
        _ = try reader.seek(to: .seconds(-9))
        #expect(try reader.readAll() == all)
        let share = try #require(reader.share)
        #expect(abs(share.lowerBound - 1.0 / 3) < 0.001 && abs(share.upperBound - 2.0 / 3) < 0.001)
    }

    @Test func tagsAreThoseOfThePart() throws {
        #expect(try PartReader(reader(), part: first).demuxer.track.title == "One")
        let track = try PartReader(reader(), part: second).demuxer.track
        #expect(track.title == "Track 2" && track.artist == "Somebody")
    }

    @Test func aPartBeyondTheFileIsEmpty() throws {
        let reader = try PartReader(reader(), part: MediaPart(number: 9, start: .seconds(50), end: .seconds(60)))
        #expect(try reader.readAll().isEmpty)
    }
}
