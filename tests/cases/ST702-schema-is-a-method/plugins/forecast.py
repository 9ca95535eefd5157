from sovl_tools import AITool


class Forecast(AITool):
    name = "forecast"
    description = "Tell the weather of tomorrow."

    def parameters_schema(self):
        return {"type": "object", "properties": {}}

    def execute(self):
        return "rain"
