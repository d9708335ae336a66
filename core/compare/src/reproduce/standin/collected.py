"""The items of an asynchronous generator."""


async def collected(items):
    """The items of an asynchronous generator."""
    return [item async for item in items]
