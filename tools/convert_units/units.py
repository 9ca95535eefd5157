"""The units that `convert_units` knows, each as an exact fraction of its dimension's base unit."""

import difflib
import unicodedata
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: base amount = (value + offset) * factor."""

    symbol: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)

    def to_base(self, value: Fraction) -> Fraction:
        """Return a value of this unit in the base unit."""
        return (value + self.offset) * self.factor

    def from_base(self, amount: Fraction) -> Fraction:
        """Return an amount of the base unit in this unit."""
        return amount / self.factor - self.offset


# dimension -> rows of "symbol | factor [+ offset] | further names"
_TABLE = {
    "length": """
        nm | 1e-9 | nanometre nanometres nanometer nanometers
        μm | 1e-6 | um micrometre micrometres micrometer micrometers micron microns
        mm | 1e-3 | millimetre millimetres millimeter millimeters
        cm | 1e-2 | centimetre centimetres centimeter centimeters
        dm | 1e-1 | decimetre decimetres decimeter decimeters
        m | 1 | metre metres meter meters
        km | 1e3 | kilometre kilometres kilometer kilometers
        in | 0.0254 | inch inches "
        ft | 0.3048 | foot feet '
        yd | 0.9144 | yard yards
        mi | 1609.344 | mile miles
        nmi | 1852 | nautical_mile nautical_miles
        au | 149597870700 | astronomical_unit astronomical_units
        ly | 9460730472580800 | light_year light_years""",
    "area": """
        mm2 | 1e-6 | square_millimetre square_millimetres square_millimeter square_millimeters
        cm2 | 1e-4 | square_centimetre square_centimetres square_centimeter square_centimeters
        m2 | 1 | sq_m sqm square_metre square_metres square_meter square_meters
        ha | 1e4 | hectare hectares
        km2 | 1e6 | square_kilometre square_kilometres square_kilometer square_kilometers
        in2 | 0.00064516 | sq_in square_inch square_inches
        ft2 | 0.09290304 | sq_ft sqft square_foot square_feet
        yd2 | 0.83612736 | sq_yd square_yard square_yards
        acre | 4046.8564224 | ac acres
        mi2 | 2589988.110336 | sq_mi square_mile square_miles""",
    "volume": """
        ml | 1e-6 | mL millilitre millilitres milliliter milliliters cm3 cubic_centimetres
        cl | 1e-5 | cL centilitre centilitres centiliter centiliters
        dl | 1e-4 | dL decilitre decilitres deciliter deciliters
        l | 1e-3 | L litre litres liter liters dm3
        m3 | 1 | cubic_metre cubic_metres cubic_meter cubic_meters
        in3 | 0.000016387064 | cubic_inch cubic_inches
        ft3 | 0.028316846592 | cubic_foot cubic_feet
        tsp | 0.00000492892159375 | teaspoon teaspoons
        tbsp | 0.00001478676478125 | tablespoon tablespoons
        fl_oz | 0.0000295735295625 | fluid_ounce fluid_ounces
        cup | 0.0002365882365 | cups
        pt | 0.000473176473 | pint pints
        qt | 0.000946352946 | quart quarts
        gal | 0.003785411784 | gallon gallons
        imperial_fl_oz | 0.0000284130625 | imperial_fluid_ounce imperial_fluid_ounces
        imperial_pt | 0.00056826125 | imperial_pint imperial_pints
        imperial_gal | 0.00454609 | imperial_gallon imperial_gallons""",
    "mass": """
        μg | 1e-9 | ug mcg microgram micrograms
        mg | 1e-6 | milligram milligrams
        g | 1e-3 | gram grams gramme grammes
        kg | 1 | kilogram kilograms kilo kilos
        t | 1e3 | tonne tonnes metric_ton metric_tons
        oz | 0.028349523125 | ounce ounces
        lb | 0.45359237 | lbs pound pounds
        st | 6.35029318 | stone stones
        short_ton | 907.18474 | short_tons
        long_ton | 1016.0469088 | long_tons""",
    "temperature": """
        K | 1 | kelvin kelvins
        °C | 1 + 273.15 | C celsius degree_celsius degrees_celsius
        °F | 5/9 + 459.67 | F fahrenheit degree_fahrenheit degrees_fahrenheit
        °R | 5/9 | rankine""",
    "speed": """
        m/s | 1 | mps metres_per_second meters_per_second
        km/h | 5/18 | kph kmh kilometres_per_hour kilometers_per_hour
        mph | 0.44704 | mi/h miles_per_hour
        ft/s | 0.3048 | fps feet_per_second
        kn | 463/900 | kt knot knots""",
    "time": """
        ns | 1e-9 | nanosecond nanoseconds
        μs | 1e-6 | us microsecond microseconds
        ms | 1e-3 | millisecond milliseconds
        s | 1 | sec secs second seconds
        min | 60 | mins minute minutes
        h | 3600 | hr hrs hour hours
        d | 86400 | day days
        wk | 604800 | week weeks
        month | 2629800 | months
        yr | 31557600 | year years""",
    "data": """
        bit | 1/8 | b bits
        kbit | 125 | kb kilobit kilobits
        Mbit | 125e3 | Mb megabit megabits
        Gbit | 125e6 | Gb gigabit gigabits
        B | 1 | byte bytes
        kB | 1e3 | KB kilobyte kilobytes
        MB | 1e6 | megabyte megabytes
        GB | 1e9 | gigabyte gigabytes
        TB | 1e12 | terabyte terabytes
        PB | 1e15 | petabyte petabytes
        KiB | 1024 | kibibyte kibibytes
        MiB | 1048576 | mebibyte mebibytes
        GiB | 1073741824 | gibibyte gibibytes
        TiB | 1099511627776 | tebibyte tebibytes""",
    "data rate": """
        bit/s | 1/8 | bps bits_per_second
        kbit/s | 125 | kbps kb/s kilobits_per_second
        Mbit/s | 125e3 | Mbps Mb/s megabits_per_second
        Gbit/s | 125e6 | Gbps Gb/s gigabits_per_second
        B/s | 1 | bytes_per_second
        kB/s | 1e3 | KB/s kilobytes_per_second
        MB/s | 1e6 | megabytes_per_second
        GB/s | 1e9 | gigabytes_per_second
        MiB/s | 1048576 | mebibytes_per_second""",
    "energy": """
        J | 1 | joule joules
        kJ | 1e3 | kilojoule kilojoules
        MJ | 1e6 | megajoule megajoules
        cal | 4.184 | calorie calories
        kcal | 4184 | kilocalorie kilocalories
        Wh | 3600 | watt_hour watt_hours
        kWh | 36e5 | kilowatt_hour kilowatt_hours
        MWh | 36e8 | megawatt_hour megawatt_hours
        BTU | 1055.05585262 | btus
        eV | 1.602176634e-19 | electronvolt electronvolts""",
    "power": """
        mW | 1e-3 | milliwatt milliwatts
        W | 1 | watt watts
        kW | 1e3 | kilowatt kilowatts
        MW | 1e6 | megawatt megawatts
        GW | 1e9 | gigawatt gigawatts
        hp | 745.69987158227022 | horsepower
        PS | 735.49875 | metric_horsepower""",
    "pressure": """
        Pa | 1 | pascal pascals
        hPa | 100 | hectopascal hectopascals mbar millibar millibars
        kPa | 1e3 | kilopascal kilopascals
        MPa | 1e6 | megapascal megapascals
        bar | 1e5 | bars
        atm | 101325 | atmosphere atmospheres
        psi | 4.4482216152605/0.00064516 | pounds_per_square_inch
        mmHg | 133.322387415 | millimetres_of_mercury millimeters_of_mercury
        Torr | 20265/152 | torrs""",
    "force": """
        N | 1 | newton newtons
        kN | 1e3 | kilonewton kilonewtons
        kgf | 9.80665 | kilogram_force
        lbf | 4.4482216152605 | pound_force""",
    "frequency": """
        Hz | 1 | hertz
        kHz | 1e3 | kilohertz
        MHz | 1e6 | megahertz
        GHz | 1e9 | gigahertz
        rpm | 1/60 | revolutions_per_minute""",
    "angle": """
        arcsec | 1/3600 | arcsecond arcseconds
        arcmin | 1/60 | arcminute arcminutes
        ° | 1 | deg degree degrees
        gon | 0.9 | grad gradian gradians
        rad | 57.29577951308232087679815481410517 | radian radians
        turn | 360 | turns revolution revolutions""",
}


def find(name: str) -> Unit:
    """Return the unit of that symbol or name; raise ValueError, with advice, if there isn't one."""
    wanted = _normalized(name)
    exact = _BY_NAME.get(wanted)
    if exact is not None:
        return exact
    candidates = _BY_FOLDED_NAME.get(wanted.casefold(), [])
    if len(candidates) == 1:
        return candidates[0]
    raise ValueError(_not_found(name, candidates))


