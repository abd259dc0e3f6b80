import Foundation
import TestSupport
import Testing

/// Libraries that replace functions of others (LD_PRELOAD), built from Tests/TestSupport/Libraries.
enum StandIn {
    private static let folder = Folder()
    private static let models = Result { try build("opusmodels") }
    private static let names = Result { try build("slownames") }
    private static let fastClock = Result { try build("fastclock") }

    /// Returns the path of a substitute for libopus with neural models. Its source explains the environment
    /// variables.
    static func opus() throws -> String { try models.get() }

    /// Returns the path of a substitute for the system's resolver, in which some names take half a minute.
    static func resolver() throws -> String { try names.get() }

    /// Returns the path of a substitute for the C library's wall clock, which is ahead by CLOCK_AHEAD seconds.
    static func clock() throws -> String { try fastClock.get() }

    private static func build(_ name: String) throws -> String {
        let source = Repository.path("Tests/TestSupport/Libraries/\(name).c")
        let library = folder("\(name).so")
        let ended = try Program.run(
            "cc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"])
        try #require(ended.end == .code(0), "\(ended.errors)")
        return library
    }
}
