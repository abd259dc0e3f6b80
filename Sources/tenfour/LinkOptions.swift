import ArgumentParser
import Keys
import Radio

/// Whom to talk with, to hear, or to send to: an address, or a channel's link as argument, from a file or the environment.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the channel's link from the first line of this file, which nobody else may read (mode 0600); TENFOUR_LINK may hold it instead.",
            valueName: "file"))
    var linkFile: String?

    /// For `validate` of a command: throws where nobody is named.
    func checkPresence(of typed: String?, named argument: String) throws {
        guard typed == nil, linkFile == nil, Secrets.variable(Secrets.link) == nil else { return }
        throw ValidationError(
            "Missing expected argument '\(argument)': or name a file with a channel's link by --link-file.")
    }

    /// What `typed` names, else the link of `--link-file` or TENFOUR_LINK. Nil where there is none of them.
    func address(typed: String?, quiet: Bool = false) throws -> RadioAddress? {
        if typed != nil, linkFile != nil {
            throw RadioError(.usage, "there is an address, and --link-file: write one of them")
        }
        if let typed {
            guard let secret = Secrets.revealed(typed) else {
                if let file = SecretFile.link(namedBy: typed) {
                    throw RadioError(.usage, "\(file) is a file with a channel's link: write --link-file \(file)")
                }
                return try RadioAddress(parsing: typed)
            }
            let address = try RadioAddress(parsing: secret)
            if !quiet { Terminal.say(Self.warning) }
            return address
        }
        guard let text = try linkFile.map({ try SecretFile.read($0, for: "a link") }) ?? Secrets.variable(Secrets.link)
        else { return nil }
        let address = try RadioAddress(parsing: text)
        guard case .channel = address else {
            let place = linkFile ?? Secrets.link
            throw RadioError(.usage, "\(place) holds no channel's link: such a one begins with tenfour://")
        }
        return address
    }

    /// As `address`, where nothing but a channel's link will do.
    func link(typed: String?, quiet: Bool = false) throws -> ChannelLink {
        switch try address(typed: typed, quiet: quiet) {
        case .channel(let link): return link
        case .rtp, .srtp:
            throw RadioError(.usage, "'\(typed ?? "")' is no channel's link: such a one begins with tenfour://")
        case .none:
            throw RadioError(.usage, "there is no link: write it, or name a file with --link-file, or set TENFOUR_LINK")
        }
    }

    private static let warning = """
        tenfour: other users of this machine can see a link among the arguments for a moment, and your shell remembers it: \
        --link-file and TENFOUR_LINK do not have that
        """
}

extension ChannelLink {
    /// Behind the channel's name, for the station that its other members come to.
    var answering: String { host == nil ? ", whose other members come to this machine" : "" }
}
