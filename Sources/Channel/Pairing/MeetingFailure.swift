/// The reason why the station whose number was typed is not met.
package enum MeetingFailure: Hashable, Sendable {
    /// Nobody waits under the number.
    case unknownNumber
    /// This host, or its network, has named too many numbers under which nobody waits.
    case tooManyNumbers
    /// This host has used its runs with the station.
    case tooManyRuns
    /// The relay had no room for the run, or another run with the station went on, for two minutes.
    case noRoom
    /// The relay no longer answers.
    case noAnswer
}

/// The reason why stations cannot pair through a relay.
package enum RelayFault: Hashable, Sendable {
    /// Nothing answers at the relay's address.
    case noAnswer
    /// The machine says that no program uses the relay's port.
    case refused
    /// A relay answers there, and pairs no stations.
    case pairsNone
}
