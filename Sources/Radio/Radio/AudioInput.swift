public import TenfourAudioCore

/// Audio from a program, to be sent: read packet by packet at the pace of playing, on a thread of the session's own.
public struct AudioInput: Sendable {
    let format: LPCMFormat
    let read: @Sendable (inout MutableSpan<Float>) throws(RadioError) -> FrameCount

    /// The session holds `source` as long as it runs. An error that it throws ends the session and becomes its message.
    /// While it blocks, sending stands still.
    public init(_ source: some AudioSource & AnyObject & Sendable) {
        format = source.format
        read = { samples throws(RadioError) in
            var source = source
            do {
                return try source.read(into: &samples)
            } catch {
                throw RadioError(.failure, "\(error)")
            }
        }
    }
}
