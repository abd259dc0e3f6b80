/// 1024 short, common English words in alphabetical order, each of which encodes ten bits. The order is part of the
/// protocol.
package enum SecretWords {
    package static let all: [String] = text.split(whereSeparator: \.isWhitespace).map(String.init)

    /// Returns the indices of words separated by hyphens, in capital or small letters; nil if a word is not in the
    /// list.
    package static func numbers(in text: Span<UInt8>) -> [Int]? {
        var numbers: [Int] = []
        var word: [UInt8] = []
        for index in 0...text.count {
            if index < text.count, text[index] != UInt8(ascii: "-") {
                guard word.count < longest else { return nil }
                word.append(text[index] | 0x20)
            } else {
                guard let number = places[String(decoding: word, as: UTF8.self)] else { return nil }
                numbers.append(number)
                word.removeAll(keepingCapacity: true)
            }
        }
        return numbers
    }

    private static let longest = 8
    private static let places = Dictionary(uniqueKeysWithValues: zip(all, 0...))
    // words-are-data: the program that checks our conventions ignores the lines below.
    private static let text = """
        able acid acre adult after again agent agree ahead aim air aisle alarm album alert alien alike alive alley
        allow alone alpha also altar amber ample angel ankle anvil apart apple apron arch arena argue arm armor arrow
        art ash aside ask atlas atom attic audio aunt awake award axle baby back bacon badge bag bait bake ball band
        banjo bank bar barn basil basin bat bath bay beach bead beak beam bean bear beard bed bee beef bell belt bench
        berry big bike bin birch bird bit bite black blade blank blaze blend blink block bloom blow blue blunt board
        boat body boil bold bolt bone book boot bow bowl box boy brain brass brave bread break brick brief bring broad
        brook broom brown brush bud bugle build bulb bull bunch burn bus bush busy buzz cabin cable cage cake calf
        call calm camel camp canal candy canoe cap cape car card cargo carry cart carve case cash cat catch cave cedar
        cell chain chair chalk charm chart chase cheap check cheek cheer chess chest chick chief child chime chin chip
        choir chord chunk cider city civil claim clam clap class claw clay clean clear clerk cliff climb clip cloak
        clock close cloth cloud clown club coach coal coast coat cobra cocoa code coil coin cold color colt comb come
        comet comic cook cool copy coral cord core cork corn couch count court cover cow cozy crab craft crane cream
        creek crew crisp crop cross crow crowd crown crust cube cup curb curl curry curve cycle daily dairy daisy damp
        dance dark dash date dawn day deal dear deck deep deer delta denim dense depth desk dial diary dice diet dirt
        dish ditch dive dock dog doll dome door dot dove dozen draft drama draw dream dress drift drill drink drive
        drop drum dry duck due duet dune dust duty eagle ear early earth ease east easy echo edge edit egg eight elbow
        elder elect elf elk elm ember empty end enjoy enter entry equal error essay even event every exact exit extra
        eye face fact fade fair fall fan fancy far farm fast feast fence fern ferry few fiber field fig file film
        final finch find fine fire firm first fish fist five fix flag flame flash flat fleet flint float flock floor
        flour flow fluid flute fly foam fog foil fold folk food foot fork form fort forum fox frame free fresh frog
        front frost fruit fuel full fun game gap gas gate gem giant gift girl give glad glass glide globe glory glove
        glow glue goal goat gold golf good goose grace grade grain grand grape graph grass gravy gray great green
        greet grid grill grin grip group grove grow guard guess guest guide gulf gum guru gym habit hair half hall ham
        hand happy hard harp hat hawk hay hazel head heap heart heat hedge heel help hen herb herd hero heron high
        hike hill hint hobby hold hole home honey hood hook hope horn horse host hotel hour house hover huge human
        humor hunt hut hymn ice icon idea idle igloo image inch index ink inn input iris iron item ivory ivy jade jam
        jar jazz jeans jelly jet jewel job join joke jolly joy judge juice july jump june jury just kayak keen keep
        key kick kid king kiosk kite kiwi knee knife knit knock knot know koala label lace lady lake lamb lamp land
        lane lap large lark laser late laugh lava lawn layer lazy leaf learn left leg lemon lens level lever lid life
        lift light lilac lily lime limit line linen link lion lip list loaf lobby local lock log long look loop lord
        lotus loud love low loyal lucky lunar lunch lung lyric magic maid mail main major make mall mango manor map
        maple march mark marsh mask mason mass mast match math may maze meal medal melon menu merge merit merry metal
        meter mild mile milk mill mimic mind mine mint mist mix model money month moon moral more moss moth motor
        mouse mouth move movie much mud mule music nail name navy near neat neck nerve nest net never new next nice
        niece night nine noble noise noon north nose note novel now nurse nut nylon oak oar oasis oat ocean odd offer
        often oil old olive omega onion only open opera orbit order organ otter outer oval oven over owl own pack page
        paint pair palm panda panel panic paper park part party pass past pasta patch path pause paw pea peace peach
        peak pear pearl pedal pen perch phone photo piano piece pilot pine pink pipe pitch pizza place plain plan
        plane plank plant plate play plaza plot plow plum plus poem poet point polar pole polka pond pony pool poppy
        porch port post pound power press price pride print prism prize proof proud pulse pump pupil purse push quail
        queen quest quick quiet quill quilt quiz quote race radar radio raft rail rain raise rake ranch range rapid
        rare raven raw ray razor reach read ready real rebel red reef relay rent reply rest rice rich ride ridge right
        ring rise river road roast robin robot rock rod roll roof room root rope rose rotor rough round route row
        royal ruby rug ruin rule run rural rust rye sack safe sail saint salad salt same sand satin sauce sauna save
        scale scarf scene scout screw sea seal seat seed seek sense seven shade shaft shake shape share shark sharp
        sheep sheet shelf shell shift shine ship shirt shock shoe shop shore short show shy side sign silk sing siren
        six size skate ski skill skin skirt sky slate sled sleep slice slide slim slope slow small smart smile smoke
        snack snail snake snow soap sock soda sofa soft soil solar solid solo song soon sort soul sound soup south
        space spark speak spear speed spell spend spice spin spoon sport spot spray squid staff stage stair stamp
        stand star start state stay steam steel stem step stick still stone stool store storm story stove study style
        sugar suit sun super surf swan sweet swift swim swing sword syrup
        """
}
