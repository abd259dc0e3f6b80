import ArgumentParser
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRadio

/// `tenfour channel verify`.
struct VerifyMember: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Compare a member's key by four words, and remember it.",
        discussion: """
            tenfour channel verify family bob

            Both of you run it, and read the words to each other by a way on which you know each other's voice. From then on \
            the member is shown as verified, and is not heard with another key before you have compared that one.
            """)

    @OptionGroup var member: MemberArguments

    func run() throws {
        let name = try AddMember.name(member.name)
        let channel = try OwnedChannel(LinkOptions.saved(member.channel))
        let roster = try channel.roster()
        guard let entry = roster.contents.entries.first(where: { $0.name == name }),
            let key = roster.key(of: entry.index)
        else { throw MemberArguments.unknown(name, in: channel) }
        guard key != channel.identity.key else { throw RadioError(.usage, "\(name.text) is you: name another member") }
        let words: (theirs: String, ours: String)
        do throws(ComparisonWordsError) {
            words = (
                try key.comparisonWords().joined(separator: " "),
                try channel.identity.key.comparisonWords().joined(separator: " ")
            )
        } catch { throw RadioError(.unavailable, error.description) }
        let known = try channel.files.verifiedKeys()[name]
        if let known, known != key {
            Terminal.log(
                """
                WARNING: the key of \(name.text) is not the one that you compared before. \(name.text) has a new identity, or \
                somebody pretends to be \(name.text). \(name.text) is not heard until you have compared the new key.
                """)
        }
        Terminal.write("\(name.text): \(words.theirs)\nyou: \(words.ours)\n")
        if known == key { return Terminal.log("You have compared this key before.") }
        Terminal.log("Do the words agree with those that \(name.text) sees? Type yes, and Enter:")
        guard readLine()?.lowercased() == "yes" else {
            throw RadioError(.unavailable, "the key of \(name.text) is not stored")
        }
        try channel.files.setVerified(key, name)
        Terminal.log("\(name.text) is verified. Stations that run know it after their next start.")
    }
}
