import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom

/// A stream of another codec than Opus and G.711, or of Opus, with parameters by chance, as others would send it under a
/// dynamic payload type.
struct ForeignStream {
    let packets: [Packet]

    struct Packet {
        var number: Int
        var timestamp: Int
        var payload: [UInt8]
        /// The time of its arrival, in seconds.
        var time: Double
    }

    enum Kind: CaseIterable {
        case random, telephoneEvents, comfortNoise, linear, g722, h264, vp8, encrypted, mpegAudio, mpeg4Audio
    }

    init(_ kind: Kind, count: Int = 100, seed: UInt64) {
        var maker = Maker(count: count, seed: seed)
        switch kind {
        case .random: maker.random()
        case .telephoneEvents: maker.telephoneEvents()
        case .comfortNoise: maker.comfortNoise()
        case .linear: maker.linear()
        case .g722: maker.g722()
        case .h264: maker.video { $0.h264(isFirst: $1) }
        case .vp8: maker.video { $0.vp8(isFirst: $1) }
        case .encrypted: maker.encrypted()
        case .mpegAudio: maker.mpegAudio()
        case .mpeg4Audio: maker.mpeg4Audio()
        }
        packets = maker.packets
    }
}

private struct Maker {
    let count: Int
    var packets: [ForeignStream.Packet] = []
    private var randomness: SeededRandom
    private var timestamp = 0
    private var time = 0.0

    init(count: Int, seed: UInt64) {
        self.count = count
        randomness = SeededRandom(seed: seed)
    }

    private var isWhole: Bool { packets.count >= count }

