public import TenfourJSON

/// What a control socket answers besides push to talk.
public protocol SessionControl: Sendable {
    /// Answers a request; nil if there is no such command. Called on the socket's thread, which serves nobody else
    /// meanwhile.
    func answer(_ request: ControlRequest) -> JSON?
}
