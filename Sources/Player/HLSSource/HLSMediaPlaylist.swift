internal import TenfourAudioCore
public import TenfourMediaSource

/// A playlist of segments (RFC 8216, section 4.3.3).
public struct HLSMediaPlaylist: Equatable, Sendable {
    /// The address of the playlist, against which references are resolved.
    public var base: Resource
    /// The longest duration of a segment, rounded to seconds.
    public var targetDuration = Duration.zero
    /// The media sequence number of the first segment.
    public var firstNumber = 0
    /// The segments, oldest first.
    public var segments: [HLSSegment] = []
    /// Whether no segments will be added: the playlist has `EXT-X-ENDLIST` or the type `VOD`.
    public var isEnded = false
    /// Where playback should begin; nil: at the beginning, or at the live edge.
    public var start: HLSStart?

    /// The media sequence number after the last segment.
    public var nextNumber: Int { firstNumber + segments.count }

    /// The sum of the segments' durations.
    public var duration: Duration { segments.reduce(.zero) { $0 + $1.duration } }

    init(base: Resource) { self.base = base }
}

/// The point at which playback should begin (`EXT-X-START`; RFC 8216, section 4.3.5.2).
public struct HLSStart: Equatable, Sendable {
    /// The time after the start of the playlist; if it is negative, before its end.
    public var offset: Duration
    /// Whether playback begins at the very point, and not at the start of the segment that contains it.
    public var isPrecise: Bool
}

/// A segment of a media playlist.
public struct HLSSegment: Equatable, Sendable {
    /// The address as the playlist writes it, to be resolved against the playlist's address.
    public var reference: String
    /// The duration as the playlist states it, 0 to 3,600 s.
    public var duration: Duration
    /// The bytes of the resource that are the segment; nil for all.
    public var byteRange: Range<Int>?
    /// The discontinuity sequence number. Timestamps and encoding continue only between segments of the same number.
    public var discontinuity: Int
    /// nil if the segment is not encrypted.
    public var encryption: HLSEncryption?
    /// The beginning that a demuxer needs before the segment: the header of fragmented MP4; nil if it needs none.
    public var header: HLSHeader?
    /// The time since 1970-01-01 UTC at which the segment was recorded; nil if it is not stated.
    public var date: Duration?
    /// Whether the playlist says that the segment does not exist (`EXT-X-GAP`).
    public var isMissing: Bool
}

/// The encryption of a segment: AES-128 in CBC mode with PKCS7 padding.
public struct HLSEncryption: Equatable, Sendable {
    /// The address of the 16 bytes of the key, as the playlist writes it.
    public var keyReference: String
    /// The 16 bytes of the initialization vector; nil: the segment's media sequence number.
    public var initializationVector: [UInt8]?
}

/// The header of fragmented MP4 (`EXT-X-MAP`).
public struct HLSHeader: Equatable, Sendable {
    /// The address, as written.
    public var reference: String
    /// The bytes of the resource that are the header; nil: all.
    public var byteRange: Range<Int>?
    public var encryption: HLSEncryption?
}

/// The reason why a playlist of HTTP Live Streaming cannot be played.
public enum HLSPlaylistError: Error, Equatable, Sendable, CustomStringConvertible {
    case noPlaylist
    case tooLong
    case empty
    case noAudio
    case onlyPictures
    case nested
    /// An encryption that is not supported. The value is its name; control characters are replaced.
    case encrypted(String)
    /// An address that is not opened. The value is a sentence.
    case refused(String)

    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .noPlaylist: "this is no playlist of HTTP Live Streaming (HLS); check the address"
        case .tooLong:
            "the HLS playlist has more than \(HLSPlaylist.maximumSegmentCount) segments or \(HLSPlaylist.maximumByteCount >> 20) MiB; play a shorter part of the recording"
        case .empty: "the HLS playlist has no segments; check the address, or ask its operator"
        case .noAudio: "none of the streams in the HLS playlist has audio; ask its operator for another address"
        case .onlyPictures:
            "the HLS playlist lists single pictures of a video; play the address of the main playlist"
        case .nested: "the HLS playlist names another list of streams where segments should be; ask its operator"
        case .encrypted(let method):
            "the segments are encrypted by \(method), which is not supported; play it in the program or browser of its operator"
        case .refused(let sentence): sentence
        }
    }
}

extension HLSMediaPlaylist {
    /// Returns the address of a reference in this playlist.
    func resource(_ reference: String) throws(ByteSourceError) -> Resource {
        do throws(ResourceError) {
            return try base.resolving(reference)
        } catch {
            throw .failed(error.description, kind: error.kind)
        }
    }
}