    private mutating func one<Value>(of values: [Value]) -> Value { values.randomElement(using: &randomness)! }
    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &randomness) < share }
    private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &randomness) }
    private mutating func bytes(_ count: Int) -> ArraySlice<UInt8> {
        let start = number(0...Self.chance.count - count)
        return Self.chance[start..<start + count]
    }

    /// Bytes by chance, of which each payload has a part.
    private static let chance: [UInt8] = {
        var randomness = SeededRandom(seed: 1)
        return (0..<500_000).map { _ in UInt8.random(in: 0...255, using: &randomness) }
    }()

    private mutating func add(_ payload: [UInt8]) {
        packets.append(.init(number: packets.count, timestamp: timestamp, payload: payload, time: time))
    }

    private mutating func advance(_ ticks: Int, clock: Int) {
        timestamp += ticks
        time += Double(ticks) / Double(clock)
    }

    /// Bytes by chance, at the pace of packets of Opus.
    mutating func random() {
        let ticks = one(of: [120, 240, 480, 960, 1_920, 2_880, 3_840, 5_760])
        let size = chance(0.5) ? number(1...1_400) : nil
        while !isWhole {
            add(Array(bytes(size ?? number(1...1_400))))
            advance(ticks, clock: 48_000)
        }
    }

    /// Keys (RFC 4733), also of senders that advance the timestamp within an event.
    mutating func telephoneEvents() {
        let clock = one(of: [8_000, 48_000])
        let advances = chance(0.3)
        while !isWhole {
            let event = UInt8(number(0...15))
            for index in 0..<number(3...40) {
                add([event, 10, UInt8(index / 2), UInt8(index % 2 * 160)])
                if advances { advance(clock / 50, clock: clock) } else { time += 0.02 }
            }
            advance(number(1...50) * clock / 50, clock: clock)
        }
    }

    /// Noise of a pause (RFC 3389), at intervals of 20 ms and more.
    mutating func comfortNoise() {
        let clock = one(of: [8_000, 16_000, 32_000])
        let order = number(0...10)
        let level = UInt8(number(20...127))
        let isSteady = chance(0.7)
        let interval = number(1...30)
        while !isWhole {
            let coefficients = isSteady ? ArraySlice(repeating: 127, count: order) : bytes(order)
            add([isSteady ? level : UInt8(number(0...127))] + coefficients)
            advance((isSteady ? interval : number(1...30)) * clock / 50, clock: clock)
        }
    }

    /// LPCM of 8, 16 or 24 bits (RFC 3551, RFC 3190): silence, noise, and tones whose period fits into a packet.
    mutating func linear() {
        let clock = one(of: [8_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000])
        let width = one(of: [2, 2, 3])
        let channelCount = number(1...2)
        let most = 1_440 / width / channelCount
        let frames = one(of: [48, 96, 120, 128, 240, 256, 320, 441, 480, 512, 960].filter { $0 <= most })
        let content = number(0...3)
        let sample = bytes(width)
        while !isWhole {
            let noise = bytes(width * channelCount * frames)
            switch content {
            case 0: add([UInt8](repeating: 0, count: noise.count))
            case 1: add(Array(noise))
            case 2: add(noise.enumerated().map { $0 % width == 0 ? ($1 < 128 ? 0 : 0xFF) : $1 })
            default: add(Array(sample + noise.dropFirst(width)))
            }
            advance(frames, clock: clock)
        }
    }

    /// G.722, whose clock is said to be 8000 Hz (RFC 3551 section 4.5.2).
    mutating func g722() {
        let milliseconds = one(of: [10, 15, 20, 30, 40, 60])
        let isSilent = chance(0.3)
        let byte = UInt8(number(0...255))
        while !isWhole {
            add(isSilent ? [UInt8](repeating: byte, count: milliseconds * 8) : Array(bytes(milliseconds * 8)))
            advance(milliseconds * 8, clock: 8_000)
        }
    }

    /// Video pictures of one packet or several, which have the same timestamp.
    mutating func video(_ payload: (inout Self, Bool) -> [UInt8]) {
        let ticks = one(of: [1_500, 1_800, 3_000, 3_003, 3_600, 3_750, 6_000, 7_500, 9_000])
        let isSmall = chance(0.5)
        while !isWhole {
            for index in 0..<(isSmall ? 1 : number(1...6)) { add(payload(&self, index == 0)) }
            advance(ticks, clock: 90_000)
        }
    }

    mutating func h264(isFirst: Bool) -> [UInt8] {
        let unit = one(of: [0x41, 0x61, 0x01, 0x21, 0x65, 0x67, 0x7C, 0x5C, 0x78] as [UInt8])
        return [packets.count % 30 == 0 ? unit : 0x41, isFirst ? 0x9A : 0x81] + bytes(number(20...1_200))
    }

    mutating func vp8(isFirst: Bool) -> [UInt8] {
        [isFirst ? 0x90 : 0x80, 0x80, UInt8(packets.count & 0x7F)] + bytes(number(20...1_200))
    }

    /// SRTP of Opus, without the key.
    mutating func encrypted() {
        let ticks = one(of: [120, 480, 960, 1_920, 2_880])
        let size = number(10...200)
        while !isWhole {
            add(Array(bytes((chance(0.5) ? size : number(10...200)) + 10)))
            advance(ticks, clock: 48_000)
        }
    }

    /// MPEG-1 audio (RFC 2250), whole frames and parts of frames.
    mutating func mpegAudio() {
        let ticks = one(of: [2_160, 2_351, 3_240, 720, 1_620])
        let parts = number(1...3)
        while !isWhole {
            for part in 0..<parts {
                add([0, 0, UInt8(part), 0] + (part == 0 ? [0xFF, 0xFB, 0x90, 0x44] : []) + bytes(number(100...400)))
            }
            advance(ticks, clock: 90_000)
        }
    }

    /// AAC (RFC 3640), also with frames of 480 and 960 samples.
    mutating func mpeg4Audio() {
        let clock = one(of: [16_000, 32_000, 44_100, 48_000])
        let ticks = one(of: [480, 512, 960, 1_024, 2_048])
        while !isWhole {
            let size = number(40...400)
            add([0, 16, UInt8(size >> 5), UInt8(size & 31) << 3] + bytes(size))
            advance(ticks, clock: clock)
        }
    }
}
