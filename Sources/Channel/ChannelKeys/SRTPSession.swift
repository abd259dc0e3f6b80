internal import CSRTP

/// The SSRCs whose packets a libsrtp session accepts.
enum SRTPSources {
    case one(UInt32)
    case anyInbound
    case anyOutbound
}

/// A session of libsrtp: the C functions are `srtp_create` and `srtp_dealloc`. Belongs to one thread at a time.
@safe
struct SRTPSession: ~Copyable, @unchecked Sendable {
    let session: srtp_t

    /// If `repeats` is true, the session may encrypt a packet a second time, provided that its bytes are still the
    /// same.
    init(
        _ key: SRTPMasterKey, _ sources: SRTPSources, windowPacketCount: UInt, repeats: Bool = false
    ) throws(SRTPError) {
        precondition(libraryIsReady, "libsrtp cannot work here")
        var session: srtp_t?
        var status = srtp_err_status_ok
        key.bytes.withBytes { bytes in
            // Copies the key, because libsrtp takes a mutable pointer. libsrtp makes its own copy.
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
                switch sources {
                case .one(let ssrc):
                    unsafe policy.ssrc.type = ssrc_specific
                    unsafe policy.ssrc.value = ssrc
                case .anyInbound: unsafe policy.ssrc.type = ssrc_any_inbound
                case .anyOutbound: unsafe policy.ssrc.type = ssrc_any_outbound
                }
                unsafe policy.key = pointer.baseAddress
                unsafe policy.window_size = windowPacketCount
                unsafe policy.allow_repeat_tx = repeats ? 1 : 0
                status = unsafe srtp_create(&session, &policy)
            }
            zero(&copy)
        }
        guard status == srtp_err_status_ok, let session = unsafe session else { throw SRTPError(status) }
        unsafe self.session = session
    }

    deinit { _ = unsafe srtp_dealloc(session) }
}

private let libraryIsReady = srtp_init() == srtp_err_status_ok
