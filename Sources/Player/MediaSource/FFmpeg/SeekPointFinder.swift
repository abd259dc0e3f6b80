/// Finds places in a file at which its demuxer can begin, with their timestamps, without an index: clusters of Matroska,
/// blocks of WavPack, frames of FLAC, and packets of a transport stream.
package struct SeekPointFinder: ~Copyable {
    package enum Container: Equatable {
        case matroska, wavPack
        case flac(blockSize: Int)
        /// Packets that begin the elementary stream with this identifier anew, with timestamps that wrap. `origin` is a
        /// timestamp before the wrap.
        case transportStream(identifier: Int, origin: Int64)
    }

    /// An offset in the resource, and a timestamp in the units of the container.
    package struct Place: Equatable, Sendable {
        package var offset: Int
        package var ticks: Int64

        package init(offset: Int, ticks: Int64) {
            self.offset = offset
            self.ticks = ticks
        }
    }

    private let container: Container
    private var window: ByteWindow

    /// The number of bytes that are examined at a time.
    private static let step = 16_384
    /// The longest header of a place, in bytes: that of a transport stream packet, up to the next one.
    private static let headerByteCount = 400
    /// The largest number of bytes between two places. Where none follows, the search ends.
    private static let gapLimit = 1 << 24
    /// The distance in bytes at which the search by bisection ends.
    private static let nearByteCount = 1 << 17
    private static let tryLimit = 48

    package init(_ container: Container, in byteSource: any ByteSource) {
        self.container = container
        window = ByteWindow(of: byteSource, capacity: 1 << 16)
    }

    /// Returns the last place that was found at or before `ticks`, between `low` and `high`. At most `near` ticks before
    /// `ticks` are near enough. The timestamp of `high` may be an estimate.
    package mutating func place(
        of ticks: Int64, from low: Place, to high: Place, near: Int64
    ) throws(ByteSourceError) -> Place {
        var (low, high) = (low, high)
        var tries = 0
        while high.offset - low.offset > Self.nearByteCount, ticks - low.ticks > near, tries < Self.tryLimit {
            let distance = high.offset - low.offset
            // Two of three guesses assume a constant bit rate and are slightly early. The third is in the middle, which
            // limits the number of steps.
            let share = Double(ticks - low.ticks) / Double(max(high.ticks - low.ticks, 1))
            let early = Int(Double(distance) * min(share, 1)) - Self.nearByteCount / 2
            let guess = low.offset + (tries % 3 < 2 ? min(max(early, 1), distance - 1) : distance / 2)
            tries += 1
            if let found = try next(from: guess, before: high.offset) {
                if found.ticks <= ticks { low = found } else { high = Place(offset: guess, ticks: found.ticks) }
            } else {
                high.offset = guess
            }
        }
        return low
    }

    /// Returns the first place that begins at `offset` or later, before `limit`; nil if there is none.
    package mutating func next(from offset: Int, before limit: Int) throws(ByteSourceError) -> Place? {
        var offset = offset
        let limit = min(limit, offset.addingReportingOverflow(Self.gapLimit).partialValue)
        while offset < limit {
            try window.load(at: offset, count: Self.step + Self.headerByteCount)
            let bytes = window.bytes
            guard bytes.count >= Self.headerByteCount else { return nil }
            for index in 0..<min(bytes.count - Self.headerByteCount + 1, limit - offset) {
                let ticks: Int64? =
                    switch container {
                    case .matroska: Self.timestampOfCluster(bytes, at: index)
                    case .wavPack: Self.timestampOfBlock(bytes, at: index)
                    case .flac(let blockSize): FLACFrame.firstSample(bytes, at: index, blockSize: blockSize)
                    case .transportStream(let identifier, let origin):
                        Self.timestampOfPacket(bytes, at: index, of: identifier, near: origin)
                    }
                if let ticks { return Place(offset: offset + index, ticks: ticks) }
            }
            offset += bytes.count - Self.headerByteCount + 1
        }
        return nil
    }

    /// Returns the timestamp of the cluster that begins at `offset` (RFC 9559 section 5.1.3): its first child, perhaps
    /// after a checksum.
    private static func timestampOfCluster(_ bytes: Span<UInt8>, at offset: Int) -> Int64? {
        guard bytes[offset] == 0x1F, bytes.bigEndian32(at: offset) == 0x1F43_B675 else { return nil }
        let length = bytes[offset + 4].leadingZeroBitCount + 1
        guard length <= 8 else { return nil }
        var place = offset + 4 + length
        // The checksum has four bytes.
        if bytes[place] == 0xBF, bytes[place + 1] == 0x84 { place += 6 }
        guard bytes[place] == 0xE7, bytes[place + 1] & 0x80 != 0, 1...8 ~= bytes[place + 1] & 0x7F else { return nil }
        let ticks = (0..<Int(bytes[place + 1] & 0x7F)).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[place + 2 + $1]) }
        return ticks < 1 << 55 ? Int64(ticks) : nil
    }

    /// Returns the index of the first sample of the WavPack block that begins at `offset`, if it is the first of its
    /// samples' blocks. Source: WavPack 4 & 5 Binary File / Block Format, section 2.
    private static func timestampOfBlock(_ bytes: Span<UInt8>, at offset: Int) -> Int64? {
        guard bytes[offset] == UInt8(ascii: "w"), bytes.holds("wvpk", at: offset) else { return nil }
        let (version, sampleCount) = (bytes.littleEndian16(at: offset + 8), bytes.littleEndian32(at: offset + 20))
        let flags = bytes.littleEndian32(at: offset + 24)
        guard 0x402...0x410 ~= version, sampleCount > 0, flags & 0x800 != 0 else { return nil }
        return Int64(bytes[offset + 10]) << 32 | Int64(bytes.littleEndian32(at: offset + 16))
    }

    /// Returns the presentation timestamp in the transport stream packet that begins at `offset` (ISO 13818-1 sections
    /// 2.4.3.2 and 2.4.3.6), in the turn of the clock of 33 bits that is nearest to `origin`.
    private static func timestampOfPacket(
        _ bytes: Span<UInt8>, at offset: Int, of identifier: Int, near origin: Int64
    ) -> Int64? {
        guard bytes[offset] == 0x47, bytes[offset + 188] == 0x47 || bytes[offset + 192] == 0x47 else { return nil }
        let start = bytes.bigEndian16(at: offset + 1)
        // The bit 0x40 of the first byte begins a packet of the elementary stream; 0x10 of the third means payload.
        guard start & 0x4000 != 0, Int(start & 0x1FFF) == identifier, bytes[offset + 3] & 0x10 != 0 else { return nil }
        var place = offset + 4
        if bytes[offset + 3] & 0x20 != 0 { place += 1 + Int(bytes[place]) }
        guard place + 14 <= offset + 188, bytes.bigEndian32(at: place) >> 8 == 1, bytes[place + 7] & 0x80 != 0 else {
            return nil
        }
        let ticks =
            Int64(bytes[place + 9] >> 1 & 7) << 30 | Int64(bytes.bigEndian16(at: place + 10) >> 1) << 15
            | Int64(bytes.bigEndian16(at: place + 12) >> 1)
        let turn: Int64 = 1 << 33
        let distance = (ticks - origin % turn + 2 * turn) % turn
        return origin + (distance > turn / 2 ? distance - turn : distance)
    }
}
