internal import TenfourAudioCore
internal import TenfourMediaSource

/// An item of the queue.
public struct QueueItem: Equatable, Sendable {
    /// Its address for display: without a password and without characters that could disturb a terminal.
    public let name: String
    /// The title that the playlist states. Control characters are replaced.
    public let title: String?

    let resource: Result<Resource, ResourceError>
    /// The address that a person typed: this one, or that of the playlist that led here. Credentials are sent only to
    /// it.
    let typed: Resource?
    /// The number of playlists that led to it.
    let depth: Int

    /// Creates an item from a typed address.
    init(_ address: String) {
        resource = Result { () throws(ResourceError) in try Resource(address) }
        name = (try? resource.get().description) ?? String(fromPeer: address)
        typed = try? resource.get()
        (title, depth) = (nil, 0)
    }

    /// An entry of the playlist `parent`.
    init(_ entry: Playlist.Entry, in parent: QueueItem) {
        name = entry.resource.description
        title = entry.title
        resource = .success(entry.resource)
        typed = parent.typed
        depth = parent.depth + 1
    }
}
