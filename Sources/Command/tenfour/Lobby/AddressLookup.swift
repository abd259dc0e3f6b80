import TenfourRadio
import TenfourSession
import TenfourSystem
import TenfourUV

/// The lookup of a station's address that a person has typed, on a thread of its own: the person goes on seeing who
/// calls while a name server does not answer. The end of the program does not wait for the thread.
final class AddressLookup: Sendable {
    enum Outcome: Sendable {
        case found(Endpoint)
        case failed(RadioError)
    }

    /// The text that the person has typed.
    let text: String
    private let result = Locked<Outcome?>(nil)

    init(_ text: String) {
        self.text = text
        do throws(ThreadError) {
            try WorkerThread.detached { [text, result] in
                let outcome: Outcome
                do throws(RadioError) {
                    outcome = .found(try Self.endpoint(typed: text))
                } catch {
                    outcome = .failed(error)
                }
                result.withLock { $0 = outcome }
            }
        } catch {
            result.withLock {
                $0 = .failed(RadioError(.failure, "the system can start no thread; close other programs"))
            }
        }
    }

    /// Nil while the lookup runs.
    var outcome: Outcome? { result.withLock(\.self) }

    /// The endpoint of a station whose address a person has typed. Blocks while its name is looked up.
    static func endpoint(typed text: String) throws(RadioError) -> Endpoint {
        guard case .rtp(let address) = try RadioAddress(parsing: text), !address.host.isEmpty else {
            throw RadioError(
                .usage, "this is not the address of a station: write a host, such as bob.local or 10.0.0.7")
        }
        let endpoint: Endpoint
        do throws(NetworkError) { endpoint = try Resolver.resolve(address.host, port: address.port)[0] } catch {
            throw RadioError(.unavailable, error.description)
        }
        guard !endpoint.address.isMulticast else {
            throw RadioError(.usage, "a multicast group cannot be called: write the address of one station")
        }
        return endpoint
    }
}
