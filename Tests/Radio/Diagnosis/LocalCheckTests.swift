import Glibc
import TenfourChannelKeys
import TenfourRadio
import TenfourSession
import TenfourUV
import TestSupport
import Testing

@testable import TenfourDiagnosis
@testable import TenfourSoundCard

/// Faults of rights, clock, files, network and names, as facts.
@Suite(.onItsOwnThread) struct LocalCheckTests {
    private func only(_ findings: [Finding]?, _ symptom: Symptom, _ severity: Finding.Severity) -> String {
        #expect(findings?.map(\.symptom) == [symptom] && findings?.first?.severity == severity, "\(findings ?? [])")
        return findings?.first?.remedy ?? ""
    }

    @Test func deniedPriorityNamesTheGroupAndTheService() {
        var facts = Facts()
        func remedy(_ denial: RealtimeKit.Denial) -> String {
            facts.realTime = RealTimeFacts(.denied(priority: 50, .init(code: EPERM, realtimeKit: denial)))
            return only(DiagnosticCheck.realTime.examine(facts), .noRealTime, .limit)
        }
        #expect(remedy(.noService).contains("sudo apt install rtkit"))
        #expect(remedy(.noService).contains("'@audio - rtprio 50'"))
        #expect(remedy(.timedOut).contains("systemctl restart rtkit-daemon"))
        facts.packages = .dnf
        #expect(remedy(.noBus).contains("sudo dnf install rtkit"))
    }

    @Test func aWrongClockIsALimitAndAFaultFromTenSeconds() {
        var facts = Facts()
        func findings(_ difference: Duration, _ isSynchronised: Bool = true) -> [Finding]? {
            facts.clock = ClockFacts(isSynchronised: isSynchronised, hasService: true)
            facts.clock?.comparisons = [.init(other: "relay.example", difference: difference)]
            return DiagnosticCheck.clock.examine(facts)
        }
        #expect(only(findings(.seconds(3)), .wrongClock, .limit).contains("timedatectl set-ntp true"))
        #expect(findings(.seconds(3))?[0].text.hasPrefix("this clock is 3.0 s behind that of relay.example") == true)
        #expect(findings(.seconds(-3))?[0].text.contains("3.0 s ahead of") == true)
        #expect(only(findings(.seconds(-10)), .wrongClock, .fault).contains("timedatectl"))
        #expect(findings(.milliseconds(900))?.map(\.severity) == [.well])
        // Nobody knows which of the two is wrong, unless the kernel doubts its own.
        #expect(only(findings(.seconds(-10)), .wrongClock, .fault).contains("Either may be wrong"))
        #expect(findings(.seconds(3_600), false)?[0].remedy?.hasPrefix("Let it be set over the network") == true)
        #expect(findings(.seconds(3_600))?[0].text.hasPrefix("this clock is 3600 s (1 h) behind that of") == true)
        #expect(findings(.zero, false)?.map(\.symptom) == [.unsynchronisedClock])
        facts.clock = ClockFacts(isSynchronised: false, hasService: false)
        #expect(DiagnosticCheck.clock.examine(facts)?[0].remedy?.contains("sudo apt install systemd-timesyncd") == true)
    }

    @Test func fewFilesAndLittleSpaceAreNamed() {
        var facts = Facts()
        facts.files = FileFacts(openFiles: 64, freeBytes: 1 << 40, directory: "/r")
        #expect(only(DiagnosticCheck.files.examine(facts), .fewFiles, .limit).contains("ulimit -n 1024"))
        facts.files = FileFacts(openFiles: 1_024, freeBytes: 5_000_000, directory: "/r")
        #expect(only(DiagnosticCheck.files.examine(facts), .littleSpace, .limit).contains("--record"))
    }

    @Test func aTakenPortIsNamedWithItsProgram() {
        var facts = Facts()
        func findings(_ reason: NetworkError.Reason) -> [Finding]? {
            facts.port = PortFacts(port: 5004, state: .failed(NetworkError(reason, function: "bind", code: EADDRINUSE)))
            return DiagnosticCheck.port.examine(facts)
        }
        #expect(only(findings(.portInUse(5004, by: nil)), .portTaken, .fault).contains("sudo ss -lunp sport = :5004"))
        #expect(only(findings(.portReserved(5004)), .portReserved, .fault).contains("-p"))
    }

    // MARK: - Network

    private typealias Interface = NetworkFacts.Interface

    private func network(
        _ interfaces: [NetworkFacts.Interface], _ routes: [NetworkFacts.Route] = [], pathMTU: Int? = nil
    ) -> Facts {
        var facts = Facts()
        let loopback = Interface(name: "lo", isLoopback: true, isMulticast: false, mtu: 65_536)
        facts.network = NetworkFacts(interfaces: [loopback] + interfaces, routes: routes, pathMTU: pathMTU)
        return facts
    }

