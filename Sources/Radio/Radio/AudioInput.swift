public import TenfourAudioCore

/// Audio that a program supplies to be sent. A thread of the session reads it packet by packet, at the pace of playing.
public struct AudioInput: Sendable {
    /// The name of the input in messages; nil if it has none.
    public let name: String?
    let format: LPCMFormat
    let read: @Sendable (inout MutableSpan<Float>) throws(RadioError) -> FrameCount

    /// Wraps `source`, which the session holds as long as it runs. An error that `source` throws ends the session with
    /// that message. While `source` blocks, no audio is sent.
    public init(_ source: some AudioSource & AnyObject & Sendable, name: String? = nil) {
        self.name = name
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
