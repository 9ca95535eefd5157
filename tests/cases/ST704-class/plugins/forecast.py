from sovl_tools import AITool


class Forecast(AITool):
    name = "forecast"
    description = " "
    parameters_schema = {"type": "object", "required": ["city"]}

    def execute(self, city):
        return city