    @Test func noNetworkIsNamed() {
        #expect(only(DiagnosticCheck.network.examine(network([])), .noNetwork, .fault).contains("Plug in"))
        let down = network([Interface(name: "eth0", isUp: false, mtu: 1_500)])
        #expect(
            only(DiagnosticCheck.network.examine(down), .noNetwork, .fault).contains("sudo ip link set dev eth0 up"))
        #expect(DiagnosticCheck.multicast.examine(down) == nil)
    }

    @Test func twoDefaultRoutesAreNamed() {
        let cards = [Interface(name: "eth0", mtu: 1_500), Interface(name: "wlan0", mtu: 1_500)]
        let routes = [
            NetworkFacts.Route(interface: "eth0", metric: 100), NetworkFacts.Route(interface: "wlan0", metric: 600),
        ]
        #expect(
            only(DiagnosticCheck.network.examine(network(cards, routes)), .twoRoutes, .limit).contains(
                "nmcli device disconnect wlan0"))
        #expect(DiagnosticCheck.network.examine(network(cards, [routes[0]]))?.map(\.severity) == [.well])
        #expect(DiagnosticCheck.network.examine(network(cards, []))?.map(\.symptom) == [.noRoute])
    }

    @Test func routesAreReadAsTheKernelWritesThem() {
        let table = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
            eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
            wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
            """
        #expect(
            NetworkFacts.routes(table) == [
                .init(interface: "eth0", metric: 100), .init(interface: "wlan0", metric: 600),
            ])
        let zeros = String(repeating: "0", count: 32)
        let gateway = "fe80" + String(repeating: "0", count: 27) + "1"
        let six = """
            \(zeros) 00 \(zeros) 00 \(gateway) 00000400 00000001 00000000 00000003     eth0
            \(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo
            """
        #expect(NetworkFacts.routesIPv6(six) == [.init(interface: "eth0", metric: 1_024, isIPv6: true)])
        for broken in ["", "\n\n", "a b c", "\(zeros) 00"] {
            #expect(NetworkFacts.routes(broken).isEmpty && NetworkFacts.routesIPv6(broken).isEmpty)
        }
    }

    @Test func aSmallMTUIsNamed() {
        let small = network([Interface(name: "eth0", mtu: 576)])
        let remedy = only(DiagnosticCheck.mtu.examine(small), .smallMTU, .limit)
        #expect(remedy.contains("sudo ip link set dev eth0 mtu 1500") && remedy.contains("--bitrate 96k"))
        let own = network([Interface(name: "eth0", mtu: 1_500)], pathMTU: 65_536)
        #expect(
            DiagnosticCheck.mtu.examine(own)?.map(\.text)
                == ["packets of any size go through, because the other end is this machine"])
        let path = network([Interface(name: "eth0", mtu: 1_500)], pathMTU: 576)
        #expect(only(DiagnosticCheck.mtu.examine(path), .smallMTU, .limit).contains("tunnel"))
        #expect(DiagnosticCheck.mtu.examine(network([Interface(name: "wg0", mtu: 1_280)]))?.map(\.severity) == [.well])
    }

    @Test func missingMulticastIsNamed() {
        let facts = network([Interface(name: "tun0", isMulticast: false, mtu: 1_500)])
        #expect(only(DiagnosticCheck.multicast.examine(facts), .noMulticast, .limit).contains("dev tun0 multicast on"))
    }

    // MARK: - Names

    @Test func namesThatAreNotFoundAreNamed() {
        var facts = Facts()
        func findings(_ name: String, _ reason: NetworkError.Reason?, local: Bool = true) -> [Finding]? {
            let outcome: NameFacts.Outcome =
                reason.map { .failed(NetworkError($0, function: "uv_getaddrinfo", code: 0)) } ?? .slow
            facts.names = NameFacts(findsLocalNames: local, lookups: [.init(name: name, outcome: outcome)])
            return DiagnosticCheck.names.examine(facts)
        }
        #expect(only(findings("bbo", .unknownHost("bbo")), .unknownName, .fault).contains("IP address"))
        #expect(only(findings("bob", .lookupFailed("bob")), .noNameServer, .fault).contains("/etc/resolv.conf"))
        let linkLocal = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 0)
        #expect(only(findings("fe80::1", .interfaceMissing(linkLocal)), .noRoute, .fault).contains("fe80::1%INTERFACE"))
        #expect(only(findings("bob", nil), .noNameServer, .fault).contains("resolvectl status"))
        #expect(only(findings("bob.local", .unknownHost("")), .unknownName, .fault).contains("avahi-browse"))
        let remedy = only(findings("bob.local", .unknownHost(""), local: false), .noLocalNames, .fault)
        #expect(remedy.contains("sudo apt install libnss-mdns"))
        facts.names = NameFacts(findsLocalNames: false)
        #expect(DiagnosticCheck.names.examine(facts)?.map(\.severity) == [.limit])
    }

    @Test func theNameServiceSwitchIsRead() {
        let tree = Tree()
        func finds(_ line: String) -> Bool {
            tree.write("# a comment\n\(line)\n", to: "etc/nsswitch.conf")
            return NameFacts(on: Machine(root: tree.path, environment: [:])).findsLocalNames
        }
        #expect(finds("hosts: files mdns4_minimal [NOTFOUND=return] dns"))
        #expect(finds("hosts: files resolve [!UNAVAIL=return] dns"))
        #expect(!finds("hosts: files dns"))
        #expect(!finds("passwd: mdns"))
    }

    @Test func packagesAreInstalledByTheMachinesProgram() {
        let tree = Tree()
        let machine = Machine(root: tree.path, environment: [:])
        #expect(PackageManager(on: machine) == .apt)
        tree.write("", to: "usr/bin/pacman")
        #expect(PackageManager(on: machine) == .pacman)
        #expect(PackageManager.pacman.command("avahi-daemon") == "`sudo pacman -S avahi`")
    }
}
