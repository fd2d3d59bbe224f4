"""How innermost loops are compiled.

Numba counts the references to every array in an argument, tuples of arrays included, up and down
at each call, atomically: in loops over small groups that takes most of the time, and threads that
share an array wait for each other. A `loop` counts none. In return it may not make arrays: its
scratch is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


def loop(function: Function) -> Function:
    """Return the function compiled without reference counts; it must not make or return arrays."""
    return _compiled(function, counts_references=False)


def inner_loop(function: Function) -> Function:
    """Return the function compiled as a `loop` that becomes a part of every loop that calls it.

    Each array of an argument is seven numbers, which a call copies: where there are many arrays and
    little to do, that takes longer than the work. For functions that one or two others call, since
    each of these is compiled with it.
    """
    return _compiled(function, counts_references=False, inline="always")


def allocating_loop(function: Function) -> Function:
    """Return the function compiled so that it may make arrays, even where a `loop` calls it."""
    return _compiled(function, counts_references=True)


def _compiled(function: Function, counts_references: bool, **more: Any) -> Function:
    # Stated either way: a function that does not state it takes over from whoever calls it first.
    # Nobody calls these from C, so that nothing is compiled for it.
    options = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": counts_references, **more}
    return numba.njit(cache=True, **options)(function)  # type: ignore


@intrinsic
def _trailing_zeros(context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), generate


# In a loop: the place of the lowest bit that is set in a word of 64, 64 if none is.
trailing_zeros: Callable[[Any], int] = cast(Any, _trailing_zeros)
