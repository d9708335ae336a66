"""Pairs over text: cleaning, counting, parsing, letters beyond ASCII.

Each pair is `NAME_old` and `NAME_new`; the docstring of the new version is the label and the reason for it.
"""


def is_palindrome_old(text: str) -> bool:
    left, right = 0, len(text) - 1
    while left < right:
        if text[left] != text[right]:
            return False
        left += 1
        right -= 1
    return True


def is_palindrome_new(text: str) -> bool:
    """Preserving: compared with its reverse."""
    return text == text[::-1]


def reads_the_same_old(text: str) -> bool:
    return text == text[::-1]


def reads_the_same_new(text: str) -> bool:
    """Changing: case no longer counts."""
    lowered = text.lower()
    return lowered == lowered[::-1]


def count_vowels_old(text: str) -> int:
    count = 0
    for letter in text:
        if letter in "aeiou":
            count += 1
    return count


def count_vowels_new(text: str) -> int:
    """Preserving: one sum in place of a counter."""
    return sum(text.count(vowel) for vowel in "aeiou")


def without_scheme_old(address: str) -> str:
    if address.startswith("http://"):
        return address[len("http://") :]
    return address


def without_scheme_new(address: str) -> str:
    """Changing: lstrip takes a set of letters, not a prefix."""
    return address.lstrip("http://")  # noqa: B005


def same_name_old(first: str, second: str) -> bool:
    return first.lower() == second.lower()


def same_name_new(first: str, second: str) -> bool:
    """Changing: casefold also joins letters such as sharp s with ss."""
    return first.casefold() == second.casefold()


def parse_count_old(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return -1


def parse_count_new(text: str) -> int:
    """Changing: isdigit lets superscripts through, which int refuses."""
    if text.isdigit():
        return int(text)
    return -1


def encode_runs_old(text: str) -> str:
    result = ""
    index = 0
    while index < len(text):
        end = index
        while end < len(text) and text[end] == text[index]:
            end += 1
        result += text[index] + str(end - index)
        index = end
    return result


def encode_runs_new(text: str) -> str:
    """Preserving: one pass that remembers the current run."""
    parts = []
    previous, count = "", 0
    for letter in text:
        if letter == previous:
            count += 1
            continue
        if previous:
            parts.append(f"{previous}{count}")
        previous, count = letter, 1
    if previous:
        parts.append(f"{previous}{count}")
    return "".join(parts)


def collapse_runs_old(text: str) -> str:
    parts = []
    previous = ""
    for letter in text:
        if letter != previous:
            parts.append(letter)
        previous = letter
    return "".join(parts)


def collapse_runs_new(text: str) -> str:
    """Changing: a letter that occurred anywhere before is dropped."""
    parts = []
    for letter in text:
        if letter not in parts:
            parts.append(letter)
    return "".join(parts)


def words_old(line: str) -> list[str]:
    return line.split()


def words_new(line: str) -> list[str]:
    """Changing: two spaces make an empty word, and tabs are kept."""
    return line.split(" ")


def initial_old(name: str) -> str:
    if not name:
        return ""
    return name[0]


def initial_new(name: str) -> str:
    """Preserving: a slice of an empty text is empty."""
    return name[:1]


def is_comment_old(line: str) -> bool:
    return line.startswith("#")


def is_comment_new(line: str) -> bool:
    """Changing: an empty line fails."""
    return line[0] == "#"


def setting_old(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), value.strip()


def setting_new(line: str) -> tuple[str, str]:
    """Preserving: split at the first sign only, with the case of none."""
    parts = line.split("=", 1)
    if len(parts) == 1:
        return parts[0].strip(), ""
    return parts[0].strip(), parts[1].strip()


def extension_old(file: str) -> str:
    position = file.rfind(".")
    if position == -1:
        return ""
    return file[position + 1 :]


def extension_new(file: str) -> str:
    """Preserving: rpartition does the search."""
    head, dot, tail = file.rpartition(".")
    return tail if dot else ""


def is_anagram_old(first: str, second: str) -> bool:
    return sorted(first) == sorted(second)


def is_anagram_new(first: str, second: str) -> bool:
    """Changing: how often a letter occurs no longer counts."""
    return len(first) == len(second) and set(first) == set(second)


def is_blank_old(text: str) -> bool:
    return text.strip() == ""


def is_blank_new(text: str) -> bool:
    """Preserving: isspace with the empty text beside it."""
    return not text or text.isspace()


def shorten_old(text: str, limit: int) -> str:
    if limit < 3:
        raise ValueError("limit is too small")
    if len(text) <= limit:
        return text
    return text[: limit - 3] + "..."


def shorten_new(text: str, limit: int) -> str:
    """Changing: a text of exactly the limit is cut."""
    if limit < 3:
        raise ValueError("limit is too small")
    if len(text) < limit:
        return text
    return text[: limit - 3] + "..."


def common_prefix_old(first: str, second: str) -> str:
    length = 0
    while length < len(first) and length < len(second) and first[length] == second[length]:
        length += 1
    return first[:length]


def common_prefix_new(first: str, second: str) -> str:
    """Preserving: zip ends with the shorter one."""
    prefix = ""
    for left, right in zip(first, second):  # noqa: B905
        if left != right:
            break
        prefix += left
    return prefix
