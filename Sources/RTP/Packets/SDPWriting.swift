internal import TenfourAudioCore

extension SessionDescription {
    /// The description as text for a file or an announcement. RFC 8866 ends lines with CR LF; PulseAudio accepts only
    /// LF.
    public func text(endingLinesWith lineEnd: String = "\r\n") -> String {
        var lines = [
            "v=0",
            "o=\(origin.username) \(origin.sessionID) \(origin.version) IN \(origin.address.text)",
            "s=\(name.isEmpty ? "-" : name)",
            "c=IN \(connection.text)",
            "t=0 0",
            "m=audio \(port) \(profile.rawValue) \(formats.map { String($0.payloadType) }.joined(separator: " "))",
        ]
        // Writes the most preferred format last, because ffmpeg uses only the last one.
        for format in formats.reversed() {
            if let encoding = format.encoding { lines.append("a=rtpmap:\(format.payloadType) \(encoding.text)") }
            if let parameters = format.parameters { lines.append("a=fmtp:\(format.payloadType) \(parameters)") }
        }
        if let packetTime { lines.append("a=ptime:\(packetTime.wholeMilliseconds)") }
        if let maximumPacketTime { lines.append("a=maxptime:\(maximumPacketTime.wholeMilliseconds)") }
        if let rtcpPort { lines.append("a=rtcp:\(rtcpPort)") }
        if multiplexesRTCP { lines.append("a=rtcp-mux") }
        for feedback in feedback.prefix(Self.maximumFormatCount) {
            lines.append("a=rtcp-fb:\(feedback.payloadType.map { String($0) } ?? "*") \(feedback.kind)")
        }
        for crypto in cryptos.prefix(Self.maximumFormatCount) {
            lines.append("a=crypto:\(crypto.tag) \(crypto.suite) inline:\(crypto.key)")
        }
        lines.append("a=\(direction.rawValue)")
        return lines.map { String(fromPeer: $0, limit: Self.maximumByteCount) + lineEnd }.joined()
    }
}

extension SessionDescription.Connection {
    fileprivate var text: String { "\(family.rawValue) \(address)" + (timeToLive.map { "/\($0)" } ?? "") }
}

extension SessionDescription.Encoding {
    /// The encoding as `a=rtpmap` writes it, such as `opus/48000/2`.
    package var text: String { "\(name)/\(clockRate)" + (channelCount == 1 ? "" : "/\(channelCount)") }
}

extension Duration {
    /// The duration in whole milliseconds, rounded up.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
