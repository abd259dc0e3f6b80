internal import TenfourAudioCore
public import TenfourMediaSource

/// An item of the queue.
public struct QueueItem: Equatable, Sendable {
    /// The item's address for display: without a password and without characters that could disturb a terminal.
    public let name: String
    /// The title from the playlist; nil if it states none. Control characters are replaced.
    public let title: String?

    /// The item as a URL without a password, for other programs; nil for standard input.
    public var url: String? { try? resource.get().url }

    let resource: Result<Resource, ResourceError>
    /// The address that the user typed: this item's address, or the address of the playlist that contains the item.
    /// Credentials are sent only to this address's origin.
    let typed: Resource?
    /// The number of nested playlists that contain the item; 0 for a typed address.
    let depth: Int
    /// The playlists that contain the item, the outermost first.
    let lists: [PlaylistPlace]
    /// The part of the resource that is played, as a CUE sheet divides it; nil for all of it.
    let part: MediaPart?
    /// The bytes of the program's own; nil if they come from `resource`.
    let ownBytes: OwnBytes?

    /// The container format; nil: that of the configuration. Set it only if the format is not recognised.
    public var fileType: ContainerFormat?

    /// Creates an item from an address that the user or the program chose: a URL, a path, or `-` for standard input. It
    /// may lead to audio, a playlist, a folder, a CUE sheet or an HLS stream.
    public init(_ address: String) {
        resource = Result { () throws(ResourceError) in try Resource(address) }
        name = (try? resource.get().description) ?? String(fromPeer: Resource.shown(address))
        typed = try? resource.get()
        (title, depth, lists, part, ownBytes) = (nil, 0, [], nil, nil)
    }

    /// Creates an item whose bytes come from the program. `name` is shown, with control characters replaced. `open`
    /// is called on the thread that decodes, each time the item is opened, and must not block: a later `read` may. If it
    /// throws, the item is skipped.
    ///
    /// If the bytes are a playlist, its relative addresses begin at `ByteSourceState.resource` of the source; without
    /// one they are paths of files.
    public init(named name: String, open: @escaping @Sendable () throws(ByteSourceError) -> any ByteSource) {
        self.name = String(fromPeer: name)
        resource = .success(.standardInput)
        typed = .standardInput
        (title, depth, lists, part, ownBytes) = (nil, 0, [], nil, OwnBytes(open))
    }

    /// Creates an item from an address that another program named. It has no typed origin, so the user's headers go to
    /// no server.
    init(fromOthers address: String) {
        resource = Result { () throws(ResourceError) in try Resource(address) }
        name = (try? resource.get().description) ?? String(fromPeer: Resource.shown(address))
        typed = .standardInput
        (title, depth, lists, part, ownBytes) = (nil, 0, [], nil, nil)
    }

    /// Creates an item for an entry of the playlist `parent`, which lies at `place`.
    init(_ entry: Playlist.Entry, in parent: QueueItem, at place: PlaylistPlace? = nil) {
        lists = parent.lists + [place].compactMap { $0 }
        name = entry.resource.description
        title = entry.title
        resource = .success(entry.resource)
        typed = parent.typed
        depth = parent.depth + 1
        (part, ownBytes) = (nil, nil)
    }

    /// Creates an item for a file in the folder `parent`.
    init(path: String, in parent: QueueItem) {
        self.init(Playlist.Entry(resource: .file(path: path)), in: parent)
    }

    /// Creates an item for a track of the CUE sheet `parent`.
    init(_ track: CueSheet.Track, in parent: QueueItem) {
        lists = parent.lists
        name = "\(track.resource.description) (track \(track.part.number))"
        title = track.part.title.map { text in track.part.artist.map { "\($0) – \(text)" } ?? text }
        resource = .success(track.resource)
        typed = parent.typed
        depth = parent.depth + 1
        (part, ownBytes) = (track.part, nil)
    }

    /// The absolute address of the item, and its number in a CUE sheet.
    package var placeName: String {
        let address = url ?? name
        return part.map { "\(address) \($0.number)" } ?? address
    }

    /// The absolute address that the user typed, to which the item belongs.
    package var typedName: String { typed.map { $0.url ?? "\($0)" } ?? "" }

    /// Whether this item follows `item` in the same file without a gap.
    func continues(_ item: QueueItem) -> Bool {
        guard let part, let before = item.part, case .success(let resource) = resource,
            case .success(let other) = item.resource
        else { return false }
        return resource == other && before.end == part.start
    }
}

/// Identifies a playlist by its file, or else by its address.
struct PlaylistPlace: Hashable, Sendable {
    private var file: FileIdentity?
    private var address: Resource?

    init(_ byteSource: any ByteSource) {
        file = (byteSource as? FileByteSource)?.identity
        address = file == nil ? byteSource.state.resource : nil
    }
}

/// Opens the bytes of an item of the program's own. Two items are equal if they have the same one.
final class OwnBytes: Equatable, Sendable {
    let open: @Sendable () throws(ByteSourceError) -> any ByteSource

    init(_ open: @escaping @Sendable () throws(ByteSourceError) -> any ByteSource) { self.open = open }

    static func == (left: OwnBytes, right: OwnBytes) -> Bool { left === right }
}
