import ArgumentParser
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio

/// `tenfour channel remove`.
struct RemoveMember: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a member from a channel that you own.",
        discussion: """
            tenfour channel remove family phone

            The member hears nothing and is not heard any more, some seconds after the relay has the new list and secret. \
            Nobody else does anything.
            """)

    @OptionGroup var member: MemberArguments

    func run() throws {
        let name = try AddMember.name(member.name)
        let channel = try OwnedChannel(LinkOptions.saved(member.channel))
        let deposit = try channel.deposit { old throws(RadioError) in
            guard let entry = old.entries.first(where: { $0.name == name }) else {
                throw MemberArguments.unknown(name, in: channel)
            }
            guard entry.index != RosterEntry.ownerIndex else {
                throw RadioError(.usage, "the owner cannot be removed: make a new channel")
            }
            return old.entries.filter { $0.index != entry.index }
        }
        let sealed = deposit.sealedCount.map { count in
            "; the new secret is sealed for \(count == 1 ? "one member" : "\(count) members")"
        }
        Terminal.log(
            "\(name.text) is no longer a member of \(channel.link.name) (list \(deposit.roster.version), at the relay)\(sealed ?? "")"
        )
    }
}
