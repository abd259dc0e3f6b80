import TenfourChannelKeys
import TenfourChannelMember

/// A paired channel that is saved as `pair`, because this station has not learned the name of the other one. It gets that
/// name when the other station appears in the channel with a name.
struct NamelessPair {
    private let link: ChannelLink
    /// The name under which the channel is saved; nil once it has been renamed.
    private var name: String?

    init(_ link: ChannelLink, savedAs name: String) {
        self.link = link
        self.name = name
    }

    /// Renames the channel if the event is about a member with a name. Returns the sentence about that; nil if nothing was
    /// renamed.
    mutating func line(for event: ChannelEvent) -> String? {
        switch event {
        case .membersKnown(let members): members.talkers.lazy.compactMap(\.name).first.flatMap { rename(after: $0) }
        case .memberJoined(let member), .memberChanged(let member): member.name.flatMap { rename(after: $0) }
        default: nil
        }
    }

    private mutating func rename(after partner: String) -> String? {
        guard let name else { return nil }
        // The other's name may have no letter that a channel's name can have.
        guard PairedChannel.channelName(of: partner) != PairedChannel.nameless else { return nil }
        let wanted = PairedChannel(link: link.text(), partner: partner).name
        guard SavedLink.rename(link, from: name, to: wanted) else { return nil }
        self.name = nil
        return "the channel is now saved as \(wanted): tenfour talk \(wanted) finds it"
    }
}
