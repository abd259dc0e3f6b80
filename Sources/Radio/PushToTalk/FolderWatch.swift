internal import TenfourSystem

/// Tells which names appear in a folder or change their rights.
struct FolderWatch {
    private let watch: InotifyWatch

    /// Returns nil if the folder does not exist, or if the user has too many watches.
    init?(_ folder: String) {
        // The rules of udev set the rights shortly after a file has appeared.
        guard let watch = try? InotifyWatch(folder, for: [.created, .movedHere, .attributesChanged]) else { return nil }
        self.watch = watch
    }

    /// The descriptor to wait for.
    var descriptor: Int32 { watch.descriptor }

    /// Returns the names since the last call, without waiting; nil if the folder is gone or names were lost, so that the
    /// watch must begin again.
    func names() -> [String]? { Self.names(in: watch.events()) }

    static func names(in events: [InotifyEvent]) -> [String]? {
        events.contains { !$0.kinds.isDisjoint(with: [.ended, .overflow]) } ? nil : events.map(\.name)
    }
}
