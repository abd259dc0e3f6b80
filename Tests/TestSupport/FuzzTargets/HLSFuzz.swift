import TenfourHLSSource
import TenfourMediaSource

/// Feeds the bytes as playlists of HTTP Live Streaming: parts between NUL bytes are the same live playlist, loaded again
/// and again. Feeds them also as the bytes of a segment.
func feedHLS(_ bytes: Span<UInt8>) {
    let all = bytes.indices.map { bytes[$0] }
    var timeline: HLSTimeline?
    for part in all.split(separator: 0, maxSplits: 64) {
        for base in [Resource.http(address: "https://host/folder/list?a=b"), .file(path: "/folder/list")] {
            guard let playlist = parse(Array(part), base) else { continue }
            switch playlist {
            case .master(let master): check(master)
            case .media(let media):
                check(media, base)
                guard case .http = base else { continue }
                if timeline == nil { timeline = HLSTimeline(media) } else { update(&timeline, media) }
            }
        }
    }
    feedSegment(all)
}

private func parse(_ bytes: [UInt8], _ base: Resource) -> HLSPlaylist? {
    do throws(HLSPlaylistError) {
        return try HLSPlaylist(parsing: bytes.span, from: base)
    } catch {
        checkShown(error.description)
        return nil
    }
}

private func check(_ master: HLSMasterPlaylist) {
    precondition(master.variants.count <= HLSPlaylist.maximumStreamCount)
    precondition(master.renditions.count <= HLSPlaylist.maximumStreamCount)
    for rendition in master.renditions { checkShown(rendition.name ?? "") }
    for reference in master.audioReferences { check(reference, master.base) }
}

private func check(_ media: HLSMediaPlaylist, _ base: Resource) {
    precondition(media.segments.count <= HLSPlaylist.maximumSegmentCount && media.firstNumber >= 0)
    precondition(media.targetDuration >= .zero && media.targetDuration <= .seconds(3_600))
    for segment in media.segments {
        precondition(segment.duration >= .zero && segment.duration <= media.targetDuration)
        precondition(segment.byteRange?.isEmpty != true && (segment.byteRange?.lowerBound ?? 0) >= 0)
        precondition((segment.encryption?.initializationVector?.count ?? 16) == 16)
        check(segment.reference, base)
        if let encryption = segment.encryption { check(encryption.keyReference, base) }
        if let header = segment.header { check(header.reference, base) }
    }
}

/// Nothing in a playlist from the network leads to a file of this machine, or to another scheme.
private func check(_ reference: String, _ base: Resource) {
    guard let resource = try? base.resolving(reference) else { return }
    switch resource {
    case .http(let address): precondition(address.hasPrefix("http://") || address.hasPrefix("https://"))
    case .file, .standardInput:
        guard case .file = base else { preconditionFailure("the network names a file of this machine") }
    }
}

private func update(_ timeline: inout HLSTimeline?, _ media: HLSMediaPlaylist) {
    guard var updated = timeline else { return }
    let end = updated.window.upperBound
    let place = updated.startPlace
    switch updated.update(media) {
    case .restarted: precondition(updated.window.lowerBound == end && updated.entry(at: place) == .vanished)
    case .stale: precondition(updated.window.upperBound == end)
    case .changed, .unchanged: break
    }
    precondition(updated.window.contains(updated.edge) || updated.edge == updated.window.upperBound)
    for position in [Duration.zero, updated.edge, .seconds(1 << 40)] {
        guard let index = updated.index(at: position) else { continue }
        precondition(updated.playlist.segments.indices.contains(index))
    }
    if case .segment(let index) = updated.entry(at: updated.startPlace) {
        precondition(updated.playlist.segments.indices.contains(index))
    }
    timeline = updated
}

private func feedSegment(_ bytes: [UInt8]) {
    for pieceByteCount in [1, 17, 4_096] {
        for isEncrypted in [false, true] {
            var segment = HLSSegmentBytes(
                decrypt: isEncrypted ? { precondition($0.count % 16 == 0 && !$0.isEmpty, "no whole blocks") } : nil)
            var rest = bytes[...]
            while !rest.isEmpty {
                segment.feed(rest.prefix(pieceByteCount))
                rest = rest.dropFirst(pieceByteCount)
            }
            segment.finish()
            precondition(segment.output.count <= bytes.count)
            precondition((segment.timestamp ?? .zero) >= .zero && (segment.timestamp ?? .zero) < .seconds(100_000))
        }
    }
}
