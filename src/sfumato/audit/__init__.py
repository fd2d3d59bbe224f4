"""Judges of releases: every guarantee re-derived from the published files alone."""

from sfumato.audit.judge import audit
from sfumato.audit.report import AuditReport, Verdict, damaged_report

__all__ = ["AuditReport", "Verdict", "audit", "damaged_report"]
