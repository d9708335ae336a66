"""Pairs over dictionaries: counting, grouping, merging, defaults, what counts as empty.

Each pair is `NAME_old` and `NAME_new`; the docstring of the new version is the label and the reason for it.
"""


def count_words_old(words: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


def count_words_new(words: list[str]) -> dict[str, int]:
    """Preserving: get with a default."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def invert_old(names: dict[str, int]) -> dict[int, str]:
    result = {}
    for name, number in names.items():
        result[number] = name
    return result


def invert_new(names: dict[str, int]) -> dict[int, str]:
    """Changing: of two names for one number, the first one stays."""
    result: dict[int, str] = {}
    for name, number in names.items():
        result.setdefault(number, name)
    return result


def merged_old(defaults: dict[str, int], given: dict[str, int]) -> dict[str, int]:
    result = dict(defaults)
    result.update(given)
    return result


def merged_new(defaults: dict[str, int], given: dict[str, int]) -> dict[str, int]:
    """Preserving: both are unpacked in the same order."""
    return {**defaults, **given}


def settings_old(defaults: dict[str, int], given: dict[str, int]) -> dict[str, int]:
    return {**defaults, **given}


def settings_new(defaults: dict[str, int], given: dict[str, int]) -> dict[str, int]:
    """Changing: the defaults win over what was given."""
    return {**given, **defaults}


def by_length_old(words: list[str]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for word in words:
        if len(word) not in groups:
            groups[len(word)] = []
        groups[len(word)].append(word)
    return groups


def by_length_new(words: list[str]) -> dict[int, list[str]]:
    """Preserving: setdefault does the test."""
    groups: dict[int, list[str]] = {}
    for word in words:
        groups.setdefault(len(word), []).append(word)
    return groups


def retries_old(options: dict[str, int]) -> int:
    return options.get("retries", 3)


def retries_new(options: dict[str, int]) -> int:
    """Changing: no retries at all turn into three."""
    return options.get("retries") or 3


def known_old(values: dict[str, int | None]) -> dict[str, int]:
    result = {}
    for key, value in values.items():
        if value is not None:
            result[key] = value
    return result


def known_new(values: dict[str, int | None]) -> dict[str, int]:
    """Changing: zero is dropped with what is missing."""
    return {key: value for key, value in values.items() if value}


def complete_old(values: dict[str, int | None]) -> dict[str, int]:
    result = {}
    for key in values:
        value = values[key]
        if value is None:
            continue
        result[key] = value
    return result


def complete_new(values: dict[str, int | None]) -> dict[str, int]:
    """Preserving: one comprehension."""
    return {key: value for key, value in values.items() if value is not None}


def most_frequent_old(items: list[int]) -> int:
    best, best_count = 0, 0
    for item in items:
        count = items.count(item)
        if count > best_count:
            best, best_count = item, count
    return best


def most_frequent_new(items: list[int]) -> int:
    """Changing: of equally frequent items, the last one wins."""
    best, best_count = 0, 0
    for item in items:
        count = items.count(item)
        if count >= best_count:
            best, best_count = item, count
    return best


def total_old(prices: dict[str, int], basket: list[str]) -> int:
    total = 0
    for item in basket:
        if item in prices:
            total += prices[item]
    return total


def total_new(prices: dict[str, int], basket: list[str]) -> int:
    """Preserving: what is not known costs nothing."""
    return sum(prices.get(item, 0) for item in basket)


def invoice_old(prices: dict[str, int], basket: list[str]) -> int:
    return sum(prices.get(item, 0) for item in basket)


def invoice_new(prices: dict[str, int], basket: list[str]) -> int:
    """Changing: two of the same are paid once."""
    return sum(price for item, price in prices.items() if item in basket)


def picked_old(row: dict[str, int], names: list[str]) -> dict[str, int]:
    result = {}
    for name in names:
        if name in row:
            result[name] = row[name]
    return result


def picked_new(row: dict[str, int], names: list[str]) -> dict[str, int]:
    """Preserving: one comprehension over the same names."""
    return {name: row[name] for name in names if name in row}


def restock_old(stock: dict[str, int], item: str, amount: int) -> dict[str, int]:
    result = dict(stock)
    result[item] = result.get(item, 0) + amount
    return result


def restock_new(stock: dict[str, int], item: str, amount: int) -> dict[str, int]:
    """Changing: the caller's stock is changed as well."""
    stock[item] = stock.get(item, 0) + amount
    return dict(stock)


def label_old(names: dict[int, str], number: int) -> str:
    if number in names:
        return names[number]
    return "unknown"


def label_new(names: dict[int, str], number: int) -> str:
    """Preserving: the exception in place of the test."""
    try:
        return names[number]
    except KeyError:
        return "unknown"


def price_old(prices: dict[str, int], item: str) -> int:
    return prices.get(item, 0)


def price_new(prices: dict[str, int], item: str) -> int:
    """Changing: an unknown item fails."""
    return prices[item]


def same_settings_old(first: dict[str, int], second: dict[str, int]) -> bool:
    if len(first) != len(second):
        return False
    for key in first:
        if key not in second or first[key] != second[key]:
            return False
    return True


def same_settings_new(first: dict[str, int], second: dict[str, int]) -> bool:
    """Preserving: dictionaries compare by themselves."""
    return first == second
