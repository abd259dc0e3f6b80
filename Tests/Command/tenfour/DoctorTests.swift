import Glibc
import TenfourDNSSD
import TenfourJSON
import TestSupport
import Testing

/// The findings that `tenfour doctor --json` printed.
private struct Report {
    struct Finding {
        var check: String
        var severity: String
        var symptom: String
        var text: String
        var remedy: String
    }

    var end: Program.End
    var findings: [Finding] = []
    var duration: Duration
    var errors: String

    /// Runs `tenfour doctor --json`, or a command that does.
    init(
        _ arguments: [String], by command: (name: String, arguments: [String])? = nil, user: OrdinaryUser? = nil,
        in folder: Folder? = nil, environment: [String: String] = [:]
    ) throws {
        let start = ContinuousClock.now
        let (name, before) = command ?? ("tenfour", [])
        let words = before + ["doctor", "--json"] + arguments
        // No message bus of the machine itself, unless a test has one.
        let environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"].merging(environment) { $1 }
        let program =
            try user?.start(name, words, environment: environment)
            ?? Program(name, words, in: folder, environment: environment)
        end = withExtendedLifetime(user) { program.wait() }  // The copy of the program is the user's.
        duration = .now - start
        errors = program.errors
        let json = try JSON(parsing: program.output)
        guard case .list(let list)? = json.member("findings") else { return }
        findings = list.map { finding in
            func word(_ name: String) -> String { if case .text(let text)? = finding.member(name) { text } else { "" } }
            return Finding(
                check: word("check"), severity: word("severity"), symptom: word("symptom"), text: word("text"),
                remedy: word("remedy"))
        }
    }

    func expect(
        _ symptom: String, _ severity: String = "fault", text: String = "", remedy: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let found = findings.filter { $0.symptom == symptom }
        #expect(
            found.contains { $0.severity == severity && $0.text.contains(text) && $0.remedy.contains(remedy) },
            "\(found.isEmpty ? findings : found)", sourceLocation: location)
        if severity == "fault" { #expect(end == .code(69), "\(errors)", sourceLocation: location) }
        // Five seconds, and what a machine that is busy with other tests adds.
        #expect(duration < .seconds(15), sourceLocation: location)
    }
}

