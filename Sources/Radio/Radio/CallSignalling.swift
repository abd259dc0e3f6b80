public import TenfourAudioCore
public import TenfourFloor
public import TenfourSession

/// The messages on the media port by which stations call each other, beside the media of a session: call signalling.
///
/// After each input, take datagrams until nil, then sleep until `nextDeadline`. All calls but `releasePort` come from
/// the thread that has the port at that time.
public protocol CallSignalling: AnyObject, Sendable {
    /// A session is about to bind the port that the signalling uses: the port must be free on return. Called on the
    /// thread that creates the session, after its devices were opened.
    func releasePort()

    /// Receives a datagram. Returns false if it is no signalling, and belongs to the session.
    func receive(_ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant) -> Bool

    /// Must be called at `nextDeadline`; an earlier call does nothing.
    func timeElapsed(at now: Instant)

    /// Appends the next datagram, at most 1 100 bytes, and returns where it goes; nil if there is none.
    func nextDatagram(into buffer: inout OutputSpan<UInt8>, at now: Instant) -> Endpoint?

    /// The time at which `timeElapsed` must be called; nil if nothing is due.
    var nextDeadline: Instant? { get }
}

extension RadioConfiguration {
    /// Creates a configuration that talks by plain RTP with the station at `endpoint`, which a call has agreed on, and
    /// plays no other sender. `localPort` is the port of the call. `role` says which of the two answered.
    public static func calling(
        _ endpoint: Endpoint, as role: CallFloor.Role = .bothCalled, rtpSession: RTPSessionConfiguration = .init(),
        localPort: UInt16
    ) -> Self {
        var rtpSession = rtpSession
        rtpSession.remotes = [endpoint]
        rtpSession.accepted = .only([endpoint.address])
        rtpSession.acceptStaticPayloadTypes()
        var configuration = Self(local: Endpoint(.anyV6, port: localPort), rtpSession: rtpSession)
        configuration.callRole = role
        return configuration
    }
}
