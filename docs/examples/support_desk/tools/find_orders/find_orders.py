from typing import Literal, TypedDict

from .._shared.shop import connect


class Totals(TypedDict, total=False):
    """Limits of an order's total.

    Attributes:
        minimum: In euros.
        maximum: In euros.
    """

    minimum: float
    maximum: float


class Filters(TypedDict, total=False):
    """What the orders have in common.

    Attributes:
        customer: The customer's first name.
        status: How far the order is.
        total: Limits of the order's total.
    """

    customer: str
    status: Literal["open", "shipped", "refunded"]
    total: Totals


def find_orders(filters: Filters | None = None, limit: int = 10) -> list[dict]:
    """Find orders, the latest first.

    Args:
        filters: All orders without it.
        limit: How many at most.
    """
    filters = filters or {}
    total = filters.get("total", {})
    wanted = {
        "customer = ?": filters.get("customer"),
        "status = ?": filters.get("status"),
        "total >= ?": total.get("minimum"),
        "total <= ?": total.get("maximum"),
    }
    wanted = {condition: value for condition, value in wanted.items() if value is not None}
    query = f"SELECT * FROM orders WHERE {' AND '.join(wanted) or '1'} ORDER BY day DESC LIMIT ?"
    with connect() as database:
        return [dict(row) for row in database.execute(query, [*wanted.values(), limit])]
