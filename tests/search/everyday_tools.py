"""Some forty tools as many authors write them: with phrases and tags, or with next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sovl_tools import ToolDefinition


def made(
    name: str,
    description: str = "",
    parameters: Mapping[str, str | dict[str, Any]] | None = None,
    **fields: Any,
) -> ToolDefinition:
    """Return a tool whose parameters are descriptions or schemas by name."""
    properties = {
        key: {"type": "string", "description": each} if isinstance(each, str) else each
        for key, each in (parameters or {}).items()
    }
    schema = {"type": "object", "properties": properties}
    function: Callable[..., Any] = print
    return ToolDefinition(name, description, schema, function, **fields)


def one_of(description: str, *choices: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "enum": [*choices]}


TOOLS = [
    made(
        "get_weather_forecast",
        "Get the weather forecast for a place for the next days.",
        {"city": "Name of the city, such as Oslo.", "days": "How many days ahead, up to 10."},
        tags=("weather",),
        activation_phrases=("what is the weather", "will it rain"),
    ),
    made(
        "get_current_weather",
        "Return current conditions (temperature, wind, humidity) at a location.",
        {"location": "City and country.", "unit": one_of("Unit.", "celsius", "fahrenheit")},
    ),
    made(
        "send_email",
        "Send an email message to one or more recipients.",
        {"to": "Addresses of the recipients.", "subject": "Subject line.", "body": "The text."},
        tags=("mail", "communication"),
        activation_phrases=("send a mail", "write an email to"),
    ),
    made(
        "create_calendar_event",
        "Create an event in the user's calendar.",
        {"title": "Title of the event.", "start": "ISO 8601.", "attendees": "Who is invited."},
        tags=("calendar",),
        activation_phrases=("schedule a meeting", "book an appointment"),
    ),
    made("delete_file", "Delete a file permanently.", {"path": "Path of the file."}),
    made("readFile", "Read the complete contents of a file.", {"path": "Path of the file."}),
    made("write_file", "Create or overwrite a file.", {"path": "Path.", "content": "The text."}),
    made("move_file", "Move or rename files and directories.", {"source": "", "destination": ""}),
    made(
        "translate_text",
        "Translate text from one language into another.",
        {"text": "Text to translate.", "target_language": "ISO 639 code of the target language."},
        activation_phrases=("translate this", "how do you say"),
    ),
    made(
        "convert_currency",
        "Convert an amount of money between currencies at today's exchange rate.",
        {"amount": "How much.", "source": "Such as USD.", "target": "Such as EUR."},
        activation_phrases=("how many euros",),
    ),
    made("calculate", "Work out an arithmetic expression.", {"expression": "3 * (4 + 5)."}),
    made(
        "github_create_issue",
        "Create a new issue in a GitHub repository.",
        {"owner": "Owner.", "repo": "Repository.", "title": "Issue title.", "labels": "Labels."},
    ),
    made(
        "github_merge_pull_request",
        "Merge a pull request.",
        {"repo": "Repository.", "method": one_of("How to merge.", "merge", "squash", "rebase")},
    ),
    made(
        "slack_post_message", "Post a new message to a Slack channel.", {"channel": "", "text": ""}
    ),
    made("web_search", "Search the web and return links.", activation_phrases=("google it",)),
    made("fetch_url", "Fetch a web page as Markdown.", {"url": "Address of the page."}),
    made("list_tables", "List the tables of the database with their columns."),
    made(
        "create_chart",
        "Draw a chart of numbers and return it as an image.",
        {"kind": one_of("Kind of chart.", "line", "bar", "pie"), "values": "Numbers."},
        activation_phrases=("plot this",),
    ),
    made("generate_image", "Generate a picture from a description.", {"prompt": "What to paint."}),
    made("play_music", "Play a song, album or artist.", tags=("music",)),
    made(
        "add_reminder",
        "Remind the user of something at a given time.",
        activation_phrases=("remind me to", "don't let me forget"),
    ),
    made("current_time", "Tell the date and time in a time zone.", {"zone": "IANA time zone."}),
    made("search_flights", "Search for flights between airports.", {"date": "Day of departure."}),
    made("get_stock_price", "Get the price of a share.", {"symbol": "Ticker, such as AAPL."}),
    made("csvStatistics", "Compute mean, median and deviation of the columns of a CSV file."),
    made("hash_text", "Compute the SHA-256 digest of a string.", {"text": "Text."}),
    made("track_package", "Tell where a parcel is.", {"tracking_number": "Of the parcel."}),
    made("turn_on_light", "Switch a lamp on or off or dim it.", {"room": "Room."}),
    made(
        "tell_joke",
        "Tell a joke.",
        activation_phrases=("tell me a joke", "could you please tell me something funny"),
    ),
    made("tianqi", "查询城市的天气预报。", {"city": "城市名称"}, tags=("天气",)),
    made("fanyi", "把文本翻译成另一种语言。", {"text": "要翻译的文本"}),
    made("nalssi", "도시의 날씨를 알려 줍니다."),
    made("rechnung", "Erstellt eine Rechnung für einen Käufer.", {"betrag": "In Euro."}),
]

QUERIES = {
    "weather forecast": "get_weather_forecast",
    "Is it going to rain this weekend?": "get_weather_forecast",
    "current temperature and wind": "get_current_weather",
    "schedule meeting": "create_calendar_event",
    "read_file": "readFile",
    "translation": "translate_text",
    "exchange rates": "convert_currency",
    "please open a new issue on git hub": "github_create_issue",
    "could you google who won the match yesterday?": "web_search",
    "Can you make a pie chart of our sales by region?": "create_chart",
    "I must not forget to call mum, remind me tonight": "add_reminder",
    "csv_statistics": "csvStatistics",
    "sha256": "hash_text",
    "turning off the lights": "turn_on_light",
    "北京明天的天气怎么样": "tianqi",
    "오늘 날씨": "nalssi",
    "Wer schreibt dem Kaufer RECHNUNGEN?": "rechnung",
}
"""What people and models ask for, and the tool that must come first."""
