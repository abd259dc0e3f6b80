/// Audio in memory that can be read from and written to WAV files. It shares no code with the tested modules.
public struct Recording: Sendable {
    public var rate: Int
    /// One array of samples per channel; full scale is ±1.
    public var channels: [[Float]]

    public var frameCount: Int { channels.first?.count ?? 0 }
    public var seconds: Double { Double(frameCount) / Double(rate) }

    public init(rate: Int = 48_000, channels: [[Float]]) {
        self.rate = rate
        self.channels = channels
    }
}

extension Recording {
    /// The sample format. The raw value is the number of bytes per sample.
    public enum Coding: Int, Sendable {
        case signed16 = 2
        case signed24 = 3
        case float32 = 4

        fileprivate func bits(_ sample: Float) -> UInt32 {
            switch self {
            case .signed16: UInt32(bitPattern: Int32((sample * 32_767).rounded()))
            case .signed24: UInt32(bitPattern: Int32((sample * 8_388_607).rounded()))
            case .float32: sample.bitPattern
            }
        }
    }

    /// Returns the audio as a WAV file.
    public func wav(_ coding: Coding = .signed16) -> [UInt8] {
        let samples = samples(coding)
        let frameByteCount = channels.count * coding.rawValue
        var header = Array("RIFF".utf8) + little(36 + samples.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        header += little(coding == .float32 ? 3 : 1, 2) + little(channels.count, 2) + little(rate, 4)
        header += little(rate * frameByteCount, 4) + little(frameByteCount, 2) + little(8 * coding.rawValue, 2)
        return header + Array("data".utf8) + little(samples.count, 4) + samples
    }

    /// Returns the interleaved samples without a header.
    public func samples(_ coding: Coding = .signed16) -> [UInt8] {
        let byteCount = coding.rawValue
        var bytes = [UInt8](repeating: 0, count: frameCount * channels.count * byteCount)
        for (index, channel) in channels.enumerated() {
            var place = index * byteCount
            for sample in channel {
                let bits = coding.bits(sample)
                for byte in 0..<byteCount { bytes[place + byte] = UInt8(truncatingIfNeeded: bits >> UInt32(8 * byte)) }
                place += channels.count * byteCount
            }
        }
        return bytes
    }

    private func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}

extension Recording {
    public struct NotAWAV: Error { public var path: String }

    /// Reads a WAV file with 16-bit, 24-bit or float samples. If its length is unknown, the data extends to the end
    /// of the file. Throws `NotAWAV` for any other file, such as one that is still being written.
    public init(wav path: String) throws {
        let bytes = Folder.bytes(of: path)
        func part(_ start: Int, _ count: Int) throws -> ArraySlice<UInt8> {
            guard start >= 0, count >= 0, start + count <= bytes.count else { throw NotAWAV(path: path) }
            return bytes[start..<start + count]
        }
        func number(_ start: Int, _ count: Int) throws -> Int {
            try part(start, count).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func isNamed(_ name: String, _ start: Int) throws -> Bool { try part(start, 4).elementsEqual(name.utf8) }
        guard try isNamed("RIFF", 0), try isNamed("WAVE", 8) else { throw NotAWAV(path: path) }

        var start = 20
        var fmt: Int?
        while start <= bytes.count {
            let size = min(try number(start - 4, 4), bytes.count - start)
            if try isNamed("fmt ", start - 8) { fmt = start }
            if try isNamed("data", start - 8), let fmt {
                let channelCount = try number(fmt + 2, 2)
                let byteCount = try number(fmt + 14, 2) / 8
                guard channelCount > 0, (1...4).contains(byteCount) else { throw NotAWAV(path: path) }
                let tag = try number(fmt, 2) == 0xFFFE ? number(fmt + 24, 2) : number(fmt, 2)
                let frameCount = size / byteCount / channelCount
                let shift = UInt32(32 - 8 * byteCount)
                self.init(
                    rate: try number(fmt + 4, 4),
                    channels: (0..<channelCount).map { channel in
                        (0..<frameCount).map { frame in
                            let sample = start + (frame * channelCount + channel) * byteCount
                            var bits: UInt32 = 0
                            for index in 0..<byteCount { bits |= UInt32(bytes[sample + index]) << UInt32(8 * index) }
                            bits <<= shift
                            return tag == 3 ? Float(bitPattern: bits) : Float(Int32(bitPattern: bits)) / 0x1p31
                        }
                    })
                return
            }
            start += size + size % 2 + 8
        }
        throw NotAWAV(path: path)
    }
}
