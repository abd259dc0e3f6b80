import Glibc
public import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test where `Tools/labcard run` does not provide its virtual sound card. `Tools/test` does.
    public static var needsLabcard: Self {
        .enabled(if: Program.isSet("TENFOUR_LABCARD"), "needs the virtual sound card of Tools/labcard")
    }

    /// Skips a test where the user is not root.
    public static var needsRoot: Self { .enabled(if: geteuid() == 0, "needs root rights") }

    /// Skips a test of many programs with audio threads under a sanitizer. These threads have real-time priority and are
    /// several times slower there, so they leave other tests no processor for minutes.
    public static var needsOrdinarySpeed: Self {
        .disabled(if: Program.isSet("TENFOUR_SANITIZED"), "its many audio threads are too slow under a sanitizer")
    }
}
