internal import TenfourAudioCore
internal import TenfourMediaSource

/// The bytes of segments that continue each other, joined for one demuxer. They arrive once and in order.
///
/// `@unchecked Sendable`: a byte source must be sendable, but only the reader's thread uses this one.
final class HLSRun: ByteSource, @unchecked Sendable {
    /// The first segment that delivered bytes; nil before.
    private(set) var first: HLSSlot?
    /// The timestamp that the first segment's ID3 tag states; nil without one.
    private(set) var timestamp: Duration?

    private let session: HLSSession
    private let chain: HLSChain
    /// The segment that is being read.
    private var slot: HLSSlot?
    private var last: HLSSlot?
    private var bytes = HLSSegmentBytes(decrypt: nil)
    /// The offset of the next byte to fetch, in the segment's resource.
    private var fetchOffset = 0
    /// The number of bytes that the demuxer has read, and the number of those among `bytes.output`.
    private var offset = 0
    private var used = 0
    private var isAtEnd = false
    private var room = [UInt8](repeating: 0, count: 16_384)

    private static let keyByteCount = 16
    private static let headerLimit = 4 << 20

    init(_ session: HLSSession, _ chain: HLSChain) {
        self.session = session
        self.chain = chain
    }

    /// Leaves out the rest of the segment that is being read.
    func leaveOut() {
        if let slot { chain.remove(slot) }
        slot = nil
        isAtEnd = true
    }

    // MARK: ByteSource

    var state: ByteSourceState {
        ByteSourceState(
            phase: isAtEnd && used == bytes.output.count ? .ended : .receiving,
            available: offset..<offset + bytes.output.count - used, isSeekable: false)
    }

    /// Setting limits has no effect: they are those of the stream.
    var limits: BufferLimits {
        get { session.fetches.limits }
        set {}
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        guard offset == self.offset else {
            throw .failed(
                "this stream cannot be read at another place; save it to a file first", kind: .notSeekable)
        }
        if unsafe buffer.isEmpty { return 0 }
        while true {
            try session.fetches.check()
            if used < bytes.output.count {
                let count = min(buffer.count, bytes.output.count - used)
                unsafe buffer.copyBytes(from: bytes.output[used..<used + count])
                used += count
                self.offset += count
                return count
            }
            bytes.output.removeAll(keepingCapacity: true)
            used = 0
            if isAtEnd { return 0 }
            let now = session.now
            session.poll(at: now)
            chain.poll(at: now)
            if try !advance(at: now) { try session.wait() }
        }
    }

    func interrupt() {}
    func resume() {}
    func pause(_ isPaused: Bool) {}
    func stop() {}

    // MARK: Segments

    /// Takes one step towards more bytes. Returns false if it must wait.
    private func advance(at now: Instant) throws(ByteSourceError) -> Bool {
        if let slot { return readPiece(of: slot, at: now) }
        switch try chain.head() {
        case .waiting: return false
        case .ended: isAtEnd = true
        case .slot(let next):
            if let last, !chain.continues(next, last) {
                isAtEnd = true
                return true
            }
            guard next.source != nil else { return false }
            do throws(ByteSourceError) {
                guard try prepare(next) else { return false }
            } catch {
                if error == .interrupted { throw error }
                chain.fail(next, error, at: now)
                return true
            }
            slot = next
            fetchOffset = next.segment.byteRange?.lowerBound ?? 0
        }
        return true
    }

    /// Fetches the key of a segment and, at the beginning, the header. Returns false until they have arrived.
    private func prepare(_ slot: HLSSlot) throws(ByteSourceError) -> Bool {
        var decryption: HLSServices.Decryption?
        if let encryption = slot.segment.encryption {
            guard let made = try makeDecryption(encryption, number: slot.place.number) else { return false }
            decryption = made
        }
        var beginning: [UInt8] = []
        if last == nil, let header = slot.segment.header {
            guard let bytes = try fetch(header, number: slot.place.number) else { return false }
            beginning = bytes
        }
        bytes = HLSSegmentBytes(decrypt: decryption)
        bytes.output = beginning
        return true
    }

    private func makeDecryption(
        _ encryption: HLSEncryption, number: Int
    ) throws(ByteSourceError) -> HLSServices.Decryption? {
        let resource = try session.timeline.playlist.resource(encryption.keyReference)
        let key: [UInt8]?
        do throws(ByteSourceError) {
            key = try session.file(resource, nil, limit: Self.keyByteCount)
        } catch {
            guard case .failed(let sentence, let kind) = error else { throw error }
            throw .failed("the key of this encrypted HLS stream cannot be fetched: \(sentence)", kind: kind)
        }
        guard let key else { return nil }
        guard key.count == Self.keyByteCount else {
            throw .failed(
                "the key of this encrypted HLS stream has \(key.count) bytes instead of 16; ask its operator, or whether it needs a log-in",
                kind: .unplayableList)
        }
        // Without an IV it is the media sequence number as a big-endian number (RFC 8216, section 5.2).
        let numbered = (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? 0 : number >> (8 * (15 - $0))) }
        return try session.fetches.services.makeDecryption(key, encryption.initializationVector ?? numbered)
    }

    private func fetch(_ header: HLSHeader, number: Int) throws(ByteSourceError) -> [UInt8]? {
        let resource = try session.timeline.playlist.resource(header.reference)
        guard let fetched = try session.file(resource, header.byteRange, limit: Self.headerLimit) else { return nil }
        guard let encryption = header.encryption else { return fetched }
        guard let decryption = try makeDecryption(encryption, number: number) else { return nil }
        var bytes = HLSSegmentBytes(decrypt: decryption)
        bytes.feed(fetched[...])
        bytes.finish()
        return bytes.output
    }

    /// Reads what has arrived of a segment. Returns false if nothing has.
    private func readPiece(of slot: HLSSlot, at now: Instant) -> Bool {
        let end = slot.segment.byteRange?.upperBound ?? .max
        guard let source = slot.source else {
            // The fetch failed before it delivered a byte, and is requested again later.
            self.slot = nil
            return true
        }
        var count = 0
        do throws(ByteSourceError) {
            guard let arrived = try source.readArrived(at: fetchOffset, into: &room) else {
                return slot.hasDelivered && chain.isStalled(slot, at: now) && finish(slot, isWhole: false)
            }
            count = min(arrived, end - fetchOffset)
        } catch {
            // The segment's bytes end here. What follows does not continue them.
            if slot.hasDelivered { return finish(slot, isWhole: false) }
            return fail(slot, error, at: now)
        }
        guard count > 0 || slot.hasDelivered else {
            return fail(slot, .failed("a segment of this HLS stream is empty; ask its operator"), at: now)
        }
        if count > 0 {
            if !slot.hasDelivered { first = first ?? slot }
            slot.hasDelivered = true
            session.hasWorked = true
            bytes.feed(room[..<count])
            fetchOffset += count
            if fetchOffset < end { return true }
        }
        return finish(slot, isWhole: true)
    }

    private func fail(_ slot: HLSSlot, _ error: ByteSourceError, at now: Instant) -> Bool {
        chain.fail(slot, error, at: now)
        self.slot = nil
        return true
    }

    private func finish(_ slot: HLSSlot, isWhole: Bool) -> Bool {
        bytes.finish()
        if first === slot { timestamp = bytes.timestamp }
        chain.remove(slot)
        (last, self.slot) = (slot, nil)
        isAtEnd = !isWhole
        return true
    }
}
