import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourCommandSupport
import TenfourJSON
import TenfourNetworkEmulator
import TenfourRadio
import TenfourSession
import TenfourUV

@main struct Badlink: ParsableCommand {
    private static let name = ToolName.shown("badlink")

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "A UDP proxy that simulates a bad network, with the same result every time.",
        usage: """
            \(name) --network lte --seed 3 :6000 10.0.0.7:5004
            \(name) --loss 5% --burst 3 --jitter normal:10ms :6000 localhost:5004
            \(name) --trace measured.csv :6000 localhost:5004
            \(name) --list
            """,
        discussion: """
            Send to the first address what you would send to the second. Replies of the target go to the last sender. The same \
            seed and the same packets give the same result: with --seed N, the forward path uses seed N, the return path N + 1, \
            and RTCP N + 2 and N + 3. Ctrl-C ends badlink and prints the counts. Quantities need a unit: 40ms, 5%, 256kbit.

            \(Console.exitCodes)
            """, helpNames: .help)

    @Argument(help: "The address to listen at: :port or address:port.") var listen: String?
    @Argument(help: "The address to forward to: host:port.") var target: String?

    @OptionGroup(title: "Network") var network: NetworkOptions
    @Option(help: "The random seed.") var seed: UInt64 = 1
    @Option(
        help: ArgumentHelp(
            "The network of the return path, such as “lte loss=5%”. Default: as on the forward path.",
            valueName: "network"), completion: .list(NamedNetwork.all.map(\.name)))
    var back: String?
    @Flag(help: "Pass packets on the return path unchanged, without loss or delay.") var oneWay = false
    @Flag(
        inversion: .prefixedNo,
        help: "Also forward RTCP, on the port after that of each address.")
    var rtcp = true

    @Option(
        help: ArgumentHelp("Write the counts as JSON at the end; - is standard output.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var report: String?
    @Flag(name: .shortAndLong, help: "Print what happens to each packet.") var verbose = false
    @Flag(help: "List the built-in networks and exit.") var list = false
    @Option(
        help: ArgumentHelp(
            "Send this number of packets through the simulated network, one every 20 ms, print the trace and exit.",
            valueName: "count"))
    var printTrace: Int?

    /// The options that --help shows; --help-all shows all.
    static let usual = [
        "network", "loss", "burst", "delay", "jitter", "rate", "seed", "back", "one-way", "report", "list",
    ]

    static func main() { runAndExit(named: name, usual: [_commandName: usual]) }

    func validate() throws {
        if let printTrace, printTrace < 1 {
            throw ValidationError("--print-trace \(printTrace) is not a number of packets: write 1 or more.")
        }
        if oneWay && back != nil {
            throw ValidationError("--one-way and --back contradict each other: write only one of them.")
        }
        if !list, printTrace == nil, target == nil {
            throw ValidationError(
                "Two addresses are needed, where to listen and where to forward to: write them as in :6000 10.0.0.7:5004."
            )
        }
    }

    func run() throws {
        if list { return printList() }
        let there = try network.model()
        if let count = printTrace {
            return Console.write(Trace(of: there, seed: seed, count: count).text)
        }
        let configuration = try proxyConfiguration(there)
        let output = try report.map { path throws(RadioError) in try OutputFile(path: path) }
        let report = try carry(configuration)
        for line in report.lines { Console.log("\(Self.name): \(line)") }
        try output?.write(report.json)
    }

    private func proxyConfiguration(_ there: NetworkModel) throws -> Proxy.Configuration {
        let way = oneWay ? NetworkModel() : try back.map(NetworkModel.init(parsing:)) ?? there
        return Proxy.Configuration(
            listen: try listenEndpoint(listen ?? ""), target: try targetEndpoint(target ?? ""), carriesRTCP: rtcp,
            there: there, back: way, seed: seed, log: verbose ? { Console.log($0) } : nil)
    }

    /// Runs the proxy until SIGINT or SIGTERM. Returns its counts.
    private func carry(_ configuration: Proxy.Configuration) throws -> LinkReport {
        let loop = try EventLoop()
        let proxy: Proxy
        do {
            proxy = try Proxy(configuration, on: loop)
        } catch let error as NetworkError {
            guard case .portInUse(let port, let holder) = error.reason else { throw error }
            let remedy =
                port == configuration.listen.port
                ? "listen on another port, or end that program"
                : "listen on a port one lower or higher, or write --no-rtcp"
            let who = holder?.description ?? "a program of another user"
            throw RadioError(.unavailable, "UDP port \(port) is in use by \(who): \(remedy)")
        }
        for signal in [SIGINT, SIGTERM] { _ = try loop.onSignal(signal) { [unowned loop] in loop.stop() } }
        Console.log(
            "\(Self.name): \(proxy.localEndpoint) to \(configuration.target) with seed \(seed): \(configuration.there)")
        loop.run()
        return LinkReport(
            there: "\(configuration.there)", back: "\(configuration.back)", seed: seed, paths: proxy.tallies)
    }

    private func printList() {
        let width = NamedNetwork.all.map(\.name.count).max() ?? 0
        for network in NamedNetwork.all {
            let name = network.name + String(repeating: " ", count: width - network.name.count)
            Console.write("\(name)  \(network.summary)\n")
            Console.write(String(repeating: " ", count: width + 2) + "\(network.model)\n")
        }
    }
}
