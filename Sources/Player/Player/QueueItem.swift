internal import TenfourAudioCore
internal import TenfourMediaSource

/// One of the queue.
public struct QueueItem: Equatable, Sendable {
    /// Its address for people: without a password, and without what could disturb a terminal.
    public let name: String
    /// As the playlist calls it. Control characters are replaced.
    public let title: String?

    let resource: Result<Resource, ResourceError>
    /// The address that a person typed: this one, or that of a playlist that led to it. Credentials go only there.
    let typed: Resource?
    /// How many playlists led to it.
    let depth: Int

    /// As a person writes it.
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
