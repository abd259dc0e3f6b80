public import TenfourAudioCore
public import TenfourPackets

/// Where and how transmissions are recorded.
public struct RecorderConfiguration: Sendable {
    /// The directory, which is made if it is missing. Recordings are not encrypted.
    public var directory: String
    public var limit = RecordLimit.usual
    public var hook: RecordingHook?
    /// The channel's name, or the name of the other end of a call. Any text.
    public var channel: String
    /// Returns a talker's name, any text; nil if none is known. Called on the recorder's thread when a recording begins
    /// and ends; it must not wait.
    public var talkerName: @Sendable (SSRC) -> String?
    /// Returns what stands for the name of a talker while none is known, such as its address. Called as `talkerName`.
    public var talkerPlace: @Sendable (SSRC) -> String? = { _ in nil }
    /// The time after the beginning of a recording in which a name may still come: until then a transmission of a talker
    /// without a name is not completed. Zero or more.
    public var nameWait = Duration.zero
    /// Receives what a person should know. Called on the recorder's thread.
    public var report: @Sendable (RecorderEvent) -> Void

    public init(
        directory: String, channel: String, talkerName: @escaping @Sendable (SSRC) -> String? = { _ in nil },
        report: @escaping @Sendable (RecorderEvent) -> Void = { _ in }
    ) {
        self.directory = directory
        self.channel = channel
        self.talkerName = talkerName
        self.report = report
    }
}

/// What a person should know of the recorder.
public enum RecorderEvent: Hashable, Sendable {
    /// Recording began; the path of the file.
    case began(String)
    /// A recording is complete.
    case ended(Transmission, path: String)
    /// A file could not be written. Reported once until a file can be written again; the recorder keeps trying.
    case failed(RecordingError)
    /// A file could be written again.
    case recovered
    /// A talker sends an encoding that Ogg has no place for, and is not recorded. Reported once for each encoding.
    case notRecorded(AudioEncoding)
    /// Something is missing from the recordings. Reported again only after a minute without such a loss.
    case lost(RecorderLoss)
    /// Recordings were removed for the limits; their number. Reported once a minute at most.
    case removed(Int)
    /// A hook could not be started. Reported once for each message. The text is the whole message.
    case hookFailed(String)
}
