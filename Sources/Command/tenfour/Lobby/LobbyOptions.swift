import ArgumentParser

/// The options of `tenfour talk` for stations that find each other.
struct LobbyOptions: ParsableArguments {
    @Flag(help: "Without a host: do not announce this station to others nearby.")
    var hidden = false

    @Flag(
        help:
            "Without a host: accept each call at once. Anybody who can reach the port is then heard, and hears you while the microphone is open."
    )
    var autoAnswer = false

    @Flag(
        help:
            "Make a channel for two: this station shows three words, which the other person types at a station that was started with --pair, too. The channel is saved."
    )
    var pair = false

    func validate() throws {
        guard pair, autoAnswer else { return }
        throw ValidationError("--pair takes no calls: leave --auto-answer out")
    }

    /// Throws if an option was written that has no meaning with an address or a link.
    func checkUnused(withAddress isAddress: Bool, orLink isLink: Bool) throws {
        if isAddress || isLink, hidden || autoAnswer {
            throw ValidationError(
                "\(hidden ? "--hidden" : "--auto-answer") is for a station that waits for calls: leave out the address")
        }
        if isLink, pair {
            throw ValidationError("--pair makes a channel, and a channel's link is given: leave out one of them")
        }
    }
}
