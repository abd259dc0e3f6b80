/// The encoding of an RTP packet's payload. SDP states its name in `a=rtpmap`.
public enum AudioEncoding: UInt8, Hashable, BitwiseCopyable, Sendable, CaseIterable {
    /// Opus (RFC 7587).
    case opus
    /// G.711 µ-law (RFC 3551 section 4.5.14).
    case pcmu
    /// G.711 A-law (RFC 3551 section 4.5.14).
    case pcma

    /// The name in SDP: `opus`, `PCMU`, `PCMA`.
    public var name: String {
        switch self {
        case .opus: "opus"
        case .pcmu: "PCMU"
        case .pcma: "PCMA"
        }
    }

    /// The payload types of G.711, which need no SDP (RFC 3551 table 4).
    public static let staticPayloadTypes: [UInt8: AudioEncoding] = [0: .pcmu, 8: .pcma]

    /// The payload types that a capture without SDP is assumed to have: the static ones, and Opus under the dynamic ones
    /// (96…127).
    package static let assumedPayloadTypes = staticPayloadTypes.merging(
        (96...127).map { (UInt8($0), AudioEncoding.opus) }, uniquingKeysWith: { assigned, _ in assigned })

    /// The payload type that RFC 3551 table 4 assigns to the encoding; nil for Opus, whose payload type is dynamic.
    public var staticPayloadType: UInt8? {
        switch self {
        case .opus: nil
        case .pcmu: 0
        case .pcma: 8
        }
    }

    /// The clock rate of RTP timestamps and of the jitter in reports: 48 000 Hz for Opus (RFC 7587), 8 000 Hz for G.711
    /// (RFC 3551).
    public var clockRate: SampleRate { SampleRate(hertz: SampleRate.opus.hertz / framesPerTick) }

    /// The number of frames at 48 000 Hz per tick of the RTP timestamp's clock.
    public var framesPerTick: Int {
        @_noAllocation @_noLocks get {
            switch self {
            case .opus: 1
            case .pcmu, .pcma: 6
            }
        }
    }

    /// Returns whether both encodings are the same. Audio threads cannot use the `==` that the compiler derives.
    @_noAllocation @_noLocks
    public static func == (one: Self, other: Self) -> Bool { one.code == other.code }

    private var code: Int {
        @_noAllocation @_noLocks get {
            switch self {
            case .opus: 0
            case .pcmu: 1
            case .pcma: 2
            }
        }
    }
}
