from sovl_tools import AITool


class Forecast(AITool):
    name = "forecast"
    description = "Tell the weather of tomorrow."

    @property
    def parameters_schema(self):
        return {"type": "object", "properties": {"city": self.cities}}

    def execute(self, city):
        return city
