import TenfourAudioCore
import TenfourSoundCard
import TestSupport
import Testing

@testable import TenfourDiagnosis

/// Faults of the card and the sound server, as facts.
@Suite(.onItsOwnThread) struct SoundCheckTests {
    private static let opened = SoundFacts.Opening.opened(name: "USB Audio", rate: .opus)
    private static let none = SoundFacts.Opening.failed(.noCard("default"))

    private func facts(
        _ playback: SoundFacts.Opening = opened, _ capture: SoundFacts.Opening = opened, peak: Float? = 0.01,
        server: SoundServerFacts = SoundServerFacts()
    ) -> SoundFacts {
        var facts = SoundFacts(device: "default", playback: playback, capture: capture, server: server)
        facts.capturedPeak = peak
        return facts
    }

    private func findings(_ sound: SoundFacts) -> [Finding] {
        var facts = Facts()
        facts.sound = sound
        return [DiagnosticCheck.sound, .microphone, .soundServer].flatMap { $0.examine(facts) ?? [] }
    }

    private func remedy(_ symptom: Symptom, of sound: SoundFacts, _ severity: Finding.Severity = .fault) -> String {
        let found = findings(sound).filter { $0.symptom == symptom }
        #expect(found.count == 1 && found[0].severity == severity, "\(findings(sound))")
        return found.first?.remedy ?? ""
    }

    @Test func aCardThatWorksIsWell() {
        #expect(findings(facts()).allSatisfy { $0.severity == .well })
        #expect(findings(facts())[0].text == "'default' (USB Audio) plays and captures at 48000 Hz")
        #expect(findings(facts(peak: 0.5))[1].text.hasSuffix("up to -6 dBFS"))
    }

    @Test func noCardIsNamedWithItsRemedy() {
        #expect(remedy(.noCard, of: facts(Self.none, Self.none)).contains("Plug one in"))
    }

    @Test func aServerWithoutItsPluginIsNamed() {
        let pipewire = SoundServerFacts(running: .pipewire, installed: .pipewire, hasPlugin: false)
        #expect(
            remedy(.noALSAPlugin, of: facts(Self.none, Self.none, server: pipewire)).contains(
                "sudo apt install pipewire-alsa"))
        #expect(remedy(.noALSAPlugin, of: facts(server: pipewire), .limit).contains("pipewire-alsa"))
        let pulse = SoundServerFacts(running: .pulseAudio, installed: .pulseAudio, hasPlugin: false)
        #expect(remedy(.noALSAPlugin, of: facts(Self.none, Self.none, server: pulse)).contains("libasound2-plugins"))
    }

    @Test func aServerThatDoesNotRunIsNamed() {
        let server = SoundServerFacts(installed: .pipewire, hasPlugin: true)
        let remedies = [
            facts(Self.none, Self.none, server: server),
            facts(.failed(.noServer("default", explanation: "")), server: server),
        ]
        for sound in remedies { #expect(remedy(.noSoundServer, of: sound).contains("systemctl --user start pipewire")) }
        #expect(remedy(.noSoundServer, of: facts(server: server), .limit).contains("systemctl --user start pipewire"))
    }

    @Test func aBusyCardIsNamedWithItsHolder() {
        let busy = SoundFacts.Opening.failed(.busy("hw:0", holder: "arecord"))
        #expect(remedy(.busyCard, of: facts(Self.opened, busy)).contains("End arecord"))
        let unknown = SoundFacts.Opening.failed(.busy("hw:0", holder: nil))
        #expect(remedy(.busyCard, of: facts(Self.opened, unknown)).contains("fuser -v /dev/snd/*"))
    }

    @Test func missingRightsAreNamedEvenIfALSASeesNoCard() {
        var sound = facts(Self.none, Self.none)
        sound.forbiddenFiles = ["/dev/snd/controlC0", "/dev/snd/pcmC0D0c"]
        sound.group = "audio"
        #expect(remedy(.noRights, of: sound).contains("sudo usermod -aG audio $USER"))
        sound.isMemberSoon = true
        #expect(remedy(.noRights, of: sound).contains("log out"))
    }

    @Test func aMutedMicrophoneIsNamed() {
        #expect(remedy(.silentMicrophone, of: facts(peak: 0)).contains("alsamixer -V capture"))
        let pipewire = SoundServerFacts(running: .pipewire, installed: .pipewire, hasPlugin: true)
        #expect(
            remedy(.silentMicrophone, of: facts(peak: 0, server: pipewire)).contains(
                "wpctl set-mute @DEFAULT_AUDIO_SOURCE@ 0"))
    }

    @Test func aCardWithAnotherRateIsNamed() {
        let slow = SoundFacts.Opening.opened(name: "", rate: SampleRate(hertz: 44_100))
        #expect(remedy(.otherRate, of: facts(Self.opened, slow), .limit).contains("tenfour devices"))
    }

    @Test func theServerIsFoundByItsFiles() {
        let tree = Tree()
        func server() -> SoundServerFacts {
            SoundServerFacts(on: Machine(root: tree.path, environment: ["XDG_RUNTIME_DIR": "/run/user/1000"]))
        }
        #expect(server() == SoundServerFacts())
        tree.write("", to: "usr/bin/pipewire")
        #expect(server() == SoundServerFacts(installed: .pipewire))
        tree.write("", to: "run/user/1000/pipewire-0")
        #expect(server() == SoundServerFacts(running: .pipewire, installed: .pipewire))
        tree.write("", to: "usr/lib/aarch64-linux-gnu/alsa-lib/libasound_module_pcm_pipewire.so")
        #expect(server() == SoundServerFacts(running: .pipewire, installed: .pipewire, hasPlugin: true))
    }
}
