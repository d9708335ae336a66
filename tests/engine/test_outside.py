"""Files, programs and servers have one state for an execution, which both versions see however they ask."""

import pytest

from .layers import over
from .snippets import CHANGING, PRESERVING, code, expect

FILES = {
    "a file is read in another way": (
        """
        def f(path: str):
            with open(path, encoding='utf-8') as file:
                text = file.read()
            return len(text.split())
        """,
        """
        def f(path: str):
            return len(Path(path).read_text(encoding='utf-8').split())
        """,
        """
        def f(path: str):
            return len(Path(path).read_text(encoding='utf-8').splitlines())
        """,
    ),
    "a file that may be missing": (
        """
        def f(root: Path):
            path = root / 'VERSION'
            if not path.is_file():
                return '0'
            return path.read_text().strip()
        """,
        """
        def f(root: Path):
            try:
                with open(os.path.join(root, 'VERSION')) as file:
                    return file.read().strip()
            except (FileNotFoundError, IsADirectoryError):
                return '0'
        """,
        """
        def f(root: Path):
            try:
                return (root / 'VERSION').read_text().strip()
            except FileNotFoundError:
                return '1'
        """,
    ),
    "a file is written in another way": (
        """
        def f(lines: list[str], name: str):
            file = open('out-' + name, 'w')
            try:
                for line in lines:
                    file.write(line + '\\n')
            finally:
                file.close()
        """,
        """
        def f(lines: list[str], name: str):
            Path('out-' + name).write_text(''.join(line + '\\n' for line in lines))
        """,
        """
        def f(lines: list[str], name: str):
            with open('out-' + name, 'a') as file:
                file.writelines(line + '\\n' for line in lines)
        """,
    ),
    "JSON": (
        """
        def f(path: str):
            with open(path) as file:
                return json.load(file)['total']
        """,
        """
        def f(path: str):
            return json.loads(Path(path).read_text())['total']
        """,
        """
        def f(path: str):
            return json.loads(Path(path).read_text()).get('total')
        """,
    ),
    "a folder is listed": (
        """
        def f(): return os.path.exists('data/a.txt')
        """,
        """
        def f(): return os.path.isdir('data') and 'a.txt' in os.listdir('data')
        """,
        """
        def f(): return os.path.isdir('data') and 'a.txt' in os.listdir('data') and len(os.listdir('data')) > 1
        """,
    ),
    "files are read by threads": (
        """
        def f(): return [Path(name).read_text() for name in ('a.txt', 'b.txt')]
        """,
        """
        def f():
            with ThreadPoolExecutor(2) as pool:
                return list(pool.map(Path.read_text, [Path('a.txt'), Path('b.txt')]))
        """,
        """
        def f(): return [Path(name).read_text() for name in ('a.txt', 'a.txt')]
        """,
    ),
    "a file that is there already": (
        """
        def f(name: str):
            with open('out-' + name, 'x') as file:
                file.write(name)
        """,
        """
        def f(name: str):
            path = Path('out-' + name)
            with path.open(mode='x') as file:
                print(name, file=file, end='')
        """,
        """
        def f(name: str):
            with open('out-' + name, 'w') as file:
                file.write(name)
        """,
    ),
}

PROGRAMS = {
    "the output of a program": (
        """
        def f(folder: str):
            output = subprocess.check_output(['git', 'rev-parse', 'HEAD'], cwd=folder)
            return output.decode().strip()
        """,
        """
        def f(folder: str):
            done = subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=folder, check=True, stdout=-1, text=True)
            return done.stdout.strip()
        """,
        """
        def f(folder: str):
            done = subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=folder, stdout=subprocess.PIPE, text=True)
            return done.stdout.strip()
        """,
    ),
    "a long input": (
        """
        def f(): return subprocess.run(['sort'], input=b'b' * 100_000, stdout=subprocess.PIPE).stdout
        """,
        """
        def f():
            process = subprocess.Popen(['sort'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            return process.communicate(b'b' * 100_000)[0]
        """,
        """
        def f(): return subprocess.run(['sort'], input=b'c' * 100_000, stdout=subprocess.PIPE).stdout
        """,
    ),
    "two shells": (
        """
        def f(): return subprocess.call('make  clean', shell=True) == 0
        """,
        """
        def f(): return os.system('make clean') == 0
        """,
        """
        def f(): return os.system('make clean') < 2 << 8
        """,
    ),
    "whether there is a program": (
        """
        def f():
            try:
                subprocess.check_call(['tidy', '-v'])
            except FileNotFoundError:
                return False
            return True
        """,
        """
        def f():
            if shutil.which('tidy') is None:
                return False
            subprocess.run(['tidy', '-v'], check=True)
            return True
        """,
        """
        def f():
            return subprocess.run(['tidy', '-v']) is not None
        """,
    ),
}

SERVERS = {
    "a session": (
        """
        def f(name: str):
            answer = requests.get('https://example.com/' + name, timeout=5)
            answer.raise_for_status()
            return answer.text
        """,
        """
        def f(name: str):
            with session.get('https://example.com/' + name, timeout=5) as answer:
                answer.raise_for_status()
                return answer.text
        """,
        """
        def f(name: str):
            with session.get('https://example.com/' + name, timeout=5) as answer:
                return answer.text
        """,
    ),
    "the body of a request": (
        """
        def f(name: str):
            answer = requests.post('https://example.com/', data=json.dumps({'name': name}), headers=HEADERS)
            return answer.status_code == 201
        """,
        """
        def f(name: str):
            return requests.post('https://example.com/', json={'name': name}).status_code == 201
        """,
        """
        def f(name: str):
            return requests.post('https://example.com/', json={'nick': name}).status_code == 201
        """,
    ),
}

IMPORTS = """import json, os, shutil, subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

"""
OF_SERVERS = "import json, requests\n\nHEADERS = {'Content-Type': 'application/json'}\nsession = requests.Session()\n\n"


def judge(imports, versions, runs):
    old, same, other = (imports + code(text) for text in versions)
    for run in runs:
        options = {"context": "module"} | run
        expect(PRESERVING, old, same, **options)
        changed = expect(CHANGING, old, other, **options)
        assert changed.evidence
    return changed


@over(FILES, seed=range(3))
def test_a_file_has_one_content(name, runs):
    changed = judge(IMPORTS, FILES[name], runs)
    assert changed.pairs[0]["reproducer"]["holds"]


@over(PROGRAMS, seed=range(3))
def test_a_program_answers_the_same_however_it_is_started(name, runs):
    judge(IMPORTS, PROGRAMS[name], runs)


@over(SERVERS, seed=range(3))
def test_a_server_answers_the_same_whoever_asks(name, runs):
    pytest.importorskip("requests")
    judge(OF_SERVERS, SERVERS[name], runs)


def test_an_environment_variable_may_be_empty():
    old = "def f():\n    level = os.environ.get('LEVEL')\n    return level.upper() if level is not None else 'INFO'\n"
    new = "def f():\n    level = os.environ.get('LEVEL')\n    return level.upper() if level else 'INFO'\n"
    expect(CHANGING, IMPORTS + old, IMPORTS + new, context="module")
