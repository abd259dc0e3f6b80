internal import TenfourMediaSource

/// Turns the fetched bytes of a segment into bytes for a demuxer: decrypts them, and takes the ID3 tags off its
/// beginning. Fetches nothing.
///
/// Segments of MP3, AAC and AC-3 begin with an ID3 tag that states the timestamp of the first frame (RFC 8216, section
/// 3.4). Between two segments it would be noise to a demuxer.
package struct HLSSegmentBytes {
    /// The bytes for the demuxer. The caller removes those that it has used.
    package var output: [UInt8] = []
    /// The timestamp of the first frame, as its ID3 tag states it; nil without one. Wraps after 26.5 hours.
    package private(set) var timestamp: Duration?

    private let decrypt: HLSServices.Decryption?
    /// Encrypted bytes that wait for the rest of their block, or for the next block: the last block holds the padding.
    private var encrypted: [UInt8] = []
    private var tag = Tag.unknown
    /// The bytes of the beginning, until they are known to be a tag or none.
    private var beginning: [UInt8] = []

    private enum Tag {
        /// Fewer than ten bytes have arrived.
        case unknown
        /// The given number of bytes of a tag has not arrived yet.
        case inside(left: Int)
        case none
    }

    private static let blockByteCount = 16
    private static let tagHeaderByteCount = 10
    /// The largest number of bytes of a tag that is searched for a timestamp.
    private static let tagLimit = 4_096
    private static let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)

    package init(decrypt: HLSServices.Decryption?) { self.decrypt = decrypt }

    /// Appends fetched bytes.
    package mutating func feed(_ bytes: ArraySlice<UInt8>) {
        guard let decrypt else { return append(bytes) }
        encrypted += bytes
        // Keeps the last block, whose padding is removed at the end.
        let count = (encrypted.count - 1) / Self.blockByteCount * Self.blockByteCount
        guard count > 0 else { return }
        var blocks = Array(encrypted[..<count])
        encrypted.removeFirst(count)
        decrypt(&blocks)
        append(blocks[...])
    }

    /// Records that all bytes of the segment were given.
    package mutating func finish() {
        if let decrypt, encrypted.count == Self.blockByteCount {
            decrypt(&encrypted)
            // Keeps a last block without valid padding as it is: some packagers do not pad.
            let padding = Int(encrypted[15])
            let isPadded = (1...16).contains(padding) && encrypted.suffix(padding).allSatisfy { $0 == encrypted[15] }
            append(encrypted.dropLast(isPadded ? padding : 0))
        }
        encrypted = []
        if case .unknown = tag { output += beginning }
        beginning = []
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while !rest.isEmpty {
            switch tag {
            case .none:
                output += rest
                return
            case .unknown:
                let missing = Self.tagHeaderByteCount - beginning.count
                beginning += rest.prefix(missing)
                rest = rest.dropFirst(missing)
                if beginning.count == Self.tagHeaderByteCount { startTag() }
            case .inside(let left):
                let count = min(left, rest.count)
                if beginning.count < Self.tagLimit { beginning += rest.prefix(min(count, Self.tagLimit)) }
                rest = rest.dropFirst(count)
                tag = .inside(left: left - count)
                if count == left { endTag() }
            }
        }
    }

    private mutating func startTag() {
        guard beginning.starts(with: "ID3".utf8), beginning[6...9].allSatisfy({ $0 < 0x80 }) else {
            output += beginning
            beginning = []
            tag = .none
            return
        }
        let size = beginning[6...9].reduce(0) { $0 << 7 | Int($1) } + (beginning[5] & 0x10 != 0 ? 10 : 0)
        tag = .inside(left: size)
        if size == 0 { endTag() }
    }

    /// Looks for the timestamp in the tag that has ended. Another tag may follow.
    private mutating func endTag() {
        if timestamp == nil, let start = beginning.firstRange(of: Self.owner)?.upperBound, start + 8 <= beginning.count
        {
            let number = beginning[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x1_FFFF_FFFF
            // Ticks of 1/90,000 s, as nanoseconds.
            timestamp = .nanoseconds(Int64(number) * 100_000 / 9)
        }
        beginning = []
        tag = .unknown
    }
}
