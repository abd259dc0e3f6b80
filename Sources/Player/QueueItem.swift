internal import Feed

/// One of the queue.
public struct QueueItem: Equatable, Sendable {
    /// As it was given, or for the entry of a playlist as people may read it.
    public let address: String
    /// As the playlist calls it. Control characters are replaced.
    public let title: String?

    let resource: Resource?
    /// How many playlists led to it.
    let depth: Int

    init(_ address: String) {
        self.address = address
        (title, resource, depth) = (nil, nil, 0)
    }

    init(_ entry: Playlist.Entry, depth: Int) {
        address = "\(entry.resource)"
        title = entry.title
        resource = entry.resource
        self.depth = depth
    }
}
