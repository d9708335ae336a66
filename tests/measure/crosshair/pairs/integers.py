"""Pairs over whole numbers: arithmetic, bounds, divisors, calendars.

Each pair is `NAME_old` and `NAME_new`; the docstring of the new version is the label and the reason for it.
"""


def clamp_old(value: int, low: int, high: int) -> int:
    if value < low:
        return low
    if value > high:
        return high
    return value


def clamp_new(value: int, low: int, high: int) -> int:
    """Preserving: the second test is a call of min."""
    return low if value < low else min(value, high)


def clamp_by_builtins_old(value: int, low: int, high: int) -> int:
    if value < low:
        return low
    if value > high:
        return high
    return value


def clamp_by_builtins_new(value: int, low: int, high: int) -> int:
    """Changing: with crossed bounds, the lower one wins now."""
    return max(low, min(value, high))


def greatest_divisor_old(a: int, b: int) -> int:
    if b == 0:
        return a
    return greatest_divisor_old(b, a % b)


def greatest_divisor_new(a: int, b: int) -> int:
    """Preserving: a loop in place of recursion."""
    while b != 0:
        a, b = b, a % b
    return a


def common_divisor_old(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def common_divisor_new(a: int, b: int) -> int:
    """Changing: negative numbers give another sign."""
    while b:
        a, b = b, a % b
    return a


def is_leap_year_old(year: int) -> bool:
    if year % 400 == 0:
        return True
    if year % 100 == 0:
        return False
    return year % 4 == 0


def is_leap_year_new(year: int) -> bool:
    """Preserving: one condition in place of three."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_february_old(year: int) -> int:
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return 28


def days_in_february_new(year: int) -> int:
    """Changing: full centuries are never leap years now."""
    if year % 4 == 0 and year % 100 != 0:
        return 29
    return 28


def digit_sum_old(number: int) -> int:
    number = abs(number)
    total = 0
    while number > 0:
        total += number % 10
        number //= 10
    return total


def digit_sum_new(number: int) -> int:
    """Preserving: through the digits as text."""
    return sum(int(digit) for digit in str(abs(number)))


def is_prime_old(number: int) -> bool:
    if number < 2 or number > 10000:
        return False
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True


def is_prime_new(number: int) -> bool:
    """Changing: squares of primes are prime now."""
    if number < 2 or number > 10000:
        return False
    divisor = 2
    while divisor * divisor < number:
        if number % divisor == 0:
            return False
        divisor += 1
    return True


def divide_old(total: int, parts: int) -> int:
    if parts == 0:
        return 0
    return total // parts


def divide_new(total: int, parts: int) -> int:
    """Changing: rounds toward zero, not down."""
    if parts == 0:
        return 0
    quotient = abs(total) // abs(parts)
    return quotient if (total < 0) == (parts < 0) else -quotient


def fibonacci_old(n: int) -> int:
    if n < 0 or n > 15:
        return -1
    if n < 2:
        return n
    return fibonacci_old(n - 1) + fibonacci_old(n - 2)


def fibonacci_new(n: int) -> int:
    """Preserving: a loop in place of recursion."""
    if n < 0 or n > 15:
        return -1
    current, following = 0, 1
    for _ in range(n):
        current, following = following, current + following
    return current


def tax_old(income: int) -> int:
    if income <= 0:
        return 0
    if income <= 1000:
        return income // 10
    return 100 + (income - 1000) // 5


def tax_new(income: int) -> int:
    """Preserving: the bands are added up."""
    lower = min(max(income, 0), 1000)
    upper = max(income - 1000, 0)
    return lower // 10 + upper // 5


def shipping_old(weight: int) -> int:
    if weight <= 0:
        raise ValueError("weight must be positive")
    if weight <= 20:
        return 5
    if weight <= 500:
        return 12
    return 30


def shipping_new(weight: int) -> int:
    """Changing: the upper end of a band belongs to the next one."""
    if weight <= 0:
        raise ValueError("weight must be positive")
    if weight <= 20:
        return 5
    if weight < 500:
        return 12
    return 30


def is_power_of_two_old(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def is_power_of_two_new(number: int) -> bool:
    """Changing: zero passes as well."""
    return number & (number - 1) == 0


def fizzbuzz_old(number: int) -> str:
    if number % 15 == 0:
        return "fizzbuzz"
    if number % 3 == 0:
        return "fizz"
    if number % 5 == 0:
        return "buzz"
    return str(number)


def fizzbuzz_new(number: int) -> str:
    """Changing: the most special test comes too late."""
    if number % 3 == 0:
        return "fizz"
    if number % 5 == 0:
        return "buzz"
    if number % 15 == 0:
        return "fizzbuzz"
    return str(number)


def overlap_old(start: int, end: int, other_start: int, other_end: int) -> bool:
    return not (end < other_start or other_end < start)


def overlap_new(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Preserving: De Morgan's law."""
    return end >= other_start and other_end >= start


def round_up_old(number: int, step: int) -> int:
    if step <= 0:
        raise ValueError("step must be positive")
    return (number + step - 1) // step * step


def round_up_new(number: int, step: int) -> int:
    """Preserving: what is missing to the next multiple is added."""
    if step <= 0:
        raise ValueError("step must be positive")
    return number + -number % step


def seconds_old(hours: int, minutes: int) -> int:
    if not 0 <= hours < 24 or not 0 <= minutes < 60:
        return -1
    return (hours * 60 + minutes) * 60


def seconds_new(hours: int, minutes: int) -> int:
    """Changing: minute 60 is let through."""
    if not 0 <= hours < 24 or not 0 <= minutes <= 60:
        return -1
    return (hours * 60 + minutes) * 60
