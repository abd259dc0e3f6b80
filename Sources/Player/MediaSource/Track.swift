public import TenfourAudioCore

/// The codec, format and tags of a resource.
public struct Track: Equatable, Sendable {
    /// The codec's name: `mp3`, `aac`, `flac`, `opus`, …
    public var codec: String
    /// The format of the coded audio.
    public var format: LPCMFormat
    /// The title. Control characters are replaced.
    public var title: String?
    /// The artist. Control characters are replaced.
    public var artist: String?
    /// The album. Control characters are replaced.
    public var album: String?
    /// The chapters in the order of their positions; empty if there are none.
    public var chapters: [Chapter] = []
    /// The descriptions of the pictures.
    public var pictures: [Picture] = []
    /// The gain that the tags state; all nil if they state none.
    public var gain = ReplayGain()
    /// The audio tracks of the file, in its order; empty if it can have only one.
    public var alternatives: [AudioTrack] = []

    public init(
        codec: String, format: LPCMFormat, title: String? = nil, artist: String? = nil, album: String? = nil
    ) {
        self.codec = codec
        self.format = format
        self.title = title
        self.artist = artist
        self.album = album
    }
}
