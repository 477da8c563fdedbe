"""Words for the names of simulated parishes."""

PATRONS = (
    "św. Jana Chrzciciela",
    "św. Wojciecha",
    "św. Mikołaja",
    "św. Stanisława Kostki",
    "św. Józefa Oblubieńca",
    "św. Jadwigi Śląskiej",
    "św. Marcina",
    "św. Andrzeja Boboli",
    "św. Katarzyny",
    "św. Barbary",
    "świętych Apostołów Piotra i Pawła",
    "Wszystkich Świętych",
    "Świętego Krzyża",
    "Świętej Rodziny",
    "Trójcy Przenajświętszej",
    "Najświętszego Serca Pana Jezusa",
    "Miłosierdzia Bożego",
    "Wniebowzięcia Najświętszej Maryi Panny",
    "Narodzenia Najświętszej Maryi Panny",
    "Matki Bożej Częstochowskiej",
    "Matki Bożej Różańcowej",
    "Niepokalanego Poczęcia NMP",
)
_STEMS = (
    "Brzezi",
    "Dąbró",
    "Jawor",
    "Kali",
    "Krzyżo",
    "Lipi",
    "Łęko",
    "Mokro",
    "Ostro",
    "Rado",
    "Skalmie",
    "Święto",
    "Topol",
    "Wierzb",
    "Zale",
    "Żuko",
)
_ENDINGS = ("wo", "wice", "wka", "szyn", "rzyce", "mierz")
_FIRST = ("", "Stare ", "Nowe ", "Wielkie ", "Małe ", "Górne ", "Dolne ", "Średnie ")
#: 768 distinct names.
PLACES = tuple(first + stem + ending for first in _FIRST for ending in _ENDINGS for stem in _STEMS)
STREETS = (
    "Kościelna",
    "Szkolna",
    "Poznańska",
    "Ogrodowa",
    "Rynek",
    "Mickiewicza",
    "Jana Pawła II",
    "Kardynała Wyszyńskiego",
    "Polna",
    "3 Maja",
    "Długa",
    "Plac Kościuszki",
)
#: Dioceses with their voivodeship and the seats of their deaneries.
DIOCESES = (
    ("archidiecezja poznańska", "wielkopolskie", ("Kościan", "Szamotuły", "Śrem")),
    ("diecezja kaliska", "wielkopolskie", ("Jarocin", "Pleszew")),
    ("archidiecezja wrocławska", "dolnośląskie", ("Oława", "Trzebnica")),
    ("diecezja pelplińska", "pomorskie", ("Chojnice", "Kartuzy", "Tczew")),
    ("diecezja włocławska", "kujawsko-pomorskie", ("Koło", "Lipno")),
)
PRIESTS = (
    "ks. Jan Kowalski",
    "ks. Piotr Nowak",
    "ks. Tomasz Wiśniewski",
    "ks. Marek Wójcik",
    "ks. Andrzej Zieliński",
    "ks. Paweł Szymański",
)
VERSES = ("Mt 7, 12", "Łk 10, 21", "J 6, 9", "Ps 19, 8", "Rz 12, 7", "Iz 9, 6", "1 Kor 13, 7")
MONTHS = (
    "stycznia",
    "lutego",
    "marca",
    "kwietnia",
    "maja",
    "czerwca",
    "lipca",
    "sierpnia",
    "września",
    "października",
    "listopada",
    "grudnia",
)
SENTENCES = (
    "Kościół wzniesiono z czerwonej cegły na kamiennej podmurówce.",
    "Chór parafialny zaprasza wszystkich, którzy lubią śpiewać.",
    "Serdecznie dziękujemy za złożone ofiary i wszelką pomoc przy sprzątaniu świątyni.",
    "Ołtarz główny odnowiono dzięki hojności parafian.",
    "Ministranci spotykają się na zbiórce w salce obok plebanii.",
    "Zapraszamy na pielgrzymkę autokarową na Jasną Górę.",
    "W bocznej kaplicy znajduje się obraz z siedemnastego wieku.",
    "Organy zbudował mistrz z Leszna, a wyremontowano je po wojnie.",
    "Caritas zbiera żywność dla najuboższych rodzin naszej parafii.",
    "Prosimy o zachowanie ciszy i godny strój w świątyni.",
    "Rodziców prosimy o dopilnowanie przygotowania dzieci do sakramentów.",
    "Cmentarz otwarty jest codziennie od świtu do zmierzchu.",
)
