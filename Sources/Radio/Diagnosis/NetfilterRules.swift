internal import TenfourAudioCore
internal import TenfourJSON

/// The rules of netfilter, as `nft --json list ruleset` prints them (libnftables-json(5)), and their verdict on the
/// first datagram of UDP that another machine sends to one of our ports.
///
/// A rule with a condition that is not understood may or may not apply, and the verdict says so.
struct NetfilterRules {
    fileprivate struct Chain {
        var id: ChainID
        /// The hook of a base chain, such as `input`; nil for others.
        var hook: String?
        var policy: String
        var rules: [[JSON]] = []
    }

    fileprivate struct ChainID: Hashable {
        var family: String
        var table: String
        var name: String
    }

    private var chains: [Chain] = []

    /// The maximum depth of jumps between chains, which is that of the kernel.
    fileprivate static let maximumDepth = 16

    /// Nil if the text is no list of rules.
    init?(parsing text: [UInt8]) {
        guard let json = try? JSON(parsing: text), case .list(let items)? = json.member("nftables") else { return nil }
        for item in items {
            if let chain = item.member("chain"), let id = ChainID(chain, name: "name") {
                chains.append(
                    Chain(id: id, hook: chain.member("hook")?.word, policy: chain.member("policy")?.word ?? "accept"))
            } else if let rule = item.member("rule"), let id = ChainID(rule, name: "chain"),
                case .list(let statements)? = rule.member("expr"),
                let place = chains.firstIndex(where: { $0.id == id })
            {
                chains[place].rules.append(statements)
            }
        }
    }

    /// The verdict on a datagram by IPv4, or by IPv6 if only that one may be dropped.
    func verdict(onPort port: UInt16) -> FirewallFacts.Verdict {
        let verdict = verdict(onPort: port, byIPv6: false)
        guard verdict == .accepts else { return verdict }
        let other = self.verdict(onPort: port, byIPv6: true)
        if case .drops(let chain) = other { return .dropsIPv6(chain: chain) }
        return other
    }

    private func verdict(onPort port: UInt16, byIPv6: Bool) -> FirewallFacts.Verdict {
        var doubtful: String?
        let families = [byIPv6 ? "ip6" : "ip", "inet"]
        for chain in chains where ["input", "prerouting"].contains(chain.hook) && families.contains(chain.id.family) {
            var walk = Walk(port: port, isIPv6: byIPv6)
            var end = walk.end(of: chain, in: self, depth: 0)
            if end == .runsOut { end = chain.policy == "drop" ? .drops : .accepts }
            if end == .drops, !walk.mayAccept { return .drops(chain: chain.id.text) }
            if end == .drops || walk.mayDrop { doubtful = doubtful ?? chain.id.text }
        }
        return doubtful.map { .mayDrop(chain: $0) } ?? .accepts
    }

    fileprivate func chain(_ name: String, near id: ChainID) -> Chain? {
        chains.first { $0.id == ChainID(family: id.family, table: id.table, name: name) }
    }

    /// How a chain ends for the datagram.
    fileprivate enum End { case accepts, drops, runsOut }

    /// What follows a verdict.
    private enum Step {
        case ends(End)
        /// The next rule decides.
        case nextRule
        /// The next statement of the rule decides.
        case nextStatement
    }

    fileprivate enum Truth {
        case yes, no, unknown

        init(_ isTrue: Bool) { self = isTrue ? .yes : .no }

        var negated: Truth {
            switch self {
            case .yes: .no
            case .no: .yes
            case .unknown: .unknown
            }
        }
    }

