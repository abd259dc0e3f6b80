import TenfourAudioCore
import TenfourMediaSource
import TestSupport
import Testing

/// Gain, chapters and pictures in the tags that this package reads itself.
struct TagTests {
    @Test(arguments: [
        ("REPLAYGAIN_TRACK_GAIN", "-7.03 dB", -7.03), ("REPLAYGAIN_TRACK_GAIN", " +2.5dB ", 2.5),
        ("REPLAYGAIN_TRACK_GAIN", "0", 0), ("R128_TRACK_GAIN", "-256", 4), ("R128_TRACK_GAIN", "512", 7),
    ])
    func aGainIsInDecibelsAndRefersToMinus18LUFS(_ name: String, _ value: String, _ expected: Double) {
        var gain = ReplayGain()
        gain.read(name, value)
        #expect(gain.trackGain.map { abs($0 - expected) < 1e-9 } == true)
    }

    @Test(arguments: ["", "loud", "nan dB", "inf", "1e9", "-61", "0x10 dB dB", "७"])
    func aGainThatIsNoneIsIgnored(_ value: String) {
        var gain = ReplayGain()
        gain.read("REPLAYGAIN_TRACK_GAIN", value)
        gain.read("REPLAYGAIN_TRACK_PEAK", value)
        gain.read("R128_ALBUM_GAIN", value + ".5")
        #expect(gain == ReplayGain())
    }

    @Test func thePeakLimitsTheGainAndTheModeChoosesIt() throws {
        let gain = ReplayGain(trackGain: 12, trackPeak: 0.5, albumGain: -6)
        let track = try #require(gain.factor(.track))
        #expect(track.amplitude == 2 && !track.mayExceedFullScale)
        let album = try #require(gain.factor(.album))
        #expect(abs(album.amplitude - 0.501_187) < 1e-5 && !album.mayExceedFullScale)
        #expect(gain.factor(.none) == nil)
        // A peak above full scale is no reason to attenuate what the gain does not amplify.
        #expect(ReplayGain(trackGain: 3, trackPeak: 2).factor(.track) == nil)
        #expect(ReplayGain(trackGain: 3).factor(.track)?.mayExceedFullScale == true)
        #expect(ReplayGain(albumGain: -6).factor(.track) == album && ReplayGain(trackGain: -6).factor(.album) == album)
        #expect(ReplayGain(trackGain: 0).factor(.track) == nil && ReplayGain().factor(.track) == nil)
    }

    // MARK: ID3

