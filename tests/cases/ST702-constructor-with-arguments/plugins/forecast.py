from sovl_tools import AITool


class Forecast(AITool):
    name = "forecast"
    description = "Tell the weather of tomorrow."
    parameters_schema = {"type": "object", "properties": {}}

    def __init__(self, service):
        self.service = service

    def execute(self):
        return self.service.ask()
