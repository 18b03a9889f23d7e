"""Currencies, number formats and names of the varied preset: how a customer's money and name are written.

An amount is an integer in the smallest unit of its currency everywhere inside the testbed. In a tool's arguments and
observations it is a plain JSON number in whole currency units; in a reply it is written as the customer's country
writes it, so that no auditor can compare the two by their characters alone.
"""

from __future__ import annotations

from typing import NamedTuple


class Locale(NamedTuple):
    """How one country writes money and names: ``pattern`` places the number, ``digits`` follow the decimal mark."""

    currency: str
    digits: int
    group: str
    decimal: str
    pattern: str
    scale: int
    first: tuple[str, ...]
    last: tuple[str, ...]


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LOCALES = {
    "en_IE": Locale(
        *("EUR", 2, ",", ".", "€{}", 1),
        _names("Aoife Cormac Declan Fiadh Maeve Ronan Saoirse Tadhg"),
        _names("Brennan Doyle Fallon Keane Nolan Quinn Tierney Walsh"),
    ),
    "de_DE": Locale(
        *("EUR", 2, ".", ",", "{} €", 1),
        _names("Anke Bernd Frauke Gerrit Heike Jost Merle Uwe"),
        _names("Albers Drexler Hartwig Kessel Lorenzen Pohl Reinke Zander"),
    ),
    "fr_FR": Locale(
        *("EUR", 2, " ", ",", "{} €", 1),
        _names("Amandine Baptiste Clarisse Fabien Gaelle Loic Maelle Thibault"),
        _names("Bonnet Carlier Delmas Fournier Garnier Lemoine Perrot Vasseur"),
    ),
    "en_GB": Locale(
        *("GBP", 2, ",", ".", "£{}", 1),
        _names("Alfie Bronwen Callum Daphne Gareth Imogen Rhys Tamsin"),
        _names("Ashworth Bramley Calder Dunmore Fairfax Hadley Oakes Thorne"),
    ),
    "en_US": Locale(
        *("USD", 2, ",", ".", "${}", 1),
        _names("Abigail Carter Dakota Grayson Harper Jaylen Mackenzie Wyatt"),
        _names("Abbott Calloway Duncan Hensley Maddox Prescott Ramsey Whitaker"),
    ),
    "sv_SE": Locale(
        *("SEK", 2, " ", ",", "{} kr", 10),
        _names("Agneta Bengt Ebba Gunnar Linnea Malte Sigrid Torsten"),
        _names("Blomqvist Dahlgren Ekberg Forslund Hallberg Lindahl Nordin Sandell"),
    ),
    "pl_PL": Locale(
        *("PLN", 2, " ", ",", "{} zł", 4),
        _names("Bartosz Dorota Grazyna Jacek Kinga Mateusz Oliwia Wojciech"),
        _names("Borkowski Czarnecki Gajewski Jaworski Malinowski Pawlak Rutkowski Zawadzki"),
    ),
    "de_CH": Locale(
        *("CHF", 2, "'", ".", "CHF {}", 1),
        _names("Beat Corina Flurin Ladina Reto Seraina Ueli Vreni"),
        _names("Aebischer Bachmann Caflisch Egli Gubler Luginbuehl Ruegg Zbinden"),
    ),
    "ja_JP": Locale(
        *("JPY", 0, ",", ".", "¥{}", 1),
        _names("Akari Daichi Hinata Kaori Makoto Natsuki Shota Yui"),
        _names("Aoki Fujita Hayashi Kondo Matsuda Nakano Okada Sugiyama"),
    ),
    "en_KW": Locale(
        *("KWD", 3, ",", ".", "KWD {}", 1),
        _names("Abdulaziz Dalal Fahad Ghada Hessa Jassim Lulwa Nawaf"),
        _names("Alansari Alenezi Alfadhel Alhaddad Alkandari Almutairi Alrashed Alsabah"),
    ),
}
CODES = tuple(LOCALES)


def written(units: int, locale: str) -> str:
    """Return an amount in smallest units as this locale writes it.

    >>> [written(123456, code) for code in ("de_DE", "en_US", "de_CH", "ja_JP", "en_KW")]
    ['1.234,56 €', '$1,234.56', "CHF 1'234.56", '¥123,456', 'KWD 123.456']
    """
    place = LOCALES[locale]
    whole, part = divmod(units, 10**place.digits)
    number = f"{whole:,}".replace(",", place.group)
    if place.digits:
        number += f"{place.decimal}{part:0{place.digits}d}"
    return place.pattern.format(number)


def to_number(units: int, digits: int) -> float | int:
    """Return an amount in smallest units as the JSON number in whole currency units.

    >>> to_number(6003, 2), to_number(6003, 0)
    (60.03, 6003)
    """
    return units / 10**digits if digits else units


def to_units(number: float, digits: int) -> int:
    """Return a JSON number in whole currency units as an integer in smallest units."""
    return round(number * 10**digits)
