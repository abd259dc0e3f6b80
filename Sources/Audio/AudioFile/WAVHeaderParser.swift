/// Parses the header of a WAV file chunk by chunk (Microsoft's Multimedia Programming Interface 1.0, RF64 by EBU Tech
/// 3306). The caller reads the bytes, from a pipe or a byte source.
///
/// It is our own code, since libsndfile 1.2.0 opens these files and plays less of them than is there (16-bit mono, counted
/// by `sf_readf_short`):
///
/// - A header that states size 0, which GStreamer's wavenc writes to a pipe, or RF64 whose `ds64` states 0: 0 of 8000
///   frames, from a file and from a pipe.
/// - A recording of 5 GiB whose size was never filled in (FFFFFFFF): it ends at 4 GiB, which are 6 h 12 min of stereo at
///   48 kHz.
/// - A file to which a program appends while it is played: 0 of 8000 appended frames.
/// - RF64 from a pipe: 7996 of 8000 frames.
///
/// Shorter files that state almost 2 or 4 GiB, and RF64 from a file, it plays whole.
package struct WAVHeaderParser {
    package enum Chunk: Equatable {
        /// A `fmt ` chunk, which states the sample format. Pass its body to `parseFormat`.
        case format
        /// A `ds64` chunk, which states the sizes of an RF64 file. Pass its body to `parseSizes`.
        case sizes
        /// A `LIST` chunk, such as the tags in `INFO`.
        case list
        /// A `data` chunk. The samples begin after its header.
        case samples
        case other
    }

    /// The sample format from a `fmt ` chunk.
    package struct Format: Equatable {
        /// The code of the sample type: 1 for integers, 3 for floats. With WAVE_FORMAT_EXTENSIBLE, it is the first two
        /// bytes of the subformat.
        package var tag: Int
        package var isExtensible: Bool
        package var channelCount: Int
        package var hertz: Int
        package var frameByteCount: Int
        package var bitsPerSample: Int
    }

    package private(set) var format: Format?
    private var longByteCount: Int?

    /// The number of bytes before the file's first chunk: `RIFF`, a size, `WAVE`.
    package static let fileHeaderByteCount = 12
    /// The number of bytes of a chunk's name and size.
    package static let chunkHeaderByteCount = 8
    /// The maximum number of chunks before the samples. A file with more chunks is refused.
    package static let chunkLimit = 256
    /// The permitted sizes of a `fmt ` chunk's body, in bytes.
    package static let formatByteCounts = 16...256
    /// The permitted sizes of a `ds64` chunk's body, in bytes.
    package static let sizesByteCounts = 16...1_024

    package init() {}

    /// Parses the eight bytes of a chunk's header. Returns the chunk's kind and the size of its body. A chunk of odd
    /// size is followed by a padding byte.
    package static func chunk(_ header: Span<UInt8>) -> (kind: Chunk, byteCount: Int) {
        let name = String(decoding: (0..<4).map { header[$0] }, as: UTF8.self)
        let kind: Chunk =
            switch name {
            case "fmt ": .format
            case "ds64": .sizes
            case "LIST": .list
            case "data": .samples
            default: .other
            }
        return (kind, number(header, at: 4, byteCount: 4))
    }

    /// Parses the body of a `fmt ` chunk. Returns false if it is too short.
    package mutating func parseFormat(_ body: Span<UInt8>) -> Bool {
        guard body.count >= Self.formatByteCounts.lowerBound else { return false }
        let tag = Self.number(body, at: 0, byteCount: 2)
        let isExtensible = tag == 0xFFFE && body.count >= 26
        format = Format(
            tag: isExtensible ? Self.number(body, at: 24, byteCount: 2) : tag, isExtensible: isExtensible,
            channelCount: Self.number(body, at: 2, byteCount: 2), hertz: Self.number(body, at: 4, byteCount: 4),
            frameByteCount: Self.number(body, at: 12, byteCount: 2),
            bitsPerSample: Self.number(body, at: 14, byteCount: 2))
        return true
    }

    /// Parses the body of a `ds64` chunk.
    package mutating func parseSizes(_ body: Span<UInt8>) {
        guard body.count >= Self.sizesByteCounts.lowerBound else { return }
        let byteCount = Self.number(body, at: 8, byteCount: 8)
        longByteCount = byteCount > 0 ? byteCount : nil
    }

    /// Returns the size of the samples in bytes, computed from `stated`, the size in the chunk's header; nil if the
    /// program that wrote the header did not know it. In this case GStreamer, arecord, sox and ffmpeg state 0, almost 2
    /// GiB or almost 4 GiB: in a pipe, and often in a file while they are still writing it. `available` is the number
    /// of bytes that follow in the file; nil if unknown. Almost 4 GiB are not believed either if more follows, as in a
    /// recording of more than 4 GiB whose size was never filled in.
    package func sampleByteCount(stated: Int, available: Int? = nil) -> Int? {
        if stated == 0xFFFF_FFFF, let longByteCount { return longByteCount }
        // A few bytes behind almost 4 GiB are further chunks.
        let isExceeded = available.map { $0 < stated || stated >= 0xFFFF_0000 && $0 - stated > 1 << 20 } ?? true
        let isPlaceholder = stated == 0 || stated >= 0x7FFF_0000 && isExceeded
        return isPlaceholder ? nil : stated
    }

    /// Returns a little-endian number, limited to `Int.max`.
    private static func number(_ bytes: Span<UInt8>, at offset: Int, byteCount: Int) -> Int {
        let bits = (0..<byteCount).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
        return Int(exactly: bits) ?? .max
    }
}
