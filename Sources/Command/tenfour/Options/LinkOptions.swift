import ArgumentParser
import TenfourChannelKeys
import TenfourRadio
import TenfourSession

/// The options for the other end: an address, or a channel's link as an argument, from a file or from the environment.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the link from the first line of this file; it must be readable only by you (mode 0600). Alternatively, set TENFOUR_LINK to the link.",
            valueName: "file"), completion: Completions.linkFile)
    var linkFile: String?

    /// Whether `--link-file` or TENFOUR_LINK is set.
    var isGiven: Bool { linkFile != nil || Secrets.variable(Secrets.link) != nil }

    /// Throws if neither an address nor a link is given. Commands call it in `validate`.
    func checkPresence(of typed: String?, named argument: String) throws {
        guard typed == nil, !isGiven else { return }
        throw ValidationError(
            "Missing expected argument '\(argument)': add it, or use --link-file FILE to read a channel's link from a file."
        )
    }

    /// Returns the address or link in `typed`. If `typed` is nil, returns the link from `--link-file` or TENFOUR_LINK;
    /// nil if neither is set.
    func address(typed: String?, quiet: Bool = false) throws -> RadioAddress? {
        if typed != nil, linkFile != nil {
            throw RadioError(.usage, "an address and --link-file are both given: write only one of them")
        }
        if let typed {
            guard let secret = Secrets.revealed(typed) else {
                if let file = SecretFile.link(namedBy: typed) {
                    throw RadioError(.usage, "\(file) is a file with a channel's link: write --link-file \(file)")
                }
                if let file = SavedLink.path(namedBy: typed) { return try saved(file, typed, quiet: quiet) }
                try ArgumentHint.check(typed) {
                    "write HOST:\($0)"
                } file: {
                    "tenfour send \($0) rtp://HOST:PORT sends it"
                }
                return try RadioAddress(parsing: typed)
            }
            let address = try RadioAddress(parsing: secret)
            if !quiet, case .channel = address { Terminal.log(Self.warning) }
            return address
        }
        guard let text = try linkFile.map({ try SecretFile.read($0, for: "a link") }) ?? Secrets.variable(Secrets.link)
        else { return nil }
        return try channel(text, in: linkFile ?? Secrets.link)
    }

    /// Returns the channel whose link is saved in `file`; `name` is the typed name.
    private func saved(_ file: String, _ name: String, quiet: Bool) throws(RadioError) -> RadioAddress {
        let channel = try channel(SecretFile.read(file, for: "a link"), in: file)
        if !quiet {
            Terminal.log(
                "tenfour: \(name) is taken as the channel saved in \(file); for a host of that name, write \(name):5004"
            )
        }
        return channel
    }

    private func channel(_ text: String, in place: String) throws(RadioError) -> RadioAddress {
        let address = try RadioAddress(parsing: text)
        if case .channel = address { return address }
        throw RadioError(.usage, "\(place) does not hold a channel's link: a link begins with tenfour://")
    }

    /// Whether the other end is a channel whose link is saved or in a file, and not an address or a link that was typed.
    func isSaved(_ typed: String?) -> Bool {
        typed.map { Secrets.revealed($0) == nil && SavedLink.path(namedBy: $0) != nil } ?? isGiven
    }

    /// The name by which the user knows a channel: that under which its link is saved, or else the channel's own.
    func name(of link: ChannelLink, typed: String?) -> String {
        if let typed, isSaved(typed) { typed.lowercased() } else { link.name }
    }

    /// Returns the channel's link that `address(typed:)` finds. Throws if `address(typed:)` finds nothing, or an
    /// address that is not a channel's link.
    func link(typed: String?, quiet: Bool = false) throws -> ChannelLink {
        switch try address(typed: typed, quiet: quiet) {
        case .channel(let link): return link
        case .rtp, .srtp:
            let hint = typed.map { Self.hint(for: $0) } ?? ""
            throw RadioError(.usage, "'\(typed ?? "")' is not a channel's link: a link begins with tenfour://\(hint)")
        case .none:
            throw RadioError(
                .usage, "the channel's link is missing: write it, or name a file with --link-file, or set TENFOUR_LINK")
        }
    }

    /// Returns the link in `typed`: a link, or the name of a saved channel.
    static func saved(_ typed: String) throws -> ChannelLink {
        var options = LinkOptions()
        options.linkFile = nil
        return try options.link(typed: typed, quiet: true)
    }

    /// Runs `work`, which looks up a host. If the host is unknown, adds to the error which saved channels have
    /// similar names.
    static func find<Found>(_ typed: String?, _ work: () throws(RadioError) -> Found) throws(RadioError) -> Found {
        do throws(RadioError) { return try work() } catch {
            guard let typed, error.isUnknownHost else { throw error }
            var error = error
            error.description += hint(for: typed)
            throw error
        }
    }

    /// The greatest number of saved channels that a sentence names.
    private static let maximumNamedCount = 10

    /// Returns the part of an error message about saved channels: those with names similar to `typed`, or that none has
    /// this name, and which there are; empty if `typed` cannot name a channel.
    private static func hint(for typed: String) -> String {
        let near = SavedLink.near(typed)
        guard near.isEmpty else { return "; did you mean the saved channel \(near.joined(separator: " or "))?" }
        guard SavedLink.isName(typed) else { return "" }
        let names = SavedLink.names.filter(SavedLink.isName)
        guard !names.isEmpty else { return "; no channel of that name is saved" }
        let rest = names.count > maximumNamedCount ? " and \(names.count - maximumNamedCount) more" : ""
        let named = names.prefix(maximumNamedCount).joined(separator: ", ")
        return "; no channel has that name either; saved are \(named)\(rest)"
    }

    private static let warning = """
        tenfour: other users of this machine can see a link among the arguments for a moment, and your shell remembers it: \
        use --link-file or TENFOUR_LINK instead
        """
}

/// The option that sets whether this machine's wall clock is trusted in a channel.
struct ClockOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whether this machine's clock is right; with `unknown`, a channel uses the relay's clock. Default: `right` if the kernel reports the clock as synchronised, otherwise `unknown`. Use the value `right` in a virtual machine whose host sets the clock.",
            valueName: "right|unknown"))
    var clock: ClockTrust?

    enum ClockTrust: String, ExpressibleByArgument, CaseIterable {
        case right, unknown
    }

    func apply(to configuration: inout RadioConfiguration) {
        guard let clock, case .channel(var settings) = configuration.protection else { return }
        settings.clock = clock == .right ? .right : .unknown
        configuration.protection = .channel(settings)
    }
}

extension RadioConfiguration {
    /// The address at which the members of a channel without a relay meet, as text that follows the channel's name;
    /// empty for a channel with a relay.
    var meetingPlace: String {
        guard case .channel(let settings) = protection else { return "" }
        guard let relay = settings.relays.first else {
            return ", other members connect to port \(local.port) of this machine"
        }
        return relay.host == nil ? ", through the station on port \(relay.endpoints[0].port) of this machine" : ""
    }
}
