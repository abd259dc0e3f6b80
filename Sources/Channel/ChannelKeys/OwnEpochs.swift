/// The latest 16 epochs that we created. An announcement of one of these epochs is our own announcement, sent back to
/// us.
public struct OwnEpochs: Sendable {
    private var epochs: [Epoch] = []

    private static let maximumCount = 16

    public init() {}

    /// Adds an epoch that we created. If there are 16 already, the oldest is dropped.
    public mutating func insert(_ epoch: Epoch) {
        if epochs.count == Self.maximumCount { epochs.removeFirst() }
        epochs.append(epoch)
    }

    public func contains(_ epoch: Epoch) -> Bool { epochs.contains(epoch) }
}
