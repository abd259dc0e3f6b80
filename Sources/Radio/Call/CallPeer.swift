internal import TenfourAudioCore
internal import TenfourSession

/// A call, or an attempt, with the station at one endpoint.
struct CallPeer: Sendable {
    let endpoint: Endpoint
    /// Further endpoints of the same station.
    var otherEndpoints: [Endpoint] = []
    /// Whether the other end has called this one.
    var hasCalled = false
    var caller: UInt64
    var callee: UInt64 = 0
    var name = ""
    /// Whether the other end has said that it rings.
    var hasRung = false
    /// Whether the other end is known to understand calls.
    var knowsCalls = false
    var began: Instant
    /// When the other end was last heard.
    var heard: Instant
    /// When the next repetition is due.
    var due: Instant

    func isAt(_ sender: Endpoint) -> Bool { endpoint == sender || otherEndpoints.contains(sender) }

    func isSame(as other: Self) -> Bool { endpoint == other.endpoint && caller == other.caller }

    /// Whether a message from `sender` has both numbers of this call.
    func isNamed(by message: CallMessage, _ sender: Endpoint) -> Bool {
        endpoint == sender && caller == message.caller && callee == message.callee && callee != 0
    }
}

/// A call that is over. What still comes about it is answered as it was at its end, because that answer may have been
/// lost: otherwise a late invitation would ring again.
struct EndedCall: Sendable {
    let peer: CallPeer
    /// The reason why it was refused; nil if it was hung up.
    let refusal: CallRefusal?
    /// The time at which it is forgotten.
    let end: Instant
}
