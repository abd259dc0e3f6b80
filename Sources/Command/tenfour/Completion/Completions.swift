import ArgumentParser
import Glibc
import TenfourSoundCard
import TenfourUV

/// The values that the shells offer after an option or as an argument, for the scripts that
/// `tenfour --generate-completion-script` prints.
enum Completions {
    static let soundFile = CompletionKind.file(extensions: sounds)
    static let playable = CompletionKind.file(extensions: sounds + ["m3u", "m3u8", "pls", "cue"])
    static let card = names { _ in Device.names() }
    static let channel = names { _ in SavedLink.names }
    static let linkFile = names { SavedLink.paths + paths($0, endings: links) }
    /// The first argument of `send`: the address, or the file to send if it is typed before the address.
    static let destination = names { SavedLink.names + paths($0, endings: sendable) }
    static let networkInterface = names { _ in Directory.names(in: "/sys/class/net").sorted() }

    static let links = ["link"]
    static let sendable = sounds + ["sdp"]
    private static let sounds = [
        "wav", "flac", "mp3", "opus", "ogg", "oga", "aac", "m4a", "m4b", "mka", "mkv", "webm", "ts", "ac3", "eac3",
        "wv",
        "mpc", "au", "aiff", "aif",
    ]

    /// `values` gets the beginning of the typed word. The shell drops the values that begin differently.
    private static func names(_ values: @escaping @Sendable (String) -> [String]) -> CompletionKind {
        .custom { _, _, typed in
            let values = values(typed).filter { !$0.contains(where: \.isNewline) }
            return switch CompletionShell.requesting {
            // The script lets bash expand each value: without backslashes, `$(…)` in a file's name would be run.
            case .bash: values.map { $0.replacing(/[^-A-Za-z0-9_.,:=\/]/) { "\\" + $0.output } }
            // Escapes colons, since zsh takes the text after a colon for a description.
            case .zsh: values.map { $0.replacing(/[:\\]/) { "\\" + $0.output } }
            default: values
            }
        }
    }

    /// Returns the folders, with a slash at the end, and the files with one of the `endings` in the folder of `typed`.
    /// Returns nothing for zsh, for which the script lets `_files` complete them.
    private static func paths(_ typed: String, endings: [String]) -> [String] {
        guard CompletionShell.requesting != .zsh else { return [] }
        let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
        let home = unsafe getenv("HOME").map { unsafe String(cString: $0) } ?? ""
        let place = folder.hasPrefix("~/") ? home + folder.dropFirst() : folder
        return Directory.names(in: place.isEmpty ? "." : place).sorted().compactMap { name in
            guard !name.hasPrefix(".") else { return nil }
            var status = stat()
            guard unsafe stat(place + name, &status) == 0 else { return nil }
            if status.st_mode & S_IFMT == S_IFDIR { return folder + name + "/" }
            return endings.contains { name.hasSuffix("." + $0) } ? folder + name : nil
        }
    }
}

extension CardName {
    static var defaultCompletionKind: CompletionKind { Completions.card }
}
