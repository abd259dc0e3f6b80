import TenfourDNSSD
import TenfourJSON
import TenfourRadio
import TenfourSession
import TestSupport
import Testing

@testable import TenfourDiagnosis

/// The findings as a whole.
struct DiagnosisTests {
    @Test func aCheckWithoutFactsIsSaidToBeUnfinished() {
        let diagnosis = Diagnosis(of: Facts())
        #expect(diagnosis.isWell && diagnosis.findings.allSatisfy { $0.symptom == .unfinished })
        let names = diagnosis.results.map(\.check)
        #expect(
            names.contains("card") && names.contains("port") && !names.contains("relay") && !names.contains("other end")
        )
        var facts = Facts()
        facts.subject = .station(StreamAddress(host: "bob"))
        #expect(Diagnosis(of: facts).results.map(\.check).contains("other end"))
    }

    @Test func faultsAreToldInJSON() throws {
        var facts = Facts()
        facts.files = FileFacts(openFiles: 64, freeBytes: nil, directory: "/r")
        facts.network = NetworkFacts(interfaces: [], routes: [])
        let diagnosis = Diagnosis(of: facts)
        #expect(!diagnosis.isWell && diagnosis.count(.fault) == 1)
        let json = try JSON(parsing: Array(diagnosis.json.text.utf8))
        guard case .boolean(false)? = json.member("well"), case .list(let findings)? = json.member("findings") else {
            Issue.record("\(diagnosis.json.text)")
            return
        }
        #expect(findings.count == diagnosis.findings.count)
        let texts = findings.compactMap { finding -> String? in
            if case .text("no-network")? = finding.member("symptom"), case .text(let remedy)? = finding.member("remedy")
            {
                return remedy
            }
            return nil
        }
        #expect(texts.count == 1)
    }

    @Test func stationsNearbyAreListed() {
        var facts = Facts()
        let endpoint = Endpoint(.v4(0x0A00_0002), port: 5004)
        func findings(_ state: DiscoveryState, _ version: String, _ answered: Duration?) -> [Finding]? {
            let station = NearbyFacts.Station(name: "Bob", version: version, endpoints: [endpoint], answered: answered)
            facts.nearby = NearbyFacts(
                state: state, stations: state == .running ? [station] : [], ownVersion: "0.5")
            return DiagnosticCheck.nearby.examine(facts)
        }
        #expect(findings(.running, "0.5", .zero)?.map(\.text) == ["the station Bob at 10.0.0.2:5004 answers"])
        #expect(findings(.running, "0.4", .zero)?.map(\.symptom) == [.otherVersion])
        #expect(findings(.running, "0.5", nil)?.map(\.symptom) == [.stationUnreachable])
        let absent = findings(.unavailable(.noDaemon), "", nil)
        #expect(absent?.map(\.symptom) == [.noAvahi])
        #expect(absent?[0].remedy?.contains("systemctl enable --now avahi-daemon") == true)
        #expect(
            findings(.unavailable(.noBus), "", nil)?[0].remedy?.contains("sudo apt install dbus avahi-daemon") == true)
    }

    @Test func anOtherEndOfAnOlderVersionIsNamed() {
        var facts = Facts()
        let endpoint = Endpoint(.v4(0x0A00_0002), port: 5004)
        facts.otherEnd = OtherEndFacts(
            endpoint: endpoint, answer: .station(.milliseconds(3), name: "Bob"), announcedVersion: "0.5",
            ownVersion: "0.6")
        #expect(
            DiagnosticCheck.otherEnd.examine(facts)?[0].text
                == "the station Bob at 10.0.0.2:5004 answers; it runs tenfour 0.5, and this is 0.6")
        facts.otherEnd?.answer = .plainRTP(name: "Bob")
        #expect(DiagnosticCheck.otherEnd.examine(facts)?.map(\.symptom) == [.olderStation])
        facts.otherEnd?.answer = .silent
        #expect(DiagnosticCheck.otherEnd.examine(facts)?[0].remedy?.contains("UDP port 5004") == true)
    }

    /// A remedy names what to do: one to three sentences that end with a full stop, and backquotes in pairs.
    @Test func eachSymptomHasItsOwnName() {
        #expect(Set(Symptom.allCases.map(\.rawValue)).count == Symptom.allCases.count)
        for symptom in Symptom.allCases {
            #expect(symptom.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(symptom)")
        }
    }
}
