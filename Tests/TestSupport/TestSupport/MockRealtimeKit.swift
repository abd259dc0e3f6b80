/// A private message bus with a mock of RealtimeKit; it is stopped when the object is released. The moods are
/// described in Tests/TestSupport/Servers/realtimekit.py.
///
/// It blocks the thread that starts it, so use it only in tests with their own thread (`.onItsOwnThread`).
public final class MockRealtimeKit {
    public enum Mood: String, Sendable {
        case grant, pretend, deny, hang
        case wrongTypes = "wrong-types"
        case tiny, none, deaf
    }

    /// The address of the bus in D-Bus's notation.
    public let address: String
    private let program: Program
    private let folder = Folder()

    public init(_ mood: Mood) throws {
        let server = Repository.path("Tests/TestSupport/Servers/realtimekit.py")
        // Debian's own python3 has the required modules.
        program = try Program(
            "env", ["/usr/bin/python3", "-B", server, mood.rawValue, folder.path])
        guard program.says("address "), let line = program.errors.split(separator: "\n").first else {
            throw MissingProgram(name: "python3-dbusmock or dbus-daemon (\(program.errors))")
        }
        address = String(line.dropFirst("address ".count))
    }

    /// The priorities requested so far, in order.
    public var askedPriorities: [Int] {
        program.errors.split(separator: "\n").compactMap { line in
            line.hasPrefix("MakeThreadRealtime ") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
        }
    }
}
