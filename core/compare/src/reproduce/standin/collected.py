"""The items of an asynchronous generator."""


async def collected(items):
    """What an asynchronous generator gives."""
    return [item async for item in items]
