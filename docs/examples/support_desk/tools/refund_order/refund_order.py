from sovl_tools import ToolContext, ToolError

from .._shared.shop import connect

REASON = {
    "type": "object",
    "properties": {"reason": {"type": "string", "title": "Reason", "minLength": 3}},
    "required": ["reason"],
}


async def refund_order(number: int, context: ToolContext) -> str:
    """Refund an order. Asks the user for the reason.

    Args:
        number: The order's number.
    """
    with connect() as database:
        order = database.execute("SELECT * FROM orders WHERE id = ?", [number]).fetchone()
        if order is None:
            raise ToolError(f"there's no order {number}; find_orders lists them")
        answer = await context.elicit(f"Why is order {number} refunded?", REASON)
        if not answer.ok:
            return f"order {number} was not refunded"
        context.log("info", f"refunding {order['total']:.2f}")
        change = "UPDATE orders SET status = 'refunded', reason = ? WHERE id = ?"
        database.execute(change, [answer.content["reason"], number])
        database.commit()
    return f"order {number} is refunded: {answer.content['reason']}"
