/// The reason why bytes are not the beginning of an Ogg Opus file.
public enum OggOpusError: Error, Hashable, Sendable {
    /// The bytes do not begin with a page of Ogg.
    case notOgg
    /// The first page has no identification header of Opus with one or two channels.
    case notOpus
    /// The second packet is not a comment header.
    case noComments
    /// The bytes end within the headers.
    case truncated
}
