import ArgumentParser
import BadLink
import Engine
import Glibc
import Network
import Sound

@main struct Badlink: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "badlink",
        abstract: "Carries UDP from one place to another over a network as bad as you like, the same every time.",
        usage: """
            badlink --network lte --seed 3 :6000 10.0.0.7:5004
            badlink --loss 5% --burst 3 --jitter normal:10ms :6000 localhost:5004
            badlink --trace measured.csv :6000 localhost:5004
            badlink --list
            """,
        discussion: """
            Send to the first address what you would have sent to the second. What the target answers goes back to whoever was \
            heard last. The same seed and the same packets meet the same fates: the way there has the seed, the way back the \
            next one, RTCP the two after. Ctrl-C ends it and says what happened.
            """)

    @Argument(help: "Where to listen: :port or address:port.") var listen: String?
    @Argument(help: "Where to send to: host:port.") var target: String?

    @OptionGroup(title: "Network") var network: NetworkOptions
    @Option(help: "What chance begins with.") var seed: UInt64 = 1
    @Option(
        help: ArgumentHelp("Another network for the way back, in words such as “lte loss=5%”.", valueName: "network"))
    var back: String?
    @Flag(help: "Leave the way back as it is.") var oneWay = false
    @Flag(inversion: .prefixedNo, help: "Carry the port after each of the two as well, for RTCP.") var rtcp = true

    @Option(help: ArgumentHelp("Write the counts as JSON at the end; - is the standard output.", valueName: "file"))
    var report: String?
    @Flag(name: .shortAndLong, help: "Say what becomes of each packet.") var verbose = false
    @Flag(help: "Show the named networks and end.") var list = false
    @Option(
        help: ArgumentHelp(
            "Print what the network does to so many packets, one each 20 ms, as a trace, and end.", valueName: "count"))
    var printTrace: Int?

    func run() throws {
        if list { return printList() }
        let there = try network.model()
        if let count = printTrace {
            guard count > 0 else { throw UsageError("--print-trace wants a number of packets, 1 or more") }
            return print(Trace(of: there, seed: seed, count: count).text, terminator: "")
        }
        let configuration = try proxyConfiguration(there)
        let output = try report.map { path throws(FileError) in try OutputFile(path: path) }
        let report = try carry(configuration)
        for line in report.lines { say("badlink: \(line)") }
        if let output = consume output { try output.write(report.json) }
    }

    private func proxyConfiguration(_ there: NetworkModel) throws -> Proxy.Configuration {
        guard let listen, let target else {
            throw UsageError("give where to listen and where to send to, for example :6000 10.0.0.7:5004")
        }
        if oneWay && back != nil { throw UsageError("--one-way and --back contradict each other: give one of them") }
        let way = oneWay ? NetworkModel() : try back.map(NetworkModel.init(parsing:)) ?? there
        return Proxy.Configuration(
            listen: try listenEndpoint(listen), target: try targetEndpoint(target), carriesRTCP: rtcp, there: there,
            back: way, seed: seed, log: verbose ? { say($0) } : nil)
    }

    /// Until SIGINT or SIGTERM.
    private func carry(_ configuration: Proxy.Configuration) throws -> Report {
        let loop = try EventLoop()
        let proxy: Proxy
        do {
            proxy = try Proxy(configuration, on: loop)
        } catch let error as NetworkError {
            guard case .portInUse(let port) = error.reason else { throw error }
            throw PortTaken(port: port, isForRTCP: port != configuration.listen.port)
        }
        for signal in [SIGINT, SIGTERM] { _ = try loop.onSignal(signal) { [unowned loop] in loop.stop() } }
        say("badlink: \(proxy.localEndpoint) to \(configuration.target) with seed \(seed): \(configuration.there)")
        loop.run()
        return Report(
            there: "\(configuration.there)", back: "\(configuration.back)", seed: seed, paths: proxy.tallies)
    }

    private func printList() {
        let width = NamedNetwork.all.map(\.name.count).max() ?? 0
        for network in NamedNetwork.all {
            let name = network.name + String(repeating: " ", count: width - network.name.count)
            print("\(name)  \(network.summary)")
            print(String(repeating: " ", count: width + 2) + "\(network.model)")
        }
    }
}

extension Badlink {
    /// Ends with 0, with 1 where the run failed, with 2 where the command was wrong.
    static func main() {
        do {
            let command = try parse()
            do {
                try command.run()
            } catch {
                say("badlink: \(error)")
                Glibc.exit(error is UsageError || error is NetworkParameterError ? 2 : 1)
            }
        } catch {
            if exitCode(for: error) == .success { exit(withError: error) }
            say(fullMessage(for: error))
            Glibc.exit(2)
        }
    }
}

/// The command makes no sense; says what would.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Somebody else listens there.
struct PortTaken: Error, CustomStringConvertible {
    var port: UInt16
    var isForRTCP: Bool

    var description: String {
        "UDP port \(port) is in use by another program: "
            + (isForRTCP ? "listen one lower or higher, or give --no-rtcp" : "listen on another, or end that program")
    }
}
