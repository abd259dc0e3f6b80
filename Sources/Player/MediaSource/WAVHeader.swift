internal import TenfourAudioCore

/// What a WAV file says of its sound (RIFF, and RF64 of EBU Tech 3306 for more than 4 GB).
struct WAVHeader {
    enum Coding: Equatable { case unsigned8, signed16, signed24, signed32, float32, float64 }

    /// nil for what this module does not decode.
    var coding: Coding?
    var rate = 0
    var channelCount = 0
    /// Of a frame.
    var frameByteCount = 0
    /// Where the samples begin.
    var begin = 0
    /// The length that the header gives, whatever the file's is; nil where it gives none, as in what a pipe wrote.
    private var toldByteCount: Int?
    var title: String?
    var artist: String?

    private static let chunkLimit = 256
    private static let listLimit = 4_096

    init(_ window: inout ByteWindow) throws(DemuxerError) {
        do {
            var isFormatKnown = false
            var longByteCount: Int?
            var offset = 12
            for _ in 0..<Self.chunkLimit {
                try window.load(at: offset, count: 8)
                guard window.bytes.count == 8 else { break }
                let size = Int(window.bytes.littleEndian32(at: 4))
                let (isFormat, isData) = (window.bytes.holds("fmt ", at: 0), window.bytes.holds("data", at: 0))
                let (isLong, isList) = (window.bytes.holds("ds64", at: 0), window.bytes.holds("LIST", at: 0))
                offset += 8
                if isData {
                    guard isFormatKnown else { break }
                    begin = offset
                    toldByteCount = Self.told(size, longByteCount, of: window.byteSource, from: offset)
                    // Zero means no samples, or a length that is not written yet: the bytes that follow decide.
                    try window.load(at: offset, count: 4)
                    if size == 0, ["LIST", "cue ", "id3 ", "fact"].contains(where: { window.bytes.holds($0, at: 0) }) {
                        toldByteCount = 0
                    }
                    return
                }
                try window.load(at: offset, count: min(size, Self.listLimit))
                if isLong, window.bytes.count >= 16 {
                    longByteCount = Int(clamping: window.bytes.littleEndian64(at: 8))
                } else if isFormat {
                    try readFormat(window.bytes)
                    isFormatKnown = true
                } else if isList {
                    readList(window.bytes)
                }
                offset += size + size % 2
            }
        } catch let error as ByteSourceError { throw .byteSource(error) } catch let error as DemuxerError {
            throw error
        } catch {
            // Nothing else is thrown there, which the compiler does not see where two kinds are.
        }
        throw .malformed("this looks like WAV and is damaged or not all here")
    }

    /// Programs that write to a pipe put zero, the greatest length or nearly that. Programs that are still writing
    /// often put zero.
    private static func told(_ size: Int, _ long: Int?, of byteSource: any ByteSource, from begin: Int) -> Int? {
        let rest = byteSource.state.byteCount.map { max($0 - begin, 0) }
        if size == 0xFFFF_FFFF, let long, long > 0 { return long }
        return size == 0 || size >= 0x7FFF_F000 && rest.map({ $0 < size }) ?? true ? nil : size
    }

    /// How many bytes of samples there are now; nil where the end is not known.
    func byteCount(in byteSource: any ByteSource) -> Int? {
        let rest = byteSource.state.byteCount.map { max($0 - begin, 0) }
        guard let toldByteCount else { return rest }
        return rest.map { min($0, toldByteCount) } ?? toldByteCount
    }

    /// Reads the length again, as a program may still be writing the file. True where there are more samples.
    mutating func readLengthAgain(in byteSource: any ByteSource) -> Bool {
        guard let toldByteCount, byteSource.state.isSeekable else { return false }
        var size: UInt32 = 0
        let offset = begin - 4
        let count = unsafe withUnsafeMutableBytes(of: &size) { try? unsafe byteSource.read(at: offset, into: $0) }
        let again = Self.told(Int(UInt32(littleEndian: size)), nil, of: byteSource, from: begin)
        guard count == 4, again.map({ $0 > toldByteCount }) ?? true else { return false }
        self.toldByteCount = again
        return true
    }

    private mutating func readFormat(_ bytes: Span<UInt8>) throws(DemuxerError) {
        guard bytes.count >= 16 else { throw .malformed("this looks like WAV and its format is damaged") }
        var tag = bytes.littleEndian16(at: 0)
        channelCount = Int(bytes.littleEndian16(at: 2))
        rate = Int(bytes.littleEndian32(at: 4))
        frameByteCount = Int(bytes.littleEndian16(at: 12))
        let bits = Int(bytes.littleEndian16(at: 14))
        // WAVEFORMATEXTENSIBLE: the first two bytes of a long name are the old tag.
        if tag == 0xFFFE, bytes.count >= 26 { tag = bytes.littleEndian16(at: 24) }
        guard channelCount > 0, SampleRate.recorded.contains(rate) else {
            throw .malformed("this looks like WAV and its format is damaged")
        }
        coding =
            switch (tag, bits) {
            case (1, 8): .unsigned8
            case (1, 16): .signed16
            case (1, 24): .signed24
            case (1, 32): .signed32
            case (3, 32): .float32
            case (3, 64): .float64
            default: nil
            }
        if channelCount > 64 || frameByteCount != channelCount * bits / 8 { coding = nil }
    }

    /// `INFO` with `INAM` and `IART`.
    private mutating func readList(_ bytes: Span<UInt8>) {
        guard bytes.holds("INFO", at: 0) else { return }
        var offset = 4
        while offset + 8 <= bytes.count {
            let size = Int(bytes.littleEndian32(at: offset + 4))
            let (isTitle, isArtist) = (bytes.holds("INAM", at: offset), bytes.holds("IART", at: offset))
            offset += 8
            guard size <= bytes.count - offset else { return }
            let text = (offset..<offset + size).map { bytes[$0] }.prefix { $0 != 0 }
            if isTitle { title = shown(String(decoding: text, as: UTF8.self)) }
            if isArtist { artist = shown(String(decoding: text, as: UTF8.self)) }
            offset += size + size % 2
        }
    }
}
