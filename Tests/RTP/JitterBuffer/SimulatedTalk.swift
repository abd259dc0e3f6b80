import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets

/// One talker, a link and a lane, on a clock that only tests move: what the lane is told, and what it makes of it.
struct SimulatedTalk: ~Copyable {
    var controller: PlayoutController
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
    /// What the numbers of packet `n` are moved by.
    var jump: (Int) -> (sequence: Int, frames: Int) = { _ in (0, 0) }

    /// The card asks for this number of frames at once, one period after another.
    var quantum = Self.period

    /// What was played, in order.
    private(set) var played: [Played] = []
    /// How long each packet waited from its arrival to its decoding.
    private(set) var depths: [Double] = []
    private(set) var arrivals: [Arrival] = []

    enum Played: Equatable {
        case packet(Int64)
        case partOf(Int64)
        case recovered(Int)
        case concealed(Int)
        case silence(Int)
    }

    private var flying: [(at: Double, number: Int, sequence: Int, origin: PacketOrigin)] = []
    private var nextNumber = 0
    private var sequence = 0
    private var pulled = 0
    private var demanded = 0
    private var carry = 0.0
    private var tempo = TimeScaleDecision()

    static let period = 240

    init(_ configuration: PlayoutConfiguration = .init()) {
        controller = PlayoutController(configuration: configuration)
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
        controller.skip(frames)
    }

    /// Frames that had to be made up.
    var concealed: Int { played.reduce(0) { if case .concealed(let frames) = $1 { $0 + frames } else { $0 } } }

    var packets: [Int64] {
        played.compactMap { if case .packet(let sequence) = $0 { sequence } else { nil } }
    }

    /// With those of which only the end was heard.
    var packetsHeard: [Int64] {
        played.compactMap { piece in
            switch piece {
            case .packet(let sequence), .partOf(let sequence): sequence
            case .recovered, .concealed, .silence: nil
            }
        }
    }

    private mutating func deliver() {
        let stretch = 1 + driftPartsPerMillion * 1e-6
        while Double((nextNumber + 1) * frameCount.rawValue) * stretch <= Double(pulled) {
            if isSpoken(nextNumber) {
                let end = Double((nextNumber + 1) * frameCount.rawValue) * stretch
                if let delay = delay(nextNumber) {
                    flying.append((end + Double(delay.rawValue), nextNumber, sequence, .original))
                }
                if let repair = repair(nextNumber) {
                    flying.append((end + Double(repair.delay.rawValue), nextNumber, sequence, repair.origin))
                }
                sequence += 1
            }
            nextNumber += 1
        }
        flying.sort { $0.at < $1.at }
        let payload: [UInt8] = [0xF8, 1, 2]
        while let first = flying.first, first.at <= Double(pulled) {
            flying.removeFirst()
            let jump = jump(first.number)
            arrivals.append(
                controller.insert(
                    payload.span,
                    PacketInfo(
                        sequenceNumber: firstSequenceNumber.advanced(by: first.sequence + jump.sequence),
                        timestamp: firstTimestamp.advanced(
                            by: FrameCount(first.number * frameCount.rawValue + jump.frames)), frameCount: frameCount,
                        carriesFEC: carriesFEC, origin: first.origin),
                    arrivedAt: FrameCount(Int(first.at.rounded()))))
        }
    }

    private mutating func pull() {
        controller.recordRequest(from: FrameCount(pulled))
        let needed = Double(Self.period) * (1 + Double(controller.ratePartsPerMillion) * 1e-6)
        while carry < needed {
            let now = FrameCount(pulled + Int(carry))
            switch controller.nextOperation(at: now, wanting: FrameCount(Int((needed - carry).rounded(.up)))) {
            case .silence(let frames):
                played.append(.silence(frames.rawValue))
                carry += Double(frames.rawValue)
            case .decode(let entry, let skipping):
                tempo.record(entry.frameCount - skipping, meanSquare: 0.1)
                played.append(skipping == .zero ? .packet(entry.sequence) : .partOf(entry.sequence))
                carry += Double((entry.frameCount - skipping).rawValue)
                bend()
                depths.append(Double(controller.statistics.delay.rawValue) / 48)
            case .recover(let frames, _):
                played.append(.recovered(frames.rawValue))
                carry += Double(frames.rawValue)
            case .conceal(let frames):
                played.append(.concealed(frames.rawValue))
                carry += Double(frames.rawValue)
            }
        }
        carry -= needed
        pulled += Self.period
    }

    /// What a voice does with the time-stretch, without sound: periods up to 15 ms, where there is enough to cut from.
    private mutating func bend() {
        let change = min(
            max(tempo.change(for: controller.delayError, includesRecovery: controller.includesRecovery).rawValue, -720),
            720)
        guard change != 0, carry > Double(change) + 240 else { return }
        carry -= Double(change)
        tempo.spend(FrameCount(abs(change)))
        controller.recordTimeScaling(of: FrameCount(abs(change)))
    }
}
