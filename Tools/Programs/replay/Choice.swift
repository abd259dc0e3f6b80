import TenfourLinkTest
import TenfourPackets
import TenfourRadio
import TenfourSession

/// The criteria for the stream to be played.
struct Choice {
    var ssrc: SSRC?
    var port: UInt16?
    var payloadType: UInt8?

    static func number(_ digits: String) -> SSRC? {
        let digits = digits.lowercased()
        return UInt32(digits.hasPrefix("0x") ? String(digits.dropFirst(2)) : digits, radix: 16).map(SSRC.init)
    }

    /// Returns the matching stream with the most packets. If neither its SSRC nor its payload type is given, the stream
    /// must look like Opus or G.711.
    func stream(of survey: StreamSurvey, in capture: ReplayCapture) throws(RadioError) -> RTPStream {
        let streams = survey.streams
        guard !streams.isEmpty else {
            throw RadioError(.unavailable, "\(capture.summary); no packet is RTP")
        }
        let fitting = streams.filter { stream in
            (ssrc == nil || stream.ssrc == ssrc) && (port == nil || stream.destination.port == port)
                && (payloadType == nil || stream.payloadType == payloadType)
        }
        let isPointedAt = ssrc != nil || payloadType != nil
        if let stream = fitting.first(where: { isPointedAt ? $0.readableCount > 0 : $0.encoding != nil }) {
            return stream
        }
        let there = streams.prefix(8).map(\.words).joined(separator: ", ")
        if fitting.isEmpty {
            throw RadioError(
                .unavailable, "no stream matches --ssrc, --port and --payload-type; choose one of these: \(there)")
        }
        throw RadioError(
            .unavailable,
            "no RTP stream of the capture looks like Opus or G.711; write --ssrc or --payload-type to play one of these anyway: "
                + there)
    }
}
