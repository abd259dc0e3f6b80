internal import CSRTP

/// The reason why a packet could not be encrypted, or was not accepted.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The packet was not encrypted with this key, or was changed in transit.
    case forged
    /// The packet has been received before.
    case replayed
    /// The packet is older than the replay window.
    case old
    /// The packet is too short, or is not RTP.
    case malformed
    /// The packet's SSRC is not the SSRC of the cryptographic context.
    case otherSource
    /// The key has encrypted the maximum number of packets. A new epoch, which has a new key, must begin.
    case keyUsedUp
    /// The caller's buffer has no room for the tag.
    case noRoom
    /// Another error of libsrtp: the number of an `srtp_err_status_` constant of srtp.h.
    case other(UInt32)

    init(_ status: srtp_err_status_t) {
        self =
            switch status {
            case srtp_err_status_auth_fail: .forged
            case srtp_err_status_replay_fail: .replayed
            case srtp_err_status_replay_old: .old
            case srtp_err_status_parse_err, srtp_err_status_bad_param: .malformed
            case srtp_err_status_no_ctx: .otherSource
            case srtp_err_status_key_expired: .keyUsedUp
            default: .other(status.rawValue)
            }
    }

    public var description: String {
        switch self {
        case .forged: "protected with another key, or changed on the way"
        case .replayed: "received before"
        case .old: "too old: it may have been received before"
        case .malformed: "not an SRTP packet"
        case .otherSource: "from another SSRC"
        case .keyUsedUp: "the key has reached its limit of packets"
        case .noRoom: "no space for the authentication tag"
        case .other(let code): "libsrtp: error \(code)"
        }
    }
}
