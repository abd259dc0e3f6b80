import Foundation
import TestSupport
import Testing

/// Our libraries that replace functions of others (LD_PRELOAD), built from Tests/TestSupport/Libraries.
enum StandIn {
    private static let folder = Folder()
    private static let built = Result { try build("opusmodels") }

    /// A libopus with neural models: its source says what the variables do.
    static func opus() throws -> String { try built.get() }

    private static func build(_ name: String) throws -> String {
        let source = Repository.path("Tests/TestSupport/Libraries/\(name).c")
        let library = folder("\(name).so")
        let ended = try Program.run(
            "cc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        try #require(ended.end == .code(0), "\(ended.errors)")
        return library
    }
}
