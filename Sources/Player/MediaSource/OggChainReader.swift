package import TenfourAudioCore

/// Reads a chain of Ogg streams one after the other, each with a reader of its own, so that codec, rate and channels may
/// change. All have the format of the first one.
package final class OggChainReader: MediaReader {
    package typealias Opening = (any ByteSource, LPCMFormat?) throws(ReaderError) -> any MediaReader

    package let format: LPCMFormat
    private let base: any ByteSource
    private let openLink: Opening
    private let kept: [OggLink.KeptBytes]
    private var links: [Link]
    private var number = 0
    private var source: OggLink
    private var current: any MediaReader
    private let chain: ChainDemuxer
    private var hasEnded = false
    /// The error that the next read throws, because audio came before it.
    private var failure: ReaderError?
    /// The first link's error that the end of the chain throws, since the other links can be heard.
    private var damage: ReaderError?
    /// Whether the end of a link is found while it is read.
    private let findsEnd: Bool

    private struct Link {
        var start: Int
        /// The position at which the link begins.
        var begin: Estimate<Duration>?
    }

    package var demuxer: any Demuxer { chain }
    package var sampleWidth: SampleWidth? { current.sampleWidth }

    /// Opens the chain in `base`, whose links begin at `starts`. Without random access only the first is known. `kept` are
    /// bytes that need not be read again. Blocks until the first audio is decoded.
    init(
        _ base: any ByteSource, starts: [Int], kept: [OggLink.KeptBytes], format: LPCMFormat?,
        opening openLink: @escaping Opening
    ) throws(ReaderError) {
        self.base = base
        self.openLink = openLink
        self.kept = kept
        links = starts.map { Link(start: $0) }
        links[0].begin = Estimate(.zero, isExact: true)
        findsEnd = !base.state.isSeekable || base.state.byteCount == nil
        source = OggLink(
            of: base, from: 0, to: links.count > 1 ? links[1].start : nil, kept: kept, findsEnd: findsEnd)
        current = try openLink(source, format)
        self.format = current.format
        chain = ChainDemuxer(current.demuxer)
        if base.isHere { measure() }
        chain.total = { [unowned self] in total }
    }

    package var position: Estimate<Duration> {
        let begin = begin
        return Estimate(
            begin.value + current.position.value, isExact: begin.isExact && current.position.isExact)
    }

    private var begin: Estimate<Duration> { links[number].begin ?? Estimate(.zero, isExact: false) }

    package func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        if let failure {
            self.failure = nil
            throw failure
        }
        var frames = try readLink(into: &samples)
        let wanted = samples.count / format.channelCount
        do throws(ReaderError) {
            while frames.rawValue < wanted, !hasEnded {
                var rest = [Float](repeating: 0, count: (wanted - frames.rawValue) * format.channelCount)
                var room = rest.mutableSpan
                let count = try readLink(into: &room)
                // Only a read without audio is the end of a link: a short one may precede an error.
                if count == .zero {
                    guard try advance() else { break }
                    continue
                }
                let start = frames.rawValue * format.channelCount
                for index in 0..<count.rawValue * format.channelCount { samples[start + index] = rest[index] }
                frames += count
            }
        } catch {
            guard frames > .zero else { throw error }
            failure = error
        }
        guard hasEnded, let damage else { return frames }
        self.damage = nil
        guard frames > .zero else { throw damage }
        failure = failure ?? damage
        return frames
    }

    /// Reads the present link, which ends where it is damaged.
    private func readLink(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        do throws(ReaderError) { return try current.read(into: &samples) } catch {
            guard error.concernsOneLink else { throw error }
            damage = damage ?? error.located(at: begin.value)
            return .zero
        }
    }

    /// Goes on to the next link that can be opened. Returns false at the end.
    private func advance() throws(ReaderError) -> Bool {
        if number + 1 == links.count {
            guard let next = source.end else {
                hasEnded = true
                whole = position
                return false
            }
            links.append(Link(start: next))
        }
        let end = position
        hasEnded = true
        for next in links.indices[(number + 1)...] {
            if links[next].begin?.isExact != true { links[next].begin = end }
            do throws(ReaderError) {
                try open(next)
                break
            } catch {
                guard error.concernsOneLink else { throw error }
                let reason = error.located(at: (links[next].begin ?? end).value)
                guard next + 1 < links.count else { throw reason }
                damage = damage ?? reason
            }
        }
        hasEnded = false
        return true
    }

    private func open(_ next: Int) throws(ReaderError) {
        let last = next + 1 < links.count ? links[next + 1].start : nil
        let pieces = kept + [source.rest].compactMap { $0 }
        let link = OggLink(of: base, from: links[next].start, to: last, kept: pieces, findsEnd: findsEnd)
        let reader = try openLink(link, format)
        (source, current, number) = (link, reader, next)
        chain.demuxer = reader.demuxer
    }

    /// Seeks to the link that contains `position`, and in it.
    package func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> {
        if base.state.isSeekable { measure(to: position) }
        guard let target = links.lastIndex(where: { $0.begin.map { $0.value <= max(position, .zero) } ?? false }),
            target == number || base.state.isSeekable
        else { throw .demuxer(.notSeekable) }
        let before = (source, current, number, chain.demuxer)
        if target != number { try open(target) }
        do { _ = try current.seek(to: position - begin.value) } catch {
            (source, current, number, chain.demuxer) = before
            throw error
        }
        (hasEnded, failure, damage) = (false, nil, nil)
        return self.position
    }

    // MARK: Lengths

    /// The positions at which links begin and end, up to the link that contains `limit`. Each is opened for it.
    private func measure(to limit: Duration = .seconds(1 << 40)) {
        for next in links.indices.dropFirst() where links[next].begin == nil {
            guard let begin = links[next - 1].begin, begin.value <= limit, let length = length(of: next - 1) else {
                return
            }
            links[next].begin = Estimate(begin.value + length.value, isExact: begin.isExact && length.isExact)
        }
        if let begin = links[links.count - 1].begin, begin.value <= limit, last == nil {
            last = length(of: links.count - 1)
        }
    }

    /// The position of the end, once it was reached.
    private var whole: Estimate<Duration>?
    /// The length of the last link; nil if it is unknown.
    private var last: Estimate<Duration>?

    private func length(of link: Int) -> Estimate<Duration>? {
        if link == number { return current.demuxer.duration }
        let end = link + 1 < links.count ? links[link + 1].start : nil
        let source = OggLink(of: base, from: links[link].start, to: end, kept: kept)
        do throws(ReaderError) { return try openLink(source, format).demuxer.duration } catch {
            // It is passed over.
            return error.concernsOneLink ? Estimate(.zero, isExact: false) : nil
        }
    }

    /// The duration of the whole chain; nil if it is unknown.
    private var total: Estimate<Duration>? {
        if let whole { return whole }
        guard base.state.isSeekable, let byteCount = base.state.byteCount else {
            // Until another link is found, the link may be the whole file.
            guard base.state.byteCount != nil, links.count == 1 else { return nil }
            return current.demuxer.duration.map { Estimate($0.value, isExact: false) }
        }
        if let begin = links[links.count - 1].begin, let last {
            return Estimate(begin.value + last.value, isExact: begin.isExact && last.isExact)
        }
        // Estimates by the bytes of the links whose lengths are known.
        guard let own = current.demuxer.duration, number + 1 < links.count else { return nil }
        let known = (begin.value + own.value) / .seconds(1)
        // A file may state any numbers.
        let seconds = min(known * (Double(byteCount) / Double(links[number + 1].start)), 1e12)
        return Estimate(.seconds(seconds), isExact: false)
    }
}

