private import CSRTP
public import TenfourPackets

/// The cryptographic context of one sender's packets, one way (RFC 3711 section 3.2), over libsrtp2.
///
/// Belongs to one thread at a time. Allocates in `init` only, as far as this side of libsrtp goes.
public struct SRTPContext: ~Copyable, Sendable {
    private let handle: SRTPSession
    private let ssrc: SSRC
    private let suite: SRTPSuite
    /// The index that was announced; nil once a packet has been opened near it.
    private var announced: PacketIndex?
    /// Packets with a lower index are refused.
    private var floor = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))
    private var highest = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))

    /// For packets that we send. The rollover counter is zero before the first.
    public init(sending key: SRTPMasterKey, ssrc: SSRC) throws(SRTPError) {
        try self.init(key, ssrc: ssrc, windowPacketCount: UInt(Self.shortestWindow))
    }

    /// For packets that we send from `index` on, as somebody does who has sent all those before.
    package init(sending key: SRTPMasterKey, ssrc: SSRC, at index: PacketIndex) throws(SRTPError) {
        try self.init(sending: key, ssrc: ssrc)
        let status = unsafe srtp_set_stream_roc(handle.session, ssrc.rawValue, index.rolloverCounter)
        precondition(status == srtp_err_status_ok, "a context knows its own SSRC")
    }

    /// For packets of `ssrc`, whose count was announced to be at `index`. Packets that are doubles, or more than 2 s at
    /// `packetsPerSecond` behind the latest, and 128 packets at the least, are refused; so is what is more than 128 packets before
    /// `index`.
    public init(
        receiving key: SRTPMasterKey, ssrc: SSRC, at index: PacketIndex, packetsPerSecond: Int = 50
    ) throws(SRTPError) {
        let window = min(max(2 * packetsPerSecond, Self.shortestWindow), 0x7FFF)
        try self.init(key, ssrc: ssrc, windowPacketCount: UInt(window))
        announced = index
        floor = index.less(Self.shortestWindow)
    }

    private static let shortestWindow = 128

    private init(_ key: SRTPMasterKey, ssrc: SSRC, windowPacketCount: UInt) throws(SRTPError) {
        handle = try SRTPSession(key, .one(ssrc.rawValue), windowPacketCount: windowPacketCount)
        self.ssrc = ssrc
        suite = key.suite
    }

    /// Encrypts an RTP packet where it is and appends its tag, for which there must be room. Of our SSRC; never the same packet
    /// twice: what is sent again is sent as it was. `srtp_protect`.
    public mutating func protect(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
        guard packet.freeCapacity >= suite.tagByteCount else { throw .noRoom }
        let status = unsafe packet.withUnsafeMutableBufferPointer { bytes, count in
            guard count >= RTPHeader.byteCount else { return srtp_err_status_parse_err }
            var length = CInt(clamping: count)
            let status = unsafe srtp_protect(handle.session, bytes.baseAddress, &length)
            if status == srtp_err_status_ok { count = Int(length) }
            return status
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
    }

    /// Decrypts a packet where it is and returns how many bytes of RTP it has become. Nothing changes where it throws, but the
    /// packet's bytes may have. `srtp_unprotect`.
    public mutating func unprotect(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
        guard packet.count >= RTPHeader.byteCount + suite.tagByteCount else { throw .malformed }
        let number = SequenceNumber(rawValue: packet.span.number(at: 2))
        let index = (announced ?? highest).closest(number)
        guard index >= floor else { throw .old }
        if announced != nil {
            // libsrtp forgets what it was told only when that lies further ahead than sequence numbers tell; otherwise it would
            // stay in that turn for ever. Nearer, it finds the count itself, and zero takes back what an earlier packet made us
            // say.
            let isBeyondReach = index.rawValue > highest.rawValue + 0x8000
            let status = unsafe srtp_set_stream_roc(
                handle.session, ssrc.rawValue, isBeyondReach ? index.rolloverCounter : 0)
            guard status == srtp_err_status_ok else { throw SRTPError(status) }
        }
        var length = CInt(clamping: packet.count)
        let status = unsafe packet.withUnsafeMutableBufferPointer { bytes in
            unsafe srtp_unprotect(handle.session, bytes.baseAddress, &length)
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
        announced = nil
        highest = max(highest, index)
        return Int(length)
    }
}
