public import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel

/// The state of a channel with an owner, to be written to the channel's file.
public struct ManagedSnapshot: Sendable {
    /// The channel's name.
    public let name: String
    fileprivate let channel: ChannelIndex
    fileprivate let number: UInt64
    fileprivate let store: ManagedChannelStore

    /// The content of the file. It may have a megabyte, so it should not be made on a thread that forwards media.
    public var content: [UInt8] { store.fileContent }
}

extension Relay {
    /// Returns the next state that is to be written; nil if there is none. What is new in it is told to members only after
    /// `snapshotWritten`.
    public mutating func nextSnapshot(at now: Instant) -> ManagedSnapshot? {
        while let channel = managed.nextUnsaved() {
            let number = generator.next()
            guard let store = channels[channel]?.managed?.snapshot(number: number, at: now),
                let name = channels[channel]?.configuration.name
            else { continue }
            return ManagedSnapshot(name: name, channel: channel, number: number, store: store)
        }
        return nil
    }

    /// Reports that a state is on disk, or that it could not be written. In the latter case it is written again later.
    public mutating func snapshotWritten(_ snapshot: ManagedSnapshot, isStored: Bool, at now: Instant) {
        guard channels[snapshot.channel]?.managed?.snapshotNumber == snapshot.number else { return }
        channels[snapshot.channel]?.managed?.store.stored(isStored, at: now)
        managed.schedule(snapshot.channel, at: now)
        // A relay that stops has no time for another try.
        if ending != nil, isStored { managed.save(snapshot.channel) }
    }
}