    /// The way of the datagram through the chains of one hook.
    fileprivate struct Walk {
        let port: UInt16
        let isIPv6: Bool
        /// Whether a rule that may apply accepts or drops the datagram.
        var mayAccept = false
        var mayDrop = false

        mutating func end(of chain: Chain, in rules: NetfilterRules, depth: Int) -> End {
            guard depth < maximumDepth else { return .runsOut }
            for statements in chain.rules {
                if let end = end(of: statements, chain, rules, depth) { return end }
            }
            return .runsOut
        }

        /// Returns nil if the next rule decides.
        private mutating func end(
            of statements: [JSON], _ chain: Chain, _ rules: NetfilterRules, _ depth: Int
        ) -> End? {
            var isCertain = true
            for statement in statements {
                var verdict: JSON?
                if let match = statement.member("match") {
                    switch truth(of: match) {
                    case .no: return nil
                    case .yes: continue
                    case .unknown: isCertain = false
                    }
                } else if let map = statement.member("vmap") {
                    verdict = self.verdict(of: map)
                    if verdict == nil { (mayAccept, mayDrop) = (true, true) }
                } else if statement.isVerdict {
                    verdict = statement
                } else if statement.isCondition {
                    isCertain = false
                }
                guard let verdict else { continue }
                switch step(after: verdict, isCertain, chain, rules, depth) {
                case .ends(let end): return end
                case .nextRule: return nil
                case .nextStatement: continue
                }
            }
            return nil
        }

        private mutating func step(
            after verdict: JSON, _ isCertain: Bool, _ chain: Chain, _ rules: NetfilterRules, _ depth: Int
        ) -> Step {
            if verdict.has("accept") { return step(to: .accepts, isCertain) }
            if verdict.has("drop") || verdict.has("reject") { return step(to: .drops, isCertain) }
            if verdict.has("return") { return isCertain ? .ends(.runsOut) : .nextRule }
            if verdict.has("continue") { return .nextStatement }
            for word in ["jump", "goto"] {
                guard let name = verdict.member(word)?.member("target")?.word,
                    let target = rules.chain(name, near: chain.id)
                else { continue }
                let end = end(of: target, in: rules, depth: depth + 1)
                if end == .runsOut { return word == "goto" && isCertain ? .ends(.runsOut) : .nextRule }
                return step(to: end, isCertain)
            }
            return .nextRule
        }

        private mutating func step(to end: End, _ isCertain: Bool) -> Step {
            if isCertain { return .ends(end) }
            if end == .accepts { mayAccept = true } else { mayDrop = true }
            return .nextRule
        }

        /// The verdict of a verdict map on the state of the connection; nil if it is not understood.
        private func verdict(of map: JSON) -> JSON? {
            guard map.member("key")?.member("ct")?.member("key")?.word == "state",
                case .list(let entries)? = map.member("data")?.member("set")
            else { return nil }
            for case .list(let pair) in entries where pair.count == 2 && pair[0].word == "new" { return pair[1] }
            return .object([("continue", .null)])
        }

        /// Whether the datagram fulfils a condition: UDP to our port, from another machine, in no known connection.
        private func truth(of match: JSON) -> Truth {
            guard let left = match.member("left"), let right = match.member("right") else { return .unknown }
            let isNegated = match.member("op")?.word == "!="
            let truth = truth(left, right, among: match.member("op")?.word == "in")
            return isNegated ? truth.negated : truth
        }

        private func truth(_ left: JSON, _ right: JSON, among: Bool) -> Truth {
            if let payload = left.member("payload") {
                switch (payload.member("protocol")?.word, payload.member("field")?.word) {
                case ("udp", "dport"), ("th", "dport"): return right.holds(Int(port))
                case ("ip", _) where isIPv6, ("ip6", _) where !isIPv6: return .no
                case ("ip", "protocol"), ("ip6", "nexthdr"): return right.names("udp", or: 17)
                case ("udp", _), ("th", _), ("ip", _), ("ip6", _), ("ether", _): return .unknown
                // A condition on another protocol also demands that protocol.
                default: return .no
                }
            }
            if let key = left.member("meta")?.member("key")?.word {
                switch key {
                case "l4proto": return right.names("udp", or: 17)
                case "nfproto": return right.names(isIPv6 ? "ipv6" : "ipv4", or: isIPv6 ? 10 : 2)
                case "iif", "iifname": return right.word == "lo" ? .no : .unknown
                default: return .unknown
                }
            }
            if left.member("ct")?.member("key")?.word == "state" {
                return right.names("new", or: -1)
            }
            return .unknown
        }
    }
}

extension NetfilterRules.ChainID {
    fileprivate init?(_ json: JSON, name: String) {
        guard let family = json.member("family")?.word, let table = json.member("table")?.word,
            let chain = json.member(name)?.word
        else { return nil }
        self.init(family: family, table: table, name: chain)
    }

    /// As a command of nft names it. The names are safe to display.
    var text: String { "\(String(fromPeer: family)) \(String(fromPeer: table)) \(String(fromPeer: name))" }
}

extension JSON {
    fileprivate var word: String? { if case .text(let text) = self { text } else { nil } }

    fileprivate var number: Int? { if case .integer(let number) = self { number } else { nil } }

    /// Whether an object has a member, which may be null.
    fileprivate func has(_ name: String) -> Bool {
        if case .object(let members) = self { members.contains { $0.0 == name } } else { word == name }
    }

    fileprivate var isVerdict: Bool {
        ["accept", "drop", "reject", "return", "jump", "goto", "continue", "queue"].contains { has($0) }
    }

    /// Whether a statement may end the rule, and is not understood: an extension of iptables, or a limit.
    fileprivate var isCondition: Bool { ["xt", "limit", "quota", "connlimit", "ct count"].contains { has($0) } }

    private var elements: [JSON] {
        if case .list(let list) = self { return list }
        if case .list(let list)? = member("set") { return list }
        return [self]
    }

    /// Whether a number, a range or a set holds `value`.
    fileprivate func holds(_ value: Int) -> NetfilterRules.Truth {
        var isKnown = true
        for element in elements {
            if let number = element.number {
                if number == value { return .yes }
            } else if case .list(let bounds)? = element.member("range"), bounds.count == 2,
                let low = bounds[0].number, let high = bounds[1].number
            {
                if low <= value, value <= high { return .yes }
            } else {
                isKnown = false
            }
        }
        return isKnown ? .no : .unknown
    }

    /// Whether a word, or one of a list or set, is `name` or the number `value`.
    fileprivate func names(_ name: String, or value: Int) -> NetfilterRules.Truth {
        let elements = elements
        if elements.contains(where: { $0.word == name || $0.number == value }) { return .yes }
        return elements.allSatisfy { $0.word?.hasPrefix("@") == false || $0.number != nil } ? .no : .unknown
    }
}