    private func frame(_ name: String, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = Array(name.utf8)
        for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: body.count >> (24 - 8 * index))) }
        return bytes + [0, 0] + body
    }

    private func tag(_ frames: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = Array("ID3".utf8) + [3, 0, 0]
        for index in 0..<4 { bytes.append(UInt8(frames.count >> (21 - 7 * index) & 0x7F)) }
        return bytes + frames
    }

    private func read(_ frames: [UInt8]) throws -> (tag: ID3Tag, byteCount: Int) {
        let source = StoredBytes(tag(frames) + [0xFF], isHere: false)
        var window = ByteWindow(of: source)
        return (try ID3Tag(&window), source.readByteCount)
    }

    /// Returns UTF-16 with a byte order mark.
    private func wideText(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in text.utf16 { bytes += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        return bytes
    }

    private func chapter(_ milliseconds: Int, _ title: String?) -> [UInt8] {
        let start = (0..<4).map { UInt8(truncatingIfNeeded: milliseconds >> (24 - 8 * $0)) }
        var body: [UInt8] = Array("id\0".utf8)
        body += start + [UInt8](repeating: 0xFF, count: 12)
        if let title { body += frame("TIT2", [3] + Array(title.utf8)) }
        return frame("CHAP", body)
    }

    @Test func id3TellsGainChaptersAndPictures() throws {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        png += Array("IHDR".utf8)
        png += [0, 0, 2, 0, 0, 0, 1, 0] + [UInt8](repeating: 7, count: 3_000_000)
        var body: [UInt8] = [0] + Array("image/x\0".utf8)
        body += [3] + Array("A cover\0".utf8)
        let picture = frame("APIC", body + png)
        let own = frame("TXXX", [0] + Array("replaygain_track_gain\0-3.5 dB".utf8))
        let wide = frame("TXXX", [1] + wideText("REPLAYGAIN_TRACK_PEAK") + [0, 0] + wideText("0.25"))
        let chapters = chapter(90_000, "Two\u{1B}[2J") + chapter(0, "One") + chapter(180_000, nil)
        let (tag, byteCount) = try read(picture + own + wide + chapters)
        #expect(tag.gain == ReplayGain(trackGain: -3.5, trackPeak: 0.25))
        #expect(
            tag.chapters == [
                Chapter(start: .zero, title: "One"), Chapter(start: .seconds(90), title: "Two\u{FFFD}[2J"),
                Chapter(start: .seconds(180)),
            ])
        #expect(
            tag.pictures == [
                Picture(
                    kind: .frontCover, mediaType: "image/png", byteCount: png.count,
                    size: Picture.Size(width: 512, height: 256))
            ])
        #expect(byteCount < 100_000, "the picture was read")
    }

    @Test func aHundredThousandChaptersAreBounded() throws {
        let (tag, _) = try read((0..<100_000).flatMap { chapter($0, nil) })
        #expect((1...Chapter.maximumCount).contains(tag.chapters.count))
    }

    // MARK: Ogg Opus

    private func opus(_ comments: [String]) -> StoredBytes {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var tags: [UInt8] = Array("OpusTags".utf8)
        tags += number(0) + number(comments.count)
        for comment in comments { tags += number(comment.utf8.count) + Array(comment.utf8) }
        var head: [UInt8] = Array("OpusHead".utf8)
        head += [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
        var pages = page(head, sequence: 0, flags: 2, segments: [UInt8(head.count)])
        var (rest, sequence) = (tags[...], 1)
        while true {
            let body = Array(rest.prefix(255 * 255))
            rest = rest.dropFirst(body.count)
            let isLast = rest.isEmpty
            let whole = [UInt8](repeating: 255, count: body.count / 255)
            let segments = whole + (isLast || whole.count < 255 ? [UInt8(body.count % 255)] : [])
            pages += page(body, sequence: sequence, flags: sequence > 1 ? 1 : 0, segments: segments)
            sequence += 1
            if isLast { break }
        }
        pages += page([0xFC, 0xFF, 0xFE], sequence: sequence, flags: 4, segments: [3], granule: 960)
        return StoredBytes(repairedOgg(pages))
    }

    private func page(
        _ body: [UInt8], sequence: Int, flags: UInt8, segments: [UInt8], granule: UInt16 = 0
    ) -> [UInt8] {
        var bytes: [UInt8] = Array("OggS".utf8) + [0, flags, UInt8(granule & 0xFF), UInt8(granule >> 8)]
        bytes += [0, 0, 0, 0, 0, 0, 7, 0, 0, 0]
        for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: sequence >> (8 * index))) }
        bytes += [0, 0, 0, 0, UInt8(segments.count)]
        return bytes + segments + body
    }

    /// A picture of 6 MB lies before the gain, as after `loudgain`.
    @Test func commentsBehindALargePictureAreRead() throws {
        // A FLAC picture block in Base64: back cover, image/jpeg, 6×4 pixels, 4500000 bytes, of which few follow.
        let block = "AAAABAAAAAppbWFnZS9qcGVnAAAAAAAAAAYAAAAEAAAAGAAAAAAARKog"
        let picture = "METADATA_BLOCK_PICTURE=" + block + String(repeating: "A", count: 6_000_000)
        let source = opus([
            "title=A", picture, "CHAPTER001=00:00:00.000", "Chapter001Name=Begin", "CHAPTER002=01:02:03.5",
            "R128_TRACK_GAIN=-1280", "CHAPTER003=soon", "artist=B",
        ])
        let track = try openReader(source, format: nil).demuxer.track
        #expect(track.title == "A" && track.artist == "B")
        #expect(track.gain == ReplayGain(trackGain: 0))
        #expect(
            track.chapters == [Chapter(start: .zero, title: "Begin"), Chapter(start: .milliseconds(3_723_500))])
        #expect(track.pictures.first?.kind?.description == "back cover")
        #expect(track.pictures.first?.byteCount == 4_500_000)
        #expect(track.pictures.first?.size == Picture.Size(width: 6, height: 4))
    }

    @Test func sixtyThousandChaptersInCommentsAreBounded() throws {
        let chapters = (0..<60_000).map { "CHAPTER\($0)=00:00:\($0 % 60).\($0)" }
        let track = try openReader(opus(chapters), format: nil).demuxer.track
        #expect((1...Chapter.maximumCount).contains(track.chapters.count))
    }
}
