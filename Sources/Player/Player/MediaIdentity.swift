internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource

/// What tells an item from others and from its own later versions: its address, size and time, and where it begins.
///
/// It holds the whole address, which may contain secrets: store only a hash of it.
package struct MediaIdentity: Hashable, Sendable {
    /// The URL, or the absolute path of a file.
    package var address: String
    /// The size in bytes; nil if it is unknown.
    package var byteCount: Int?
    /// The time of a file's last change, in nanoseconds since 1970; nil for a URL.
    package var modified: Int64?
    /// Where the item begins in the file.
    package var start: Duration

    package init(address: String, byteCount: Int? = nil, modified: Int64? = nil, start: Duration = .zero) {
        self.address = address
        self.byteCount = byteCount
        self.modified = modified
        self.start = start
    }
}

/// The item that is heard and the place reached in it.
package struct HeardPlace: Equatable, Sendable {
    package var identity: MediaIdentity
    package var position: Duration
    /// The duration of the item; nil if it is unknown.
    package var duration: Duration?

    package init(identity: MediaIdentity, position: Duration, duration: Duration?) {
        self.identity = identity
        self.position = position
        self.duration = duration
    }
}

extension MediaIdentity {
    /// Returns the identity of `item`; nil for a stream that cannot be sought. The C functions are `realpath` and
    /// `stat`.
    init?(_ item: QueueItem, _ state: ByteSourceState) {
        guard state.isSeekable, !state.isLive, case .success(let resource) = item.resource else { return nil }
        let start = item.part?.start ?? .zero
        switch resource {
        case .standardInput: return nil
        case .http(let address): self.init(address: address, byteCount: state.byteCount, start: start)
        case .file(let path):
            var status = stat()
            guard unsafe path.withPath({ unsafe stat($0, &status) }) == 0,
                let absolute = unsafe path.withPath({ unsafe realpath($0, nil) })
            else { return nil }
            defer { unsafe free(absolute) }
            self.init(
                address: unsafe String(path: absolute), byteCount: Int(status.st_size),
                modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec), start: start)
        }
    }
}
