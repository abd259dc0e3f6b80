public import TenfourAudioCore

/// Sound to be sent that a program makes or plays: read a packet at a time, as fast as it sounds, on a thread of the session's own.
public struct AudioInput: Sendable {
    let format: LPCMFormat
    let read: @Sendable (inout MutableSpan<Float>) throws(RadioError) -> FrameCount

    /// Is held by the session as long as it runs. What it throws ends that, in the error's own words. Where it may wait, what is sent
    /// stands still meanwhile.
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
