import Glibc
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio
import TenfourSystem
import TenfourUV

/// Channel links saved in the user's configuration, found by the channel's name: `$XDG_CONFIG_HOME/tenfour/NAME.link`,
/// by default in `~/.config`.
enum SavedLink {
    /// Returns the file of the channel named `text`, if it exists. Returns nil for a name with a dot or a colon, which
    /// is always a host.
    static func path(namedBy text: String) -> String? {
        let name = text.lowercased()
        guard name.wholeMatch(of: /[-_a-z0-9]{1,32}/) != nil, let folder else { return nil }
        let path = "\(folder)/\(name).link"
        return unsafe access(path, F_OK) == 0 ? path : nil
    }

    /// Whether `text` may name a saved channel: it has no dot and no colon.
    static func isName(_ text: String) -> Bool { text.wholeMatch(of: /[-_A-Za-z0-9]{1,32}/) != nil }

    /// Returns saved channels with names similar to `text`.
    static func near(_ text: String) -> [String] {
        guard isName(text) else { return [] }
        return Spelling.nearest(to: text, among: names)
    }

    /// The names of all saved channels.
    static var names: [String] {
        let files = folder.map { Directory.names(in: $0) } ?? []
        return files.filter { $0.hasSuffix(".link") }.map { String($0.dropLast(5)) }.sorted()
    }

    /// The files of all saved channels.
    static var paths: [String] { names.map { "\(folder ?? "")/\($0).link" } }

    /// Throws `.usage` if `path(namedBy:)` would not find a channel of this name. Throws `.unavailable` if the
    /// channel's file already exists, or if no directory is known for it.
    static func check(_ name: String) throws(RadioError) {
        guard !name.contains(".") else {
            throw RadioError(
                .usage, "--save needs a name without a dot, because \(name) looks like a host: choose another name")
        }
        guard folder != nil else {
            throw RadioError(
                .unavailable, "--save has no folder to write to: set HOME, or set XDG_CONFIG_HOME to an absolute path")
        }
        if let path = path(namedBy: name) { throw alreadyThere(path) }
    }

    /// Writes the link to a new file that only this user may read, and returns its path. Never overwrites a file.
    /// `name` is the name by which the link is found, if it is not the channel's.
    static func write(_ link: ChannelLink, as name: String? = nil) throws(RadioError) -> String {
        let name = name ?? link.name
        try check(name)
        let folder = folder ?? ""
        makeFolder(folder)
        let path = "\(folder)/\(name).link"
        do throws(PrivateFileError) { try PrivateFile.create(path, Array((link.text() + "\n").utf8).span) } catch {
            if error == .exists { throw alreadyThere(path) }
            throw RadioError(.unavailable, error.sentence(path, holding: "a link"))
        }
        return path
    }

    /// Writes another link to the file of a saved channel, in one piece, if the file still has the link `old`.
    static func replace(_ old: ChannelLink, by link: ChannelLink, as name: String) {
        guard let path = path(namedBy: name), let bytes = try? Console.read(path),
            bytes == Array((old.text() + "\n").utf8)
        else { return }
        try? PrivateFile.replace(path, Array((link.text() + "\n").utf8).span)
    }

    /// Renames the file of a saved channel, if it still has this link and the new name is free. Returns whether it did.
    /// Never overwrites a file: the C functions are `link` and `unlink`, so that the link has a name at any moment.
    static func rename(_ link: ChannelLink, from old: String, to new: String) -> Bool {
        guard let path = path(namedBy: old), let bytes = try? Console.read(path),
            bytes == Array((link.text() + "\n").utf8), (try? check(new)) != nil, let folder
        else { return false }
        guard unsafe Glibc.link(path, "\(folder)/\(new).link") == 0 else { return false }
        unsafe unlink(path)
        return true
    }

    /// The folder of the user's configuration; nil without HOME.
    static var folder: String? {
        if let own = variable("XDG_CONFIG_HOME"), own.hasPrefix("/") { return own + "/tenfour" }
        return variable("HOME").map { $0 + "/.config/tenfour" }
    }

    private static func variable(_ name: String) -> String? {
        let value = unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
        return value.isEmpty ? nil : value
    }

    /// Creates a directory and its parents, for this user only. Ignores errors; the later write to the directory
    /// reports them.
    static func makeFolder(_ path: String) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            _ = unsafe mkdir(made, 0o700)
        }
    }

    private static func alreadyThere(_ path: String) -> RadioError {
        RadioError(.unavailable, "\(path) already exists: move it away, or choose another name for the channel")
    }
}
