private import CSRTP
internal import TenfourPackets

/// SRTP and SRTCP (RFC 3711) under one key that both ends were given beforehand, as other programs speak it.
///
/// Such a key knows no epochs: the count begins at zero with each sender, so that who joins later than its first turn of
/// sequence numbers hears nothing, and what was recorded plays again to whoever has started anew. Nor may one SSRC send under
/// the key twice; SSRCs are drawn by chance, so draw a key for each conversation. Belongs to one thread at a time.
public struct StaticSRTP: ~Copyable, Sendable {
    public let suite: SRTPSuite
    private let outgoing: SRTPSession
    private let incoming: SRTPSession
    /// Whose packets libsrtp keeps account of, who was heard last at the end.
    private var senders: [SSRC] = []

    /// How much longer a datagram becomes at the most: the tag, and the count of RTCP.
    public static let maximumGrowth = 20
    /// As many as a station hears; who was silent for longest is forgotten for the next.
    public static let maximumSenderCount = 64
    /// More than 2 s of the shortest packets.
    private static let windowPacketCount: UInt = 1024

    /// For both ways.
    public init(_ key: SRTPMasterKey) throws(SRTPError) {
        let outgoing = try SRTPSession(key, .anyOutbound, windowPacketCount: Self.windowPacketCount, repeats: true)
        let incoming = try SRTPSession(key, .anyInbound, windowPacketCount: Self.windowPacketCount)
        suite = key.suite
        self.outgoing = outgoing
        self.incoming = incoming
        senders.reserveCapacity(Self.maximumSenderCount + 1)
    }

    /// Encrypts a datagram of RTP or RTCP where it is and appends what `maximumGrowth` leaves room for. What is sent again must
    /// be as it was. `srtp_protect`, `srtp_protect_rtcp`.
    public mutating func protect(_ datagram: inout OutputSpan<UInt8>) throws(SRTPError) {
        guard datagram.freeCapacity >= Self.maximumGrowth else { throw .noRoom }
        let session = unsafe outgoing.session
        let status = unsafe datagram.withUnsafeMutableBufferPointer { bytes, count in
            guard count >= 8 else { return srtp_err_status_parse_err }
            var length = CInt(clamping: count)
            let isControl = RTCPCompound.isRTCP(secondByte: unsafe bytes[1])
            guard isControl || count >= RTPHeader.byteCount else { return srtp_err_status_parse_err }
            let status =
                unsafe isControl
                ? srtp_protect_rtcp(session, bytes.baseAddress, &length)
                : srtp_protect(session, bytes.baseAddress, &length)
            if status == srtp_err_status_ok { count = Int(length) }
            return status
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
    }

    /// Decrypts a datagram where it is and returns how many bytes of RTP or RTCP it has become. Total: whatever is not of this
    /// key throws, and changes nothing but its own bytes. `srtp_unprotect`, `srtp_unprotect_rtcp`.
    public mutating func unprotect(_ datagram: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
        guard datagram.count >= 2 else { throw .malformed }
        let isControl = RTCPCompound.isRTCP(secondByte: datagram[1])
        let shortest = isControl ? 8 + 4 + suite.tagByteCount : RTPHeader.byteCount + suite.tagByteCount
        guard datagram.count >= shortest else { throw .malformed }
        let sender = SSRC(datagram.span.number(at: isControl ? 4 : 8))
        let session = unsafe incoming.session
        var length = CInt(clamping: datagram.count)
        let status = unsafe datagram.withUnsafeMutableBufferPointer { bytes in
            unsafe isControl
                ? srtp_unprotect_rtcp(session, bytes.baseAddress, &length)
                : srtp_unprotect(session, bytes.baseAddress, &length)
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
        heard(sender)
        return Int(length)
    }

    /// libsrtp keeps account of each sender from its first authentic packet on, for ever unless it is told otherwise.
    private mutating func heard(_ sender: SSRC) {
        if senders.last == sender { return }
        if let place = senders.firstIndex(of: sender) { senders.remove(at: place) }
        senders.append(sender)
        guard senders.count > Self.maximumSenderCount else { return }
        // Unlike its siblings it wants the number in network order.
        _ = unsafe srtp_remove_stream(incoming.session, senders.removeFirst().rawValue.bigEndian)
    }
}
