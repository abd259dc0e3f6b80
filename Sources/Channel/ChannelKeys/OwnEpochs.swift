/// The latest 16 epochs that we drew ourselves. An announcement of one of them is ours and has come back.
public struct OwnEpochs: Sendable {
    private var epochs: [Epoch] = []

    private static let maximumCount = 16

    public init() {}

    /// `epoch` is ours from now on.
    public mutating func insert(_ epoch: Epoch) {
        if epochs.count == Self.maximumCount { epochs.removeFirst() }
        epochs.append(epoch)
    }

    public func contains(_ epoch: Epoch) -> Bool { epochs.contains(epoch) }
}
