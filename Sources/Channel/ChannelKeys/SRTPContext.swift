private import CSRTP
public import TenfourPackets

/// The cryptographic context of one SSRC in one direction (RFC 3711 section 3.2), based on libsrtp2.
///
/// Belongs to one thread at a time. Allocates memory in `init` only, apart from libsrtp's own allocations.
public struct SRTPContext: ~Copyable, Sendable {
    private let handle: SRTPSession
    private let ssrc: SSRC
    private let suite: SRTPSuite
    /// The announced packet index; nil after the first packet has been decrypted.
    private var announced: PacketIndex?
    /// The lowest packet index that is accepted.
    private var floor = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))
    private var highest = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))

    /// Makes a context for packets that we send. The first packet's rollover counter is zero.
    public init(sending key: SRTPMasterKey, ssrc: SSRC) throws(SRTPError) {
        try self.init(key, ssrc: ssrc, windowPacketCount: UInt(Self.shortestWindow))
    }

    /// Makes a context for packets that we send from `index` on, as if all earlier packets had been sent. For tests.
    package init(sending key: SRTPMasterKey, ssrc: SSRC, at index: PacketIndex) throws(SRTPError) {
        try self.init(sending: key, ssrc: ssrc)
        let status = unsafe srtp_set_stream_roc(handle.session, ssrc.rawValue, index.rolloverCounter)
        precondition(status == srtp_err_status_ok, "a context knows its own SSRC")
    }

    /// Makes a context for packets received from `ssrc`. `index` is the announced packet index. The replay window is 2
    /// s at `packetsPerSecond`, and at least 128 packets. The context refuses duplicates, packets older than the
    /// window, and packets more than 128 before `index`.
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

    /// Encrypts an RTP packet of our SSRC in place and appends its tag; `packet` must have room for the tag. Never
    /// encrypt a packet twice. To retransmit a packet, send its encrypted bytes again. The C function is
    /// `srtp_protect`.
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

    /// Decrypts a packet in place and returns the length of the RTP packet in bytes. If it throws, only the packet's
    /// bytes may have changed. The C function is `srtp_unprotect`.
    public mutating func unprotect(_ packet: inout MutableSpan<UInt8>) throws(SRTPError) -> Int {
        guard packet.count >= RTPHeader.byteCount + suite.tagByteCount else { throw .malformed }
        let number = SequenceNumber(rawValue: packet.span.number(at: 2))
        let index = (announced ?? highest).closest(number)
        guard index >= floor else { throw .old }
        if announced != nil {
            // Sets the rollover counter (ROC) if the index is more than 2¹⁵ above the highest index. For a nearer
            // packet it sets 0, so that libsrtp finds the ROC itself. Without this, libsrtp would use a ROC that was
            // set for an earlier packet, until it has decrypted a packet this far above the highest index.
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