/// The demuxer of the present link, with the duration of the whole chain.
private final class ChainDemuxer: Demuxer {
    var demuxer: any Demuxer
    var total: () -> Estimate<Duration>? = { nil }

    init(_ demuxer: any Demuxer) { self.demuxer = demuxer }

    var track: Track { demuxer.track }
    var duration: Estimate<Duration>? { total() }
    var bitRate: Int? { demuxer.bitRate }
    func nextPacket() throws(DemuxerError) -> PacketDescription? { try demuxer.nextPacket() }
    func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> { try demuxer.seek(to: position) }
    var reach: Duration? { demuxer.reach }
    func scan(for time: Duration) throws(DemuxerError) -> Bool { try demuxer.scan(for: time) }
}

extension ReaderError {
    /// Whether other links of the chain may be readable.
    fileprivate var concernsOneLink: Bool {
        if case .demuxer(.byteSource) = self { return false }
        return kind != .libraryMissing && kind != .resourcesExhausted
    }

    /// The error of a link that begins at `position`.
    fileprivate func located(at position: Duration) -> ReaderError {
        guard position > .zero else { return self }
        let tenths = Int(min((position / .milliseconds(100)).rounded(), 1e15))
        return .undecodable(
            "in the Ogg stream that begins at \(tenths / 10).\(tenths % 10) s: \(self)", kind: kind)
    }
}

extension ByteSource {
    /// Whether all bytes can be read at any offset without a request.
    var isHere: Bool {
        let state = state
        return state.isSeekable && state.phase == .ended && state.byteCount.map { state.held == 0..<$0 } ?? false
    }
}
