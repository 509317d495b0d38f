"""English words by what they speak of, for the concepts of `concepts`; the names are those of `concepts_zh`.

Everyday words, written down by hand, one concept after the other; a word may speak of several. Left out is what is
said of anything (love, like, want) or means something else as often (date, single, watch).
"""

from typing import Final

__all__ = ["CONCEPTS_EN"]

CONCEPTS_EN: Final = """
    spouse: spouse husband wife partner married marry marriage engaged fiance fiancee anniversary divorce
        divorced boyfriend girlfriend relationship romantic couple wedding breakup bride groom honeymoon;
    children: child kid son daughter baby toddler newborn infant teen teenager twins adopt adoption
        parenting kindergarten;
    parents: parent mother mom mum mommy father dad daddy stepmother stepfather;
    siblings: sibling brother sister twin;
    relatives: family relative relatives cousin aunt uncle nephew niece grandma grandpa grandmother
        grandfather grandparent;
    elderly: elderly aged senior retire retired retirement pension grandparent eighty seventy;
    friends: friend buddy pal mate companion roommate neighbor neighbour acquaintance bestie;
    pets: pet dog puppy cat kitten kitty hamster rabbit bunny parrot turtle tortoise goldfish retriever
        labrador poodle terrier leash vet veterinarian animal;
    animals: animal wildlife bird horse lion tiger elephant bear fish turtle snake monkey panda dinosaur
        whale dolphin zoo farm insect butterfly;
    meal: food eat meal dish breakfast lunch dinner supper snack cuisine recipe dining delicious tasty taste
        flavor appetite hungry cook restaurant diet;
    restaurant: restaurant cafe diner bistro eatery takeout takeaway delivery buffet dine menu bar pub;
    cooking: cook cooking bake baking recipe oven grill kitchen chef fry stew ingredient cake bread cookie;
    spicy: spicy chili pepper curry sichuan hotpot mild bland;
    diet: diet vegetarian vegan gluten lactose dairy intolerant intolerance allergy allergic halal kosher
        calorie keto nutrition healthy sugar salt stomach;
    drink: drink beverage coffee tea latte espresso milk juice soda cola water beer wine whiskey cocktail
        alcohol thirsty cafe caffeine;
    alcohol: alcohol beer wine whiskey whisky cocktail drunk sober bar pub liquor vodka hangover;
    sweets: dessert sweet cake chocolate candy cookie cream donut pastry pie sugar;
    fruit: fruit apple banana orange mango strawberry grape watermelon peach pineapple berry vegetable salad
        carrot tomato;
    meat: meat beef pork chicken lamb steak bacon sausage ham fish seafood shrimp prawn crab lobster salmon;
    illness: ill illness sick disease symptom diagnosis diagnosed pain ache fever flu cough cancer diabetes
        asthma migraine headache surgery health chronic blood pressure infection arthritis pneumonia;
    doctor: doctor physician nurse hospital clinic dentist dental appointment checkup therapist surgeon
        specialist emergency;
    medicine: medicine medication pill drug prescription dose vitamin supplement vaccine antibiotic insulin
        inhaler pharmacy;
    injury: injury injured hurt accident broken fracture sprain wound bruise crash knee ankle recover
        recovery;
    mind: stress stressed anxiety anxious depression depressed therapy therapist counseling mental panic
        burnout overwhelmed worry worried nervous;
    relax: relax relaxing destress unwind calm peaceful meditate meditation yoga massage spa bath soothing
        mindfulness rest chill;
    sleep: sleep asleep insomnia nap bed bedtime awake wake tired dream night pillow mattress snore;
    weight: weight slim diet pounds kilos lose overweight obese bmi;
    exercise: exercise workout gym fitness training run running jog marathon yoga pilates lift cycling cycle
        swim hike hiking muscle cardio athletic sport;
    sport: sport football soccer basketball baseball tennis badminton volleyball hockey golf ski skiing
        snowboard surf surfing swim swimming skate skating team match league champion athlete coach score race
        climbing boxing karate;
    activity: activity hobby pastime interest leisure swim swimming hike hiking camp camping paint painting
        pottery dance dancing garden gardening fish fishing run running read reading cook bake climb climbing
        bike biking surf surfing knit sew yoga museum park beach game concert picnic workshop volunteer explore;
    outdoors: outdoor outdoors nature hike hiking trail mountain camp camping forest lake river waterfall
        park picnic climb wilderness tent campfire scenery national;
    beach: beach sea ocean coast surf wave sand seaside island shore sunset swim;
    travel: travel trip vacation holiday journey visit tour tourist abroad itinerary sightseeing destination
        cruise backpack roadtrip flight hotel passport visa luggage explore country;
    flight: flight fly plane airport airline seat aisle boarding window departure luggage jet;
    hotel: hotel hostel airbnb inn motel resort accommodation lodging room booking guesthouse;
    vehicle: car vehicle drive driving truck suv van motorcycle scooter bike bicycle tesla sedan electric
        license parking garage fuel gas mechanic;
    commute: commute commuting subway metro bus train taxi uber transit ride traffic rail station bike walk;
    home: home house apartment flat condo living lives reside rent landlord lease mortgage neighborhood
        bedroom move moved address residence roommate downtown suburb;
    place: city town country state village region hometown native origin born roots abroad homeland move
        moved located;
    furniture: furniture sofa couch table chair desk lamp bed shelf wardrobe curtain rug decor decorate
        renovate renovation paint appliance fridge vacuum oven heater kettle;
    job: job work works working occupation profession career employed employer employee company office boss
        colleague coworker manager teacher engineer doctor nurse lawyer designer accountant programmer developer
        business interview promotion hire hired freelance shift industry position startup;
    money: money salary income wage pay paid expense cost price cheap expensive afford budget save saving
        savings debt loan mortgage bank tax bill invest investment stock fund finance financial dollar rent
        credit;
    budget: budget price cost spend cheap affordable expensive dollar;
    study: study school college university class course lesson student teacher professor exam test grade
        homework degree graduate major education learn learning tuition scholarship campus semester certificate
        thesis;
    language: language speak speaks fluent bilingual english chinese mandarin cantonese japanese korean
        french german spanish portuguese italian russian arabic vocabulary translate translation accent native;
    books: book novel read reading author writer library story fiction poetry poem literature bookstore
        magazine comic chapter memoir biography;
    film: movie film cinema series tv television documentary episode netflix actor actress director anime
        cartoon drama thriller horror comedy;
    music: music song sing singing singer band concert album playlist listen classical jazz rock pop rap
        melody lyric musician gig orchestra festival guitar piano violin drum;
    instrument: instrument guitar piano violin drum flute cello clarinet ukulele saxophone trumpet keyboard;
    game: game gaming gamer video console nintendo playstation xbox board chess puzzle esports tournament
        steam card;
    art: art artist paint painting draw drawing sketch sculpture pottery ceramic clay canvas gallery museum
        exhibit exhibition craft design watercolor portrait creative;
    photo: photo photograph photography camera picture shoot lens selfie album snapshot image;
    dance: dance dancing dancer ballet salsa studio choreography stage perform performance theater;
    garden: garden gardening plant flower tree grow seed lawn rose vegetable bloom pot;
    weather: weather rain snow sunny storm wind temperature cloudy winter summer spring autumn humid;
    clothes: clothes clothing dress shirt wear wearing pants jeans jacket coat sweater outfit suit skirt
        size shoe sneaker hat fashion style fabric cotton wool;
    colour: color colour red blue green yellow purple black white pink orange grey gray brown;
    device: phone smartphone iphone android samsung pixel tablet ipad laptop computer pc mac macbook screen
        battery headphone earbuds charger smartwatch device gadget keyboard monitor;
    programming: code coding program programming programmer developer software python java javascript
        typescript rust golang go backend frontend database api script function library framework debug git
        server terminal editor ide;
    app: app website online internet email account password subscription social media wifi browser
        newsletter blog podcast youtube instagram;
    contact: phone email mail contact address telephone mobile;
    shopping: shop shopping buy bought purchase store mall sale discount brand market deal;
    gift: gift souvenir birthday gave wrap;
    celebration: celebrate celebration birthday party wedding anniversary festival holiday christmas
        thanksgiving easter halloween graduation ceremony event parade;
    event: event conference parade festival concert party meeting workshop exhibit fair fundraiser gathering
        rally ceremony seminar meetup race competition tournament;
    schedule: schedule appointment meeting calendar deadline remind reminder weekday weekend monday tuesday
        wednesday thursday friday saturday sunday available busy slot routine;
    morning: morning breakfast dawn sunrise wake;
    night: night evening midnight dinner bedtime;
    happy: happy joy joyful glad excited exciting delight thrilled proud enjoy pleased grateful;
    sad: sad upset disappointed disappointment cry lonely grief hurt frustrated regret miserable setback
        tough;
    fear: fear afraid scared scary phobia terrified nervous anxious;
    dislike: dislike hate avoid annoying annoy despise noise noisy;
    award: award prize win medal trophy champion scholarship achievement competition contest certificate
        recognition praise;
    goal: goal dream hope wish ambition aim aspire become target bucket;
    help: help support volunteer volunteering charity donate donation community shelter nonprofit mentor
        mentorship advocate homeless youth fundraiser cause;
    activism: activist activism rights equality protest pride lgbt lgbtq queer transgender trans gay lesbian
        inclusive inclusion gender identity environment climate politics campaign vote election policy
        government military veteran;
    religion: religion religious faith church pray prayer god spiritual christian buddhist muslim temple
        bible spirituality;
    personality: personality character trait attitude introvert extrovert shy kind caring thoughtful brave
        patient confident creative driven;
    style: reply answer response concise brief detailed tone formal format bullet markdown explain
        explanation style write writing summary words verbose;
    size: size large big small font height tall screen medium width inches;
    vision: eye eyes eyesight vision glasses blind hearing ear myopia font;
    body: height weight age hair skin tattoo tall blood allergy;
    papers: document report spreadsheet excel presentation slides powerpoint notes file pdf;
    legal: law legal lawyer court contract visa license police insurance policy;
    repair: repair fix broken leak maintenance plumber replace upgrade install;
    collect: collect collection collector stamp coin antique vinyl mug magnet;
    tech: robot ai machine learning data cloud tech technology science research engineering physics
        chemistry math;
    allergy: allergy allergic intolerant intolerance reaction rash pollen peanut nut shellfish lactose
        gluten;
    vegetarian: vegetarian vegan meat vegetable tofu plant salad;
    refund: refund exchange reimburse money cashback;
    delivery: delivery deliver ship shipping package parcel courier mail;
    warranty: warranty guarantee repair support replacement;
    invoice: invoice receipt bill tax payment;
    death: die died death dead funeral pass grief mourn bury widow widower ashes;
    pregnancy: pregnant pregnancy birth due midwife obstetric maternity breastfeed;
    smoking: smoke smoking smoker cigarette tobacco vape quit nicotine;
    beauty: makeup cosmetics skincare skin hair haircut hairdresser shampoo lipstick perfume nail salon
        sunscreen;
    housework: clean cleaning laundry chore vacuum tidy dishes declutter wash mop;
    jewelry: jewelry necklace ring bracelet earring pendant gem;
    craft: craft handmade knit knitting sew sewing crochet embroidery woodwork pottery ceramic diy;
    nationality: nationality citizen immigrant immigrate visa chinese american british canadian german
        japanese indian korean french;
    friendship: friendship trust close bond loyal together reunion hang;
    conflict: argue argument fight quarrel conflict apologize apology forgive angry mad
"""
