"""Pairs over lists: searching, sorting, slicing, what a call leaves in its argument.

Each pair is `NAME_old` and `NAME_new`; the docstring of the new version is the label and the reason for it.
"""


def second_largest_old(numbers: list[int]) -> int:
    distinct = sorted(set(numbers))
    if len(distinct) < 2:
        return 0
    return distinct[-2]


def second_largest_new(numbers: list[int]) -> int:
    """Changing: the largest number counts twice when it occurs twice."""
    ordered = sorted(numbers)
    if len(ordered) < 2:
        return 0
    return ordered[-2]


def without_repeats_old(items: list[int]) -> list[int]:
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def without_repeats_new(items: list[int]) -> list[int]:
    """Preserving: the keys of a dictionary keep their order."""
    return list(dict.fromkeys(items))


def distinct_old(items: list[int]) -> list[int]:
    seen = []
    for item in items:
        if item not in seen:
            seen.append(item)
    return seen


def distinct_new(items: list[int]) -> list[int]:
    """Changing: the order of first use is lost."""
    return sorted(set(items))


def largest_old(numbers: list[int]) -> int:
    best = None
    for number in numbers:
        if best is None or number > best:
            best = number
    return best if best is not None else 0


def largest_new(numbers: list[int]) -> int:
    """Changing: negative numbers never win."""
    best = 0
    for number in numbers:
        if number > best:
            best = number
    return best


def running_totals_old(numbers: list[int]) -> list[int]:
    totals = []
    total = 0
    for number in numbers:
        total += number
        totals.append(total)
    return totals


def running_totals_new(numbers: list[int]) -> list[int]:
    """Preserving: each total from the one before."""
    totals: list[int] = []
    for number in numbers:
        totals.append(totals[-1] + number if totals else number)
    return totals


def chunks_old(items: list[int], size: int) -> list[list[int]]:
    if size < 1:
        raise ValueError("size must be positive")
    return [items[start : start + size] for start in range(0, len(items), size)]


def chunks_new(items: list[int], size: int) -> list[list[int]]:
    """Preserving: the rest gets shorter until it is empty."""
    if size < 1:
        raise ValueError("size must be positive")
    result = []
    rest = items
    while rest:
        result.append(rest[:size])
        rest = rest[size:]
    return result


def full_chunks_old(items: list[int], size: int) -> list[list[int]]:
    if size < 1:
        raise ValueError("size must be positive")
    return [items[start : start + size] for start in range(0, len(items), size)]


def full_chunks_new(items: list[int], size: int) -> list[list[int]]:
    """Changing: an incomplete chunk at the end is left out."""
    if size < 1:
        raise ValueError("size must be positive")
    return [items[start : start + size] for start in range(0, len(items) - size + 1, size)]


def rotate_old(items: list[int], by: int) -> list[int]:
    if not items:
        return []
    by %= len(items)
    return items[by:] + items[:by]


def rotate_new(items: list[int], by: int) -> list[int]:
    """Preserving: every place is computed."""
    length = len(items)
    return [items[(place + by) % length] for place in range(length)]


def insertion_sort_old(numbers: list[int]) -> list[int]:
    result = list(numbers)
    for position in range(1, len(result)):
        current = result[position]
        place = position - 1
        while place >= 0 and result[place] > current:
            result[place + 1] = result[place]
            place -= 1
        result[place + 1] = current
    return result


def insertion_sort_new(numbers: list[int]) -> list[int]:
    """Preserving: the language sorts."""
    return sorted(numbers)


def position_old(ordered: list[int], wanted: int) -> int:
    ordered = sorted(set(ordered))
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ordered) and ordered[low] == wanted else -1


def position_new(ordered: list[int], wanted: int) -> int:
    """Changing: the last place is never looked at."""
    ordered = sorted(set(ordered))
    low, high = 0, len(ordered) - 1
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ordered) - 1 and ordered[low] == wanted else -1


def average_old(numbers: list[int]) -> float:
    if not numbers:
        return 0.0
    return sum(numbers) / len(numbers)


def average_new(numbers: list[int]) -> float:
    """Changing: no numbers, no average: it fails."""
    return sum(numbers) / len(numbers)


def split_by_parity_old(numbers: list[int]) -> tuple[list[int], list[int]]:
    even, odd = [], []
    for number in numbers:
        if number % 2 == 0:
            even.append(number)
        else:
            odd.append(number)
    return even, odd


def split_by_parity_new(numbers: list[int]) -> tuple[list[int], list[int]]:
    """Preserving: two comprehensions."""
    return [n for n in numbers if n % 2 == 0], [n for n in numbers if n % 2]


def drop_negative_old(numbers: list[int]) -> list[int]:
    return [number for number in numbers if number >= 0]


def drop_negative_new(numbers: list[int]) -> list[int]:
    """Changing: removing while iterating skips the neighbour."""
    rest = list(numbers)
    for number in rest:
        if number < 0:
            rest.remove(number)
    return rest


def ranked_old(numbers: list[int]) -> list[int]:
    return sorted(numbers, reverse=True)


def ranked_new(numbers: list[int]) -> list[int]:
    """Changing: the caller's list is sorted too."""
    numbers.sort(reverse=True)
    return list(numbers)


def by_score_old(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return sorted(rows, key=lambda row: row[1], reverse=True)


def by_score_new(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Changing: rows of equal score come out in the other order."""
    return sorted(rows, key=lambda row: row[1])[::-1]


def merge_old(left: list[int], right: list[int]) -> list[int]:
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def merge_new(left: list[int], right: list[int]) -> list[int]:
    """Preserving: copies that are used up, last item first."""
    first, second = left[::-1], right[::-1]
    merged = []
    while first and second:
        source = first if first[-1] <= second[-1] else second
        merged.append(source.pop())
    return merged + first[::-1] + second[::-1]
