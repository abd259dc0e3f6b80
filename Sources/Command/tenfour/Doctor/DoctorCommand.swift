import ArgumentParser
import Glibc
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourDiagnosis
import TenfourJSON
import TenfourManagedChannel
import TenfourRadio

/// `tenfour doctor`: tells what keeps this machine from talking, and the remedy.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Tell what keeps this machine from talking, and the remedy.",
        discussion: """
            tenfour doctor                 # this machine and its network
            tenfour doctor bob.local       # and the station there
            tenfour doctor family          # and the relay of a saved channel

            Checks the sound card, the microphone, rights, the clock, the port, the firewall, the network and the stations nearby, \
            within five seconds. A fault keeps you from talking; with a limit, talking works worse than it could.

            The exit code is 69 if there is a fault, and 0 if there is none.
            """)

    @Argument(
        help: ArgumentHelp(
            "The station to examine: a host name or address, with :PORT if the port is not 5004; a channel's link;"
                + " or the name of a saved channel.",
            valueName: "host"), completion: Completions.channel)
    var partner: String?

    @Option(
        name: [.customShort("D"), .long],
        help: ArgumentHelp("The sound card to examine, by its ALSA name.", valueName: "name"))
    var device = CardName("default")

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The UDP port on which this station is called, 1 to 65535. Default: 5004, or that of a link without a host.",
            valueName: "port"))
    var port: UInt16?

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var links: LinkOptions
    @OptionGroup var clock: ClockOptions

    func validate() throws { try checkPort(port) }

    func run() throws {
        var doctor = Doctor(try subject(), version: Tenfour.number, recordings: LogCommand.usualDirectory)
        doctor.device = device.name
        if case .channel(let link, _) = doctor.subject, link.relays.isEmpty { doctor.port = link.port }
        if let port { doctor.port = port }
        if case .channel = doctor.subject { doctor.identity = try SavedIdentity.existing()?.agreementPair }
        doctor.isClockRight = clock.clock.map { $0 == .right }
        let diagnosis = doctor.examine()
        Terminal.write(json ? diagnosis.json.text : DoctorReport.text(of: diagnosis))
        if !diagnosis.isWell { Glibc.exit(EX_UNAVAILABLE) }
    }

    private func subject() throws -> Subject {
        switch try links.address(typed: partner, quiet: json) {
        case nil: return .none
        case .rtp(let address), .srtp(let address):
            guard !address.host.isEmpty else {
                throw RadioError(.usage, "the station to examine is missing: write a host, such as bob.local")
            }
            return .station(address)
        case .channel(let link):
            do throws(PassphraseError) { return .channel(link, try ChannelKeys(link)) } catch {
                throw RadioError(.usage, error.description)
            }
        }
    }
}
