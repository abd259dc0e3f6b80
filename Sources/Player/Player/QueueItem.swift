internal import TenfourAudioCore
internal import TenfourMediaSource

/// An item of the queue.
public struct QueueItem: Equatable, Sendable {
    /// The item's address for display: without a password and without characters that could disturb a terminal.
    public let name: String
    /// The title from the playlist; nil if it states none. Control characters are replaced.
    public let title: String?

    let resource: Result<Resource, ResourceError>
    /// The address that the user typed: this item's address, or the address of the playlist that contains the item.
    /// Credentials are sent only to this address's origin.
    let typed: Resource?
    /// The number of nested playlists that contain the item; 0 for a typed address.
    let depth: Int

    /// Creates an item from a typed address.
    init(_ address: String) {
        resource = Result { () throws(ResourceError) in try Resource(address) }
        name = (try? resource.get().description) ?? String(fromPeer: address)
        typed = try? resource.get()
        (title, depth) = (nil, 0)
    }

    /// Creates an item for an entry of the playlist `parent`.
    init(_ entry: Playlist.Entry, in parent: QueueItem) {
        name = entry.resource.description
        title = entry.title
        resource = .success(entry.resource)
        typed = parent.typed
        depth = parent.depth + 1
    }
}
