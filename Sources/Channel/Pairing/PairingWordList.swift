/// The 1024 words for pairing, in alphabetical order. The protocol needs only that both ends know the words themselves.
///
/// Each has 4 to 7 letters and sounds like no other. The first four letters of each are different, so that they are
/// enough to type.
enum PairingWordList {
    static let all: [String] = text.split(whereSeparator: \.isWhitespace).map(String.init)

    /// Each word by its first four letters.
    static let byPrefix = Dictionary(uniqueKeysWithValues: all.map { ($0.prefix(prefixLength), $0) })

    static let prefixLength = 4

    // words-are-data: the program that checks our conventions ignores the lines below.
    private static let text = """
        absorb accent accord acorn acrobat action actor adapt adult advice aerial affair afford afloat after
        again agenda agree ahead airport aisle alarm album alcove alert algebra alien alike alley almond alone
        alpha alpine also altar amaze amber amend ample anchor angel animal annual answer anthem antler apart
        apology appeal apron aquatic arcade arctic arena argue armor arrive arrow artist ascend ashore aside
        aspen athlete atlas atom atrium attend attic audible august aunt author autumn avenue aviator avocado
        awake award axle baby bacon badger bagel bait balcony bamboo banana banjo barrel basil basket bazaar
        beam beard beaver beef before behave bench beneath bicycle bike birch biscuit black blade blend blink
        bloom blossom blouse blow bone bonfire bounce brain brass brave brief bring bronze brook bubble bucket
        buffalo bugler build bulb bundle burrow busy butter cabbage cabin cable cactus cage camera camp canal
        candle canoe captain caramel cargo carry carve castle catch cedar celery cement ceramic chain chapel
        charm chase cheap check chief child chime choir chunk cinema circle citizen city civil claim clap
        clarity class clean clever cliff clinic cloak cloth coach coast cobra cocoa color column comet comic
        common compass concert copper copy coral cotton cougar count cousin cover coyote cradle craft crane
        cream credit cricket crimson crisp cross crowd crust crystal culture curb curtain custom cycle daily
        dancer dapple dark date dawn decade deep defend degree deliver delta demand denim dense dentist depart
        deposit depth design desk detail dialog dinner direct dish distant ditch divide dock doctor dogwood
        dollar dolphin donkey door dove dozen dragon drama dress drift drill drink drop eager eagle early
        earnest earth easel echo eclipse editor effort either elastic elbow elect elegant eleven embark emerald
        emotion empty enamel energy engine enjoy enough enter equal escape essay estate evening every evident
        exact example exit expert explore extra eyebrow fabric factory falcon fall famous fancy father feast
        federal fern fiber fiction fiddle field figure final finch finger finish firefly first fisher five flame
        flannel flash flavor fleet flicker flint flock floor florist flute foam food forget fork formal forum
        fossil fragile free fresh front frozen fruit furnace future gadget galaxy gallop garden garlic garment
        gavel gazebo general geology giant gift giraffe glacier glad glimmer globe glory glue goat gondola goose
        gossip grammar grand grape gravy green grocery group grow guard guess guide guitar gulf gumdrop habit
        half hallway hamster hand happy harbor harp harvest hawk hazel healthy heart heather hedge helmet help
        herald heron hexagon hidden history hold holiday hollow home honest horizon host hotel house human
        humming humor hundred hybrid iceberg idea igloo iguana image improve include index input insect instant
        invent iris iron island isotope item ivory jackal jaguar jasmine jazz jelly jersey jewel jigsaw jingle
        jockey journal jubilee judge juggle juice jumbo junior justice kayak kennel kiosk kitchen kiwi knee
        knife knit knock koala label lace ladder ladybug lagoon lamb lantern laptop large laser laugh laundry
        lava learn lecture left legend leisure lemon lemur lens leopard level liberty library light lilac lily
        limit linen list lizard lobby lobster local locket logic lord lotion lucky lunar lunch luxury machine
        magic magnet major make mammal mango maple marble march market mass master math meadow measure melody
        member mention mercury merge merit merry message meter method midday milk million mineral minnow miracle
        mission mitten mixture modern money monsoon month movie muffin mule museum music name napkin nation
        nature navy near nectar needle nephew neptune nerve nest network neutral never nickel niece nimble noble
        noise noon north notice novel number nurse nutmeg nylon oasis oatmeal obey object oblong observe ocean
        octopus offer office often olive olympic omega onion only onward open opera opinion orange orbit orchid
        order organ orient ostrich otter outdoor outline outpost oval oxygen oyster paddle pagoda paint palm
        pancake panda panel panic paper parsley party patient patrol payment peach pebble pecan pelican pencil
        penguin perfect permit person phone photo pianist picnic picture pigeon pilgrim pilot pink pioneer pixel
        pizza planet plaster plaza pledge plumber poetry polar polka pollen popcorn poppy portal potato powder
        prairie prefer premium present pretzel primary prism private prize problem produce program promise proof
        protect proud public pudding pulley pulse pumpkin pupil puppet purple puzzle quality quarter queen quest
        quick quiet quill quote raccoon racket radar radish railway rainbow raisin ramble ranch random rapid
        rare rattle raven razor ready rebel rebuild recall recipe record reduce reflect refuse region rejoice
        relax remain remote renew repair reply rescue respect result return reveal review rhythm rice ridge
        ripple ritual river robin robot rodeo romance room rooster rope rotate rotor round royal rubber ruin
        runner safe sailor salad salmon sandal satin saturn sauna savanna scale scamper scarf scatter scenic
        school science scout scratch screw script seal season second secret sector senior sequel seven shadow
        shaft shake shallow sheep shelf shine shirt shiver shock shoe shovel shrimp shuttle sierra signal silent
        silver simple sincere siren sister sixteen skate sketch skipper skyline slender slice slope small smart
        smoke smooth snack snail sneaker snorkel snow soccer society song south space spaniel spark speak
        special speed spell sphere spider spinach splash spoken sponge spoon sport spray sprint spruce squeak
        stable stadium staff stage stamp stand statue steam step still stitch stomach store street strike
        student sturdy subject submit suburb subway succeed sudden suffix sugar suggest summer sunrise super
        surface survey swim symptom syrup tablet tackle talent target taste tavern taxi teacher teapot teaser
        technic temple tender tennis term terrace thank theater theme thermal thirty thorn thrive throw ticket
        tidal tiger timber tinker tiny tissue title today toddler toffee token tomato topic torch tornado total
        tourist trade traffic transit trapeze travel trend tribute triumph trolley trophy trouble trumpet tuba
        tugboat tulip tumble tunnel turkey turnip turtle twelve twenty typical ukulele uncle under uniform
        unlock update upgrade uphill upper upright urban useful usual vacuum valid valve vanilla vapor various
        velvet venture verify verse veteran vibrant video view village violet virtue vision vital voice volcano
        vowel voyage waffle wagon walk wallet walnut walrus waltz wander warm warrior wash water wealth weave
        wedding weekend welcome wheat whisker widget width wild willow window wing wire wisdom wolf wool world
        wrestle wrist yard yellow yogurt young zebra zero zigzag zoology
        """
}
