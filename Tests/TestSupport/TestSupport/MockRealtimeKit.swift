/// A message bus of a test's own with a mock of RealtimeKit on it: see Tests/TestSupport/Servers/realtimekit.py for the moods. Ends with
/// its last user.
///
/// Blocks the thread that starts it: for tests with a thread of their own (`.onItsOwnThread`).
public final class MockRealtimeKit {
    public enum Mood: String, Sendable {
        case grant, pretend, deny, hang
        case wrongTypes = "wrong-types"
        case tiny, none, deaf
    }

    /// Of the bus, in D-Bus's form.
    public let address: String
    private let program: Program
    private let folder = Folder()

    public init(_ mood: Mood) throws {
        let server = Repository.path("Tests/TestSupport/Servers/realtimekit.py")
        // Debian's own python3 has its modules.
        program = try Program(
            "env", ["/usr/bin/python3", "-B", server, mood.rawValue, folder.path])
        guard program.says("address "), let line = program.errors.split(separator: "\n").first else {
            throw MissingProgram(name: "python3-dbusmock or dbus-daemon (\(program.errors))")
        }
        address = String(line.dropFirst("address ".count))
    }

    /// The priorities that were asked for, in their order.
    public var askedPriorities: [Int] {
        program.errors.split(separator: "\n").compactMap { line in
            line.hasPrefix("MakeThreadRealtime ") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
        }
    }
}
