"""Importing what a learner wrote, and saying where in it an error came from."""

import importlib.util
import linecache
import sys
import traceback
from pathlib import Path
from types import ModuleType

# --8<-- [start:places]
ANSWER = "learners_answer"  # what an answer is called as a module, whatever its file is called
LONGEST = 600  # characters of an error's text; PyTorch lists signatures at length


class AnswerError(Exception):
    """A file that can't be checked at all; the message is one sentence."""


def error_text(problem: BaseException) -> str:
    """The kind of an error and what it says, in one line that is not too long."""
    try:
        text = " ".join(str(problem).split())
    except Exception:  # it can't even be asked
        text = ""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} …"
    return f"{type(problem).__name__}{text and f': {text}'}"


def place_in(problem: BaseException, home: Path) -> str:
    """The last line of a learner's that an error went through; empty if there is none.

    Args:
        problem: The error.
        home: The learner's file, or the folder of several.
    """
    frames = traceback.extract_tb(problem.__traceback__)
    own = [f for f in frames if home in (Path(f.filename), Path(f.filename).parent)]
    if not own or own[-1].lineno is None:
        return ""
    file, number = own[-1].filename, own[-1].lineno
    code = linecache.getline(file, number).strip()
    return f" ({Path(file).name}, line {number}: {code})"


# --8<-- [end:places]


def load(path: Path) -> ModuleType:
    """Import a file afresh by its path, without running its main part.

    Its name may begin with a digit.

    Raises:
        AnswerError: If that fails, with the line at fault.
    """
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(ANSWER, path)
    if spec is None or spec.loader is None:
        raise AnswerError(f"{path.name} is no Python file; its name should end in .py")
    answer = importlib.util.module_from_spec(spec)
    sys.modules[ANSWER] = answer  # data classes look themselves up there
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(path.parent))  # for what lies beside it, as if it were run
    try:
        spec.loader.exec_module(answer)
    except SyntaxError as problem:
        place = Path(problem.filename or path).name
        if problem.lineno:  # binary content has no lines
            place += f", line {problem.lineno}"
        line = f": {problem.text.strip()}" if problem.text else ""
        raise AnswerError(f"{place} is no Python: {problem.msg}{line}") from None
    except BaseException as problem:  # an answer may even call sys.exit
        raise AnswerError(
            f"{path.name} can't be imported: {error_text(problem)}{place_in(problem, path)}"
        ) from None
    finally:
        sys.path.remove(str(path.parent))
        sys.dont_write_bytecode = writes_bytecode
    return answer
