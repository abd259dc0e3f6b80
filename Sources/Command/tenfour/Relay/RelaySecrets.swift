import TenfourChannelKeys
import TenfourRelayCore
import TenfourRelayServer

extension RelayServerConfiguration {
    /// Reads the links and tokens of the channels that can be heard over HTTP. Relative paths begin in the folder of
    /// `config`. Throws with the remedy if a file is missing, if other users can read it, or if it does not hold the
    /// link of its channel.
    mutating func readWebSecrets(besides config: String?) throws(RelayFileErrors) {
        func path(_ file: String) -> String { RelaySource.path(file, besides: config) }
        for index in web.channels.indices {
            let channel = web.channels[index]
            if let file = channel.linkFile {
                web.channels[index].membership = try membership(of: channel.name, path(file))
            }
            if let file = channel.tokenFile {
                web.channels[index].token = try Self.secret(in: path(file), "a token for the channel's listeners")
            }
        }
    }

    private func membership(
        of name: String, _ path: String
    ) throws(RelayFileErrors) -> WebConfiguration.Membership {
        let text = try Self.secret(in: path, "the listen link of channel \(name)")
        func wrong(_ reason: String) -> RelayFileErrors { RelayFileErrors(RelayFileError(open: path, reason)) }
        let link: ChannelLink
        do throws(ChannelLinkError) { link = try ChannelLink(text) } catch {
            throw wrong("its first line is not a channel's link: \(error)")
        }
        let membership: WebConfiguration.Membership
        do throws(PassphraseError) { membership = try WebConfiguration.Membership(link) } catch {
            throw wrong("\(error)")
        }
        let line = relay.channels.first { $0.name == name }
        guard line?.listenJoin == membership.keys.listenJoin else {
            throw wrong(
                "its link does not match the keys in the line of channel \(name); write the listen link of these keys"
            )
        }
        return membership
    }

    /// Returns the first line of a file that only its owner can read. `what` names the required content.
    static func secret(in path: String, _ what: String) throws(RelayFileErrors) -> String {
        try firstLine(of: content(ofSecret: path, what), in: path, what)
    }

    /// Returns the content of a file that only its owner can read.
    static func content(ofSecret path: String, _ what: String) throws(RelayFileErrors) -> [UInt8] {
        guard let (bytes, access) = WholeFile.content(of: path) else {
            throw RelayFileErrors(
                RelayFileError(
                    open: path, "the file cannot be read; write \(what) into it, and run chmod 600 \(path)"))
        }
        if let reason = access.weakness(of: path) { throw RelayFileErrors(RelayFileError(open: path, reason)) }
        return bytes
    }

    /// Returns the first line of a file's content, which must be a single word.
    static func firstLine(
        of bytes: [UInt8], in path: String, _ what: String
    ) throws(RelayFileErrors) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let word = words.first else {
            throw RelayFileErrors(
                RelayFileError(open: path, "its first line is not \(what); write it there, without spaces"))
        }
        return String(word)
    }
}
