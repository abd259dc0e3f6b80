public import TenfourJSON

/// The findings of all checks.
public struct Diagnosis: Sendable {
    /// The findings of one check.
    public struct Result: Hashable, Sendable {
        /// The name of the check.
        public var check: String
        /// At least one.
        public var findings: [Finding]
    }

    /// In the order of `DiagnosticCheck.all`, without the checks that do not apply.
    public let results: [Result]

    /// Judges the facts.
    public init(of facts: Facts) {
        results = DiagnosticCheck.all.compactMap { check in
            if let findings = check.examine(facts) {
                return findings.isEmpty ? nil : Result(check: check.name, findings: findings)
            }
            return check.applies(to: facts.subject) ? Result(check: check.name, findings: [.unfinished]) : nil
        }
    }

    public var findings: [Finding] { results.flatMap(\.findings) }

    /// Whether nothing keeps this machine from talking. There may be limits.
    public var isWell: Bool { !findings.contains { $0.severity == .fault } }

    public func count(_ severity: Finding.Severity) -> Int { findings.count { $0.severity == severity } }

    /// All findings, for scripts.
    public var json: JSON {
        .object([
            ("well", .boolean(isWell)), ("faults", .integer(count(.fault))), ("limits", .integer(count(.limit))),
            (
                "findings",
                .list(
                    results.flatMap { result in
                        result.findings.map { finding in
                            .object([
                                ("check", .text(result.check)), ("severity", .text(finding.severity.rawValue)),
                                ("symptom", finding.symptom.map { .text($0.rawValue) } ?? .null),
                                ("text", .text(finding.text)), ("remedy", finding.remedy.map { .text($0) } ?? .null),
                            ])
                        }
                    })
            ),
        ])
    }
}

extension DiagnosticCheck {
    /// Whether the check has a finding for the subject as soon as its facts are there.
    func applies(to subject: Subject) -> Bool {
        switch name {
        case DiagnosticCheck.otherEnd.name: if case .station = subject { true } else { false }
        case DiagnosticCheck.relay.name: subject.usesRelay
        case DiagnosticCheck.port.name: !subject.usesRelay
        case DiagnosticCheck.multicast.name: false
        default: true
        }
    }
}

extension Finding {
    /// The finding of a check whose facts did not come in time.
    static let unfinished = Finding.limit(
        .unfinished, "this check did not end within five seconds",
        "Run `tenfour doctor` again. If it happens again, something that it asks does not answer.")
}
