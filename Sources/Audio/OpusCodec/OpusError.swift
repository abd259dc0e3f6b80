private import COpus

/// An error that libopus returned.
public struct OpusError: Error, Hashable, Sendable {
    public var code: Code
    /// The C function or setting that failed.
    public var function: Function

    /// The error codes of libopus, all below zero (opus_defines.h).
    public enum Code: Int32, Hashable, Sendable {
        case badArgument = -1
        case bufferTooSmall = -2
        case internalError = -3
        case invalidPacket = -4
        case unimplemented = -5
        case invalidState = -6
        case allocationFailed = -7
    }

    /// The C functions and settings that can fail. An enumeration instead of a string, so that an error can be thrown
    /// on an audio thread.
    public enum Function: String, Hashable, Sendable {
        case createEncoder = "opus_encoder_create"
        case createDecoder = "opus_decoder_create"
        case encode = "opus_encode_float"
        case decode = "opus_decode_float"
        case bitRate = "opus_encoder_ctl(OPUS_SET_BITRATE)"
        case complexity = "opus_encoder_ctl(OPUS_SET_COMPLEXITY)"
        case decoderComplexity = "opus_decoder_ctl(OPUS_SET_COMPLEXITY)"
        case rateControl = "opus_encoder_ctl(OPUS_SET_VBR)"
        case rateConstraint = "opus_encoder_ctl(OPUS_SET_VBR_CONSTRAINT)"
        case inBandFEC = "opus_encoder_ctl(OPUS_SET_INBAND_FEC)"
        case expectedLoss = "opus_encoder_ctl(OPUS_SET_PACKET_LOSS_PERC)"
        case signal = "opus_encoder_ctl(OPUS_SET_SIGNAL)"
        case maximumBandwidth = "opus_encoder_ctl(OPUS_SET_MAX_BANDWIDTH)"
        case discontinuousTransmission = "opus_encoder_ctl(OPUS_SET_DTX)"
    }

    @_noAllocation @_noLocks
    internal init(_ code: Code, in function: Function) {
        self.code = code
        self.function = function
    }

    /// Converts `result`, the negative value that `function` returned, to an error.
    @_noAllocation @_noLocks
    internal init(_ result: Int32, in function: Function) {
        code =
            switch result {
            case OPUS_BAD_ARG: .badArgument
            case OPUS_BUFFER_TOO_SMALL: .bufferTooSmall
            case OPUS_INVALID_PACKET: .invalidPacket
            case OPUS_UNIMPLEMENTED: .unimplemented
            case OPUS_INVALID_STATE: .invalidState
            case OPUS_ALLOC_FAIL: .allocationFailed
            default: .internalError
            }
        self.function = function
    }
}

extension OpusError: CustomStringConvertible {
    /// A sentence with the text from `opus_strerror`, such as "the Opus codec failed: corrupted stream".
    public var description: String {
        let text = unsafe String(cString: opus_strerror(code.rawValue))
        return "the Opus codec failed: \(text)"
    }
}
