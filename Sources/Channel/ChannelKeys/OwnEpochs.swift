/// The latest 16 epochs that we drew. An announcement of one of these epochs is our own announcement, sent back to us.
public struct OwnEpochs: Sendable {
    private var epochs: [Epoch] = []

    private static let maximumCount = 16

    public init() {}

    /// Adds an epoch that we drew; the oldest is dropped if there are 16.
    public mutating func insert(_ epoch: Epoch) {
        if epochs.count == Self.maximumCount { epochs.removeFirst() }
        epochs.append(epoch)
    }

    public func contains(_ epoch: Epoch) -> Bool { epochs.contains(epoch) }
}
