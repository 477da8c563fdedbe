"""Other texts on pages of parishes, many with numbers that look like times."""

from random import Random

from masstimes.small_web import names
from masstimes.small_web.parishes import Parish


def sentences(random: Random, number: int) -> str:
    """Return random sentences."""
    return " ".join(random.choice(names.SENTENCES) for _ in range(number))


def phone(random: Random) -> str:
    """Return a random phone number."""
    return f"tel. {random.randint(12, 95)} {random.randint(200, 899)} 16 {random.randint(10, 99)}"


def office(random: Random) -> str:
    """Return random office hours."""
    start, end = random.randint(8, 10), random.randint(16, 18)
    return random.choice(
        (
            f"<p>Kancelaria czynna we wtorki i czwartki w godz. {start}:00 - {end}:00 .</p>",
            f"<p>Biuro parafialne: środa {start}.00 - {start + 2}.00 oraz {end}.00 - "
            f"{end + 1}.30</p>",
            f"<p>Biuro parafialne jest otwarte w piątek po {end} , sprawy pilne zawsze.</p>",
        )
    )


def other_services(random: Random) -> str:
    """Return a service that is no mass, for the page of masses."""
    hour = random.randint(15, 19)
    return random.choice(
        (
            f"<p>Adoracja Najświętszego Sakramentu w czwartki {hour}:00 - {hour + 1}:00</p>",
            f"<p>Spowiedź święta w pierwszy piątek od {hour}.00 do {hour}.45 .</p>",
            f"<p>Różaniec w październiku o {hour}:30 , majowe o {hour}:15 .</p>",
            f"<p>Nieszpory niedzielne {hour}.30</p>",
            f"<p>Próba chóru w środy o godz. {hour}:15 , w salce</p>",
        )
    )


def small_print(random: Random) -> str:
    """Return a random footer."""
    verse, month = random.choice(names.VERSES), random.choice(names.MONTHS)
    return random.choice(
        (
            f"<p><i>Proście, a będzie wam dane ( {verse} )</i></p>",
            f"<p>Aktualizacja: {random.randint(6, 22)} {month} 2018</p>",
            f"<p>Kalendarz w cenie {random.randint(6, 22)} zł do nabycia w zakrystii.</p>",
            f"<p>{phone(random)}, konto 10 1020 4027 0000 1802</p>",
        )
    )


def news(random: Random, parish: Parish) -> str:
    """Return a random announcement."""
    day, month = random.randint(6, 22), random.choice(names.MONTHS)
    return (
        f"<h3>{day} {month}</h3><p>{sentences(random, 3)}</p>"
        f"<p>Spotkanie w parafii {parish.place} o {random.randint(15, 20)}:00 w salce.</p>"
    )


def history(random: Random, parish: Parish) -> str:
    """Return the history of a parish."""
    return (
        f"<h2>Historia</h2><p>{parish.name} w miejscowości {parish.place} powstała w "
        f"{random.randint(1200, 1950)} roku. {sentences(random, 8)}</p>"
    )


def contact(random: Random, parish: Parish) -> str:
    """Return the contact of a parish."""
    return (
        f"<h2>Kontakt</h2><p>{parish.name}<br>{parish.address}<br>{phone(random)}</p>"
        f"<p>Proboszcz: {random.choice(names.PRIESTS)}</p>{office(random)}"
    )


def intentions(random: Random) -> str:
    """Return a week's table of mass intentions."""
    rows = "".join(
        f"<tr><td>{day}</td><td>{random.choice((7, 18))}:00</td><td>+ Jan i Maria</td></tr>"
        for day in ("Pon", "Wt", "Śr", "Czw", "Pt")
    )
    return f"<h2>Intencje</h2><table>{rows}</table>"
