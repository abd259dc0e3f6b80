import Sound
import Testing
import Waveform

private func track(seconds: Int, level: Float = 0.5) -> SoundTrack {
    var track = SoundTrack()
    let sound = [Float](repeating: level, count: 120)
    for _ in 0..<seconds * 400 { track.append(sound.span) }
    return track
}

struct WaveformTests {
    @Test func aColumnHoldsAHundredthOfASecond() {
        let track = track(seconds: 2)
        #expect(track.columns.count == 200 && track.duration == .seconds(2))
        #expect(track.columns.allSatisfy { abs($0.level.decibels + 6.02) < 0.01 && $0.peak == $0.level })
    }

    @Test func whatIsMadeUpAtOnceIsSpreadOverItsTime() {
        var track = SoundTrack()
        let sound = [Float](repeating: 0, count: 120)
        for pull in 0..<16 { track.append(sound.span, concealed: FrameCount(pull == 0 ? 960 : 0)) }
        #expect(track.columns.map(\.concealed) == [1, 1, 0, 0])
    }

    @Test func aReductionKeepsTheLoudestAndTheLatest() {
        var track = track(seconds: 1, level: 0)
        let click = [Float](repeating: 0, count: 479) + [1]
        track.append(click.span, delay: .milliseconds(30))
        let columns = track.reduced(to: 10)
        #expect(columns.count == 10)
        #expect(columns[9].peak.decibels == 0 && columns[0].peak == .floor)
        #expect(columns.map(\.delay) == [Duration?](repeating: nil, count: 9) + [.milliseconds(30)])
        #expect(track.reduced(to: 1_000).count == 101)
        #expect(SoundTrack().reduced(to: 10).isEmpty)
    }

    @Test func thePictureIsWellFormedWhateverItShows() {
        for track in [SoundTrack(), track(seconds: 1), track(seconds: 30, level: .nan)] {
            let picture = TrackPicture(
                title: "<a> & \"b\"", rows: [.init(title: "one", track: track, losses: [.zero, .seconds(1)])])
            let svg = picture.svg
            #expect(svg.hasPrefix("<?xml") && svg.hasSuffix("</svg>\n"))
            #expect(svg.contains("&lt;a&gt; &amp;"))
            #expect(!svg.contains("nan") && !svg.contains("inf"))
        }
    }
}
