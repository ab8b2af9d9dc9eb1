"""Importing an answer by its path: its name may begin with a digit."""

import importlib.util
import linecache
import sys
from pathlib import Path
from types import ModuleType

from lesson_code.lab.checker.points import ANSWER, place_in, text_of


class AnswerError(Exception):
    """A file that can't be checked at all; the message is one sentence."""


def load(path: Path) -> ModuleType:
    """Import the file afresh, without running its main part.

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
        text = text_of(problem)
        raise AnswerError(
            f"{path.name} can't be imported: {type(problem).__name__}{text and f': {text}'}"
            f"{place_in(problem, answer)}"
        ) from None
    finally:
        sys.path.remove(str(path.parent))
        sys.dont_write_bytecode = writes_bytecode
    return answer
