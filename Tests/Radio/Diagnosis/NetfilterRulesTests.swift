import TenfourRadio
import TestSupport
import Testing

@testable import TenfourDiagnosis

/// Rules as `nft --json list ruleset` prints them. The command's own tests let nft print real ones.
@Suite(.onItsOwnThread) struct NetfilterRulesTests {
    private func rules(policy: String = "accept", family: String = "inet", _ rules: String...) -> [UInt8] {
        let chain =
            #"{"chain":{"family":"\#(family)","table":"filter","name":"input","type":"filter","hook":"input","prio":0,"policy":"\#(policy)"}}"#
        let others = #"{"chain":{"family":"\#(family)","table":"filter","name":"sub"}}"#
        let items = rules.map { rule in
            let name = rule.hasPrefix("sub") ? "sub" : "input"
            let text = rule.hasPrefix("sub") ? String(rule.dropFirst(3)) : rule
            return #"{"rule":{"family":"\#(family)","table":"filter","chain":"\#(name)","expr":[\#(text)]}}"#
        }
        return Array(
            (#"{"nftables":[{"metainfo":{}},"# + ([chain, others] + items).joined(separator: ",") + "]}").utf8)
    }

    private func verdict(_ text: [UInt8], port: UInt16 = 5004) -> FirewallFacts.Verdict? {
        NetfilterRules(parsing: text)?.verdict(onPort: port)
    }

    private static let toPort =
        #"{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":5004}}"#
    private static let toRange =
        #"{"match":{"op":"==","left":{"payload":{"protocol":"udp","field":"dport"}},"right":{"set":[53,{"range":[5000,5010]}]}}}"#
    private static let tcp =
        #"{"match":{"op":"==","left":{"payload":{"protocol":"tcp","field":"dport"}},"right":22}}"#
    private static let established =
        #"{"match":{"op":"in","left":{"ct":{"key":"state"}},"right":["established","related"]}}"#
    private static let loopback = #"{"match":{"op":"==","left":{"meta":{"key":"iifname"}},"right":"lo"}}"#
    private static let fromLAN =
        #"{"match":{"op":"==","left":{"payload":{"protocol":"ip","field":"saddr"}},"right":{"prefix":{"addr":"10.0.0.0","len":8}}}}"#
    private static let states =
        #"{"vmap":{"key":{"ct":{"key":"state"}},"data":{"set":[["established",{"accept":null}],["invalid",{"drop":null}]]}}}"#
    private static let counter = #"{"counter":{"packets":0,"bytes":0}}"#
    private static let (accept, drop) = (#"{"accept":null}"#, #"{"drop":null}"#)
    private static let drops = FirewallFacts.Verdict.drops(chain: "inet filter input")
    private static let mayDrop = FirewallFacts.Verdict.mayDrop(chain: "inet filter input")

    @Test func anEmptyRulesetAccepts() {
        #expect(verdict(Array(#"{"nftables":[]}"#.utf8)) == .accepts)
        #expect(verdict(rules()) == .accepts)
    }

    @Test func aRuleForThePortDrops() {
        #expect(verdict(rules("\(Self.toPort),\(Self.counter),\(Self.drop)")) == Self.drops)
        #expect(verdict(rules("\(Self.toPort),\(Self.drop)"), port: 5006) == .accepts)
        #expect(verdict(rules("\(Self.toRange),{\"reject\":{\"type\":\"icmpx\"}}")) == Self.drops)
    }

    @Test func aPolicyThatDropsNeedsARuleThatAccepts() {
        let usual = [
            "\(Self.loopback),\(Self.accept)", "\(Self.established),\(Self.accept)", "\(Self.tcp),\(Self.accept)",
        ]
        #expect(verdict(rules(policy: "drop", usual[0], usual[1], usual[2])) == Self.drops)
        #expect(verdict(rules(policy: "drop", usual[0], usual[1], "\(Self.toPort),\(Self.accept)")) == .accepts)
        #expect(verdict(rules(policy: "drop", Self.states, usual[2])) == Self.drops)
        #expect(verdict(rules(policy: "drop", Self.states, "\(Self.toRange),\(Self.accept)")) == .accepts)
    }

    @Test func aConditionThatIsNotUnderstoodMakesItUncertain() {
        #expect(verdict(rules(policy: "drop", "\(Self.fromLAN),\(Self.accept)")) == Self.mayDrop)
        #expect(
            verdict(rules(policy: "drop", #"{"xt":{"type":"match","name":"x"}}"# + ",\(Self.accept)")) == Self.mayDrop)
        #expect(verdict(rules("\(Self.fromLAN),\(Self.toPort),\(Self.drop)")) == Self.mayDrop)
        #expect(verdict(rules("\(Self.fromLAN),\(Self.tcp),\(Self.drop)")) == .accepts)
    }

    @Test func otherChainsAreFollowed() {
        let jump = #"{"jump":{"target":"sub"}}"#
        #expect(verdict(rules(jump, "sub\(Self.toPort),\(Self.drop)")) == Self.drops)
        #expect(verdict(rules(policy: "drop", jump, "sub\(Self.toPort),\(Self.accept)")) == .accepts)
        #expect(verdict(rules(policy: "drop", jump, "sub{\"return\":null}", "sub\(Self.accept)")) == Self.drops)
        #expect(verdict(rules(policy: "drop", "\(Self.tcp),\(jump)", "sub\(Self.accept)")) == Self.drops)
        // A chain that jumps to itself, which the kernel refuses, comes to an end.
        #expect(verdict(rules(jump, "sub\(jump)")) == .accepts)
    }

    @Test func tablesOfOneFamilyAreJudgedForTheirOwnDatagrams() {
        let drop = "\(Self.toPort),\(Self.drop)"
        #expect(verdict(rules(family: "ip", drop)) == .drops(chain: "ip filter input"))
        #expect(verdict(rules(family: "ip6", drop)) == .dropsIPv6(chain: "ip6 filter input"))
        #expect(verdict(rules(policy: "drop", family: "ip6", Self.tcp)) == .dropsIPv6(chain: "ip6 filter input"))
        #expect(verdict(rules(policy: "drop", family: "ip6", "\(Self.toPort),\(Self.accept)")) == .accepts)
        #expect(verdict(rules(family: "arp", drop)) == .accepts)
        // Rules of a common table for one of the two.
        let v6 = #"{"match":{"op":"==","left":{"meta":{"key":"nfproto"}},"right":"ipv6"}}"#
        #expect(verdict(rules("\(v6),\(drop)")) == .dropsIPv6(chain: "inet filter input"))
        #expect(verdict(rules("\(v6),\(Self.accept)", drop)) == Self.drops)
        let fromULA =
            #"{"match":{"op":"==","left":{"payload":{"protocol":"ip6","field":"saddr"}},"right":{"prefix":{"addr":"fd00::","len":8}}}}"#
        #expect(verdict(rules("\(fromULA),\(drop)")) == Self.mayDrop)
        let found = finding(FirewallFacts(port: 5004, frontend: nil, verdict: .dropsIPv6(chain: "ip6 filter input")))
        #expect(found?.severity == .limit && found?.text.contains("IPv6") == true)
        #expect(found?.remedy?.contains("nft insert rule ip6 filter input udp dport 5004 accept") == true)
    }

    @Test func whatIsNoRulesetIsRefused() {
        for text in ["", "{}", "[]", #"{"nftables":3}"#, "nft: Operation not permitted"] {
            #expect(NetfilterRules(parsing: Array(text.utf8)) == nil)
        }
    }

    // MARK: - Findings

    private func finding(_ firewall: FirewallFacts, _ subject: Subject = .none) -> Finding? {
        var facts = Facts()
        facts.subject = subject
        facts.firewall = firewall
        return DiagnosticCheck.firewall.examine(facts)?.first
    }

    @Test func theRemedyIsThatOfTheProgramThatManagesTheRules() {
        func remedy(_ frontend: FirewallFacts.Frontend?) -> String? {
            let found = finding(FirewallFacts(port: 5004, frontend: frontend, verdict: Self.drops))
            #expect(found?.symptom == .firewallDrops && found?.severity == .fault)
            return found?.remedy
        }
        #expect(remedy(.ufw)?.contains("`sudo ufw allow 5004/udp`") == true)
        #expect(remedy(.firewalld)?.contains("firewall-cmd --permanent --add-port=5004/udp") == true)
        #expect(remedy(nil)?.contains("`sudo nft insert rule inet filter input udp dport 5004 accept`") == true)
    }

    @Test func withoutRightsOnlyWhatIsSeenIsSaid() {
        let unseen = finding(FirewallFacts(port: 5004, frontend: .ufw, verdict: nil, ownArrives: true))
        #expect(unseen?.symptom == .firewallUnseen && unseen?.remedy?.contains("sudo tenfour doctor") == true)
        let dropped = finding(FirewallFacts(port: 5004, frontend: nil, verdict: nil, ownArrives: false))
        #expect(dropped?.symptom == .firewallDrops)
        // Rules that no known program manages, and that let the own address pass, cannot be seen.
        for ownArrives in [true, nil] {
            let unknown = finding(FirewallFacts(port: 5004, frontend: nil, verdict: nil, ownArrives: ownArrives))
            #expect(unknown?.symptom == .firewallUnseen && unknown?.severity == .note)
        }
    }

    @Test func ufwIsFoundByItsConfiguration() {
        let tree = Tree()
        let machine = Machine(root: tree.path, environment: [:])
        tree.write("ENABLED=no\n", to: "etc/ufw/ufw.conf")
        #expect(FirewallFacts.frontend(machine) == nil)
        tree.write("# x\nENABLED=yes\n", to: "etc/ufw/ufw.conf")
        #expect(FirewallFacts.frontend(machine) == .ufw)
    }
}
