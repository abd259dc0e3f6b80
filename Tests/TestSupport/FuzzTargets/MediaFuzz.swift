import TenfourAudioCore
import TenfourHTTPSource
import TenfourMediaSource
import TestSupport

/// Feeds the bytes as an Ogg file, once with seeking and once without. The checksums are corrected first, because a
/// fuzzer would not find correct ones. The first byte is the position to seek to, in seconds.
func feedOgg(_ bytes: Span<UInt8>) {
    guard bytes.count > 1 else { return }
    let pages = repairedOgg((1..<bytes.count).map { bytes[$0] })
    for isSeekable in [true, false] {
        play(StoredBytes(pages, isSeekable: isSeekable), seeking: Int(bytes[0]))
    }
}

/// Feeds the bytes as a WAV file, whose chunk lengths may point anywhere. The first byte is the position to seek to.
func feedWAV(_ bytes: Span<UInt8>) {
    guard bytes.count > 1 else { return }
    let file = (1..<bytes.count).map { bytes[$0] }
    for isSeekable in [true, false] {
        play(StoredBytes(file, knowsLength: isSeekable, isSeekable: isSeekable), seeking: Int(bytes[0]))
    }
}

private func play(_ download: StoredBytes, seeking second: Int) {
    guard let reader = try? openReader(download, format: nil) else { return }
    checkTrack(reader.demuxer)
    _ = read(20_000, of: reader)
    for place in [Duration.seconds(second), .milliseconds(second), .seconds(second << 40), .zero] {
        guard let landed = try? reader.seek(to: place) else { continue }
        precondition(landed.value >= .zero, "a place before the beginning")
        _ = read(2_000, of: reader)
    }
    // The packets of FFmpeg state their places as FFmpeg found them; only ours lie within the bytes for certain.
    for _ in 0..<100 where reader is PacketReader {
        guard let packet = try? reader.demuxer.nextPacket() else { break }
        precondition(packet.offset >= 0 && packet.byteCount >= 0 && packet.frameCount >= .zero)
        precondition(packet.offset + packet.byteCount <= download.bytes.count, "a packet outside the bytes")
    }
    checkTrack(reader.demuxer)
}

/// Reads up to this number of frames. Returns the number of frames read.
private func read(_ frameCount: Int, of reader: any MediaReader) -> Int {
    guard let heard = try? reader.readSome(frameCount) else { return 0 }
    precondition(heard.allSatisfy(\.isFinite), "sound that is no number")
    precondition(reader.position.value >= .zero)
    return heard.count / reader.format.channelCount
}

private func checkTrack(_ demuxer: any Demuxer) {
    let track = demuxer.track
    for text in [track.codec, track.title ?? "", track.artist ?? ""] { checkShown(text) }
    checkDetails(track.chapters, track.pictures, track.gain)
    precondition((1...64).contains(track.format.channelCount) && track.format.rate.hertz > 0)
    precondition((demuxer.duration?.value ?? .zero) >= .zero && (demuxer.bitRate ?? 0) >= 0)
}

private func checkDetails(_ chapters: [Chapter], _ pictures: [Picture], _ gain: ReplayGain) {
    precondition(chapters.count <= Chapter.maximumCount)
    for (index, chapter) in chapters.enumerated() {
        checkShown(chapter.title ?? "")
        precondition(chapter.start >= .zero && (index == 0 || chapters[index - 1].start < chapter.start))
    }
    for picture in pictures {
        checkShown(picture.mediaType ?? "")
        precondition(picture.byteCount >= 0)
    }
    for mode in ReplayGain.Mode.allCases {
        precondition((0.000_9...1_001).contains(gain.factor(mode)?.amplitude ?? 1), "a gain beyond 60 dB")
    }
}

/// Feeds the bytes as the tags in front of an MP3 file, with the lengths that they state.
func feedTags(_ bytes: Span<UInt8>) {
    let file = bytes.indices.map { bytes[$0] }
    for download in [StoredBytes(file), StoredBytes(file, knowsLength: false, isHere: false)] {
        var window = ByteWindow(of: download)
        guard let tag = try? ID3Tag(&window) else { preconditionFailure("a tag is passed over, not failed over") }
        checkShown(tag.title ?? "")
        checkShown(tag.artist ?? "")
        precondition(tag.byteCount >= 0)
        checkDetails(tag.chapters, tag.pictures, tag.gain)
        precondition(download.readByteCount < 1 << 22, "a tag of few bytes is read again and again")
        guard (try? window.load(at: tag.byteCount, count: ContainerFormat.sniffedByteCount)) != nil else { continue }
        checkShown(ContainerFormat(sniffing: window.bytes).refusal ?? "")
    }
}

