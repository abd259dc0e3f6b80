private import CSRTP
internal import TenfourPackets

/// SRTP and SRTCP (RFC 3711) under one key that both ends have in advance, compatible with other programs.
///
/// Such a key has no epochs, so each sender's rollover counter starts at zero. If an endpoint joins after a sender's
/// sequence numbers have wrapped, it cannot decrypt this sender's packets. Recorded packets can be replayed to an
/// endpoint that has restarted. Two streams with one SSRC must not use the same key; SSRCs are random, so generate a
/// key for each conversation. Belongs to one thread at a time.
public struct StaticSRTP: ~Copyable, Sendable {
    public let suite: SRTPSuite
    private let outgoing: SRTPSession
    private let incoming: SRTPSession
    /// The senders whose state libsrtp keeps, most recently received last.
    private var senders: [SSRC] = []

    /// The maximum number of bytes that encryption adds to a datagram: the tag, and the index in SRTCP.
    public static let maximumGrowth = 20
    /// The maximum number of senders whose state is kept, equal to the maximum number of sources of an RTP session. A
    /// new sender replaces the sender that has been silent longest.
    public static let maximumSenderCount = 64
    /// The size of the replay window in packets. It covers more than 2 s of the shortest packets (2.5 ms).
    private static let windowPacketCount: UInt = 1024

    /// Uses `key` for both directions.
    public init(_ key: SRTPMasterKey) throws(SRTPError) {
        let outgoing = try SRTPSession(key, .anyOutbound, windowPacketCount: Self.windowPacketCount, repeats: true)
        let incoming = try SRTPSession(key, .anyInbound, windowPacketCount: Self.windowPacketCount)
        suite = key.suite
        self.outgoing = outgoing
        self.incoming = incoming
        senders.reserveCapacity(Self.maximumSenderCount + 1)
    }

    /// Encrypts an RTP or RTCP datagram in place; `datagram` must have room for `maximumGrowth` more bytes. A
    /// retransmission must be identical to the first packet. The C functions are `srtp_protect` and
    /// `srtp_protect_rtcp`.
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

    /// Decrypts a datagram in place and returns the length of the RTP or RTCP packet in bytes. Accepts any bytes. If
    /// they were not encrypted with this key, it throws, and has changed nothing but `datagram`. The C functions are
    /// `srtp_unprotect` and `srtp_unprotect_rtcp`.
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

    /// Records that a packet of `sender` was received. If there are more than `maximumSenderCount` senders, removes the
    /// state of the sender that has been silent longest. libsrtp itself would keep each sender's state forever.
    private mutating func heard(_ sender: SSRC) {
        if senders.last == sender { return }
        if let place = senders.firstIndex(of: sender) { senders.remove(at: place) }
        senders.append(sender)
        guard senders.count > Self.maximumSenderCount else { return }
        // Removes the state of the sender that has been silent longest. Unlike the other functions of libsrtp,
        // `srtp_remove_stream` takes the SSRC in network byte order.
        _ = unsafe srtp_remove_stream(incoming.session, senders.removeFirst().rawValue.bigEndian)
    }
}
