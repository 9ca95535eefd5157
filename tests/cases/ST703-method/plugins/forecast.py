from sovl_tools import tool


class Station:
    @tool
    def forecast(self, city: str) -> str:
        """Tell the weather of tomorrow."""
        return city


forecast = Station.forecast
