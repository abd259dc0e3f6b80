public import TenfourAudioCore
internal import TenfourG711Codec
internal import TenfourSession

extension CodingSettings {
    /// The bit rate of the payload, in bit/s: `bitRate` with Opus, 64 000 with G.711.
    public var payloadBitRate: Int { encoding == .opus ? bitRate : G711Encoder.bitRate }
}

extension RadioConfiguration {
    /// Throws `.usage` if the floor is to be requested where nobody could grant it.
    func checkFloor() throws(RadioError) {
        guard case .always = floor else { return }
        if case .channel = protection { return }
        guard rtpSession.remotes.count == 1, multicast == nil else {
            throw RadioError(
                .usage,
                "nobody grants the floor among several stations without a relay: leave --floor out, or talk in a channel"
            )
        }
    }

    /// Throws `.usage` for a combination of settings that the codec of the sent audio does not support. Call it
    /// before anything is opened; a session checks it again.
    public func checkEncoding() throws(RadioError) {
        guard coding.encoding != .opus else { return }
        let name = coding.encoding.name
        if case .channel = protection { throw RadioError(inChannel: coding.encoding) }
        guard coding.channelCount == 1 else {
            throw RadioError(
                .usage, "\(name) is mono: leave out --channels 2 and --profile music, or write --codec opus")
        }
        guard coding.fec != .on else {
            throw RadioError(.usage, "\(name) has no in-band FEC: write --fec auto, or --codec opus")
        }
        guard rtpSession.lossProtection.mode != .copy else {
            throw RadioError(
                .usage, "\(name) packets cannot carry copies of earlier ones: write --defence nack, or --codec opus")
        }
    }
}

extension RadioError {
    /// The error for G.711 in a channel, whose members can decode only Opus.
    public init(inChannel encoding: AudioEncoding) {
        self.init(
            .usage, "\(encoding.name) cannot be used in a channel: write --codec opus, or call a host by its address")
    }
}
