private import CSRTP
public import RTP

/// The cryptographic context of one sender's packets, one way (RFC 3711 section 3.2), over libsrtp2.
///
/// The C functions are `srtp_create` and `srtp_dealloc`. Belongs to one thread at a time. Allocates in `init` only, as far as
/// this side of libsrtp goes.
@safe
public struct SRTPContext: ~Copyable, @unchecked Sendable {
    private let session: srtp_t
    private let ssrc: SSRC
    private let suite: SRTPSuite
    /// Where the count is, until a packet has proved it.
    private var announced: PacketIndex?
    private var highest = PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0))

    /// For packets that we send. The rollover counter is zero before the first.
    public init(sending key: SRTPMasterKey, ssrc: SSRC) throws(SRTPError) {
        try self.init(key, ssrc: ssrc, windowPacketCount: 128)
    }

    /// For packets that we send from `index` on, as somebody does who has sent all those before.
    package init(sending key: SRTPMasterKey, ssrc: SSRC, at index: PacketIndex) throws(SRTPError) {
        try self.init(sending: key, ssrc: ssrc)
        let status = unsafe srtp_set_stream_roc(session, ssrc.rawValue, index.rolloverCounter)
        precondition(status == srtp_err_status_ok, "a context knows its own SSRC")
    }

    /// For packets of `ssrc`, whose count was announced to be at `index`. Packets that are doubles, or more than 2 s at
    /// `packetsPerSecond` behind the latest, and 128 packets at the least, are refused.
    public init(
        receiving key: SRTPMasterKey, ssrc: SSRC, at index: PacketIndex, packetsPerSecond: Int = 50
    ) throws(SRTPError) {
        try self.init(key, ssrc: ssrc, windowPacketCount: UInt(min(max(2 * packetsPerSecond, 128), 0x7FFF)))
        announced = index
    }

    private init(_ key: SRTPMasterKey, ssrc: SSRC, windowPacketCount: UInt) throws(SRTPError) {
        precondition(libraryIsReady, "libsrtp cannot work here")
        var session: srtp_t?
        var status = srtp_err_status_ok
        key.bytes.withBytes { bytes in
            // libsrtp copies the key, and takes a pointer to what it could change.
            var copy = InlineArray<32, UInt8>(repeating: 0)
            for index in bytes.indices { copy[index] = bytes[index] }
            var span = copy.mutableSpan
            unsafe span.withUnsafeMutableBufferPointer { pointer in
                var policy = unsafe srtp_policy_t()
                switch key.suite {
                case .aesCounterMode:
                    unsafe srtp_crypto_policy_set_rtp_default(&policy.rtp)
                    unsafe srtp_crypto_policy_set_rtp_default(&policy.rtcp)
                case .aesGCM:
                    unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
                    unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
                }
                unsafe policy.ssrc.type = ssrc_specific
                unsafe policy.ssrc.value = ssrc.rawValue
                unsafe policy.key = pointer.baseAddress
                unsafe policy.window_size = windowPacketCount
                status = unsafe srtp_create(&session, &policy)
            }
            zero(&copy)
        }
        guard status == srtp_err_status_ok, let session = unsafe session else { throw SRTPError(status) }
        unsafe self.session = session
        self.ssrc = ssrc
        suite = key.suite
    }

    deinit { _ = unsafe srtp_dealloc(session) }

    /// Encrypts an RTP packet where it is and appends its tag, for which there must be room. Of our SSRC; never the same packet
    /// twice: what is sent again is sent as it was. `srtp_protect`.
    public mutating func protect(_ packet: inout OutputSpan<UInt8>) throws(SRTPError) {
        guard packet.freeCapacity >= suite.tagByteCount else { throw .noRoom }
        let status = unsafe packet.withUnsafeMutableBufferPointer { bytes, count in
            guard count >= RTPHeader.byteCount else { return srtp_err_status_parse_err }
            var length = CInt(clamping: count)
            let status = unsafe srtp_protect(session, bytes.baseAddress, &length)
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
        if announced != nil {
            // libsrtp forgets what it was told only when that lies further ahead than sequence numbers tell; otherwise it would
            // stay in that turn for ever. Nearer, it finds the count itself, and zero takes back what an earlier packet made us
            // say.
            let isBeyondReach = index.rawValue > highest.rawValue + 0x8000
            let status = unsafe srtp_set_stream_roc(session, ssrc.rawValue, isBeyondReach ? index.rolloverCounter : 0)
            guard status == srtp_err_status_ok else { throw SRTPError(status) }
        }
        var length = CInt(clamping: packet.count)
        let status = unsafe packet.withUnsafeMutableBufferPointer { bytes in
            unsafe srtp_unprotect(session, bytes.baseAddress, &length)
        }
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
        announced = nil
        highest = max(highest, index)
        return Int(length)
    }

    /// What a later announcement says. Where it is further ahead than sequence numbers can tell, packets in between are given up.
    /// Returns whether that is so: then packets that could not be opened may be those.
    @discardableResult
    public mutating func synchronize(with index: PacketIndex) -> Bool {
        guard announced == nil, index.rawValue > highest.rawValue + 0x7FFF else { return false }
        announced = index
        return true
    }
}

private let libraryIsReady = srtp_init() == srtp_err_status_ok
