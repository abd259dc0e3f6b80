import Foundation
import Support
import Testing

/// Libraries of ours that are loaded in the place of others (LD_PRELOAD), built from Tests/Libraries.
enum StandIn {
    private static let folder = Folder()
    private static let built = Result { try build("opusmodels") }

    /// A libopus with neural models: its source says what the variables do.
    static func opus() throws -> String { try built.get() }

    private static func build(_ name: String) throws -> String {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Libraries")
        let library = folder("\(name).so")
        let ended = try Program.run(
            "cc", ["-O2", "-shared", "-fPIC", "-o", library, sources.appending(path: "\(name).c").path, "-ldl"])
        try #require(ended.end == .code(0), "\(ended.errors)")
        return library
    }
}
