from sovl_tools import AITool


class Forecast(AITool):
    name = "forecast"
    description = "Tell the weather of tomorrow."
