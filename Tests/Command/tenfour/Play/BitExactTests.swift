import TestSupport
import Testing

/// What `tenfour play` writes to a card that has the rate of the file: `TENFOUR_LABCARD=1 Tools/labcard run --private --
/// swift test`. A PCM of the type `file` before the card keeps what it gets.
@Suite(.serialized, .onItsOwnThread, .inRealTimeOnACard, .needsLabcard) struct BitExactTests {
    private let folder = Folder()
    private static let rate = 44_100
    private static let seconds = 2

    /// A card of 16 bits, one of 32 that gets a file of 24, and one that has floats only.
    @Test(arguments: [(16, "S16_LE"), (24, "S32_LE"), (24, "FLOAT_LE")])
    func aCardWithTheRateOfTheFileGetsItsSamples(bits: Int, format: String) throws {
        let noise = Self.noise(bits: bits)
        folder.write(Self.wav(noise, bits: bits), to: "noise.wav")
        try expectNoFailure {
            let (player, heard) = try play("noise.wav", format: format)
            #expect(player.errors.contains("tape (\(format), 44100 Hz)"), "\(player.errors)")
            #expect(!player.errors.contains("resampled"), "\(player.errors)")
            return Self.difference(between: Self.samples(in: heard, format, bits: bits), and: noise)
        }
    }

    /// A file below 44.1 kHz does not lower the rate of the queue. What is resampled is told.
    @Test func resamplingIsTold() throws {
        folder.write(Recording(rate: 22_050, channels: [[Float](repeating: 0.1, count: 5_000)]).wav(), to: "low.wav")
        let player = try play("low.wav", format: "S16_LE").player
        #expect(player.errors.contains("22050 Hz resampled to 44100 Hz by tenfour"), "\(player.errors)")
    }

    /// Plays a file of the folder, and returns the bytes that the card got. The card has one rate and one format.
    private func play(_ name: String, format: String) throws -> (player: Program, heard: [UInt8]) {
        let base = Program.environment("ALSA_CONFIG_PATH") ?? "/usr/share/alsa/alsa.conf"
        folder.write(
            """
            <\(base)>
            pcm.tape {
                type file
                slave.pcm "labcard:exact,0,\(Self.rate),\(format)"
                file "\(folder("tape.raw"))"
                format raw
            }

            """, to: "asound.conf")
        let player = try Program(
            "tenfour", ["play", folder(name), "--device", "tape", "--verbose", "--no-mpris"],
            environment: ["ALSA_CONFIG_PATH": folder("asound.conf")])
        #expect(player.wait(.seconds(40)) == .code(0), "\(player.errors)")
        return (player, Folder.bytes(of: folder("tape.raw")))
    }

    /// Returns stereo noise, whose samples are whole steps of `bits` bits, at half of full scale.
    private static func noise(bits: Int) -> [Int32] {
        var state: UInt32 = 1
        return (0..<2 * seconds * rate).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int32(bitPattern: state) >> Int32(33 - bits)
        }
    }

    private static func wav(_ samples: [Int32], bits: Int) -> [UInt8] {
        let width = bits / 8
        func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> ($0 * 8) & 0xFF) } }
        let (byteCount, frame) = (samples.count * width, 2 * width)
        var bytes = Array("RIFF".utf8) + little(36 + byteCount, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(2, 2) + little(rate, 4) + little(rate * frame, 4) + little(frame, 2)
        bytes += little(bits, 2) + Array("data".utf8) + little(byteCount, 4)
        for sample in samples { bytes += little(Int(sample), width) }
        return bytes
    }

    /// Returns samples of a card as whole steps of `bits` bits.
    private static func samples(in bytes: [UInt8], _ format: String, bits: Int) -> [Int32] {
        let width = format == "S16_LE" ? 2 : 4
        return stride(from: 0, to: bytes.count - width + 1, by: width).map { start in
            let word = (0..<width).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32(8 * $1) }
            return switch format {
            case "S16_LE": Int32(Int16(truncatingIfNeeded: word))
            case "S32_LE": Int32(bitPattern: word) >> 8
            default: Int32(Float(bitPattern: word) * Float(1 << (bits - 1)))
            }
        }
    }

    /// Returns how what was heard differs from the file; nil if all frames after the fade-in of the first 8 ms are there,
    /// in order and unchanged.
    private static func difference(between heard: [Int32], and file: [Int32]) -> String? {
        let mark = rate
        let pattern = file[mark..<mark + 16]
        guard
            let place = heard.indices.dropLast(16).first(where: {
                heard[$0] == file[mark] && heard[$0..<$0 + 16].elementsEqual(pattern)
            })
        else { return "the noise was not heard" }
        let start = place - mark
        guard heard.indices.contains(start), heard.indices.contains(start + file.count - 1) else {
            return "the noise was not heard whole"
        }
        let faded = 2 * rate / 100
        guard let wrong = (faded..<file.count).first(where: { heard[start + $0] != file[$0] }) else { return nil }
        return "sample \(wrong) is \(heard[start + wrong]) and not \(file[wrong])"
    }
}
