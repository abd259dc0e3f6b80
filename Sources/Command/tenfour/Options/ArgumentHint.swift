import TenfourAudioFile
import TenfourRadio

/// Detects a port or a file typed in place of an address.
enum ArgumentHint {
    /// Throws `.usage` if `text` is a port or names an audio file, but a host is expected. `port` and `file` return the
    /// remedy for the error message.
    static func check(_ text: String, port: (String) -> String, file: (String) -> String) throws(RadioError) {
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            throw RadioError(.usage, "'\(text)' is a port, not a host: \(port(text))")
        }
        if isAudioFile(text) { throw RadioError(.usage, "'\(text)' is a file, not an address: \(file(text))") }
    }

    /// Returns whether `text` names an existing file or has an audio file's extension. False for an SDP file, which is
    /// accepted as an address.
    static func isAudioFile(_ text: String) -> Bool {
        guard !text.contains("://"), !text.hasSuffix(".sdp") else { return false }
        let ending = text.split(separator: ".").last?.lowercased() ?? ""
        return isRegularFile(text) || (text.contains(".") && endings.contains(ending))
    }

    private static let endings: Set = [
        "wav", "flac", "mp3", "opus", "ogg", "oga", "aac", "m4a", "mka", "webm", "aiff", "aif", "raw", "pcm",
    ]
}
