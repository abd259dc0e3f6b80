import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TestSupport

/// One talker, a network and a jitter buffer with the card that pulls from it, on a clock that only tests move.
struct SimulatedTalk: ~Copyable {
    var buffer: JitterBuffer
    private var decoder = RecordingDecoder(frameCount: Payload.frameCount)
    /// The talker's packets.
    var frameCount = FrameCount(960)
    var carriesFEC = false
    var firstSequenceNumber = SequenceNumber(rawValue: 0)
    var firstTimestamp = RTPTimestamp(rawValue: 0)
    /// How much slower the talker's clock runs than the card's.
    var driftPartsPerMillion = 0.0
    /// From a packet's end to its arrival; nil when it is lost.
    var delay: (Int) -> FrameCount? = { _ in FrameCount(48) }
    /// How packet `n` comes once more, so long after its end; nil when it does not.
    var repair: (Int) -> (origin: PacketOrigin, delay: FrameCount)? = { _ in nil }
    /// Whether the talker sends packet `n` at all.
    var isSpoken: (Int) -> Bool = { _ in true }
    /// Whether packet `n` has the marker bit.
    var startsTalkspurt: (Int) -> Bool = { _ in false }
    /// What the numbers of packet `n` are moved by.
    var jump: (Int) -> (sequence: Int, frames: Int) = { _ in (0, 0) }

    /// The time for which the talker has been sending when the card asks for the first time.
    var ahead = FrameCount(0)
    /// The time at which the first packets are read from the socket, where they have waited. Those that are read in the
    /// first 20 ms count as waiting.
    var receptionStart = FrameCount(Int(Int32.min))
    /// The card asks for this number of frames at once, one period after another.
    var quantum = Self.period
    /// The number of frames of one pull, at most `period`.
    var pullLength = Self.period

    /// What was played, in order.
    private(set) var played: [Played] = []
    /// How long each packet waited from its arrival to its decoding.
    private(set) var depths: [Double] = []
    private(set) var arrivals: [Arrival] = []

    enum Played: Equatable {
        case packet(Int)
        case recovered(Int)
        case concealed(Int)
        case silence(Int)
    }

    /// Packet number and duration, as the payload of a packet.
    private enum Payload {
        static func bytes(_ number: Int, _ frameCount: FrameCount) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } + [UInt8(frameCount.rawValue / 120)]
        }

        static func number(_ bytes: [UInt8]) -> Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

        static func frameCount(_ bytes: Span<UInt8>) -> FrameCount? { FrameCount(Int(bytes[4]) * 120) }
    }

    private var flying: [(at: Double, number: Int, sequence: Int, origin: PacketOrigin)] = []
    private var nextNumber = 0
    private var sequence = 0
    private var pulled = 0
    private var demanded = 0
    private var output = [Float](repeating: 0, count: Self.period)

    static let period = 240

    init(_ configuration: PlayoutConfiguration = .init()) {
        do {
            buffer = try JitterBuffer(format: LPCMFormat(rate: .opus, channelCount: 1), configuration: configuration)
        } catch {
            preconditionFailure("\(error)")
        }
        buffer.begin(SSRC(1))
    }

    /// Lets the card ask for sound for so long.
    mutating func run(seconds: Double) {
        let end = pulled + Int(seconds * 48_000)
        while pulled < end {
            if pulled >= demanded {
                demanded += quantum
                deliver()
            }
            pull()
        }
    }

    /// The card stands still for so long, and then says so.
    mutating func stand(still frames: FrameCount) {
        pulled += frames.rawValue
        demanded += frames.rawValue
        buffer.skip(frames)
    }

    /// Concealed frames, including those at the end of each talkspurt, which `statistics.concealed` leaves out.
    var concealed: Int { played.reduce(0) { if case .concealed(let frames) = $1 { $0 + frames } else { $0 } } }

    /// The numbers of the packets that were decoded, counted from the talker's first.
    var packets: [Int] { played.compactMap { if case .packet(let number) = $0 { number } else { nil } } }

    private mutating func deliver() {
        let stretch = 1 + driftPartsPerMillion * 1e-6
        while Double((nextNumber + 1) * frameCount.rawValue) * stretch <= Double((FrameCount(pulled) + ahead).rawValue)
        {
            if isSpoken(nextNumber) {
                let end = Double((nextNumber + 1) * frameCount.rawValue) * stretch - Double(ahead.rawValue)
                if let delay = delay(nextNumber) {
                    let arrival = max(end + Double(delay.rawValue), Double(receptionStart.rawValue))
                    flying.append((arrival, nextNumber, sequence, .original))
                }
                if let repair = repair(nextNumber) {
                    flying.append((end + Double(repair.delay.rawValue), nextNumber, sequence, repair.origin))
                }
                sequence += 1
            }
            nextNumber += 1
        }
        flying.sort { $0.at < $1.at }
        while let first = flying.first, first.at <= Double(pulled) {
            flying.removeFirst()
            let jump = jump(first.number)
            let payload = Payload.bytes(first.number, frameCount)
            arrivals.append(
                buffer.insert(
                    payload.span,
                    PacketInfo(
                        sequenceNumber: firstSequenceNumber.advanced(by: first.sequence + jump.sequence),
                        timestamp: firstTimestamp.advanced(
                            by: FrameCount(first.number * frameCount.rawValue + jump.frames)), frameCount: frameCount,
                        carriesFEC: carriesFEC, origin: first.origin, startsTalkspurt: startsTalkspurt(first.number),
                        hasWaited: first.at < Double((receptionStart + FrameCount(960)).rawValue)),
                    arrivedAt: FrameCount(Int(first.at.rounded()))))
        }
    }

    private mutating func pull() {
        let isAudible = decoder.pull(pullLength, from: &buffer, at: FrameCount(pulled), into: &output)
        for call in decoder.takeCalls() {
            switch call {
            case .decode(let payload):
                played.append(.packet(Payload.number(payload)))
                depths.append(Double(buffer.statistics.delay.rawValue) / 48)
            case .recover(let frames): played.append(.recovered(frames.rawValue))
            case .conceal(let frames): played.append(.concealed(frames.rawValue))
            }
        }
        if !isAudible { played.append(.silence(pullLength)) }
        pulled += pullLength
    }
}
