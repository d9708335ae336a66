"""The items of an asynchronous generator."""


async def collected(items):
    """The items of an asynchronous generator, as many as are observed: it may have no end."""
    found = []
    async for item in items:
        found.append(item)
        if len(found) == 20:
            break
    return found