/// Feeds the bytes as frames of MP3, AAC and AC-3, and as the VBR header in the first frame.
func feedFrames(_ bytes: Span<UInt8>) {
    #if FFmpeg
        for offset in 0..<min(bytes.count, 64) {
            guard let header = FrameHeader(bytes, at: offset) else { continue }
            precondition((1...FrameHeader.longest).contains(header.byteCount) && header.frameCount >= 0)
            precondition((7_000...96_000).contains(header.rate) && (1...8).contains(header.channelCount))
            let frame = bytes.extracting(offset..<min(offset + header.byteCount, bytes.count))
            guard let vbr = VBRHeader(frame, header) else { continue }
            precondition((vbr.packetCount ?? 1) > 0 && (vbr.byteCount ?? 1) > 0)
            precondition(vbr.contents.isEmpty || vbr.contents.count == 100)
            precondition(vbr.delay.map { (0..<4_096).contains($0.front) && (0..<4_096).contains($0.behind) } ?? true)
        }
        let file = bytes.indices.map { bytes[$0] }
        for isSeekable in [true, false] {
            let download = StoredBytes(file, isSeekable: isSeekable)
            guard var stream = try? FrameStream(ByteWindow(of: download), from: 0) else { continue }
            _ = try? stream.readVBRHeader()
            var end = stream.parsedEnd
            while (try? stream.parseNext()) == true {
                let next = stream.parsedEnd
                precondition(next.offset > end.offset && next.time >= end.time && next.offset <= file.count)
                end = next
            }
        }
    #endif
}

/// Feeds the bytes as a file in which places are sought without an index. The first byte is the timestamp, in 256ths of a
/// long file.
func feedPlaces(_ bytes: Span<UInt8>) {
    #if FFmpeg
        guard bytes.count > 1 else { return }
        // Padding lets the finder see headers near the end of the bytes.
        let file = (1..<bytes.count).map { bytes[$0] } + [UInt8](repeating: 0, count: 400)
        let source = StoredBytes(file)
        let containers: [SeekPointFinder.Container] = [
            .matroska, .wavPack, .transportStream(identifier: 256, origin: -5),
            .transportStream(identifier: 0x1FFF, origin: 1 << 40),
        ]
        for container in containers {
            var finder = SeekPointFinder(container, in: source)
            var place = 0
            while let found = try? finder.next(from: place, before: file.count) {
                precondition(found.offset >= place && found.offset < file.count)
                place = found.offset + 1
            }
            let low = SeekPointFinder.Place(offset: 0, ticks: 0)
            for end in [1, Int64(bytes[0]) << 30, 1 << 60] {
                let high = SeekPointFinder.Place(offset: 1 << 30, ticks: end)
                guard let found = try? finder.place(of: end / 2, from: low, to: high, near: 90_000) else { continue }
                precondition(found.offset >= 0 && found.ticks <= max(end / 2, 0))
            }
        }
    #endif
}

/// Feeds the lines of an HTTP response head, and checks the decision on the response to a request from an offset.
func feedResponse(_ bytes: Span<UInt8>) {
    guard bytes.count > 2 else { return }
    let statuses = [200, 203, 206, 301, 302, 307, 308, 400, 404, 416, 429, 500]
    let (status, offset) = (statuses[Int(bytes[0]) % statuses.count], Int(bytes[1]) << 3)
    var (head, known) = (ResponseHead(), Representation?.none)
    var start = 2
    for index in 2..<bytes.count where bytes[index] == 10 || index == bytes.count - 1 {
        head.parse(bytes.extracting(start...index))
        start = index + 1
        // An empty line ends a head, and the next line begins another.
        guard index > 2, bytes[index - 1] == 10 else { continue }
        receiveAnnouncement(head, status, offset, known)
        known = Representation(head, isPart: status == 206)
        head = ResponseHead()
    }
    receiveAnnouncement(head, status, offset, known)
}

private func receiveAnnouncement(_ head: ResponseHead, _ status: Int, _ offset: Int, _ known: Representation?) {
    for text in [head.contentType, head.stationName, head.packing] { checkShown(text ?? "") }
    for count in [head.bodyByteCount, head.contentRange?.first, head.contentRange?.total, head.metadataInterval] {
        precondition((0...1 << 60).contains(count ?? 0), "a number out of range")
    }
    for hasRange in [true, false] {
        switch ResponseAction.on(status: status, head, from: offset, hasRange: hasRange, known: known) {
        case .useBody(let skipping): precondition((0...offset).contains(skipping), "more is skipped than was asked for")
        case .moved(let location): follow(location)
        case .retryWithoutRange: precondition(hasRange, "the same request is sent again")
        case .ended, .changed, .refused: break
        }
    }
}

private func follow(_ location: String) {
    guard let typed = try? Resource("https://joe:secret@host/folder/song") else { return }
    var redirect = Redirect(from: typed)
    for _ in 0..<3 {
        guard (try? redirect.follow(location, allowsDowngrade: false)) != nil else { return }
        guard case .http(let address) = redirect.target, let origin = redirect.target.origin else {
            preconditionFailure("led to what is no address")
        }
        precondition(origin.scheme == "https", "led from https to http")
        precondition(
            origin == typed.origin || redirect.target.userInfo?.contains("secret") != true
                || location.contains("secret"))
        precondition(address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        checkShown(redirect.target.description)
    }
}
