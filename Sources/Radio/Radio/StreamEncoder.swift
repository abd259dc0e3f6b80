internal import TenfourAudioCore
internal import TenfourG711Codec
internal import TenfourOpusCodec

/// The encoder of our stream. Its codec is chosen once and does not change.
///
/// Use it on the capture thread only. Nothing is allocated after `init`.
enum StreamEncoder: AudioEncoder, ~Copyable, Sendable {
    case opus(OpusEncoder)
    case g711(G711Encoder)

    /// Creates an encoder for `coding`, whose settings the codec must support (`RadioConfiguration.checkEncoding`).
    init(_ coding: CodingSettings) throws(RadioError) {
        switch coding.encoding {
        case .opus:
            do {
                self = .opus(
                    try OpusEncoder(
                        format: LPCMFormat(channelCount: coding.channelCount), application: coding.application,
                        settings: coding.settings))
            } catch {
                throw RadioError(error)
            }
        case .pcmu: self = .g711(G711Encoder(law: .mu))
        case .pcma: self = .g711(G711Encoder(law: .a))
        }
    }

    var encoding: AudioEncoding {
        switch self {
        case .opus(let encoder): encoder.encoding
        case .g711(let encoder): encoder.encoding
        }
    }

    var format: LPCMFormat {
        switch self {
        case .opus(let encoder): encoder.format
        case .g711(let encoder): encoder.format
        }
    }

    @_noAllocation @_noLocks
    mutating func encode(_ samples: Span<Float>, into packet: inout MutableSpan<UInt8>) throws(OpusError) -> Int {
        switch consume self {
        case .opus(var encoder):
            do throws(OpusError) {
                let byteCount = try encoder.encode(samples, into: &packet)
                self = .opus(encoder)
                return byteCount
            } catch {
                self = .opus(encoder)
                throw error
            }
        case .g711(var encoder):
            let byteCount = encoder.encode(samples, into: &packet)
            self = .g711(encoder)
            return byteCount
        }
    }

    /// Applies settings of Opus from the next frame on. A setting that libopus refuses stays unchanged. G.711 has no
    /// settings.
    @_noAllocation @_noLocks
    mutating func apply(_ settings: OpusEncoderSettings) {
        switch consume self {
        case .opus(var encoder):
            // Ignores an error, because a refused setting stays as it was. libopus refuses no setting that its encoder
            // was made with.
            do throws(OpusError) { try encoder.apply(settings) } catch {}
            self = .opus(encoder)
        case .g711(let encoder):
            self = .g711(encoder)
        }
    }
}
