private import COpus
public import TenfourAudioCore

/// An Opus encoder of one stream. The C functions are `opus_encoder_create` and `_destroy`.
///
/// Belongs to one thread at a time, which may be a capture thread: after `init` no function allocates or locks.
@safe
public struct OpusEncoder: AudioEncoder, ~Copyable, @unchecked Sendable {
    private let state: OpaquePointer
    private let channelCount: Int

    /// The format of the samples to be encoded.
    public let format: LPCMFormat

    public var encoding: AudioEncoding { .opus }

    /// The delay of encoding and decoding in addition to the frame itself, in frames at `format`'s rate: 6.5 ms, and
    /// 2.5 ms with `.lowDelay` (`OPUS_GET_LOOKAHEAD`).
    public let lookAhead: FrameCount

    /// The purpose of the stream, by which libopus chooses the codecs inside Opus. It cannot be changed later.
    public enum Application: Hashable, Sendable {
        /// For speech (`OPUS_APPLICATION_VOIP`).
        case voip
        /// For music and mixed audio, as faithful to the input as possible (`OPUS_APPLICATION_AUDIO`).
        case audio
        /// For low delay: 4 ms less delay than with the other purposes, but no speech codec and therefore no in-band
        /// FEC.
        case lowDelay
    }

    /// Creates an encoder. `format` has 1 or 2 channels at 8, 12, 16, 24 or 48 kHz.
    public init(
        format: LPCMFormat = .mono, application: Application = .voip, settings: OpusEncoderSettings = .init()
    ) throws(OpusError) {
        var encoder = try OpusEncoder(format, application)
        try encoder.apply(settings)
        self = encoder
    }

    private init(_ format: LPCMFormat, _ application: Application) throws(OpusError) {
        let rate = Int32(clamping: format.rate.hertz)
        let channels = Int32(clamping: format.channelCount)
        var result: Int32 = 0
        guard let state = unsafe opus_encoder_create(rate, channels, application.request, &result)
        else { throw OpusError(result, in: .createEncoder) }
        unsafe self.state = state
        self.format = format
        channelCount = format.channelCount
        var frames: Int32 = 0
        // Ignores the result, since this call fails only for a null pointer.
        _ = unsafe tenfour_opus_get_lookahead(state, &frames)
        lookAhead = FrameCount(Int(frames))
    }

    deinit { unsafe opus_encoder_destroy(state) }

    /// Capture thread. Encodes one frame of 2.5, 5, 10, 20, 40 or 60 ms into the front of `packet` and returns the
    /// number of bytes. If `packet` has less space than the bit rate requires, quality is reduced until the bytes fit;
    /// 1 276 bytes are enough for any frame of 20 ms. Throws `.badArgument` for a frame of another length. The C
    /// function is `opus_encode_float`.
    @_noAllocation @_noLocks
    public mutating func encode(_ samples: Span<Float>, into packet: inout MutableSpan<UInt8>) throws(OpusError) -> Int
    {
        let result = unsafe callEncode(state, samples, channelCount, &packet)
        guard result >= 0 else { throw OpusError(result, in: .encode) }
        return Int(result)
    }

    /// Capture thread. Applies `settings` from the next frame on. If a setting is refused, the settings declared before
    /// it in `OpusEncoderSettings` have been applied; the refused setting and the settings after it have not.
    @_noAllocation @_noLocks
    public mutating func apply(_ settings: OpusEncoderSettings) throws(OpusError) {
        try set(.bitRate, Int32(clamping: settings.bitRate))
        try set(.complexity, Int32(clamping: settings.complexity))
        switch settings.rateControl {
        case .variable:
            try set(.rateControl, 1)
            try set(.rateConstraint, 0)
        case .constrained:
            try set(.rateControl, 1)
            try set(.rateConstraint, 1)
        case .constant:
            try set(.rateControl, 0)
        }
        try set(.inBandFEC, settings.inBandFEC ? 1 : 0)
        try set(.expectedLoss, Int32(clamping: settings.expectedLoss))
        try set(.signal, settings.signal.request)
        try set(.maximumBandwidth, settings.maximumBandwidth.request)
        try set(.discontinuousTransmission, settings.discontinuousTransmission ? 1 : 0)
    }

    @_noAllocation @_noLocks
    private func set(_ setting: OpusError.Function, _ value: Int32) throws(OpusError) {
        let result = unsafe callSet(state, setting, value)
        guard result >= 0 else { throw OpusError(result, in: setting) }
    }
}

extension OpusEncoder.Application {
    fileprivate var request: Int32 {
        switch self {
        case .voip: OPUS_APPLICATION_VOIP
        case .audio: OPUS_APPLICATION_AUDIO
        case .lowDelay: OPUS_APPLICATION_RESTRICTED_LOWDELAY
        }
    }
}

extension OpusEncoderSettings.Signal {
    fileprivate var request: Int32 {
        switch self {
        case .automatic: OPUS_AUTO
        case .speech: OPUS_SIGNAL_VOICE
        case .music: OPUS_SIGNAL_MUSIC
        }
    }
}

extension OpusEncoderSettings.Bandwidth {
    fileprivate var request: Int32 {
        switch self {
        case .narrow: OPUS_BANDWIDTH_NARROWBAND
        case .medium: OPUS_BANDWIDTH_MEDIUMBAND
        case .wide: OPUS_BANDWIDTH_WIDEBAND
        case .superWide: OPUS_BANDWIDTH_SUPERWIDEBAND
        case .full: OPUS_BANDWIDTH_FULLBAND
        }
    }
}
