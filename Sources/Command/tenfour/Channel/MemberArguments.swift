import ArgumentParser
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio

/// The arguments that name a member of a channel with an owner.
struct MemberArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The channel's link, or the name of a saved channel.", valueName: "channel"),
        completion: Completions.channel)
    var channel: String

    @Argument(help: ArgumentHelp("The member's name in the list of `tenfour channel members`.", valueName: "name"))
    var name: String

    /// The error for a name that is not in the channel's list.
    static func unknown(_ name: MemberName, in channel: OwnedChannel) -> RadioError {
        RadioError(
            .usage,
            "\(channel.link.name) has no member \(name.text): `tenfour channel members \(channel.link.name)` prints the names"
        )
    }
}
