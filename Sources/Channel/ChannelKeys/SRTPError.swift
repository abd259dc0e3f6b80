internal import CSRTP

/// Why a packet was not protected, or is none of its sender's.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not of this key, or changed on its way.
    case forged
    /// Came before.
    case replayed
    /// From before the replay window.
    case old
    /// Too short, or no RTP.
    case malformed
    /// Of another SSRC.
    case otherSource
    /// As many packets as one key may protect: a new epoch is due.
    case keyUsedUp
    /// The caller's buffer ends before the tag does.
    case noRoom
    /// An `srtp_err_status_` number of srtp.h.
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
        case .forged: "not protected with this key, or changed on its way"
        case .replayed: "came before"
        case .old: "too old to tell from one that came before"
        case .malformed: "no SRTP packet"
        case .otherSource: "of another SSRC"
        case .keyUsedUp: "the key has protected as many packets as it may"
        case .noRoom: "no room for the tag"
        case .other(let code): "libsrtp: error \(code)"
        }
    }
}
