import Glibc

/// The paths of the files that a relay's configuration names.
extension RelaySource {
    /// Returns the path of a file that the configuration file `config` names: a relative one begins in the folder of
    /// `config`, or in the working directory if the configuration consists of options.
    static func path(_ file: String, besides config: String?) -> String {
        guard !file.hasPrefix("/"), let config, let slash = config.lastIndex(of: "/") else { return file }
        return config[...slash] + file
    }

    /// Returns the path of a file that an option names, absolute: a relative one begins in the working directory, even
    /// if there is a configuration file elsewhere.
    static func absolutePath(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return "\(unsafe String(cString: folder))/\(path)"
    }

    /// Returns the value of `--web` or `--icecast`, such as `family,link=family.link`, with absolute paths.
    static func withAbsolutePaths(_ text: String) -> String {
        text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            let parts = word.split(separator: "=", maxSplits: 1)
            return parts.count == 2 ? "\(parts[0])=\(absolutePath(String(parts[1])))" : String(word)
        }.joined(separator: ",")
    }
}
