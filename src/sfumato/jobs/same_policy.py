"""Whether a policy is that of an earlier release, whose cuts are to be applied with it."""

from __future__ import annotations

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.methods import FullDomain, Method
from sfumato.models import KAnonymity, MinimumWidth, Model, from_claim
from sfumato.release import Manifest
from sfumato.release.origin import is_noisy
from sfumato.schema import Schema


def refuse_other_policy(manifest: Manifest, rules: Policy, schema: Schema) -> tuple[str, ...]:
    """Return a warning where the policy asks for less than the earlier release claims.

    The claims of that release are kept in any case. Refuses (ParameterError) another method, other
    fixed levels, and guarantees that the earlier release does not claim: the new one would not
    have them, whatever its policy says.
    """
    method = rules.method()
    if method.name != manifest.method:
        raise ParameterError(
            f"the earlier release was made by {manifest.method} and the policy is for "
            f"{method.name}; use the policy of that release"
        )
    if isinstance(method, FullDomain):
        _refuse_other_levels(manifest, method)
    if is_noisy(manifest):
        return ()  # refused by what is to be applied, for want of cuts
    claimed = [from_claim(claim) for claim in manifest.guarantees]
    asked = [*_asked(method), *rules.declared(), *_widths(schema)]
    for model in asked:
        if not any(_implies(claim, model) for claim in claimed):
            raise ParameterError(
                f"the earlier release does not claim the {model.name}{_about(model)} that the "
                "policy asks for: its cuts were not made for that; use the policy of that release, "
                "or publish anew"
            )
    if all(claim in asked for claim in claimed):
        return ()
    return (
        "the policy asks for less than the earlier release claims; what that release claims is "
        "kept and checked",
    )


def _asked(method: Method) -> list[Model]:
    """Return the models that a method with cuts was asked for."""
    k = getattr(method, "k", None)
    models: tuple[Model, ...] = getattr(method, "models", ())
    return [*([] if k is None else [KAnonymity(k)]), *models]


def _widths(schema: Schema) -> list[Model]:
    return [MinimumWidth(a.name, a.min_width) for a in schema if a.min_width is not None]


def _implies(claim: Model, asked: Model) -> bool:
    if isinstance(claim, KAnonymity) and isinstance(asked, KAnonymity):
        return claim.k >= asked.k
    return claim == asked


def _about(model: Model) -> str:
    return "".join(f" of '{name}'" for name in model.needs)


def _refuse_other_levels(manifest: Manifest, method: FullDomain) -> None:
    stated = manifest.parameters.get("levels")
    levels = stated if isinstance(stated, dict) else {}
    for name, level in method.levels.items():
        if levels.get(name) != level:
            raise ParameterError(
                f"the policy's `levels` give '{name}' another level than the earlier release has; "
                "use the policy of that release"
            )
