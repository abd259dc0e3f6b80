import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourNetworkEmulator
import TenfourSeededRandom
import TestSupport
import Testing

/// Valid files, before they are damaged.
private let originals: [[UInt8]] = {
    let samples = (0..<200).flatMap { little($0 * 100, 2) }
    var appended = wav(beforeData: text("LIST") + little(4, 4) + text("INFO"), samples)
    appended += text("LIST") + little(4, 4) + text("INFO")
    var au = text(".snd") + big(24, 4) + big(400, 4) + big(3, 4)
    au += big(8_000, 4) + big(1, 4) + samples
    let float = wav(tag: 3, channelCount: 2, bits: 32, little(0x3F00_0000, 4) + little(0x3F00_0000, 4))
    return [wav(samples), appended, float, aiff(samples), au, flac]
}()

/// Returns the number of samples read, up to about a second; zero if the file was refused with a message.
private func listen(to descriptor: Int32) -> Int {
    var count = 0
    do throws(AudioFileError) {
        var reader = try AudioFileReader(fileDescriptor: descriptor, name: "damaged")
        for _ in 0..<50 {
            let sound = try reader.frames(960)
            if sound.isEmpty { break }
            #expect(sound.allSatisfy { $0.isFinite })
            count += sound.count
        }
    } catch {
        #expect(!error.description.isEmpty)
    }
    return count
}

@Test func aFileCutAnywhereGivesAnErrorOrSound() {
    for original in originals {
        var heard = 0
        for length in 0..<original.count {
            let file = namelessFile(Array(original[..<length]))
            heard += listen(to: file)
            close(file)
            let pipe = Pipe(Array(original[..<length]))
            heard += listen(to: pipe.output)
        }
        #expect(heard > 0)
    }
}

@Test func aDamagedFileGivesAnErrorOrSound() {
    var chance = SeededRandom(seed: 2)
    var heardCount = 0
    for _ in 0..<20_000 {
        var bytes = originals[chance.below(originals.count)]
        for _ in 0...chance.below(4) {
            // Three of four changes are made in the header.
            let place = chance.below(chance.below(4) == 0 ? bytes.count : min(bytes.count, 60))
            switch chance.below(4) {
            case 0: bytes[place] = [0, 0xFF, 0x7F, 0x80][chance.below(4)]
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(bytes[chance.below(bytes.count)], at: place)
            default: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
            }
        }
        if chance.below(2) == 0 {
            let file = namelessFile(bytes)
            if listen(to: file) > 0 { heardCount += 1 }
            close(file)
        } else {
            let pipe = Pipe(bytes)
            if listen(to: pipe.output) > 0 { heardCount += 1 }
        }
    }
    #expect(heardCount > 5_000, "too few damaged files had readable samples")
}
