import TenfourAudioCore
import TenfourChannelKeys
import TenfourPlayer
import TenfourWaveform

/// The exact waveform of a file as the bytes of a cache file. Knows no files.
///
/// Layout, all numbers little-endian: 16 bytes of title, the number of frames (8), frames per bar (8), rate in hertz (4),
/// number of bars (4), floor (4, IEEE 754), the mean levels and the peaks (4 each), and the SHA-256 of all before it.
enum CachedWaveform {
    private static let title = Array("tenfour waveform".utf8)
    private static let headByteCount = 44
    private static let digestByteCount = 32

    /// The largest number of bytes of a file.
    static let maximumByteCount = headByteCount + 8 * 65_536 + digestByteCount

    static func bytes(of waveform: WaveformProgress) -> [UInt8] {
        let bars = waveform.partialBars.bars
        var bytes = title
        bytes += littleEndian(UInt64(truncatingIfNeeded: bars.frameCount.rawValue))
        bytes += littleEndian(UInt64(truncatingIfNeeded: bars.framesPerBar.rawValue))
        bytes += littleEndian(UInt32(truncatingIfNeeded: waveform.rate.hertz))
        bytes += littleEndian(UInt32(truncatingIfNeeded: bars.count))
        for level in [bars.floor] + bars.averages + bars.peaks { bytes += littleEndian(level.bitPattern) }
        return bytes + digest(of: bytes[...])
    }

    /// Returns the waveform; nil if the bytes are none of `barCount` bars, or are damaged.
    static func waveform(of bytes: [UInt8], barCount: Int) -> WaveformProgress? {
        guard bytes.count >= headByteCount + digestByteCount, bytes.starts(with: title) else { return nil }
        let end = bytes.count - digestByteCount
        guard digest(of: bytes[..<end]).elementsEqual(bytes[end...]) else { return nil }
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        func level(_ offset: Int) -> Float { Float(bitPattern: UInt32(number(offset, 4))) }
        let (frameCount, framesPerBar) = (number(16, 8), number(24, 8))
        let (rate, count) = (Int(number(32, 4)), Int(number(36, 4)))
        guard frameCount < 1 << 48, framesPerBar >= 1, framesPerBar <= max(frameCount, 1),
            SampleRate.recorded.contains(rate), count == min(barCount, Int(frameCount)),
            end == headByteCount + 8 * count
        else { return nil }
        var bars = Bars(
            floor: level(40), frameCount: FrameCount(Int(frameCount)), framesPerBar: FrameCount(Int(framesPerBar)))
        bars.averages = (0..<count).map { level(headByteCount + 4 * $0) }
        bars.peaks = (count..<2 * count).map { level(headByteCount + 4 * $0) }
        guard BarReduction.floors.contains(bars.floor), (bars.averages + bars.peaks).allSatisfy(\.isFinite) else {
            return nil
        }
        return WaveformProgress(
            partialBars: PartialBars(bars: bars, isRead: true), rate: SampleRate(hertz: rate))
    }

    /// Returns the name of the file for an item. It reveals neither the item's name nor its folder.
    static func name(of identity: MediaIdentity, barCount: Int) -> String {
        let numbers = [
            barCount, identity.byteCount ?? -1, Int(identity.modified ?? -1), Int(identity.start / .milliseconds(1)),
        ]
        let text = numbers.map { "\($0) " }.joined() + identity.address
        return ResumePositions.hexadecimal(digest(of: Array(text.utf8)[...]))
    }

    private static func digest(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        let digest = sha256(Array(bytes).span)
        return (0..<digestByteCount).map { digest[$0] }
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