/// `tenfour doctor`, with faults that are made on this machine.
@Suite(.onItsOwnThread, .inRealTime) struct DoctorTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func doctor(_ arguments: String..., environment: [String: String] = [:]) throws -> Report {
        try Report(arguments, in: folder, environment: environment)
    }

    /// Runs `tenfour doctor` in network and mount namespaces of its own, behind the commands of `script`.
    private func doctor(behind script: String, _ arguments: String...) throws -> Report {
        let command = "set -e; \(script); exec \(try Program.path(of: "tenfour")) \"$@\""
        return try Report(
            arguments, by: ("unshare", ["--net", "--mount", "--", "bash", "-c", command, "bash"]), in: folder)
    }

    /// An interface to a neighbour that does not exist.
    private static let interface = """
        ip link set lo up; ip link add eth0 type veth peer name far; ip address add 10.9.0.1/24 dev eth0
        ip link set eth0 up; ip link set far up
        """

    // MARK: - Sound

    @Test(.enabled(if: unsafe access("/dev/snd", F_OK) != 0, "there are sound cards")) func noCardIsNamed() throws {
        // With alsa-lib's own configuration only. What can be done depends on the sound server that is installed.
        let report = try doctor(
            environment: ["ALSA_CONFIG_PATH": "/usr/share/alsa/alsa.conf", "HOME": folder.path, "XDG_RUNTIME_DIR": ""])
        let card = report.findings.first { $0.check == "card" }
        #expect(["no-card", "no-sound-server"].contains(card?.symptom) && card?.severity == "fault", "\(report)")
        #expect(report.end == .code(69))
    }

    @Test func aCardThatDoesNotExistIsNamed() throws {
        try doctor("-D", "nosuch").expect("unknown-card", text: "nosuch", remedy: "tenfour devices")
    }

    @Test(.needsLabcard) func aBusyCardIsNamed() throws {
        let card = "labcard:doctor-busy"
        let first = try Program("tenfour", ["recv", "-p", "\(port)", "-D", card], in: folder)
        try #require(first.says("receiving"), "\(first.errors)")
        try doctor("-D", card).expect("card-busy", text: card, remedy: "name another card with -D")
    }

    @Test(.needsLabcard) func aCardWithoutTheUsualRateIsNamed() throws {
        try doctor("-D", "labcard:doctor-rate,0,44100").expect(
            "other-rate", "limit", text: "44100 Hz", remedy: "tenfour devices")
    }

    /// A wire into which nobody plays delivers zeros, as a muted microphone does.
    @Test(.needsLabcard) func aMutedMicrophoneIsNamedAndAnOpenOneIsNot() throws {
        try doctor("-D", "labcard:doctor-mute").expect("microphone-muted", remedy: "unmute it")
        folder.write(longTone, to: "long.wav")
        let talker = try Program("aplay", ["-q", "-D", "labcard:doctor-open", "long.wav"], in: folder)
        let heard = talker.wait(.seconds(30)) {
            guard let report = try? doctor("-D", "labcard:doctor-open") else { return false }
            return report.findings.contains { $0.check == "microphone" && $0.severity == "ok" }
        }
        #expect(heard, "\(talker.errors)")
    }

    /// A folder with device files that only root and the group audio may open stands for `/dev`.
    @Test(.needsRoot, .enabled(if: !soundServerIsDefault, "a sound server is the default")) func missingRightsAreNamed()
        throws
    {
        let copy = OrdinaryUser()
        let script = """
            mkdir dev dev/snd; cp -a /dev/null /dev/zero /dev/random /dev/urandom dev
            touch dev/snd/controlC0 dev/snd/pcmC0D0c; chgrp audio dev/snd/*; chmod 660 dev/snd/*; chmod 711 .
            mount --bind dev /dev
            """
        let command = "set -e; \(script); exec setpriv --reuid 65534 --regid 65534 --clear-groups -- \"$@\""
        let report = try Report(
            [],
            by: (
                "unshare",
                ["--mount", "--", "bash", "-c", command, "bash", try copy.readable("tenfour")]
            ),
            in: folder,
            environment: ["ALSA_CONFIG_PATH": "/usr/share/alsa/alsa.conf", "HOME": "/", "XDG_RUNTIME_DIR": ""])
        report.expect("no-rights", text: "/dev/snd/controlC0", remedy: "sudo usermod -aG audio $USER")
        _ = try? Program.run("rm", ["-rf", "--", folder("dev")])
    }

    @Test func deniedPriorityIsNamed() throws {
        let report = try Report([], user: OrdinaryUser())
        report.expect("no-real-time", "limit", remedy: "'@audio - rtprio 50' into /etc/security/limits.d/audio.conf")
        report.expect("no-real-time", "limit", remedy: "sudo apt install rtkit")
    }

    // MARK: - This machine

    @Test func aClockThatIsNotSynchronisedIsNamed() throws {
        try doctor("--clock", "unknown").expect("clock-unsynchronised", "limit", remedy: "`--clock right`")
        let right = try doctor("--clock", "right")
        #expect(!right.findings.contains { $0.check == "clock" && $0.severity != "ok" })
    }

    @Test func aTakenPortIsNamedWithItsProgram() throws {
        let holder = try Program(
            "python3",
            [
                "-c",
                "import socket,time; s=socket.socket(2,2); s.bind(('0.0.0.0',\(port))); time.sleep(100)",
            ])
        #expect(holder.takes(port: port))
        try doctor("-p", "\(port)").expect(
            "port-taken", text: "python3 (process \(holder.processID))", remedy: "kill \(holder.processID)")
        let free = try doctor("-p", "\(port + 2)")
        #expect(free.findings.contains { $0.check == "port" && $0.severity == "ok" })
    }

    @Test func fewFilesAreNamed() throws {
        let report = try Report(
            [], by: ("prlimit", ["--nofile=100:100", "--", try Program.path(of: "tenfour")]), in: folder)
        report.expect("few-open-files", "limit", text: "100", remedy: "ulimit -n 1024")
    }

    @Test(.needsRoot) func littleSpaceIsNamed() throws {
        let report = try doctor(
            behind: "mkdir data; mount -t tmpfs -o size=1m none data; export XDG_DATA_HOME=\(folder.path)/data")
        _ = unsafe rmdir(folder("data"))
        report.expect("little-space", "limit", remedy: "--record")
    }

    // MARK: - Network

    @Test(.needsRoot) func aFirewallThatDropsThePortIsNamed() throws {
        let report = try doctor(
            behind: """
                \(Self.interface); nft add table inet filter
                nft 'add chain inet filter input { type filter hook input priority 0; policy accept; }'
                nft add rule inet filter input udp dport 5004 drop
                """)
        report.expect(
            "firewall-drops", text: "5004", remedy: "sudo nft insert rule inet filter input udp dport 5004 accept")
        let usual = """
            \(Self.interface); nft add table inet filter
            nft 'add chain inet filter input { type filter hook input priority 0; policy drop; }'
            nft add rule inet filter input ct state vmap '{ established : accept, related : accept, invalid : drop }'
            nft add rule inet filter input iifname lo accept; nft add rule inet filter input tcp dport 22 accept
            """
        try doctor(behind: usual).expect("firewall-drops", remedy: "udp dport 5004 accept")
        let open = try doctor(behind: usual + "; nft add rule inet filter input udp dport '{ 53, 5000-5010 }' accept")
        #expect(open.findings.contains { $0.check == "firewall" && $0.severity == "ok" }, "\(open.findings)")
    }

    /// Runs `tenfour doctor` as an ordinary user of a machine with these rules.
    private func doctorOfAnOrdinaryUser(_ rules: String...) throws -> Report {
        let copy = OrdinaryUser()
        let command = """
            set -e; \(Self.interface); ip route add default via 10.9.0.2; nft add table inet filter
            nft 'add chain inet filter input { type filter hook input priority 0; policy accept; }'
            \(rules.map { "nft add rule inet filter input \($0)" }.joined(separator: "; "))
            exec setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"
            """
        return try Report(
            [], by: ("unshare", ["--net", "--", "bash", "-c", command, "bash", try copy.readable("tenfour")]),
            environment: ["HOME": "/"])
    }

    /// An ordinary user cannot read the rules, and learns it from a datagram to the machine's own address.
    @Test(.needsRoot) func anOrdinaryUserLearnsOfAFirewallThatDrops() throws {
        try doctorOfAnOrdinaryUser("udp dport 5004 drop").expect(
            "firewall-drops", text: "from itself", remedy: "5004 accept")
    }

    /// A firewall that no known program manages, and that lets the machine's own datagrams pass.
    @Test(.needsRoot) func aFirewallMayBeUnseen() throws {
        try doctorOfAnOrdinaryUser("iifname lo accept", "udp dport 5004 drop").expect(
            "firewall-unseen", "note", text: "cannot be seen", remedy: "sudo tenfour doctor")
    }

    @Test(.needsRoot) func aFirewallThatForbidsSendingIsNamed() throws {
        let report = try doctor(
            behind: """
                \(Self.interface); nft add table inet filter
                nft 'add chain inet filter output { type filter hook output priority 0; }'
                nft add rule inet filter output udp dport 7000 drop
                """, "10.9.0.7:7000")
        report.expect("firewall-stops-sending", text: "10.9.0.7:7000", remedy: "sudo ufw allow out")
    }

    @Test(.needsRoot) func aSmallMTUIsNamed() throws {
        try doctor(behind: Self.interface + "; ip link set dev eth0 mtu 576").expect(
            "small-mtu", "limit", text: "576", remedy: "sudo ip link set dev eth0 mtu 1500")
    }

    /// A router forwards to a network whose MTU is smaller.
    @Test(.needsRoot) func aSmallMTUOnTheWayIsNamed() throws {
        let report = try doctor(
            behind: """
                ip link set lo up; at() { nsenter --net --target "$@"; }
                setpriv --pdeathsig KILL unshare --net sleep 100 & router=$!
                setpriv --pdeathsig KILL unshare --net sleep 100 & host=$!
                until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
                until [ "$(readlink /proc/$host/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
                ip link add eth0 type veth peer name near netns $router
                at $router ip link add far type veth peer name eth0 netns $host
                ip address add 10.9.1.1/24 dev eth0; ip link set eth0 up
                at $router ip address add 10.9.1.2/24 dev near; at $router ip link set near up
                at $router ip address add 10.9.2.2/24 dev far; at $router ip link set far mtu 576 up
                at $router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
                at $host ip address add 10.9.2.1/24 dev eth0; at $host ip link set eth0 up
                at $host ip route add default via 10.9.2.2; ip route add default via 10.9.1.2
                """, "10.9.2.1")
        report.expect("small-mtu", "limit", text: "576 bytes by a router", remedy: "--bitrate")
    }

    @Test(.needsRoot) func missingMulticastIsNamed() throws {
        try doctor(behind: Self.interface + "; ip link set eth0 multicast off; ip link set far multicast off").expect(
            "no-multicast", "limit", text: "eth0", remedy: "multicast on")
    }

    @Test(.needsRoot) func noNetworkAndNoRouteAreNamed() throws {
        let report = try doctor(behind: "ip link set lo up", "192.0.2.1")
        report.expect("no-network", remedy: "Plug in")
        report.expect("no-route", text: "192.0.2.1", remedy: "ip route get 192.0.2.1")
        let down = try doctor(behind: Self.interface + "; ip link set eth0 down")
        down.expect("no-network", text: "eth0", remedy: "sudo ip link set dev")
    }

    @Test(.needsRoot) func twoDefaultRoutesAreNamed() throws {
        let report = try doctor(
            behind: """
                \(Self.interface); ip link add wlan0 type veth peer name far2; ip address add 10.8.0.1/24 dev wlan0
                ip link set wlan0 up; ip link set far2 up
                ip route add default via 10.9.0.2 metric 100; ip route add default via 10.8.0.2 metric 600
                """)
        report.expect(
            "two-default-routes", "limit", text: "audio goes by eth0", remedy: "nmcli device disconnect wlan0")
    }

    // MARK: - Names and other ends

    @Test func anUnknownNameIsNamed() throws {
        // The longest label of a name has 63 letters, so that no name server is asked.
        let name = String(repeating: "x", count: 64)
        let report = try doctor("\(name).example")
        report.expect("name-unknown", text: name, remedy: "IP address")
        #expect(!report.findings.contains { $0.check == "other end" })
    }

    @Test func anOtherEndThatRefusesIsNamed() throws {
        try doctor("127.0.0.1:\(port)").expect(
            "refused", text: "UDP port \(port)", remedy: "Start `tenfour talk` there")
    }

    /// Other ends that are servers of Python: one says nothing, one answers with another protocol.
    @Test(arguments: [("silent", ""), ("other-protocol", "s.sendto(b'HTTP/1.1 400', a)")])
    func anOtherEndThatIsNoStationIsNamed(symptom: String, answer: String) throws {
        let program = """
            import socket
            s = socket.socket(2, 2); s.bind(('127.0.0.1', \(port)))
            while True:
                b, a = s.recvfrom(2000); \(answer)
            """
        let server = try Program("python3", ["-c", program])
        #expect(server.takes(port: port))
        try doctor("127.0.0.1:\(port)").expect(symptom, text: "127.0.0.1:\(port)", remedy: "tenfour")
    }

    /// `recv` knows no calls, as all of tenfour 0.4.
    @Test func anOtherEndThatKnowsNoCallsIsNamed() throws {
        let receiver = try Program(
            "tenfour", ["recv", "rtp://127.0.0.1:\(port)", "--name", "Bob", "-o", "heard.wav"], in: folder)
        try #require(receiver.says("receiving"), "\(receiver.errors)")
        try doctor("127.0.0.1:\(port)").expect("older-station", "limit", text: "(Bob)", remedy: "You can talk with it")
    }

    @Test func theLinkTestIsRecognised() throws {
        let answerer = try Program("radiocheck", ["--answer", "-p", "\(port)"])
        #expect(answerer.takes(port: port), "\(answerer.errors)")
        let report = try doctor("127.0.0.1:\(port)")
        #expect(report.findings.contains { $0.check == "other end" && $0.severity == "ok" }, "\(report.findings)")
    }

    // MARK: - Channels

    @Test func aRelayIsAskedWhetherItKnowsTheChannel() throws {
        func links(_ name: String) throws -> [String] {
            try tenfour(["channel", "new", name, "--relay", "127.0.0.1:\(port)"]).output.split(separator: "\n").map(
                String.init)
        }
        let (family, other) = (try links("family"), try links("other"))
        let empty = try doctor(environment: ["TENFOUR_LINK": family[0]])
        empty.expect("refused", text: "UDP port \(port)", remedy: "systemctl status tenfour-relay")
        folder.write("bind 127.0.0.1:\(port)\n\(family[2])\n", to: "relay.conf")
        let relay = try Program(
            "tenfour", ["relay", "--config", "relay.conf", "--status-socket", "relay.sock"], in: folder)
        try #require(relay.says("relaying on 127.0.0.1:\(port)"), "\(relay.errors)")
        for link in family[...1] {
            let report = try doctor(environment: ["TENFOUR_LINK": link])
            #expect(report.findings.contains { $0.check == "relay" && $0.severity == "ok" }, "\(report.findings)")
            #expect(!report.findings.contains { $0.check == "port" })
        }
        try doctor(environment: ["TENFOUR_LINK": other[0]]).expect(
            "channel-unknown", text: "other", remedy: "tenfour channel keys")
    }

    // MARK: - Stations nearby

    @Test func aMissingDaemonIsNamed() throws {
        try doctor().expect("no-avahi", "limit", text: "system bus", remedy: "sudo apt install dbus avahi-daemon")
    }

    /// The station's host is in another network, so that it is announced and does not answer.
    @Test(.needsRoot) func stationsNearbyAreFoundAndProbed() throws {
        let hosts = try ScriptedServer("neighbours.py", ["2"], ready: "ready")
        func bus(_ host: Int) -> String { "unix:path=\(hosts.path("bus-\(host)"))" }
        let alice = try ServiceAnnouncement(
            "Alice", port: 5004, StationText(version: "0.5", accepts: .calls), busAddress: bus(1))
        #expect(hosts.wait { alice.state == .announced("Alice") })
        let report = try doctor(environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus(2)])
        report.expect(
            "station-unreachable", "note", text: "Alice at 10.77.0.1:5004", remedy: "`tenfour doctor` on that machine")
        hosts.send("kill 2")
        try doctor(environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus(2)]).expect(
            "no-avahi", "limit", text: "avahi-daemon does not run", remedy: "sudo systemctl enable --now avahi-daemon")
    }

    // MARK: - Text

    @Test func theReportFitsOnEightyColumns() throws {
        let result = try tenfour(
            ["doctor", "127.0.0.1:\(port)"], in: folder, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"])
        #expect(result.end == .code(69) && result.errors == "", "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(result.output)")
        #expect(result.output.contains("\nfault  other end     The machine at 127.0.0.1 runs"))
        #expect(lines.last?.hasSuffix("the remedies are above.") == true)
    }

    @Test func wrongUseIsRefused() throws {
        for arguments in [["5004"], ["a", "b"], ["-p", "0"], ["http://x"]] {
            #expect(try tenfour(["doctor"] + arguments).end == .code(2), "\(arguments)")
        }
    }
}
