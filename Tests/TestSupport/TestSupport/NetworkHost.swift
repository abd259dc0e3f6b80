/// A network namespace in which programs run, like a machine of its own. It is connected to the namespace of the thread that
/// makes it, or to another host: its address ends in .1, and that of the other end of the cable in .2, which is its router.
package struct NetworkHost {
    private let first: Program
    private let folder: Folder

    /// `network` are the first three numbers of the addresses, such as `10.9.1`. The programs run in `folder`. `router` is the
    /// host to which the cable leads; nil for the namespace of the calling thread.
    package init(_ network: String, behind router: NetworkHost? = nil, in folder: Folder) throws {
        self.folder = folder
        first = try Program("unshare", ["--net", "sh", "-c", "ip link set lo up; echo made >&2; exec sleep 1000"])
        guard first.says("made") else { throw NetworkNamespace.Failure(description: first.errors) }
        let near = "veth" + network.split(separator: ".").joined(separator: "-")
        let cable = [
            "ip link add \(near) type veth peer name eth0 netns \(first.processID)",
            "ip address add \(network).2/24 dev \(near)", "ip link set \(near) up",
        ]
        try NetworkNamespace.set(up: cable.map { router?.inside($0) ?? $0 })
        try NetworkNamespace.set(up: [
            inside("ip address add \(network).1/24 dev eth0"), inside("ip link set eth0 up"),
            inside("ip route add default via \(network).2"),
        ])
    }

    /// Runs commands of ip(8) and nft(8) there.
    package func set(up lines: [String]) throws { try NetworkNamespace.set(up: lines.map(inside)) }

    private func inside(_ command: String) -> String { "nsenter --net --target \(first.processID) \(command)" }

    package func run(_ name: String, _ arguments: String...) throws -> Program { try run(name, arguments) }

    package func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], terminal: Terminal? = nil
    ) throws -> Program {
        let path = try Program.path(of: name)
        return try Program(
            "nsenter", ["--net", "--target", "\(first.processID)", path] + arguments, in: folder,
            environment: environment, terminal: terminal)
    }
}
