import Foundation
import Glibc
import TestSupport
import Testing

@testable import TenfourChannelKeys

/// Where secrets lie in memory.
struct SecretMemoryTests {
    /// Whether this user may lock enough memory for all tests of this process.
    private static let mayLock = geteuid() == 0

    /// Returns the kernel's flags of the mapping that contains an address (`VmFlags` in proc(5)). While other tests map
    /// memory, the kernel may leave out a mapping, so the file is read again.
    private func flags(at address: UInt) throws -> Set<Substring> {
        for _ in 0..<50 {
            if let flags = flagsOnce(at: address) { return flags }
            usleep(20_000)
        }
        throw CocoaError(.fileReadUnknown)
    }

    private func flagsOnce(at address: UInt) -> Set<Substring>? {
        var isThere = false
        let file = FileHandle(forReadingAtPath: "/proc/self/smaps")
        let text = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let range = words.first?.split(separator: "-"), range.count == 2, let start = UInt(range[0], radix: 16),
                let end = UInt(range[1], radix: 16)
            {
                isThere = (start..<end).contains(address)
            } else if isThere, words.first == "VmFlags:" {
                return Set(words.dropFirst())
            }
        }
        return nil
    }

    @Test(arguments: [1, 16, 32, 64, 128, 512, 513, 5_000]) func aSecretIsLockedAndLeftOutOfDumps(count: Int) throws {
        let secrets = (0..<300).map { number in SecretBytes(count: count) { $0[count - 1] = UInt8(number & 255) } }
        for (number, secret) in secrets.enumerated() {
            #expect(secret.count == count)
            #expect(secret.withBytes { $0[count - 1] } == UInt8(number & 255))
        }
        for secret in [secrets[0], secrets[299]] {
            let address = secret.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            }
            let found = try flags(at: address)
            #expect(found.contains("dd") && (found.contains("lo") || !Self.mayLock), "\(found)")
        }
        // Their memory is given back with the last use of them.
        withExtendedLifetime(secrets) {}
    }

    @Test func aReleasedSecretIsZeroedBeforeItsMemoryIsUsedAgain() {
        for _ in 0..<1_000 {
            let secret = SecretBytes(count: 48) { bytes in
                for index in bytes.indices {
                    if bytes[index] != 0 { Issue.record("memory with an earlier secret") }
                    bytes[index] = 0xAA
                }
            }
            #expect(secret.count == 48)
        }
    }

    @Test func manyThreadsMayMakeSecretsAtOnce() {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<2_000 {
                let value = UInt8((thread * 31 + round) & 255)
                let secret = SecretBytes(count: 32) { bytes in for index in bytes.indices { bytes[index] = value } }
                if !secret.withBytes({ bytes in bytes.indices.allSatisfy { bytes[$0] == value } }) {
                    Issue.record("two secrets share memory")
                }
            }
        }
    }
}
