/// A check: a name, and a function that turns facts into findings. It gathers nothing itself, so that a test can make
/// each fault.
public struct DiagnosticCheck: Sendable {
    /// The name, for people and for JSON.
    public let name: String
    /// Returns the findings; none if another check has the same. Nil if the facts are missing.
    let examine: @Sendable (Facts) -> [Finding]?

    /// All checks, in the order in which their findings are shown.
    public static let all: [DiagnosticCheck] = [
        sound, microphone, soundServer, realTime, clock, files, network, mtu, port, firewall, multicast, nearby, names,
        otherEnd, relay,
    ]
}

/// The facts that the checks judge. A part is nil if it was not gathered: it does not apply, or it took too long.
public struct Facts: Sendable {
    public var subject = Subject.none
    public var packages = PackageManager.apt
    public var sound: SoundFacts?
    public var realTime: RealTimeFacts?
    public var clock: ClockFacts?
    public var files: FileFacts?
    public var network: NetworkFacts?
    public var port: PortFacts?
    public var firewall: FirewallFacts?
    public var nearby: NearbyFacts?
    public var names: NameFacts?
    public var otherEnd: OtherEndFacts?
    public var relays: [RelayFacts]?

    public init() {}
}
