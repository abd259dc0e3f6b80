internal import TenfourAudioCore
internal import TenfourDBus
internal import TenfourPlayer

/// The properties of the object, as values of D-Bus.
enum MPRISProperties {
    /// The rates that the player supports.
    static let rates = 0.25...32.0

    /// The longest text of an item that is told, in Unicode scalars.
    private static let textLimit = 300
    private static let trackFolder = "/org/tenfour/track/"

    /// Returns all properties of an interface; nil if there is no such interface.
    static func all(of interface: String, _ state: RemoteState) -> [String: BusValue]? {
        switch MPRISObject.Interface(rawValue: interface) {
        case .root: root
        case .player:
            announced(state).merging(["Position": .int64(microseconds(in: state.position))]) { $1 }
        case .properties, .introspection: [:]
        case nil: nil
        }
    }

    private static var root: [String: BusValue] {
        [
            "CanQuit": .bool(true), "CanRaise": .bool(false), "HasTrackList": .bool(false),
            "Identity": .text("tenfour"), "SupportedUriSchemes": .texts(["file", "http", "https"]),
            "SupportedMimeTypes": .texts([
                "audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/opus", "audio/vnd.wave",
                "audio/webm", "audio/x-mpegurl", "audio/x-scpls", "audio/x-wav",
            ]),
        ]
    }

    /// Returns the properties of the player whose changes are announced: all but the position.
    static func announced(_ state: RemoteState) -> [String: BusValue] {
        [
            "PlaybackStatus": .text(state.status.rawValue), "LoopStatus": .text(loopStatus(of: state.repeats)),
            "Shuffle": .bool(state.isShuffled),
            "Rate": .double(state.rate), "MinimumRate": .double(rates.lowerBound),
            "MaximumRate": .double(rates.upperBound), "Volume": .double(state.volume), "Metadata": metadata(state.item),
            "CanGoNext": .bool(state.hasNext), "CanGoPrevious": .bool(state.hasPrevious),
            "CanPlay": .bool(state.item != nil), "CanPause": .bool(state.item != nil),
            "CanSeek": .bool(state.isSeekable), "CanControl": .bool(true),
        ]
    }

    private static func loopStatus(of mode: RepeatMode) -> String {
        switch mode {
        case .none: "None"
        case .one: "Track"
        case .all: "Playlist"
        }
    }

    /// Returns the D-Bus path that identifies an item.
    static func trackPath(of item: RemoteItem) -> String { trackFolder + item.id }

    private static func metadata(_ item: RemoteItem?) -> BusValue {
        guard let item else {
            return .properties(["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")])
        }
        var values: [String: BusValue] = ["mpris:trackid": .objectPath(trackPath(of: item))]
        if let length = item.length { values["mpris:length"] = .int64(microseconds(in: length)) }
        if let title = item.title { values["xesam:title"] = .text(safe(title)) }
        if let artist = item.artist { values["xesam:artist"] = .texts([safe(artist)]) }
        if let album = item.album { values["xesam:album"] = .text(safe(album)) }
        if let url = item.url { values["xesam:url"] = .text(url) }
        return .properties(values)
    }

    private static func safe(_ text: String) -> String { String(fromPeer: text, limit: textLimit) }

    private static func microseconds(in duration: Duration) -> Int64 { Instant.nanoseconds(in: duration) / 1_000 }
}
