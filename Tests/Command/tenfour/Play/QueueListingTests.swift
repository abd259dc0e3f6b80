import TenfourAudioCore
import TenfourMediaSource
import Testing

@testable import TenfourPlayer
@testable import tenfour

struct QueueListingTests {
    private func queue(_ count: Int) -> [QueueItem] { (0..<count).map { QueueItem("song\($0).mp3") } }

    @Test func theItemThatIsHeardIsMarked() {
        #expect(QueueListing.lines(queue(2), current: 1) == ["  1 song0.mp3", "> 2 song1.mp3"])
        #expect(QueueListing.lines([], current: 0) == ["the queue is empty"])
        #expect(QueueListing.lines([QueueItem("a\u{1B}[2J")], current: 0) == ["> 1 a\u{FFFD}[2J"])
    }

    @Test func aLongQueueIsShownAroundWhatIsHeard() {
        let lines = QueueListing.lines(queue(100), current: 50)
        #expect(lines.count == 22 && lines[0] == "  40 items before" && lines[21] == "  40 items after")
        #expect(lines[11] == "> 51 song50.mp3")
        #expect(QueueListing.lines(queue(100), current: 99).last == "> 100 song99.mp3")
        #expect(QueueListing.lines(queue(100), current: 0)[0] == ">  1 song0.mp3")
    }

    @Test func chaptersAreListedWithTheirTimes() {
        let chapters = [
            Chapter(start: .zero, title: "One"), Chapter(start: .seconds(83)),
            Chapter(start: .seconds(3_723), title: "X"),
        ]
        #expect(
            ChapterListing.lines(chapters, current: 1) == [
                "3 chapters:", "  1 00:00 One", "> 2 01:23", "  3 1:02:03 X",
            ])
        #expect(ChapterListing.lines([], current: nil).isEmpty)
        let many = (0..<10_000).map { Chapter(start: .seconds($0)) }
        #expect(ChapterListing.lines(many, current: 500).count == 23)
    }

    @Test func detailsArePicturesChaptersAndGain() {
        var track = Track(codec: "flac", format: .stereo)
        #expect(ChapterListing.details(of: track).isEmpty)
        track.pictures = [
            Picture(
                kind: .frontCover, mediaType: "image/jpeg", byteCount: 98_304,
                size: Picture.Size(width: 600, height: 400)),
            Picture(byteCount: 10),
        ]
        track.chapters = [Chapter(start: .zero)]
        track.gain = ReplayGain(trackGain: -7.5, albumGain: 1)
        #expect(
            ChapterListing.details(of: track) == [
                "front cover, image/jpeg, 600×400, 96 KiB", "picture, 1 KiB", "1 chapter",
                "track gain -7.50 dB, album gain +1.00 dB",
            ])
    }
}
