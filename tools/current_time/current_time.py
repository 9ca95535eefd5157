"""Date and time in any time zone of the IANA database."""

import datetime as dt
import difflib
import zoneinfo

ACTIVATION_PHRASES = [
    "what time is it",
    "current time",
    "what day is it",
    "today's date",
    "local time in",
]

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def current_time(time_zone: str = "UTC", *, at: str | None) -> dict[str, object]:
    """Return the present moment, or the moment `at`, as it is shown in the time zone."""
    zone = _zone(time_zone)
    moment = dt.datetime.now(zone) if at is None else _moment(at, zone)
    return _described(moment.replace(microsecond=0), time_zone)


def _zone(name: str) -> dt.tzinfo:
    if name.upper() == "UTC":
        return dt.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(_unknown(name)) from None


def _unknown(name: str) -> str:
    known = sorted(zoneinfo.available_timezones())
    if not known:
        return "there's no time zone data here: install the package tzdata, or ask for 'UTC'"
    close = _similar(name, known)
    advice = f"did you mean {' or '.join(close)}?" if close else "name it like 'Europe/Berlin'"
    return f"{name!r} isn't a known time zone: {advice}"


def _similar(name: str, known: list[str]) -> list[str]:
    by_city = {zone.rpartition("/")[2].casefold(): zone for zone in known}
    by_name = {zone.casefold(): zone for zone in known} | by_city
    close = difflib.get_close_matches(name.casefold().replace(" ", "_"), by_name, n=4, cutoff=0.7)
    return list(dict.fromkeys(by_name[match] for match in close))


def _moment(text: str, zone: dt.tzinfo) -> dt.datetime:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} isn't an ISO 8601 moment like '2026-07-01T12:00:00Z'") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    try:
        return moment.astimezone(zone)
    except OverflowError:
        raise ValueError(f"{text!r} is outside the years 1 to 9999 in that time zone") from None


def _described(moment: dt.datetime, time_zone: str) -> dict[str, object]:
    clock = moment.replace(tzinfo=None).isoformat()
    return {
        "time_zone": time_zone,
        "iso": moment.isoformat(),
        "date": moment.date().isoformat(),
        "time": moment.time().isoformat(),
        "weekday": _WEEKDAYS[moment.weekday()],
        "utc_offset": moment.isoformat().removeprefix(clock),
        "abbreviation": moment.tzname(),
        "unix_seconds": int(moment.timestamp()),
    }