def symbols(dimension: str) -> list[str]:
    """Return the symbols of all units of the dimension."""
    return [unit.symbol for unit, _ in _UNITS if unit.dimension == dimension]


def _not_found(name: str, candidates: list[Unit]) -> str:
    if candidates:
        meant = " or ".join(f"{unit.symbol} ({unit.dimension})" for unit in candidates)
        return f"{name!r} may mean {meant}: write it in that case"
    close = difflib.get_close_matches(_normalized(name), _BY_NAME, n=3)
    if close:
        return f"{name!r} isn't a known unit: did you mean {' or '.join(close)}?"
    return (
        f"{name!r} isn't a known unit: write a symbol or an English name, like 'km' or 'kilometres'"
    )


def _normalized(name: str) -> str:
    """Fold what typography adds: m² and m^2 are m2, the micro sign is the Greek letter."""
    return " ".join(unicodedata.normalize("NFKC", name).replace("^", "").replace("_", " ").split())


def _fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)


def _row(line: str, dimension: str) -> tuple[Unit, list[str]]:
    symbol, scale, further = line.split(" | ")
    factor, _, offset = scale.partition(" + ")
    names = [_normalized(name) for name in (symbol, *further.split())]
    return Unit(names[0], dimension, _fraction(factor), _fraction(offset or "0")), names


def _by_folded_name() -> dict[str, list[Unit]]:
    folded: dict[str, list[Unit]] = {}
    for name, unit in _BY_NAME.items():
        units = folded.setdefault(name.casefold(), [])
        if unit not in units:
            units.append(unit)
    return folded


_UNITS = [
    _row(line.strip(), dimension)
    for dimension, rows in _TABLE.items()
    for line in rows.strip().splitlines()
]
_BY_NAME = {name: unit for unit, names in _UNITS for name in names}
_BY_FOLDED_NAME = _by_folded_name()
