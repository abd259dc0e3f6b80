import ArgumentParser
import Glibc
import TenfourCall
import TenfourCommandSupport
import TenfourDNSSD
import TenfourJSON
import TenfourLobby
import TenfourRadio

/// `tenfour near`: lists the stations nearby.
struct NearCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "near", abstract: "List the stations nearby.",
        discussion: """
            tenfour near
            tenfour near --json

            Looks for two seconds for stations that announce themselves on the local network, as tenfour talk does while it waits for \
            calls, and asks each whether it answers, which takes up to three seconds more. The names are what the stations say, and \
            prove nothing.

            The exit code is 0 also if nobody is near. It is 69 if stations cannot be found, because dbus or avahi-daemon is missing \
            or does not run.
            """)

    @Flag(help: "Print one line of JSON for each station.")
    var json = false

    private static let time = Duration.seconds(2)
    /// The longest time for stations that have not answered yet.
    private static let additionalTime = Duration.seconds(3)
    /// The time between two looks at the station, in microseconds.
    private static let interval: UInt32 = 20_000

    func run() throws {
        var settings = LobbyStation.Settings(name: nil, port: 0, .calls(.never))
        settings.isAnnounced = false
        let station = LobbyStation(settings)
        defer { station.close() }
        try station.open()
        let end = ContinuousClock.now + Self.time
        while ContinuousClock.now < end
            || ContinuousClock.now < end + Self.additionalTime && !NearLine.isComplete(station.nearby)
        {
            if case .unavailable(let failure) = station.discovery {
                throw RadioError(.unavailable, failure.description)
            }
            usleep(Self.interval)
        }
        guard station.discovery == .running else {
            throw RadioError(
                .unavailable,
                "stations nearby cannot be found: avahi-daemon does not answer; restart it, with systemctl restart avahi-daemon"
            )
        }
        let list = station.nearby
        if list.stations.isEmpty { return Terminal.log("tenfour: nobody is near") }
        let lines = list.stations.map { json ? NearLine.json($0).line : NearLine.text($0) }
        Terminal.write((json ? lines : [NearLine.heading] + lines).joined(separator: "\n") + "\n")
        if list.otherCount > 0 { Terminal.log("tenfour: \(list.otherCount) more are near and not listed") }
    }
}
