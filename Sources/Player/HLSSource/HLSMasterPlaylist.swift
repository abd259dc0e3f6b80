public import TenfourMediaSource

/// A playlist of streams with the same content (RFC 8216, section 4.3.4).
public struct HLSMasterPlaylist: Equatable, Sendable {
    /// The address of the playlist, against which references are resolved.
    public var base: Resource
    /// The streams at several bit rates, in the order of the playlist.
    public var variants: [HLSVariant] = []
    /// The audio renditions that have a playlist of their own.
    public var renditions: [HLSRendition] = []
    /// Where playback of a stream begins whose own playlist does not say it; nil: at the beginning, or at the live edge.
    public var start: HLSStart?

    init(base: Resource) { self.base = base }
}

/// A stream of a master playlist (`EXT-X-STREAM-INF`).
public struct HLSVariant: Equatable, Sendable {
    /// The address of the stream's media playlist, as the master playlist writes it.
    public var reference = ""
    /// The peak bit rate in bit/s; the largest number if it is not stated.
    public var bandwidth: Int
    /// The formats of the stream, such as `mp4a.40.2`; nil if they are not stated.
    public var codecs: [String]?
    /// Whether the stream states the size of a picture.
    public var hasResolution: Bool
    /// The group of audio renditions; nil if the audio is in the stream itself.
    public var audioGroup: String?

    init(_ attributes: HLSAttributes) {
        bandwidth = attributes.integer("BANDWIDTH") ?? .max
        codecs = attributes["CODECS"]?.split(separator: ",").prefix(32).map { $0.filter { !$0.isWhitespace } }
        hasResolution = attributes["RESOLUTION"] != nil || attributes["FRAME-RATE"] != nil
        audioGroup = attributes["AUDIO"]
    }

    private static let audioCodecs: Set<String> = ["mp4a", "ac-3", "ec-3", "opus", "flac", "alac", "vorbis", "mp3"]
    private static let otherCodecs: Set<String> = ["stpp", "wvtt", "dtsc", "dtse"]

    private var families: [String]? { codecs?.map { $0.prefix { $0 != "." }.lowercased() } }

    /// Whether the stream may have audio. True if it does not state its formats.
    var hasAudio: Bool { families.map { $0.contains(where: Self.audioCodecs.contains) } ?? true }

    /// Whether the stream states that it has audio and no video.
    var isAudioOnly: Bool {
        guard !hasResolution, let families, hasAudio else { return false }
        return families.allSatisfy { Self.audioCodecs.contains($0) || Self.otherCodecs.contains($0) }
    }

    /// Whether the stream states AAC or MP3 audio, or states nothing.
    fileprivate var hasCommonAudio: Bool { families?.contains("mp4a") ?? true }
}

/// An audio rendition of a master playlist (`EXT-X-MEDIA` with the type `AUDIO`).
public struct HLSRendition: Equatable, Sendable {
    /// The address, as written.
    public var reference: String
    /// The name of the group (GROUP-ID) by which variants refer to it.
    public var group: String
    /// The name for people. Control characters are replaced.
    public var name: String?
    /// Whether it is played if nobody chose another (DEFAULT).
    public var isDefault: Bool
    /// Whether it may be chosen without being asked for (AUTOSELECT).
    public var isAutomatic: Bool
}

extension HLSMasterPlaylist {
    /// The highest bit rate of an audio-only stream that is preferred to one of a lower bit rate, in bit/s.
    private static let sufficientBandwidth = 400_000
    private static let maximumCandidateCount = 8

    /// The references of the media playlists that carry the audio, the best first: audio renditions, then streams
    /// without video, then the others by rising bit rate.
    public var audioReferences: [String] {
        var found: [String] = []
        var known: Set<String> = []
        func add(_ references: [String]) {
            for one in references where found.count < Self.maximumCandidateCount && known.insert(one).inserted {
                found.append(one)
            }
        }
        // The groups of the streams, AAC before other formats, and high bit rates before low ones.
        let users = variants.filter { $0.audioGroup != nil }.sorted {
            ($0.hasCommonAudio ? 0 : 1, -Double($0.bandwidth)) < ($1.hasCommonAudio ? 0 : 1, -Double($1.bandwidth))
        }
        let grouped = Dictionary(grouping: renditions, by: \.group)
        var visited: Set<String> = []
        for group in users.compactMap(\.audioGroup) + (variants.isEmpty ? renditions.map(\.group) : [])
        where visited.insert(group).inserted {
            let own = grouped[group] ?? []
            add((own.filter(\.isDefault) + own.filter(\.isAutomatic) + own).map(\.reference))
        }
        let plain = variants.filter(\.isAudioOnly)
        add(
            plain.filter { $0.bandwidth <= Self.sufficientBandwidth }.sorted { $0.bandwidth > $1.bandwidth }
                .map(\.reference))
        add(plain.sorted { $0.bandwidth < $1.bandwidth }.map(\.reference))
        add(variants.filter(\.hasAudio).sorted { $0.bandwidth < $1.bandwidth }.map(\.reference))
        return found
    }
}
