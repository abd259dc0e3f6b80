import ArgumentParser
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRadio

/// A channel of `--monitor`: the name of a saved channel, with `:duck` if it is to be lowered while others are heard.
struct MonitorOption: ExpressibleByArgument {
    let name: String
    let ducks: Bool

    init?(argument: String) {
        ducks = argument.hasSuffix(":duck")
        name = ducks ? String(argument.dropLast(5)) : argument
        guard SavedLink.isName(name) else { return nil }
    }

    /// Reads the channel's link. Throws `.unavailable` if no channel of this name is saved.
    func link() throws -> ChannelLink {
        guard let path = SavedLink.path(namedBy: name) else {
            let near = SavedLink.near(name)
            throw RadioError(
                .unavailable,
                "no channel \(name) is saved: "
                    + (near.isEmpty
                        ? "make it with `tenfour channel new \(name) --save`, or write its link into "
                            + "\(String(fromPeer: SavedLink.folder ?? "~/.config/tenfour"))/\(name).link, mode 0600"
                        : "did you mean \(near.joined(separator: " or "))?"))
        }
        guard case .channel(let link) = try RadioAddress(parsing: SecretFile.read(path, for: "a link")) else {
            throw RadioError(.usage, "\(path) does not hold a channel's link: a link begins with tenfour://")
        }
        return link
    }
}
