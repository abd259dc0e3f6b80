import Testing

@testable import tenfour

struct StatusFieldsTests {
    private var fields: StatusFields {
        var fields = StatusFields()
        fields.addPart("ON AIR")
        fields.add(" -12 dBFS", rank: 4)
        fields.add("31.9 kbit/s", rank: 8)
        fields.addPart("Bob")
        fields.add("loss 5.2%")
        fields.add("x1.4", rank: 6, after: " ")
        fields.add("delay 33")
        fields.add("→40", rank: 9, after: "")
        fields.add("ms", after: " ")
        fields.add("score 3.9", rank: 1)
        return fields
    }

    @Test func whereThereIsRoomAllIsShown() {
        #expect(
            fields.text(width: 100)
                == "ON AIR   -12 dBFS  31.9 kbit/s  |  Bob  loss 5.2% x1.4  delay 33→40 ms  score 3.9")
    }

    @Test func theLeastImportantFieldsAreDroppedUntilTheLineFits() {
        #expect(fields.text(width: 79).count <= 79)
        #expect(fields.text(width: 70) == "ON AIR   -12 dBFS  |  Bob  loss 5.2% x1.4  delay 33 ms  score 3.9")
        #expect(fields.text(width: 45) == "ON AIR  |  Bob  loss 5.2%  delay 33 ms")
        #expect(fields.text(width: 20) == "ON AIR  |  Bob")
    }

    @Test func wideLettersCountAsTwoColumns() {
        var fields = StatusFields()
        fields.addPart("東京東京東京")
        fields.add("loss 5.2%")
        #expect(fields.text(width: 20) == "東京東京東京")
        #expect(fields.text(width: 7) == "東京東…")
    }

    /// A name of any length gives way before the level, and the level before the name is too short to be recognised.
    @Test func namesAreShortenedFirst() {
        var fields = StatusFields()
        fields.addPart("ON AIR", rank: StatusFields.essential)
        fields.add(" -12 dBFS", rank: 4)
        fields.addPart("\(name: "Maximiliane von und zu Weit")", rank: StatusFields.essential, role: .talker)
        #expect(fields.text(width: 60) == "ON AIR   -12 dBFS  |  Maximiliane von und zu Weit")
        #expect(fields.text(width: 40) == "ON AIR   -12 dBFS  |  Maximiliane von u…")
        #expect(fields.text(width: 34) == "ON AIR   -12 dBFS  |  Maximiliane…")
        #expect(fields.text(width: 33) == "ON AIR  |  Maximiliane von und z…")
        #expect(fields.text(width: 19) == "ON AIR  |  Maximil…")
        #expect(fields.text(width: 16) == "ON AIR Maximili…")
    }

    /// The mark of an unverified name is left where the name is shortened.
    @Test func aRemarkIsReplacedByASign() {
        let text: StatusText = "\(name: "Benjamin")\(remark: " (not verified)", sign: "?")"
        #expect(text.whole == "Benjamin (not verified)")
        #expect(text.text(nameColumns: 12) == "Benjamin (not verified)" && text.text(nameColumns: 6) == "Benja…?")
    }

    /// Warnings are shown even if nothing else fits, and no word is truncated.
    @Test func noFieldIsCut() {
        var fields = fields
        fields.addPart("CARD LOST", rank: StatusFields.alert)
        #expect(fields.text(width: 30) == "ON AIR  |  Bob  |  CARD LOST")
        #expect(fields.text(width: 22) == "ON AIR  |  CARD LOST")
        #expect(fields.text(width: 12) == "CARD LOST")
        #expect(fields.text(width: 5) == "CARD…")
        let words = Set(fields.text(width: 200).split(separator: " "))
        for width in 9...100 {
            let text = fields.text(width: width)
            #expect(text.count <= width && text.split(separator: " ").allSatisfy { words.contains($0) || $0 == "33" })
        }
    }
}
